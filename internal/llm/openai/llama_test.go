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
	classify, err := prompts.Classify.Render(prompts.ClassifyInput{Repository: "a/b", Subject: "Read the end"})
	if err != nil {
		t.Fatal(err)
	}
	describe, err := prompts.Describe.Render(prompts.DescribeInput{Repository: "a/b", Subject: "Read the end"})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]prompts.Text{"classify": classify, "describe": describe} {
		for i := range *answers {
			text.Question += " " // another request
			reply, err := p.Complete(t.Context(), llm.Request{Model: "tiny", Prompt: name, Text: text, MaxTokens: 600})
			var refused *llm.Refused
			if errors.As(err, &refused) && refused.Why == "length" {
				continue // nonsense without an end
			}
			if err != nil {
				t.Fatalf("%s %d: %v", name, i, err)
			}
			if fault := fits(text.Schema, reply.Text); fault != nil || reply.Input == 0 || reply.Output == 0 {
				t.Errorf("%s %d: %s: %v", name, i, reply.Text, fault)
			}
		}
	}
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

// fits holds an answer against a schema, the bounds of texts left out.
func fits(schema string, answer []byte) error {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(schema), &s); err != nil {
		return err
	}
	for _, p := range s.Properties {
		p.Pattern, p.MinLength, p.MaxLength = "", nil, nil
	}
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
