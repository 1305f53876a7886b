// Package command distinguishes the answer of a program from an end that somebody else gave it.
//
// It never runs one.
package command

import (
	"errors"
	"os/exec"
	"slices"
	"syscall"
)

// Unanswered reports whether the error of a command that was run says nothing of what
// it was asked: it was killed from outside, or this machine could not start it now. An
// exit code, a crash of its own and a file that is no program are answers.
func Unanswered(err error) bool {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		status, ok := exit.Sys().(syscall.WaitStatus)
		return ok && status.Signaled() && slices.Contains(outside, status.Signal())
	}
	return slices.ContainsFunc(shortages, func(e error) bool { return errors.Is(err, e) })
}

var (
	// outside are the signals that others send to end a process.
	outside = []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
	// shortages are what a machine says that cannot start a process now.
	shortages = []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.EIO}
)
