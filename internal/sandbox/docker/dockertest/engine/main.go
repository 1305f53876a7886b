// Command engine runs a command with a Docker engine: the one that answers, else one
// of its own, which it stops afterwards. So one engine serves all tests of a CI run:
//
//	go run ./internal/sandbox/docker/dockertest/engine go test ./...
//
// It never stops an engine that it did not start.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/benchmint/benchmint/internal/sandbox/docker/dockertest"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: engine COMMAND [ARGUMENT…]")
		os.Exit(2)
	}
	os.Exit(run(os.Args[1:]))
}

func run(argv []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	e, err := dockertest.Find(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		return 2
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = os.Environ()
	if e.Host != "" {
		cmd.Env = append(cmd.Env, "DOCKER_HOST="+e.Host)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	err = cmd.Run()
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = max(exit.ExitCode(), 1)
	} else if err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		code = 2
	}
	if err := e.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		code = max(code, 1)
	}
	return code
}
