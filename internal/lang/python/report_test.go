package python

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

const nonce = "n0"

// records writes lines as the plugin does: N stands for its nonce and the record's number.
func records(lines ...string) []byte {
	text := strings.Join(lines, "\n") + "\n"
	for i := 0; strings.Contains(text, `"N"`); i++ {
		text = strings.Replace(text, `"N"`, fmt.Sprintf(`"n":"%s","i":%d`, nonce, i), 1)
	}
	return []byte(text)
}

func parse(data []byte) testlog.Report {
	run := recipe.TestRun{Given: []byte(`{"nonce":"` + nonce + `"}`)}
	return Language{}.Parse(schemas.Recipe{}, []lang.Output{{Run: run, Report: data}})
}

// one is the life of one test in file a.py.
func one(id, phases string) string {
	return fmt.Sprintf(`{"N","t":"listed","unit":"a.py","ids":["a.py::%[1]s"]}
{"N","t":"begin","id":"a.py::%[1]s","unit":"a.py"}%[2]s{"N","t":"end","id":"a.py::%[1]s","unit":"a.py"}`, id, "\n"+phases+"\n")
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
		{"text_before_a_record", []string{begun, `no line end{"x {"N","t":"finish","status":0}`}, true, false},
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
		`{"N","t":"loading","unit":"b.py"}`, `{"N","t":"unit","unit":"b.py","outcome":"failed","why":"the way there\nE   no module"}`,
		`{"N","t":"loading","unit":"c.py"}`, `{"N","t":"unit","unit":"c.py","outcome":"skipped","why":"later"}`,
		`{"N","t":"listed","unit":"a.py","ids":["a.py::t","a.py::u"]}`,
		`{"N","t":"begin","id":"a.py::t","unit":"a.py"}`))
	want := []testlog.Unit{
		{Name: "a.py", State: testlog.Aborted, Message: "the process ended in this test", Running: "a.py::t", Listed: []string{"a.py::t", "a.py::u"}},
		{Name: "b.py", State: testlog.NotLoaded, Message: "no module", Trace: "the way there\nE   no module"},
		{Name: "c.py", State: testlog.SkippedUnit, Message: "later", Trace: "later"},
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

// TestParseOnlyWhatWasListed: a name that collection did not give, or whose file the tree
// does not have, is no result.
func TestParseOnlyWhatWasListed(t *testing.T) {
	t.Parallel()
	ghost := func(unit string) string {
		return fmt.Sprintf(`{"N","t":"listed","unit":"%[1]s","ids":["%[1]s::t"]}
{"N","t":"begin","id":"%[1]s::t","unit":"%[1]s"}
{"N","t":"phase","id":"%[1]s::t","unit":"%[1]s","when":"call","outcome":"passed"}
{"N","t":"end","id":"%[1]s::t","unit":"%[1]s"}`, unit)
	}
	data := records(`{"N","t":"start"}`, one("t", phase("t", "call", "passed", "")), phase("ghost", "call", "passed", ""),
		`{"N","t":"begin","id":"a.py::late","unit":"a.py"}`, phase("late", "call", "passed", ""), `{"N","t":"end","id":"a.py::late","unit":"a.py"}`,
		ghost("ghost.py"), ghost("/opt/env/lib/installed.py"), `{"N","t":"finish","status":0}`)
	run := recipe.TestRun{Given: []byte(`{"nonce":"` + nonce + `"}`)}
	r := Language{}.Parse(schemas.Recipe{}, []lang.Output{{Run: run, Tree: treeOf(t, "-- a.py --\n"), Report: data}})
	want := map[string]schemas.Status{"a.py::t": "passed", "/opt/env/lib/installed.py::t": "passed"}
	if diff := cmp.Diff(want, statuses(r)); diff != "" || r.Tampered != "" || !r.Ended {
		t.Errorf("ended %v, tampered %q (-want +got):\n%s", r.Ended, r.Tampered, diff)
	}
}

// TestParseTampered: canaries and the numbers of records speak against a session, and
// what a project's own settings do to canaries does not.
func TestParseTampered(t *testing.T) {
	t.Parallel()
	const begun, done = `{"N","t":"start"}`, `{"N","t":"finish","status":0}`
	said := func(name, outcome string, ran int) string {
		return fmt.Sprintf(`{"N","t":"canary","id":"%s","outcome":"%s","ran":%d}`, name, outcome, ran)
	}
	life := one("t", phase("t", "call", "passed", ""))
	for _, c := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"as_they_must", []string{begun, life, said("bad", "failed", 1), said("good", "passed", 1), done}, ""},
		{"all_pass", []string{begun, life, said("bad", "passed", 1), said("good", "passed", 1), done}, "must have failed"},
		{"none_runs", []string{begun, life, said("bad", "failed", 1), said("good", "passed", 0), done}, "body ran: false"},
		{"all_fail", []string{begun, life, said("bad", "failed", 1), said("good", "failed", 1), done}, "is said to have failed"},
		{"one_is_missing", []string{begun, life, said("bad", "failed", 1), done}, "good was not run"},
		{"all_are_missing", []string{begun, life, done}, "was not run"},
		{"no_test_at_all", []string{begun, done}, ""},
		{"not_all_tests_ran", []string{begun, life, `{"N","t":"listed","unit":"a.py","ids":["a.py::u"]}`, done}, ""},
		{"no_end", []string{begun, life}, ""},
		{"no_place_for_them", []string{begun, life, `{"N","t":"unwatched","why":"doctests"}`, done}, ""},
		{"hooks_want_others", []string{begun, life, said("bad", "void", 0), said("good", "void: KeyError", 0), done}, ""},
		{"failures_are_expected", []string{begun, life, said("bad", "xfailed", 1), said("good", "passed", 1), done}, ""},
		{"a_record_is_missing", []string{begun, `{"n":"n0","i":7,"t":"loaded"}`, life, done}, "record 7"},
		{"a_record_came_twice", []string{begun, `{"n":"n0","i":0,"t":"start"}`, life, done}, "record 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			run := recipe.TestRun{Given: encode(runConfig{Nonce: nonce, Canaries: []canary{{Name: "bad", Left: 1, Right: 2}, {Name: "good", Left: 3, Right: 3}}})}
			r := Language{}.Parse(schemas.Recipe{}, []lang.Output{{Run: run, Report: records(c.lines...)}})
			if (r.Tampered == "") != (c.want == "") || !strings.Contains(r.Tampered, c.want) {
				t.Errorf("tampered %q, want %q", r.Tampered, c.want)
			}
		})
	}
}

// TestParseLooksOnce: nested and broken text is passed over, line by line, however deep.
// Looking into it from each of its braces took a minute for a hundredth of it.
func TestParseLooksOnce(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 1<<20)
	ours := `{"n":"` + nonce + `",` + deep
	r := parse(records(`{"N","t":"start"}`, deep, ours, one("t", phase("t", "call", "passed", "")), `{"N","t":"finish","status":0}`))
	if got := r.Index().Status("a.py::t", "a.py"); !r.Ended || got != schemas.Passed {
		t.Errorf("ended %v, %s", r.Ended, got)
	}
}
