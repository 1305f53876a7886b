// Package assess asks how much of a gold patch the tests of its task notice
// (design 8, adequacy): each code hunk is reverted alone in the solution, and the
// FAIL_TO_PASS files are run. And which PASS_TO_PASS tests run what the patch changes.
//
// Every hunk of the code part counts, in whatever language: it is tried, or skipped for a
// reason that the record counts. A tree without a hunk is built with the recipe's own
// commands, so that what is compiled is compiled again.
//
// Of a library it says how much of the code part the suite runs, and of a slice of one which tests
// its score counts.
//
// It never ends a task: a hunk that nobody notices is listed, no more, and a run
// that passes a limit notices its hunk. Only a fault of the machine is an error.
package assess

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// Version is the version of this stage's rules; raise it when equal input could
// get another record.
const Version = "6"

// Config bounds the work on one task.
type Config struct {
	MaxHunks int            `json:"max_hunks"` // tried one by one; 0 means none
	Limits   sandbox.Limits `json:"limits"`
}

// Default is what most patches stay below, with the sandbox's own limits.
func Default() Config { return Config{MaxHunks: 30} }

// Validate names the key that cannot be used.
func (c Config) Validate() error {
	if c.MaxHunks < 0 {
		return fmt.Errorf("proof.hunks: %d: at least 0", c.MaxHunks)
	}
	return nil
}

// Timeout bounds the work on one task: each hunk once, and once more.
func (c Config) Timeout() time.Duration { return testrun.Timeout(2*(c.MaxHunks+1), c.Limits) }

// The ends of a hunk.
const (
	Noticed   = "noticed"
	Unnoticed = "unnoticed"
	Unbuilt   = "unbuilt" // the tests do not load without it: noticed as well
)

// Assessor assesses tasks, one after another.
type Assessor struct {
	outside testrun.Outside
	config  Config
}

// New fails for a configuration that cannot be used. Logs and reports of these
// runs are kept nowhere: a record names the tests that noticed.
func New(o testrun.Outside, c Config) (*Assessor, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	o.Blobs = nowhere{}
	return &Assessor{outside: o, config: c}, nil
}

type nowhere struct{}

func (nowhere) Put([]byte) (schemas.Digest, error) { return "", nil }

// Assess tries the code hunks of a proved case's gold patch, in the patch's order.
// Equal input gives an equal record as far as the tests repeat themselves.
func (a *Assessor) Assess(ctx context.Context, c testrun.Case, proof schemas.Proof) (out schemas.Adequacy, err error) {
	out = schemas.Adequacy{StartID: c.Start.ID(), Proof: schemas.DigestOf(proof.Stable()), Hunks: []schemas.HunkNotice{}}
	all, err := hunksOf(c)
	if err != nil {
		return out, err
	}
	skip := func(why schemas.HunkSkip, n int) {
		if n > 0 {
			out.Skipped += n
			if out.SkippedFor == nil {
				out.SkippedFor = map[schemas.HunkSkip]int{}
			}
			out.SkippedFor[why] += n
		}
	}
	var triable []hunk
	for _, h := range all {
		if h.skip == "" {
			triable = append(triable, h)
		} else {
			skip(h.skip, 1)
		}
	}
	tried := spread(triable, a.config.MaxHunks)
	skip(schemas.SkipLimit, len(triable)-len(tried))
	w := &work{bench: testrun.New(a.outside, c, a.config.Limits)}
	defer func() { err = errors.Join(err, w.bench.Remove(ctx)) }()
	if out.Near, _, err = w.near(ctx, c, proof); err != nil {
		return out, err
	}
	if len(tried) == 0 {
		return out, nil
	}
	ready, err := w.control(ctx, c, proof)
	if err != nil || !ready {
		skip(schemas.SkipNoControl, len(tried))
		return out, err
	}
	for i, h := range tried {
		pipeline.Doing(ctx, "hunk %d of %d", i+1, len(tried))
		notice, err := w.try(ctx, fmt.Sprintf("G-%d", i), h)
		if err != nil {
			return out, fmt.Errorf("without hunk %d of %s: %w", h.index, h.path, err)
		}
		if notice.End != Unnoticed {
			out.Noticed++
		}
		out.Hunks = append(out.Hunks, notice)
	}
	return out, nil
}

// spread takes at most n of the hunks, evenly over the patch: the share noticed
// then stands for the whole, where the largest or the first alone would flatter it.
func spread(all []hunk, n int) []hunk {
	if len(all) <= n {
		return all
	}
	out := make([]hunk, 0, n)
	for i := range n {
		out = append(out, all[i*len(all)/n])
	}
	return out
}

// work is one call of Assess.
type work struct {
	bench *testrun.Bench
	sel   lang.Select
	tests []lang.Test // FAIL_TO_PASS tests that pass in the selection, in order
}

// control runs the FAIL_TO_PASS files in the solution as it is. A test that does
// not pass there (it needs what others leave behind) would seem to notice
// everything. At first the other tests of these files are left out, which costs most where a
// file is long: a FAIL_TO_PASS test that does not pass without them is run with them. Where
// none passes, the whole suite is the selection; it is false where that does not help either,
// and then nothing can be said of any hunk.
func (w *work) control(ctx context.Context, c testrun.Case, proof schemas.Proof) (bool, error) {
	at, err := w.bench.Place(ctx, schemas.StateG)
	if over(err) != nil {
		return false, nil // it was built for its proof: the machine is slow today
	}
	if err != nil {
		return false, err
	}
	var wanted []lang.Test
	for _, t := range proof.Tests {
		if t.Class == schemas.F2P {
			wanted = append(wanted, lang.Test{ID: t.ID, Unit: t.Unit})
		}
	}
	told := w.bench.Observe
	sels := []lang.Select{selection(c, wanted), {Number: 1}}
	if alone := sels[0]; len(wanted) > 0 {
		if alone.Skip = beside(proof, wanted); len(alone.Skip) > 0 {
			sels = slices.Insert(sels, 0, alone)
		}
	}
	for _, sel := range sels {
		var took time.Duration
		w.bench.Observe = func(m testrun.Measured) {
			took += m.Wall
			if told != nil {
				told(m)
			}
		}
		o, err := w.bench.Run(ctx, at, testrun.ScopeChanged, sel)
		w.bench.Observe = told
		if over(err) != nil {
			continue
		}
		if err != nil {
			return false, err
		}
		passed, others := outcomes(o, wanted)
		if len(sel.Skip) > 0 && len(others) > 0 {
			continue
		}
		w.sel, w.tests = sel, passed
		if len(w.tests) > 0 {
			w.hurry(took)
			return true, nil
		}
	}
	return false, nil
}

// Without a hunk, code may well wait for what never comes. A run that takes many
// times as long as with it has noticed, and thirty of the full time-out would hold up
// everybody else.
const (
	muchLonger = 10
	leastTime  = time.Minute // for a machine that is busier than it was
)

func (w *work) hurry(took time.Duration) {
	w.bench.Limits = w.bench.Limits.Filled()
	w.bench.Limits.Timeout = min(w.bench.Limits.Timeout, max(muchLonger*took, leastTime))
}

// selection is the units of the tests. Where those are files they are the paths;
// what else changed for the tests goes along where a unit is no path.
func selection(c testrun.Case, tests []lang.Test) lang.Select {
	sel := lang.Select{Number: 1, Paths: []string{}}
	for _, t := range tests {
		if slices.Contains(sel.Units, t.Unit) {
			continue
		}
		sel.Units = append(sel.Units, t.Unit)
		if c.G.Has(t.Unit) {
			sel.Paths = append(sel.Paths, t.Unit)
		}
	}
	if len(sel.Paths) < len(sel.Units) {
		sel.Paths = append(sel.Paths, c.Start.TestPaths()...)
	}
	slices.Sort(sel.Paths)
	sel.Paths = slices.Compact(sel.Paths)
	return sel
}

// maxSkip bounds the names of tests that are left out, in bytes: some runners have them as one
// argument, of which Linux takes 128 KiB.
const maxSkip = 48 << 10

// beside are the other tests of the units of tests, nil where they are too many. A part of a
// test, and a test that has one of tests as a part, are not among them.
func beside(proof schemas.Proof, tests []lang.Test) []string {
	units, whole := map[string]bool{}, map[string]bool{}
	for _, t := range tests {
		units[t.Unit], whole[above(t.ID)] = true, true
	}
	var out []string
	size := 0
	for _, t := range proof.Tests {
		if t.Class == schemas.F2P || !units[t.Unit] || above(t.ID) != t.ID || whole[t.ID] {
			continue
		}
		out = append(out, t.ID)
		size += len(t.ID)
	}
	if size > maxSkip {
		return nil
	}
	return out
}

// outcomes parts the tests by what a run says of them.
func outcomes(o *testrun.Outcome, tests []lang.Test) (passed, others []lang.Test) {
	o.Blame(testrun.Parents(o))
	for _, t := range tests {
		if o.Status(t) == schemas.Passed {
			passed = append(passed, t)
		} else {
			others = append(others, t)
		}
	}
	return passed, others
}

// maxTests bounds the names in a notice.
const maxTests = 5

// try runs the tests without one hunk.
func (w *work) try(ctx context.Context, name string, h hunk) (schemas.HunkNotice, error) {
	notice := schemas.HunkNotice{Path: h.path, Hunk: h.index, End: Unnoticed}
	o, err := w.run(ctx, name, h)
	if rejected := over(err); rejected != nil {
		notice.End, notice.Limit = Noticed, rejected.Reason
		return notice, nil
	}
	if err != nil {
		return notice, err
	}
	_, failed := outcomes(o, w.tests)
	if len(failed) == 0 {
		return notice, nil
	}
	notice.End = Noticed
	if !o.Report.Started || !slices.ContainsFunc(failed, func(t lang.Test) bool { return o.Status(t) != schemas.NotLoaded }) {
		notice.End = Unbuilt
	}
	for _, t := range failed[:min(maxTests, len(failed))] {
		notice.Tests = append(notice.Tests, t.ID)
	}
	return notice, nil
}

// run builds the solution without a hunk and runs the selection in it.
func (w *work) run(ctx context.Context, name string, h hunk) (o *testrun.Outcome, err error) {
	t, err := h.without(w.bench.G)
	if err != nil {
		return nil, err
	}
	at, err := w.bench.Near(ctx, name, t, w.sel)
	if err != nil {
		return nil, err
	}
	defer func() {
		if fault := w.bench.Free(ctx, at); fault != nil {
			err = fmt.Errorf("removing the layer of state %s: %w", name, fault) // whatever the run came to
		}
	}()
	return w.bench.Run(ctx, at, testrun.ScopeChanged, w.sel)
}

// over is the limit that ended a build or a run; nil where none did.
func over(err error) *pipeline.Rejected {
	var rejected *pipeline.Rejected
	if errors.As(err, &rejected) {
		return rejected
	}
	return nil
}
