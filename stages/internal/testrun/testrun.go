// Package testrun makes the states of a case into layers and runs tests in them:
// what the stages that run tests have in common (validate, assess).
//
// It never decides what an outcome means for a task. A limit of ours that is
// passed ends the item with its reason; a fault of the sandbox is returned as it is.
package testrun

import (
	"context"
	"fmt"
	"time"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

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

// Outside is everything that runs need beside their case.
type Outside struct {
	Sandbox sandbox.Sandbox
	States  States
	Blobs   Blobs
	Observe func(Measured) // nil: nobody asks
}

// Case is one start with all that its states rest on.
type Case struct {
	Start                     schemas.Start
	Base, StartTree, Solution *tree.Tree
	Environment               schemas.Environment
	Env                       sandbox.Layer // the environment's layer
	Lang                      lang.Language
	SealedBase                []sandbox.File // the base tree with its one neutral commit (internal/seal)
}

// Check is the tree digests of design 8: a case whose trees are not those of its
// start would prove something else.
func (c Case) Check() error {
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

// Tree is the tree of a state.
func (c Case) Tree(s schemas.State) *tree.Tree {
	switch s {
	case schemas.StateB:
		return c.Base
	case schemas.StateS:
		return c.StartTree
	}
	return c.Solution
}

// Bench holds the layers of one case and keeps a record of all that is run in
// them. It is for one goroutine; Remove ends it.
type Bench struct {
	Outside
	Case
	Limits  sandbox.Limits
	Records []schemas.RunRecord // in the order of work
	layers  map[schemas.State]sandbox.Layer
}

// New is a bench for a case, with no layer made yet.
func New(o Outside, c Case, limits sandbox.Limits) *Bench {
	return &Bench{Outside: o, Case: c, Limits: limits, Records: []schemas.RunRecord{}, layers: map[schemas.State]sandbox.Layer{}}
}

// Place is where tests are run: a state, or one that lies near it.
type Place struct {
	State schemas.State // its name in records
	Tree  *tree.Tree
	Layer sandbox.Layer
}
