package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/schemas"
)

// setup gives every script a home and a cache of its own: nothing is left on the
// machine, and nothing of it decides a result.
func setup(env *testscript.Env) error {
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "cache"))
	env.Setenv("NO_COLOR", "1")
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, name := range passed {
		if v := os.Getenv(name); v != "" {
			env.Setenv(name, v)
		}
	}
	if home, err := os.UserHomeDir(); err == nil && os.Getenv("PYENV_ROOT") == "" {
		env.Setenv("PYENV_ROOT", filepath.Join(home, ".pyenv")) // interpreters are the machine's
	}
	data, err := filepath.Abs("testdata")
	env.Setenv("DATA", data)
	return err
}

// passed are the variables by which a machine names its registries and proxies.
var passed = []string{
	"PYENV_ROOT", "GOPROXY", "GOSUMDB", "PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "SSL_CERT_FILE",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
}

// condition tells scripts which sandbox works here, by opening it as a run does.
func condition(name string) (bool, error) {
	if name != config.Bwrap && name != config.Docker {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	dir, err := os.MkdirTemp("", "benchmint-condition-")
	if err != nil {
		return false, err
	}
	defer func() { _ = removeAll(dir) }() // a temporary folder
	w := newWorld()
	w.cache = dir
	_, closer, err := w.openSandbox(context.Background(), name, config.Default())
	if err != nil {
		return false, nil
	}
	return true, closer()
}

// commands are those of ours that scripts may use.
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"code": code, "repo": repo, "lock": lock, "step": step, "interrupt": interrupt,
}

// code N PROGRAM ARG… runs a program and wants exactly this exit code; stdout and
// stderr can be looked at afterwards.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program [arg…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// repo DIR FILE builds a repository from a history in gitrepotest's form.
func repo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: repo dir history")
	}
	_, err := gitrepotest.Build(ts.MkAbs(args[0]), []byte(ts.ReadFile(args[1])))
	ts.Check(err)
}

// lock DIR holds a store as another run would, until the script ends.
func lock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lock store")
	}
	s, err := store.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(s.Lock())
	ts.Defer(func() { ts.Check(s.Close()) })
}

// step STORE FILE puts a step into a store; ${name} in it is the digest of a file
// of the script, which is kept as a blob.
func step(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: step store file.json")
	}
	s, err := store.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	var in schemas.Step
	if err := json.Unmarshal([]byte(os.Expand(ts.ReadFile(args[1]), func(text string) string {
		d, err := s.Blobs.Put([]byte(ts.ReadFile(text)))
		ts.Check(err)
		return string(d)
	})), &in); err != nil {
		ts.Fatalf("%v", fmt.Errorf("%s: %w", args[1], err))
	}
	ts.Check(s.Put(in))
}

// interrupt FILE PROGRAM ARG… starts a program, waits until it has made a file,
// interrupts it once, and wants exit code 130. What it said is in out.txt.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: interrupt file program [arg…]")
	}
	out, err := os.Create(ts.MkAbs("out.txt"))
	ts.Check(err)
	path, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(path, args[2:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), out, out
	for _, name := range append([]string{"HOME", "XDG_CACHE_HOME", "PATH", "TMPDIR", "NO_COLOR"}, passed...) {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	ts.Check(cmd.Start())
	waitFor(ts, ts.MkAbs(args[0]))
	ts.Check(cmd.Process.Signal(os.Interrupt))
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		ts.Fatalf("interrupted, it ended with %v; it said:\n%s", err, ts.ReadFile("out.txt"))
	}
	ts.Check(out.Close())
}

// waitFor waits until a program has made a file.
func waitFor(ts *testscript.TestScript, path string) {
	const patience = 3 * time.Minute // machines are shared
	for start := time.Now(); time.Since(start) < patience; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
	}
	ts.Fatalf("%s did not come", path)
}
