// Package validate proves starts: it runs the tests of a change in the states
// B, S and G by the order of work of design section 8, and turns what the runs
// say into the lists of a row or into a typed reject.
//
// It never reads a repository, a clock or a path of the host: the same code
// serves the pipeline and prove, which has rows and blobs only. It never turns a
// fault of the sandbox into a verdict: such an error is returned as it is.
package validate

import (
	"context"
	"errors"
	"fmt"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// Version is the version of this stage's rules; raise it when equal input could
// get another verdict.
const Version = "2"

// Config decides how hard a proof looks.
type Config struct {
	Runs   int            `json:"runs"` // of the whole suite, in S and in G
	Limits sandbox.Limits `json:"limits"`
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

// Outside is everything that a proof needs beside its case.
type Outside = testrun.Outside

// Measured is what one run cost. It goes to timings, never into a record.
type Measured = testrun.Measured

// Validator proves cases, one after another.
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

// Case is one start with all that its proof rests on.
type Case struct {
	testrun.Case
	Statement string
	// Scan searches what a solver gets for what it must not hold; nil: not asked for.
	Scan func(ctx context.Context, solver sandbox.Layer) (schemas.Scan, error)
}

// Prove gives the verdict on a case. The error is a *pipeline.Rejected for a
// property of the item; anything else is a fault of ours or of the machine. The
// proof is returned with a reject too, as far as it came: runs, and tests once
// they were classified.
func (v *Validator) Prove(ctx context.Context, c Case) (schemas.Proof, error) {
	if err := c.Check(); err != nil {
		return schemas.Proof{}, err
	}
	p := &prover{Config: v.Config, c: c, bench: testrun.New(v.Outside, c.Case, v.Limits), same: map[lang.Test]bool{}, rivals: c.Environment.Recipe.Rivals}
	p.proof = schemas.Proof{StartID: c.Start.ID(), Environment: c.Environment.Key, Tests: []schemas.TestVerdict{}}
	err := p.prove(ctx)
	p.proof.Runs = p.bench.Records
	return p.proof, errors.Join(err, p.bench.Remove(ctx))
}

// prover is one call of Prove.
type prover struct {
	Config
	c     Case
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

// prove is the whole story: work in order, then the questions that can still
// reject a task, cheapest first.
func (p *prover) prove(ctx context.Context) error {
	if err := p.work(ctx); err != nil {
		return err
	}
	if err := judge(p.proof.Tests, p.ev); err != nil {
		return err
	}
	if err := p.fairness(); err != nil {
		return err
	}
	return p.scan(ctx)
}
