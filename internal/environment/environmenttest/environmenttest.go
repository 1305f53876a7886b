// Package environmenttest gives tests a real environment: bubblewrap, the toolchains of this
// machine, and the recipe that a small project of a test is given.
//
// It never puts something else in the place of what a machine lacks: the test is skipped and
// says what is missing.
package environmenttest

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/bwrap"
	"github.com/benchmint/benchmint/internal/sandbox/docker"
	"github.com/benchmint/benchmint/internal/sandbox/docker/dockertest"
	"github.com/benchmint/benchmint/internal/toolchain"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Bundle are the certificates that builds trust.
const Bundle = "/etc/ssl/certs/ca-certificates.crt"

// Date is that of all projects: their dependencies are those of this day.
func Date() time.Time { return time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC) }

// Registries are the hosts that builds may ask, and the variables that name them.
func Registries() (hosts []string, env map[string]string) {
	env = sandbox.RegistryEnv(os.Environ())
	return append(sandbox.PublicRegistries(), sandbox.RegistryHosts(env)...), env
}

// ShareCaches gives a sandbox of bubblewrap, whose Options.Dir is dir, the caches that tests of this machine share:
// a test whose own are empty compiles the standard library of Go for a minute. Only fills of ours write there.
func ShareCaches(dir string) error {
	cache, err := dockertest.Dir()
	if err != nil {
		return err
	}
	name := fmt.Sprintf("filled-%d", sandbox.UID)
	if err := errors.Join(os.MkdirAll(filepath.Join(cache, name), 0o700), os.MkdirAll(filepath.Join(dir, "bwrap"), 0o700)); err != nil {
		return err
	}
	return os.Symlink(filepath.Join(cache, name), filepath.Join(dir, "bwrap", name))
}

// ShareToolchains gives a program whose cache folder is dir the copies of toolchains that tests of this machine share: a
// script whose own are empty copies an interpreter and compiles its library. One that looks at them removes the link first.
func ShareToolchains(dir string) error {
	cache, err := dockertest.Dir()
	if err != nil {
		return err
	}
	shared := filepath.Join(cache, "toolchains")
	if err := errors.Join(os.MkdirAll(shared, 0o755), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	return os.Symlink(shared, filepath.Join(dir, "toolchains"))
}

// Bubblewrap is a sandbox whose layers are gone with the test.
func Bubblewrap(t testing.TB) sandbox.Sandbox {
	t.Helper()
	dir := t.TempDir()
	if err := ShareCaches(dir); err != nil {
		t.Fatal(err)
	}
	hosts, env := Registries()
	box, err := bwrap.New(t.Context(), bwrap.Options{Dir: dir, CABundle: Bundle, Registries: hosts, Env: env, Upstream: http.ProxyFromEnvironment})
	if refused := (*sandbox.Refused)(nil); errors.As(err, &refused) {
		t.Skipf("SKIP: no bubblewrap here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// Docker is a sandbox in the engine of the tests, whose layers and base are kept with what other tests of this machine share.
// The package's TestMain must be dockertest.Main.
func Docker(t testing.TB) sandbox.Sandbox {
	t.Helper()
	dir, err := dockertest.Dir()
	if err != nil {
		t.Fatal(err)
	}
	hosts, env := Registries()
	box, err := docker.New(t.Context(), docker.Options{Dir: dir, Host: dockertest.Host(t), CABundle: Bundle, Registries: hosts, Env: env, Upstream: http.ProxyFromEnvironment})
	if refused := (*sandbox.Refused)(nil); errors.As(err, &refused) {
		t.Skipf("SKIP: no Docker here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Error(err)
		}
	})
	return box
}

// Plugin is a language with its runner.
type Plugin interface {
	lang.Language
	lang.Runner
}

// Workplace builds environments of one language.
type Workplace struct {
	*environment.Builder
	Plugin    Plugin
	Available []lang.ToolchainRelease
}

// New is a workplace in box, with the toolchains that tests of this machine share.
func New(t testing.TB, box sandbox.Sandbox, p Plugin, report string) Workplace {
	t.Helper()
	cache, err := dockertest.Dir()
	if err != nil {
		t.Fatal(err)
	}
	chains := toolchain.New(toolchain.Host{Cache: cache, Env: os.Environ()})
	available, err := chains.Available(t.Context(), p.Toolchains()...)
	if err != nil {
		t.Logf("toolchains: %v", err)
	}
	return Workplace{Plugin: p, Available: available, Builder: &environment.Builder{
		Sandbox: box, Toolchains: chains, Languages: map[string]lang.Language{p.Name(): p}, Runners: map[string]lang.Runner{report: p},
	}}
}

// Recipe is what the language makes of a project, with its lock. A test is skipped where no
// toolchain for it can be had.
func (w Workplace) Recipe(t testing.TB, base, solution *tree.Tree) schemas.Recipe {
	t.Helper()
	project := lang.Project{Name: "acme/box", Base: base, Solution: solution, Date: Date(), Available: w.Available}
	recipe, err := w.Plugin.Infer(project)
	if refusal := (*lang.Refusal)(nil); errors.As(err, &refusal) && refusal.Reason == schemas.NoToolchain {
		t.Skipf("SKIP: %v", err)
	}
	if err == nil {
		recipe, err = w.Lock(t.Context(), project, recipe)
	}
	if err != nil {
		t.Fatal(err)
	}
	return recipe
}

// Tree is a tree of files by path. Content that begins with "-> " is a symlink's target.
func Tree(t testing.TB, files map[string]string) *tree.Tree {
	t.Helper()
	const link = "-> "
	entries := make([]tree.Entry, 0, len(files))
	for p, data := range files {
		e := tree.Entry{Path: p, Mode: tree.ModeFile, Data: []byte(data)}
		if len(data) > len(link) && data[:len(link)] == link {
			e.Mode, e.Data = tree.ModeSymlink, []byte(data[len(link):])
		}
		entries = append(entries, e)
	}
	out, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
