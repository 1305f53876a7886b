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
	"time"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Version is the version of this stage's rules; raise it when equal input could
// get another verdict.
const Version = "1"

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

// States makes the layer of one state; internal/environment does.
type States interface {
	State(ctx context.Context, parent sandbox.Layer, r schemas.Recipe, files []sandbox.File) (sandbox.Layer, error)
}

// Blobs keeps logs and reports.
type Blobs interface {
	Put(b []byte) (schemas.Digest, error)
}

// Measured is what one run cost. It goes to timings, never into a record.
type Measured struct {
	StartID  string
	Run      schemas.RunRecord
	Wall     time.Duration // inside test commands
	Overhead time.Duration // of the sandbox, around them
}

// Outside is everything that a proof needs beside its case.
type Outside struct {
	Sandbox sandbox.Sandbox
	States  States
	Blobs   Blobs
	Observe func(Measured) // nil: nobody asks
}

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
	Start                     schemas.Start
	Base, StartTree, Solution *tree.Tree
	Environment               schemas.Environment
	Env                       sandbox.Layer // the environment's layer
	Lang                      lang.Language
	SealedBase                []sandbox.File // the base tree with its one neutral commit (internal/seal)
	Statement                 string
	// Scan searches what a solver gets for what it must not hold; nil: not asked for.
	Scan func(ctx context.Context, solver sandbox.Layer) (schemas.Scan, error)
}

// check is the tree digests of design 8: a case whose trees are not those of its
// start would prove something else.
func (c Case) check() error {
	if c.Lang == nil {
		return fmt.Errorf("no language %q is at hand", c.Start.Language)
	}
	for _, t := range []struct {
		state schemas.State
		tree  *tree.Tree
		want  string
	}{{schemas.StateB, c.Base, c.Start.BaseTree}, {schemas.StateS, c.StartTree, c.Start.StartTree}, {schemas.StateG, c.Solution, c.Start.SolutionTree}} {
		if got := t.tree.ID(); got != t.want {
			return fmt.Errorf("state %s: tree is %s, the start says %s", t.state, got, t.want)
		}
	}
	return nil
}

func (c Case) tree(s schemas.State) *tree.Tree {
	switch s {
	case schemas.StateB:
		return c.Base
	case schemas.StateS:
		return c.StartTree
	}
	return c.Solution
}

// Prove gives the verdict on a case. The error is a *pipeline.Rejected for a
// property of the item; anything else is a fault of ours or of the machine. The
// proof is returned with a reject too, as far as it came: runs, and tests once
// they were classified.
func (v *Validator) Prove(ctx context.Context, c Case) (schemas.Proof, error) {
	if err := c.check(); err != nil {
		return schemas.Proof{}, err
	}
	p := &prover{Validator: v, c: c, layers: map[schemas.State]sandbox.Layer{}, same: map[lang.Test]bool{}}
	p.proof = schemas.Proof{StartID: c.Start.ID(), Environment: c.Environment.Key, Runs: []schemas.RunRecord{}, Tests: []schemas.TestVerdict{}}
	err := p.prove(ctx)
	return p.proof, errors.Join(err, p.remove(ctx))
}

// prover is one call of Prove.
type prover struct {
	*Validator
	c      Case
	layers map[schemas.State]sandbox.Layer
	proof  schemas.Proof
	ev     evidence
	same   map[lang.Test]bool // answers of untouched
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
