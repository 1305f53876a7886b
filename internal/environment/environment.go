// Package environment makes layers from recipes: base, env, and what a lock is
// resolved in. Proof, grading, prove and env shell all get their layers here, so
// that an environment means one thing.
//
// It never decides what a recipe holds (internal/lang does), and never puts the
// project itself into a shared layer.
package environment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/schemas"
)

// Toolchains gives copied-in interpreters and compilers.
type Toolchains interface {
	Available(ctx context.Context, names ...string) ([]lang.ToolchainRelease, error)
	Get(ctx context.Context, name, version string) (sandbox.Toolchain, error)
}

// Builder makes layers in one sandbox.
type Builder struct {
	Sandbox    sandbox.Sandbox
	Toolchains Toolchains
	Languages  map[string]lang.Language // by Recipe.Language
	Runners    map[string]lang.Runner   // by Recipe.Report
	Repairers  []Repairer               // asked in order where the failure table has no edit
	Limits     sandbox.Limits

	// Packages are kept beside a dataset, and taken before registries are asked; nil: none are.
	Packages Packages

	// Shared is where env layers are that other machines made; nil: there are no others.
	Shared Shared

	// Progress is told what a step does that may take long; nil is nobody.
	Progress Progress

	based  sync.Map // what base layers were made of in this process
	tried  sync.Map // keys of base layers whose toolchains have started
	making sync.Map // the env layers that are made now, by key: *making
	// What builds came to, by all that they are made of: *sandbox.BuildError of those that
	// fail, and of resolvers the files that they gave.
	ended sync.Map
	held  held
}

// Progress hears what is done for whom.
type Progress interface {
	// Doing is told what the step of ctx does from now on.
	Doing(ctx context.Context, form string, args ...any)
	// Doer names what the step of ctx is for; "" where nobody knows.
	Doer(ctx context.Context) string
}

func (b *Builder) doing(ctx context.Context, form string, args ...any) {
	if b.Progress != nil {
		b.Progress.Doing(ctx, form, args...)
	}
}

// making is an env layer that is made now.
type making struct {
	by   string
	over chan struct{}
}

// alone waits until nobody else of this process makes the env layer of a key.
func (b *Builder) alone(ctx context.Context, key schemas.Digest) (leave func(), err error) {
	mine := &making{over: make(chan struct{})}
	if b.Progress != nil {
		mine.by = b.Progress.Doer(ctx)
	}
	for {
		found, busy := b.making.LoadOrStore(key, mine)
		if !busy {
			return func() { b.making.Delete(key); close(mine.over) }, nil
		}
		other, _ := found.(*making)
		b.doing(ctx, "waiting for the environment, which %s builds", cmp.Or(other.by, "another item"))
		select {
		case <-other.over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Base is the base layer of a recipe: system packages, its toolchain, and the
// tools that the language installs with.
func (b *Builder) Base(ctx context.Context, r schemas.Recipe) (sandbox.Layer, error) {
	base := sandbox.Base{SystemPackages: r.SystemPackages}
	what := schemas.DigestOf(struct {
		Toolchains []schemas.Toolchain
		Packages   []string
	}{b.wanted(r), r.SystemPackages})
	tell := b.doing
	if _, made := b.based.Load(what); made {
		tell = func(context.Context, string, ...any) {} // it is found, which takes no time
	}
	for _, want := range b.wanted(r) {
		tell(ctx, "getting %s %s", want.Name, want.Version)
		tc, err := b.Toolchains.Get(ctx, want.Name, want.Version)
		if err != nil {
			return sandbox.Layer{}, fmt.Errorf("getting %s %s: %w", want.Name, want.Version, err)
		}
		base.Toolchains = append(base.Toolchains, tc)
	}
	tell(ctx, "making the base layer: %s", strings.Join(append([]string{r.Toolchain.Name + " " + r.Toolchain.Version}, r.SystemPackages...), " "))
	layer, err := b.Sandbox.Base(ctx, base)
	if err != nil {
		return layer, fmt.Errorf("making the base layer: %w", err)
	}
	if err := b.started(ctx, layer, base.Toolchains); err != nil {
		return layer, err
	}
	b.based.Store(what, true)
	return layer, nil
}

func (b *Builder) wanted(r schemas.Recipe) []schemas.Toolchain {
	out := []schemas.Toolchain{r.Toolchain}
	return append(out, r.Tools...)
}

// Key is the environment key of a locked recipe: equal keys are built once.
func (b *Builder) Key(ctx context.Context, r schemas.Recipe) (schemas.Digest, error) {
	base, err := b.Base(ctx, r)
	if err != nil {
		return "", err
	}
	key, _, err := b.keyed(r, base)
	return key, err
}

// Setup gives the steps that make the env layer of a locked recipe.
// Where the environment is an answer's, there are none.
func (b *Builder) Setup(r schemas.Recipe) (recipe.Step, error) {
	if r.Deployed() {
		return recipe.Step{}, nil
	}
	l, err := b.language(r)
	if err != nil {
		return recipe.Step{}, err
	}
	return l.Setup(r)
}

// Runner runs the tests of a recipe and reads their report.
func (b *Builder) Runner(r schemas.Recipe) (lang.Runner, error) {
	runner, ok := b.Runners[r.Report]
	if !ok {
		return nil, unknown("report format", r.Report, b.Runners)
	}
	return runner, nil
}

func (b *Builder) language(r schemas.Recipe) (lang.Language, error) {
	l, ok := b.Languages[r.Language]
	if !ok {
		return nil, unknown("language", r.Language, b.Languages)
	}
	return l, nil
}

func unknown[T any](what, name string, known map[string]T) error {
	return fmt.Errorf("the recipe has the %s %q; known are %s", what, name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
}

// keyed is the key with the steps that it stands for: what the language does with
// a recipe decides the layer as much as the recipe. The step's environment is left
// out: it holds dates, and a date by itself makes no new environment.
func (b *Builder) keyed(r schemas.Recipe, base sandbox.Layer) (schemas.Digest, recipe.Step, error) {
	step, err := b.Setup(r)
	if err != nil {
		return "", step, fmt.Errorf("planning the env layer: %w", err)
	}
	return schemas.DigestOf(struct {
		Recipe   schemas.Digest
		Commands []schemas.Command
		Files    []sandbox.File
		Caches   int
	}{recipe.Key(r, base.Key), step.Commands, step.Files, cacheGeneration}), step, nil
}

// cacheGeneration distinguishes env layers by the caches that they were made from: those of
// the first, which have no such number, were writable to the code of any repository.
const cacheGeneration = 2

// Env is the env layer of a locked recipe, built now or found. A step that fails
// is a *sandbox.BuildError; a registry that does not answer is ErrUnavailable; a fault
// of this machine that the log shows is a *MachineError.
//
// A step that failed fails again with the same words: what a key stands for is not tried
// once more for each recipe that comes to it.
func (b *Builder) Env(ctx context.Context, r schemas.Recipe) (sandbox.Layer, error) {
	base, err := b.Base(ctx, r)
	if err != nil {
		return sandbox.Layer{}, err
	}
	key, step, err := b.keyed(r, base)
	if err != nil {
		return sandbox.Layer{}, err
	}
	leave, err := b.alone(ctx, key)
	if err != nil {
		return sandbox.Layer{}, err
	}
	defer leave()
	ended, _ := b.ended.Load(key)
	if failed, ok := ended.(*sandbox.BuildError); ok {
		return sandbox.Layer{}, judged(failed, r, true)
	}
	if layer, ok, err := b.shared(ctx, key, base); ok || err != nil {
		return layer, err
	}
	build := b.build(r, step, base, key)
	build.Began = b.began(ctx, "building the environment")
	layer, done, err := b.offline(ctx, build, r)
	if !done {
		layer, _, err = b.run(ctx, build, r)
	}
	b.fails(key, err)
	if err == nil {
		err = b.share(ctx, layer)
	}
	return layer, err
}

// fails keeps that a build fails for what it is made of.
func (b *Builder) fails(key schemas.Digest, err error) {
	var failed *sandbox.BuildError
	if errors.As(err, &failed) && !errors.Is(err, ErrUnavailable) {
		b.ended.Store(key, failed)
	}
}

// began reports each step of a build.
func (b *Builder) began(ctx context.Context, what string) func(schemas.Command) {
	return func(c schemas.Command) { b.doing(ctx, "%s: %s", what, strings.Join(c.Argv, " ")) }
}

// run builds with caches. A build that one of them made fail is a *MachineError: it is
// seen by a build without any, which does not fail.
func (b *Builder) run(ctx context.Context, build sandbox.Build, r schemas.Recipe) (sandbox.Layer, sandbox.Result, error) {
	layer, result, err := b.Sandbox.Build(ctx, build)
	err = judged(err, r, true)
	var failed *sandbox.BuildError
	if errors.Is(err, ErrUnavailable) || !errors.As(err, &failed) {
		return layer, result, err
	}
	said := underCache(failed.Result.Output, build.Caches)
	if said == "" {
		return layer, result, err
	}
	build.Caches, build.Fill, build.Discard = nil, nil, true
	if _, _, bare := b.Sandbox.Build(ctx, build); bare != nil {
		if !errors.As(bare, new(*sandbox.BuildError)) {
			err = bare // of the machine, and so no verdict
		}
		return layer, result, err
	}
	return layer, result, &MachineError{What: "a download cache of this machine is damaged", Get: "benchmint clean --force, and run again", Said: said}
}

// Resolve gives the recipe its lock. A resolver that finds no answer is a
// *sandbox.BuildError; else as Env. It is asked once for one and the same.
func (b *Builder) Resolve(ctx context.Context, p lang.Project, r schemas.Recipe) (schemas.Recipe, error) {
	l, err := b.language(r)
	if err != nil {
		return r, err
	}
	step, err := l.Resolve(p, r)
	if err != nil || step == nil {
		return r, err
	}
	base, err := b.Base(ctx, r)
	if err != nil {
		return r, err
	}
	build := b.build(r, *step, base, "")
	build.Discard, build.Collect, build.Began = true, step.Collect, b.began(ctx, "resolving the requirements")
	asked := schemas.DigestOf(struct {
		Base     schemas.Digest
		Commands []schemas.Command
		Files    []sandbox.File
		Env      map[string]string
		Collect  []string
	}{base.Key, build.Steps, build.Files, build.Env, build.Collect})
	switch ended, _ := b.ended.Load(asked); ended := ended.(type) {
	case *sandbox.BuildError:
		return r, judged(ended, r, true)
	case map[string][]byte:
		return l.Locked(r, ended)
	}
	_, result, err := b.run(ctx, build, r)
	if err != nil {
		b.fails(asked, err)
		return r, err
	}
	b.ended.Store(asked, result.Files)
	return l.Locked(r, result.Files)
}

// Lock is Resolve with repairs, a bounded number of times.
func (b *Builder) Lock(ctx context.Context, p lang.Project, r schemas.Recipe) (schemas.Recipe, error) {
	r, err := b.withoutMissing(ctx, r)
	if err != nil {
		return r, err
	}
	var loop Loop
	for {
		locked, err := b.Resolve(ctx, p, r)
		var failed *sandbox.BuildError
		if err == nil {
			return b.identified(ctx, locked)
		}
		if errors.Is(err, ErrUnavailable) || !errors.As(err, &failed) {
			return locked, err
		}
		repaired, ok, fault := loop.Repair(ctx, b, p, r, failed.Result.Output)
		if fault != nil {
			return r, fault
		}
		if !ok {
			return r, loop.wrap(r, err)
		}
		r = repaired
	}
}

// NotOnThisHost is the repair by which a recipe does without a system package: what
// fails afterwards may have failed for the want of it.
const NotOnThisHost = "package_not_on_this_host"

// withoutMissing leaves out system packages that this kind of sandbox cannot add
// (bwrap shows the host's own), and says so in the recipe: what needs them is
// seen to be skipped or to fail, in every state alike.
func (b *Builder) withoutMissing(ctx context.Context, r schemas.Recipe) (schemas.Recipe, error) {
	_, err := b.Base(ctx, r)
	var lacks *sandbox.PackagesError
	if !errors.As(err, &lacks) {
		return r, err
	}
	r.SystemPackages = slices.DeleteFunc(slices.Clone(r.SystemPackages), func(p string) bool { return slices.Contains(lacks.Missing, p) })
	r.Repairs = append(slices.Clone(r.Repairs), schemas.Repair{
		Rule: NotOnThisHost, Symptom: lacks.Error(), Edit: "system_packages without " + strings.Join(lacks.Missing, ", "),
	})
	return r, nil
}

// identified fills in the digests of the toolchains, which decide results.
func (b *Builder) identified(ctx context.Context, r schemas.Recipe) (schemas.Recipe, error) {
	r.Tools = slices.Clone(r.Tools)
	for _, t := range append([]*schemas.Toolchain{&r.Toolchain}, pointers(r.Tools)...) {
		got, err := b.Toolchains.Get(ctx, t.Name, t.Version)
		if err != nil {
			return r, fmt.Errorf("getting %s %s: %w", t.Name, t.Version, err)
		}
		t.Digest = got.Digest
	}
	return r, nil
}

func pointers(ts []schemas.Toolchain) []*schemas.Toolchain {
	out := make([]*schemas.Toolchain, len(ts))
	for i := range ts {
		out[i] = &ts[i]
	}
	return out
}

// State is a layer on top of env or of another state: files are changed, then the
// project is built in place, without network. It is leased: the caller gives it
// back with Sandbox.Remove, and others who made the same state keep it.
func (b *Builder) State(ctx context.Context, parent sandbox.Layer, r schemas.Recipe, files []sandbox.File) (sandbox.Layer, error) {
	key := schemas.DigestOf(struct {
		Parent schemas.Digest
		Files  []sandbox.File
		Build  []schemas.Command
		Env    map[string]string
		Names  []string `json:",omitempty"`
	}{parent.Key, files, r.Build, r.Variables, r.Names()})
	layer, _, err := b.Sandbox.Build(ctx, sandbox.Build{
		Key: key, Parent: parent, Files: files, Steps: r.Build, Env: r.Variables, Names: r.Names(), Lease: true, Limits: b.Limits,
	})
	return layer, judged(serve.Failed(r.Service, err), r, false)
}

// Above is a layer of a step of ours on an environment, which is kept as long as that.
func (b *Builder) Above(ctx context.Context, env sandbox.Layer, r schemas.Recipe, step recipe.Step) (sandbox.Layer, error) {
	build := b.build(r, step, env, schemas.DigestOf(struct {
		Env  schemas.Digest
		Step recipe.Step
	}{env.Key, step}))
	build.Network = sandbox.NoNetwork
	layer, _, err := b.Sandbox.Build(ctx, build)
	if err != nil {
		return layer, fmt.Errorf("preparing the environment: %w", err)
	}
	return layer, nil
}

func (b *Builder) build(r schemas.Recipe, step recipe.Step, base sandbox.Layer, key schemas.Digest) sandbox.Build {
	env := map[string]string{}
	for k, v := range r.Variables {
		env[k] = v
	}
	for k, v := range step.Env {
		env[k] = v
	}
	return sandbox.Build{
		Key: key, Parent: base, Files: step.Files, Steps: step.Commands, Env: env,
		Network: sandbox.Registries, Caches: step.Caches, Fill: step.Fill, Limits: b.Limits,
	}
}
