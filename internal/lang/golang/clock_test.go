package golang_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/environment/environmenttest"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

const clockTests = `package box

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

func TestUntil(t *testing.T) {
	if time.Now().Unix() > %d {
		t.Fatal("over")
	}
}

func TestYear(t *testing.T) {
	t.Run(strconv.Itoa(time.Now().Year()), func(t *testing.T) {})
}

func TestFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil || time.Since(info.ModTime()) > time.Minute {
		t.Error(err, info.ModTime())
	}
	then := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(name, then, then); err != nil {
		t.Fatal(err)
	}
	if info, err = os.Stat(name); err != nil || !info.ModTime().Equal(then) {
		t.Error(err, info.ModTime())
	}
}

func TestWaits(t *testing.T) {
	began := time.Now()
	time.Sleep(50 * time.Millisecond)
	<-time.After(50 * time.Millisecond)
	if took := time.Since(began); took < 99*time.Millisecond || took > 20*time.Second {
		t.Error(took)
	}
}
`

// TestShift runs tests that pass until a day, are named after a year or compare times of files with
// now in a real sandbox.
func TestShift(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles the standard library")
	}
	now := time.Now()
	year := fmt.Sprintf("TestYear/%d", now.Year())
	tr := environmenttest.Tree(t, map[string]string{
		"go.mod": "module example.com/box\n\ngo 1.17\n", "box.go": "package box\n", "box_test.go": fmt.Sprintf(clockTests, now.AddDate(0, 0, 20).Unix()),
	})
	box := environmenttest.Bubblewrap(t)
	w := environmenttest.New(t, box, golang.Language{}, golang.ReportFormat)
	r := w.Recipe(t, tr, tr)
	env, err := w.Env(t.Context(), r) // with the standard library: each run would compile it
	if err != nil {
		t.Fatal(err)
	}
	layer, _, err := box.Build(t.Context(), sandbox.Build{Key: "sha256:clock", Parent: env, Files: (&tree.Tree{}).Changes(tr, environmenttest.Date())})
	if err != nil {
		t.Fatal(err)
	}
	for _, files := range []bool{false, true} {
		run, _, err := golang.Language{}.Shift(r, golang.Language{}.Runs(r, tr, lang.Select{Number: 1})[0], clock.Shift{Ahead: clock.Ahead, Files: files})
		if err != nil {
			t.Fatal(err)
		}
		res, err := w.Test(t.Context(), layer, r, run, sandbox.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOARCH == "amd64" {
			const script = 9 // words that prepare the clock
			list := run
			list.Command.Argv = append(slices.Clone(run.Command.Argv[:script]), "ls", "/tmp/.benchmint-clock")
			made, err := w.Test(t.Context(), layer, r, list, sandbox.Limits{})
			if linked := strings.Contains(string(made.Output), "runtime.a\n"); err != nil || linked == files {
				t.Errorf("files %t: by the linker alone: %t, %v\n%s", files, linked, err, made.Output)
			}
		}
		report := golang.Language{}.Parse(r, []lang.Output{{Run: run, Tree: tr, Report: res.Output, Result: res}})
		want := map[string]schemas.Status{"TestUntil": schemas.Failed, year: schemas.Absent, "TestFile": schemas.Failed, "TestWaits": schemas.Passed}
		if files {
			want["TestFile"] = schemas.Passed
		}
		got := map[string]schemas.Status{}
		for name := range want {
			got[name] = report.Index().Status("example.com/box::"+name, "example.com/box")
		}
		if diff := cmp.Diff(want, got); diff != "" || report.Tampered != "" || !report.Ended {
			t.Errorf("go %s, files %t: tampered %q (-want +got):\n%s\n%s", r.Toolchain.Version, files, report.Tampered, diff, res.Output)
		}
	}
}

// A Go without -overlay is told by name.
func TestShiftNeedsOverlay(t *testing.T) {
	t.Parallel()
	if _, _, err := (golang.Language{}).Shift(schemas.Recipe{Toolchain: schemas.Toolchain{Name: "go", Version: "1.15.15"}}, recipe.TestRun{}, clock.Shift{Ahead: clock.Ahead}); err == nil {
		t.Error("no error")
	}
}
