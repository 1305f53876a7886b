package survey_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/llm/llmtest"
	"github.com/benchmint/benchmint/internal/llm/openai"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/asked"
	"github.com/benchmint/benchmint/stages/survey"
)

// books keep answers by their requests.
type books map[schemas.Digest]llm.Answer

func (b books) Intend(_ context.Context, d schemas.Digest) (llm.Answer, error) { return b[d], nil }
func (books) Reserve(context.Context, string, float64) (bool, error)           { return true, nil }
func (b books) Pay(_ context.Context, p llm.Payment) error {
	if p.Answer != nil {
		b[p.Request] = *p.Answer
	}
	return nil
}

// surveyed surveys app, with a model where a server is given, as often as asked.
func surveyed(t *testing.T, s *llmtest.Server, tries, times int) (suites []contract.Suite, cuts []schemas.Cut, err error) {
	t.Helper()
	repo, err := gitrepo.Open(t.Context(), gitrepotest.New(t, app), "acme/notes", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { repo.Close() })
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := survey.Default()
	c.Languages = []string{"python"}
	kept := books{}
	for range times {
		stage := survey.New(one{repo}, &starter{}, blobs, c)
		if s != nil {
			stage.With(survey.Model{Client: asked.Client{Client: &llm.Client{
				Settings: llm.Settings{Models: []string{"small"}, MaxTokens: 4000, Tries: tries},
				Provider: openai.New(s.Base(), "", time.Minute, time.Now), Ledger: kept, Blobs: blobs, Now: time.Now,
			}}})
		}
		if cuts, err = stage.Run(t.Context(), schemas.Crawled{Source: schemas.Source{Repo: repo.Info()}}); err != nil {
			return nil, nil, err
		}
	}
	for _, cut := range cuts {
		if cut.Group.Suite == "" {
			continue
		}
		raw, err := blobs.Get(cut.Group.Suite)
		if err != nil {
			t.Fatal(err)
		}
		suite, err := contract.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		suites = append(suites, suite)
	}
	return suites, cuts, nil
}

func notesOf(cuts []schemas.Cut) *schemas.Group {
	for _, c := range cuts {
		if c.Group.Name == "notes" {
			return c.Group
		}
	}
	return nil
}

const nothing = `{"cases": [], "suspicious": false}`

// asks answers for the group notes with a text, and with nothing for the others.
func asks(t *testing.T, says ...string) *llmtest.Server {
	n := 0
	s := llmtest.Start(func(a llmtest.Asked) llmtest.Reply {
		if !strings.Contains(a.User, `"group": "notes"`) {
			return llmtest.Reply{Text: nothing}
		}
		n++
		return llmtest.Reply{Text: says[min(n, len(says))-1]}
	})
	t.Cleanup(s.Close)
	return s
}

func proposed(id string, route int, rest string) string {
	return fmt.Sprintf(`{"id": %q, "needs": [], "route": %d, "auth": "none", "why": "w", %s}`, id, route, rest)
}

const plainGet = `"path_params": {}, "query": {}, "body": null, "encoding": "none"`

// TestModel: what a model proposes is asked with the rest, and what is expected of it comes from
// the recording. A second survey asks nobody.
func TestModel(t *testing.T) {
	t.Parallel()
	s := asks(t, `{"cases": [`+strings.Join([]string{
		proposed("keep_long_text", 1, `"path_params": {}, "query": {}, "body": {"text": "A text of some length"}, "encoding": "json"`),
		proposed("read_long_text", 2, `"path_params": {"number": {"ref": "keep_long_text:body/id"}}, "query": {}, "body": null, "encoding": "none"`),
		proposed("read_note_zero", 2, `"path_params": {"number": 0}, "query": {}, "body": null, "encoding": "none"`),
		proposed("keep_its_number", 1, `"path_params": {}, "query": {}, "body": {"text": {"ref": "read_long_text:body/text"}}, "encoding": "json"`),
		proposed("read_broken_note", 2, `"path_params": {"number": 500}, "query": {}, "body": null, "encoding": "none"`),
		proposed("no_such_route", 7, plainGet),
		proposed("ref_to_nothing", 2, `"path_params": {"number": {"ref": "nobody:body/id"}}, "query": {}, "body": null, "encoding": "none"`),
		proposed("list_by_turns", 0, `"path_params": {}, "query": {"turn": true}, "body": null, "encoding": "none"`),
	}, ",")+`], "suspicious": false}`)
	suites, cuts, err := surveyed(t, s, 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Asked()); n != 3 { // one for each group
		t.Errorf("asked %d times", n)
	}
	got := map[string]string{}
	g := notesOf(cuts)
	for _, p := range g.Asked.Proposals {
		got[p.ID] = p.Dropped
	}
	want := map[string]string{
		"keep_long_text": "", "read_long_text": "", "read_note_zero": "", "keep_its_number": "", "read_broken_note": "it answers 500", "no_such_route": "there is no endpoint 7",
		"ref_to_nothing": "there is no case nobody before it", "list_by_turns": "the status differs: 200 and 202",
	}
	if d := cmp.Diff(want, got); d != "" || g.Asked.Provider != "small" {
		t.Errorf("by %s: %s", g.Asked.Provider, d)
	}
	cases := map[string]contract.Case{}
	for _, c := range suites[0].Groups[0].Cases {
		cases[c.ID] = c
	}
	for id, status := range map[string]int{"keep_long_text": 201, "read_long_text": 200, "read_note_zero": 404, "keep_its_number": 201} {
		if c := cases[id]; c.Kind != contract.Extra || c.Expect == nil || c.Expect.Status != status || c.Expect.Body == nil {
			t.Errorf("%s: %+v", id, c)
		}
	}
	if cases["list_by_turns"].Expect != nil || cases["read_broken_note"].ID != "" {
		t.Error("what differs is judged, or what fails is asked")
	}
	material := s.Asked()[slices.IndexFunc(s.Asked(), func(a llmtest.Asked) bool { return strings.Contains(a.User, `"group": "notes"`) })].User
	for _, part := range []string{`"path": "/api/notes/{number}"`, `"id": "create_note"`, `"body/id"`, `def get_note(number)`, `"ref": "create_note:body/id"`, `"status": 201`} {
		if !strings.Contains(material, part) {
			t.Errorf("the question lacks %s: %s", part, material)
		}
	}
}

// TestModel_without: nothing changes where nobody is asked, where the model proposes nothing or
// has no answer of the schema.
func TestModel_without(t *testing.T) {
	t.Parallel()
	rules, _, err := surveyed(t, nil, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, says := range map[string]string{
		"nothing":       nothing,
		"no_schema":     `{"cases": [{"id": "a"}], "suspicious": false}`,
		"too_many":      `{"cases": [` + strings.TrimSuffix(strings.Repeat(proposed("list_more", 0, plainGet)+",", 21), ",") + `], "suspicious": false}`,
		"long_why":      `{"cases": [` + strings.Replace(proposed("list_more", 0, plainGet), `"w"`, `"`+strings.Repeat("w", 121)+`"`, 1) + `], "suspicious": false}`,
		"another_value": `{"cases": [` + proposed("list_more", 0, `"path_params": {}, "query": {"a": {"b": "c"}}, "body": null, "encoding": "none"`) + `], "suspicious": false}`,
		"suspicious":    `{"cases": [` + proposed("list_more", 0, plainGet) + `], "suspicious": true}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			suites, cuts, err := surveyed(t, asks(t, says), 1, 1)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(rules, suites); d != "" {
				t.Error(d)
			}
			if a := notesOf(cuts).Asked; a != nil && len(a.Proposals) > 0 {
				t.Errorf("%+v", a)
			}
		})
	}
}

// TestModel_again: an answer that the schema refuses is asked for again, with what was wrong.
func TestModel_again(t *testing.T) {
	t.Parallel()
	s := asks(t, `{"cases": [{"id": "a"}], "suspicious": false}`, `{"cases": [`+proposed("list_more", 0, plainGet)+`], "suspicious": false}`)
	_, cuts, err := surveyed(t, s, 2, 1)
	if err != nil || len(s.Asked()) != 4 {
		t.Fatalf("asked %d times, %v", len(s.Asked()), err)
	}
	if a := notesOf(cuts).Asked; a == nil || len(a.Proposals) != 1 || a.Proposals[0].Dropped != "" {
		t.Errorf("%+v", a)
	}
}

// TestModel_later: a model that cannot answer now puts the survey off, and its service is stopped.
func TestModel_later(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(func(llmtest.Asked) llmtest.Reply {
		return llmtest.Reply{Status: 429, Body: `{"error":{"message":"slow down"}}`}
	})
	t.Cleanup(s.Close)
	_, _, err := surveyed(t, s, 1, 1)
	var deferred *pipeline.Deferred
	if !errors.As(err, &deferred) || deferred.Resource != llm.Resource {
		t.Errorf("error %v", err)
	}
}
