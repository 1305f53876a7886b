package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/llm/llmtest"
	"github.com/benchmint/benchmint/internal/llm/openai"
	"github.com/benchmint/benchmint/prompts"
)

const key = "sk-planted-in-a-test"

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func request() llm.Request {
	return llm.Request{Model: "small", Prompt: "classify", Text: prompts.Text{System: "guard", Material: "<data>{}</data>", Question: "what?", Schema: `{"type":"object"}`}, MaxTokens: 100}
}

func complete(t *testing.T, answer func(llmtest.Asked) llmtest.Reply) (llm.Reply, error, []llmtest.Asked) { //nolint:staticcheck // the error is looked at beside the rest
	t.Helper()
	s := llmtest.Start(answer)
	defer s.Close()
	reply, err := openai.New(s.Base(), key, 5*time.Second, func() time.Time { return now }).Complete(t.Context(), request())
	return reply, err, s.Asked()
}

func TestComplete(t *testing.T) {
	t.Parallel()
	reply, err, asked := complete(t, func(llmtest.Asked) llmtest.Reply { return llmtest.Reply{Text: ` {"label":"fix"} `} })
	if err != nil || string(reply.Text) != `{"label":"fix"}` || reply.Model != "small-2026" || reply.Input == 0 || reply.Output == 0 || reply.Cached != 0 {
		t.Errorf("%+v, %v", reply, err)
	}
	a := asked[0]
	if a.System != "guard" || a.User != "<data>{}</data>\n\nwhat?" || a.MaxTokens != 100 || a.Stream || a.Format != "json_schema" || a.Key != key {
		t.Errorf("%+v", a)
	}
	if a.Temperature == nil || *a.Temperature != 0 {
		t.Error("a temperature of 0 is not sent")
	}
}

// A schema with an object of free form is not said to be strict: endpoints refuse that one.
func TestStrict(t *testing.T) {
	t.Parallel()
	for schema, want := range map[string]bool{
		rendered(t, prompts.Classify, prompts.ClassifyInput{}): true, rendered(t, prompts.Describe, prompts.DescribeInput{}): true,
		rendered(t, prompts.Requests, prompts.RequestsInput{}): false,
	} {
		s := llmtest.Start(func(llmtest.Asked) llmtest.Reply { return llmtest.Reply{Text: `{}`} })
		r := request()
		r.Text.Schema = schema
		_, err := openai.New(s.Base(), key, 5*time.Second, time.Now).Complete(t.Context(), r)
		if a := s.Asked(); err != nil || len(a) != 1 || a[0].Strict != want || a[0].Format != "json_schema" {
			t.Errorf("asked %d times, %v; want strict %t of %s", len(a), err, want, schema)
		}
		s.Close()
	}
}

func rendered[In, Answer any](t *testing.T, p prompts.Prompt[In, Answer], in In) string {
	t.Helper()
	text, err := p.Render(in)
	if err != nil {
		t.Fatal(err)
	}
	return text.Schema
}

func TestCached(t *testing.T) {
	t.Parallel()
	reply, err, _ := complete(t, func(llmtest.Asked) llmtest.Reply { return llmtest.Reply{Text: `{"label":"fix"}`, Cached: 3} })
	if err != nil || reply.Usage != (llm.Usage{Input: 6, Cached: 3, Output: 4}) {
		t.Errorf("%+v, %v", reply.Usage, err)
	}
}

// An answer that is slow is not an endpoint that is busy: it was sent and may be billed.
func TestDeadline(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	s := llmtest.Start(func(llmtest.Asked) llmtest.Reply { <-hold; return llmtest.Reply{} })
	defer s.Close()
	defer close(hold)
	p := openai.New(s.Base(), key, 50*time.Millisecond, time.Now)
	if _, err := p.Complete(t.Context(), request()); !errors.Is(err, llm.ErrSlow) || !strings.Contains(err.Error(), "model.timeout") {
		t.Errorf("an endpoint that hangs: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Complete(ctx, request()); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that ends: %v", err)
	}
}

// What is sent as a schema has its members in the order of the file, without the bounds of texts:
// a constrained model writes in that order, and what it rests on comes before what it decides.
func TestSchema_keeps_its_order(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		text    string
		members string
		answer  any
	}{
		"describe": {rendered(t, prompts.Describe, prompts.DescribeInput{}), "appeal background requirements covers test requirements thin suspicious", prompts.DescribeAnswer{Covers: make([]prompts.Cover, 1)}},
		"classify": {rendered(t, prompts.Classify, prompts.ClassifyInput{}), "quote label suspicious", prompts.ClassifyAnswer{}},
		"notes":    {rendered(t, prompts.Notes, prompts.NotesInput{}), "lines n quote label suspicious", prompts.NotesAnswer{Lines: make([]prompts.LineLabel, 1)}},
		"review":   {rendered(t, prompts.Review, prompts.ReviewInput{}), "unfair test code vague leaks extra label verdict suspicious", prompts.ReviewAnswer{Unfair: make([]prompts.Unfair, 1)}},
		"repair":   {rendered(t, prompts.Repair, prompts.RepairInput{}), "quote cause edits op name value suspicious", prompts.RepairAnswer{Edits: make([]prompts.Edit, 1)}},
		"lazy":     {rendered(t, prompts.Lazy, prompts.DescribeInput{}), "instruction suspicious", prompts.LazyAnswer{}},
		"requests": {rendered(t, prompts.Requests, prompts.RequestsInput{}), "cases id why needs route path_params query auth body encoding suspicious ref", prompts.RequestsAnswer{Cases: make([]prompts.ProposedCase, 1)}},
	} {
		s := llmtest.Start(func(llmtest.Asked) llmtest.Reply { return llmtest.Reply{Text: `{}`} })
		r := request()
		r.Text.Schema = x.text
		if _, err := openai.New(s.Base(), key, 5*time.Second, time.Now).Complete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		s.Close()
		sent := string(s.Asked()[0].Schema)
		if got := strings.Join(members(sent, true), " "); got != x.members || got != strings.Join(members(x.text, true), " ") {
			t.Errorf("%s: sent %s; the file has %s; want %s", name, got, strings.Join(members(x.text, true), " "), x.members)
		}
		for _, word := range []string{`"pattern":`, `"minLength":`, `"maxLength":`} {
			if strings.Contains(sent, word) {
				t.Errorf("%s: %s is sent", name, word)
			}
		}
		answer, err := json.Marshal(x.answer)
		if got := strings.Join(members(string(answer), false), " "); err != nil || strings.TrimSuffix(x.members, " ref") != got {
			t.Errorf("%s: the examples have %s, %v", name, got, err)
		}
	}
}

// members are the names of a JSON text in their order; of a schema those of its properties alone.
func members(text string, ofSchema bool) (out []string) {
	d := json.NewDecoder(strings.NewReader(text))
	var value func(named bool)
	value = func(named bool) {
		open, _ := d.Token()
		if open != json.Delim('{') && open != json.Delim('[') {
			return
		}
		for d.More() {
			key := ""
			if open == json.Delim('{') {
				token, _ := d.Token()
				key = token.(string)
			}
			if named && key != "" {
				out = append(out, key)
			}
			value(!ofSchema || !named && key == "properties")
		}
		_, _ = d.Token()
	}
	value(!ofSchema)
	return out
}

// A property may have the name of a word that is not sent.
func TestSchema_with_a_property_of_that_name(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(func(llmtest.Asked) llmtest.Reply { return llmtest.Reply{Text: `{}`} })
	defer s.Close()
	r := request()
	r.Text.Schema = `{"type":"object","properties":{"pattern":{"type":"string","pattern":"a<","maxLength":3},"properties":{"minLength":1,"maximum":1e3}},"$defs":{"maxLength":{"enum":["pattern",null]}}}`
	const want = `{"type":"object","properties":{"pattern":{"type":"string"},"properties":{"maximum":1e3}},"$defs":{"maxLength":{"enum":["pattern",null]}}}`
	_, err := openai.New(s.Base(), key, 5*time.Second, time.Now).Complete(t.Context(), r)
	if got := string(s.Asked()[0].Schema); err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}
