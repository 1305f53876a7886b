package openai_test

import (
	"context"
	"errors"
	"net/http"
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
	if a.System != "guard" || a.Material != "<data>{}</data>" || a.Question != "what?" || a.Format != "json_schema" || a.Key != key {
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

// An endpoint that does not know a form is asked in the next one, and remembered.
func TestLadder(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(func(a llmtest.Asked) llmtest.Reply {
		switch a.Format {
		case "json_schema": // as llama-cpp-python says it
			return llmtest.Reply{Status: 500, Body: `{"error":{"message":"[{'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"}]","type":"internal_server_error","code":null}}`}
		case "json_object":
			return llmtest.Reply{Status: 400, Body: `{"error":{"message":"json_object is not supported"}}`}
		}
		return llmtest.Reply{Text: "Here it is:\n```json\n{\"label\":\"fix\"}\n```"}
	})
	defer s.Close()
	p := openai.New(s.Base(), "", time.Second, time.Now)
	for range 2 {
		reply, err := p.Complete(t.Context(), request())
		if err != nil || string(reply.Text) != `{"label":"fix"}` {
			t.Errorf("%s, %v", reply.Text, err)
		}
	}
	if n := len(s.Asked()); n != 4 {
		t.Errorf("%d requests, want 3 for the first and 1 for the second", n)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	later := func(err error) bool { var l *llm.Later; return errors.As(err, &l) }
	refused := func(why string) func(error) bool {
		return func(err error) bool { var r *llm.Refused; return errors.As(err, &r) && r.Why == why }
	}
	quota := func(err error) bool { return errors.Is(err, llm.ErrQuota) }
	fault := func(err error) bool {
		return err != nil && !later(err) && !quota(err) && !llm.NoAnswer(err)
	}
	for _, tc := range []struct {
		name string
		says llmtest.Reply
		is   func(error) bool
	}{
		{"rate_limit", llmtest.Reply{Status: 429, Header: map[string]string{"Retry-After": "20"}, Body: `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`}, func(err error) bool {
			var l *llm.Later
			return errors.As(err, &l) && l.Until.Equal(now.Add(20*time.Second))
		}},
		{"quota", llmtest.Reply{Status: 429, Body: `{"error":{"message":"pay","type":"insufficient_quota","code":"insufficient_quota"}}`}, quota},
		{"no_money", llmtest.Reply{Status: 402, Body: `{"error":{"message":"pay"}}`}, quota},
		{"overloaded", llmtest.Reply{Status: 503, Body: `{"error":{"message":"busy"}}`}, later},
		{"html", llmtest.Reply{Status: 502, Body: "<html>bad gateway</html>"}, later},
		{"error_as_text", llmtest.Reply{Status: 500, Body: `{"error":"broken"}`}, later},
		{"cut", llmtest.Reply{Text: `{"label":"fix"}`, Cut: true}, later},
		{"no_choice", llmtest.Reply{Body: `{"choices":[]}`}, later},
		{"error_with_200", llmtest.Reply{Body: `{"error":{"message":"busy","code":429}}`}, later},
		{"quota_with_200", llmtest.Reply{Body: `{"error":{"message":"pay","code":"insufficient_quota"}}`}, quota},
		{"no_finish", llmtest.Reply{Text: `{"label":"fix"}`, Finish: "null"}, later},
		{"refusal", llmtest.Reply{Body: `{"choices":[{"finish_reason":"stop","message":{"content":null,"refusal":"no"}}]}`}, refused("refusal")},
		{"filter", llmtest.Reply{Text: "", Finish: "content_filter"}, refused("filter")},
		{"filter_of_the_request", llmtest.Reply{Status: 400, Body: `{"error":{"message":"The response was filtered","code":"content_filter"}}`}, refused("filter")},
		{"length", llmtest.Reply{Text: `{"lab`, Finish: "length"}, refused("length")},
		{"empty", llmtest.Reply{Text: " "}, refused("empty")},
		{"too_long", llmtest.Reply{Status: 400, Body: `{"error":{"message":"long","code":"context_length_exceeded"}}`}, refused("too_long")},
		{"too_long_of_llama", llmtest.Reply{Status: 400, Body: `{"error":{"code":400,"message":"request (9023 tokens) exceeds the available context size","type":"exceed_context_size_error"}}`}, refused("too_long")},
		{"bad_key", llmtest.Reply{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: ` + key + `"}}`}, fault},
		{"bad_key_as_detail", llmtest.Reply{Status: 401, Body: `{"detail":"Invalid API key"}`}, fault},
		{"unknown_model", llmtest.Reply{Status: 404, Body: `{"error":{"message":"no such model"}}`}, fault},
		{"redirect", llmtest.Reply{Status: http.StatusMovedPermanently, Header: map[string]string{"Location": "http://127.0.0.1:1/v1/chat/completions"}, Body: "{}"}, later},
	} {
		_, err, asked := complete(t, func(llmtest.Asked) llmtest.Reply { return tc.says })
		if !tc.is(err) {
			t.Errorf("%s: %v", tc.name, err)
		}
		if err != nil && strings.Contains(err.Error(), key) {
			t.Errorf("%s: the error has the key: %v", tc.name, err)
		}
		if len(asked) != 1 {
			t.Errorf("%s: %d requests", tc.name, len(asked))
		}
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	s := llmtest.Start(func(llmtest.Asked) llmtest.Reply { <-hold; return llmtest.Reply{} })
	defer s.Close()
	defer close(hold)
	p := openai.New(s.Base(), key, 50*time.Millisecond, time.Now)
	var l *llm.Later
	if _, err := p.Complete(t.Context(), request()); !errors.As(err, &l) {
		t.Errorf("an endpoint that hangs: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Complete(ctx, request()); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that ends: %v", err)
	}
}
