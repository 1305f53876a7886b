package describe

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/asked"
)

// several drafts one text after another, and remembers the faults that it was told.
type several struct {
	says   []any // a text, or an error
	faults []string
}

func (s *several) Draft(_ context.Context, m Material) (Draft, error) {
	s.faults = append(s.faults, m.Fault)
	next := s.says[0]
	s.says = s.says[1:]
	if err, ok := next.(error); ok {
		return Draft{}, err
	}
	return Draft{Provider: "small", Text: next.(string), From: []string{fromSubject}}, nil
}

func TestReadme(t *testing.T) {
	t.Parallel()
	s := newSource(planted(t, []tree.Entry{{Path: "README.rst", Mode: tree.ModeFile, Data: []byte("kit\n===\n\n.. image:: x.png\n\nKit reads `rows` of any size, and writes them to any file.\n\nMore.\n")}}))
	if got := s.readme(); got != "Kit reads `rows` of any size, and writes them to any file." {
		t.Errorf("%q", got)
	}
}

// What a model writes meets the gates; it is told what they refuse, and when it gives
// nothing that passes, the rules write.
func TestWith(t *testing.T) {
	t.Parallel()
	const good = "I want to make `Reader` refuse unknown keys when it is told to be strict."
	busy := &pipeline.Deferred{Resource: llm.Resource, Err: errors.New("busy")}
	for _, tc := range []struct {
		name   string
		says   []any
		by     string
		err    error
		faults []string // each a part of what was told
	}{
		{"first", []any{good}, "small", nil, []string{""}},
		{"second", []any{"Please make it strict, as it should have been from the beginning.", good}, "small", nil, []string{"", "does not begin with"}},
		{"a_leak_is_told", []any{good + " `_check_keys` does it.", good}, "small", nil, []string{"", "_check_keys"}},
		{"rules", []any{"Please.", "Please!"}, "rules", nil, []string{"", "does not begin with"}},
		{"no_answer", []any{&llm.Refused{Why: "filter"}}, "rules", nil, []string{""}},
		{"not_now", []any{busy}, "", busy, []string{""}},
	} {
		w, _ := read1(t, "testdata/leak_in_body.txtar")
		model := &several{says: tc.says}
		d := New(&w, &w, languages, nil, Config{Model: &llm.Settings{Models: []string{"small"}, Tries: 2}}).With(model, nil)
		st, err := d.Run(t.Context(), schemas.Adequacy{StartID: w.start.ID()})
		if st.Provider != tc.by || !errors.Is(err, tc.err) {
			t.Errorf("%s: by %q, %v", tc.name, st.Provider, err)
		}
		for i, part := range tc.faults {
			if i >= len(model.faults) || !strings.Contains(model.faults[i], part) {
				t.Errorf("%s: told %q, want %q in the try %d", tc.name, model.faults, part, i)
			}
		}
	}
}

// A model is given the author's texts and what it has to say and must not say.
func TestModel_asks(t *testing.T) {
	t.Parallel()
	var got llm.Request
	client := asked.Client{Client: &llm.Client{Settings: llm.Settings{Models: []string{"small"}, Tries: 1}, Provider: keeps{&got}, Ledger: blank{}, Blobs: blank{}, Now: time.Now}}
	w, _ := read1(t, "testdata/leak_in_body.txtar")
	d, err := Model{client}.Draft(t.Context(), Material{Change: w.change, Required: []string{"strict", "bad key: …"}, Shown: map[string]string{"bad key: …": "bad key: a"}, Base: "def refill(): ...", Forbidden: []string{"_check_keys"}, Interface: []schemas.Name{{Name: "refill", Kind: "function", Signature: "def refill(n=1)"}}, Fault: "too short",
		Tests:     []schemas.TestVerdict{{ID: "test_a[1]", Why: "assert 1 == 2"}, {ID: "test_a[2]"}, {ID: "test_b"}},
		TestPatch: "sha256:tests",
	})
	if err != nil || d.Provider != "small" || !d.Thin || d.Text != "I want to be able to read files. None can be read.\n\n- It reads files." || strings.Join(d.From, " ") != "note subject body tests" || strings.Join(d.Gaps, " ") != "test_b" {
		t.Errorf("%+v, %v", d, err)
	}
	for _, part := range []string{`"required": [`, `"_check_keys"`, `"function refill: def refill(n=1)"`, `"example": "bad key: a"`, `"base_code": "def refill(): ..."`, `"fault": "too short"`, `"name": "test_a"`, `"fails": "assert 1 == 2"`, `"test_changes": "+patch of sha256:tests"`, w.change.Subject} {
		if !strings.Contains(got.Text.Material, part) {
			t.Errorf("the material lacks %s", part)
		}
	}
	if got.Prompt != prompts.Describe.Name() || strings.Contains(got.Text.Question, "_check_keys is") {
		t.Errorf("%+v", got)
	}
}

// keeps answers the question of describe, and keeps it.
type keeps struct{ got *llm.Request }

func (k keeps) Complete(_ context.Context, r llm.Request) (llm.Reply, error) {
	*k.got = r
	return llm.Reply{Text: []byte(`{"appeal":"I want to be able to read files.","background":"None can be read.","requirements":["It reads\nfiles."],"covers":[{"test":"test_a","requirements":[1]},{"test":"test_b","requirements":[2]}],"thin":true,"suspicious":false}`), Model: r.Model}, nil
}

// blank is a ledger and a shelf that keep nothing.
type blank struct{}

func (blank) Intend(context.Context, schemas.Digest) (llm.Answer, error) { return llm.Answer{}, nil }
func (blank) Pay(context.Context, llm.Payment) error                     { return nil }
func (blank) Reserve(context.Context, string, float64) (bool, error)     { return true, nil }
func (blank) Put([]byte) (schemas.Digest, error)                         { return "", nil }
func (blank) Get(d schemas.Digest) ([]byte, error)                       { return []byte("+patch of " + d), nil }

// says answers every question with one text.
type says string

func (s says) Complete(_ context.Context, r llm.Request) (llm.Reply, error) {
	return llm.Reply{Text: []byte(s), Model: r.Model}, nil
}

func modelOf(answer string) Model {
	return Model{asked.Client{Client: &llm.Client{Settings: llm.Settings{Models: []string{"small"}, Tries: 1}, Provider: says(answer), Ledger: blank{}, Blobs: blank{}, Now: time.Now}}}
}

// A review counts what stands in the statement and tests that there are, and nothing else.
func TestModel_reviews(t *testing.T) {
	t.Parallel()
	const answer = `{"unfair":[{"test":"test_a","code":"name"},{"test":"test_z","code":"missing"}],"leaks":["not there"],"vague":["read files","read files"],"extra":[""],"verdict":"repair","label":"S2","suspicious":false}`
	st := schemas.Statement{Text: "I want to be able to read files."}
	m := Material{Tests: []schemas.TestVerdict{{ID: "test_a"}}}
	got, err := modelOf(answer).Review(t.Context(), m, st)
	if err != nil || len(got.Unfair) != 1 || len(got.Leaks)+len(got.Extra) != 0 || len(got.Vague) != 1 || got.Label != "S2" || got.Provider != "small" {
		t.Errorf("%+v, %v", got, err)
	}
	if fault := got.Fault(); fault != `the test test_a can fail: a name or value cannot be guessed; "read files" is vague` {
		t.Error(fault)
	}
	// Text of strangers that gives orders, and a model that says so, or obeys.
	obeys := strings.Replace(answer, `"suspicious":false`, `"suspicious":true`, 1)
	if _, err := modelOf(obeys).Review(t.Context(), m, st); !llm.NoAnswer(err) {
		t.Errorf("a suspicious text: %v", err)
	}
	draft := `{"appeal":"I want to be able to read files.","background":"","requirements":[],"covers":[],"thin":false,"suspicious":true}`
	if _, err := modelOf(draft).Draft(t.Context(), m); !llm.NoAnswer(err) {
		t.Errorf("a suspicious text: %v", err)
	}
}

// opinions review one statement after another.
type opinions struct {
	says  []schemas.Review
	asked []string
}

func (o *opinions) Review(_ context.Context, _ Material, st schemas.Statement) (schemas.Review, error) {
	o.asked = append(o.asked, st.Text)
	r := o.says[0]
	o.says = o.says[1:]
	return r, nil
}

// What a reviewer would mend is asked for again, once less than the tries; the last draft
// that passed the gates stands, with what is said of it.
func TestReviewed(t *testing.T) {
	t.Parallel()
	const first, second = "I want to make `Reader` refuse unknown keys when it is told to be strict.", "I want to make `Reader` refuse every unknown key when it is told to be strict."
	repair := schemas.Review{Verdict: "repair", Label: "S2", Vague: []string{"unknown keys"}}
	for _, tc := range []struct {
		name   string
		drafts []any
		says   []schemas.Review
		text   string
		label  string
		faults int // of the drafts, those with a fault
	}{
		{"good", []any{first}, []schemas.Review{{Verdict: "good", Label: "S0"}}, first, "S0", 0},
		{"mended", []any{first, second}, []schemas.Review{repair, {Verdict: "good", Label: "S1"}}, second, "S1", 1},
		{"never", []any{first, second}, []schemas.Review{repair, repair}, second, "S2", 1},
		{"worse", []any{first, "Please."}, []schemas.Review{repair}, first, "S2", 1},
		{"rules", []any{"Please.", "Please!"}, []schemas.Review{{Verdict: "reject", Label: "S3"}}, "", "S3", 1},
	} {
		w, _ := read1(t, "testdata/leak_in_body.txtar")
		model, reviewer := &several{says: tc.drafts}, &opinions{says: tc.says}
		d := New(&w, &w, languages, nil, Config{Model: &llm.Settings{Models: []string{"small"}, Tries: 2}}).With(model, reviewer)
		st, err := d.Run(t.Context(), schemas.Adequacy{StartID: w.start.ID()})
		if err != nil || tc.text != "" && !strings.HasPrefix(st.Text, tc.text) || st.Review == nil || st.Review.Label != tc.label || len(reviewer.says) != 0 {
			t.Errorf("%s: %q, %+v, %v", tc.name, st.Text, st.Review, err)
		}
		faults := 0
		for _, f := range model.faults {
			if f != "" {
				faults++
			}
		}
		if faults != tc.faults {
			t.Errorf("%s: faults %q", tc.name, model.faults)
		}
	}
}

// A test that no requirement covers is a gap, and is told.
func TestGaps(t *testing.T) {
	t.Parallel()
	w, _ := read1(t, "testdata/leak_in_body.txtar")
	f, err := New(&w, &w, languages, nil, Config{}).facts(t.Context(), w.start.ID())
	if err != nil {
		t.Fatal(err)
	}
	draft := Draft{Provider: "small", Text: "I want to make `Reader` refuse unknown keys when it is told to be strict.", Gaps: []string{"test_other"}}
	_, err = newTask(f).judge(draft)
	var no *pipeline.Rejected
	if !errors.As(err, &no) || no.Reason != schemas.Uncovered || !strings.Contains(no.Error(), "test_other") {
		t.Errorf("%v", err)
	}
}

// The hunks of tests that have to pass come first, imports and fixtures last, and what programs
// write about dependencies never.
func TestByWorth(t *testing.T) {
	t.Parallel()
	const a = "diff --git a/tests/a_test.py b/tests/a_test.py\n--- a/tests/a_test.py\n+++ b/tests/a_test.py\n"
	const imports, helper, test = "@@ -1,2 +1,2 @@\n-import os\n+import re\n", "@@ -9 +9 @@\n+def made(x):\n", "@@ -20 +20 @@ def other():\n+def test_made():\n+    assert made(1)\n"
	const data, sum, script = "diff --git a/tests/x.json b/tests/x.json\n--- a/tests/x.json\n+++ b/tests/x.json\n@@ -1 +1 @@\n+{}\n", "diff --git a/go.sum b/go.sum\n--- a/go.sum\n+++ b/go.sum\n@@ -1 +1 @@\n+x\n", "diff --git a/tests/p.bin b/tests/p.bin\nold mode 1\n"
	got := byWorth(sum+data+script+a+imports+helper+test, []schemas.TestVerdict{{ID: "tests/a_test.py::test_made[1:2]"}})
	if want := a + test + helper + imports + data + script; got != want {
		t.Errorf("%s", got)
	}
	if got := byWorth("+only lines", nil); got != "+only lines" {
		t.Error(got)
	}
}

func TestMessagesOf(t *testing.T) {
	t.Parallel()
	names, messages := messagesOf(Material{Required: []string{"strict", "bad: …", "no such key"}, Shown: map[string]string{"bad: …": "bad: a"}})
	if strings.Join(names, " ") != "strict" || len(messages) != 2 || messages[0].Example != "bad: a" || messages[1].Text != "no such key" {
		t.Error(names, messages)
	}
}

// The code of the base is that of functions that the change edits and the tests call.
func TestBaseCode(t *testing.T) {
	t.Parallel()
	w, _ := read1(t, "testdata/parameters.txtar")
	got := newTask(facts{change: w.change, start: w.start, proof: w.proof, base: w.base, solution: w.solution}).material.Base
	for part, want := range map[string]bool{"# kit/wait.py, line ": true, "def parse_qs(text):\n    return": true, "exp_base": true, "def split": false, "def join": false, "multiplier=1": false} {
		if strings.Contains(got, part) != want {
			t.Errorf("%q is in it: %t, in\n%s", part, !want, got)
		}
	}
}
