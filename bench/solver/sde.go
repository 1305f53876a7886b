package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
)

// solver writes one library.
type solver struct {
	choices
	provider  llm.Provider
	model     string
	price     llm.Price
	maxTokens int
	left      int // questions that may still be asked
	feedback  feedback

	folder, statement string
	manual            string              // the text of the specification; "" where there is none
	files             []string            // that are to be written, in the order of writing
	imports           map[string][]string // by files
	units             map[string]string   // the files or packages of the tests, by their IDs
	task              score.Task

	spent stage // of the stage at hand
}

// stage is what one of the stages took, and how far the library is after it.
type stage struct {
	stage               string
	questions, unusable int
	llm.Usage
	dollars        float64
	passed, wanted int
	rate, score    float64 // of the tests that pass, and that without what passes with nothing done
}

// solve goes through the stages of SDE-I: fill, lint, test.
func (s *solver) solve(ctx context.Context) (done []stage, err error) {
	t, err := s.feedback.test(ctx, "")
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
		if t, err = s.feedback.test(ctx, ""); err != nil {
			return done, err
		}
		done = append(done, s.after(do.name, t))
	}
	return done, nil
}

// after ends a stage. Rate and score are as benchmint eval gives them.
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
	out := s.spent
	s.spent = stage{}
	out.stage, out.passed, out.wanted, out.rate, out.score = name, t.Passed, t.Wanted, s.task.PassRate(g), s.task.LibraryScore(g)
	return out
}

// fill asks for each file, some times over, and keeps the answer with which most tests pass; of
// several the first.
func (s *solver) fill(ctx context.Context, _ tested) error {
	for _, file := range s.files {
		var answers []string
		for range s.best {
			text, err := s.ask(ctx, file, "Write the missing bodies of "+file+".", s.best > 1)
			if err != nil {
				return err
			}
			if text != "" && !slices.Contains(answers, text) {
				answers = append(answers, text)
			}
		}
		if err := s.keepBest(ctx, file, answers); err != nil {
			return err
		}
	}
	return nil
}

func (s *solver) keepBest(ctx context.Context, file string, answers []string) error {
	if len(answers) == 0 {
		return nil
	}
	best, most := answers[0], -1
	for _, text := range answers {
		if len(answers) == 1 {
			break
		}
		if err := s.write(file, text); err != nil {
			return err
		}
		t, err := s.feedback.test(ctx, "")
		if err != nil {
			return err
		}
		if t.Passed > most {
			best, most = text, t.Passed
		}
	}
	return s.write(file, best)
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
		if err := s.rewrite(ctx, file, "Linters say of "+file+":\n\n"+short(strings.Join(said, "\n"))+"\n\nMend what is wrong, and change no behaviour."); err != nil {
			return err
		}
	}
	return nil
}

// mend takes a module of tests at a time.
func (s *solver) mend(ctx context.Context, t tested) error {
	var modules []string
	for _, x := range t.Tests {
		modules = append(modules, s.units[x.ID])
	}
	slices.Sort(modules)
	for _, module := range slices.Compact(modules) {
		if err := s.mendFor(ctx, module); err != nil {
			return fmt.Errorf("%s: %w", module, err)
		}
	}
	return nil
}

// mendFor asks for the files that failing tests of a module name, or all where they name none,
// until all its tests pass or the rounds are over.
func (s *solver) mendFor(ctx context.Context, module string) error {
	for range s.rounds {
		if s.left <= 0 {
			return nil
		}
		t, err := s.feedback.test(ctx, module)
		if err != nil {
			return err
		}
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
			if err := s.rewrite(ctx, file, "These tests do not pass:\n\n"+short(text)+"\n\nMend "+file+", where the fault is there; else leave it as it is."); err != nil {
				return err
			}
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
	return cut(text, mostText) + "\n…"
}

const (
	system = "You write the implementation of a library whose function bodies were taken out. Signatures, documentation and tests stay as they are. You answer with the whole new text of the one file that you are asked for."
	schema = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`
)

// rewrite has one file written again. A model that gives no usable answer leaves it as it is.
func (s *solver) rewrite(ctx context.Context, file, question string) error {
	text, err := s.ask(ctx, file, question, false)
	if err != nil || text == "" {
		return err
	}
	return s.write(file, text)
}

func (s *solver) write(file, text string) error {
	root, err := os.OpenRoot(s.folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.WriteFile(file, []byte(text), 0o644)
}

// ask gives the new text of a file, another one each time where it is varied; "" where the model has
// no usable answer, or no question is left.
func (s *solver) ask(ctx context.Context, file, question string, varied bool) (string, error) {
	if s.left <= 0 {
		return "", nil
	}
	s.left--
	s.spent.questions++
	root, err := os.OpenRoot(s.folder)
	if err != nil {
		return "", err
	}
	defer root.Close()
	now, err := root.ReadFile(file)
	if err != nil {
		return "", err
	}
	material, err := s.material(root, file, string(now))
	if err != nil {
		return "", err
	}
	reply, err := s.provider.Complete(ctx, llm.Request{
		Model: s.model, Prompt: "solve", MaxTokens: s.maxTokens, Varied: varied,
		Text: prompts.Text{System: system, Material: material, Question: question, Schema: schema},
	})
	s.spent.Input, s.spent.Cached, s.spent.Output = s.spent.Input+reply.Input, s.spent.Cached+reply.Cached, s.spent.Output+reply.Output
	s.spent.dollars += s.price.Cost(reply.Usage, time.Now())
	if err != nil && !llm.NoAnswer(err) {
		return "", err
	}
	text, fault := answer(reply.Text)
	if err != nil || fault != nil {
		s.spent.unusable++
		return "", nil
	}
	return text, nil
}

// answer is the text of a file in a reply.
func answer(reply []byte) (string, error) {
	var a struct{ Text *string }
	if err := json.Unmarshal(reply, &a); err != nil {
		return "", err
	}
	if a.Text == nil || strings.TrimSpace(*a.Text) == "" {
		return "", errors.New("there is no text")
	}
	return strings.TrimRight(*a.Text, "\n") + "\n", nil
}
