package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

// answered is one prediction of an evaluation beside its task's solution, as show and explain print it.
type answered struct {
	ID    string            `json:"id"` // ID@MODEL.SAMPLE
	State schemas.StepState `json:"state"`
	Why   string            `json:"why,omitempty"` // of a prediction without a verdict
	Cause score.Cause       `json:"cause,omitempty"`
	Grade *schemas.Grade    `json:"grade,omitempty"` // nil without a verdict
	Patch string            `json:"patch,omitempty"`
	Gold  *goldPatch        `json:"gold,omitempty"` // nil where the dataset is not there
	store *store.Store
}

// goldPatch is what the answer is held against.
type goldPatch struct {
	Patch  string   `json:"patch"`
	Beyond []string `json:"beyond"` // code files that the answer changes and the gold patch does not
	Not    []string `json:"not"`    // the reverse
	Lines  int      `json:"lines"`  // added and removed lines of code
}

// isAnswer reports whether a word names a prediction, not an item of a run.
func isAnswer(word string) bool { return strings.Contains(word, "@") }

// answerFlags are those of show and explain for predictions.
type answerFlags struct{ eval, dataset string }

// usualEval is where eval writes.
const usualEval = "benchmint-eval"

func (f *answerFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.eval, "eval", "", "`FOLDER` of the evaluation that a prediction is of (default: --store, else "+usualEval+")")
	cmd.Flags().StringVar(&f.dataset, "dataset", "", "`FOLDER` of the dataset that a prediction is for (default: the output of the configuration)")
}

// readAnswer reads a prediction of an evaluation. Close its store.
func (p *program) readAnswer(ctx context.Context, word string, f answerFlags) (_ *answered, err error) {
	c, err := p.load()
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(f.eval, "store")
	if f.eval == "" {
		if folder = filepath.Join(usualEval, "store"); c.Origin("store").Layer == config.FromFlag {
			folder = c.Store
		}
	}
	if !store.Exists(folder) {
		return nil, unmet("%s holds no evaluation; begin with: benchmint eval DATASET PREDICTIONS, or name its folder with --eval", filepath.Dir(folder))
	}
	s, err := store.Open(ctx, folder, store.Options{Now: p.now})
	if err != nil {
		return nil, &ended{exitUsage, err}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	step, ok, err := s.Step(stages.Grade, word)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, noAnswer(s, word, folder)
	}
	a := &answered{ID: word, State: step.State, Why: step.Detail, store: s}
	if made, ok := step.Output(); ok && step.State == schemas.StepDone {
		a.Grade, a.Why = &schemas.Grade{}, ""
		if err := json.Unmarshal(made.Record, a.Grade); err != nil {
			return nil, fmt.Errorf("reading the grade of %s: %w", word, err)
		}
		a.Cause, a.Patch = score.CauseOf(*a.Grade), text(s.Blobs, a.Grade.Prediction.Patch)
		if err := a.beside(f.dataset, c.Output); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// noAnswer says which predictions there are.
func noAnswer(s *store.Store, word, folder string) error {
	var keys []string
	for step, err := range s.Each(stages.Grade) {
		if err != nil {
			return err
		}
		keys = append(keys, step.Key)
	}
	return unmet("no prediction %q in %s%s", word, folder, nearest.Hint(word, keys))
}

// beside reads the gold patch of the prediction's task. A dataset that is named must be there.
func (a *answered) beside(named, usual string) error {
	dir := named
	if dir == "" {
		dir = usual
	}
	d, err := output.Read(dir)
	if err != nil {
		if named == "" {
			return nil
		}
		return &ended{exitUsage, err}
	}
	row, err := d.Row(a.Grade.Prediction.Instance)
	if err != nil {
		if named == "" {
			return nil
		}
		return &ended{exitUsage, err}
	}
	gold, err := row.GoldPatch()
	if err != nil {
		return err
	}
	files := row.Benchmint.Parts[schemas.PartCode]
	a.Gold = &goldPatch{Patch: string(gold), Beyond: less(a.Grade.Files, files), Not: less(files, a.Grade.Files), Lines: row.Benchmint.Sizes.SourceAdded + row.Benchmint.Sizes.SourceRemoved}
	return nil
}

// less are the words of a that b has not.
func less(a, b []string) []string {
	out := []string{}
	for _, x := range a {
		if !slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}

// print says what the answer came to; whole adds the patches.
func (a *answered) print(t *printer, whole, logs bool) error {
	t.line("%s", t.in(bold, a.ID))
	g := a.Grade
	if g == nil {
		t.line("  %s, no verdict", a.State)
		t.block(a.Why)
		return t.err
	}
	t.line("  %s", gradeLine(*g))
	if a.Cause != "" {
		t.line("  cause %s, error %s", a.Cause, orNone(string(g.Class)))
	}
	if g.Detail != "" {
		t.block(g.Detail)
	}
	a.missed(t)
	if a.Gold != nil {
		t.line("\n%s", t.in(bold, "beside the gold patch"))
		t.line("    the answer adds and removes %s, the gold patch %d of code", plural(changedLines(a.Patch), "line"), a.Gold.Lines)
		t.line("    files beyond it: %s", orNone(visible(strings.Join(a.Gold.Beyond, ", "))))
		t.line("    files of it that the answer leaves: %s", orNone(visible(strings.Join(a.Gold.Not, ", "))))
	}
	for _, r := range g.Runs {
		t.line("\n%s %s, exit %d, log %s", t.in(bold, r.Scope), r.End, r.ExitCode, r.Log.Short())
		if logs {
			t.block(text(a.store.Blobs, r.Log))
		}
	}
	if !whole {
		t.line("\n  benchmint show %s --logs    prints both patches and the logs", a.ID)
		return t.err
	}
	t.line("\n%s", t.in(bold, "patch"))
	t.block(a.Patch)
	if a.Gold != nil {
		t.line("\n%s", t.in(bold, "gold patch"))
		t.block(a.Gold.Patch)
	}
	return t.err
}

// missed prints each test that does not pass, and what the run said of it.
func (a *answered) missed(t *printer) {
	for _, l := range []struct {
		name  string
		score *schemas.Score
	}{{"FAIL_TO_PASS", a.Grade.F2P}, {"PASS_TO_PASS", a.Grade.P2P}} {
		if l.score == nil || len(l.score.Missed) == 0 {
			continue
		}
		t.line("\n%s", t.in(bold, fmt.Sprintf("%s: %d of %d missed", l.name, len(l.score.Missed), l.score.Want)))
		for _, id := range l.score.Missed {
			t.line("    %s", visible(id))
			if why := a.Grade.Why[id]; why != "" {
				t.block("  " + strings.ReplaceAll(why, "\n", "\n  "))
			}
		}
	}
}

func changedLines(patch string) int {
	n := 0
	for line := range strings.Lines(patch) {
		added, removed := strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++ "), strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "--- ")
		if added || removed {
			n++
		}
	}
	return n
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// printAnswer is what show and explain do for a prediction.
func (p *program) printAnswer(ctx context.Context, word string, f answerFlags, whole, logs bool) (err error) {
	a, err := p.readAnswer(ctx, word, f)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.store.Close()) }()
	if p.json {
		return p.writeJSON(a)
	}
	return a.print(p.out(), whole, logs)
}
