package command_test

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"testing"

	"github.com/benchmint/benchmint/internal/command"
)

func TestUnanswered(t *testing.T) {
	t.Parallel()
	sh := func(script string) error { return exec.CommandContext(t.Context(), "sh", "-c", script).Run() }
	for name, tc := range map[string]struct {
		err  error
		want bool
	}{
		"no_error":      {nil, false},
		"exit_code":     {sh("exit 3"), false},
		"killed":        {fmt.Errorf("asking: %w", sh("kill -KILL $$")), true},
		"terminated":    {sh("kill -TERM $$"), true},
		"crashed":       {sh("kill -SEGV $$"), false},
		"no_program":    {exec.CommandContext(t.Context(), "/no/such/program").Run(), false},
		"no_processes":  {&exec.Error{Name: "python", Err: syscall.EAGAIN}, true},
		"another_error": {errors.New("what"), false},
	} {
		if got := command.Unanswered(tc.err); got != tc.want {
			t.Errorf("%s: %v: %t, want %t", name, tc.err, got, tc.want)
		}
	}
}
