package describe

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// stranger drafts a fixed text, and remembers what it was given.
type stranger struct {
	draft Draft
	err   error
	given *Material
}

func (s stranger) Draft(_ context.Context, m Material) (Draft, error) {
	*s.given = m
	return s.draft, s.err
}

// TestGates_judge_any_draft: what somebody else writes about the task of a golden file
// meets the same gates as what the rules write.
func TestGates_judge_any_draft(t *testing.T) {
	t.Parallel()
	down := errors.New("model is down")
	const good = "I want to make `Reader` refuse unknown keys when it is told to be strict."
	for _, tc := range []struct {
		name   string
		file   string
		draft  Draft
		err    error
		reason schemas.Reason // "" passes
		detail string
	}{
		{name: "good", file: "leak_in_body", draft: Draft{Text: good, From: []string{"note"}, Hints: "It checks early."}},
		{name: "leak", file: "leak_in_body", draft: Draft{Text: good + " `_check_keys` does it."}, reason: schemas.LeakyStatement, detail: "the draft by m names what only the solution has: _check_keys"},
		{name: "leak_in_hints", file: "leak_in_body", draft: Draft{Text: good, Hints: "`_check_keys` does it."}, reason: schemas.LeakyStatement, detail: "_check_keys"},
		{name: "another_opening", file: "leak_in_body", draft: Draft{Text: "Please make `Reader` refuse unknown keys when it is told to be strict."}, reason: schemas.StatementForm, detail: `the draft by m does not begin with "I want to"`},
		{name: "code", file: "leak_in_body", draft: Draft{Text: good + "\n\n```python\nReader(strict=True)\n```"}, reason: schemas.StatementForm, detail: "the draft by m holds code: \"a block\""},
		{name: "line_of_code", file: "leak_in_body", draft: Draft{Text: good + "\n\nfor key in keys: check(key)"}, reason: schemas.StatementForm, detail: "holds code"},
		{name: "thin", file: "leak_in_body", draft: Draft{Text: "I want to update it."}, reason: schemas.ThinStatement, detail: "I want to update it."},
		{name: "nothing_beside_a_leak", file: "leak_in_body", draft: Draft{}, reason: schemas.LeakyStatement, detail: "every sentence names what only the solution has: "},
		{name: "nothing", file: "thin", draft: Draft{}, reason: schemas.NothingSaid, detail: "nothing of what the change says of itself can be said: "},
		{name: "uncovered", file: "uncovered", draft: Draft{Text: "I want to make readers refuse unknown keys in configuration files."}, reason: schemas.Uncovered, detail: "neither the statement nor a definition gives: "},
		{name: "no_draft_is_no_verdict", file: "leak_in_body", err: down},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w, _ := read1(t, "testdata/"+tc.file+".txtar")
			tc.draft.Provider = "m"
			d := New(&w, &w, languages, nil, Config{})
			d.drafter = stranger{tc.draft, tc.err, new(Material)}
			st, err := d.Run(context.Background(), schemas.Adequacy{StartID: w.start.ID()})
			var no *pipeline.Rejected
			switch rejected := errors.As(err, &no); {
			case tc.err != nil:
				if !errors.Is(err, tc.err) || rejected {
					t.Errorf("%v, want the fault as it is", err)
				}
			case tc.reason == "":
				// What the tests compare with and the draft leaves out stands below it.
				want := tc.draft.Text + "\n\nThe message is \"unknown key: …\", such as \"unknown key: a\"."
				if err != nil || st.Text != want || !slices.Equal(st.From, []string{"note", "literals"}) || st.Provider != "m" || st.Hints != tc.draft.Hints {
					t.Errorf("%+v, %v", st, err)
				}
			case !rejected || no.Reason != tc.reason || !strings.Contains(no.Detail(), tc.detail):
				t.Errorf("%v, want %s: %s", err, tc.reason, tc.detail)
			}
		})
	}
}

// TestMaterial is what a drafter is told: what stands below its text, what it must say,
// and what it must not say.
func TestMaterial(t *testing.T) {
	t.Parallel()
	w, _ := read1(t, "testdata/leak_in_body.txtar")
	var got Material
	d := New(&w, &w, languages, nil, Config{})
	d.drafter = stranger{Draft{}, nil, &got}
	if _, err := d.Run(context.Background(), schemas.Adequacy{StartID: w.start.ID()}); err == nil {
		t.Error("an empty draft passed")
	}
	want := Material{
		Change:    w.change,
		Interface: []schemas.Name{{Name: "strict", Kind: "parameter", Path: "kit/reader.py", Signature: "Reader.read(text, strict=False)"}},
		Required:  []string{"strict", "unknown key: …"},
		Shown:     map[string]string{"unknown key: …": "unknown key: a"},
		Base:      "# kit/reader.py, line 5\ndef read(self, text):\n        return text\n",
		Forbidden: []string{"_check_keys"},
		Tests:     []schemas.TestVerdict{{ID: "t", Class: schemas.F2P, Cause: schemas.CauseLoad}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What the interface does not state is not given, whatever kind it is of.
func TestUncovered(t *testing.T) {
	t.Parallel()
	names := []schemas.Name{{Name: "walk", Kind: "import"}, {Name: "lazy"}, {Name: "said"}, {Name: "stated", Kind: "function"}}
	st := schemas.Statement{Text: "I want to be able to use `said`.", Interface: []schemas.Name{{Name: "stated", Kind: "function"}}}
	if got := uncovered(names, st); !slices.Equal(got, []string{"lazy", "walk"}) {
		t.Errorf("%q", got)
	}
}

// TestNo_false_leaks: nothing that a statement has to say, that stands below it, or that the tests
// say themselves is ever a leak, nor is a draft of it.
func TestNo_false_leaks(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 15 {
		t.Fatal(len(files), err)
	}
	checked := 0
	for _, file := range files {
		w, _ := read1(t, file)
		task := newTask(facts{change: w.change, start: w.start, proof: w.proof, base: w.base, solution: w.solution, names: w.names()})
		sayable := slices.Concat(task.material.Required, task.code.tests.literals, slices.Collect(maps.Keys(task.code.tests.keywords)))
		for _, n := range task.material.Interface {
			sayable = append(sayable, n.Name, n.Signature, n.Path)
		}
		for _, s := range sayable {
			for _, text := range []string{s, "`" + s + "`", "I want to see \"" + s + "\" and `" + s + "()`."} {
				checked++
				if leaks := task.code.leaks(text); len(leaks) > 0 {
					t.Errorf("%s: %q leaks %q", file, text, leaks)
				}
			}
			if slices.Contains(task.material.Forbidden, s) {
				t.Errorf("%s: %q is required and forbidden", file, s)
			}
		}
	}
	if checked < 200 {
		t.Errorf("only %d texts", checked)
	}
}

// TestLeaks: what a solver may read of the solution in a text, and what not.
func TestLeaks(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"sayable", "sayable_go"} {
		w, a := read1(t, "testdata/"+file+".txtar")
		task := newTask(facts{change: w.change, start: w.start, proof: w.proof, base: w.base, solution: w.solution, names: w.names()})
		for _, f := range a.Files {
			if f.Name != "free" && f.Name != "leaks" {
				continue
			}
			for text := range strings.Lines(string(f.Data)) {
				if leaks := task.code.leaks(text); (len(leaks) > 0) != (f.Name == "leaks") {
					t.Errorf("%s: %s: %q: %q", file, f.Name, text, leaks)
				}
			}
		}
	}
}

// A message is stated once: not where the text has it with values, and never with %s.
func TestStateLiterals(t *testing.T) {
	t.Parallel()
	all, shown := []string{"failed (… …)", "no such flag …"}, map[string]string{"no such flag …": "no such flag x"}
	for text, want := range map[string]string{
		"It is said.": `The messages are "failed (… …)" and "no such flag …", such as "no such flag x".`,
		"The repr is \"failed (ValueError aaa)\".":      `The message is "no such flag …", such as "no such flag x".`,
		"It says \"no such flag y\" or `failed (A b)`.": "",
	} {
		if got := stateLiterals(text, all, shown); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A statement that sends a solver around the tests is refused; projects about tests keep their words.
func TestHonest(t *testing.T) {
	t.Parallel()
	for text, refused := range map[string]bool{
		"I want to read files.\n\n- Edit the tests so that they pass.":                  true,
		"I want to read files.\n\n- If a test fails, skip it.":                          true,
		"I want to read files. Hard-code the values that the tests expect.":             true,
		"I want to read files. The hidden tests look for `x`.":                          true,
		"Delete the failing assertions in the test suite.":                              true,
		"I want to skip tests that need a network.":                                     false,
		"Remove the cache of rewritten assertions.":                                     false,
		"I want to be able to change the tests that a plugin collects.":                 false,
		"I want to return the value that a fixture gives.":                              false,
		"Ignore tests below `node_modules` if a folder is given.":                       false,
		"I want to report which of the tests fail.\n\n- If a file is missing, skip it.": false,
	} {
		if err := honest(text); (err != nil) != refused {
			t.Errorf("%q: %v, want refused: %t", text, err, refused)
		}
	}
	if wellFormed("I want to read files. Edit the tests so that they pass.") == nil || ordered("Edit the tests so that they pass.") == nil {
		t.Error("the gates let it through")
	}
}

// A literal that is a dotted name leaks nothing where each of its parts may be said.
func TestKnown(t *testing.T) {
	t.Parallel()
	s := &solution{base: &source{}, only: map[string]bool{"Accept": false, "from_header": true, "_dump": true}, tests: uses{names: map[string]bool{"from_header": true}}}
	for literal, want := range map[string]bool{"Accept.from_header": true, "Accept._dump": false, "from_header": false, "Accept.from_header is gone": false} {
		if got := s.known(literal); got != want {
			t.Errorf("%s: %t, want %t", literal, got, want)
		}
	}
}
