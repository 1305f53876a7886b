package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/llm/llmtest"
	"github.com/benchmint/benchmint/internal/llm/openai"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/internal/worktree"
	"github.com/benchmint/benchmint/output/score"
)

func files(t *testing.T, of map[string]string) *tree.Tree {
	t.Helper()
	var entries []tree.Entry
	for path, text := range of {
		entries = append(entries, tree.Entry{Path: path, Mode: tree.ModeFile, Data: []byte(text)})
	}
	out, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// judge is feedback on a folder without a sandbox: a file passes its test where it is as it
// should be, and a linter complains of "sloppy".
type judge struct {
	folder string
	want   map[string]string
}

func (j judge) read(file string) string {
	b, err := os.ReadFile(filepath.Join(j.folder, file))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func (j judge) test(context.Context) (tested, error) {
	out := tested{Wanted: len(j.want) + 1, Passed: 1, Tests: []testedOne{{ID: "t.py::always", List: "PASS_TO_PASS", Status: "passed"}}}
	for file, want := range j.want {
		one := testedOne{ID: "t.py::" + file, List: "FAIL_TO_PASS", Status: "passed"}
		if got := strings.ReplaceAll(j.read(file), " # sloppy", ""); got != want {
			one.Status, one.Why = "failed", file+":1: wrong"
		} else {
			out.Passed++
		}
		out.Tests = append(out.Tests, one)
	}
	slices.SortFunc(out.Tests, func(a, b testedOne) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

func (j judge) lint(context.Context) ([]finding, error) {
	var out []finding
	for file := range j.want {
		if strings.Contains(j.read(file), "sloppy") {
			out = append(out, finding{Tool: "ruff", Path: file, Rule: "X1", Message: "sloppy", Line: 1})
		}
	}
	return append(out, finding{Tool: "ruff", Path: "other.py", Rule: "X1", Message: "not to be written"}), nil
}

// library is a solver of three files on a folder of their starters.
func library(t *testing.T, answer func(llmtest.Asked) llmtest.Reply) (*solver, *llmtest.Server) {
	t.Helper()
	want := map[string]string{"a.py": "A = 1\n", "b.py": "B = 1\n", "c.py": "C = 1\n"}
	folder := filepath.Join(t.TempDir(), "x__y-1.library")
	if err := worktree.Make(folder, files(t, map[string]string{"a.py": "raise\n", "b.py": "raise\n", "c.py": "raise\n", "t.py": "tests\n"})); err != nil {
		t.Fatal(err)
	}
	server := llmtest.Start(answer)
	t.Cleanup(server.Close)
	return &solver{
		provider: openai.New(server.Base(), "", time.Minute, time.Now), model: "m", maxTokens: 100, left: 20, tries: 3,
		feedback: judge{folder, want}, folder: folder, statement: "Write the bodies.", files: []string{"a.py", "b.py", "c.py"}, task: score.Task{ZeroWork: 0.25},
	}, server
}

func textOf(s string) llmtest.Reply {
	b, _ := json.Marshal(map[string]string{"text": s})
	return llmtest.Reply{Text: string(b)}
}

// TestStages: a model that writes one file at once, one badly and one wrongly gets them right
// by what linters and tests say; each stage asks for the files in question alone.
func TestStages(t *testing.T) {
	t.Parallel()
	s, server := library(t, func(a llmtest.Asked) llmtest.Reply {
		file := a.User[strings.LastIndex(a.User, ".py")-1:][:4]
		name := strings.ToUpper(file[:1])
		switch {
		case strings.Contains(a.User, "tests do not pass"), file == "a.py", strings.Contains(a.User, "Linters say"):
			return textOf(name + " = 1")
		case file == "b.py":
			return textOf(name + " = 1 # sloppy")
		}
		return textOf(name + " = 2")
	})
	got, err := s.solve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []stage{{"nothing", 0, 0, 1, 4, 0}, {"fill", 3, 0, 3, 4, 0.5}, {"lint", 4, 0, 3, 4, 0.5}, {"test", 5, 0, 4, 4, 0.75}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(stage{})); diff != "" {
		t.Error(diff)
	}
	var asked []string
	asks := regexp.MustCompile(`(?m)^(?:Write the missing|Linters say|These tests do not) .*$`)
	for _, a := range server.Asked() {
		if !strings.HasPrefix(a.User, "Write the bodies.\n\nThe file ") {
			t.Errorf("the question begins with %q", a.User)
		}
		asked = append(asked, asks.FindString(a.User))
	}
	wantAsked := []string{"Write the missing bodies of a.py.", "Write the missing bodies of b.py.", "Write the missing bodies of c.py.", "Linters say of b.py:", "These tests do not pass:"}
	if diff := cmp.Diff(wantAsked, asked); diff != "" {
		t.Error(diff)
	}
	if text := s.feedback.(judge).read("t.py"); text != "tests\n" {
		t.Errorf("the tests became %q", text)
	}
}

// TestUnusable: what is no answer leaves a file as it is and is counted, and the number of
// questions bounds what is asked.
func TestUnusable(t *testing.T) {
	t.Parallel()
	n := 0
	s, server := library(t, func(llmtest.Asked) llmtest.Reply {
		n++
		return []llmtest.Reply{{Text: "no JSON"}, {Text: "{}"}, {Text: "x", Finish: "length"}, textOf(" ")}[n%4]
	})
	s.left = 5
	got, err := s.solve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if last := got[len(got)-1]; last.questions != 5 || last.unusable != 5 || last.score != 0 || len(server.Asked()) != 5 {
		t.Errorf("%+v after %d requests", last, len(server.Asked()))
	}
	if text := s.feedback.(judge).read("a.py"); text != "raise\n" {
		t.Errorf("a.py became %q", text)
	}
}

// TestNotNow: an endpoint that fails ends the work with what was reached.
func TestNotNow(t *testing.T) {
	t.Parallel()
	s, _ := library(t, func(llmtest.Asked) llmtest.Reply {
		return llmtest.Reply{Status: http.StatusServiceUnavailable, Body: `{"error":{"message":"busy"}}`}
	})
	got, err := s.solve(t.Context())
	if err == nil || len(got) != 1 {
		t.Errorf("stages %+v, error %v", got, err)
	}
}

// TestSteps: from the starter to the solution, a file at a time.
func TestSteps(t *testing.T) {
	t.Parallel()
	base := files(t, map[string]string{"a.py": "raise\n", "b.py": "same\n", "c.py": "raise\n"})
	got, err := steps(base, files(t, map[string]string{"a.py": "1\n", "b.py": "same\n", "c.py": "2\n", "d.py": "3\n"}))
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, s := range got {
		a, _ := s.tree.Entry("a.py")
		said = append(said, fmt.Sprintf("%s %d %q", s.file, len(s.tree.Entries()), a.Data))
	}
	if diff := cmp.Diff([]string{` 3 "raise\n"`, `a.py 3 "1\n"`, `c.py 3 "1\n"`, `d.py 4 "1\n"`}, said); diff != "" {
		t.Error(diff)
	}
	if _, err := steps(base, files(t, map[string]string{"a.py": "1\n"})); err == nil {
		t.Error("files that go are not noticed")
	}
}
