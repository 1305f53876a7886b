package validate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// outcomeOf is one run that needed one attempt.
func outcomeOf(text string) *testrun.Outcome { return testrun.OutcomeOf(parse(text)) }

// seen is evidence from reports; changed are tests whose source the test part changed.
func seen(s, g, b []string, changed ...string) evidence {
	e := evidence{
		runs:      map[schemas.State][]*testrun.Outcome{},
		untouched: func(t lang.Test) bool { return !strings.Contains(strings.Join(changed, " "), t.ID) },
		newUnit:   func(unit string) bool { return unit == "n" },
	}
	for state, texts := range map[schemas.State][]string{schemas.StateS: s, schemas.StateG: g, schemas.StateB: b} {
		for _, text := range texts {
			e.runs[state] = append(e.runs[state], outcomeOf(text))
		}
	}
	return e
}

func three(text string) []string { return []string{text, text, text} }

// verdicts are "id class cause baseline" lines.
func verdicts(tests []schemas.TestVerdict) []string {
	var out []string
	for _, v := range tests {
		out = append(out, strings.Join(strings.Fields(strings.Join([]string{v.ID, string(v.Class), string(v.Cause), string(v.Baseline)}, " ")), " "))
	}
	return out
}

// TestTableOfOneTree: where B is S, a test that did not load at the start fails there and not
// for its own source; one that was not reached says nothing.
func TestTableOfOneTree(t *testing.T) {
	t.Parallel()
	for start, want := range map[string]string{
		"a not_loaded\nend":         "t fail_to_pass load",
		"a finished t=failed\nend":  "t fail_to_pass fails",
		"a finished u=passed\nend":  "t fail_to_pass new",
		"a finished t=passed\nend":  "t pass_to_pass",
		"a aborted\n":               "t unproved",
		"a finished t=skipped\nend": "t skip_to_pass",
	} {
		e := seen(three(start), three("a finished t=passed\nend"), nil)
		e.same = true
		if e.needsBase() {
			t.Errorf("%q: B is to be run", start)
		}
		if got := verdicts(classify(e)); len(got) == 0 || got[0] != "a::"+want {
			t.Errorf("%q: %v, want %s", start, got, want)
		}
	}
}

// TestTable is every row of the table of design 8, with what stands beside it.
func TestTable(t *testing.T) {
	t.Parallel()
	const passes = "a finished t=passed\nend"
	const notLoaded = "a not_loaded\nend"
	const notRun = "a aborted\n" // ended before its first test, and nobody was running
	for name, tc := range map[string]struct {
		s, g, b []string
		changed string
		want    string
	}{
		"failed":                         {s: three("a finished t=failed\nend"), want: "fail_to_pass fails"},
		"error":                          {s: three("a finished t=error\nend"), want: "fail_to_pass fails"},
		"failed_and_error_are_one_row":   {s: []string{"a finished t=failed\nend", "a finished t=error\nend", "a finished t=failed\nend"}, want: "fail_to_pass fails"},
		"failed_whatever_base_says":      {s: three("a finished t=failed\nend"), b: []string{passes}, want: "fail_to_pass fails"},
		"absent":                         {s: three("a finished u=passed\nend"), want: "fail_to_pass new"},
		"absent_unit":                    {s: three("b finished u=passed\nend"), want: "fail_to_pass new"},
		"absent_whatever_base_says":      {s: three("a finished u=passed\nend"), b: []string{passes}, want: "fail_to_pass new"},
		"not_loaded_base_passed":         {s: three(notLoaded), b: []string{passes}, want: "pass_to_pass B"},
		"not_loaded_base_passed_changed": {s: three(notLoaded), b: []string{passes}, changed: "a::t", want: "fail_to_pass load_changed"},
		"not_loaded_base_failed":         {s: three(notLoaded), b: []string{"a finished t=failed\nend"}, want: "fail_to_pass load"},
		"not_loaded_base_error":          {s: three(notLoaded), b: []string{"a finished t=error\nend"}, want: "fail_to_pass load"},
		"not_loaded_base_absent":         {s: three(notLoaded), b: []string{"a finished u=passed\nend"}, want: "fail_to_pass load_new"},
		"not_loaded_base_skipped":        {s: three(notLoaded), b: []string{"a finished t=skipped\nend"}, want: "unproved"},
		"not_loaded_base_not_loaded":     {s: three(notLoaded), b: []string{notLoaded}, want: "unproved"},
		"not_loaded_base_not_run":        {s: three(notLoaded), b: []string{notRun}, want: "unproved"},
		"not_loaded_base_disagrees":      {s: three(notLoaded), b: []string{passes, "a finished t=failed\nend"}, want: "quarantined"},
		"not_run_base_passed":            {s: three(notRun), b: []string{passes}, want: "pass_to_pass B"},
		"not_run_base_passed_changed":    {s: three(notRun), b: []string{passes}, changed: "a::t", want: "unproved"},
		"not_run_base_failed":            {s: three(notRun), b: []string{"a finished t=failed\nend"}, want: "unproved"},
		"not_run_base_absent":            {s: three(notRun), b: []string{"a finished u=passed\nend"}, want: "unproved"},
		"skipped":                        {s: three("a finished t=skipped\nend"), want: "skip_to_pass"},
		"xfailed":                        {s: three("a finished t=xfailed\nend"), want: "skip_to_pass"},
		"xpassed":                        {s: three("a finished t=xpassed\nend"), want: "skip_to_pass"},
		"unit_skipped_as_a_whole":        {s: three("a skipped\nend"), want: "skip_to_pass"},
		"passed":                         {s: three(passes), want: "pass_to_pass"},
		"passed_whatever_base_says":      {s: three(passes), b: []string{"a finished t=failed\nend"}, want: "pass_to_pass"},
		"start_disagrees":                {s: []string{passes, passes, "a finished t=failed\nend"}, want: "quarantined"},
		"start_skips_once":               {s: []string{passes, passes, "a finished t=skipped\nend"}, want: "quarantined"},
		"start_loads_once":               {s: []string{notLoaded, notLoaded, passes}, b: []string{passes}, want: "quarantined"},
		"start_disagrees_on_names":       {s: []string{passes, "a finished u=passed\nend", passes}, want: "unstable_id"},
		"one_start_run_not_reached":      {s: []string{"a finished t=failed\nend", notRun, "a finished t=failed\nend"}, want: "fail_to_pass fails"},
		"solution_disagrees":             {s: three("a finished t=failed\nend"), g: []string{passes, "a finished t=failed\nend", passes}, want: "quarantined"},
		"solution_disagrees_on_names":    {s: three("a finished u=passed\nend"), g: []string{passes, "a finished u=passed\nend", passes}, want: "unstable_id"},
		"solution_not_reached_once":      {s: three("a finished t=failed\nend"), g: []string{passes, notRun, passes}, want: "unproved"},
		"solution_skips":                 {s: three("a finished t=failed\nend"), g: three("a finished t=skipped\nend"), want: "failing"},
		"solution_xpasses":               {s: three("a finished t=failed\nend"), g: three("a finished t=xpassed\nend"), want: "failing"},
		"fails_in_both":                  {s: three("a finished t=failed\nend"), g: three("a finished t=failed\nend"), want: "failing"},
		"regression":                     {s: three(passes), g: three("a finished t=failed\nend"), want: "regression"},
		"regression_by_error":            {s: three(passes), g: three("a finished t=error\nend"), want: "regression"},
		"no_regression_if_start_flakes":  {s: []string{passes, "a finished t=failed\nend", passes}, g: three("a finished t=failed\nend"), want: "quarantined"},
		"no_regression_if_unreached":     {s: []string{passes, notRun, passes}, g: three("a finished t=failed\nend"), want: "failing"},
		"vanished":                       {s: three(passes), g: three("a finished u=passed\nend"), want: "vanished"},
		"passed_then_skipped":            {s: three(passes), g: three("a finished t=skipped\nend"), want: "failing"},
		"conftest_did_not_load":          {s: three("c not_loaded\nend"), b: []string{passes}, want: "pass_to_pass B"},
		"conftest_ended_the_run":         {s: three("c not_loaded"), b: []string{"a finished u=passed\nend"}, want: "fail_to_pass load_new"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.g == nil {
				tc.g = three(passes)
			}
			got := map[string]string{}
			for _, line := range verdicts(classify(seen(tc.s, tc.g, tc.b, tc.changed))) {
				id, rest, _ := strings.Cut(line, " ")
				got[id] = rest
			}
			if got["a::t"] != tc.want {
				t.Errorf("a::t is %q, want %q", got["a::t"], tc.want)
			}
		})
	}
}

// TestUnitOfItsOwn: a file that B does not have needs no run of B.
func TestUnitOfItsOwn(t *testing.T) {
	t.Parallel()
	e := seen(three("n not_loaded\nend"), three("n finished t=passed\nend"), nil)
	if e.needsBase() {
		t.Error("needs base, though the file is new")
	}
	got := classify(e)
	if diff := cmp.Diff([]string{"n::t fail_to_pass load_new"}, verdicts(got)); diff != "" {
		t.Error(diff)
	}
	if got[0].B != schemas.Absent {
		t.Errorf("B is %q, want absent", got[0].B)
	}
}

// TestGolangPackage: one new symbol, and a whole package does not compile.
func TestGolangPackage(t *testing.T) {
	t.Parallel()
	s := "pkg not_loaded\nother finished TestO=passed\nend"
	g := "pkg finished TestNew=passed TestOld=passed TestFixed=passed TestEdited=passed TestOff=skipped\nother finished TestO=passed\nend"
	b := "pkg finished TestOld=passed TestFixed=failed TestEdited=passed TestOff=skipped\nother finished TestO=passed\nend"
	got := classify(seen(three(s), three(g), []string{b}, "pkg::TestEdited"))
	want := []string{
		"other::TestO pass_to_pass", "pkg::TestEdited fail_to_pass load_changed", "pkg::TestFixed fail_to_pass load",
		"pkg::TestNew fail_to_pass load_new", "pkg::TestOff failing", "pkg::TestOld pass_to_pass B",
	}
	if diff := cmp.Diff(want, verdicts(got)); diff != "" {
		t.Error(diff)
	}
}

func TestParents(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		s, g []string
		want []string
	}{
		"child_listed": {
			s: three("a finished T=failed T/x=failed T/y=passed U=passed\nend"), g: three("a finished T=passed T/x=passed T/y=passed U=passed\nend"),
			want: []string{"a::T parent", "a::T/x fail_to_pass fails", "a::T/y pass_to_pass", "a::U pass_to_pass"},
		},
		"at_any_depth": {
			s: three("a finished T=failed T/x=failed T/x/1=failed\nend"), g: three("a finished T=passed T/x=passed T/x/1=passed\nend"),
			want: []string{"a::T parent", "a::T/x parent", "a::T/x/1 fail_to_pass fails"},
		},
		"no_child_listed": {
			s: three("a finished T=failed T/x=failed\nend"), g: three("a finished T=passed T/x=skipped\nend"),
			want: []string{"a::T fail_to_pass fails", "a::T/x failing"},
		},
		"quarantined_with_a_child": {
			s: three("a finished T=failed T/x=failed T/y=failed\nend"), g: []string{
				"a finished T=passed T/x=passed T/y=passed\nend", "a finished T=passed T/x=failed T/y=passed\nend", "a finished T=passed T/x=passed T/y=passed\nend",
			},
			want: []string{"a::T quarantined", "a::T/x quarantined", "a::T/y fail_to_pass fails"},
		},
		"quarantined_with_a_grandchild": {
			s: []string{"a finished T=passed T/x=passed T/x/1=passed\nend", "a finished T=passed T/x=passed T/x/1=failed\nend"}, g: three("a finished T=passed T/x=passed T/x/1=passed\nend"),
			want: []string{"a::T quarantined", "a::T/x quarantined", "a::T/x/1 quarantined"},
		},
		"a_parent_does_not_quarantine_its_children": {
			s: []string{"a finished T=passed T/x=passed\nend", "a finished T=failed T/x=passed\nend"}, g: three("a finished T=passed T/x=passed\nend"),
			want: []string{"a::T quarantined", "a::T/x pass_to_pass"},
		},
		"unstable_children_leave_the_parent": {
			s: []string{"a finished T=failed T/0x1=failed\nend", "a finished T=failed T/0x2=failed\nend"}, g: []string{"a finished T=passed T/0x3=passed\nend", "a finished T=passed T/0x4=passed\nend"},
			want: []string{"a::T fail_to_pass fails", "a::T/0x1 unstable_id", "a::T/0x2 unstable_id", "a::T/0x3 unstable_id", "a::T/0x4 unstable_id"},
		},
		"a_regression_is_not_hidden_by_a_listed_child": {
			s: three("a finished T=passed T/x=passed\nend"), g: three("a finished T=failed T/x=passed\nend"),
			want: []string{"a::T regression", "a::T/x pass_to_pass"},
		},
		"a_crash_fails_the_parents": {
			s: three("a aborted>T/x T/x=failed\nend"), g: three("a finished T=passed T/x=passed T/y=passed\nend"),
			want: []string{"a::T parent", "a::T/x fail_to_pass fails", "a::T/y fail_to_pass new"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, verdicts(classify(seen(tc.s, tc.g, nil)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRingOfParents: a hostile report names each as the other's parent.
func TestRingOfParents(t *testing.T) {
	t.Parallel()
	got := testrun.Ancestors(map[string]string{"a": "b", "b": "c", "c": "b"}, "a")
	if diff := cmp.Diff([]string{"b", "c"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhyIsWhatFailedAtTheStart(t *testing.T) {
	t.Parallel()
	s := "a finished t=failed u=passed\nb not_loaded\nend"
	got := classify(seen(three(s), three("a finished t=passed u=passed\nb finished v=passed\nend"), []string{"b finished v=failed\nend"}))
	why := map[string]string{}
	for _, v := range got {
		why[v.ID] = v.Why
	}
	want := map[string]string{"a::t": "assertion of t", "a::u": "", "b::v": "unit b says why"}
	if diff := cmp.Diff(want, why); diff != "" {
		t.Error(diff)
	}
}

func TestBrief(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"trimmed":    {"  x\n", "x"},
		"addresses":  {"<object at 0x7f01aBcd> is 0x1f", "<object at 0x…> is 0x1f"},
		"not_utf8":   {"a\xffb", "a\uFFFDb"},
		"cut_at_run": {strings.Repeat("a", maxWhy-1) + "éé", strings.Repeat("a", maxWhy-1) + "…"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := brief(tc.in); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		s, g []string
		want schemas.Reason
	}{
		"valid":                {s: three("a finished t=failed\nend"), g: three("a finished t=passed\nend"), want: "valid"},
		"no_f2p":               {s: three("a finished t=passed\nend"), g: three("a finished t=passed\nend"), want: schemas.NoF2P},
		"regression":           {s: three("a finished t=failed u=passed\nend"), g: three("a finished t=passed u=failed\nend"), want: schemas.RegressionR},
		"flaky_in_solution":    {s: three("a finished t=failed\nend"), g: []string{"a finished t=passed\nend", "a finished t=failed\nend"}, want: schemas.AllFlaky},
		"names_differ":         {s: three("a finished u=passed\nend"), g: []string{"a finished t1=passed u=passed\nend", "a finished t2=passed u=passed\nend"}, want: schemas.AllFlaky},
		"flaky_pass_to_pass":   {s: three("a finished t=passed\nend"), g: []string{"a finished t=passed\nend", "a finished t=failed\nend"}, want: schemas.NoF2P},
		"flaky_beside_others":  {s: three("a finished t=failed u=failed\nend"), g: []string{"a finished t=passed u=passed\nend", "a finished t=failed u=passed\nend"}, want: "valid"},
		"never_seen_to_differ": {s: three("a finished t=failed\nend"), g: []string{"a finished t=skipped\nend", "a finished t=failed\nend"}, want: schemas.NoF2P},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := seen(tc.s, tc.g, nil)
			if got := reason(judge(classify(e), e)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
