package golang_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/environment/environmenttest"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/forgerytest"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// ofEachKind are the forgeries that run before each merge: one for each thing that is
// looked at.
var ofEachKind = []string{
	"honest", "exit_with_the_last_word", "exit_in_the_test", "frames_before_the_failure", "blames_another", "ghost",
	"ghost_below_a_test_that_ended", "mutes_for_a_moment", "names_from_the_inputs", "no_test_can_fail", "events_on_standard_error",
}

// TestForge runs forgeries in a real sandbox. Of none the pass of TestValue counts,
// nor a test that no source has.
func TestForge(t *testing.T) {
	testForge(t, false, func(name string) bool { return slices.Contains(ofEachKind, name) })
}

// TestForgeApart holds them to the same where each test has a process of its own.
func TestForgeApart(t *testing.T) {
	testForge(t, true, func(name string) bool { return slices.Contains(ofEachKind, name) })
}

// TestForgeAll runs all of them.
func TestForgeAll(t *testing.T) {
	for name, apart := range map[string]bool{"together": false, "apart": true} {
		t.Run(name, func(t *testing.T) { testForge(t, apart, func(string) bool { return true }) })
	}
}

func testForge(t *testing.T, apart bool, wanted func(string) bool) {
	if testing.Short() {
		t.Skip("builds in a sandbox")
	}
	files := map[string]string{"go.mod": "module example.com/forge\n\ngo 1.22\n"}
	var names []string
	for _, f := range forgerytest.Go() {
		if !wanted(f.Name) || f.Name == "no_test_can_fail" && runtime.GOARCH != "amd64" { // it writes machine code
			continue
		}
		names = append(names, f.Name)
		files[f.Name+"/box.go"] = f.Files["box.go"]
		files[f.Name+"/box_test.go"] = forgerytest.GoTest
	}
	if len(names) < 10 {
		t.Fatalf("%d forgeries", len(names))
	}
	report := inSandbox(t, apart, files)
	for _, name := range names {
		passed, state := counted(report, forgerytest.GoPackage+name)
		t.Logf("%s: %s", name, state)
		if state == "" || strings.HasPrefix(state, string(testlog.NotLoaded)) && name != "exit_in_init" {
			t.Errorf("%s did not run: %s", name, state)
		}
		if got, want := slices.Contains(passed, "TestValue"), name == forgerytest.GoHonest; got != want {
			t.Errorf("%s: TestValue passed: %v, %s", name, got, state)
		}
		passed = slices.DeleteFunc(passed, func(n string) bool { return slices.Contains([]string{"TestFirst", "TestValue", "TestLater"}, n) })
		if len(passed) > 0 {
			t.Errorf("%s: %v passed, %s", name, passed, state)
		}
	}
}

// counted are the tests of a package whose passes count, and how it ended.
func counted(r testlog.Report, unit string) (passed []string, state string) {
	for _, u := range r.Units {
		if u.Name != unit {
			continue
		}
		state = fmt.Sprintf("%s %s %s", u.State, strings.TrimPrefix(u.Running, unit), strings.SplitN(u.Message, "\n", 2)[0])
		if u.State == testlog.Tampered || u.Unproved {
			return nil, state
		}
	}
	for _, x := range r.Tests {
		if x.Unit == unit && x.Status == schemas.Passed {
			passed = append(passed, strings.TrimPrefix(x.ID, unit+"::"))
		}
	}
	return passed, state
}

// inSandbox builds a module once and runs all its tests, those that end the go command
// in a process of their own.
func inSandbox(t *testing.T, apart bool, files map[string]string) testlog.Report {
	t.Helper()
	whole := environmenttest.Tree(t, files)
	box := environmenttest.Bubblewrap(t)
	w := environmenttest.New(t, box, golang.Language{}, golang.ReportFormat)
	r := w.Recipe(t, whole, whole)
	r.Apart = apart
	env, err := w.Env(t.Context(), r) // with the standard library: each run would compile it
	if err != nil {
		t.Fatal(err)
	}
	layer, _, err := box.Build(t.Context(), sandbox.Build{Key: schemas.DigestOf(files), Parent: env, Files: (&tree.Tree{}).Changes(whole, environmenttest.Date())})
	if err != nil {
		t.Fatal(err)
	}
	killer := []string{"example.com/forge/kills_its_parent"}
	var rest []string
	for p := range files {
		if dir, ok := strings.CutSuffix(p, "/box.go"); ok && "example.com/forge/"+dir != killer[0] {
			rest = append(rest, "example.com/forge/"+dir)
		}
	}
	var report testlog.Report
	for _, units := range [][]string{rest, killer} {
		if _, ok := files["kills_its_parent/box.go"]; !ok && len(units) == 1 {
			continue
		}
		var outs []lang.Output
		for _, run := range (golang.Language{}).Runs(r, whole, lang.Select{Number: 1, Units: units}) {
			began := time.Now()
			res, err := box.Run(t.Context(), sandbox.Run{Layer: layer, Command: run.Command, Env: r.Variables, Inputs: run.Inputs})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d packages: %.1f s, %s %d", len(units), time.Since(began).Seconds(), res.End, res.ExitCode)
			outs = append(outs, lang.Output{Run: run, Result: res})
		}
		one := golang.Language{}.Parse(r, outs)
		report.Units, report.Tests = append(report.Units, one.Units...), append(report.Tests, one.Tests...)
	}
	return report
}
