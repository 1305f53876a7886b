package describe

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/llm"
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
		d := New(&w, &w, languages, nil, Config{Model: &llm.Settings{Models: []string{"small"}, Tries: 2}}).With(model)
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
	desk := asked.Desk{Desk: &llm.Desk{Settings: llm.Settings{Models: []string{"small"}, Tries: 1}, Provider: keeps{&got}, Ledger: blank{}, Blobs: blank{}}, Now: time.Now}
	w, _ := read1(t, "testdata/leak_in_body.txtar")
	d, err := Model{desk}.Draft(t.Context(), Material{Change: w.change, Required: []string{"strict"}, Forbidden: []string{"_check_keys"}, Interface: []schemas.Name{{Name: "refill"}}, Fault: "too short"})
	if err != nil || d.Provider != "small" || !d.Thin || d.Text != "I want to be able to read files." || strings.Join(d.From, " ") != "note subject body" {
		t.Errorf("%+v, %v", d, err)
	}
	for _, part := range []string{`"required": [`, `"_check_keys"`, `"refill"`, `"fault": "too short"`, w.change.Subject} {
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
	return llm.Reply{Text: []byte(`{"statement":"I want to be able to read files.","thin":true}`), Model: r.Model}, nil
}

// blank is a ledger and a shelf that keep nothing.
type blank struct{}

func (blank) Intend(context.Context, schemas.Digest) (llm.Answer, error) { return llm.Answer{}, nil }
func (blank) Answered(context.Context, schemas.Digest, llm.Answer) error { return nil }
func (blank) Reserve(context.Context, string, float64) (bool, error)     { return true, nil }
func (blank) Spend(context.Context, string, float64, float64) error      { return nil }
func (blank) Put([]byte) (schemas.Digest, error)                         { return "", nil }
func (blank) Get(schemas.Digest) ([]byte, error)                         { return nil, nil }
