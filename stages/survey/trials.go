package survey

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/relay"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/scenario"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/ends"
)

// trials are the starts of one service, at most environment.Attempts.
type trials struct {
	w       Workshop
	c       Commit
	project lang.Project
	server  lang.Server
	loop    environment.Loop
	past    []schemas.Evidence // a line of each
	told    []string           // what unready says of each that failed
	bare    error              // of the state, where the next start goes without what prepares the service
	good    *schemas.Recipe    // of a start that got ready, where the next one has more
	back    bool               // the next start is that one again
}

// trial is one of them. Of one that got ready, server asks it. table is that of the last one.
type trial struct {
	looked
	recipe schemas.Recipe
	server *relay.Server
	table  routes.Table
	hooked lang.Hooked
	stop   func() error
	built  error // of a state that did not build
	hook   bool  // it is the program with its hook that did not build
}

// last is the start that a task is made with: one that got ready, and told nothing that it lacks. Where one got ready, and no
// longer does with what it lacked, it goes without.
func (t *trials) last(ctx context.Context, r schemas.Recipe) (trial, error) {
	stop := func() error { return nil } // the state before, which is there until the next one is: what both have in common is built once
	for n := 1; ; n++ {
		l, err := t.start(ctx, r, n)
		more, ok := r, false
		if err == nil {
			t.note(l, n)
			more, ok, err = t.next(ctx, l, n)
		}
		if err = errors.Join(err, stop()); err == nil && !ok {
			err = t.ends(ctx, &l)
			if err == nil {
				return l, nil
			}
		}
		if err != nil {
			return l, errors.Join(err, l.stop())
		}
		r, stop = more, l.stop
	}
}

// ends is what the last start comes to.
func (t *trials) ends(ctx context.Context, l *trial) error {
	switch {
	case l.built != nil && l.hook && t.plain(ctx, l.recipe) == nil:
		return pipeline.Reject(schemas.NotStarted, "it builds, but not with the hook that has it tell its routes: %v", l.built)
	case l.built != nil:
		return l.built
	case l.not != nil:
		return pipeline.Reject(schemas.NotStarted, "%s", strings.Join(t.told, "\n"))
	}
	l.recipe.Evidence = slices.Concat(l.recipe.Evidence, t.past)
	return t.ask(ctx, l)
}

// plain builds the program of a recipe without its hook.
func (t *trials) plain(ctx context.Context, r schemas.Recipe) error {
	env, files, err := t.w.env(ctx, t.c, r, recipe.Step{})
	if err != nil {
		return err
	}
	r.Build = r.Build[:building(r)]
	_, stop, err := t.w.layer(ctx, env, r, files)
	if err != nil {
		return err
	}
	return stop()
}

// next is the recipe of the start after one; false where it is the last.
func (t *trials) next(ctx context.Context, l trial, n int) (schemas.Recipe, bool, error) {
	settling := settling{tree: t.c.Tree, url: t.server.DatabaseURL, start: n}
	switch {
	case t.bare != nil:
		l.not = &contract.NotReady{Log: []byte(t.bare.Error())}
		l.built, t.bare = t.bare, nil
		more, ok := settling.next(l.recipe, l.looked)
		if !ok {
			return l.recipe, false, l.built
		}
		return more, true, nil
	case l.not == nil && (t.back || n+1 >= environment.Attempts):
		return l.recipe, false, nil
	case l.not == nil:
		more, ok := settling.next(l.recipe, l.looked)
		if ok {
			t.good = &l.recipe
		}
		return more, ok, nil
	}
	switch {
	case n >= environment.Attempts || t.back:
		return l.recipe, false, nil
	case t.good != nil:
		t.back = true
		return *t.good, true, nil
	}
	if more, ok := toldToServe(l.recipe, l.not.Log); ok {
		return more, true, nil
	}
	repaired, ok, err := t.loop.Repair(ctx, t.w.Builder, t.project, l.recipe, append([]byte(l.not.Why+"\n"), l.not.Log...))
	switch {
	case err != nil || ok:
		return repaired, ok, err
	case l.built != nil && serve.Prepares(l.built) && n+1 < environment.Attempts:
		t.bare = l.built
		return l.recipe, true, nil
	case l.built != nil:
		return l.recipe, false, nil
	}
	if repaired, ok = settling.next(l.recipe, l.looked); !ok {
		repaired, ok = otherForm(l.recipe, l.not)
	}
	return repaired, ok, nil
}

// note keeps what was seen of a start: how it was started, where it was asked, and what it printed last.
func (t *trials) note(l trial, n int) {
	seen, how := l.not, ""
	if seen == nil {
		seen = &contract.NotReady{Why: "it got ready"}
	}
	if t.bare != nil {
		how = ", without what prepares it"
	}
	text := unready(seen, l.recipe) + elsewhere(l.recipe, l.looked.told.Dials)
	why, rest, _ := strings.Cut(steady.ReplaceAllString(text, "…"), "\n")
	t.past = append(t.past, schemas.Evidence{Field: startField, Value: fmt.Sprintf("%d%s: %s", n, how, why), Source: strings.ReplaceAll(rest, "\n", "; ")})
	if l.not != nil {
		t.told = append(t.told, fmt.Sprintf("start %d%s: %s", n, how, text))
	}
}

// steady matches what a start has anew each time: times, addresses, and the port of a service that listens on any.
var steady = lazyregexp.New(`\d{4}[-/]\d\d[-/]\d\d|\d\d?:\d\d:\d\d(?:[.,]\d+)?|0x[0-9a-f]+|\b\d{9,}\b|\b\d+(?:\.\d+)?(?:ns|µs|ms|s)\b|\bpid\W*\d+|\[\d+\]|port: (?:3[3-9]|[4-6]\d)\d{3}`)

// start builds the state of a recipe's service with its hook, starts it and has it tell its table. not has what a command printed
// that prepares it and failed, or is of a service that does not get ready. An error is of the machine, or of what no
// other start would change.
func (t *trials) start(ctx context.Context, r schemas.Recipe, n int) (l trial, err error) {
	l.stop = func() error { return nil }
	pipeline.Doing(ctx, "%s, resolving what the service needs", t.c.Release.Tag)
	if r, err = t.w.Builder.Lock(ctx, t.project, r); err != nil {
		return l, ends.For(ends.Of(err, schemas.Unresolvable), r)
	}
	l.recipe = r
	if t.bare != nil {
		r = unprepared(r)
	}
	err = t.build(ctx, &l, t.server.Look(r))
	var failed *sandbox.BuildError
	if errors.As(err, new(*pipeline.Rejected)) && errors.As(err, &failed) && failed.Result.End == sandbox.Exited {
		l.built = err
		l.not = &contract.NotReady{Why: "its state does not build", Log: failed.Result.Output}
		return l, nil
	}
	if err != nil {
		return l, err
	}
	l.server.Told, l.server.Inputs = look.Path, l.hooked.Inputs
	pipeline.Doing(ctx, "%s, start %d of the service", t.c.Release.Tag, n)
	client, end, err := l.server.Fresh(ctx, false)
	if errors.As(err, &l.not) {
		l.looked.told = look.Read(l.not.Told)
		return l, nil
	}
	if err != nil {
		return l, err
	}
	err = l.tell(ctx, client)
	_, fault := end()
	return l, errors.Join(err, fault)
}

// build builds the state of a start. A program with a hook in it is a layer by itself, which the next start has, too, where
// what prepares the service is another.
func (t *trials) build(ctx context.Context, l *trial, h lang.Hooked) error {
	r := h.Recipe
	parent, files, err := t.w.env(ctx, t.c, r, h.Step)
	if err != nil {
		return err
	}
	if len(h.Step.Files) > 0 {
		all, n := r.Build, building(r)
		r.Build = all[:n]
		pipeline.Doing(ctx, "%s, building the service with its hook", t.c.Release.Tag)
		built, stop, err := t.w.layer(ctx, parent, r, files)
		if err != nil {
			l.hook = true
			return err
		}
		parent, l.stop = built, stop
		r.Build, files = all[n:], nil
	}
	server, stop, err := t.w.state(ctx, t.c, parent, r, files)
	if err != nil {
		return err
	}
	program := l.stop
	l.server, l.hooked, l.stop = server, h, func() error { return errors.Join(stop(), program()) }
	return nil
}

// ask takes the table of the last start, and has a fresh one answer each of its routes.
func (t *trials) ask(ctx context.Context, l *trial) (err error) {
	answering := t.server.Answering(t.c.Tree, l.hooked)
	l.table = l.looked.told.Table(answering)
	if len(l.table.Routes) == 0 {
		return pipeline.Reject(schemas.NoFramework, "it starts, and tells none of its routes")
	}
	pipeline.Doing(ctx, "%s, asking %d endpoints what they read", t.c.Release.Tag, len(l.table.Routes))
	var silent []string
	if l.table, silent, err = scenario.Ask(ctx, l.server, l.table); err != nil {
		return err
	}
	look.Behind(&l.table, answering)
	l.server.Probes = ready(l.table, "", silent)
	return nil
}

// tell takes what a service told that got ready, and where it answers.
func (l *trial) tell(ctx context.Context, c contract.Client) (err error) {
	teller, ok := c.(look.Teller)
	if !ok {
		return errors.New("the sandbox has no way for what a service tells")
	}
	if l.looked.told, err = teller.Told(ctx); err != nil {
		return err
	}
	asked := *l.recipe.Service
	if asked.Port == teller.Port() {
		return nil
	}
	was := asked.Port
	asked.Port = teller.Port()
	l.recipe.Service, l.server.Service.Port = &asked, asked.Port
	if unsteady(asked.Port) {
		return nil
	}
	l.recipe.Evidence = append(slices.Clone(l.recipe.Evidence), schemas.Evidence{Field: portField, Value: strconv.Itoa(asked.Port), Source: fmt.Sprintf("it listens there, not on %d", was)})
	return nil
}

// unprepared is a recipe whose service starts without what prepares it.
func unprepared(r schemas.Recipe) schemas.Recipe {
	s := *r.Service
	s.Prepare = nil
	return served(r, s, adding(nil))
}

// building is how many commands of a recipe build its program; the others prepare its service.
func building(r schemas.Recipe) int { return max(0, len(r.Build)-len(serve.Prepare(*r.Service))) }
