package httpsuite

import (
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

func sortedKeys(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

// treeOf is a tree of files.
type treeOf map[string]string

func (t treeOf) Paths() []string               { return sortedKeys(t) }
func (t treeOf) Has(p string) bool             { _, ok := t[p]; return ok }
func (t treeOf) Read(p string) ([]byte, error) { return []byte(t[p]), nil }

// suiteTree is a tree with the suite of two groups, one of which has a step that is not judged.
func suiteTree(t *testing.T) treeOf {
	t.Helper()
	judged := func(id string) contract.Case {
		c := step(id, "GET", "/"+id)
		c.Expect = &contract.Expect{Status: 200}
		return c
	}
	files, err := Files(contract.Suite{Format: contract.Format, Groups: []*contract.Group{
		{Name: "tags", Cases: []contract.Case{step("login", "GET", "/login"), judged("tags")}},
		{Name: "items", Cases: []contract.Case{judged("first"), judged("second")}},
		{Name: "silent", Cases: []contract.Case{step("nothing", "GET", "/")}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	out := treeOf{"app.py": "x"}
	for _, f := range files {
		out[f.Path] = string(f.Data)
	}
	return out
}

func service() schemas.Recipe {
	return schemas.Recipe{Report: ReportFormat, SystemPackages: []string{clock.Package}, Service: &schemas.Service{
		Port: 8123, Shifts: true, Start: schemas.Command{Argv: []string{"./server"}}, Tester: &schemas.Recipe{},
	}}
}

func units(runs []recipe.TestRun) []string {
	var out []string
	for _, r := range runs {
		out = append(out, r.Command.Env[groupVariable]+":"+path.Base(r.Command.Argv[len(r.Command.Argv)-1]))
	}
	return out
}

func TestRuns(t *testing.T) {
	t.Parallel()
	tree, r := suiteTree(t), service()
	connect := ":test_connect.py"
	for name, c := range map[string]struct {
		tree lang.Tree
		sel  lang.Select
		want []string
	}{
		"whole":        {tree, lang.Select{Number: 1}, []string{connect, "tags:test_func.py", "items:test_func.py"}},
		"paths":        {tree, lang.Select{Number: 1, Paths: []string{"tests_benchmint/cases.json"}}, []string{connect, "tags:test_func.py", "items:test_func.py"}},
		"units":        {tree, lang.Select{Number: 1, Units: []string{"items"}}, []string{"items:test_func.py"}},
		"no_cases":     {treeOf{"app.py": "x"}, lang.Select{Number: 1}, []string{connect}},
		"broken_cases": {treeOf{"tests_benchmint/cases.json": "{"}, lang.Select{Number: 1}, []string{connect}},
	} {
		if d := cmp.Diff(c.want, units(Runner{}.Runs(r, c.tree, c.sel))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	for n := 1; n <= 5; n++ {
		for _, run := range (Runner{}).Runs(r, tree, lang.Select{Number: n}) {
			if want := serve.Start(*r.Service, n == ShiftedRun); !reflect.DeepEqual(*run.Serves, want) {
				t.Errorf("run %d: the service is started by %v, want %v", n, run.Serves.Argv, want.Argv)
			}
			for _, f := range run.Inputs {
				if !strings.HasPrefix(f.Path, sandbox.RunPath+"/"+schemas.SuiteFolder+"/") {
					t.Errorf("an input lies at %s", f.Path)
				}
			}
			if got := run.Command.Env[urlVariable]; got != "http://127.0.0.1:8123" {
				t.Errorf("the service is asked at %s", got)
			}
		}
	}
	// The suite of the tree is what is run, and not ours of today.
	tree["tests_benchmint/test_func.py"] = "# older"
	run := (Runner{}).Runs(r, tree, lang.Select{Number: 1})[0]
	at := slices.IndexFunc(run.Inputs, func(f sandbox.File) bool { return path.Base(f.Path) == "test_func.py" })
	if at < 0 || string(run.Inputs[at].Data) != "# older" {
		t.Error("the files of the tree are not used")
	}
}

const wholeReport = `<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest" errors="0" failures="1" tests="2">` +
	`<testcase classname="tests_benchmint.test_func" name="test_case[items-first]" time="0.1"/>` +
	`<testcase classname="tests_benchmint.test_func" name="test_case[items-second]" time="0.1"><failure message="sent">sent      GET /second
expected  status 200</failure></testcase></testsuite></testsuites>`

// TestEnded: after a service that ended before it answered, no group is run for it.
func TestEnded(t *testing.T) {
	t.Parallel()
	runs := Runner{}.Runs(service(), suiteTree(t), lang.Select{Number: 1})
	connect, items := runs[0], runs[2]
	ended := &sandbox.Served{End: sandbox.Exited, ExitCode: 127}
	for name, c := range map[string]struct {
		out  lang.Output
		want string
	}{
		"ended":            {lang.Output{Run: connect, Result: sandbox.Result{ExitCode: 1, Beside: ended}}, "it ended with status 127"},
		"behind_another":   {lang.Output{Run: connect, Result: sandbox.Result{ExitCode: 0, Beside: ended}}, ""},
		"does_not_answer":  {lang.Output{Run: connect, Result: sandbox.Result{ExitCode: 1, Beside: &sandbox.Served{}}}, ""},
		"nothing_is_known": {lang.Output{Run: connect, Result: sandbox.Result{ExitCode: 1}}, ""},
		"of_a_group":       {lang.Output{Run: items, Result: sandbox.Result{ExitCode: 1, Beside: ended}}, ""},
	} {
		if got := Ended(c.out); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	tree := suiteTree(t)
	runs := Runner{}.Runs(service(), tree, lang.Select{Number: 1})
	connect, items := runs[0], runs[2]
	both := []string{"tests_benchmint/test_func.py::test_case[items-first]", "tests_benchmint/test_func.py::test_case[items-second]"}
	exit := func(status int, output string) sandbox.Result {
		return sandbox.Result{End: sandbox.Exited, ExitCode: status, Output: []byte(output), Beside: &sandbox.Served{End: sandbox.Exited, ExitCode: 3, Output: []byte("boom\n")}}
	}
	for name, c := range map[string]struct {
		out  lang.Output
		want testlog.Report
	}{
		"failed": {
			lang.Output{Run: items, Report: []byte(wholeReport), Result: exit(1, "")},
			testlog.Report{Started: true, Ended: true, Units: []testlog.Unit{{Name: "items", State: testlog.Finished, Listed: both}}, Tests: []testlog.Test{
				{ID: both[0], Unit: "items", Status: schemas.Passed},
				{ID: both[1], Unit: "items", Status: schemas.Failed, Message: "sent      GET /second\nexpected  status 200", Trace: "sent      GET /second\nexpected  status 200"},
			}},
		},
		"connect": {
			lang.Output{Run: connect, Result: exit(1, ""), Report: []byte(`<testsuites><testsuite><testcase classname="tests_benchmint.test_connect" name="test_connect"><failure message="no">no</failure></testcase></testsuite></testsuites>`)},
			testlog.Report{Started: true, Ended: true, Units: []testlog.Unit{{Name: "connect", State: testlog.Finished, Listed: []string{"tests_benchmint/test_connect.py::test_connect"}}}, Tests: []testlog.Test{
				{ID: "tests_benchmint/test_connect.py::test_connect", Unit: "connect", Status: schemas.Failed, Message: "no\nthe service ended with status 3\nboom", Trace: "no\nthe service ended with status 3\nboom"},
			}},
		},
		"not_ready": {
			lang.Output{Run: items, Result: exit(notReady, "\n!!!!!! _pytest.outcomes.Exit: the service does not get ready: port 8123: Connection refused !!!!!!\nno tests ran\n")},
			testlog.Report{Started: true, Ended: true, Units: []testlog.Unit{{Name: "items", State: testlog.NotLoaded, Listed: both,
				Message: "the service does not get ready: port 8123: Connection refused\nthe service ended with status 3\nboom",
				Trace:   "the service does not get ready: port 8123: Connection refused\nthe service ended with status 3\nboom"}}},
		},
		"no_report": {
			lang.Output{Run: items, Result: exit(137, "Killed\n")},
			testlog.Report{Units: []testlog.Unit{{Name: "items", State: testlog.Aborted, Listed: both, Message: "the tester left no whole report: Killed"}}},
		},
		"cut_report": {
			lang.Output{Run: items, Report: []byte(wholeReport[:300]), Result: exit(137, "Killed\n")},
			testlog.Report{Started: true, Units: []testlog.Unit{{Name: "items", State: testlog.Aborted, Listed: both, Message: "the tester left no whole report: Killed"}}},
		},
		"a_test_is_missing": {
			lang.Output{Run: items, Report: []byte(strings.Replace(wholeReport, "items-second", "items-third", 1)), Result: exit(1, "1 passed\n")},
			testlog.Report{Started: true, Units: []testlog.Unit{{Name: "items", State: testlog.Aborted, Listed: both, Message: "the tester ended with status 1 after 1 of 2 tests: 1 passed"}},
				Tests: []testlog.Test{{ID: both[0], Unit: "items", Status: schemas.Passed}}},
		},
		"internal_error": {
			lang.Output{Run: items, Report: []byte(wholeReport), Result: exit(3, "INTERNALERROR\n")},
			testlog.Report{Started: true, Units: []testlog.Unit{{Name: "items", State: testlog.Aborted, Listed: both, Message: "the tester ended with status 3 after 2 of 2 tests: INTERNALERROR"}}, Tests: []testlog.Test{
				{ID: both[0], Unit: "items", Status: schemas.Passed},
				{ID: both[1], Unit: "items", Status: schemas.Failed, Message: "sent      GET /second\nexpected  status 200", Trace: "sent      GET /second\nexpected  status 200"},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(c.want, Runner{}.Parse(service(), []lang.Output{c.out})); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(wholeReport), 1)
	f.Add([]byte("<testsuites><testsuite><testcase"), 0)
	f.Fuzz(func(t *testing.T, data []byte, status int) {
		run := recipe.TestRun{Command: schemas.Command{Env: map[string]string{groupVariable: "items"}}}
		r := Runner{}.Parse(schemas.Recipe{}, []lang.Output{{Run: run, Report: data, Result: sandbox.Result{End: sandbox.Exited, ExitCode: status}}})
		for _, test := range r.Tests {
			if test.Unit != "items" || len(test.Message) > maxMessage {
				t.Errorf("%+v", test)
			}
		}
	})
}

func TestTester(t *testing.T) {
	t.Parallel()
	all := []lang.ToolchainRelease{{Name: "python", Version: "3.9.18"}, {Name: "python", Version: "3.13.0"}, {Name: "python", Version: "3.14.0-rc1"}, {Name: "go", Version: "1.99.0"}, {Name: "uv", Version: "0.9.1"}}
	r, err := Tester(all)
	if err != nil || r.Toolchain.Version != "3.13.0" || r.Tools[0].Version != "0.9.1" {
		t.Errorf("%+v, %v", r, err)
	}
	for _, few := range [][]lang.ToolchainRelease{nil, all[4:], all[:3], {{Name: "python", Version: "3.8.1"}, all[4]}} {
		if _, err := Tester(few); err == nil {
			t.Errorf("no error of %v", few)
		}
	}
	wheels := Wheels()
	names := map[string]bool{}
	for _, w := range wheels {
		names[w.Name] = w.Version != "" && len(w.SHA256) == 64
	}
	if len(wheels) != strings.Count(r.Lock, "==") || !names["pytest"] || !names["requests"] {
		t.Errorf("wheels: %+v", wheels)
	}
}
