package python

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

const nonce = "n0"

// records writes lines as the plugin does: N stands for its nonce.
func records(lines ...string) []byte {
	return []byte(strings.ReplaceAll(strings.Join(lines, "\n")+"\n", `"N"`, `"n":"`+nonce+`"`))
}

func parse(data []byte) testlog.Report {
	run := recipe.TestRun{Inputs: []sandbox.File{{Path: configPath, Data: []byte(`{"nonce":"` + nonce + `"}`)}}}
	return Language{}.Parse(schemas.Recipe{}, []lang.Output{{Run: run, Report: data}})
}

// one is the life of one test in file a.py.
func one(id, phases string) string {
	return fmt.Sprintf(`{"N","t":"begin","id":"a.py::%[1]s","unit":"a.py"}%[2]s{"N","t":"end","id":"a.py::%[1]s","unit":"a.py"}`, id, "\n"+phases+"\n")
}

func phase(id, when, outcome, more string) string {
	return fmt.Sprintf(`{"N","t":"phase","id":"a.py::%s","unit":"a.py","when":"%s","outcome":"%s"%s}`, id, when, outcome, more)
}

func TestParseStatuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		phases []string
		want   schemas.Status
	}{
		{"passed", []string{phase("t", "setup", "passed", ""), phase("t", "call", "passed", ""), phase("t", "teardown", "passed", "")}, schemas.Passed},
		{"failed_in_call", []string{phase("t", "call", "failed", "")}, schemas.Failed},
		{"failed_in_setup", []string{phase("t", "setup", "failed", "")}, schemas.Errored},
		{"failed_in_teardown", []string{phase("t", "call", "passed", ""), phase("t", "teardown", "failed", "")}, schemas.Errored},
		{"failed_twice", []string{phase("t", "call", "failed", ""), phase("t", "teardown", "failed", "")}, schemas.Failed},
		{"skipped", []string{phase("t", "setup", "skipped", "")}, schemas.Skipped},
		{"xfailed", []string{phase("t", "call", "skipped", `,"xfail":true`)}, schemas.XFailed},
		{"xpassed", []string{phase("t", "call", "passed", `,"xfail":true`)}, schemas.XPassed},
		{"xpassed_strictly", []string{phase("t", "call", "failed", `,"xfail":true`)}, schemas.Failed},
		{"subtest_failed", []string{phase("t", "call", "failed", `,"sub":true`), phase("t", "call", "passed", "")}, schemas.Failed},
		{"subtest_skipped", []string{phase("t", "call", "skipped", `,"sub":true`), phase("t", "call", "passed", "")}, schemas.Passed},
		{"rerun_then_passed", []string{phase("t", "call", "rerun", ""), phase("t", "setup", "passed", ""), phase("t", "call", "passed", "")}, schemas.Passed},
		{"failed_then_rerun_then_failed", []string{phase("t", "call", "rerun", ""), phase("t", "call", "failed", "")}, schemas.Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := parse(records(`{"N","t":"start"}`, one("t", strings.Join(c.phases, "\n")), `{"N","t":"finish","status":0}`))
			if len(r.Tests) != 1 || r.Tests[0].Status != c.want {
				t.Errorf("got %+v, want %s", r.Tests, c.want)
			}
		})
	}
}

func TestParseEnds(t *testing.T) {
	t.Parallel()
	begun := `{"N","t":"start"}`
	for _, c := range []struct {
		name           string
		lines          []string
		started, ended bool
	}{
		{"whole", []string{begun, `{"N","t":"finish","status":0}`}, true, true},
		{"with_failures", []string{begun, `{"N","t":"finish","status":1}`}, true, true},
		{"nothing_collected", []string{begun, `{"N","t":"finish","status":5}`}, true, true},
		{"interrupted", []string{begun, `{"N","t":"finish","status":2}`}, true, false},
		{"internal_error", []string{begun, `{"N","t":"finish","status":3}`}, true, false},
		{"no_end", []string{begun}, true, false},
		{"nothing", nil, false, false},
		{"gave_up_before_the_session", []string{`{"N","t":"unit","unit":"a.py","outcome":"failed"}`, `{"N","t":"dead"}`}, true, true},
		{"forged_end", []string{begun, `{"n":"other","t":"finish","status":0}`, `{"t":"finish","status":0}`}, true, false},
		{"broken_json", []string{begun, `{"N","t":"finish","status":`, "\x00\xff{{{{"}, true, false},
		{"text_before_a_record", []string{begun, `no line end{"x {"N","t":"finish","status":0}`}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := parse(records(c.lines...))
			if r.Started != c.started || r.Ended != c.ended {
				t.Errorf("started %v ended %v, want %v %v", r.Started, r.Ended, c.started, c.ended)
			}
		})
	}
}

func TestParseWithoutNonceReadsNothing(t *testing.T) {
	t.Parallel()
	data := []byte(`{"n":"","t":"start"}` + "\n" + `{"n":"","t":"finish","status":0}` + "\n")
	if r := (Language{}).Parse(schemas.Recipe{}, []lang.Output{{Report: data}}); r.Started || r.Ended {
		t.Errorf("a report without a nonce was read: %+v", r)
	}
}

// Nothing to run is a run that went through: what is not there is absent.
func TestParseNoRuns(t *testing.T) {
	t.Parallel()
	r := Language{}.Parse(schemas.Recipe{}, nil)
	if got := r.Index().Status("a.py::t", "a.py"); got != schemas.Absent {
		t.Errorf("got %s", got)
	}
}

func TestParseDuplicateIDsKeepTheWorst(t *testing.T) {
	t.Parallel()
	r := parse(records(`{"N","t":"start"}`, one("t", phase("t", "call", "failed", "")), one("t", phase("t", "call", "passed", "")), `{"N","t":"finish","status":1}`))
	if got := r.Index().Status("a.py::t", "a.py"); got != schemas.Failed {
		t.Errorf("got %s", got)
	}
}

func TestParseBoundsMessages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 5000)
	r := parse(records(`{"N","t":"start"}`, one("t", phase("t", "call", "failed", `,"why":"`+long+`"`)), `{"N","t":"finish","status":1}`))
	if n := len(r.Tests[0].Message); n > maxMessage || n < maxMessage-4 {
		t.Errorf("%d bytes", n)
	}
}

func TestParseUnits(t *testing.T) {
	t.Parallel()
	r := parse(records(`{"N","t":"start"}`,
		`{"N","t":"loading","unit":"a.py"}`, `{"N","t":"loaded","unit":"a.py"}`,
		`{"N","t":"loading","unit":"b.py"}`, `{"N","t":"unit","unit":"b.py","outcome":"failed","why":"no module"}`,
		`{"N","t":"loading","unit":"c.py"}`, `{"N","t":"unit","unit":"c.py","outcome":"skipped","why":"later"}`,
		`{"N","t":"listed","unit":"a.py","ids":["a.py::t","a.py::u"]}`,
		`{"N","t":"begin","id":"a.py::t","unit":"a.py"}`))
	want := []testlog.Unit{
		{Name: "a.py", State: testlog.Aborted, Message: "the process ended in this test", Running: "a.py::t", Listed: []string{"a.py::t", "a.py::u"}},
		{Name: "b.py", State: testlog.NotLoaded, Message: "no module"},
		{Name: "c.py", State: testlog.SkippedUnit, Message: "later"},
	}
	if diff := cmp.Diff(want, r.Units); diff != "" {
		t.Errorf("units (-want +got):\n%s", diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(records(`{"N","t":"start"}`, one("t", phase("t", "call", "passed", "")), `{"N","t":"finish","status":0}`))
	f.Add([]byte("{\"n\":\"n0\",\"t\":\"phase\"}\n{{{\"\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := parse(data)
		if r.Ended && !r.Started {
			t.Error("ended and never started")
		}
		for _, x := range r.Tests {
			if x.Status == "" {
				t.Errorf("%q has no status", x.ID)
			}
		}
	})
}
