package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/crawl/sources"
)

func newEnv(p *program) *cobra.Command {
	return group("env", "build, open or remove the environment of a task; make the base image",
		newEnvBuild(p), newEnvShell(p), newEnvRm(p), newEnvBase(p))
}

// room is one item with all that its environment is made from.
type room struct {
	*terminal
	*workshop
	item    *item
	env     schemas.Environment
	closers []func() error
	sources *sources.Set
	blobs   *blob.Store
}

func (r *room) close() error {
	var errs []error
	for _, c := range slices.Backward(r.closers) {
		errs = append(errs, c())
	}
	return errors.Join(errs...)
}

// openRoom opens the sandbox of the item's store and finds the recipe.
func (p *program) openRoom(ctx context.Context, word string) (*room, error) {
	c, err := p.load()
	if err != nil {
		return nil, err
	}
	s, err := openShelf(ctx, p.world, c)
	if err != nil {
		return nil, err
	}
	r := &room{terminal: p.terminal, blobs: s.Blobs, closers: []func() error{s.Close}}
	if err := p.furnish(ctx, c, r, s, word); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// furnish puts into a room what it is closed with.
func (p *program) furnish(ctx context.Context, c *config.Config, r *room, s *shelf, word string) error {
	id, err := s.find(word)
	if err != nil {
		return err
	}
	if r.item, err = s.item(id); err != nil {
		return err
	}
	if r.item.recipe() == nil || r.item.start == nil {
		return unmet("%s has no recipe: it ended at %s (benchmint explain %s)", id, r.item.end().Stage, id)
	}
	r.env = schemas.Environment{Recipe: *r.item.recipe()}
	if r.sources, err = p.reopen(ctx, s, r.item.start.Repo); err != nil {
		return err
	}
	r.closers = append(r.closers, r.sources.Close)
	if r.workshop, err = p.machine(c).openWorkshop(ctx, s.Store, asksFor(id+" is", r.item.start.Language)); err != nil {
		return err
	}
	r.closers = append(r.closers, r.workshop.close)
	return nil
}

func newEnvBuild(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "build ID", Short: "build the environment of an item, or find it", Args: argsOf(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r, err := p.openRoom(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.close()) }()
			layer, err := r.builder.Env(cmd.Context(), r.env.Recipe)
			if err != nil {
				return p.buildFault(err)
			}
			if p.json {
				return p.writeJSON(map[string]string{"id": r.item.ID, "environment": string(layer.Key), "sandbox": r.kind})
			}
			t := p.out()
			t.line("%s  %s in %s; step into it with: benchmint env shell %s", r.item.ID, layer.Key.Short(), r.kind, r.item.ID)
			return t.err
		},
	}
	p.envFlags(cmd)
	return cmd
}

func (s *settings) envFlags(cmd *cobra.Command) {
	s.override(cmd, "store", "store", "`FOLDER` of the store")
	s.override(cmd, "sandbox", "sandbox.kind", "`KIND` of sandbox: docker or bwrap")
}

// buildFault shows the whole log of a build that failed: that is what it was asked for.
func (t *terminal) buildFault(err error) error {
	var build *sandbox.BuildError
	if errors.As(err, &build) {
		_, _ = t.stderr.Write(append([]byte(visible(string(build.Result.Output))), '\n'))
	}
	return err
}

func newEnvRm(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rm ID", Short: "remove the environment of an item; the next use builds it again", Args: argsOf(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r, err := p.openRoom(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.close()) }()
			if r.item.env == nil {
				return unmet("%s has no environment: it ended at %s", r.item.ID, r.item.end().Stage)
			}
			layer, err := r.builder.Env(cmd.Context(), r.env.Recipe)
			if err != nil {
				return p.buildFault(err)
			}
			if err := r.builder.Sandbox.Remove(cmd.Context(), layer); err != nil {
				return err
			}
			t := p.out()
			t.line("%s  removed from %s", layer.Key.Short(), r.kind)
			return t.err
		},
	}
	p.envFlags(cmd)
	return cmd
}

func newEnvBase(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "base", Short: "make the base system of environments from Debian packages, without an image registry", Args: argsOf(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c, err := p.load()
			if err != nil {
				return err
			}
			w, err := p.machine(c).require(cmd.Context(), job{builds: true, kind: c.Sandbox.Kind, asks: asksFor("")}) // of no language
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, w.close()) }()
			layer, err := w.builder.Sandbox.Base(cmd.Context(), sandbox.Base{})
			if err != nil {
				return p.buildFault(err)
			}
			if p.json {
				return p.writeJSON(map[string]string{"base": string(layer.Key), "id": layer.ID, "sandbox": w.kind})
			}
			t := p.out()
			t.line("base of %s: %s", w.kind, layer.ID)
			return t.err
		},
	}
	p.override(cmd, "sandbox", "sandbox.kind", "`KIND` of sandbox: docker or bwrap")
	return cmd
}

var stateNames = []string{string(schemas.StateB), string(schemas.StateS), string(schemas.StateG)}

func newEnvShell(p *program) *cobra.Command {
	var state string
	cmd := &cobra.Command{
		Use: "shell ID [-- COMMAND…]", Short: "open a shell (or run a command) inside a task's environment",
		Long: "Starts on a fresh copy of a state: B is what a solver gets, S has the tests of the change, G is\nthe solution. There is no network, as in a proof; what is changed is gone at the end.",
		Args: argsOf(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if !slices.Contains(stateNames, strings.ToUpper(state)) {
				return &usageError{fmt.Errorf("--state %q is not one of %s%s", state, strings.Join(stateNames, ", "), nearest.Hint(strings.ToUpper(state), stateNames))}
			}
			r, err := p.openRoom(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.close()) }()
			return r.shell(cmd.Context(), schemas.State(strings.ToUpper(state)), args[1:])
		},
	}
	cmd.Flags().StringVar(&state, "state", "B", "`STATE`: B, S or G")
	p.envFlags(cmd)
	return cmd
}

// aDay is a person's time-out: long enough not to be in the way.
const aDay = 24 * time.Hour

func (r *room) shell(ctx context.Context, state schemas.State, argv []string) (err error) {
	layers, err := r.stateLayers(ctx, state)
	remove := func() error { return r.remove(ctx, layers) }
	if err != nil {
		return errors.Join(err, remove())
	}
	defer func() { err = errors.Join(err, remove()) }()
	in, isFile := r.stdin.(*os.File)
	tty := isFile && isTerminal(in)
	if len(argv) == 0 {
		argv = []string{"/bin/bash"}
		if tty {
			argv = append(argv, "-i")
		}
		r.say("state %s of %s; its tests run with:", state, r.item.ID)
		for _, c := range r.env.Recipe.Test {
			r.say("  %s", recipe.ShellLine(c))
		}
	}
	limits := r.builder.Limits
	limits.Timeout = aDay
	res, err := r.builder.Sandbox.Run(ctx, sandbox.Run{
		Layer: layers[len(layers)-1], Command: schemas.Command{Argv: argv}, Env: r.env.Recipe.Variables, Limits: limits, Names: r.env.Recipe.Names(),
		Interactive: &sandbox.Terminal{In: r.stdin, Out: r.stdout, Err: r.stderr, TTY: tty},
	})
	if err != nil {
		return err
	}
	if res.End != sandbox.Exited {
		return fmt.Errorf("ended by the limit on %s", res.End)
	}
	if res.ExitCode != 0 {
		return &ended{code: res.ExitCode} // the command's own, as a shell would give it
	}
	return nil
}

// stateLayers makes the layer of a state and those under it, the lowest first.
func (r *room) stateLayers(ctx context.Context, state schemas.State) ([]sandbox.Layer, error) {
	s := r.item.start
	trees, err := states.Maker{Repos: r.sources, Blobs: r.blobs}.Of(ctx, *s)
	if err != nil {
		return nil, err
	}
	sealed, err := seal.Files(trees.B, s.BaseDate)
	if err != nil {
		return nil, err
	}
	env, err := r.builder.Env(ctx, r.env.Recipe)
	if err != nil {
		return nil, r.buildFault(err)
	}
	b, err := r.stateLayer(ctx, env, sealed)
	if err != nil || state == schemas.StateB {
		return []sandbox.Layer{b}, err
	}
	// Younger than what was compiled from B, as in a proof.
	top, err := r.stateLayer(ctx, b, trees.B.Changes(trees.Tree(state), s.BaseDate.Add(2*time.Second)))
	return []sandbox.Layer{b, top}, err
}

// stateLayer is one state, built; a build that fails is said and left out, because
// that is what a person wants to look at.
func (r *room) stateLayer(ctx context.Context, parent sandbox.Layer, files []sandbox.File) (sandbox.Layer, error) {
	layer, err := r.builder.State(ctx, parent, r.env.Recipe, files)
	var build *sandbox.BuildError
	if !errors.As(err, &build) {
		return layer, err
	}
	r.say("the project does not build in this state; the shell starts without that build: %v", build)
	bare := r.env.Recipe
	bare.Build = nil
	return r.builder.State(ctx, parent, bare, files)
}

func (r *room) remove(ctx context.Context, layers []sandbox.Layer) error {
	var errs []error
	for _, l := range slices.Backward(layers) {
		if l.ID != "" {
			errs = append(errs, r.builder.Sandbox.Remove(context.WithoutCancel(ctx), l))
		}
	}
	return errors.Join(errs...)
}

// reopen opens the repository that an item came from, as the run that read it
// noted: the store alone knows where that was.
func (p *program) reopen(ctx context.Context, s *shelf, repo string) (*sources.Set, error) {
	notes, err := sources.ReadNotes(s.config.Store)
	if err != nil {
		return nil, err
	}
	git, ok := notes[repo]
	if !ok {
		return nil, unmet("the store does not say where %s lies; benchmint run with it as a source", repo)
	}
	c := config.Default()
	c.Sources = []config.Source{{Git: git, Name: repo}}
	return p.finder(c).Open(ctx)
}
