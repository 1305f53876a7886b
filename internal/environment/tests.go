package environment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// ServiceLog stands in the output of a run before that of the service that it asked.
const ServiceLog = "--- service ---\n"

// Test runs one process of a test run in a fresh copy of the layer of a state. Where it asks a
// service, the service is what runs in that layer, and the process runs beside it in the layer of
// the tester, which is built now or found.
func (b *Builder) Test(ctx context.Context, layer sandbox.Layer, r schemas.Recipe, tr recipe.TestRun, limits sandbox.Limits) (sandbox.Result, error) {
	run := sandbox.Run{Layer: layer, Command: tr.Command, Env: r.Variables, Inputs: tr.Inputs, Sealed: tr.Sealed, Watch: tr.Watch, Limits: limits}
	if tr.Serves == nil {
		return b.Sandbox.Run(ctx, tr.Asking(run))
	}
	if r.Service == nil || r.Service.Tester == nil {
		return sandbox.Result{}, errors.New("a test run asks a service, but the recipe has no service with a tester")
	}
	tester, err := b.Env(ctx, *r.Service.Tester)
	if err != nil {
		return sandbox.Result{}, fmt.Errorf("making the environment of the tester: %w", err)
	}
	run.Names = r.Service.Names
	run.Layer, run.Env, run.Sealed = tester, r.Service.Tester.Variables, nil
	if run.Beside = &(sandbox.Beside{Layer: layer, Command: *tr.Serves, Env: r.Variables, Limits: limits}); r.Deployed() {
		run.Beside = &sandbox.Beside{Layer: layer, Limits: limits, Deployed: true}
	}
	res, err := b.Sandbox.Run(ctx, tr.Asking(run))
	if err == nil && res.Beside != nil && len(res.Beside.Output) > 0 {
		res.Output = slices.Concat(line(res.Output), []byte(ServiceLog), res.Beside.Output)
	}
	return res, err
}

// line ends a text with a line break.
func line(text []byte) []byte {
	if len(text) == 0 || text[len(text)-1] == '\n' {
		return text
	}
	return append(slices.Clip(text), '\n')
}
