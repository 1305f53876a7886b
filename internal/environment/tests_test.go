package environment_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang/langtest"
	rec "github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// recorder keeps the runs that it is asked for.
type recorder struct {
	*scripted
	runs []sandbox.Run
}

func (r *recorder) Run(ctx context.Context, run sandbox.Run) (sandbox.Result, error) {
	r.runs = append(r.runs, run)
	res, err := r.scripted.Run(ctx, run)
	res.Output = []byte("1 passed")
	if run.Beside != nil {
		res.Beside = &sandbox.Served{Output: []byte("GET /\n")}
	}
	return res, err
}

// TestTest: a test that asks a service runs in the environment of the tester, and the service
// in the layer of the state.
func TestTest(t *testing.T) {
	t.Parallel()
	box := &recorder{scripted: &scripted{}}
	b := builder(box, langtest.Toy{})
	state, limits := sandbox.Layer{ID: "state"}, sandbox.Limits{Processes: 7}
	tester := recipe
	tester.Lock, tester.Variables = "l", map[string]string{"T": "1"}
	r := recipe
	r.Variables = map[string]string{"S": "1"}
	tr := rec.TestRun{Command: schemas.Command{Argv: []string{"test"}}, Inputs: []sandbox.File{{Path: "/run/benchmint/x"}}, Report: "/tmp/r"}

	if _, err := b.Test(t.Context(), state, r, tr, limits); err != nil {
		t.Fatal(err)
	}
	last := func() sandbox.Run { return box.runs[len(box.runs)-1] }
	want := sandbox.Run{Layer: state, Command: tr.Command, Env: r.Variables, Inputs: tr.Inputs, Collect: []string{"/tmp/r"}, Limits: limits}
	if d := cmp.Diff(want, last()); d != "" {
		t.Errorf("a plain test:\n%s", d)
	}

	tr.Serves = &schemas.Command{Argv: []string{"serve"}}
	if _, err := b.Test(t.Context(), state, r, tr, limits); err == nil {
		t.Error("a service without a recipe is started")
	}
	r.Service = &schemas.Service{Tester: &tester}
	res, err := b.Test(t.Context(), state, r, tr, limits)
	if err != nil {
		t.Fatal(err)
	}
	want.Layer, want.Env = last().Layer, tester.Variables
	want.Beside = &sandbox.Beside{Layer: state, Command: *tr.Serves, Env: r.Variables, Limits: limits}
	if d := cmp.Diff(want, last()); d != "" || last().Layer.ID != "layer" {
		t.Errorf("a test of a service in layer %s:\n%s", last().Layer.ID, d)
	}
	if got, want := string(res.Output), "1 passed\n"+environment.ServiceLog+"GET /\n"; got != want {
		t.Errorf("output %q, want %q", got, want)
	}
}
