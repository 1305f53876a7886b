package validate

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// work is the order of work of design 8: changed files first, the suite k times
// in S and in G by turns (so that a drift of the machine meets both), B last and
// only where the table needs it.
func (p *prover) work(ctx context.Context) error {
	p.ev = evidence{runs: map[schemas.State][]*testrun.Outcome{}, untouched: p.untouched, newUnit: p.newUnit, same: p.c.Start.StartTree == p.c.Start.BaseTree || p.c.Start.Deploy != nil} // whose suite lies beside both
	if !p.served() {                                                                                                                                                                      // its cases are no files of the tree
		p.ev.lists = newLists(p.c)
	}
	if err := p.changed(ctx); err != nil {
		return err
	}
	// What was seen before a limit ended the item is kept with the reject: the flake
	// ledger is fed by every run of every change.
	err := p.suites(ctx)
	p.proof.Tests = classify(p.ev)
	if err != nil {
		return err
	}
	return p.baseline(ctx)
}

func (p *prover) suites(ctx context.Context) error {
	for n := 1; n <= p.Runs; n++ {
		if err := p.both(ctx, n); err != nil {
			return err
		}
		for n == 1 && p.lacks() {
			if !p.rival(testrun.ScopeSuite, testrun.ScopeRest) {
				return pipeline.Reject(schemas.NoRecipe, "no test command runs what the change tests (%s); tried: %s",
					p.shown[0].ID, strings.Join(p.tried, "; "))
			}
			if err := p.both(ctx, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// both is run n of the suite in S and in G.
func (p *prover) both(ctx context.Context, n int) error {
	if p.served() && n == besideRun {
		return p.together(ctx, n)
	}
	for _, s := range []schemas.State{schemas.StateS, schemas.StateG} {
		if err := p.suite(ctx, s, n); err != nil {
			return err
		}
	}
	return nil
}

// lacks recognises a suite that holds none of the tests that tell the states apart by
// themselves: a command that runs something else, not a change without evidence.
func (p *prover) lacks() bool {
	gold := p.ev.runs[schemas.StateG][0]
	for _, t := range p.shown {
		if gold.Status(t) != schemas.Absent {
			return false
		}
	}
	return true
}

// rival goes on with the recipe's next test command, in the same environment: the
// command decides no layer. The runs of the given scopes are no evidence any more. It is
// false where no command is left.
func (p *prover) rival(scopes ...string) bool {
	recipe := &p.bench.Environment.Recipe
	p.tried = append(p.tried, schemas.CommandLine(recipe.Test))
	at := slices.IndexFunc(p.rivals, func(r schemas.Rival) bool { return r.Other == "" })
	if at < 0 {
		return false
	}
	test := p.rivals[at].Test
	p.rivals = p.rivals[at+1:]
	recipe.Test, p.c.Environment.Recipe.Test, p.proof.Test = test, test, test
	for i := range p.bench.Records {
		if slices.Contains(scopes, p.bench.Records[i].Scope) {
			p.bench.Records[i].Scope = testrun.ScopeTried
		}
	}
	p.ev.runs = map[schemas.State][]*testrun.Outcome{}
	return true
}

// suite is run n of the whole suite in a state, unless it was run already.
func (p *prover) suite(ctx context.Context, s schemas.State, n int) error {
	if len(p.ev.runs[s]) >= n {
		return nil
	}
	o, err := p.run(ctx, s, testrun.ScopeSuite, lang.Select{Number: n})
	if err == nil {
		err = began(o, s)
	}
	if err == nil {
		p.ev.runs[s] = append(p.ev.runs[s], o)
	}
	return err
}

// began fails for a run that left no report at all. The language tells sessions that
// the tree ended before they collected anything (their files are not loaded); what is
// left was ended from outside, and is evidence of nothing.
func began(o *testrun.Outcome, s schemas.State) error {
	if o.Report.Started {
		return nil
	}
	return fmt.Errorf("state %s: the test runner was ended before it wrote its report", s)
}

func (p *prover) run(ctx context.Context, s schemas.State, scope string, sel lang.Select) (*testrun.Outcome, error) {
	pipeline.Doing(ctx, "building state %s", s)
	at, err := p.bench.Place(ctx, s)
	if err != nil {
		return nil, err
	}
	if scope == testrun.ScopeSuite {
		pipeline.Doing(ctx, "state %s, run %d of %d", s, sel.Number, p.Config.Runs)
	} else {
		pipeline.Doing(ctx, "state %s, the changed tests", s)
	}
	return p.bench.Run(ctx, at, scope, sel)
}

// changed runs the changed test files once in G and once in S, and rejects the
// item where no test can be FAIL_TO_PASS. These runs decide on the order of work
// only; they are no evidence for the table, because a test can behave otherwise
// alone. Where the language runs the whole suite for them, with the very same
// commands, they are the first run of the suite.
func (p *prover) changed(ctx context.Context) error {
	gold, err := p.first(ctx, schemas.StateG)
	for err == nil && nothingRan(gold) && p.rival(testrun.ScopeChanged, testrun.ScopeSuite, testrun.ScopeRest) {
		gold, err = p.first(ctx, schemas.StateG)
	}
	if err != nil {
		return err
	}
	if !passedAny(gold) {
		if what, ok := environment.Lacking(p.c.G, gold.Report, nil); ok {
			return pipeline.Reject(schemas.Submodule, "%s: %w", what, nothingPassed(gold))
		}
		return nothingPassed(gold)
	}
	start, err := p.first(ctx, schemas.StateS)
	if err == nil {
		err = began(start, schemas.StateS)
	}
	if err != nil {
		return err
	}
	if p.shown = transitions(start, gold); len(p.shown) == 0 {
		if what, ok := environment.Lacking(p.c.G, gold.Report, nil); ok {
			return pipeline.Reject(schemas.Submodule, "%s: no changed test that passes in the solution fails, is new or does not load at the start", what)
		}
		return pipeline.Reject(schemas.NoF2P, "no changed test that passes in the solution fails, is new or does not load at the start")
	}
	return nil
}

func (p *prover) first(ctx context.Context, s schemas.State) (*testrun.Outcome, error) {
	sel := lang.Select{Paths: p.c.Start.TestPaths(), Number: 1}
	if p.isSuite(s, sel) {
		if err := p.suite(ctx, s, 1); err != nil {
			return nil, err
		}
		return p.ev.runs[s][0], nil
	}
	return p.run(ctx, s, testrun.ScopeChanged, sel)
}

// isSuite reports whether a selection comes to the whole suite: the same processes,
// or none of its own (changed data that no test file names).
func (p *prover) isSuite(s schemas.State, sel lang.Select) bool {
	runs := func(sel lang.Select) []recipe.TestRun {
		return p.c.Runner.Runs(p.c.Environment.Recipe, p.c.Tree(s), sel)
	}
	part, whole := runs(sel), runs(lang.Select{Number: sel.Number})
	// Inputs are not compared: they are ours, and each run has a nonce of its own.
	return len(part) == 0 || slices.EqualFunc(part, whole, func(a, b recipe.TestRun) bool {
		return a.Report == b.Report && reflect.DeepEqual(a.Command, b.Command)
	})
}

func passedAny(o *testrun.Outcome) bool {
	for _, t := range o.Report.Tests {
		if o.Status(lang.Test{ID: t.ID, Unit: t.Unit}) == schemas.Passed {
			return true
		}
	}
	return false
}

// nothingRan recognises a session that went through without a test, though its files load:
// an option of the command leaves them out.
func nothingRan(o *testrun.Outcome) bool {
	return o.Report.Started && o.Report.Ended && len(o.Report.Tests) == 0 &&
		!slices.ContainsFunc(o.Report.Units, func(u testlog.Unit) bool { return u.State == testlog.NotLoaded })
}

// nothingPassed says why the changed tests prove nothing in the solution.
func nothingPassed(gold *testrun.Outcome) error {
	for _, u := range gold.Report.Units {
		if u.State == testlog.NotLoaded {
			return pipeline.Reject(schemas.GoldFails, "%s: %s", u.Name, brief(u.Message))
		}
	}
	if !gold.Report.Started {
		return pipeline.Reject(schemas.NoRunner, "the runner left no report of the changed tests in the solution")
	}
	return pipeline.Reject(schemas.NoF2P, "no changed test passes in the solution")
}

// transitions are the tests that can still become FAIL_TO_PASS. What was skipped or
// not reached at the start never can.
func transitions(start, gold *testrun.Outcome) []lang.Test {
	start.Blame(testrun.Parents(start, gold))
	gold.Blame(testrun.Parents(start, gold))
	var out []lang.Test
	for _, x := range gold.Report.Tests {
		t := lang.Test{ID: x.ID, Unit: x.Unit}
		if gold.Status(t) != schemas.Passed {
			continue
		}
		switch start.Status(t) {
		case schemas.Failed, schemas.Errored, schemas.Absent, schemas.NotLoaded:
			out = append(out, t)
		}
	}
	return out
}

// baseline runs the suite in B where a class of the table depends on it: once,
// and as often as S and G where a failure in B would list a test, because a flake
// that failed at the base but once would be listed for good.
func (p *prover) baseline(ctx context.Context) error {
	if !p.ev.needsBase() {
		return nil
	}
	runs := 1
	for n := 1; n <= runs; n++ {
		if err := p.suite(ctx, schemas.StateB, n); err != nil {
			return err
		}
		p.proof.Tests = classify(p.ev)
		if n == 1 && hasCause(p.proof.Tests, schemas.CauseLoad) {
			runs = p.Runs
		}
	}
	return nil
}

func hasCause(tests []schemas.TestVerdict, c schemas.Cause) bool {
	for _, t := range tests {
		if t.Class == schemas.F2P && t.Cause == c {
			return true
		}
	}
	return false
}

// untouched asks the language about the source of a test in B and S, once: the
// table is drawn again after each run of B, and the answer needs parsed files.
func (p *prover) untouched(t lang.Test) bool {
	same, known := p.same[t]
	if !known {
		if p.compare == nil {
			p.compare = p.c.Lang.Untouched(p.c.B, p.c.S, p.changedPaths())
		}
		same = p.compare(t)
		p.same[t] = same
	}
	return same
}

// changedPaths are all paths of the test part, on both sides of a rename.
func (p *prover) changedPaths() []string {
	var changed []string
	for _, f := range p.c.Start.Files {
		if f.Part == schemas.PartTest || len(f.TestHunks) > 0 {
			changed = append(changed, f.Path)
			if f.OldPath != "" && f.OldPath != f.Path {
				changed = append(changed, f.OldPath)
			}
		}
	}
	return changed
}

// newUnit reports that a unit is a file that B does not have: its tests are absent
// there, and no run is needed to know it. A unit that is no path says nothing.
func (p *prover) newUnit(unit string) bool {
	return p.c.S.Has(unit) && !p.c.B.Has(unit)
}

// scan searches what a solver gets, last: it reads every byte of every layer.
func (p *prover) scan(ctx context.Context) error {
	if p.c.scan == nil {
		return nil
	}
	solver, err := p.bench.Place(ctx, schemas.StateB)
	if err != nil {
		return err
	}
	pipeline.Doing(ctx, "searching what a solver gets for the solution")
	if p.proof.Leaks, err = p.c.scan(ctx, solver.Layer); err != nil {
		return fmt.Errorf("searching what a solver gets: %w", err)
	}
	if hits := p.proof.Leaks.Hits; len(hits) > 0 {
		return pipeline.Reject(schemas.Leaked, "%d places, the first: %s in %s", len(hits), hits[0].Kind, hits[0].Place)
	}
	return nil
}
