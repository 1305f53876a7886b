// Package suite has a model write the tests of an edit whose authors wrote none, and judges them by
// rule, in the environment of the edit: they fail at the base, pass at the solution three times, notice
// most hunks of the change, and need nothing that the words of the commits do not give.
//
// What passes is the test part of the start from then on, marked as written; its proof, its assessment
// and its statement are made as those of any other. The stage never mends an answer, and never takes a
// model that gives none, or a fault of the machine, for a verdict on the edit.
package suite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/asked"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// Version is part of the stage's fingerprint.
const Version = "1"

// runs is how often a suite passes in the solution.
const runs = 3

// Config is the stage's settings.
type Config struct {
	Tries      int            `json:"tries"`       // answers for one edit
	MinNoticed float64        `json:"min_noticed"` // share of the tried hunks, where that is more than half
	Limits     sandbox.Limits `json:"limits"`
	Allow      secrets.Allow  `json:"allow,omitempty"` // findings of package secrets that are known to be none
}

// Timeout bounds the work on one edit, of which hunks hunks are tried for each suite.
func (c Config) Timeout(hunks int) time.Duration {
	return testrun.Timeout(max(1, c.Tries)*(runs+2+2*(hunks+1)), c.Limits)
}

// Records joins what earlier stages left.
type Records interface {
	Start(id string) (schemas.Start, error)
	Change(id string) (schemas.Change, error)
}

// Repos writes the file of a suite into trees.
type Repos interface {
	Graft(ctx context.Context, repo, base string, edits []gitrepo.Edit) (string, error)
	Diff(ctx context.Context, repo, from, to string) ([]byte, error)
}

// Blobs keeps the patch of a suite.
type Blobs interface {
	Put(b []byte) (schemas.Digest, error)
}

// Noticer says which hunks of a change the FAIL_TO_PASS tests of a proof notice; assess.Assessor does.
type Noticer interface {
	Assess(ctx context.Context, c testrun.Case, proof schemas.Proof) (schemas.Adequacy, error)
}

// Names says what the names of a change are to its words, as statements are judged by it.
type Names struct {
	// Ungiven are the names and literals that the tests of a start need, that only its solution has, and
	// that the words of its commits do not give.
	Ungiven func(start schemas.Start, l lang.Language, base, solution lang.Tree, c schemas.Change) []string
	// Hidden are all names of the solution that the base lacks and the commits do not give.
	Hidden func(start schemas.Start, base, solution lang.Tree, c schemas.Change) []string
}

// Outside is everything that the stage needs beside its input.
type Outside struct {
	Records Records
	States  environment.States
	Repos   Repos
	Blobs   Blobs
	Runs    testrun.Outside
	Noticer Noticer
	Names   Names
	Model   asked.Client
}

// Writer is the stage.
type Writer struct {
	Outside
	config Config
}

var _ pipeline.Stage[schemas.Provisioned, schemas.Provisioned] = (*Writer)(nil)

// New makes the stage. The logs and reports of its runs are kept nowhere.
func New(o Outside, c Config) *Writer {
	o.Runs.Blobs = nowhere{}
	return &Writer{Outside: o, config: c}
}

type nowhere struct{}

func (nowhere) Put([]byte) (schemas.Digest, error) { return "", nil }

// Wanted reports whether an item comes to the stage.
func Wanted(p schemas.Provisioned) bool { return p.WantsSuite }

// Run gives a start the first suite that a model writes for it which every rule lets pass. A suite that
// a rule refuses is asked for again with the fault. Rejections: every reason of suite/.
func (w *Writer) Run(ctx context.Context, in schemas.Provisioned) (out schemas.Provisioned, err error) {
	if w.Model.Client == nil {
		return in, fmt.Errorf("no model is set for %s, which wants a suite", in.StartID)
	}
	e, err := w.edit(ctx, in)
	if err != nil {
		return in, err
	}
	question := e.question()
	var refused *pipeline.Rejected
	for try := range w.config.Tries {
		pipeline.Doing(ctx, "asking for a suite, %d of %d", try+1, w.config.Tries)
		answer, by, err := asked.Put(ctx, w.Model, prompts.Suite, question)
		if err == nil && answer.Suspicious {
			err = by.Suspicious(ctx)
		}
		if llm.NoAnswer(err) {
			return in, w.Model.Later(err)
		}
		if err != nil {
			return in, err
		}
		made := schemas.Suite{Provider: by.Provider, Prompt: by.Prompt + " " + by.Hash, Tries: try + 1}
		start, err := w.judge(ctx, e, answer, made)
		gate, fault := "", ""
		var own *refusal
		if errors.As(err, &own) {
			refused = own.Rejected
			gate, fault = string(refused.Reason), refused.Error()
		} else if err != nil {
			return in, err
		}
		if err := by.Judged(ctx, gate, fault); err != nil {
			return in, err
		}
		if gate == "" {
			in.Tested, in.Start = &start, schemas.DigestOf(start)
			return in, nil
		}
		question.Fault = fault
	}
	return in, refused
}

// refusal is what a rule says against a suite: the suite's own, where other rejects are the edit's.
type refusal struct{ *pipeline.Rejected }

func (r *refusal) Unwrap() error { return r.Rejected }

func refuse(reason schemas.Reason, form string, args ...any) error {
	var r *pipeline.Rejected
	errors.As(pipeline.Reject(reason, form, args...), &r)
	return &refusal{r}
}

// some counts names and gives the first ones.
func some(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}
