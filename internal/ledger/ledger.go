// Package ledger is the flake ledger of design 8: which tests of a repository
// ever disagreed with themselves, in any run of any change, rejected ones too.
// Three runs of one change do not catch a rare flake; three of each of a hundred
// changes do.
//
// It never runs a test and never decides what a disagreement means for a task: a
// caller takes the tests out of its lists. What it says depends on the set of
// proofs that it was given, never on their order.
package ledger

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/benchmint/benchmint/schemas"
)

// Cause says how a test came into the ledger.
type Cause string

// The causes.
const (
	Disagrees  Cause = "disagrees"   // equal runs gave it different outcomes
	UnstableID Cause = "unstable_id" // there in one run, and not in an equal one
	Child      Cause = "child"       // a part of it (a subtest) is in the ledger
)

// Flake is what is known of one test in one environment and state: a line of
// flakes.jsonl.
type Flake struct {
	Repo        string         `json:"repo"`
	Test        string         `json:"test"`
	Environment schemas.Digest `json:"environment"`
	State       schemas.State  `json:"state"`
	Causes      []Cause        `json:"causes"`
	// Runs of the whole suite here, in every change that has the test, and what they
	// said. A proof keeps one word for all runs of B: where they disagreed there,
	// they count in Runs only.
	Runs     int                    `json:"runs"`
	Outcomes map[schemas.Status]int `json:"outcomes"`
	// Changes in which it disagreed, sorted.
	Changes []string `json:"changes"`
}

// Ledger keeps the tests that disagreed and nothing of all others, so that its
// size follows the flakes and not the suites. It is for one goroutine.
type Ledger struct {
	repos map[string]map[string]*entry // by repository, by test
}

// entry is one test of one repository.
type entry struct {
	changes map[string]bool
	places  map[place]*seen
}

type place struct {
	environment schemas.Digest
	state       schemas.State
}

type seen struct {
	causes   map[Cause]bool
	changes  map[string]bool
	runs     int
	outcomes map[schemas.Status]int
}

// New is an empty ledger.
func New() *Ledger { return &Ledger{repos: map[string]map[string]*entry{}} }

// Add looks for disagreements in one proof of a repository, whole or as far as it
// came. A proof that is added twice counts once.
func (l *Ledger) Add(repo string, p schemas.Proof) {
	base := baseRuns(p)
	for _, t := range p.Tests {
		for state, cause := range disagreements(t, base) {
			l.note(repo, t.ID, place{p.Environment, state}, cause, p.StartID)
		}
	}
}

func (l *Ledger) note(repo, test string, at place, cause Cause, change string) {
	tests := l.repos[repo]
	if tests == nil {
		tests = map[string]*entry{}
		l.repos[repo] = tests
	}
	e := tests[test]
	if e == nil {
		e = &entry{changes: map[string]bool{}, places: map[place]*seen{}}
		tests[test] = e
	}
	s := e.at(at)
	e.changes[change], s.changes[change], s.causes[cause] = true, true, true
}

func (e *entry) at(p place) *seen {
	s := e.places[p]
	if s == nil {
		s = &seen{causes: map[Cause]bool{}, changes: map[string]bool{}, outcomes: map[schemas.Status]int{}}
		e.places[p] = s
	}
	return s
}

// Count adds the outcomes that one proof has of the tests of the ledger, so that
// a line says how rare a flake is. It is for after the last Add, once a proof;
// without it Runs and Outcomes stay empty and nothing else differs.
func (l *Ledger) Count(repo string, p schemas.Proof) {
	tests := l.repos[repo]
	if len(tests) == 0 {
		return
	}
	base := baseRuns(p)
	for _, t := range p.Tests {
		e := tests[t.ID]
		if e == nil {
			continue
		}
		for state, runs := range map[schemas.State][]schemas.Status{schemas.StateS: t.S, schemas.StateG: t.G} {
			e.count(place{p.Environment, state}, runs)
		}
		if t.B == "" {
			e.count(place{p.Environment, schemas.StateB}, nil)
			if s := e.places[place{p.Environment, schemas.StateB}]; s != nil {
				s.runs += base
			}
			continue
		}
		e.count(place{p.Environment, schemas.StateB}, slices.Repeat([]schemas.Status{t.B}, base))
	}
}

// count fills a place where the test disagreed; of others no line is written.
func (e *entry) count(at place, runs []schemas.Status) {
	s := e.places[at]
	if s == nil {
		return
	}
	s.runs += len(runs)
	for _, status := range runs {
		s.outcomes[status]++
	}
}

// Quarantined reports whether a test of a repository ever disagreed with itself,
// and in which changes, sorted.
func (l *Ledger) Quarantined(repo, test string) (changes []string, ok bool) {
	e := l.repos[repo][test]
	if e == nil {
		return nil, false
	}
	return slices.Sorted(maps.Keys(e.changes)), true
}

// Strip takes the tests of the ledger out of the lists of a proof: their class
// becomes quarantined. removed names them, with the changes in which each was
// seen to disagree. The proof that was given is not changed.
//
// A parent stays out with its child: where a child disagreed, the proof of that
// change has its parents quarantined as well, and they came into the ledger by it.
func (l *Ledger) Strip(repo string, p schemas.Proof) (stripped schemas.Proof, removed map[string][]string) {
	removed = map[string][]string{}
	p.Tests = slices.Clone(p.Tests)
	for i := range p.Tests {
		t := &p.Tests[i]
		if t.Class != schemas.F2P && t.Class != schemas.P2P {
			continue
		}
		if changes, ok := l.Quarantined(repo, t.ID); ok {
			t.Class, t.Cause, t.Baseline, t.Why = schemas.Quarantined, "", "", ""
			removed[t.ID] = changes
		}
	}
	return p, removed
}

// Flakes are the lines of flakes.jsonl, by repository, test, environment, state.
func (l *Ledger) Flakes() iter.Seq[Flake] {
	return func(yield func(Flake) bool) {
		for _, repo := range slices.Sorted(maps.Keys(l.repos)) {
			for _, test := range slices.Sorted(maps.Keys(l.repos[repo])) {
				for _, f := range l.repos[repo][test].lines(repo, test) {
					if !yield(f) {
						return
					}
				}
			}
		}
	}
}

func (e *entry) lines(repo, test string) []Flake {
	var out []Flake
	for at, s := range e.places {
		out = append(out, Flake{
			Repo: repo, Test: test, Environment: at.environment, State: at.state, Causes: slices.Sorted(maps.Keys(s.causes)),
			Runs: s.runs, Outcomes: maps.Clone(s.outcomes), Changes: slices.Sorted(maps.Keys(s.changes)),
		})
	}
	slices.SortFunc(out, func(a, b Flake) int {
		return cmp.Or(cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.State, b.State))
	})
	return out
}

// baseRuns are the whole runs of the suite in B. One that ended at a limit, or
// whose rest did, is no run: the proof was over before it was read.
func baseRuns(p schemas.Proof) int {
	whole := map[int]bool{}
	for _, r := range p.Runs {
		if r.State != schemas.StateB || r.Scope != "suite" && r.Scope != "rest" {
			continue
		}
		whole[r.Number] = r.End == "exited" || r.End == "aborted" // of the last attempt
	}
	n := 0
	for _, ok := range whole {
		if ok {
			n++
		}
	}
	return n
}

// disagreements are the states in which the runs of one proof contradict each
// other about a test. A parent that is quarantined for a child does so in none:
// it is noted where the child would be, in both states of the table.
func disagreements(t schemas.TestVerdict, base int) map[schemas.State]Cause {
	out := map[schemas.State]Cause{}
	for state, runs := range map[schemas.State][]schemas.Status{schemas.StateS: t.S, schemas.StateG: t.G} {
		if _, ok := Agreed(runs); !ok {
			out[state] = Disagrees
		}
		if Unstable(runs) {
			out[state] = UnstableID
		}
	}
	if base > 0 && t.B == "" {
		out[schemas.StateB] = Disagrees
	}
	if len(out) == 0 && t.Class == schemas.Quarantined {
		out[schemas.StateS], out[schemas.StateG] = Child, Child
	}
	return out
}

// Agreed is what equal runs say together of a test. not_run is evidence of
// nothing and takes no part unless it is all there is; failed and error are one
// row of the table of design 8. It is false where they contradict each other.
func Agreed(runs []schemas.Status) (schemas.Status, bool) {
	said := schemas.NotRun
	for _, s := range runs {
		if s == schemas.Errored {
			s = schemas.Failed
		}
		switch {
		case s == schemas.NotRun:
		case said == schemas.NotRun:
			said = s
		case s != said:
			return "", false
		}
	}
	return said, true
}

// Ran reports whether a runner gave this status to a test that it ran.
func Ran(s schemas.Status) bool {
	switch s {
	case schemas.Passed, schemas.Failed, schemas.Errored, schemas.Skipped, schemas.XFailed, schemas.XPassed:
		return true
	}
	return false
}

// Unstable reports that a name is there in one of equal runs and not in another.
func Unstable(runs []schemas.Status) bool {
	return slices.ContainsFunc(runs, Ran) && slices.Contains(runs, schemas.Absent)
}

// Of is a ledger that knows what lines of flakes.jsonl say.
func Of(flakes []Flake) *Ledger {
	l := New()
	for _, f := range flakes {
		for _, cause := range f.Causes {
			for _, change := range f.Changes {
				l.note(f.Repo, f.Test, place{f.Environment, f.State}, cause, change)
			}
		}
	}
	return l
}
