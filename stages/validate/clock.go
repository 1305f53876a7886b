package validate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// clock holds the lists against time: the suite runs once more in G with the clock ahead, and
// where a listed test does not pass then, a second time with the times of files ahead as well. A
// test leaves the lists that passes in neither. One that passes in the second compares times of
// files with now, which is right on every day, or it is a flake: it stays. A clock that cannot be
// had, or under which nothing loads, is no verdict: the proof says so and goes on.
func (p *prover) clock(ctx context.Context) error {
	if p.served() { // one of its runs is shifted
		return nil
	}
	held, err := p.ahead(ctx)
	var not *testrun.NotShifted
	var limit *pipeline.Rejected
	switch {
	case errors.As(err, &not):
		p.proof.Clock = &schemas.Clock{Not: not.Why}
		return nil
	case errors.As(err, &limit):
		p.proof.Clock = &schemas.Clock{Not: fmt.Sprintf("the run was ended: %s", limit.Reason)}
		return nil
	case err != nil:
		return err
	}
	p.proof.Clock = &schemas.Clock{Ahead: int64(clock.Ahead / time.Second), By: held.by}
	f2p := p.proof.List(schemas.F2P)
	p.proof.Tests = held.leave(p.proof.Tests, p.ev.lists.given)
	if len(p.proof.List(schemas.F2P)) > 0 {
		if err := p.loads(); err != nil {
			return err
		}
		return p.fairness()
	}
	for i := range f2p {
		f2p[i] = clock.Undated(f2p[i])
	}
	return pipeline.Reject(schemas.AllBound, "%d tests: %s", len(f2p), strings.Join(slices.Compact(f2p), ", "))
}

// underClock are the runs of G with the clock ahead.
type underClock struct {
	by   string
	runs []*testrun.Outcome // two where a listed test did not pass in the first
}

// ahead makes the runs. Their time is bounded by that of the suite: who waits for a day that
// has passed must not take all that a run may.
func (p *prover) ahead(ctx context.Context) (underClock, error) {
	at, err := p.bench.Place(ctx, schemas.StateG)
	if err != nil {
		return underClock{}, err
	}
	bench := p.bench.Beside()
	defer func() { p.bench.Records = append(p.bench.Records, bench.Records...) }()
	// Go compiles the standard library again, the first time.
	bench.Limits.Timeout = min(bench.Limits.Filled().Timeout, 10*time.Duration(p.proof.SuiteMS())*time.Millisecond+10*time.Minute)
	pipeline.Doing(ctx, "state %s with the clock ahead", schemas.StateG)
	at.Clock = clock.Shift{Ahead: clock.Ahead}
	first, err := bench.Run(ctx, at, testrun.ScopeClock, lang.Select{Number: 1})
	if err != nil {
		return underClock{}, err
	}
	held := underClock{bench.Records[0].Clock, []*testrun.Outcome{first}}
	if len(first.Report.Tests) == 0 {
		return held, &testrun.NotShifted{Why: "no test loads with the clock ahead"}
	}
	var units []string
	for _, t := range held.bound(p.proof.Tests) {
		units = append(units, t.Unit)
	}
	if units == nil {
		return held, nil
	}
	slices.Sort(units)
	pipeline.Doing(ctx, "state %s with the clock and the times of files ahead", schemas.StateG)
	at.Clock.Files = true
	second, err := bench.Run(ctx, at, testrun.ScopeClock, lang.Select{Number: 2, Units: slices.Compact(units)})
	if err == nil {
		held.runs = append(held.runs, second)
	}
	return held, err
}

// status is what all runs say of a test: the first that a run gives beside passed and not_run,
// and one of these where a run does.
func (h underClock) status(t schemas.TestVerdict) schemas.Status {
	out := schemas.Passed
	for _, o := range h.runs {
		s := o.Status(lang.Test{ID: t.ID, Unit: t.Unit})
		if s == schemas.Passed || s == schemas.NotRun {
			return s
		}
		out = s
	}
	return out
}

// bound are the listed tests that pass in no run, and others that pass in the solution and are
// absent in all.
func (h underClock) bound(tests []schemas.TestVerdict) []schemas.TestVerdict {
	// A parent that went on without its child did not pass.
	for _, o := range h.runs {
		o.Blame(testrun.Parents(h.runs...))
	}
	var out []schemas.TestVerdict
	for _, t := range tests {
		// A name that moves is a matter of the row wherever it stands.
		if s := h.status(t); isListed(t.Class) && s != schemas.Passed && s != schemas.NotRun || s == schemas.Absent && all(t.G, schemas.Passed) {
			t.Class, t.Clock, t.Cause, t.Baseline, t.Why = schemas.TimeBound, s, "", "", ""
			for _, o := range h.runs {
				if t.Why == "" {
					t.Why = brief(o.Why(lang.Test{ID: t.ID, Unit: t.Unit}))
				}
			}
			out = append(out, t)
		}
	}
	return out
}

// leave takes the bound tests out of the lists. One that is absent with the clock ahead has
// another name then, and so will tests have that differ from it by numbers and days alone, though
// theirs may be that of another on the later day: all of them leave, under one name, which is
// the same on each day. One that is there on the later day and that a test file spells out stays.
func (h underClock) leave(tests []schemas.TestVerdict, given func(id string) bool) []schemas.TestVerdict {
	bound := map[string]schemas.TestVerdict{}
	moves := map[string]bool{}
	for _, t := range h.bound(tests) {
		bound[t.ID] = t
		moves[clock.Undated(t.ID)] = moves[clock.Undated(t.ID)] || t.Clock == schemas.Absent
	}
	var out []schemas.TestVerdict
	for _, t := range tests {
		if b, ok := bound[t.ID]; ok {
			t = b
		}
		stays := isListed(t.Class) && given(t.ID)
		if name := clock.Undated(t.ID); moves[name] && all(t.G, schemas.Passed) && !stays {
			t.ID, t.Class, t.Clock, t.Cause, t.Baseline, t.Why = name, schemas.TimeBound, schemas.Absent, "", "", ""
			if slices.ContainsFunc(out, func(o schemas.TestVerdict) bool { return o.ID == name }) {
				continue
			}
		}
		out = append(out, t)
	}
	slices.SortStableFunc(out, func(a, b schemas.TestVerdict) int { return strings.Compare(a.ID, b.ID) })
	return out
}
