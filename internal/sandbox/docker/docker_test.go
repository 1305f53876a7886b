package docker_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/docker"
	"github.com/benchmint/benchmint/internal/sandbox/docker/dockertest"
	"github.com/benchmint/benchmint/internal/sandbox/sandboxtest"
)

func TestMain(m *testing.M) { os.Exit(dockertest.Main(m)) }

// open makes a sandbox on the tests' engine, or skips loudly where none can be had.
func open(t testing.TB, o docker.Options) *docker.Sandbox {
	t.Helper()
	o.Host = dockertest.Host(t)
	if o.Dir == "" {
		dir, err := dockertest.Dir()
		if err != nil {
			t.Fatal(err)
		}
		o.Dir = dir
	}
	s, err := docker.New(t.Context(), o)
	if refused := (*sandbox.Refused)(nil); errors.As(err, &refused) {
		t.Skipf("NO DOCKER SANDBOX HERE: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestSandbox(t *testing.T) {
	var box *docker.Sandbox
	sandboxtest.Run(t, sandboxtest.Kind{
		Open: func(t *testing.T, o sandboxtest.Options) sandbox.Sandbox {
			box = open(t, docker.Options{CABundle: o.CABundle, Registries: o.Registries, Env: o.Env})
			t.Log(box.Describe())
			return box
		},
		Left: func(t *testing.T) []string { return left(t, box) },
	})
}

// TestRemoteEngine: where the engine's files are out of sight, it is asked for what
// a container has written, and layers are read from a saved image.
func TestRemoteEngine(t *testing.T) {
	var box *docker.Sandbox
	sandboxtest.Run(t, sandboxtest.Kind{
		Open: func(t *testing.T, o sandboxtest.Options) sandbox.Sandbox {
			box = open(t, docker.Options{CABundle: o.CABundle, Registries: o.Registries, Env: o.Env})
			box.Blind()
			t.Log(box.Describe())
			return box
		},
		Left:  func(t *testing.T) []string { return left(t, box) },
		Only:  []string{"disk", "memory", "processes", "every_layer_is_walked", "nothing_of_a_build_is_left", "time_with_report"},
		Asked: true,
	})
}

// TestNoEngine: what is missing is refused by name, with the command that gets it.
func TestNoEngine(t *testing.T) {
	t.Parallel()
	_, err := docker.New(t.Context(), docker.Options{Dir: t.TempDir(), Host: "unix://" + filepath.Join(t.TempDir(), "none")})
	var refused *sandbox.Refused
	if !errors.As(err, &refused) || !strings.Contains(refused.Get, "apt-get install docker.io") {
		t.Errorf("error %v", err)
	}
}

// BenchmarkRun is the time outside the command, for a command that does nothing and
// for one that takes a while.
func BenchmarkRun(b *testing.B) {
	s := open(b, docker.Options{})
	sandboxtest.Benchmark(b, s)
}

// left are containers of this process, and directories of builds.
func left(t *testing.T, box *docker.Sandbox) []string {
	t.Helper()
	api, err := docker.Connect(t.Context(), dockertest.Host(t))
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	list, err := api.ContainerList(t.Context(), client.ContainerListOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range list.Items {
		if strings.Contains(strings.Join(c.Names, " "), box.Token()) {
			out = append(out, c.Names...)
		}
	}
	dir, err := dockertest.Dir()
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"proxy-*", "files-*"} {
		dirs, err := filepath.Glob(filepath.Join(dir, "docker", pattern))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, dirs...)
	}
	return out
}
