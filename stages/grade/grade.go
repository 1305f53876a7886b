// Package grade runs a prediction as its task was proved, and gives the verdict: whether
// every test of FAIL_TO_PASS and PASS_TO_PASS passes with it.
//
// It never takes a test, a setting of the runner or a hook from a prediction, and never books
// a fault of the sandbox as a verdict.
package grade

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/overlap"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/patch"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/internal/uses"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// Version is part of the stage's fingerprint.
const Version = "7"

// Task is what a prediction answers.
type Task struct {
	Start                  schemas.Start
	Environment            schemas.Environment
	Trees                  states.Trees
	FailToPass, PassToPass []lang.Test
	// Own are the data files of the tests that they write themselves; nil where the proof is older than the question.
	Own []string
}

// Tasks gives tasks by instance ID.
type Tasks interface {
	Task(ctx context.Context, id string) (Task, error)
}

// Patches reads patches by digest.
type Patches interface {
	Get(d schemas.Digest) ([]byte, error)
}

// Config is what grades depend on beside tasks and predictions.
type Config struct {
	Limits sandbox.Limits `json:"limits"`
	// Strict takes no patch whose lines have moved or that has to be mended.
	Strict bool `json:"strict,omitempty"`
	// Keep builds each patch once for all of its runs while its task is open.
	Keep bool `json:"-"`
}

// Timeout bounds a grade: one run and a build, after the environment.
func (c Config) Timeout() time.Duration { return testrun.Timeout(2, c.Limits) }

// Grader is the stage. Close it when no more predictions come.
type Grader struct {
	config  Config
	tasks   Tasks
	patches Patches
	rules   parts.Rules
	ready   *inUse
}

var _ pipeline.Stage[schemas.Prediction, schemas.Grade] = (*Grader)(nil)

// New grades with the sandbox and languages of o.
func New(o testrun.Outside, tasks Tasks, patches Patches, c Config) *Grader {
	var all []lang.Language
	for _, l := range o.Builder.Languages {
		all = append(all, l)
	}
	return &Grader{config: c, tasks: tasks, patches: patches, rules: parts.New(all...), ready: &inUse{outside: o, tasks: tasks, limits: c.Limits, keep: c.Keep, open: map[string]*prepared{}}}
}

// Close frees what tasks share.
func (g *Grader) Close(ctx context.Context) error { return g.ready.close(ctx) }

// Depends leaves out what does not decide a verdict.
func (g *Grader) Depends(p schemas.Prediction) any {
	return struct {
		Instance    string
		Patch, Task schemas.Digest
	}{p.Instance, p.Patch, p.Task}
}

// Run grades one prediction.
func (g *Grader) Run(ctx context.Context, p schemas.Prediction) (schemas.Grade, error) {
	return g.Under(ctx, p, clock.Shift{})
}

// Under grades one prediction with the clock ahead. *testrun.NotShifted where it cannot be.
func (g *Grader) Under(ctx context.Context, p schemas.Prediction, ahead clock.Shift) (schemas.Grade, error) {
	grade := schemas.Grade{Prediction: p, Rules: Version}
	text, err := g.patches.Get(p.Patch)
	if err != nil {
		return grade, fmt.Errorf("reading the patch: %w", err)
	}
	if strings.TrimSpace(string(text)) == "" {
		grade.Verdict = schemas.VerdictEmpty
		return grade, nil
	}
	d, err := g.ready.take(ctx, p.Instance)
	if err != nil {
		return grade, err
	}
	defer g.ready.give(d)
	guarded, err := g.applied(ctx, d, text, &grade)
	if err != nil || grade.Verdict != "" {
		return grade, err
	}
	return grade, g.run(ctx, d, guarded, ahead, &grade)
}

// applied is the tree to run. Where the patch does not apply, the grade has its verdict.
func (g *Grader) applied(ctx context.Context, d *prepared, text []byte, grade *schemas.Grade) (*tree.Tree, error) {
	answer, err := patch.Answer(ctx, d.task.Trees.B, text)
	if err == nil && !answer.Exact && g.config.Strict {
		err = fmt.Errorf("%w: its lines have moved, or it had to be mended", patch.ErrConflict)
	}
	if errors.Is(err, patch.ErrConflict) || errors.Is(err, tree.ErrUnsafe) || errors.Is(err, tree.ErrTooLarge) {
		grade.Verdict, grade.Detail = schemas.VerdictPatch, err.Error()
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("applying the patch: %w", err)
	}
	predicted := answer.Tree
	grade.Mended, grade.Left = answer.Mended, answer.Left
	if len(answer.Left) > 0 {
		grade.Detail = "left out: " + strings.Join(answer.Left, ", ")
	}
	switch {
	case answer.Empty:
		grade.Verdict, grade.Detail = schemas.VerdictEmpty, "nothing is left of the patch; "+grade.Detail
		return nil, nil
	case answer.Exact:
		grade.Applied = schemas.AppliedExact
	case len(answer.Mended) > 0:
		grade.Applied = schemas.AppliedMended
	default:
		grade.Applied = schemas.AppliedOffset
	}
	grade.Files = g.codeFiles(d.task.Trees.B, predicted)
	grade.Overlaps = overlap.Of(d.task.Trees.B, d.task.Trees.G, predicted, g.codeFiles(d.task.Trees.B, d.task.Trees.G), overlap.Words)
	guarded, tampered, err := guard{g.rules, d.bench.Lang, d.start.loads}.put(ctx, predicted, d.task.Trees)
	grade.Tampered = tampered
	if errors.Is(err, patch.ErrConflict) || errors.Is(err, tree.ErrUnsafe) || errors.Is(err, tree.ErrTooLarge) {
		// The tests of a proved task apply to its base: what they do not fit is the answer's.
		grade.Verdict, grade.Limit, grade.Detail = schemas.VerdictFail, schemas.Tampered, err.Error()
		return nil, nil
	}
	if err == nil {
		grade.Uses = uses.Added(d.task.Trees.S, guarded, func(p string) bool {
			part, _ := g.rules.PartBy(p, d.task.Trees.B, guarded)
			return part == schemas.PartTest
		})
	}
	return guarded, err
}

// codeFiles are the paths of code that differ between two trees.
func (g *Grader) codeFiles(before, after *tree.Tree) []string {
	changed := map[string]bool{}
	for _, e := range before.Entries() {
		if !same(before, after, e.Path) {
			changed[e.Path] = true
		}
	}
	for _, e := range after.Entries() {
		if !same(before, after, e.Path) {
			changed[e.Path] = true
		}
	}
	for p := range changed {
		in := after
		if _, ok := after.Entry(p); !ok {
			in = before
		}
		if part, _ := g.rules.Part(p, in); part != schemas.PartCode {
			delete(changed, p)
		}
	}
	return sorted(changed)
}

// run runs the whole suite once on the answer, and scores both lists.
func (g *Grader) run(ctx context.Context, d *prepared, t *tree.Tree, ahead clock.Shift, grade *schemas.Grade) (err error) {
	outcome, err := g.witnessed(ctx, d, func() (*testrun.Outcome, error) { return g.once(ctx, d, t, ahead, grade) })
	if err == nil && grade.Verdict != schemas.VerdictPass {
		var again bool
		if again, err = g.learn(ctx, d); again {
			outcome, err = g.witnessed(ctx, d, func() (*testrun.Outcome, error) { return g.once(ctx, d, t, ahead, grade) })
		}
	}
	if d.task.Start.Group != nil && grade.F2P != nil {
		var fault error
		if grade.Service, grade.Class, fault = g.served(*grade, outcome); fault != nil {
			return fault
		}
	}
	var over *pipeline.Rejected
	if errors.As(err, &over) { // a limit of ours, or results that cannot be believed: the answer's own doing
		grade.Verdict, grade.Limit, grade.F2P, grade.P2P, grade.Why, grade.Class = schemas.VerdictFail, over.Reason, nil, nil, nil, ""
		switch over.Reason {
		case schemas.OverTime:
			grade.Verdict = schemas.VerdictTimeout
		case schemas.Tampered:
			grade.Detail = over.Detail()
		}
		return nil
	}
	return err
}

// once builds an answer and runs the suite on it.
func (g *Grader) once(ctx context.Context, d *prepared, t *tree.Tree, ahead clock.Shift, grade *schemas.Grade) (outcome *testrun.Outcome, err error) {
	bench := d.beside()
	defer func() { grade.Runs = bench.Records }()
	at, free, err := g.place(ctx, d, bench, t, grade.Prediction.Patch)
	if err != nil {
		return nil, err
	}
	at.Clock = ahead
	if outcome, err = bench.Run(ctx, at, testrun.ScopeSuite, lang.Select{Number: 1}); err == nil {
		scored(grade, outcome, d.task)
	}
	return outcome, errors.Join(err, free())
}

// place is where an answer runs: built, and compared with what is the task's. With Keep it is the same place
// for each run of one patch, freed with the task.
func (g *Grader) place(ctx context.Context, d *prepared, bench *testrun.Bench, t *tree.Tree, patch schemas.Digest) (at testrun.Place, free func() error, err error) {
	free = func() error { return bench.Free(ctx, at) }
	if g.config.Keep {
		d.mu.Lock()
		defer d.mu.Unlock()
		if at, ok := d.kept[patch]; ok {
			return at, func() error { return nil }, nil
		}
	}
	if at, err = instead(ctx, bench, t); err != nil {
		return at, free, err
	}
	if err = g.unchanged(ctx, d, bench, at); err != nil {
		return at, free, errors.Join(err, free())
	}
	if g.config.Keep {
		d.kept[patch] = at
		free = func() error { return nil }
	}
	return at, free, nil
}

// instead builds the tree of an answer in the place of the start.
func instead(ctx context.Context, bench *testrun.Bench, t *tree.Tree) (testrun.Place, error) {
	b := *bench
	if l, ok := b.Lang.(lang.Loader); ok {
		b.Environment.Recipe = l.Quiet(b.Environment.Recipe)
	}
	at, err := b.Instead(ctx, schemas.StateS, "P", t)
	bench.Records = b.Records
	return at, err
}

// unchanged rejects an answer whose build changed what is the task's.
func (g *Grader) unchanged(ctx context.Context, d *prepared, b *testrun.Bench, at testrun.Place) error {
	changed, err := g.changedByBuild(ctx, d, b, at)
	if err == nil {
		var foreign []string
		foreign, err = d.foreign(ctx, b, at)
		for _, p := range foreign {
			changed = append(changed, path.Join(sandbox.EnvPath, p))
		}
	}
	if err == nil && len(changed) > 0 {
		err = pipeline.Reject(schemas.Tampered, "the build changes what is the task's: %s", strings.Join(changed, ", "))
	}
	return err
}

// scored puts the verdict of a whole run into a grade.
func scored(grade *schemas.Grade, o *testrun.Outcome, task Task) {
	grade.F2P, grade.P2P = scoreOf(o, task.FailToPass), scoreOf(o, task.PassToPass)
	grade.Verdict = schemas.VerdictFail
	if grade.F2P.Full() && grade.P2P.Full() {
		grade.Verdict = schemas.VerdictPass
	}
	grade.Why = whys(o, task.FailToPass, task.PassToPass)
	if grade.Service == nil {
		grade.Class = missedClass(o, task.FailToPass, task.PassToPass)
	}
}

// whys are what a run says of the tests that it misses.
func whys(o *testrun.Outcome, lists ...[]lang.Test) map[string]string {
	out := map[string]string{}
	for _, t := range slices.Concat(lists...) {
		if len(out) == schemas.MostWhys {
			break
		}
		if o.Status(t) != schemas.Passed {
			if why := o.Why(t); why != "" {
				out[t.ID] = why
			}
		}
	}
	return out
}

// scoreOf counts the tests of a list that passed.
func scoreOf(o *testrun.Outcome, tests []lang.Test) *schemas.Score {
	s := schemas.Score{Want: len(tests)}
	for _, t := range tests {
		if o.Status(t) == schemas.Passed {
			s.Passed++
		} else {
			s.Missed = append(s.Missed, t.ID)
		}
	}
	return &s
}
