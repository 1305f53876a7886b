package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/samples"
	"github.com/benchmint/benchmint/schemas"
)

var (
	rounds = flag.Int("chaos", 1, "rounds of TestChaos")
	seed   = flag.Uint64("seed", 1, "first seed of TestChaos; each round has the next one")
)

// TestChaos: whatever the machine does to a run, the dataset is the one of an
// undisturbed run once all is well again. In each round some runs are disturbed at
// random instants, and none of them may store a verdict that the undisturbed run
// does not have.
func TestChaos(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("NOT ROOT: the disk of a round is a file system in memory, which only root can mount")
	}
	env := needs(t, "bwrap")
	calm := newRound(t, env, 0)
	began := time.Now()
	if code, out := calm.run(calm.settings(plain, "5s")); code != 0 {
		t.Fatalf("the undisturbed run ended with %d:\n%s", code, tail(out))
	}
	took := time.Since(began)
	want, verdicts := digests(t, calm.path("out")), calm.rejects()
	if len(verdicts) == 0 {
		t.Fatal("the undisturbed run rejects nothing: the comparison is empty")
	}
	held := 0
	for n := range *rounds {
		t.Run(strconv.FormatUint(*seed+uint64(n), 10), func(t *testing.T) {
			r := newRound(t, env, *seed+uint64(n))
			for hits := 0; hits < 3 && r.runs < 8; {
				if r.disturbedRun(took, verdicts) {
					hits++
				}
			}
			r.recover()
			if diff := cmp.Diff(want, digests(t, r.path("out"))); diff != "" {
				t.Errorf("the dataset is another one (-undisturbed +recovered):\n%s", diff)
			}
			if diff := cmp.Diff(verdicts, r.rejects()); diff != "" {
				t.Errorf("rejected items (-undisturbed +recovered):\n%s", diff)
			}
			if !t.Failed() {
				held++
			}
		})
	}
	t.Logf("%d of %d rounds ended with the undisturbed dataset (a run takes %.0f s)", held, *rounds, took.Seconds())
}

// round is one machine: a disk, a way to the package index, and tools in PATH,
// each of which can be taken away and given back.
type round struct {
	t     *testing.T
	rng   *rand.Rand
	dir   string // the disk: sources, cache, store and dataset
	tools string // the only folder in PATH
	gate  *gate
	env   []string
	runs  int
	other bool // a run had other settings: the store may still hold their verdicts
}

// diskSize is enough for an undisturbed run, toolchains included.
const diskSize = 3 << 30

func newRound(t *testing.T, env []string, seed uint64) *round {
	t.Helper()
	r := &round{t: t, rng: rand.New(rand.NewPCG(seed, seed)), dir: t.TempDir(), tools: t.TempDir(), gate: newGate(t)}
	if err := unix.Mount("tmpfs", r.dir, "tmpfs", 0, fmt.Sprintf("size=%d", diskSize)); err != nil {
		t.Skipf("NO MOUNT: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(r.dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmounting the disk: %v", err)
		}
	})
	r.link()
	if pyenv := pyenvOf(env); pyenv != "" {
		if err := os.Symlink(pyenv, r.path("pyenv")); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"PATH", "PYENV_ROOT", "XDG_CACHE_HOME", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "TMPDIR"} {
		env = withoutKey(env, key)
	}
	r.env = append(env, "PATH="+r.tools, "PYENV_ROOT="+r.path("pyenv"), "XDG_CACHE_HOME="+r.path("cache"), "TMPDIR="+r.path("tmp"), "HTTPS_PROXY="+r.gate.url, "HTTP_PROXY="+r.gate.url)
	if err := os.MkdirAll(r.path("tmp"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, s := range (&bench{kind: "bwrap"}).load(t, "demo-python") {
		r.write(s)
	}
	return r
}

// pyenvOf is where an environment has its interpreters, "" where there are none.
func pyenvOf(env []string) string {
	dir := filepath.Join(os.Getenv("HOME"), ".pyenv")
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, "PYENV_ROOT="); ok && v != "" {
			dir = v
		}
	}
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}

func (r *round) path(name string) string { return filepath.Join(r.dir, name) }

// write lays out the repository and its configurations: one as it is to be, and
// some that differ.
func (r *round) write(s samples.Sample) {
	r.t.Helper()
	if err := s.Build(r.path("repo")); err != nil {
		r.t.Fatal(err)
	}
	base := fmt.Sprintf("dataset: chaos\nsources:\n  - git: %s\n    name: %s\nstore: %s\noutput: %s\n", r.path("repo"), s.Repository, r.path("state"), r.path("out"))
	for name, more := range changes {
		if err := os.WriteFile(r.path(name+".yaml"), []byte(base+more), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
}

// plain is the configuration of the undisturbed run.
const plain = "plain"

// changes are the configurations by name.
var changes = map[string]string{
	plain:    "sandbox: {kind: bwrap}\n",
	"wide":   "sandbox: {kind: bwrap}\nfilters: {modifies_only: false}\n",
	"narrow": "sandbox: {kind: bwrap}\nfilters: {labels: [feature]}\n",
	"runs":   "sandbox: {kind: bwrap}\nproof: {runs: 2}\n",
	"limits": "sandbox: {kind: bwrap, memory: 1GiB}\n",
}

// settings are the arguments of a run that waits so long for what was put off.
func (r *round) settings(name, wait string) []string {
	return []string{"run", "-c", r.path(name + ".yaml"), "--wait", wait}
}

// run runs the program to its end.
func (r *round) run(args []string) (int, string) {
	r.t.Helper()
	return r.watch(args, func(context.Context, *exec.Cmd) {})
}

// watch runs the program, with something that happens meanwhile. The context of
// meanwhile ends with the program.
func (r *round) watch(args []string, meanwhile func(context.Context, *exec.Cmd)) (int, string) {
	r.t.Helper()
	path, err := program()
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = "/", r.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 10 * time.Second // children of a killed program hold its pipes
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	alive, done := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		meanwhile(alive, cmd)
	}()
	err = cmd.Wait()
	done()
	<-ended
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		r.t.Fatalf("%v\n%s", err, tail(out.String()))
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// disturbance is a fault of the machine, or a change of mind: it happens at some
// instant and is made good when the returned function is called.
type disturbance struct {
	name string
	do   func(r *round, cmd *exec.Cmd) (undo func())
}

var disturbances = []disturbance{
	{"disk_full", (*round).fillDisk},
	{"index_dies", func(r *round, _ *exec.Cmd) func() { return r.gate.shut() }},
	{"tool_leaves", (*round).hideTool},
	{"sandbox_killed", (*round).killSandbox},
	{"process_killed", func(_ *round, cmd *exec.Cmd) func() { _ = cmd.Process.Kill(); return func() {} }},
	{"interrupted", func(_ *round, cmd *exec.Cmd) func() { _ = cmd.Process.Signal(os.Interrupt); return func() {} }},
}

// disturbedRun is one run to which something happens, maybe under other settings,
// and maybe not to its end. Afterwards all is well again. It reports whether the
// disturbance came before the end.
func (r *round) disturbedRun(took time.Duration, allowed map[schemas.Reason]int) (hit bool) {
	r.t.Helper()
	r.runs++
	setting := plain
	if r.rng.IntN(2) == 0 {
		names := slices.Sorted(func(yield func(string) bool) {
			for name := range changes {
				if !yield(name) {
					return
				}
			}
		})
		setting = names[r.rng.IntN(len(names))]
	}
	args := r.settings(setting, "5s")
	if r.rng.IntN(4) == 0 {
		until := []string{"link", "classify", "resolve", "provision", "validate", "assess"}
		args = append(args, "--until", until[r.rng.IntN(len(until))])
	}
	d := disturbances[r.rng.IntN(len(disturbances))]
	// Later runs find most of the work done: early instants are likelier.
	early := r.rng.Float64()
	after := time.Duration(early * early * early * float64(took))
	hold := time.Duration(r.rng.Int64N(int64(20 * time.Second)))
	code, out := r.watch(args, func(alive context.Context, cmd *exec.Cmd) {
		if hit = wait(alive, after); !hit {
			return
		}
		undo := d.do(r, cmd)
		defer undo()
		wait(alive, hold)
	})
	r.t.Logf("%s after %.1f s for %.1f s (before the end: %t), %s: exit %d", d.name, after.Seconds(), hold.Seconds(), hit, strings.Join(args[2:], " "), code)
	if r.other = r.other || setting != plain; r.other {
		return hit
	}
	for reason, n := range r.rejects() {
		if n > allowed[reason] {
			r.t.Errorf("%s: %d items are rejected as %s, and the undisturbed run rejects %d\n%s", d.name, n, reason, allowed[reason], tail(out))
		}
	}
	return hit
}

// wait reports whether d passed before the program ended.
func wait(alive context.Context, d time.Duration) bool {
	select {
	case <-alive.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// recover runs until nothing is left to do. What was put off may want another run.
func (r *round) recover() {
	r.t.Helper()
	for try := 1; ; try++ {
		code, out := r.run(r.settings(plain, "2m"))
		if code == 0 {
			return
		}
		r.t.Logf("all is well again, try %d: exit %d\n%s", try, code, tail(out))
		if try == 3 {
			r.t.Fatal("the run does not come to its end")
		}
	}
}

// rejects are the rejected items of the store, counted by reason.
func (r *round) rejects() map[schemas.Reason]int {
	r.t.Helper()
	out := map[schemas.Reason]int{}
	if _, err := os.Stat(r.path("state")); errors.Is(err, os.ErrNotExist) {
		return out
	}
	code, text := r.run([]string{"status", "--store", r.path("state"), "--json"})
	if code != 0 {
		r.t.Fatalf("status: exit %d\n%s", code, tail(text))
	}
	var stages []struct {
		Stage    string
		Rejected map[schemas.Reason]int
	}
	if err := json.Unmarshal([]byte(text), &stages); err != nil {
		r.t.Fatalf("%v\n%s", err, tail(text))
	}
	for _, s := range stages {
		if strings.HasSuffix(s.Stage, ".build") {
			continue // its members say it
		}
		for reason, n := range s.Rejected {
			out[reason] += n
		}
	}
	return out
}

// fillDisk leaves no byte free.
func (r *round) fillDisk(_ *exec.Cmd) func() {
	name := r.path("ballast")
	f, err := os.Create(name)
	if err != nil {
		return func() {} // full already
	}
	chunk := make([]byte, 1<<20)
	for err == nil {
		_, err = f.Write(chunk)
	}
	_ = f.Close()
	return func() { _ = os.Remove(name) }
}

// links are what a run finds in PATH: the machine's own tools, each by a link.
func (r *round) link() {
	r.t.Helper()
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			// The first one wins, as in PATH.
			if err := os.Symlink(filepath.Join(dir, e.Name()), filepath.Join(r.tools, e.Name())); err != nil && !errors.Is(err, os.ErrExist) {
				r.t.Fatal(err)
			}
		}
	}
}

// hideTool takes away one of the tools that a run starts, or the interpreters.
func (r *round) hideTool(_ *exec.Cmd) func() {
	paths := []string{filepath.Join(r.tools, "git"), filepath.Join(r.tools, "bwrap"), filepath.Join(r.tools, "uv"), r.path("pyenv")}
	path := paths[r.rng.IntN(len(paths))]
	target, err := os.Readlink(path)
	if err != nil {
		return func() {} // this machine has none
	}
	_ = os.Remove(path)
	return func() { _ = os.Symlink(target, path) }
}

// killSandbox kills a process that the program has started itself, or one of a sandbox:
// bubblewrap or the command in it. What a command starts in turn is its own affair: a
// test whose child dies has failed, whoever killed it.
func (r *round) killSandbox(cmd *exec.Cmd) func() {
	var targets []int
	level := []process{{pid: cmd.Process.Pid}}
	for own := true; len(level) > 0; own = false {
		var next []process
		for _, parent := range level {
			for _, p := range children(parent) {
				next = append(next, p)
				if own || p.name == "bwrap" || parent.name == "bwrap" {
					targets = append(targets, p.pid)
				}
			}
		}
		level = next
	}
	if len(targets) > 0 {
		_ = syscall.Kill(targets[r.rng.IntN(len(targets))], syscall.SIGKILL) // it may be gone by now
	}
	return func() {}
}

type process struct {
	pid  int
	name string
}

// children are the processes that a process has started.
func children(of process) (out []process) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		// pid (name) state ppid …; a name may hold anything.
		begin, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
		fields := strings.Fields(string(text[end+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if ppid, _ := strconv.Atoi(fields[1]); ppid == of.pid {
			out = append(out, process{pid, string(text[begin+1 : end])})
		}
	}
	return out
}

// gate is the machine's proxy: the only way to the package index, until it is shut.
type gate struct {
	url string

	mu     sync.Mutex
	closed bool
	open   map[net.Conn]bool
}

func newGate(t *testing.T) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{url: "http://" + l.Addr().String(), open: map[net.Conn]bool{}}
	server := &http.Server{Handler: g, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() {
		_ = server.Close()
		g.shut()
	})
	return g
}

// shut cuts every connection and answers no further one.
func (g *gate) shut() (undo func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	for c := range g.open {
		_ = c.Close()
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.closed = false
	}
}

// add remembers a connection; false says that the gate is shut.
func (g *gate) add(c net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.open[c] = true
	}
	return !g.closed
}

func (g *gate) remove(c net.Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.open, c)
	_ = c.Close()
}

// ServeHTTP carries tunnels; package indexes are asked over TLS.
func (g *gate) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer g.remove(client)
	if !g.add(client) || req.Method != http.MethodConnect {
		return // the client sees a connection that breaks
	}
	there, err := net.DialTimeout("tcp", req.Host, time.Minute)
	if err != nil {
		return
	}
	defer g.remove(there)
	if !g.add(there) {
		return
	}
	if _, err := io.WriteString(client, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(there, buffered)
		_ = there.Close()
	}()
	_, _ = io.Copy(client, there)
}
