// Command benchmint mints coding tasks from real repositories: a git URL goes in,
// proved tasks come out. One file per verb; what a verb needs of the world is
// named in environment.go.
//
// It never decides anything about an item: the stages do.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/stages/crawl/sources"
)

// Exit codes (interface: "Everywhere").
const (
	exitOK          = 0
	exitFailed      = 1 // some items failed, or a check did not hold
	exitUsage       = 2 // configuration or needs unmet; nothing was started
	exitDeferred    = 3 // run again later
	exitInterrupted = 130
)

// ended is an end with its own exit code; a nil err has said all it had to say.
type ended struct {
	code int
	err  error
}

func (e *ended) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *ended) Unwrap() error { return e.err }

// unmet is a need that is not there: nothing was started.
func unmet(form string, args ...any) error {
	return &ended{exitUsage, fmt.Errorf(form, args...)}
}

// oneSignal is how long signals after the first count as the same one.
const oneSignal = time.Second

func main() {
	env := newWorld()
	ctx, cancel := context.WithCancel(context.Background())
	listening := make(chan struct{}) // which waits for a thread; the verbs are put together meanwhile
	go func() {
		signals := make(chan os.Signal, 2)
		signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
		close(listening)
		<-signals
		_, _ = fmt.Fprintln(env.stderr, "\ninterrupted: finishing running steps; press Ctrl-C again to stop now")
		cancel()
		// timeout(1) sends its signal to the program, and at once again to its group.
		for first := time.Now(); time.Since(first) < oneSignal; {
			<-signals
		}
		_, _ = fmt.Fprintln(env.stderr, "stopped; what is proved stays in the store, and benchmint export writes it")
		os.Exit(exitInterrupted)
	}()
	root := newRoot(env)
	<-listening
	os.Exit(execute(ctx, env, root, os.Args[1:]))
}

// execute runs one command line and gives its exit code.
func execute(ctx context.Context, env *world, root *cobra.Command, args []string) int {
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	code := codeOf(ctx, err)
	var e *ended
	stopped := ctx.Err() != nil && errors.Is(err, context.Canceled) // said when it happened
	if err != nil && !stopped && (!errors.As(err, &e) || e.err != nil) {
		report(env.stderr, err)
	}
	return code
}

func codeOf(ctx context.Context, err error) int {
	var e *ended
	var problems config.Problems
	var usage *usageError
	var refused *sources.RefusedError
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil:
		return exitInterrupted
	case store.Damaged(err):
		return exitUsage
	case errors.As(err, &e):
		return e.code
	case errors.As(err, &refused) && refused.Later:
		return exitDeferred
	case errors.As(err, &problems), errors.As(err, &usage), errors.As(err, &refused), ofMachine(err):
		return exitUsage
	}
	return exitFailed
}

// ofMachine reports whether an error is a fault of this machine's disks or of a store that is
// away: no item has an end by it, and what is to be done waits for who mends it.
func ofMachine(err error) bool {
	return errors.As(err, new(*pipeline.Halted)) || errors.As(err, new(*blob.FaultError)) ||
		slices.ContainsFunc([]error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO}, func(no error) bool { return errors.Is(err, no) })
}

// report prints every problem on a line of its own, each with the program's name
// so that a log of many programs stays readable.
func report(w io.Writer, err error) {
	var problems config.Problems
	if errors.As(err, &problems) {
		for _, p := range problems {
			_, _ = fmt.Fprintln(w, "benchmint:", lines(fmt.Sprint(p)))
		}
		return
	}
	_, _ = fmt.Fprintln(w, "benchmint:", lines(err.Error()))
	if store.Damaged(err) {
		_, _ = fmt.Fprintln(w, "benchmint: the store is damaged; put back a copy of its folder, or move it away and the next run makes a new one")
	}
}

// usageError is a command line that cannot be understood.
type usageError struct{ err error }

func (u *usageError) Error() string { return u.err.Error() }
func (u *usageError) Unwrap() error { return u.err }

// argsOf turns cobra's complaints about arguments into usage errors.
func argsOf(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return &usageError{fmt.Errorf("%s: %w (see %s --help)", cmd.CommandPath(), err, cmd.CommandPath())}
		}
		return nil
	}
}
