package ends_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/ends"
)

func TestOf(t *testing.T) {
	t.Parallel()
	build := &sandbox.BuildError{Step: schemas.Command{Argv: []string{"make"}}, Result: sandbox.Result{End: sandbox.Exited, ExitCode: 2}}
	for _, tc := range []struct {
		name   string
		err    error
		state  schemas.StepState
		reason schemas.Reason
	}{
		{"build_failed", fmt.Errorf("env: %w", build), schemas.StepRejected, schemas.NoBuild},
		{"registry_is_down", fmt.Errorf("%w: %w", environment.ErrUnavailable, build), schemas.StepDeferred, ""},
		{"refused", &lang.Refusal{Reason: schemas.NoToolchain, Detail: "python 3.99"}, schemas.StepRejected, schemas.NoToolchain},
		{"package_cannot_be_added", fmt.Errorf("base: %w", &sandbox.PackagesError{Missing: []string{"pandoc"}}), schemas.StepRejected, schemas.NoBuild},
		{"fault_of_the_machine", errors.New("no space left on device"), schemas.StepFailed, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := ends.Of(tc.err, schemas.NoBuild)
			if state := pipeline.EndOf(context.Background(), got); state != tc.state {
				t.Errorf("%s, want %s", state, tc.state)
			}
			var rejected *pipeline.Rejected
			if errors.As(got, &rejected) && rejected.Reason != tc.reason {
				t.Errorf("reason %s, want %s", rejected.Reason, tc.reason)
			}
			if !errors.Is(got, tc.err) && tc.reason != schemas.NoToolchain {
				t.Error("the chain of causes is lost")
			}
		})
	}
}
