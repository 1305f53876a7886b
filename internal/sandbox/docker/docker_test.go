package docker_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/docker"
	"github.com/benchmint/benchmint/internal/sandbox/docker/dockertest"
	"github.com/benchmint/benchmint/internal/sandbox/sandboxtest"
	"github.com/benchmint/benchmint/schemas"
)

// sleeper makes this test program run a container that sleeps, on the engine named.
const sleeper = "BENCHMINT_TEST_SLEEP"

func TestMain(m *testing.M) {
	if host := os.Getenv(sleeper); host != "" {
		os.Exit(sleep(host))
	}
	os.Exit(dockertest.Main(m))
}

func sleep(host string) int {
	dir, err := dockertest.Dir()
	if err != nil {
		return 1
	}
	ctx := context.Background()
	s, err := docker.New(ctx, docker.Options{Dir: dir, Host: host})
	if err != nil {
		return 1
	}
	base, err := s.Base(ctx, sandbox.Base{})
	if err != nil {
		return 1
	}
	leased := sandbox.Build{Key: killedKey, Parent: base, Lease: true, Steps: []schemas.Command{{Argv: []string{"touch", "leased"}}}}
	layer, _, err := s.Build(ctx, leased)
	if err != nil {
		return 1
	}
	_, _ = s.Run(ctx, sandbox.Run{Layer: layer, Command: schemas.Command{Argv: []string{"/bin/sh", "-c", "echo started; sleep 600"}},
		Interactive: &sandbox.Terminal{In: strings.NewReader(""), Out: os.Stdout, Err: os.Stderr}})
	return 0
}

// killedKey is a layer that only a process that is killed leases.
const killedKey = "sha256:leased-by-one-that-is-killed"

// TestSweep: containers of a process that was killed are removed by the next start,
// and so are the layers that were for that process only.
func TestSweep(t *testing.T) {
	t.Parallel()
	box := open(t, docker.Options{})
	if _, err := box.Base(t.Context(), sandbox.Base{}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), sleeper+"="+engineHost(t))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if said, err := bufio.NewReader(out).ReadString('\n'); err != nil || said != "started\n" {
		t.Fatalf("%q, %v", said, err)
	}
	before := containers(t)
	if _, ok := box.Found(t, killedKey); !ok {
		t.Error("the process has no layer")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	open(t, docker.Options{})
	gone := 0
	after := containers(t)
	for _, name := range before {
		if !slices.Contains(after, name) && !strings.Contains(name, box.Token()) {
			gone++
		}
	}
	if image, ok := box.Found(t, killedKey); ok {
		t.Errorf("the layer of the killed process is still there: %s", image)
	}
	if gone == 0 {
		t.Errorf("nothing was swept: before %q, after %q", before, after)
	}
}

// TestLayersOfOneFolder: what frees the layers of one folder leaves those of another, which may be
// in use.
func TestLayersOfOneFolder(t *testing.T) {
	box := open(t, docker.Options{})
	base, err := box.Base(t.Context(), sandbox.Base{})
	if err != nil {
		t.Fatal(err)
	}
	api := engine(t)
	dir, err := dockertest.Dir()
	if err != nil {
		t.Fatal(err)
	}
	named := func(dir string) (images []string) {
		layers, err := docker.Layers(t.Context(), api, dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range layers {
			i, err := api.ImageInspect(t.Context(), l.Name)
			if err != nil {
				t.Fatal(err)
			}
			images = append(images, i.ID)
		}
		return images
	}
	if own := named(dir); !slices.Contains(own, base.ID) {
		t.Errorf("%s is not among the layers of its folder: %q", base.ID, own)
	}
	if other := named(t.TempDir()); len(other) > 0 {
		t.Errorf("a new folder has layers: %q", other)
	}
}

// engine is a client of the tests' engine.
func engine(t testing.TB) *client.Client {
	t.Helper()
	api, err := docker.Connect(t.Context(), dockertest.Host(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close() })
	return api
}

// engineHost is the engine's address, never "".
func engineHost(t testing.TB) string {
	if host := dockertest.Host(t); host != "" {
		return host
	}
	return client.DefaultDockerHost
}

func containers(t *testing.T) []string {
	t.Helper()
	api := engine(t)
	list, err := api.ContainerList(t.Context(), client.ContainerListOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range list.Items {
		names = append(names, c.Names...)
	}
	return names
}

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

// smoke has a case for each rule of the suite: what bwrap's shows of all runs before each merge.
var smoke = []string{
	"user_without_rights", "calls_are_refused", "environment_is_ours", "nothing_of_the_host",
	"no_way_out", "build_reaches_registries_only", "build_asks_its_own_registry", "memory", "processes", "output", "time", "disk_of_the_machine",
	"whole_tree_dies", "cancel_kills_all", "cancel_ends_builds", "killed_from_outside", "exit_codes", "each_run_is_fresh",
	"collect", "collect_follows_no_link", "channel", "sealed", "files_are_put", "put_follows_no_link", "paths_outside_are_refused",
	"equal_keys_are_built_once", "fill_is_apart", "fill_that_fails", "cache_names", "failing_step", "discard", "missing_packages",
	"leases", "removal_waits_for_runs", "remove", "every_layer_is_walked", "toolchains", "interactive",
	"service_is_reached", "service_ends", "service_dies", "service_faults", "names_on_loopback",
}

func TestSandbox(t *testing.T) { conformance(t, smoke) }

// TestConformance is the whole suite.
func TestConformance(t *testing.T) { conformance(t, nil) }

func conformance(t *testing.T, only []string) {
	var box *docker.Sandbox
	sandboxtest.Run(t, sandboxtest.Kind{
		Open: func(t *testing.T, o sandboxtest.Options) sandbox.Sandbox {
			box = open(t, docker.Options{CABundle: o.CABundle, Registries: o.Registries, Env: o.Env})
			t.Log(box.Describe().Text)
			return box
		},
		Left: func(t *testing.T) []string { return left(t, box) },
		Kill: killOne,
		OnSmall: func(t *testing.T) (sandbox.Sandbox, string) {
			dir := sandboxtest.Small(t, 64<<20)
			s := open(t, docker.Options{})
			s.Watch(dir)
			return s, dir
		},
		Only: only,
	})
}

// killOne is what "docker kill" does to the container in which a process runs.
func killOne(t *testing.T, marker string) {
	api, err := docker.Connect(t.Context(), dockertest.Host(t))
	if err != nil {
		t.Error(err)
		return
	}
	defer api.Close()
	list, err := api.ContainerList(t.Context(), client.ContainerListOptions{})
	if err != nil {
		t.Error(err)
		return
	}
	for _, c := range list.Items {
		top, err := api.ContainerTop(t.Context(), c.ID, client.ContainerTopOptions{})
		if err != nil {
			continue // it has ended meanwhile
		}
		for _, process := range top.Processes {
			if strings.Contains(strings.Join(process, " "), "sleep "+marker) {
				if _, err := api.ContainerKill(t.Context(), c.ID, client.ContainerKillOptions{Signal: "KILL"}); err != nil {
					t.Error(err)
				}
				return
			}
		}
	}
	t.Error("no container runs it")
}

// TestRemoteEngine: where the engine's files are out of sight, it is asked for what
// a container has written, and layers are read from a saved image.
func TestRemoteEngine(t *testing.T) {
	var box *docker.Sandbox
	sandboxtest.Run(t, sandboxtest.Kind{
		Open: func(t *testing.T, o sandboxtest.Options) sandbox.Sandbox {
			box = open(t, docker.Options{CABundle: o.CABundle, Registries: o.Registries, Env: o.Env})
			box.Blind()
			t.Log(box.Describe().Text)
			return box
		},
		Left:  func(t *testing.T) []string { return left(t, box) },
		Only:  []string{"disk", "memory", "processes", "every_layer_is_walked", "nothing_of_a_build_is_left", "time_with_report"},
		Asked: true,
	})
}

// TestBareEngine: where the engine cannot put a layer over a cache, steps get an empty
// one, and no stranger's file is in the cache either.
func TestBareEngine(t *testing.T) {
	var box *docker.Sandbox
	sandboxtest.Run(t, sandboxtest.Kind{
		Open: func(t *testing.T, o sandboxtest.Options) sandbox.Sandbox {
			box = open(t, docker.Options{CABundle: o.CABundle, Registries: o.Registries, Env: o.Env})
			box.Bare()
			return box
		},
		Left: func(t *testing.T) []string { return left(t, box) },
		Only: []string{"caches_are_filled_by_fills_only", "fill_is_apart", "nothing_of_a_build_is_left"},
		Bare: true,
	})
}

// TestCacheOfOneFolder: what one folder's builds download, another's never see.
func TestCacheOfOneFolder(t *testing.T) {
	t.Parallel()
	build := func(s *docker.Sandbox, key schemas.Digest, fill string) string {
		base, err := s.Base(t.Context(), sandbox.Base{})
		if err != nil {
			t.Fatal(err)
		}
		sh := func(script string) []schemas.Command {
			return []schemas.Command{{Argv: []string{"/bin/sh", "-c", script}}}
		}
		_, res, err := s.Build(t.Context(), sandbox.Build{
			Key: key, Parent: base, Discard: true, Caches: map[string]string{"folder": "/home/tester/.cache/x"},
			Fill: &sandbox.Fill{Steps: sh(fill)}, Steps: sh("cat ~/.cache/x/* 2>/dev/null; true"),
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(res.Output)
	}
	one := open(t, docker.Options{})
	image, err := one.System(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	two := open(t, docker.Options{Dir: t.TempDir(), Image: image})
	if got := build(one, "sha256:a", "echo one >~/.cache/x/f"); got != "one\n" {
		t.Errorf("the first folder's build sees %q", got)
	}
	if got := build(two, "sha256:a", "true"); got != "" {
		t.Errorf("the second folder's build sees %q of the first's", got)
	}
}

// TestImageOfTheUser: an image that is configured takes the place of the Debian made
// here, whatever it says of itself.
func TestImageOfTheUser(t *testing.T) {
	t.Parallel()
	made := open(t, docker.Options{})
	image, err := made.System(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	api := engine(t)
	const name = "benchmint-test/theirs:1"
	created, err := api.ContainerCreate(t.Context(), client.ContainerCreateOptions{Config: &container.Config{Image: image, Cmd: []string{"true"}}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = api.ContainerCommit(t.Context(), created.ID, client.ContainerCommitOptions{Reference: name, Config: &container.Config{
		User: "nobody", Entrypoint: []string{"/bin/false"}, WorkingDir: "/var", Env: []string{"THEIRS=1"},
	}})
	if _, removeErr := api.ContainerRemove(t.Context(), created.ID, client.ContainerRemoveOptions{}); err != nil || removeErr != nil {
		t.Fatal(err, removeErr)
	}
	t.Cleanup(func() {
		api, err := docker.Connect(context.Background(), dockertest.Host(t))
		if err == nil {
			_, err = api.ImageRemove(context.Background(), name, client.ImageRemoveOptions{})
			api.Close()
		}
		if err != nil {
			t.Error(err)
		}
	})
	theirs := open(t, docker.Options{Image: name})
	base, err := theirs.Base(t.Context(), sandbox.Base{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := theirs.Run(t.Context(), sandbox.Run{Layer: base, Command: schemas.Command{Argv: []string{"/bin/sh", "-c", "id -u; pwd; echo $THEIRS; touch x"}}})
	if err != nil || res.ExitCode != 0 || string(res.Output) != fmt.Sprintf("%d\n/testbed\n\n", sandbox.UID) {
		t.Errorf("exit %d, %q, %v", res.ExitCode, res.Output, err)
	}
	if err := theirs.Remove(t.Context(), base); err != nil {
		t.Error(err)
	}
	none := open(t, docker.Options{Image: "benchmint-test/none:1"})
	if _, err := none.Base(t.Context(), sandbox.Base{}); err == nil || !strings.Contains(err.Error(), "benchmint-test/none:1") {
		t.Errorf("an image that is not there: %v", err)
	}
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

// BenchmarkBeside is what a service beside a run costs.
func BenchmarkBeside(b *testing.B) {
	s := open(b, docker.Options{})
	sandboxtest.BenchmarkBeside(b, s)
}

// left are containers of this process, and directories of builds.
func left(t *testing.T, box *docker.Sandbox) []string {
	t.Helper()
	var out []string
	for _, name := range containers(t) {
		if strings.Contains(name, box.Token()) {
			out = append(out, name)
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
