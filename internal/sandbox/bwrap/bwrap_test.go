package bwrap_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/bwrap"
	"github.com/benchmint/benchmint/internal/sandbox/sandboxtest"
	"github.com/benchmint/benchmint/schemas"
)

// open makes a sandbox, or skips loudly where this machine has no bubblewrap.
func open(t testing.TB, o bwrap.Options) *bwrap.Sandbox {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	s, err := bwrap.New(t.Context(), o)
	if refused := (*sandbox.Refused)(nil); errors.As(err, &refused) {
		t.Skipf("NO BUBBLEWRAP HERE: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWeakMachine: without overlays and control groups, layers are copies and limits
// are kept by looking, and every rule holds.
func TestWeakMachine(t *testing.T) {
	dir := t.TempDir()
	sandboxtest.Run(t, sandboxtest.Kind{
		Open: func(t *testing.T, o sandboxtest.Options) sandbox.Sandbox {
			s := open(t, bwrap.Options{Dir: dir, CABundle: o.CABundle, Registries: o.Registries, Env: o.Env})
			s.Weaken()
			t.Log(s.Describe())
			return s
		},
		Left:   func(t *testing.T) []string { return left(t, dir) },
		Looked: true,
		Only: []string{
			"memory", "memory_of_a_child", "processes", "disk", "cpus", "time", "build_limits", "each_run_is_fresh", "collect", "collect_follows_no_link",
			"files_are_put", "put_follows_no_link", "equal_keys_are_built_once", "nothing_of_a_build_is_left", "discard", "every_layer_is_walked", "remove",
		},
	})
}

// TestBwrapFails: a failure of bwrap itself is a fault of the machine. It has the
// exit code and the output of a command, and is neither.
func TestBwrapFails(t *testing.T) {
	s := open(t, bwrap.Options{})
	base, err := s.Base(t.Context(), sandbox.Base{})
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "bwrap")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho 'bwrap: open /proc/9/ns/ns failed'\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run := sandbox.Run{Layer: base, Command: schemas.Command{Argv: []string{"false"}}}
	if res, err := s.Run(t.Context(), run); err != nil || res.ExitCode != 1 {
		t.Fatalf("a command that fails: exit %d, %v", res.ExitCode, err)
	}
	s.Replace(program)
	if res, err := s.Run(t.Context(), run); err == nil {
		t.Errorf("bwrap failed, and the run reads %s with exit %d", res.End, res.ExitCode)
	}
	var failed *sandbox.BuildError
	_, _, err = s.Build(t.Context(), sandbox.Build{Key: "sha256:x", Parent: base, Steps: []schemas.Command{{Argv: []string{"true"}}}})
	if err == nil || errors.As(err, &failed) {
		t.Errorf("bwrap failed, and the build says %v", err)
	}
}

// TestNoBubblewrap: what is missing is refused by name, with the command that gets it.
func TestNoBubblewrap(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := bwrap.New(t.Context(), bwrap.Options{Dir: t.TempDir()})
	var refused *sandbox.Refused
	if !errors.As(err, &refused) || refused.Get != "apt-get install bubblewrap" {
		t.Errorf("error %v", err)
	}
}

// TestSweep: what a killed process left is removed by the next start, and what a
// living one uses is not.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	s := open(t, bwrap.Options{Dir: dir})
	dead := filepath.Join(dir, "bwrap", "runs", "run-dead")
	used, release := s.UsedSpace(t)
	defer release()
	if err := os.MkdirAll(filepath.Join(dead, "up", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	for _, d := range []string{dead, used} {
		if err := os.Chtimes(d, old, old); err != nil {
			t.Fatal(err)
		}
	}
	open(t, bwrap.Options{Dir: dir})
	if _, err := os.Stat(dead); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left: %v", err)
	}
	if _, err := os.Stat(used); err != nil {
		t.Errorf("in use, and removed: %v", err)
	}
}

// BenchmarkRun is the time outside the command, for a command that does nothing and
// for one that takes a while.
func BenchmarkRun(b *testing.B) {
	s := open(b, bwrap.Options{})
	sandboxtest.Benchmark(b, s)
}

func TestSandbox(t *testing.T) {
	dir := t.TempDir()
	sandboxtest.Run(t, sandboxtest.Kind{
		Open: func(t *testing.T, o sandboxtest.Options) sandbox.Sandbox {
			s := open(t, bwrap.Options{Dir: dir, CABundle: o.CABundle, Registries: o.Registries, Env: o.Env})
			t.Log(s.Describe())
			return s
		},
		Left:   func(t *testing.T) []string { return left(t, dir) },
		Looked: os.Geteuid() != 0,
	})
}

// left are scratch directories and control groups that no run needs any more.
func left(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "bwrap", "runs", "*"))
	if err != nil {
		t.Fatal(err)
	}
	groups, err := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/*/benchmint-%d-*", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	return append(names, groups...)
}

// sleeper makes this test program run a sandbox that sleeps for so many seconds.
const sleeper = "BENCHMINT_TEST_SLEEP"

func TestMain(m *testing.M) {
	if seconds := os.Getenv(sleeper); seconds != "" {
		os.Exit(sleep(os.Getenv(sleeper+"_DIR"), seconds))
	}
	os.Exit(m.Run())
}

func sleep(dir, seconds string) int {
	ctx := context.Background()
	s, err := bwrap.New(ctx, bwrap.Options{Dir: dir})
	if err != nil {
		return 1
	}
	base, err := s.Base(ctx, sandbox.Base{})
	if err != nil {
		return 1
	}
	argv := []string{"/bin/sh", "-c", "trap '' TERM INT; setsid sleep $0 & sleep $0", seconds}
	_, _ = s.Run(ctx, sandbox.Run{Layer: base, Command: schemas.Command{Argv: argv}})
	return 0
}

// TestWeAreKilled: a sandbox does not outlive us, even if we have no time to end it.
func TestWeAreKilled(t *testing.T) {
	t.Parallel()
	open(t, bwrap.Options{})
	seconds := fmt.Sprintf("%d.5555", 100000+os.Getpid())
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), sleeper+"="+seconds, sleeper+"_DIR="+t.TempDir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	inside := func() int { return len(sandboxtest.Processes("sleep " + seconds)) }
	for began := time.Now(); inside() < 2; time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatal("the sandbox did not start")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for began := time.Now(); inside() > 0; time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatalf("still alive: %q", sandboxtest.Processes("sleep "+seconds))
		}
	}
}
