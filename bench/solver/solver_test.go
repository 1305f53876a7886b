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
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchmint/benchmint/bench/internal/table"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/llm/llmtest"
	"github.com/benchmint/benchmint/internal/llm/openai"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/plugins"
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

func (j judge) test(_ context.Context, module string) (tested, error) {
	out := tested{Wanted: len(j.want) + 1, Passed: 1, Tests: []testedOne{{ID: "t.py::always", List: "PASS_TO_PASS", Status: "passed"}}}
	for file, want := range j.want {
		if module != "" && module != moduleOf(file) {
			continue
		}
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

// moduleOf is the module of tests for a file.
func moduleOf(file string) string { return "test_" + file }

// library is a solver of three files on a folder of their starters, which import each other: a
// imports c, c imports b and b imports a.
func library(t *testing.T, answer func(llmtest.Asked) llmtest.Reply) (*solver, *llmtest.Server) {
	t.Helper()
	want := map[string]string{"a.py": "A = 1\n", "b.py": "B = 1\n", "c.py": "C = 1\n"}
	folder := filepath.Join(t.TempDir(), "x__y-1.library")
	if err := worktree.Make(folder, files(t, map[string]string{"a.py": "import c\nraise\n", "b.py": "from a import A\nraise\n", "c.py": "import b\nraise\n", "t.py": "tests\n"})); err != nil {
		t.Fatal(err)
	}
	imports, err := mask.Imports(t.Context(), folder, plugins.Maskers())
	if err != nil {
		t.Fatal(err)
	}
	server := llmtest.Start(answer)
	t.Cleanup(server.Close)
	return &solver{
		choices:  choices{order: byPath, specification: none, best: 1, rounds: 3},
		provider: openai.New(server.Base(), "", time.Minute, time.Now), model: "m", maxTokens: 100, left: 20, imports: imports,
		price:    llm.Price{Rates: llm.Rates{Input: 1000, Cached: 1000, Output: 1e6}},
		units:    map[string]string{"t.py::always": "test_a.py", "t.py::a.py": "test_a.py", "t.py::b.py": "test_b.py", "t.py::c.py": "test_c.py"},
		feedback: judge{folder, want}, folder: folder, statement: "Write the bodies.", files: []string{"a.py", "b.py", "c.py"}, task: score.Task{ZeroWork: 0.25},
	}, server
}

// asked is the file that a question is about.
func asked(a llmtest.Asked) string {
	return regexp.MustCompile(`(?m)^The file (\w+\.py) now:$`).FindStringSubmatch(a.User)[1]
}

func textOf(s string) llmtest.Reply {
	b, _ := json.Marshal(map[string]string{"text": s})
	return llmtest.Reply{Text: string(b)}
}

// TestStages: a model that writes one file at once, one badly and one wrongly gets them right
// by what linters and tests say; each stage asks for the files in question alone, and has its own
// tokens and dollars. The table at the end has the paper's form.
func TestStages(t *testing.T) {
	t.Parallel()
	s, server := library(t, func(a llmtest.Asked) llmtest.Reply {
		file := asked(a)
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
	requests := server.Asked()
	if at := requests[0].Temperature; at == nil || *at != 0 {
		t.Errorf("one answer is asked for at the temperature %v", at)
	}
	var questions []string
	asks := regexp.MustCompile(`(?m)^(?:Write the missing|Linters say|These tests do not) .*$`)
	for _, a := range requests {
		questions = append(questions, asks.FindString(a.User)+" "+asked(a))
	}
	wantAsked := []string{"Write the missing bodies of a.py. a.py", "Write the missing bodies of b.py. b.py", "Write the missing bodies of c.py. c.py", "Linters say of b.py: b.py", "These tests do not pass: c.py"}
	if diff := cmp.Diff(wantAsked, questions); diff != "" {
		t.Fatal(diff)
	}
	want := []stage{
		{stage: "nothing", passed: 1, wanted: 4, rate: 0.25},
		{stage: "fill", questions: 3, passed: 3, wanted: 4, rate: 0.75, score: 0.5, Usage: llm.Usage{Output: 5 + 7 + 5}}, // a token is four bytes
		{stage: "lint", questions: 1, passed: 3, wanted: 4, rate: 0.75, score: 0.5, Usage: llm.Usage{Output: 5}},
		{stage: "test", questions: 1, passed: 4, wanted: 4, rate: 1, score: 0.75, Usage: llm.Usage{Output: 5}},
	}
	for i := range want {
		for range want[i].questions {
			want[i].Input += int64(len(requests[0].System)+len(requests[0].User)) / 4
			requests = requests[1:]
		}
		want[i].dollars = float64(want[i].Input)/1000 + float64(want[i].Output)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(stage{}), cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Error(diff)
	}
	if text := s.feedback.(judge).read("t.py"); text != "tests\n" {
		t.Errorf("the tests became %q", text)
	}
}

// TestTable1: the mean of the libraries' rates and the sum of their dollars after each stage.
func TestTable1(t *testing.T) {
	t.Parallel()
	var out table.Table
	table1(&out, "m", [][]stage{
		{{stage: "nothing", rate: 0.9}, {rate: 0.25, dollars: 1}, {rate: 0.5}, {rate: 1, dollars: 2.5}},
		{{stage: "nothing", rate: 0.9}, {rate: 0, dollars: 0.55}, {rate: 0.5}, {rate: 0.1, dollars: 1}},
	})
	var b strings.Builder
	if err := out.Print(&b); err != nil {
		t.Fatal(err)
	}
	cells := regexp.MustCompile(` {2,}`).ReplaceAllString(b.String(), "|")
	want := "|\nmodel|stage 1: pass rate %|stage 1: $|stage 2: pass rate %|stage 2: $|stage 3: pass rate %|stage 3: $|\nm|12.50|1.55|50.00|–|55.00|3.50|\n"
	if diff := cmp.Diff(want, cells); diff != "" {
		t.Error(diff)
	}
}

// TestOrders: each order asks for the files as it says, and a question shows the modules that its
// own imports, as they are at that time.
func TestOrders(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		choices
		want []string // a file, and what its question shows of another
	}{
		"topological":     {choices{order: topological, imported: true}, []string{"b.py a.py:raise", "c.py b.py:B = 1", "a.py c.py:C = 1"}},
		"path":            {choices{order: byPath, imported: true}, []string{"a.py c.py:raise", "b.py a.py:A = 1", "c.py b.py:B = 1"}},
		"random":          {choices{order: random, seed: 1, imported: true}, []string{"c.py b.py:raise", "a.py c.py:C = 1", "b.py a.py:A = 1"}},
		"another_seed":    {choices{order: random, seed: 2, imported: true}, []string{"b.py a.py:raise", "a.py c.py:raise", "c.py b.py:B = 1"}},
		"without_imports": {choices{order: byPath}, []string{"a.py", "b.py", "c.py"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, server := library(t, func(a llmtest.Asked) llmtest.Reply { return textOf(strings.ToUpper(asked(a)[:1]) + " = 1") })
			s.choices = test.choices
			s.best = 1
			s.files = s.arrange([]string{"c.py", "a.py", "b.py"}, s.imports)
			if err := s.fill(t.Context(), tested{}); err != nil {
				t.Fatal(err)
			}
			var got []string
			shows := regexp.MustCompile(`The file (\w\.py), which (\w\.py) imports:\n\n(?:(?:import|from).*\n)?(.*)\n`)
			for _, a := range server.Asked() {
				line := asked(a)
				for _, m := range shows.FindAllStringSubmatch(a.User, -1) {
					if m[2] != line {
						t.Errorf("the question about %s shows what %s imports", line, m[2])
					}
					line += " " + m[1] + ":" + m[3]
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSpecification: what a question quotes of a text of 30 chunks, of which each has a word of
// its own and one that of the module.
func TestSpecification(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 30 {
		name := fmt.Sprintf("word%02d", i)
		if i == 21 {
			name = "lathe_turn"
		}
		common := ""
		if i%2 == 0 {
			common = "common "
		}
		text.WriteString(strings.Repeat(strings.Repeat(common+name+" x", 30)[:199]+"\n", chunkBytes/200))
	}
	got := chunks(text.String())
	if len(got) != 30 || strings.Join(got, "") != text.String() {
		t.Fatalf("%d chunks", len(got))
	}
	for name, test := range map[string]struct {
		specification, module string
		want                  []int
	}{
		"bm25":        {byBM25, "def lathe_turn(): raise", []int{21}},
		"bm25_of_ten": {byBM25, "common = Lathe_Turn()", []int{0, 2, 4, 6, 8, 10, 12, 14, 16, 21}},
		"head":        {byHead, "def lathe_turn(): raise", []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
		"none":        {none, "def lathe_turn(): raise", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, server := library(t, func(llmtest.Asked) llmtest.Reply { return textOf("A = 1") })
			s.specification, s.manual = test.specification, text.String()
			if err := s.write("a.py", test.module); err != nil {
				t.Fatal(err)
			}
			if _, err := s.ask(t.Context(), "a.py", "Write it.", false); err != nil {
				t.Fatal(err)
			}
			var shown []int
			for i, chunk := range got {
				if strings.Contains(server.Asked()[0].User, chunk) {
					shown = append(shown, i)
				}
			}
			if diff := cmp.Diff(test.want, shown); diff != "" {
				t.Error(diff)
			}
		})
	}
	if out := matching([]string{"rare " + strings.Repeat("other ", 50), "rare thing", "other thing"}, "rare", 1); len(out) != 1 || out[0] != "rare thing" {
		t.Errorf("a long chunk comes before a short one: %q", out)
	}
	if out := matching([]string{"common a", "common b", "rare c", "common d"}, "common rare", 1); len(out) != 1 || out[0] != "rare c" {
		t.Errorf("a common word counts as a rare one: %q", out)
	}
}

// TestBest: of two answers to the same question the one stays with which more tests pass,
// whichever comes first. The temperature is the model's own then.
func TestBest(t *testing.T) {
	t.Parallel()
	for _, second := range []int{0, 1} {
		n := 0
		s, server := library(t, func(a llmtest.Asked) llmtest.Reply {
			n++
			return textOf(fmt.Sprintf("%s = %d", strings.ToUpper(asked(a)[:1]), 1+(n+second)%2))
		})
		s.best = 2
		if err := s.fill(t.Context(), tested{}); err != nil {
			t.Fatal(err)
		}
		requests := server.Asked()
		if len(requests) != 6 || requests[0].User != requests[1].User || requests[0].Temperature != nil {
			t.Errorf("%d requests, the first two at %v:\n%s\n%s", len(requests), requests[0].Temperature, requests[0].User, requests[1].User)
		}
		for _, file := range s.files {
			if got := s.feedback.(judge).read(file); got != strings.ToUpper(file[:1])+" = 1\n" {
				t.Errorf("second %d: %s became %q", second, file, got)
			}
		}
	}
}

// TestModulesOfTests: the last stage takes a module of tests at a time, and each as often as there
// are rounds.
func TestModulesOfTests(t *testing.T) {
	t.Parallel()
	s, server := library(t, func(a llmtest.Asked) llmtest.Reply {
		if asked(a) == "b.py" {
			return textOf("B = 1")
		}
		return textOf("wrong")
	})
	s.rounds = 2
	all, err := s.feedback.test(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.mend(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	var got []string
	failed := regexp.MustCompile(`(?m)^failed t\.py::(.*)$`)
	for _, a := range server.Asked() {
		line := asked(a) + ":"
		for _, m := range failed.FindAllStringSubmatch(a.User, -1) {
			line += " " + m[1]
		}
		got = append(got, line)
	}
	if diff := cmp.Diff([]string{"a.py: a.py", "a.py: a.py", "b.py: b.py", "c.py: c.py", "c.py: c.py"}, got); diff != "" {
		t.Error(diff)
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
	questions, unusable := 0, 0
	for _, g := range got {
		questions, unusable = questions+g.questions, unusable+g.unusable
	}
	if last := got[len(got)-1]; questions != 5 || unusable != 5 || last.score != 0 || len(server.Asked()) != 5 {
		t.Errorf("%d questions, %d unusable, %+v after %d requests", questions, unusable, last, len(server.Asked()))
	}
	if text := s.feedback.(judge).read("a.py"); text != "import c\nraise\n" {
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
