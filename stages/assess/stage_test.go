package assess_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/assess"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// world is a run around one case.
type world struct {
	testrun.Case
	fault error // of its trees
}

func (w world) Start(string) (schemas.Start, error) {
	s := w.Case.Start
	s.Language = "toy"
	return s, nil
}
func (w world) Provisioned(id string) (schemas.Provisioned, error) {
	return schemas.Provisioned{StartID: id, Environment: w.Environment}, nil
}
func (w world) Of(context.Context, schemas.Start) (states.Trees, error) { return w.Trees, w.fault }

// whole is a sandbox in which the environment is built, too; log is why it cannot be.
type whole struct {
	*box
	log string
}

func (w whole) Build(ctx context.Context, b sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	if b.Network != sandbox.Registries {
		return w.box.Build(ctx, b)
	}
	if w.log != "" {
		r := sandbox.Result{End: sandbox.Exited, ExitCode: 1, Output: []byte(w.log)}
		return sandbox.Layer{}, r, &sandbox.BuildError{Step: b.Steps[0], Result: r}
	}
	return sandbox.Layer{Key: b.Key, ID: "env"}, sandbox.Result{}, nil
}

type noToolchains struct{ environment.Toolchains }

func (noToolchains) Get(context.Context, string, string) (sandbox.Toolchain, error) {
	return sandbox.Toolchain{}, nil
}

// stage gives what the stage makes of a proof, and what it ran.
func stage(t *testing.T, fault error, log string, settled []schemas.Command) (schemas.Adequacy, *box, error) {
	t.Helper()
	start := map[string]string{"code.toy": "one\n", "test_a.toy": "t alpha\n"}
	c, proof := caseOf(t, start, map[string]string{"code.toy": "one\nalpha\n", "test_a.toy": "t alpha\n"})
	c.Environment.Recipe.Report = "toy"
	c.Environment.Recipe.Rivals = []schemas.Rival{{Test: settled}}
	proof.Test = settled
	b := newBox()
	builder := &environment.Builder{
		Sandbox: whole{b, log}, Toolchains: noToolchains{},
		Languages: map[string]lang.Language{"toy": toy{}}, Runners: map[string]lang.Runner{"toy": toy{}},
	}
	a, err := assess.New(testrun.Outside{Builder: builder, Blobs: refusing{}}, assess.Default())
	if err != nil {
		t.Fatal(err)
	}
	w := world{Case: c, fault: fault}
	got, err := assess.NewStage(a, w, w).Run(t.Context(), proof)
	return got, b, err
}

// TestStage: the stage tries the hunks of what a run knows of a proof, by the test
// command that the proof came to.
func TestStage(t *testing.T) {
	t.Parallel()
	got, b, err := stage(t, nil, "", []schemas.Command{{Argv: []string{"rival"}}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"code.toy 0 noticed test_a.toy::t", "1 noticed, 0 skipped"}, said(got)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"rival test_a.toy", "rival test_a.toy"}, b.commands); d != "" {
		t.Errorf("commands (-want +got):\n%s", d)
	}
}

// TestStageFaults: what cannot be read or built again is no verdict on a proved task.
func TestStageFaults(t *testing.T) {
	t.Parallel()
	gone := errors.New("disk gone")
	for _, tc := range []struct {
		name  string
		fault error
		log   string
		want  string
	}{
		{"trees", gone, "", "disk gone"},
		{"environment", nil, "no compiler", "making the environment of a proof again: provision/build"},
	} {
		_, _, err := stage(t, tc.fault, tc.log, nil)
		var rejected *pipeline.Rejected
		if err == nil || !strings.Contains(err.Error(), tc.want) || errors.As(err, &rejected) {
			t.Errorf("%s: got %v, want the fault %q", tc.name, err, tc.want)
		}
	}
}
