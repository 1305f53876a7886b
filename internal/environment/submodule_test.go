package environment

import (
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// TestLacking: a submodule is named where the run or an idle test file names it, and not for
// being there.
func TestLacking(t *testing.T) {
	t.Parallel()
	file := func(p, text string) tree.Entry {
		return tree.Entry{Path: p, Mode: tree.ModeFile, Data: []byte(text)}
	}
	module := func(p string) tree.Entry {
		return tree.Entry{Path: p, Mode: tree.ModeModule, Data: []byte(strings.Repeat("1", 40))}
	}
	tr, err := tree.New([]tree.Entry{
		file(".gitmodules", "[submodule \"theme\"]\n\tpath = docs/theme\n\turl = https://example.org/theme\n[submodule \"cases\"]\n\turl = https://example.org/cases.git\n\tpath = tests/toml-cases\n"),
		module("docs/theme"), module("tests/toml-cases"), module("data"),
		file("tests/test_a.py", "CASES = glob('toml-cases/*.toml')"), file("tests/test_b.py", "import a"),
	})
	if err != nil {
		t.Fatal(err)
	}
	const cases = "git submodule tests/toml-cases (https://example.org/cases.git)"
	for _, c := range []struct {
		name, log, want string
		report          testlog.Report
	}{
		{"named_by_a_message", "", cases, testlog.Report{Units: []testlog.Unit{{Name: "tests/test_b.py", Message: "FileNotFoundError: '/testbed/tests/toml-cases/valid'"}}}},
		{"named_by_the_log", "open tests/toml-cases: no such file", cases, testlog.Report{}},
		{"named_by_a_failing_test", "", cases, testlog.Report{Tests: []testlog.Test{{Unit: "tests/test_b.py", Message: "open ../tests/toml-cases/x.toml"}}}},
		{"named_by_an_idle_file", "", cases, testlog.Report{Units: []testlog.Unit{{Name: "tests/test_a.py"}}}},
		{"file_with_tests", "", "", testlog.Report{Units: []testlog.Unit{{Name: "tests/test_a.py"}}, Tests: []testlog.Test{{Unit: "tests/test_a.py", Status: schemas.Failed}}}},
		{"other_names", "tests/toml-cases-old, my-tests/toml-cases, metadata/x, no data: ModuleNotFoundError: theme", "", testlog.Report{Units: []testlog.Unit{{Name: "tests/test_b.py"}}}},
		{"without_url", "stat data/x.json: no such file", "git submodule data", testlog.Report{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, ok := Lacking(tr, c.report, []byte(c.log)); got != c.want || ok != (c.want != "") {
				t.Errorf("got %q %t, want %q", got, ok, c.want)
			}
		})
	}
}
