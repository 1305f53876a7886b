package environment_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/langtest"
	"github.com/benchmint/benchmint/internal/packages"
	recipes "github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// shelf gives a registry for every recipe, or an error.
type shelf struct {
	registry http.Handler
	err      error
}

func (s shelf) Registry(schemas.Recipe) (http.Handler, error) { return s.registry, s.err }

// filling is a language that fills a cache.
type filling struct{ langtest.Toy }

func (f filling) Setup(r schemas.Recipe) (recipes.Step, error) {
	step, err := f.Toy.Setup(r)
	step.Caches, step.Fill = map[string]string{"toy": sandbox.HomePath + "/.cache/toy"}, &sandbox.Fill{}
	return step, err
}

// offline is a sandbox in which builds from kept packages fail.
type offline struct{ *scripted }

func (s offline) Build(ctx context.Context, b sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	if b.Registry != nil {
		s.builds = append(s.builds, b)
		return sandbox.Layer{}, sandbox.Result{}, &sandbox.BuildError{Step: b.Steps[0], Result: sandbox.Result{ExitCode: 1, Output: []byte("no version of a")}}
	}
	return s.scripted.Build(ctx, b)
}

// TestKeptPackages: what is kept fills no cache of others, and an env layer is built from kept packages under the key that it has anyway. One
// that they do not make is built from the registries, and a damaged package builds nothing.
func TestKeptPackages(t *testing.T) {
	t.Parallel()
	locked := recipe
	locked.Lock = "a==1"
	damaged := errors.New("damaged")
	for name, tc := range map[string]struct {
		packages environment.Packages
		fails    bool
		offline  []bool // of each build
		err      error
	}{
		"none":     {nil, false, []bool{false}, nil},
		"not kept": {shelf{}, false, []bool{false}, nil},
		"kept":     {shelf{registry: http.NotFoundHandler()}, false, []bool{true}, nil},
		"too few":  {shelf{registry: http.NotFoundHandler()}, true, []bool{true, false}, nil},
		"damaged":  {shelf{err: damaged}, false, nil, damaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &scripted{}
			b := builder(s, langtest.Toy{})
			if tc.fails {
				b.Sandbox = offline{s}
			}
			b.Packages, b.Languages = tc.packages, map[string]lang.Language{"toy": filling{}}
			key, err := b.Key(t.Context(), locked)
			if err != nil {
				t.Fatal(err)
			}
			layer, err := b.Env(t.Context(), locked)
			if !errors.Is(err, tc.err) || err == nil && layer.Key != key {
				t.Fatalf("%v, %v", layer, err)
			}
			if len(s.builds) != len(tc.offline) {
				t.Fatalf("%d builds", len(s.builds))
			}
			for i, b := range s.builds {
				_, shared := b.Caches["toy"]
				if offline := b.Registry != nil; offline != tc.offline[i] || shared == offline || (b.Fill == nil) != offline {
					t.Errorf("build %d has the registry %v, the caches %v and the fill %v", i, b.Registry, b.Caches, b.Fill)
				}
			}
		})
	}
}

// silent is a source that has no wheel of a toolchain, and answers nothing.
type silent struct{}

func (silent) Project(context.Context, string) ([]packages.Listed, error) {
	return nil, errors.New("no answer")
}
func (silent) Fetch(context.Context, packages.Listed, io.Writer) error {
	return errors.New("no answer")
}
func (silent) Wheel(context.Context, string, string, string) (packages.File, bool, error) {
	return packages.File{}, false, nil
}

// asking is a sandbox whose builds ask their registry for a package, and fail without it.
type asking struct{ *scripted }

func (s asking) Build(_ context.Context, b sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	w := &answer{header: http.Header{}}
	r, err := http.NewRequest(http.MethodGet, "http://packages.invalid/simple/a/", nil)
	if err != nil {
		return sandbox.Layer{}, sandbox.Result{}, err
	}
	b.Registry.ServeHTTP(w, r)
	if len(b.Caches) > 0 || b.Fill != nil || !b.Discard {
		return sandbox.Layer{}, sandbox.Result{}, errors.New("a cache hides what the build takes")
	}
	return sandbox.Layer{}, sandbox.Result{}, &sandbox.BuildError{Step: b.Steps[0], Result: sandbox.Result{ExitCode: 1}}
}

type answer struct {
	header http.Header
	code   int
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) Write(b []byte) (int, error) { return len(b), nil }
func (a *answer) WriteHeader(code int)        { a.code = code }

// TestKeepFails: an index that does not answer is no word on an environment; a build that fails by
// itself is one.
func TestKeepFails(t *testing.T) {
	t.Parallel()
	locked := recipe
	locked.Lock = "a==1"
	b := builder(asking{&scripted{}}, langtest.Toy{})
	if _, err := b.Keep(t.Context(), locked, silent{}, t.TempDir()); !errors.Is(err, environment.ErrUnavailable) {
		t.Errorf("an index that does not answer: %v", err)
	}
	fails := map[string]string{}
	b = builder(&scripted{fail: fails}, langtest.Toy{})
	step, err := b.Setup(locked)
	if err != nil {
		t.Fatal(err)
	}
	fails[strings.Join(step.Commands[0].Argv, " ")] = "no such package"
	e, err := b.Keep(t.Context(), locked, silent{}, t.TempDir())
	if err != nil || e.Complete || e.Lacks == "" {
		t.Errorf("a build that fails: %+v, %v", e, err)
	}
}
