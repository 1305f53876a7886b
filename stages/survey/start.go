package survey

import (
	"context"
	"errors"
	"fmt"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/relay"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/scenario"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/ends"
)

// Workshop starts services in the sandbox of a builder.
type Workshop struct {
	Builder  *environment.Builder
	Projects environment.Projects
}

var _ Starter = Workshop{}

// Start makes the recipe of a commit's service by rule, its environment and its state, as a proof makes them, and starts it
// with a hook until it gets ready. Each start that fails says what the next one needs.
func (w Workshop) Start(ctx context.Context, c Commit, framework string) (s Started, stop func() error, err error) {
	project, err := w.Projects.At(ctx, c.Repo.Name, c.Release.Commit, c.Language, c.Tree, c.Release.Date)
	if err != nil {
		return s, nil, ends.Of(err, schemas.NoToolchain)
	}
	r, err := w.Builder.Guess(ctx, project, c.Language, framework)
	if err != nil {
		return s, nil, ends.Of(err, schemas.NoBoot)
	}
	var loop environment.Loop
	var looked *relay.Server
	for attempt := 1; ; attempt++ {
		pipeline.Doing(ctx, "%s, resolving what the service needs", c.Release.Tag)
		if r, err = w.Builder.Lock(ctx, project, r); err != nil {
			return s, nil, ends.For(ends.Of(err, schemas.Unresolvable), r)
		}
		var not *contract.NotReady
		if looked, s.Table, not, stop, err = w.look(ctx, c, r, attempt); not == nil {
			break
		}
		repaired, ok, fault := w.next(ctx, &loop, project, r, not, attempt, err)
		if err := errors.Join(fault, stop()); err != nil {
			return s, nil, err
		}
		if !ok {
			if err == nil {
				err = pipeline.Reject(schemas.NotStarted, "%s", unready(not, r))
			}
			return s, nil, err
		}
		r = repaired
	}
	if err != nil {
		return s, nil, err
	}
	plain, stopPlain, err := w.built(ctx, c, r, recipe.Step{})
	if err != nil {
		return s, nil, errors.Join(err, stop())
	}
	plain.Probes = looked.Probes
	s.Server, s.Look, s.Recipe = plain, looked, r
	stopLook := stop
	return s, func() error { return errors.Join(stopPlain(), stopLook()) }, nil
}

// next is the recipe of the next start, after one that failed; false where nothing more is known. built is the error of a state
// that did not build.
func (w Workshop) next(ctx context.Context, loop *environment.Loop, p lang.Project, r schemas.Recipe, not *contract.NotReady, attempt int, built error) (schemas.Recipe, bool, error) {
	if attempt >= environment.Attempts {
		return r, false, nil
	}
	repaired, ok, err := loop.Repair(ctx, w.Builder, p, r, append([]byte(not.Why+"\n"), not.Log...))
	if err != nil || ok {
		return repaired, ok, err
	}
	if repaired, ok = settled(r, look.Read(not.Told)); !ok && built == nil {
		repaired, ok = otherForm(r, not)
	}
	return repaired, ok, nil
}

// Variant implements Starter.
func (w Workshop) Variant(r schemas.Recipe) (schemas.Deploy, []byte, error) {
	return w.Builder.Variant(r)
}

// look makes the state of a recipe's service with its hook, starts it and has it tell its table. not has what a command printed
// that prepares it and failed, or is of a service that does not get ready; stop is then to be called, as it is where there is
// no error.
func (w Workshop) look(ctx context.Context, c Commit, r schemas.Recipe, attempt int) (s *relay.Server, t routes.Table, not *contract.NotReady, stop func() error, err error) {
	server, ok := w.Builder.Languages[c.Language].(lang.Server)
	if !ok {
		return nil, t, nil, nil, pipeline.Reject(schemas.NoBoot, "services in %s are not started", c.Language)
	}
	hooked := server.Look(r)
	s, stop, err = w.built(ctx, c, hooked.Recipe, hooked.Step)
	var failed *sandbox.BuildError
	if errors.As(err, new(*pipeline.Rejected)) && errors.As(err, &failed) && failed.Result.End == sandbox.Exited {
		not = &contract.NotReady{Log: failed.Result.Output}
	}
	if err != nil {
		return nil, t, not, func() error { return nil }, err
	}
	s.Told, s.Inputs = look.Path, hooked.Inputs
	pipeline.Doing(ctx, "%s, start %d of the service", c.Release.Tag, attempt)
	client, end, err := s.Fresh(ctx, false)
	if errors.As(err, &not) {
		return s, t, not, stop, nil
	}
	if err != nil {
		return nil, t, nil, nil, errors.Join(err, stop())
	}
	answering := server.Answering(c.Tree, hooked)
	t, err = told(ctx, client, answering)
	_, fault := end()
	if err = errors.Join(err, fault); err != nil {
		return nil, t, nil, nil, errors.Join(err, stop())
	}
	pipeline.Doing(ctx, "%s, asking %d endpoints what they read", c.Release.Tag, len(t.Routes))
	var unready []string
	if t, unready, err = scenario.Ask(ctx, s, t); err != nil {
		return nil, t, nil, nil, errors.Join(err, stop())
	}
	look.Behind(&t, answering)
	s.Probes = ready(t, "", unready)
	return s, t, nil, stop, nil
}

// told is the table of a service that is ready.
func told(ctx context.Context, c contract.Client, answering func(look.Fact) look.Answering) (routes.Table, error) {
	teller, ok := c.(look.Teller)
	if !ok {
		return routes.Table{}, errors.New("the sandbox has no way for what a service tells")
	}
	report, err := teller.Told(ctx)
	if err != nil {
		return routes.Table{}, err
	}
	t := report.Table(answering)
	if len(t.Routes) == 0 {
		return t, pipeline.Reject(schemas.NoFramework, "it starts, and tells none of its routes")
	}
	return t, nil
}

// built is the service of a locked recipe, above an environment with the files of a step.
func (w Workshop) built(ctx context.Context, c Commit, r schemas.Recipe, step recipe.Step) (server *relay.Server, stop func() error, err error) {
	pipeline.Doing(ctx, "%s, building the environment", c.Release.Tag)
	env, err := w.Builder.Env(ctx, r)
	if err != nil {
		return nil, nil, ends.For(ends.Of(err, schemas.NoBuild), r)
	}
	what := "the service"
	if len(step.Files) > 0 {
		what = "the service with its hook"
		if env, err = w.Builder.Above(ctx, env, r, step); err != nil {
			return nil, nil, err
		}
	}
	files, err := seal.Files(c.Tree, c.Release.Date)
	if err != nil {
		return nil, nil, fmt.Errorf("sealing the tree: %w", err)
	}
	pipeline.Doing(ctx, "%s, building %s", c.Release.Tag, what)
	layer, err := w.Builder.State(ctx, env, r, files)
	if err != nil {
		return nil, nil, ends.For(ends.Of(err, schemas.NoBuild), r)
	}
	stop = func() error { return w.Builder.Sandbox.Remove(context.WithoutCancel(ctx), layer) }
	return &relay.Server{
		Sandbox: w.Builder.Sandbox, Layer: layer, Service: *r.Service, Env: r.Variables, Shift: serve.Shifts(r), Limits: w.Builder.Limits,
	}, stop, nil
}
