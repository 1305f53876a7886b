package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/plugins"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/bwrap"
	"github.com/benchmint/benchmint/internal/sandbox/docker"
	"github.com/benchmint/benchmint/internal/toolchain"
	"github.com/benchmint/benchmint/internal/verify"
)

// world is everything outside of this program: what a verb needs
// is taken from here, so that tests replace everything together.
type world struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	now            func() time.Time
	// cache is the user's cache folder for toolchains, downloads and layers: what
	// may be deleted at any time between runs.
	cache string
	use   *cacheUse
}

func newWorld() *world {
	e := &world{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, environ: os.Environ(), now: time.Now, use: &cacheUse{}}
	e.cache = filepath.Join(os.TempDir(), "benchmint-cache") // no home: still a place
	if dir, err := os.UserCacheDir(); err == nil {
		e.cache = filepath.Join(dir, "benchmint")
	}
	return e
}

// lookup is one environment variable, "" where it is not set.
func (e *world) lookup(name string) string {
	for _, entry := range e.environ {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			return v
		}
	}
	return ""
}

// toolchains are the interpreters and compilers of this machine and of the registries.
func (m machine) toolchains() *toolchain.Store {
	host := toolchain.Host{Cache: m.cache, Pause: time.Second, Env: m.environ, CABundle: m.caBundle(m.config.Build.CABundle), Tell: func(line string) {
		_, _ = fmt.Fprintln(m.stderr, line) // a terminal that is gone is no fault of the fetch
	}}
	if m.kept != nil {
		host.Kept = m.kept.Program
	}
	return toolchain.New(host)
}

// clients says how the published clients of datasets are had: with the uv that the program brings,
// so that a machine needs none.
func (m machine) clients() verify.Options {
	return verify.Options{Cache: m.cache, Env: m.environ, Say: m.say, Jobs: m.config.Proof.Parallel, UV: func(ctx context.Context) (string, error) {
		t, err := m.toolchains().Get(ctx, toolchain.UV, toolchain.UVVersion)
		return filepath.Join(t.Dir, "bin", "uv"), err
	}}
}

// caBundles are where distributions keep the host's trusted certificates, in the
// order in which Go's own crypto/x509 looks for them.
var caBundles = []string{
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem",
	"/etc/pki/tls/cacert.pem",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/ssl/cert.pem",
}

// caBundle is the bundle that builds trust: the configured one, else the host's.
// A machine may sign its registries itself; the base image knows nothing of that.
func (e *world) caBundle(configured string) string {
	for _, file := range append([]string{configured, e.lookup("SSL_CERT_FILE")}, caBundles...) {
		if file == "" {
			continue
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}

// openSandbox makes one kind of sandbox; it fails where the machine cannot keep a
// rule of it.
func (e *world) openSandbox(ctx context.Context, kind string, c *config.Config) (sandbox.Sandbox, func() error, error) {
	if err := e.useCache(ctx); err != nil {
		return nil, nil, err
	}
	registries := append(sandbox.PublicRegistries(), c.Build.Hosts...)
	var env map[string]string
	if c.Build.Registries == config.RegistriesInherit {
		env = sandbox.RegistryEnv(e.environ)
		registries = append(registries, sandbox.RegistryHosts(env)...)
	}
	dir, bundle := e.layers(), e.caBundle(c.Build.CABundle)
	if kind == config.Bwrap {
		box, err := bwrap.New(ctx, bwrap.Options{Dir: dir, CABundle: bundle, Registries: registries, Env: env, Upstream: http.ProxyFromEnvironment})
		return box, func() error { return nil }, err
	}
	box, err := docker.New(ctx, docker.Options{Dir: dir, Image: c.Sandbox.Image, CABundle: bundle, Registries: registries, Env: env, Upstream: http.ProxyFromEnvironment})
	if err != nil {
		return nil, nil, err
	}
	return box, box.Close, nil
}

// layers is the folder of what the sandboxes keep.
func (e *world) layers() string { return filepath.Join(e.cache, "sandbox") }

// engine is the Docker engine that answers.
func (e *world) engine(ctx context.Context) (*client.Client, error) { return docker.Connect(ctx, "") }

// idleBuilder serves stages that read repositories only.
func idleBuilder(c *config.Config) *environment.Builder {
	return &environment.Builder{Languages: plugins.Languages(), Runners: plugins.Runners(), Limits: c.Sandbox.Limits()}
}

// tools are those whose version decides results, beside what recipes name.
func tools() map[string]string {
	return map[string]string{"grammars": readVersion().Grammars}
}

// self is this program, as a dataset names what wrote it. It decides no result by itself:
// the versions of the stages do.
func self() map[string]string {
	v := readVersion()
	return map[string]string{"benchmint": v.Version, "commit": v.Commit}
}
