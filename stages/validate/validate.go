// Package validate proves starts: it runs the tests of a change in the states
// B, S and G by the order of work of design section 8, and turns what the runs
// say into the lists of a row or into a typed reject.
//
// A proof never reads a repository, a clock or a path of the host: the same code
// serves a run, whose Stage collects what a proof is made from, and prove, which has
// rows and blobs only. It never turns a fault of the sandbox into a verdict: such an
// error is returned as it is.
package validate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// Version is the version of this stage's rules; raise it when equal input could
// get another verdict.
const Version = "7"

// Config decides how hard a proof looks.
type Config struct {
	Runs   int            `json:"runs"` // of the whole suite, in S and in G
	Limits sandbox.Limits `json:"limits"`
	// Service is what the cases of a service must show; nil is DefaultService.
	Service *Service `json:"service,omitempty"`
}

// Default is k = 3 and the sandbox's own limits.
func Default() Config { return Config{Runs: 3} }

// Validate names the key that cannot be used.
func (c Config) Validate() error {
	if c.Runs < 1 {
		return fmt.Errorf("proof.runs: %d: at least 1", c.Runs)
	}
	return nil
}

// Timeout bounds a proof: runs in S, in G and in B, with a few more of the change's own tests and of other commands.
func (c Config) Timeout() time.Duration { return testrun.Timeout(4*(c.Runs+2), c.Limits) }

// Outside is everything that a proof needs beside its case.
type Outside = testrun.Outside

// Measured is what one run cost. It goes to timings, never into a record.
type Measured = testrun.Measured

// Validator proves starts, one after another.
type Validator struct {
	Outside
	Config
}

// New fails for a configuration that cannot be used.
func New(o Outside, c Config) (*Validator, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Validator{Outside: o, Config: c}, nil
}

// Material is what a proof of one start is made from, wherever it comes from: a
// repository in a run, a dataset in prove.
type Material struct {
	Start       schemas.Start
	Trees       states.Trees
	Environment schemas.Environment
	Statement   string
	Version     string // nearest release at base, "" where there is none
}

// Prove builds the environment and the states, and gives the verdict. The error is a
// *pipeline.Rejected for a property of the item, a *pipeline.Deferred where a registry
// does not answer; anything else is a fault of ours or of the machine. The proof is
// returned with a reject too, as far as it came: runs, and tests once they were
// classified.
func (v *Validator) Prove(ctx context.Context, m Material) (schemas.Proof, error) {
	c, err := v.Prepare(ctx, m.Start, m.Trees, m.Environment)
	if err != nil {
		return schemas.Proof{}, err
	}
	bodies, err := v.bodies(m)
	if err != nil {
		return schemas.Proof{}, err
	}
	needles := seal.Needles(seal.Task{
		Base: m.Trees.B, Solution: m.Trees.G, Patch: m.Trees.Patch, TestPatch: m.Trees.TestPatch,
		Name: m.Start.Repo, Commit: m.Start.Commit, Version: version(m), Bodies: bodies,
	})
	return v.proveCase(ctx, task{
		Case: c, statement: m.Statement,
		scan: func(ctx context.Context, solver sandbox.Layer) (schemas.Scan, error) {
			toolchain, err := v.Builder.Toolchains.Get(ctx, m.Environment.Recipe.Toolchain.Name, m.Environment.Recipe.Toolchain.Version)
			if err != nil {
				return schemas.Scan{}, err
			}
			return seal.Search(ctx, needles, func(ctx context.Context, visit func(string, fs.FileInfo, func() (io.ReadCloser, error)) error) error {
				return v.Builder.Sandbox.Files(ctx, solver, visit)
			}, toolchain.Dir)
		},
	})
}

// version is the release up to which a copy of the project may lie in what a solver gets:
// the one at the base. Of a library every other copy of it may hold the solution.
func version(m Material) string {
	if m.Start.Masked != nil {
		return ""
	}
	return m.Version
}

// bodies are those that were taken out of a library, nil for a task of another kind.
func (v *Validator) bodies(m Material) (*seal.Bodies, error) {
	if m.Start.Kind != schemas.KindLibrary {
		return nil, nil
	}
	rules := parts.New(slices.Collect(maps.Values(v.Builder.Languages))...)
	return seal.BodiesOf(m.Trees.B, m.Trees.Patch, rules.Shipped(m.Trees.B))
}

// task is one start with all that its proof rests on.
type task struct {
	testrun.Case
	statement string
	// scan searches what a solver gets for what it must not hold; nil: not asked for.
	scan func(ctx context.Context, solver sandbox.Layer) (schemas.Scan, error)
}

func (v *Validator) proveCase(ctx context.Context, t task) (schemas.Proof, error) {
	p := &prover{Config: v.Config, c: t, bench: testrun.New(v.Outside, t.Case, v.Limits), same: map[lang.Test]bool{}, rivals: t.Environment.Recipe.Rivals}
	if p.served() {
		p.Runs = max(p.Runs, serviceRuns)
	}
	p.proof = schemas.Proof{StartID: t.Start.ID(), Start: schemas.DigestOf(t.Start), Environment: t.Environment.Key, Tests: []schemas.TestVerdict{}}
	err := p.prove(ctx)
	p.proof.Runs = p.bench.Records
	end := p.bench.Remove
	if v.Hold && err == nil {
		end = p.bench.Hand
	}
	return p.proof, errors.Join(err, end(ctx))
}

// prover is one call of proveCase.
type prover struct {
	Config
	c     task
	bench *testrun.Bench
	proof schemas.Proof
	ev    evidence
	same  map[lang.Test]bool // answers of untouched
	// compare is the language's answer to it, made for the first test that needs it.
	compare func(lang.Test) bool

	shown  []lang.Test     // what the changed test files alone show
	rivals []schemas.Rival // test commands that are left to try
	tried  []string        // those that do not run what was shown
}

// loads rejects a starter of a library of which no test file loads: it is the mask that
// fails there, and not a body that is missing.
func (p *prover) loads() error {
	if p.c.Start.Masked == nil || p.served() {
		return nil
	}
	why := ""
	for _, t := range p.proof.Tests {
		if t.Class == schemas.P2P || t.Class == schemas.F2P && t.Cause != schemas.CauseLoad {
			return nil
		}
		why = cmp.Or(why, t.Why)
	}
	return pipeline.Reject(schemas.StarterDead, "%d tests that pass in the release do not load: %s", len(p.proof.List(schemas.F2P)), why)
}

// prove is the whole story: work in order, then the questions that can still
// reject a task, cheapest first.
func (p *prover) prove(ctx context.Context) error {
	if err := p.work(ctx); err != nil {
		return err
	}
	var rewritten []string
	if p.proof.Writes, rewritten = p.bench.Wrote(); len(rewritten) > 0 {
		return pipeline.Reject(schemas.Tampered, "the runs change what judges them: %s", strings.Join(rewritten, ", "))
	}
	if err := judge(p.proof.Tests, p.ev); err != nil {
		return err
	}
	if err := p.service(); err != nil {
		return err
	}
	if err := p.loads(); err != nil {
		return err
	}
	if err := p.fairness(); err != nil {
		return err
	}
	if err := p.clock(ctx); err != nil {
		return err
	}
	return p.scan(ctx)
}
