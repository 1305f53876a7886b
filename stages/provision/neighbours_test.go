package provision_test

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/langtest"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/internal/store/storetest"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/provision"
)

// neighbour is an item as this stage sees it. Those of one requirement have one key.
type neighbour struct {
	requires string // z has an env layer that does not build before c is in it
	imports  string // what its tests import, one after another; nothing provides x
	knows    string // what its project names a distribution of
}

func (n neighbour) id() string {
	return "acme__" + n.requires + "-" + strings.ReplaceAll(n.imports, " ", "") + "-" + strings.ReplaceAll(n.knows, " ", "")
}

// street is every neighbour, by ID.
func street() map[string]neighbour {
	out := map[string]neighbour{}
	for _, requires := range []string{"a", "z"} {
		for _, imports := range []string{"", "b", "c", "b c", "x"} {
			for _, knows := range []string{"", "b c", "c"} {
				n := neighbour{requires, imports, knows}
				out[n.id()] = n
			}
		}
	}
	return out
}

// Start and Of: the trees hold what the tests import, and what the project knows.
func (n neighbour) tree() (*tree.Tree, error) {
	return tree.New([]tree.Entry{
		{Path: "known", Mode: tree.ModeFile, Data: []byte(n.knows)}, {Path: "test_a.toy", Mode: tree.ModeFile, Data: []byte(n.imports)},
	})
}

// town has the trees of the street; the rest is the world's.
type town struct{ world }

func (town) Of(_ context.Context, s schemas.Start) (states.Trees, error) {
	t, err := street()[s.ID()].tree()
	return states.Trees{B: t, S: t, G: t}, err
}

// knowing repairs by what the project at hand knows.
type knowing struct{ langtest.Toy }

func (knowing) Repair(p lang.Project, r schemas.Recipe, log []byte) (schemas.Recipe, bool) {
	known, err := p.Solution.Read("known")
	fixes := map[string]string{}
	for _, name := range strings.Fields(string(known)) {
		fixes["No module named "+name] = name
	}
	if err != nil || len(fixes) == 0 {
		return r, false
	}
	return langtest.Toy{Fixes: fixes}.Repair(p, r, log)
}

// house is a sandbox in which a test fails that imports what is not in the env layer.
type house struct {
	sandbox.Sandbox
	mu     sync.Mutex
	layers map[schemas.Digest]map[string]string // what a layer has: its lock, its tests
	tries  int
}

func (*house) Base(context.Context, sandbox.Base) (sandbox.Layer, error) {
	return sandbox.Layer{Key: "sha256:base"}, nil
}
func (*house) Remove(context.Context, sandbox.Layer) error { return nil }

func (h *house) Build(_ context.Context, b sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	argv := b.Steps[0].Argv
	layer := map[string]string{"lock": h.layers[b.Parent.Key]["lock"]}
	switch argv[0] {
	case "resolve":
		return sandbox.Layer{}, sandbox.Result{Files: map[string][]byte{langtest.LockPath: []byte(strings.Join(argv[1:], " "))}}, nil
	case "setup":
		h.tries++
		if layer["lock"] = argv[1]; strings.HasPrefix(argv[1], "z") && !strings.Contains(argv[1], "c") {
			res := sandbox.Result{End: sandbox.Exited, ExitCode: 1, Output: []byte("No module named c")}
			return sandbox.Layer{}, res, &sandbox.BuildError{Step: b.Steps[0], Result: res}
		}
	}
	for _, f := range b.Files {
		if strings.HasSuffix(f.Path, "test_a.toy") {
			layer["imports"] = string(f.Data)
		}
	}
	h.layers[b.Key] = layer
	return sandbox.Layer{Key: b.Key}, sandbox.Result{}, nil
}

func (h *house) Run(_ context.Context, r sandbox.Run) (sandbox.Result, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tries++
	layer := h.layers[r.Layer.Key]
	out := "t passed\nend\n"
	for _, name := range strings.Fields(layer["imports"]) {
		if !slices.Contains(strings.Fields(layer["lock"]), name) {
			out = "t failed\nNo module named " + name + "\nend\n"
			break
		}
	}
	return sandbox.Result{End: sandbox.Exited, Output: []byte(out)}, nil
}

// notes is a drain that keeps how each item ended, as bytes.
type notes map[string]string

func (n notes) Run(_ context.Context, in iter.Seq2[schemas.Provisioned, error], ended pipeline.Ended) error {
	for p, err := range in {
		if err != nil {
			return err
		}
		raw, err := schemas.Canonical(p)
		if err != nil {
			return err
		}
		n[p.ID()] = string(raw)
	}
	for s, err := range ended.Steps {
		if err != nil {
			return err
		}
		n[s.Key] = fmt.Sprintf("%s at %s: %s: %s", s.State, s.Stage, s.Reason, s.Detail)
	}
	return nil
}

// live gives the ends of items that are in one run, in this order, so many at one time.
func live(t *testing.T, ids []string, parallel int) (notes, *house) {
	t.Helper()
	h := &house{layers: map[schemas.Digest]map[string]string{}}
	b := &environment.Builder{Sandbox: h, Toolchains: world{}, Languages: map[string]lang.Language{"toy": knowing{}}, Runners: langtest.Runners()}
	p := provision.New(b, environment.Projects{States: town{}, History: world{}, Toolchains: world{}}, world{}, "bwrap")
	var seeds []pipeline.Record
	for _, id := range ids {
		r := toy(street()[id].requires)
		key, err := b.Key(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, schemas.Resolved{StartID: id, Key: key, Recipe: r})
	}
	s, err := store.Open(t.Context(), storetest.Dir(t), store.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	out := notes{}
	shared := pipeline.Share(pipeline.New[schemas.Resolved](), "provision", pipeline.Sharer[schemas.Resolved, provision.Built, schemas.Provisioned](p), pipeline.Options{})
	plan := pipeline.Drain(shared, "notes", pipeline.Drainer[schemas.Provisioned](out), pipeline.Options{})
	if _, err := plan.Run(t.Context(), s, seeds, pipeline.NewLive(nil, time.Now), pipeline.RunOptions{Now: time.Now, Slots: parallel}); err != nil {
		t.Fatal(err)
	}
	return out, h
}

// TestRandomNeighbours: an item has the same end, byte for byte, whoever else is in its run,
// in whatever order and however many at one time.
func TestRandomNeighbours(t *testing.T) {
	t.Parallel()
	all := slices.Sorted(maps.Keys(street()))
	alone := notes{}
	for _, id := range all {
		one, _ := live(t, []string{id}, 1)
		alone[id] = one[id]
	}
	rows := 0
	for _, end := range alone {
		if strings.HasPrefix(end, "{") {
			rows++
		}
	}
	if rows == 0 || rows == len(all) {
		t.Fatalf("%d of %d are rows: this tells nothing", rows, len(all))
	}
	rapid.Check(t, func(r *rapid.T) {
		some := rapid.Permutation(all).Draw(r, "order")[:rapid.IntRange(1, len(all)).Draw(r, "of them")]
		got, _ := live(t, some, rapid.IntRange(1, 4).Draw(r, "at one time"))
		for _, id := range some {
			if got[id] != alone[id] {
				r.Errorf("%s among %s\n%s\nalone\n%s", id, strings.Join(some, " "), got[id], alone[id])
			}
		}
	})
}
