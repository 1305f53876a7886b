package python

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

// oldest, middle and newest: what a process does at its end does not depend on more.
func ends(t *testing.T, f func(t *testing.T, r runner)) {
	for _, p := range []struct{ python, pytest string }{pairs[0], pairs[4], pairs[8]} {
		t.Run(p.python+"_pytest_"+p.pytest, func(t *testing.T) { f(t, runnerFor(t, p.python, p.pytest)) })
	}
}

// turns are the versions between which the loading of conftest files changed.
func turns(t *testing.T, f func(t *testing.T, r runner)) {
	for _, i := range []int{0, 3, 4, 6, 8} {
		t.Run(pairs[i].python+"_pytest_"+pairs[i].pytest, func(t *testing.T) { f(t, runnerFor(t, pairs[i].python, pairs[i].pytest)) })
	}
}

// brief is a report without messages.
func brief(r testlog.Report) testlog.Report {
	for i := range r.Tests {
		r.Tests[i].Message, r.Tests[i].Trace = "", ""
	}
	for i := range r.Units {
		r.Units[i].Message, r.Units[i].Trace = "", ""
	}
	return r
}

func unitOf(r testlog.Report, name string) testlog.Unit {
	for _, u := range r.Units {
		if u.Name == name {
			return u
		}
	}
	return testlog.Unit{}
}

func TestExitZeroInTheMiddle(t *testing.T) {
	t.Parallel()
	ends(t, func(t *testing.T, r runner) {
		s := runSession(t, r, "aborts.txtar", lang.Select{Number: 1})
		if s.exit != 0 || !s.report.Started || s.report.Ended {
			t.Fatalf("exit %d started %v ended %v", s.exit, s.report.Started, s.report.Ended)
		}
		want := []testlog.Unit{
			{Name: "test_a.py", State: testlog.Finished, Listed: []string{"test_a.py::test_a"}},
			{Name: "test_exit.py", State: testlog.Aborted, Running: "test_exit.py::test_ends", Listed: []string{"test_exit.py::test_before", "test_exit.py::test_ends", "test_exit.py::test_after"}},
			{Name: "test_z.py", State: testlog.Aborted, Listed: []string{"test_z.py::test_z"}},
		}
		if diff := cmp.Diff(want, brief(s.report).Units); diff != "" {
			t.Errorf("units (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(map[string]schemas.Status{"test_a.py::test_a": "passed", "test_exit.py::test_before": "passed"}, statuses(s.report)); diff != "" {
			t.Errorf("tests (-want +got):\n%s", diff)
		}
		x := s.report.Index()
		if got := x.Status("test_exit.py::test_after", "test_exit.py"); got != schemas.NotRun {
			t.Errorf("the test after the end is %s", got)
		}
		if got := x.Status("test_z.py::test_other", "test_z.py"); got != schemas.Absent {
			t.Errorf("a test that is not listed is %s", got)
		}
	})
}

// The rest is run again without the test that ended the run.
func TestSkipGoesOn(t *testing.T) {
	t.Parallel()
	ends(t, func(t *testing.T, r runner) {
		s := runSession(t, r, "aborts.txtar", lang.Select{Number: 1, Skip: []string{"test_exit.py::test_ends"}})
		want := map[string]schemas.Status{"test_a.py::test_a": "passed", "test_exit.py::test_before": "passed", "test_exit.py::test_after": "passed", "test_z.py::test_z": "passed"}
		if diff := cmp.Diff(want, statuses(s.report)); diff != "" || !s.report.Ended {
			t.Errorf("ended %v, tests (-want +got):\n%s", s.report.Ended, diff)
		}
	})
}

func TestKill(t *testing.T) {
	t.Parallel()
	ends(t, func(t *testing.T, r runner) {
		s := runSession(t, r, "hang.txtar", lang.Select{Number: 1})
		if u := unitOf(s.report, "test_a.py"); s.report.Ended || u.State != testlog.Aborted || u.Running != "test_a.py::test_killed" {
			t.Errorf("ended %v, unit %+v", s.report.Ended, u)
		}
	})
}

// A file that ends the process while it loads is named as the one that ran, and
// can be left out by that name.
func TestExitWhileLoading(t *testing.T) {
	t.Parallel()
	ends(t, func(t *testing.T, r runner) {
		for _, archive := range []string{"import_exit.txtar", "import_sysexit.txtar"} {
			s := runSession(t, r, archive, lang.Select{Number: 1})
			u := unitOf(s.report, "test_import.py")
			if s.report.Ended && archive == "import_sysexit.txtar" && u.State == testlog.NotLoaded {
				continue // old runners take sys.exit for an error of the one file
			}
			if s.report.Ended || u.State != testlog.NotLoaded || u.Running != "test_import.py" {
				t.Errorf("%s: ended %v, unit %+v\n%s", archive, s.report.Ended, u, s.output)
				continue
			}
			s = runSession(t, r, archive, lang.Select{Number: 1, Skip: []string{u.Running}})
			want := map[string]schemas.Status{"test_a.py::test_a": "passed", "test_z.py::test_z": "passed"}
			if diff := cmp.Diff(want, statuses(s.report)); diff != "" || !s.report.Ended {
				t.Errorf("%s without it: ended %v, tests (-want +got):\n%s", archive, s.report.Ended, diff)
			}
		}
	})
}

func TestRootConftest(t *testing.T) {
	t.Parallel()
	turns(t, func(t *testing.T, r runner) {
		s := runSession(t, r, "root_conftest.txtar", lang.Select{Number: 1})
		want := map[string]testlog.UnitState{"tests/test_a.py": testlog.NotLoaded, "tests/sub/test_b.py": testlog.NotLoaded}
		if diff := cmp.Diff(want, units(s.report)); diff != "" || !s.report.Ended {
			t.Errorf("ended %v, units (-want +got):\n%s\n%s", s.report.Ended, diff, s.output)
		}
		if m := unitOf(s.report, "tests/test_a.py").Message; !strings.HasPrefix(m, "tests/conftest.py: ImportError") || !strings.Contains(m, "new_name") {
			t.Errorf("the reason is %q", m)
		}
	})
}

func TestSubConftest(t *testing.T) {
	t.Parallel()
	turns(t, func(t *testing.T, r runner) {
		s := runSession(t, r, "sub_conftest.txtar", lang.Select{Number: 1})
		got := units(s.report)
		for _, p := range []string{"tests/sub/test_b.py", "tests/sub/deep/test_c.py"} {
			if got[p] != testlog.NotLoaded {
				t.Errorf("%s is %q\n%s", p, got[p], s.output)
			}
		}
		if st := s.report.Index().Status("tests/test_a.py::test_a", "tests/test_a.py"); st != schemas.Passed && st != schemas.NotLoaded && st != schemas.NotRun {
			t.Errorf("the test beside is %s", st)
		}
	})
}

func TestClassThatCannotBeCollected(t *testing.T) {
	t.Parallel()
	ends(t, func(t *testing.T, r runner) {
		s := runSession(t, r, "class_error.txtar", lang.Select{Number: 1})
		x := s.report.Index()
		if got := x.Status("test_a.py::test_fine", "test_a.py"); got != schemas.Passed {
			t.Errorf("the test beside is %s", got)
		}
		if got := x.Status("test_a.py::TestBroken::test_no_such_argument[1]", "test_a.py"); got != schemas.NotLoaded {
			t.Errorf("the broken one is %s", got)
		}
	})
}

func TestRootOfTheRunner(t *testing.T) {
	t.Parallel()
	ends(t, func(t *testing.T, r runner) {
		s := runSession(t, r, "rootdir.txtar", lang.Select{Number: 1, Paths: []string{"sub/tests/test_a.py"}})
		if diff := cmp.Diff(map[string]schemas.Status{"sub/tests/test_a.py::test_a": "passed"}, statuses(s.report)); diff != "" {
			t.Errorf("tests (-want +got):\n%s\n%s", diff, s.output)
		}
	})
}

func TestOptionsOfTheProject(t *testing.T) {
	t.Parallel()
	ends(t, func(t *testing.T, r runner) {
		s := runSession(t, r, "addopts.txtar", lang.Select{Number: 1})
		want := map[string]schemas.Status{"test_a.py::test_one_fails": "failed", "test_a.py::test_two": "passed"}
		if diff := cmp.Diff(want, statuses(s.report)); diff != "" || !s.report.Ended {
			t.Errorf("ended %v, tests (-want +got):\n%s\n%s", s.report.Ended, diff, s.output)
		}
	})
}

func TestSubtests(t *testing.T) {
	t.Parallel()
	r := runnerFor(t, "3.13", "9.0.1")
	s := runSession(t, r, "subtests.txtar", lang.Select{Number: 1})
	want := map[string]schemas.Status{"test_a.py::Old::test_sub": "failed", "test_a.py::Old::test_fine": "passed", "test_a.py::test_fixture": "failed"}
	if diff := cmp.Diff(want, statuses(s.report)); diff != "" {
		t.Errorf("tests (-want +got):\n%s\n%s", diff, s.output)
	}
}
