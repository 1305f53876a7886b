package suite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/asked"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// oracle answers every question alike, keeps no books, and has the questions.
type oracle struct {
	text  string
	err   error
	asked *[]string
}

func (o oracle) Complete(_ context.Context, r llm.Request) (llm.Reply, error) {
	*o.asked = append(*o.asked, r.Text.Material)
	return llm.Reply{Text: []byte(o.text)}, o.err
}
func (oracle) Intend(context.Context, schemas.Digest) (llm.Answer, error) { return llm.Answer{}, nil }
func (oracle) Pay(context.Context, llm.Payment) error                     { return nil }
func (oracle) Reserve(context.Context, string, float64) (bool, error)     { return true, nil }
func (oracle) Put([]byte) (schemas.Digest, error)                         { return "", nil }
func (oracle) Get(schemas.Digest) ([]byte, error)                         { return nil, nil }

// world is one edit.
type world struct{ trees states.Trees }

func (world) Start(id string) (schemas.Start, error) {
	f := schemas.PartFile{Part: schemas.PartCode, Hunks: 1}
	f.Path, f.Status = "app.py", "M"
	return schemas.Start{ChangeID: id, Kind: schemas.KindEdit, Language: "python", Commit: strings.Repeat("1", 40), Files: []schemas.PartFile{f}}, nil
}
func (world) Change(string) (schemas.Change, error) {
	return schemas.Change{Subject: "Let f be two"}, nil
}
func (w world) Of(context.Context, schemas.Start) (states.Trees, error) { return w.trees, nil }

// TestRun holds what comes of answers before anything is run: one that no rule lets pass is asked for
// again with the fault, and refused then; a model that gives none says nothing of the edit.
func TestRun(t *testing.T) {
	t.Parallel()
	at := func(code string) *tree.Tree {
		out, err := tree.New([]tree.Entry{{Path: "app.py", Mode: tree.ModeFile, Data: []byte(code)}})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	w := world{states.Trees{B: at("def f():\n    return 1\n"), S: at("def f():\n    return 1\n"), G: at("def f():\n    return 2\n"), Patch: []byte("diff --git a/app.py b/app.py\n+    return 2\n")}}
	const names = `"tests": [{"name": "test_f", "behaviour": "f is two"}], "suspicious": `
	for name, tc := range map[string]struct {
		text   string
		err    error
		reason schemas.Reason
		detail string
		asked  int
	}{
		"syntax":     {`{"content": "def test_f(:\n", ` + names + `false}`, nil, schemas.SuiteBroken, "it has a syntax error", 2},
		"other_test": {`{"content": "def test_g():\n    pass\n", ` + names + `false}`, nil, schemas.SuiteBroken, "it says what test_f tests, and has no such test", 2},
		"suspicious": {`{"content": "def test_f():\n    pass\n", ` + names + `true}`, nil, "", "", 1},
		"refusal":    {"", &llm.Refused{Why: "refusal"}, "", "", 1},
		"not_json":   {"no", nil, "", "", 1},
		"busy":       {"", &llm.Later{Err: errors.New("busy")}, "", "", 1},
		"no_budget":  {"", llm.ErrQuota, "", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := oracle{tc.text, tc.err, &[]string{}}
			client := asked.Client{Client: &llm.Client{Settings: llm.Settings{Models: []string{"small"}, Tries: 1, MaxTokens: 100}, Provider: o, Ledger: o, Blobs: o, Now: time.Now}}
			none := Names{
				Ungiven: func(schemas.Start, lang.Language, lang.Tree, lang.Tree, schemas.Change) []string { return nil },
				Hidden:  func(schemas.Start, lang.Tree, lang.Tree, schemas.Change) []string { return []string{"_two"} },
			}
			builder := &environment.Builder{Languages: map[string]lang.Language{"python": python.Language{}}}
			writer := New(Outside{Records: w, States: w, Model: client, Names: none, Runs: testrun.Outside{Builder: builder}}, Config{Tries: 2})
			_, err := writer.Run(t.Context(), schemas.Provisioned{StartID: "acme__kit-e1", WantsSuite: true})
			var rejected *pipeline.Rejected
			var deferred *pipeline.Deferred
			switch {
			case tc.reason == "" && !errors.As(err, &deferred), tc.reason == "" && errors.As(err, &rejected):
				t.Errorf("%v: it is no verdict", err)
			case tc.reason != "" && (!errors.As(err, &rejected) || rejected.Reason != tc.reason || rejected.Detail() != tc.detail):
				t.Errorf("%v, want %s: %s", err, tc.reason, tc.detail)
			}
			if len(*o.asked) != tc.asked {
				t.Errorf("asked %d times, want %d", len(*o.asked), tc.asked)
			}
			first, last := (*o.asked)[0], (*o.asked)[len(*o.asked)-1]
			for _, want := range []string{"tests/test_benchmint_11111111.py", "Let f be two", "return 1", "+    return 2", "_two"} {
				if !strings.Contains(first, want) {
					t.Errorf("the question lacks %q: %s", want, first)
				}
			}
			if strings.Contains(first, "fault") || tc.asked > 1 && !strings.Contains(last, tc.detail) {
				t.Errorf("the fault is not said: %s", last)
			}
		})
	}
}
