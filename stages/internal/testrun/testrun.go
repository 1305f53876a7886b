// Package testrun makes the states of a case into layers and runs tests in them:
// what the stages that run tests have in common (validate, assess).
//
// It never decides what an outcome means for a task. A limit of ours that is
// passed ends the item with its reason; a fault of the sandbox is returned as it is.
package testrun

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/ends"
)

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
	Builder *environment.Builder
	Blobs   Blobs
	Observe func(Measured) // nil: nobody asks
	// Hold leaves the layers of a proof that holds to the stage after it (Bench.Hand), which
	// releases them; false where none comes.
	Hold bool
}

// Timeout bounds n runs of a suite: each is a few attempts of a few processes, and a process ends at the limit of its
// sandbox. It is far above what a proof comes to.
func Timeout(n int, l sandbox.Limits) time.Duration {
	const processes = 64
	return ends.Timeout + time.Duration(n)*processes*l.Filled().Timeout
}

// Case is one start with all that its states rest on.
type Case struct {
	Start schemas.Start
	states.Trees
	Environment schemas.Environment
	Env         sandbox.Layer // the environment's layer
	Lang        lang.Language
	Runner      lang.Runner
	SealedBase  []sandbox.File // the base tree with its one neutral commit (internal/seal)
}

// Prepare finds or builds the environment of a start and seals its base.
func (o Outside) Prepare(ctx context.Context, s schemas.Start, t states.Trees, e schemas.Environment) (Case, error) {
	c := Case{Start: s, Trees: t, Environment: e, Lang: o.Builder.Languages[s.Language]}
	if c.Lang == nil {
		return c, fmt.Errorf("no language %q is at hand", s.Language)
	}
	var err error
	if c.Runner, err = o.Builder.Runner(e.Recipe); err != nil {
		return c, err
	}
	if c.SealedBase, err = seal.Files(t.B, s.BaseDate); err != nil {
		return c, fmt.Errorf("sealing the base: %w", err)
	}
	if c.Env, err = o.Builder.Env(ctx, e.Recipe); err != nil {
		return c, ends.Of(err, schemas.NoBuild)
	}
	return c, nil
}

// Bench holds the layers of one case and keeps a record of all that is run in
// them. It is for one goroutine; Remove ends it.
type Bench struct {
	Outside
	Case
	Limits  sandbox.Limits
	Records []schemas.RunRecord // in the order of work
	layers  map[schemas.State]sandbox.Layer
	unbuilt map[schemas.State]string // why states have no image
	same    *bool                    // inert, once it was asked

	// Sealed: no run can change what judges it (judged), but for the files of Own, which the tests write themselves.
	// Else runs are watched, and Written is what they changed of it. Paths are those of the tree.
	Sealed  bool
	Own     []string
	Written map[string]bool
	// Loads is all that a run may load by itself (lang.Loader); nil: whatever it does.
	Loads  []byte
	sealed map[*tree.Tree][]string // judged, once it was asked
	// compiled are test programs that are there; nil: they are removed after each run.
	compiled map[schemas.Digest]*compiled
}

// New is a bench for a case, with no layer made yet.
func New(o Outside, c Case, limits sandbox.Limits) *Bench {
	return &Bench{Outside: o, Case: c, Limits: limits, Records: []schemas.RunRecord{}, layers: map[schemas.State]sandbox.Layer{}, unbuilt: map[schemas.State]string{}, sealed: map[*tree.Tree][]string{}, Written: map[string]bool{}, compiled: map[schemas.Digest]*compiled{}}
}

// Beside is a bench for another goroutine, on the layers that b has made until now and with
// records of its own. It is not removed: b frees the layers, when nobody uses them.
func (b *Bench) Beside() *Bench {
	out := *b
	out.Records, out.layers, out.unbuilt, out.sealed = []schemas.RunRecord{}, maps.Clone(b.layers), maps.Clone(b.unbuilt), map[*tree.Tree][]string{}
	out.Written, out.compiled = map[string]bool{}, nil
	return &out
}

// Place is where tests are run: a state, or one that lies near it.
type Place struct {
	State schemas.State // its name in records
	Tree  *tree.Tree
	Layer sandbox.Layer
	// Clock is the time that runs there go by.
	Clock clock.Shift
	// Unbuilt is why there is no layer: the Dockerfile of the tree does not build. Nothing is run
	// then, and no test loads.
	Unbuilt string
}
