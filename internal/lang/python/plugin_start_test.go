package python

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

// TestNoStart: a session that ends before it collects anything, because its
// settings or its first conftest ask for what the tree does not have, loaded
// nothing. Where the machine ended it nothing is known.
func TestNoStart(t *testing.T) {
	t.Parallel()
	const code = "\n-- project.py --\nold_name = 1\n-- tests/test_a.py --\ndef test_a():\n    pass\n"
	for _, c := range []struct{ name, tree, why string }{
		{"warning_class", "-- pytest.ini --\n[pytest]\nfilterwarnings = error::json.NewWarning\n", "NewWarning"},
		{"plugin_of_addopts", "-- pytest.ini --\n[pytest]\naddopts = -p new_plugin\n", "new_plugin"},
		{"plugin_of_conftest", "-- conftest.py --\npytest_plugins = ['new_plugin']\n", "new_plugin"},
		{"unknown_option", "-- pytest.ini --\n[pytest]\naddopts = --new-option\n", "--new-option"},
		{"root_conftest", "-- conftest.py --\nfrom project import new_name\n", "new_name"},
		{"configure", "-- conftest.py --\ndef pytest_configure(config):\n    from project import new_name\n", "new_name"},
		{"session_start", "-- conftest.py --\ndef pytest_sessionstart(session):\n    from project import new_name\n", "new_name"},
		{"pytest_exit", "-- conftest.py --\nimport pytest\ndef pytest_configure(config):\n    pytest.exit('no new_name')\n", "no new_name"},
		{"system_exit", "-- conftest.py --\nimport sys\nsys.exit(0)\n", "SystemExit"},
		{"os_exit", "-- conftest.py --\nimport os\nos._exit(0)\n", "status 0"},
		{"crash", "-- conftest.py --\nimport os\nos.abort()\n", "status 134"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ends(t, func(t *testing.T, r runner) {
				s := sessionIn(t, r, txtar.Parse([]byte(c.tree+code)), lang.Select{Number: 1, Paths: []string{"tests/test_a.py"}})
				if !s.report.Started || !s.report.Ended || s.report.Fault != "" {
					t.Fatalf("started %v, ended %v, fault %q\n%s", s.report.Started, s.report.Ended, s.report.Fault, s.output)
				}
				if len(s.report.Units) == 0 {
					t.Fatalf("no unit\n%s", s.output)
				}
				for _, u := range s.report.Units {
					if u.State != testlog.NotLoaded || !strings.Contains(u.Message, c.why) {
						t.Errorf("%s is %s: %q\n%s", u.Name, u.State, u.Message, s.output)
					}
				}
			})
		})
	}
	for _, c := range []struct{ name, tree, fault string }{
		{"full_disk", "-- conftest.py --\nraise EnvironmentError(28, 'No space left on device')\n", "No space left"},
		{"full_disk_behind_another_error", "-- conftest.py --\ndef pytest_configure(config):\n    try:\n        raise EnvironmentError(28, 'No space left on device')\n    except EnvironmentError:\n        raise ValueError('cache')\n", "No space left"},
		{"no_memory", "-- conftest.py --\nraise MemoryError()\n", "MemoryError"},
		{"killed", "-- conftest.py --\nimport os\nos.kill(os.getpid(), 9)\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			turns(t, func(t *testing.T, r runner) {
				if strings.HasPrefix(r.name, "2.7") && c.name == "full_disk_behind_another_error" {
					t.Skip("Python 2 chains no errors")
				}
				s := sessionIn(t, r, txtar.Parse([]byte(c.tree+code)), lang.Select{Number: 1})
				if s.report.Started || len(s.report.Units) > 0 || !strings.Contains(s.report.Fault, c.fault) {
					t.Errorf("started %v, fault %q, units %v\n%s", s.report.Started, s.report.Fault, s.report.Units, s.output)
				}
			})
		})
	}
}

// TestStartOfNothing: a session that finds no test went through all the same.
func TestStartOfNothing(t *testing.T) {
	t.Parallel()
	ends(t, func(t *testing.T, r runner) {
		s := sessionIn(t, r, txtar.Parse([]byte("-- project.py --\nold_name = 1\n")), lang.Select{Number: 1})
		if got := s.report.Index().Status("tests/test_a.py::test_a", "tests/test_a.py"); !s.report.Ended || got != schemas.Absent {
			t.Errorf("ended %v, a test that is not there is %s\n%s", s.report.Ended, got, s.output)
		}
	})
}

// TestLooksLikeItself: tests see the interpreter that pytest's own start would have given
// them, however early the plugin was.
func TestLooksLikeItself(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r runner) {
		for style, start := range map[string][]string{"module": {r.python, "-m", "pytest"}, "script": {filepath.Join(filepath.Dir(r.python), "pytest")}} {
			if style == "script" && strings.HasPrefix(r.name, "2.7") {
				continue // it is not installed there
			}
			dir := t.TempDir()
			file := filepath.Join(dir, "looks.json")
			here := runner{name: r.name, python: r.python, env: append([]string{"LOOKS=" + file, "PYTHONDONTWRITEBYTECODE=1"}, r.env...)}
			a, err := txtar.ParseFile("testdata/plugin/looks.txtar")
			if err != nil {
				t.Fatal(err)
			}
			root, run := runOf(t, a, lang.Select{Number: 1}, start...)
			s := execute(t, here, filepath.Dir(root), root, run)
			got, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v\n%s", err, s.output)
			}
			cmd := exec.Command(start[0], append(start[1:], run.Command.Argv[5:]...)...)
			cmd.Dir, cmd.Env = root, environOf(here, filepath.Dir(root), run)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", style, diff)
			}
		}
	})
}
