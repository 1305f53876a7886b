package testrun_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/langtest"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// box is a sandbox that makes the env layer, or fails with a log.
type box struct {
	sandbox.Sandbox
	log string
}

func (box) Base(context.Context, sandbox.Base) (sandbox.Layer, error) { return sandbox.Layer{}, nil }

func (b box) Build(_ context.Context, build sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	if b.log == "" {
		return sandbox.Layer{ID: "env"}, sandbox.Result{}, nil
	}
	r := sandbox.Result{End: sandbox.Exited, ExitCode: 1, Output: []byte(b.log)}
	return sandbox.Layer{}, r, &sandbox.BuildError{Step: build.Steps[0], Result: r}
}

type toolchains struct{ environment.Toolchains }

func (toolchains) Get(context.Context, string, string) (sandbox.Toolchain, error) {
	return sandbox.Toolchain{}, nil
}

// TestPrepare: a case has the language of its start, the runner of its recipe and the
// recipe's environment, or an error that says which of them cannot be had.
func TestPrepare(t *testing.T) {
	t.Parallel()
	base, err := tree.New([]tree.Entry{{Path: "a.toy", Mode: tree.ModeFile, Data: []byte("a")}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, language, report, log string
		want                        string         // of an error
		reason                      schemas.Reason // of a reject
		deferred                    bool
	}{
		{name: "its_own_runner", language: "toy", report: langtest.Format},
		{name: "another_runner", language: "toy", report: langtest.ReversedFormat},
		{name: "no_language", language: "cobol", report: langtest.Format, want: `no language "cobol"`},
		{name: "no_runner", language: "toy", report: "tap", want: `report format "tap"`},
		{name: "no_environment", language: "toy", report: langtest.Format, log: "no compiler", want: "provision/build", reason: schemas.NoBuild},
		{name: "no_registry", language: "toy", report: langtest.Format, log: "error: 503 Service Unavailable", want: "503", deferred: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := testrun.Outside{Builder: &environment.Builder{
				Sandbox: box{log: tc.log}, Toolchains: toolchains{},
				Languages: map[string]lang.Language{"toy": langtest.Toy{}}, Runners: langtest.Runners(),
			}}
			s := schemas.Start{Language: tc.language, BaseDate: time.Unix(0, 0)}
			e := schemas.Environment{Recipe: schemas.Recipe{Language: "toy", Report: tc.report}}
			c, err := o.Prepare(t.Context(), s, states.Trees{B: base}, e)
			if tc.want != "" {
				var rejected *pipeline.Rejected
				if errors.As(err, &rejected) && rejected.Reason != tc.reason || err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Errorf("got %v, want %s", err, tc.want)
				}
				if deferred := (*pipeline.Deferred)(nil); errors.As(err, &deferred) != tc.deferred {
					t.Errorf("got %v, deferred wanted: %v", err, tc.deferred)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, own := c.Runner.(langtest.Toy); own != (tc.report == langtest.Format) {
				t.Errorf("the runner of %s is %T", tc.report, c.Runner)
			}
			if c.Env.ID != "env" || len(c.SealedBase) == 0 || c.Lang == nil {
				t.Errorf("case %+v", c)
			}
		})
	}
}
