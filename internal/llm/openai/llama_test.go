package openai_test

import (
	"encoding/json"
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/llm/llmtest"
	"github.com/benchmint/benchmint/internal/llm/openai"
	"github.com/benchmint/benchmint/prompts"
)

var answers = flag.Int("answers", 5, "how many answers of each prompt the real server gives")

// A real server over random weights: what it writes is nonsense in the form that was asked
// for. The bounds of texts are not asked for, since endpoints do not know them.
func TestLlama(t *testing.T) {
	t.Parallel()
	p := openai.New(llmtest.Llama(t, key), key, time.Minute, time.Now)
	all := map[string]prompts.Text{}
	classify := render(t, all, prompts.Classify, prompts.ClassifyInput{Repository: "a/b", Subject: "Read the end"})
	render(t, all, prompts.Notes, prompts.NotesInput{Repository: "a/b", Lines: []prompts.Line{{N: 1, Text: "Read the end"}}})
	render(t, all, prompts.Describe, prompts.DescribeInput{Repository: "a/b", Subject: "Read the end", Tests: []prompts.Test{{Name: "test_end"}}})
	render(t, all, prompts.Review, prompts.ReviewInput{Repository: "a/b", Statement: "I want to read the end.", Tests: []string{"test_end"}})
	render(t, all, prompts.Repair, prompts.RepairInput{Repository: "a/b", Log: "No module named 'x'"})
	lengths := map[string]int{}
	for name, text := range all {
		for i := range *answers {
			text.Question += " " // another request
			reply, err := p.Complete(t.Context(), llm.Request{Model: "tiny", Prompt: name, Text: text, MaxTokens: 600})
			var refused *llm.Refused
			if errors.As(err, &refused) && refused.Why == "length" {
				lengths[name]++ // nonsense without an end
				continue
			}
			if err != nil {
				t.Fatalf("%s %d: %v", name, i, err)
			}
			if fault := fits(text.Schema, reply.Text); fault != nil || reply.Input == 0 || reply.Output == 0 {
				t.Errorf("%s %d: %s: %v", name, i, reply.Text, fault)
			}
			if written, want := members(string(reply.Text), false), members(text.Schema, true); written[0] != want[0] || written[len(written)-1] != "suspicious" {
				t.Errorf("%s %d: written as %q, the schema has %q", name, i, written, want)
			}
		}
	}
	for name, n := range lengths {
		if n > *answers/2 {
			t.Errorf("%s: %d of %d answers have no end", name, n, *answers)
		}
	}
	t.Logf("answers of each of %d prompts: %d; without an end: %v", len(all), *answers, lengths)
	long := llm.Request{Model: "tiny", Prompt: "classify", Text: classify, MaxTokens: 100}
	long.Text.Material = strings.Repeat("x", 40000)
	var refused *llm.Refused
	if _, err := p.Complete(t.Context(), long); !errors.As(err, &refused) || refused.Why != "too_long" {
		t.Errorf("a request that is too long: %v", err)
	}
	wrong := openai.New(llmtest.Llama(t, key), "sk-other", time.Minute, time.Now)
	if _, err := wrong.Complete(t.Context(), long); err == nil || !strings.Contains(err.Error(), "is not accepted") {
		t.Errorf("another key: %v", err)
	}
}

var (
	model = flag.String("model", "", "weights (GGUF) to ask in place of SmolLM2's")
	slow  = flag.Duration("slow", 3*time.Minute, "how long one answer of a real model may take")
)

// TestRealModel asks a small real model. What it says is poor, and may have no end; its form has to
// be right: an answer fits the schema, with the evidence written before the verdict.
func TestRealModel(t *testing.T) {
	t.Parallel()
	serve := llmtest.SmolLM2
	if *model != "" {
		serve = func(t *testing.T, key string) string { return llmtest.Serve(t, *model, key) }
	}
	p := openai.New(serve(t, key), key, *slow, time.Now)
	whole := 0
	for _, subject := range []string{"Add an option to nest widgets", "Widgets no longer crash", "Release 1.2"} {
		text := render(t, map[string]prompts.Text{}, prompts.Classify, prompts.ClassifyInput{Repository: "acme/widget", Subject: subject})
		began := time.Now()
		reply, err := p.Complete(t.Context(), llm.Request{Model: "smol", Prompt: "classify", Text: text, MaxTokens: 120})
		t.Logf("%s: %d + %d tokens in %s: %v %s", subject, reply.Input, reply.Output, time.Since(began).Round(time.Second), err, reply.Text)
		var refused *llm.Refused
		if errors.As(err, &refused) && refused.Why == "length" {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", subject, err)
		}
		whole++
		if fault := fits(text.Schema, reply.Text); fault != nil {
			t.Errorf("%s: %s: %v", subject, reply.Text, fault)
		}
		quote, label := strings.Index(string(reply.Text), `"quote"`), strings.Index(string(reply.Text), `"label"`)
		if quote < 0 || label < quote {
			t.Errorf("%s: the label was written before the words that it rests on: %s", subject, reply.Text)
		}
	}
	if whole == 0 {
		t.Error("no answer is whole")
	}
}

func render[In, Answer any](t *testing.T, all map[string]prompts.Text, p prompts.Prompt[In, Answer], in In) prompts.Text {
	t.Helper()
	text, err := p.Render(in)
	if err != nil {
		t.Fatal(err)
	}
	all[p.Name()] = text
	return text
}

// fits holds an answer against a schema, the bounds of texts left out.
func fits(schema string, answer []byte) error {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		return err
	}
	unbound(&s)
	resolved, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(answer, &v); err != nil {
		return err
	}
	return resolved.Validate(v)
}

func unbound(s *jsonschema.Schema) {
	s.Pattern, s.MinLength, s.MaxLength, s.MaxItems = "", nil, nil, nil
	if s.Items != nil {
		unbound(s.Items)
	}
	for _, p := range s.Properties {
		unbound(p)
	}
}
