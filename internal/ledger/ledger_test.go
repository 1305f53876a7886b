package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/schemas"
)

// words are the statuses that a test is written with: one letter a run.
var words = map[rune]schemas.Status{
	'p': schemas.Passed, 'f': schemas.Failed, 'e': schemas.Errored, 's': schemas.Skipped,
	'a': schemas.Absent, 'n': schemas.NotRun, 'l': schemas.NotLoaded,
}

func runs(letters string) []schemas.Status {
	out := []schemas.Status{}
	for _, c := range letters {
		out = append(out, words[c])
	}
	return out
}

// proof is a proof of a change: "id class S G [B]" lines. base is how its runs of
// B ended.
func proof(change string, base []string, lines ...string) schemas.Proof {
	p := schemas.Proof{StartID: change, Environment: "sha256:env"}
	for i, end := range base {
		p.Runs = append(p.Runs, schemas.RunRecord{State: schemas.StateB, Scope: "suite", Number: i + 1, End: end})
	}
	for _, line := range lines {
		f := append(strings.Fields(line), "")
		t := schemas.TestVerdict{ID: f[0], Class: schemas.Class(f[1]), S: runs(f[2]), G: runs(f[3])}
		if f[4] != "" {
			t.B = runs(f[4])[0]
		}
		p.Tests = append(p.Tests, t)
	}
	return p
}

// lines is the ledger as text.
func lines(l *ledger.Ledger) []string {
	var out []string
	for f := range l.Flakes() {
		out = append(out, fmt.Sprintf("%s %s %s %v %d %v %v", f.Repo, f.Test, f.State, f.Causes, f.Runs, f.Outcomes, f.Changes))
	}
	return out
}

func TestWhatIsADisagreement(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		test string
		base []string // ends of the runs of B
		want []string
	}{
		"none":                       {test: "t fail_to_pass fff ppp"},
		"start":                      {test: "t quarantined fpf ppp", want: []string{"S [disagrees]"}},
		"solution":                   {test: "t quarantined fff ppf", want: []string{"G [disagrees]"}},
		"both":                       {test: "t quarantined fpf ppf", want: []string{"G [disagrees]", "S [disagrees]"}},
		"skipped_once":               {test: "t quarantined pps ppp", want: []string{"S [disagrees]"}},
		"loads_once":                 {test: "t quarantined llp ppp", want: []string{"S [disagrees]"}},
		"error_and_failure_are_one":  {test: "t fail_to_pass fef ppp"},
		"not_run_is_no_evidence":     {test: "t fail_to_pass fnf ppn"},
		"never_run":                  {test: "t unproved nnn ppp"},
		"name_comes_and_goes":        {test: "t unstable_id ppp pap", want: []string{"G [unstable_id]"}},
		"states_may_differ":          {test: "t fail_to_pass aaa ppp"},
		"one_run_each":               {test: "t fail_to_pass f p"},
		"parent_of_a_flake":          {test: "t quarantined fff ppp", want: []string{"G [child]", "S [child]"}},
		"base_agrees":                {test: "t fail_to_pass lll ppp f", base: []string{"exited", "exited", "exited"}},
		"base_disagrees":             {test: "t quarantined lll ppp", base: []string{"exited", "exited", "exited"}, want: []string{"B [disagrees]"}},
		"base_disagrees_beside":      {test: "t pass_to_pass ppp ppp", base: []string{"exited", "aborted", "exited"}, want: []string{"B [disagrees]"}},
		"base_was_never_read":        {test: "t unproved lll ppp", base: []string{"timeout"}},
		"base_says_what_a_file_says": {test: "t fail_to_pass lll ppp a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := ledger.New()
			l.Add("acme/widget", proof("w-1", tc.base, tc.test))
			var got []string
			for f := range l.Flakes() {
				got = append(got, fmt.Sprintf("%s %v", f.State, f.Causes))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			changes, ok := l.Quarantined("acme/widget", "t")
			if ok != (len(tc.want) > 0) || ok && !slices.Equal(changes, []string{"w-1"}) {
				t.Errorf("quarantined %v by %v", ok, changes)
			}
		})
	}
}

// TestRestThatEndedAtALimit: the run of B was never read, and nobody disagreed.
func TestRestThatEndedAtALimit(t *testing.T) {
	t.Parallel()
	p := proof("w-1", []string{"aborted"}, "t unproved lll ppp")
	p.Runs = append(p.Runs, schemas.RunRecord{State: schemas.StateB, Scope: "rest", Number: 1, End: "memory"})
	l := ledger.New()
	l.Add("acme/widget", p)
	if got := lines(l); got != nil {
		t.Errorf("got %v", got)
	}
}

// TestOneChangeTellsOnAll: what disagreed in one change leaves the lists of every
// change of that repository, and of no other.
func TestOneChangeTellsOnAll(t *testing.T) {
	t.Parallel()
	good := proof("w-2", nil, "rare pass_to_pass ppp ppp", "t fail_to_pass fff ppp", "other parent ppp ppp")
	l := ledger.New()
	l.Add("acme/widget", good)
	l.Add("acme/widget", proof("w-1", nil, "rare quarantined ppf ppp", "other quarantined fpf ppp"))
	l.Add("acme/widget", proof("w-3", nil, "rare quarantined ppp fpp"))
	stripped, removed := l.Strip("acme/widget", good)
	if diff := cmp.Diff(map[string][]string{"rare": {"w-1", "w-3"}}, removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"rare"}, stripped.List(schemas.Quarantined)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"t"}, stripped.List(schemas.F2P)); diff != "" {
		t.Error(diff)
	}
	if good.Tests[0].Class != schemas.P2P {
		t.Error("the proof that was given is changed")
	}
	if _, removed := l.Strip("acme/gadget", good); len(removed) > 0 {
		t.Errorf("another repository lost %v", removed)
	}
}

// TestStripLeavesNoCause behind: a list of causes would name what is in no list.
func TestStripLeavesNoCause(t *testing.T) {
	t.Parallel()
	l := ledger.New()
	l.Add("r", proof("c-1", nil, "t quarantined fpf ppp"))
	p := proof("c-2", nil, "t fail_to_pass lll ppp")
	p.Tests[0].Cause, p.Tests[0].Baseline, p.Tests[0].Why = schemas.CauseLoad, schemas.StateB, "boom"
	got, _ := l.Strip("r", p)
	want := schemas.TestVerdict{ID: "t", Class: schemas.Quarantined, S: p.Tests[0].S, G: p.Tests[0].G}
	if diff := cmp.Diff(want, got.Tests[0]); diff != "" {
		t.Error(diff)
	}
}

// TestCount: a line says how rare the flake is, over all changes in its place.
func TestCount(t *testing.T) {
	t.Parallel()
	proofs := []schemas.Proof{
		proof("c-1", nil, "t pass_to_pass ppp ppp", "u pass_to_pass ppp ppp"),
		proof("c-2", nil, "t quarantined ppf ppp"),
		proof("c-3", []string{"exited", "aborted"}, "t quarantined lll ppp"),
		proof("c-4", []string{"exited"}, "t pass_to_pass ppp ppp p"),
	}
	elsewhere := proof("c-5", nil, "t pass_to_pass ppp ppp")
	elsewhere.Environment = "sha256:other"
	l := ledger.New()
	for _, p := range append(proofs, elsewhere) {
		l.Add("r", p)
		l.Add("r", p) // a proof that is met twice says nothing new
	}
	for _, p := range append(proofs, elsewhere) {
		l.Count("r", p)
	}
	want := []string{
		"r t B [disagrees] 3 map[passed:1] [c-3]",
		"r t S [disagrees] 12 map[failed:1 not_loaded:3 passed:8] [c-2]",
	}
	if diff := cmp.Diff(want, lines(l)); diff != "" {
		t.Error(diff)
	}
}

// TestOrderDecidesNothing: proofs come as they are done.
func TestOrderDecidesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		statuses := rapid.StringMatching("[pfsanl]{3}")
		var proofs []schemas.Proof
		for i := range 6 {
			p := proof(fmt.Sprintf("c-%d", i), nil)
			p.Environment = rapid.SampledFrom([]schemas.Digest{"e1", "e2"}).Draw(t, "environment")
			for _, id := range []string{"t", "u", "v"} {
				p.Tests = append(p.Tests, schemas.TestVerdict{ID: id, S: runs(statuses.Draw(t, "S")), G: runs(statuses.Draw(t, "G"))})
			}
			proofs = append(proofs, p)
		}
		fill := func(proofs []schemas.Proof) []string {
			l := ledger.New()
			for _, p := range proofs {
				l.Add("r", p)
			}
			for _, p := range proofs {
				l.Count("r", p)
			}
			return lines(l)
		}
		if diff := cmp.Diff(fill(proofs), fill(rapid.Permutation(proofs).Draw(t, "order"))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestOnlyFlakesAreKept: a suite of any size costs nothing while it agrees.
func TestOnlyFlakesAreKept(t *testing.T) {
	t.Parallel()
	l := ledger.New()
	p := proof("c-1", nil, "flaky quarantined pfp ppp")
	for i := range 1000 {
		p.Tests = append(p.Tests, proof("", nil, fmt.Sprintf("t%d pass_to_pass ppp ppp", i)).Tests...)
	}
	l.Add("r", p)
	l.Count("r", p)
	if diff := cmp.Diff([]string{"r flaky S [disagrees] 3 map[failed:1 passed:2] [c-1]"}, lines(l)); diff != "" {
		t.Error(diff)
	}
}
