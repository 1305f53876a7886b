// Package dockertest gives tests a Docker engine: the one that answers, else one of
// their own, which it starts where root may and stops again.
//
// It never touches the state of an engine that somebody else runs: its own has its
// own data, socket and process files, no bridge, and no firewall rules.
package dockertest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox/docker"
)

// Engine is a running engine.
type Engine struct {
	Host string // for DOCKER_HOST; "" where the standard one answers
	dir  string
	cmd  *exec.Cmd
}

// Dir is where tests keep what is dear to make: the base system's archive.
func Dir() (string, error) {
	if dir := os.Getenv("BENCHMINT_TEST_CACHE"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "benchmint-test"), err
}

// Find gives the engine that answers, or starts one.
func Find(ctx context.Context) (*Engine, error) {
	api, answers := docker.Connect(ctx, "")
	if answers == nil {
		return &Engine{Host: os.Getenv("DOCKER_HOST")}, api.Close()
	}
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("starting an engine needs root, and %w", answers)
	}
	program, err := exec.LookPath("dockerd")
	if err != nil {
		return nil, fmt.Errorf("dockerd is not installed, and %w", answers)
	}
	return start(ctx, program)
}

func start(ctx context.Context, program string) (*Engine, error) {
	dir, err := os.MkdirTemp("", "bmdocker-") // short: it holds sockets
	if err != nil {
		return nil, err
	}
	e := &Engine{Host: "unix://" + filepath.Join(dir, "docker.sock"), dir: dir}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	e.cmd = exec.Command(program, "--host", e.Host, "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"),
		"--pidfile", filepath.Join(dir, "pid"), "--bridge=none", "--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false")
	e.cmd.Stdout, e.cmd.Stderr = log, log
	// An interrupt of the tests is not the engine's: it is stopped in order.
	e.cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	if err := e.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting an engine: %w", err)
	}
	const patience = 30 * time.Second
	for began := time.Now(); time.Since(began) < patience && ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		if api, err := docker.Connect(ctx, e.Host); err == nil {
			return e, api.Close()
		}
	}
	said, _ := os.ReadFile(log.Name())
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	return nil, errors.Join(fmt.Errorf("the engine does not answer: %s", strings.Join(lines[max(0, len(lines)-5):], " | ")), e.Stop(), ctx.Err())
}

// Stop ends an engine that Find started, with all that is its own.
func (e *Engine) Stop() error {
	if e.cmd == nil {
		return nil
	}
	_ = e.cmd.Process.Signal(unix.SIGTERM)
	ended := make(chan error, 1)
	go func() { ended <- e.cmd.Wait() }()
	const patience = 30 * time.Second
	select {
	case <-ended:
	case <-time.After(patience):
		_ = e.cmd.Process.Kill()
		<-ended
	}
	e.stopContainerd()
	unmountBelow(e.dir)
	return os.RemoveAll(e.dir)
}

// stopContainerd ends the helper of an engine that had to be killed.
func (e *Engine) stopContainerd() {
	b, err := os.ReadFile(filepath.Join(e.dir, "exec", "containerd", "containerd.pid"))
	if err != nil {
		return
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return
	}
	// Only if the number is still its own.
	if args, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(args), e.dir) {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
}

// unmountBelow takes away what a killed engine left mounted, which would hold the files.
func unmountBelow(dir string) {
	mounts, _ := os.ReadFile("/proc/self/mounts")
	lines := strings.Split(string(mounts), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if fields := strings.Fields(lines[i]); len(fields) > 1 && strings.HasPrefix(fields[1], dir+"/") {
			_ = unix.Unmount(fields[1], unix.MNT_DETACH)
		}
	}
}

var shared struct {
	once   sync.Once
	engine *Engine
	err    error
}

// Host gives the tests of one process their engine, and skips loudly where none can
// be had. The package's TestMain must be Main.
func Host(t testing.TB) string {
	t.Helper()
	shared.once.Do(func() { shared.engine, shared.err = Find(context.Background()) })
	if shared.err != nil {
		t.Skipf("NO DOCKER ENGINE: %v", shared.err)
	}
	return shared.engine.Host
}

// Main runs a package's tests and then stops the engine that they started.
func Main(m *testing.M) int {
	code := m.Run()
	if shared.engine != nil {
		if err := shared.engine.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "stopping the tests' engine:", err)
			code = max(code, 1)
		}
	}
	return code
}
