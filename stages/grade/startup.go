package grade

import (
	"context"
	"fmt"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// startup is what a task's environment is and loads by itself before an answer is built in it.
type startup struct {
	loads     []byte // nil: the language has no such thing
	env, base listing
}

// listing is the files of an environment: their change times, and their sums where times tell nothing, because the sandbox
// copies its layers.
type listing struct{ times, sums map[string]string }

// What a listing prints: the change time of each file, which no program can set, or the SHA-256 of its content, and of a
// link its target.
const (
	listTimes = `cd "$0" 2>/dev/null && find . ! -type d -printf '%C@ %p\0'`
	listSums  = `cd "$0" 2>/dev/null && find . -type l -printf '->%l %p\0' && find . -type f -print0 | xargs -0 -r sha256sum -z -- 2>&1`
)

func list(ctx context.Context, b *testrun.Bench, l sandbox.Layer, script string) (map[string]string, error) {
	limits := b.Limits.Filled()
	limits.Output = max(limits.Output, sandbox.DefaultOutput)
	res, err := b.Builder.Sandbox.Run(ctx, sandbox.Run{Layer: l, Command: schemas.Command{Argv: []string{"bash", "-c", script, sandbox.EnvPath}}, Limits: limits})
	if err != nil {
		return nil, fmt.Errorf("listing an environment: %w", err)
	}
	if res.End != sandbox.Exited {
		return nil, pipeline.Reject(schemas.Tampered, "the environment has more than can be listed within the limits (%s)", res.End)
	}
	out := map[string]string{}
	for line := range strings.SplitSeq(string(res.Output), "\x00") {
		if what, p, ok := strings.Cut(line, " ./"); ok { // names may begin and end with blanks
			out[p] = what
		}
	}
	return out, nil
}

// startup asks the environment of a task, at its base, or at its solution where that changes what the runner is told.
func (d *prepared) startup(ctx context.Context) (s startup, err error) {
	b := d.bench
	loader, ok := b.Lang.(lang.Loader)
	if !ok || b.Environment.Recipe.Service != nil {
		return s, nil
	}
	state := schemas.StateB
	if g, ok := b.Lang.(lang.Guarded); ok {
		for _, e := range b.G.Entries() {
			if was, _ := b.S.Entry(e.Path); g.RunnerSettings(e.Path, e.Data) != g.RunnerSettings(e.Path, was.Data) {
				state = schemas.StateG
			}
		}
	}
	at, err := b.Place(ctx, state)
	if err != nil {
		return s, err
	}
	run := loader.Loads(b.Environment.Recipe)
	res, err := b.Builder.Test(ctx, at.Layer, b.Environment.Recipe, run, b.Limits)
	if err != nil {
		return s, err
	}
	report, _ := run.Said(res)
	if s.loads, err = loader.Loaded(lang.Output{Run: run, Report: report, Result: res}); err != nil {
		return s, err
	}
	if !builds(b.Environment.Recipe) {
		return s, nil
	}
	base, err := b.Place(ctx, schemas.StateB)
	if err != nil {
		return s, err
	}
	if s.env.times, err = list(ctx, b, b.Env, listTimes); err == nil {
		s.base.times, err = list(ctx, b, base.Layer, listTimes)
	}
	return s, err
}

// foreign are the files of the environment that the build of an answer has no business with.
func (d *prepared) foreign(ctx context.Context, b *testrun.Bench, at testrun.Place) ([]string, error) {
	loader, ok := b.Lang.(lang.Loader)
	if !ok || d.start.base.times == nil {
		return nil, nil
	}
	built, err := list(ctx, b, at.Layer, listTimes)
	if err != nil {
		return nil, err
	}
	env, base := d.start.env.times, d.start.base.times
	if 2*differ(base, built) > len(base) {
		if built, err = list(ctx, b, at.Layer, listSums); err != nil {
			return nil, err
		}
		if env, base, err = d.sums(ctx); err != nil {
			return nil, err
		}
	}
	return loader.Foreign(d.start.loads, env, base, built), nil
}

// sums are the listings by content, made once.
func (d *prepared) sums(ctx context.Context) (env, base map[string]string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.start.base.sums == nil {
		under, err := d.bench.Place(ctx, schemas.StateB)
		if err != nil {
			return nil, nil, err
		}
		if d.start.env.sums, err = list(ctx, d.bench, d.bench.Env, listSums); err != nil {
			return nil, nil, err
		}
		if d.start.base.sums, err = list(ctx, d.bench, under.Layer, listSums); err != nil {
			return nil, nil, err
		}
	}
	return d.start.env.sums, d.start.base.sums, nil
}

// differ counts the files of one listing that are other in another one.
func differ(a, b map[string]string) int {
	n := 0
	for p, what := range a {
		if b[p] != what {
			n++
		}
	}
	return n
}
