package main

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"
)

// setup gives every script a cache of its own: nothing is left on the machine,
// and nothing of it decides a result.
func setup(env *testscript.Env) error {
	env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
	env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "cache"))
	env.Setenv("NO_COLOR", "1")
	env.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	return nil
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
