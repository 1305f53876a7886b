package validate

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// world is a run around the case of a bench.
type world struct {
	*bench
	fault map[string]error // "trees" or "history"
}

func (w world) Start(string) (schemas.Start, error) { return w.c.Start, nil }
func (w world) Origin(string) (schemas.Origin, error) {
	return schemas.Origin{Change: &schemas.Change{Subject: "Add the colour (#7)"}}, nil
}
func (w world) Of(context.Context, schemas.Start) (states.Trees, error) {
	return w.c.Trees, w.fault["trees"]
}
func (w world) Describe(context.Context, string, string) (tree.Version, error) {
	return tree.Version{Tag: "v1"}, w.fault["history"]
}

// whole is a sandbox in which the environment is built, too, and nothing leaks.
type whole struct{ *box }

func (w whole) Build(ctx context.Context, b sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	if b.Network == sandbox.Registries {
		return sandbox.Layer{Key: b.Key, ID: "env"}, sandbox.Result{}, nil
	}
	return w.box.Build(ctx, b)
}

func (whole) Files(context.Context, sandbox.Layer, func(string, fs.FileInfo, func() (io.ReadCloser, error)) error) error {
	return nil
}

// noToolchains has all that nobody uses.
type noToolchains struct{ environment.Toolchains }

func (noToolchains) Get(context.Context, string, string) (sandbox.Toolchain, error) {
	return sandbox.Toolchain{}, nil
}

// stage gives what the stage makes of the bench's start.
func (w world) stage(t *testing.T) (schemas.Proof, error) {
	t.Helper()
	w.c.Start.Language = "toy"
	b := &environment.Builder{
		Sandbox: whole{w.box}, Toolchains: noToolchains{},
		Languages: map[string]lang.Language{"toy": w.lang}, Runners: map[string]lang.Runner{"toy": w.lang},
	}
	w.c.Environment.Recipe.Report = "toy"
	v, err := New(Outside{Builder: b, Blobs: w.blobs}, w.cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := NewStage(v, Sources{Records: w, States: w, History: w})
	return s.Run(t.Context(), schemas.Provisioned{StartID: w.c.Start.ID(), Environment: w.c.Environment})
}

// TestHeld: the layers that the next stage asks for stay until it is done, those of a reject go.
func TestHeld(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name        string
		runs        reports
		held        bool
		before, end []string // removed
	}{
		{"proved", reports{"S": fails, "G": passes}, true, []string{"S"}, []string{"S", "G", "B"}},
		{"rejected", reports{"S": passes, "G": passes}, true, []string{"S", "G", "B"}, []string{"S", "G", "B"}},
		{"nobody_comes", reports{"S": fails, "G": passes}, false, []string{"S", "G", "B"}, []string{"S", "G", "B"}},
	} {
		b := newBench(t, tc.runs.script)
		b.c.Lang, b.c.Runner = b.lang, b.lang
		builder := &environment.Builder{Sandbox: b.box}
		v, err := New(Outside{Builder: builder, Blobs: b.blobs, Hold: tc.held}, b.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.proveCase(t.Context(), b.c); err != nil && tc.name != "rejected" {
			t.Fatalf("%s: %v", tc.name, err)
		}
		if d := cmp.Diff(tc.before, b.box.removed); d != "" {
			t.Errorf("%s, after the proof (-want +got):\n%s", tc.name, d)
		}
		if err := builder.Release(t.Context(), b.c.Start.ID()); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tc.end, b.box.removed); d != "" {
			t.Errorf("%s, at the end (-want +got):\n%s", tc.name, d)
		}
	}
}

// TestStage: the stage proves what a run knows of a start, and a reject keeps its
// proof as evidence.
func TestStage(t *testing.T) {
	t.Parallel()
	b := newBench(t, reports{"S": fails, "G": passes}.script)
	proof, err := world{bench: b}.stage(t)
	if err != nil {
		t.Fatal(err)
	}
	if len(proof.List(schemas.F2P)) == 0 || proof.Leaks.Scanner == "" {
		t.Errorf("a proof without tests or without a scan: %+v", proof)
	}
	// Its subject names what no definition gives.
	b.lang.names = []schemas.Name{{Name: "colour"}}
	b.box.script = reports{"S": "a not_loaded\nend", "G": passes, "B": "a finished t=failed\nend"}.script
	if proof, err = (world{bench: b}).stage(t); err != nil {
		t.Errorf("got %v, want the name in the change's own words", err)
	}

	b = newBench(t, reports{"S": passes, "G": passes}.script)
	_, err = world{bench: b}.stage(t)
	var rejected *pipeline.Rejected
	if !errors.As(err, &rejected) || rejected.Reason != schemas.NoF2P {
		t.Fatalf("got %v", err)
	}
	raw, err := b.blobs.Get(rejected.Evidence)
	if err != nil {
		t.Fatal(err)
	}
	var kept schemas.Proof
	if err := json.Unmarshal(raw, &kept); err != nil || kept.StartID != b.c.Start.ID() || len(kept.Runs) != 2 {
		t.Errorf("evidence %s, %v", raw, err)
	}
}

// TestStageFaults: what a run cannot read is no verdict, and nothing is built for it.
func TestStageFaults(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"trees", "history"} {
		b := newBench(t, reports{}.script)
		gone := errors.New("disk gone")
		_, err := world{bench: b, fault: map[string]error{what: gone}}.stage(t)
		var rejected *pipeline.Rejected
		if !errors.Is(err, gone) || errors.As(err, &rejected) || len(b.box.builds) > 0 {
			t.Errorf("%s: got %v after %d builds", what, err, len(b.box.builds))
		}
	}
}
