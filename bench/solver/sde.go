package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
)

// solver writes one library.
type solver struct {
	provider  llm.Provider
	model     string
	maxTokens int
	left      int // questions that may still be asked
	tries     int
	feedback  feedback

	folder, statement string
	files             []string // that are to be written, by path
	task              score.Task

	asked, unusable int
}

// stage is how far a library is after one of the stages.
type stage struct {
	stage               string
	questions, unusable int // until then
	passed, wanted      int
	score               float64
}

// solve goes through the stages of SDE-I: fill, lint, test. Their order of files is that of the
// paths: in Commit0's measurements any other did no better.
func (s *solver) solve(ctx context.Context) (done []stage, err error) {
	t, err := s.feedback.test(ctx)
	if err != nil {
		return nil, err
	}
	done = append(done, s.after("nothing", t))
	for _, do := range []struct {
		name  string
		stage func(context.Context, tested) error
	}{{"fill", s.fill}, {"lint", s.lint}, {"test", s.mend}} {
		if err := do.stage(ctx, t); err != nil {
			return done, fmt.Errorf("%s: %w", do.name, err)
		}
		if t, err = s.feedback.test(ctx); err != nil {
			return done, err
		}
		done = append(done, s.after(do.name, t))
	}
	return done, nil
}

// after is the score as benchmint eval gives it.
func (s *solver) after(name string, t tested) stage {
	lists := map[string]*schemas.Score{"FAIL_TO_PASS": {}, "PASS_TO_PASS": {}}
	for _, x := range t.Tests {
		if l := lists[x.List]; l != nil {
			if l.Want++; x.Status == string(schemas.Passed) {
				l.Passed++
			} else {
				l.Missed = append(l.Missed, x.ID)
			}
		}
	}
	g := schemas.Grade{F2P: lists["FAIL_TO_PASS"], P2P: lists["PASS_TO_PASS"]}
	return stage{name, s.asked, s.unusable, t.Passed, t.Wanted, s.task.LibraryScore(g)}
}

// fill asks for each file once.
func (s *solver) fill(ctx context.Context, _ tested) error {
	for _, file := range s.files {
		if err := s.ask(ctx, file, "Write the missing bodies of "+file+"."); err != nil {
			return err
		}
	}
	return nil
}

// lint asks for each file that a linter finds something in.
func (s *solver) lint(ctx context.Context, _ tested) error {
	found, err := s.feedback.lint(ctx)
	if err != nil {
		return err
	}
	for _, file := range s.files {
		var said []string
		for _, f := range found {
			if f.Path == file {
				said = append(said, fmt.Sprintf("%s:%d: %s %s: %s", f.Path, f.Line, f.Tool, f.Rule, f.Message))
			}
		}
		if len(said) == 0 {
			continue
		}
		if err := s.ask(ctx, file, "Linters say of "+file+":\n\n"+short(strings.Join(said, "\n"))+"\n\nMend what is wrong, and change no behaviour."); err != nil {
			return err
		}
	}
	return nil
}

// mend asks for the files that failing tests name, or all where they name none, until all tests
// pass or it was tried often enough.
func (s *solver) mend(ctx context.Context, t tested) error {
	for range s.tries {
		var said []string
		for _, x := range t.Tests {
			if x.Status != string(schemas.Passed) {
				said = append(said, x.Status+" "+x.ID+"\n"+cmp.Or(x.Trace, x.Why))
			}
		}
		if t.Limit != "" {
			said = []string{t.Limit + ": " + t.Detail}
		}
		if len(said) == 0 {
			return nil
		}
		text := strings.Join(said, "\n")
		named := slices.DeleteFunc(slices.Clone(s.files), func(f string) bool { return !strings.Contains(text, f) })
		if len(named) == 0 {
			named = s.files
		}
		for _, file := range named {
			if err := s.ask(ctx, file, "These tests do not pass:\n\n"+short(text)+"\n\nMend "+file+", where the fault is there; else leave it as it is."); err != nil {
				return err
			}
		}
		var err error
		if t, err = s.feedback.test(ctx); err != nil {
			return err
		}
	}
	return nil
}

// mostText bounds what a question quotes, in bytes, as Commit0 does.
const mostText = 10000

func short(text string) string {
	if len(text) <= mostText {
		return text
	}
	return strings.ToValidUTF8(text[:mostText], "") + "\n…"
}

const (
	system = "You write the implementation of a library whose function bodies were taken out. Signatures, documentation and tests stay as they are. You answer with the whole new text of the one file that you are asked for."
	schema = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`
)

// ask has one file written again. A model that gives no usable answer leaves it as it is.
func (s *solver) ask(ctx context.Context, file, question string) error {
	if s.left <= 0 {
		return nil
	}
	s.left--
	s.asked++
	root, err := os.OpenRoot(s.folder)
	if err != nil {
		return err
	}
	defer root.Close()
	now, err := root.ReadFile(file)
	if err != nil {
		return err
	}
	reply, err := s.provider.Complete(ctx, llm.Request{Model: s.model, Prompt: "solve", MaxTokens: s.maxTokens, Text: prompts.Text{
		System: system, Material: s.statement + "\n\nThe file " + file + " now:\n\n" + string(now), Question: question, Schema: schema,
	}})
	if llm.NoAnswer(err) {
		s.unusable++
		return nil
	}
	if err != nil {
		return err
	}
	text, err := answer(reply.Text)
	if err != nil {
		s.unusable++
		return nil
	}
	return root.WriteFile(file, text, 0o644)
}

// answer is the text of a file in a reply.
func answer(reply []byte) ([]byte, error) {
	var a struct{ Text *string }
	if err := json.Unmarshal(reply, &a); err != nil {
		return nil, err
	}
	if a.Text == nil || len(bytes.TrimSpace([]byte(*a.Text))) == 0 {
		return nil, errors.New("there is no text")
	}
	return []byte(strings.TrimRight(*a.Text, "\n") + "\n"), nil
}
