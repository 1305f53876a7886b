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
}

// last is the start that a task is made with: one that got ready, and told nothing that it lacks. Where one got ready, and no
// longer does with what it lacked, it goes without.
func (t *trials) last(ctx context.Context, r schemas.Recipe) (trial, error) {
	for n := 1; ; n++ {
		l, err := t.start(ctx, r, n)
		if err != nil {
			return l, err
		}
		t.note(l, n)
		more, ok, err := t.next(ctx, l, n)
		if err == nil && !ok && l.not == nil {
			l.recipe.Evidence = slices.Concat(l.recipe.Evidence, t.past)
			if err := t.ask(ctx, &l); err != nil {
				return l, errors.Join(err, l.stop())
			}
			return l, nil
		}
		if err := errors.Join(err, l.stop()); err != nil {
			return l, err
		}
		if !ok && l.built != nil {
			return l, l.built
		}
		if !ok {
			return l, pipeline.Reject(schemas.NotStarted, "%s", strings.Join(t.told, "\n"))
		}
		r = more
	}
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
	pipeline.Doing(ctx, "%s, resolving what the service needs", t.c.Release.Tag)
	if r, err = t.w.Builder.Lock(ctx, t.project, r); err != nil {
		return l, ends.For(ends.Of(err, schemas.Unresolvable), r)
	}
	l.recipe, l.stop = r, func() error { return nil }
	if t.bare != nil {
		r = unprepared(r)
	}
	hooked := t.server.Look(r)
	s, stop, err := t.w.built(ctx, t.c, hooked.Recipe, hooked.Step)
	var failed *sandbox.BuildError
	if errors.As(err, new(*pipeline.Rejected)) && errors.As(err, &failed) && failed.Result.End == sandbox.Exited {
		l.built = err
		l.not = &contract.NotReady{Why: "its state does not build", Log: failed.Result.Output}
		return l, nil
	}
	if err != nil {
		return l, err
	}
	l.server, l.stop, l.hooked = s, stop, hooked
	s.Told, s.Inputs = look.Path, hooked.Inputs
	pipeline.Doing(ctx, "%s, start %d of the service", t.c.Release.Tag, n)
	client, end, err := s.Fresh(ctx, false)
	if errors.As(err, &l.not) {
		l.looked.told = look.Read(l.not.Told)
		return l, nil
	}
	if err != nil {
		return l, errors.Join(err, stop())
	}
	err = l.tell(ctx, client)
	_, fault := end()
	if err = errors.Join(err, fault); err != nil {
		return l, errors.Join(err, stop())
	}
	return l, nil
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
	before := max(0, len(r.Build)-len(serve.Prepare(s)))
	s.Prepare = nil
	return served(r, s, before, adding(nil))
}
