package python

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/mask/masktest"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

func day(t testing.TB, s string) time.Time {
	t.Helper()
	d, err := time.Parse(time.DateOnly, s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// available are the interpreters of every test, with the days of their minors.
func available(t testing.TB) []lang.ToolchainRelease {
	var out []lang.ToolchainRelease
	for v, d := range map[string]string{
		"2.7.18": "2010-07-03", "3.6.15": "2016-12-23", "3.7.16": "2018-06-27", "3.8.18": "2019-10-14", "3.9.18": "2020-10-05",
		"3.10.13": "2021-10-04", "3.11.7": "2022-10-24", "3.12.1": "2023-10-02", "3.12.0": "2023-10-02", "3.13.0": "2024-10-07",
	} {
		out = append(out, lang.ToolchainRelease{Name: "python", Version: v, Released: day(t, d)})
	}
	return append(out, lang.ToolchainRelease{Name: "uv", Version: "0.9.2"}, lang.ToolchainRelease{Name: "uv", Version: "0.13.8"})
}

// projectOf reads an archive: lines of its comment say date and tag.
func projectOf(t testing.TB, archive string) lang.Project {
	t.Helper()
	a := txtar.Parse([]byte(archive))
	p := lang.Project{Name: "o/n", PinToDate: true, Available: available(t)}
	for _, l := range strings.Split(string(a.Comment), "\n") {
		key, value, _ := strings.Cut(l, ": ")
		switch key {
		case "date":
			p.Date = day(t, value)
		case "tag":
			if _, err := fmt.Sscanf(value, "%s %d", &p.Version.Tag, &p.Version.Distance); err != nil {
				t.Fatal(err)
			}
		}
	}
	var entries []tree.Entry
	for _, f := range a.Files {
		if f.Name == "want" {
			continue
		}
		entries = append(entries, tree.Entry{Path: f.Name, Mode: "100644", Data: f.Data})
		if strings.Contains("/"+f.Name, "/tests/") {
			p.TestPaths = append(p.TestPaths, f.Name)
		}
	}
	tr, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	p.Base, p.Solution = tr, tr
	return p
}

func describe(r schemas.Recipe, err error) string {
	var b strings.Builder
	var no *lang.Refusal
	if errors.As(err, &no) {
		return fmt.Sprintf("refused %s: %s\n", no.Reason, no.Detail)
	}
	fmt.Fprintf(&b, "toolchain %s tools %v pinning %s %s\n", r.Toolchain.Version, r.Tools, r.Pinning, r.PinDate)
	fmt.Fprintf(&b, "system %v variables %v\n", r.SystemPackages, r.Variables)
	for _, l := range r.Requirements {
		fmt.Fprintf(&b, "require %s\n", l)
	}
	for _, c := range r.Build {
		for name := range activated() {
			delete(c.Env, name)
		}
		fmt.Fprintf(&b, "build %v\n", c.Env)
		if dirs := c.Argv[slices.Index(c.Argv, "--editable")+1:]; !slices.Equal(dirs, []string{"."}) {
			fmt.Fprintf(&b, "build of %q\n", dirs)
		}
	}
	for _, c := range r.Test {
		fmt.Fprintf(&b, "test %q\n", c.Argv)
		if c.Dir != "" {
			fmt.Fprintf(&b, "test in %s\n", c.Dir)
		}
	}
	for _, x := range r.Rivals {
		fmt.Fprintf(&b, "rival %q | %s | %s\n", x.Test[0].Argv, x.Source, x.Other)
	}
	for _, e := range r.Evidence {
		fmt.Fprintf(&b, "evidence %s | %s | %s\n", e.Field, e.Value, e.Source)
	}
	return b.String()
}

func TestInfer(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/infer/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := describe(Language{}.Infer(projectOf(t, string(data))))
			tree, want, _ := strings.Cut(string(data), "-- want --\n")
			if masktest.Updating() {
				if err := os.WriteFile(file, []byte(tree+"-- want --\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
