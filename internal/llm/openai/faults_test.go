package openai_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/llm/llmtest"
	"github.com/benchmint/benchmint/internal/llm/openai"
)

// said is an error of an endpoint with a text.
func said(status int, text string) llmtest.Reply {
	return llmtest.Reply{Status: status, Body: fmt.Sprintf(`{"error":{"message":%q}}`, text)}
}

// message is an answer with a message of any form.
func message(finish, message string) llmtest.Reply {
	return llmtest.Reply{Body: fmt.Sprintf(`{"model":"small-2026","choices":[{"index":0,"finish_reason":%s,"message":%s}]}`, finish, message)}
}

const label = `{"label":"fix"}`

// stream is an answer in events.
const stream = "data: {\"model\":\"m\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n" +
	"data: {\"choices\":[{\"delta\":{\"content\":\"{\\\"label\\\":\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"\\\"fix\\\"}\"},\"finish_reason\":\"stop\"}]}\n\n" +
	"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n"

// ends of a question.
func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
func later(err error) bool             { var l *llm.Later; return errors.As(err, &l) }
func answered(err error) bool          { return err == nil }
func refused(why string) func(error) bool {
	return func(err error) bool { var r *llm.Refused; return errors.As(err, &r) && r.Why == why }
}

// broken is a fault for a person, with words that help.
func broken(words string) func(error) bool {
	return func(err error) bool {
		return err != nil && !later(err) && !errors.Is(err, llm.ErrQuota) && !llm.NoAnswer(err) && strings.Contains(err.Error(), words)
	}
}

// always says the same to each question.
func always(r llmtest.Reply) func(llmtest.Asked) llmtest.Reply {
	return func(llmtest.Asked) llmtest.Reply { return r }
}

// unless refuses what does not hold, and answers the rest.
func unless(holds func(llmtest.Asked) bool, no llmtest.Reply) func(llmtest.Asked) llmtest.Reply {
	return func(a llmtest.Asked) llmtest.Reply {
		if !holds(a) {
			return no
		}
		return llmtest.Reply{Text: label}
	}
}

// The faults of endpoints, each with the end of one question and how often it was sent for it,
// with the ladder. A second question is sent once where the first was answered.
func TestFaults_of_endpoints(t *testing.T) {
	t.Parallel()
	text := func(s string) func(llmtest.Asked) llmtest.Reply { return always(llmtest.Reply{Text: s}) }
	noSchema := func(a llmtest.Asked) bool { return a.Format != "json_schema" }
	noFormat := func(a llmtest.Asked) bool { return a.Format == "" }
	for _, tc := range []struct {
		name string
		says func(llmtest.Asked) llmtest.Reply
		end  func(error) bool
		sent int
	}{
		// Answers that are read, however they come.
		{"fenced", text("Here it is:\n```json\n" + label + "\n```\nGood luck!"), answered, 1},
		{"thought", text("<think>Is {it} a {\"label\":\"other\"}?</think>\n" + label), answered, 1},
		{"thought_and_fence", text("a {brace}</think>```\n" + label + "\n```"), answered, 1},
		{"braces_before_it", text("Is {it} a fix, or a {label: other}? " + label), answered, 1},
		{"twice", text(label + "\n" + `{"label":"other"}`), answered, 1},
		{"reasoning_beside_it", always(message(`"stop"`, `{"content":"{\"label\":\"fix\"}","reasoning_content":"{\"label\":\"other\"}"}`)), answered, 1},
		{"in_reasoning_content", always(message(`"stop"`, `{"content":null,"reasoning_content":"so: {\"label\":\"fix\"}"}`)), answered, 1},
		{"as_parts", always(message(`"stop"`, `{"content":[{"type":"text","text":"{\"label\":"},{"type":"text","text":"\"fix\"}"}]}`)), answered, 1},
		{"finish_null", always(message(`null`, `{"content":"{\"label\":\"fix\"}"}`)), answered, 1},
		{"finish_eos", always(llmtest.Reply{Text: label, Finish: "eos"}), answered, 1},
		{"finish_end_turn", always(llmtest.Reply{Text: label, Finish: "end_turn"}), answered, 1},
		{"finish_length_but_whole", always(llmtest.Reply{Text: "```\n" + label + "\n```", Finish: "length"}), answered, 1},
		{"stream_alone", always(llmtest.Reply{Header: map[string]string{"Content-Type": "text/event-stream"}, Body: stream}), answered, 1},
		{"odd_usage", always(llmtest.Reply{Body: `{"choices":[{"message":{"content":"{\"label\":\"fix\"}"}}],"usage":{"prompt_tokens":"many","prompt_tokens_details":null}}`}), answered, 1},

		// Answers that are none.
		{"refusal", always(message(`"stop"`, `{"content":null,"refusal":"no"}`)), refused("refusal"), 1},
		{"filter", always(llmtest.Reply{Finish: "content_filter"}), refused("filter"), 1},
		{"filter_of_the_request", always(llmtest.Reply{Status: 400, Body: `{"error":{"message":"The response was filtered","code":"content_filter"}}`}), refused("filter"), 1},
		{"length", always(llmtest.Reply{Text: `{"lab`, Finish: "length"}), refused("length"), 1},
		{"length_after_an_object", always(llmtest.Reply{Text: `Not {"label":"other"}, but {"lab`, Finish: "length"}), refused("length"), 1},
		{"thought_without_an_end", always(llmtest.Reply{Text: "<think>perhaps " + label, Finish: "length"}), refused("length"), 1},
		{"thoughts_alone", always(message(`"stop"`, `{"content":"","reasoning_content":"{\"label\":\"other\"} or not"}`)), refused("empty"), 1},
		{"empty", always(llmtest.Reply{Text: " "}), refused("empty"), 1},

		// The ladder.
		{"no_json_schema", unless(noSchema, said(400, "'response_format.type' must be json_object")), answered, 2},
		{"no_json_schema_422", unless(noSchema, llmtest.Reply{Status: 422, Body: `{"detail":[{"loc":["body","response_format"],"msg":"unexpected"}]}`}), answered, 2},
		{"no_json_schema_of_deepseek", unless(noSchema, said(400, "This response_format type is unavailable now")), answered, 2},
		{"no_json_schema_of_llama_cpp_python", unless(noSchema, said(500, "[{'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"}]")), answered, 2},
		{"no_format", unless(noFormat, said(400, "json_object is not supported")), answered, 3},
		{"a_word_of_the_schema", unless(noSchema, said(400, "Invalid schema: 'maxItems' is not permitted")), answered, 2},
		{"a_grammar", unless(noSchema, said(500, "Failed to parse grammar")), answered, 2},
		{"says_nothing", unless(noFormat, said(400, "bad request")), answered, 3},
		{"temperature", unless(func(a llmtest.Asked) bool { return a.Temperature == nil }, said(400, "Unsupported value: 'temperature' does not support 0 with this model.")), answered, 2},
		{"max_completion_tokens_and_temperature", unless(func(a llmtest.Asked) bool { return a.Temperature == nil && a.MaxTokens == 0 },
			said(400, "Unsupported parameter: 'max_tokens' or 'temperature' is not supported with this model. Use 'max_completion_tokens' instead.")), answered, 3},
		{"turns", unless(func(a llmtest.Asked) bool { return a.System == "" }, said(400, "Conversation roles must alternate user/assistant/user/assistant/...")), answered, 2},
		{"a_template_of_llama_cpp", unless(func(a llmtest.Asked) bool { return a.System == "" }, said(500, "Unable to generate parser for this template. Automatic parser generation failed")), answered, 2},
		{"no_system_role", unless(func(a llmtest.Asked) bool { return a.System == "" }, said(400, "System role not supported")), answered, 2},
		{"stream_is_asked_for", func(a llmtest.Asked) llmtest.Reply {
			if !a.Stream {
				return said(400, "This model only supports stream mode, please enable the stream parameter")
			}
			return llmtest.Reply{Body: stream}
		}, answered, 2},
		{"everything", unless(func(a llmtest.Asked) bool {
			return a.Format+a.System == "" && a.Temperature == nil && a.MaxTokens == 0 && a.Stream
		}, said(400, "no")), answered, 8},

		// Too long.
		{"context_of_openai", always(llmtest.Reply{Status: 400, Body: `{"error":{"message":"long","code":"context_length_exceeded"}}`}), refused("too_long"), 1},
		{"context_of_vllm", always(said(400, "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens")), refused("too_long"), 1},
		{"context_of_vllm_2", always(said(400, "The decoder prompt (length 9023) is longer than the maximum model length of 4096.")), refused("too_long"), 1},
		{"context_of_sglang", always(said(400, "The input (9023 tokens) is longer than the model's context length (4096 tokens).")), refused("too_long"), 1},
		{"context_of_tgi", always(llmtest.Reply{Status: 422, Body: `{"error":"Input validation error: ` + "`inputs` tokens + `max_new_tokens`" + ` must be <= 4096. Given: 9023","error_type":"validation"}`}), refused("too_long"), 1},
		{"context_of_llama_cpp", always(llmtest.Reply{Status: 400, Body: `{"error":{"code":400,"message":"request (9023 tokens) exceeds the available context size","type":"exceed_context_size_error"}}`}), refused("too_long"), 1},
		{"context_of_lm_studio", always(said(400, "Trying to keep the first 9023 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens")), refused("too_long"), 1},
		{"context_of_ollama", always(said(400, "the input length exceeds the context length")), refused("too_long"), 1},
		{"context_of_anthropic", always(said(400, "prompt is too long: 209023 tokens > 200000 maximum")), refused("too_long"), 1},
		{"context_of_gemini", always(llmtest.Reply{Status: 400, Body: `[{"error":{"code":400,"message":"The input token count (1209023) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`}), refused("too_long"), 1},

		// Faults for a person.
		{"key", always(said(401, "Incorrect API key provided: "+key)), broken("OPENAI_API_KEY"), 1},
		{"key_as_detail", always(llmtest.Reply{Status: 401, Body: `{"detail":"Invalid API key"}`}), broken("OPENAI_API_KEY"), 1},
		{"model_of_openai", always(said(404, "The model `small` does not exist or you do not have access to it.")), broken(`model.name: `), 1},
		{"model_of_ollama", always(said(404, `model "small" not found, try pulling it first`)), broken(`model.name: `), 1},
		{"model_of_deepseek", always(said(400, "Model Not Exist")), broken(`model.name: `), 1},
		{"path", always(llmtest.Reply{Status: 404, Body: "404 page not found"}), broken("model.endpoint: "), 1},
		{"page", always(llmtest.Reply{Body: "<!doctype html><title>Welcome</title>"}), broken("model.endpoint: "), 1},
		{"redirect", always(llmtest.Reply{Status: http.StatusMovedPermanently, Header: map[string]string{"Location": "http://127.0.0.1:1/v1/chat/completions"}, Body: "{}"}), broken("model.endpoint: "), 1},
		{"no_form_at_all", always(said(400, "no")), broken("model.name: "), 8},

		// Not now.
		{"quota", always(llmtest.Reply{Status: 429, Body: `{"error":{"message":"pay","type":"insufficient_quota","code":"insufficient_quota"}}`}), is(llm.ErrQuota), 1},
		{"no_money", always(said(402, "pay")), is(llm.ErrQuota), 1},
		{"quota_with_200", always(llmtest.Reply{Body: `{"error":{"message":"pay","code":"insufficient_quota"}}`}), is(llm.ErrQuota), 1},
		{"rate_limit", always(llmtest.Reply{Status: 429, Header: map[string]string{"Retry-After": "20"}, Body: `{"error":{"message":"slow down: the context length of a minute","code":"rate_limit_exceeded"}}`}), func(err error) bool {
			var l *llm.Later
			return errors.As(err, &l) && l.Until.Equal(now.Add(20*time.Second))
		}, 1},
		{"loading", always(said(503, "Loading model")), later, 1},
		{"gateway", always(llmtest.Reply{Status: 502, Body: "<html>bad gateway</html>"}), later, 1},
		{"always_500", always(llmtest.Reply{Status: 500, Body: `{"error":"broken"}`}), later, 8},
		{"cut", always(llmtest.Reply{Text: label, Cut: true}), later, 1},
		{"stream_is_cut", always(llmtest.Reply{Body: strings.SplitAfter(stream, "null}}]}")[0] + "\n\n"}), later, 1},
		{"no_choice", always(llmtest.Reply{Body: `{"choices":[]}`}), later, 1},
		{"busy_with_200", always(llmtest.Reply{Body: `{"error":{"message":"busy","code":429}}`}), later, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := llmtest.Start(tc.says)
			defer s.Close()
			p := openai.New(s.Base(), key, 5*time.Second, func() time.Time { return now })
			reply, err := p.Complete(t.Context(), request())
			if !tc.end(err) || err == nil && string(reply.Text) != label {
				t.Errorf("%s, %v", reply.Text, err)
			}
			if n := len(s.Asked()); n != tc.sent {
				t.Errorf("sent %d times, want %d", n, tc.sent)
			}
			if err != nil && strings.Contains(err.Error(), key) {
				t.Errorf("the error has the key: %v", err)
			}
			if err != nil {
				return
			}
			other := request() // begins with what worked
			other.Prompt = "notes"
			for _, r := range []llm.Request{request(), other} {
				if _, err := p.Complete(t.Context(), r); err != nil {
					t.Error(err)
				}
			}
			if n := len(s.Asked()); n != tc.sent+2 {
				t.Errorf("sent %d times for two questions more", n-tc.sent)
			}
		})
	}
}

// A form that an endpoint took is not given up for what it says of one question; the schema of
// one prompt is not that of another.
func TestLadder_of_each_prompt(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(func(a llmtest.Asked) llmtest.Reply {
		switch {
		case strings.Contains(a.User, "odd"):
			return said(400, "no")
		case a.Format == "json_schema" && strings.Contains(a.User, "free"):
			return said(400, "schema is not supported")
		}
		return llmtest.Reply{Text: label}
	})
	defer s.Close()
	p := openai.New(s.Base(), key, 5*time.Second, time.Now)
	for i, x := range []struct {
		prompt, question string
		fails            bool
		format           string
		sent             int
	}{
		{"classify", "what?", false, "json_schema", 1}, {"classify", "odd", true, "json_schema", 1}, {"requests", "free", false, "json_object", 2},
		{"requests", "free", false, "json_object", 1}, {"classify", "what?", false, "json_schema", 1},
	} {
		before := len(s.Asked())
		r := request()
		r.Prompt, r.Text.Question = x.prompt, x.question
		_, err := p.Complete(t.Context(), r)
		all := s.Asked()
		if (err != nil) != x.fails || len(all)-before != x.sent || all[len(all)-1].Format != x.format {
			t.Errorf("%d: %v, sent %d times, the last by %q", i, err, len(all)-before, all[len(all)-1].Format)
		}
	}
}

// With four questions open at once each finds the way, and it is kept.
func TestLadder_at_once(t *testing.T) {
	t.Parallel()
	s := llmtest.Start(unless(func(a llmtest.Asked) bool { return a.Format == "" }, said(422, "response_format")))
	defer s.Close()
	p := openai.New(s.Base(), key, 5*time.Second, time.Now)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if reply, err := p.Complete(t.Context(), request()); err != nil || string(reply.Text) != label {
				t.Errorf("%s, %v", reply.Text, err)
			}
		})
	}
	wait.Wait()
	n := len(s.Asked())
	if _, err := p.Complete(t.Context(), request()); err != nil || n > 12 || len(s.Asked()) != n+1 {
		t.Errorf("%v, sent %d times for four questions, %d for another", err, n, len(s.Asked())-n)
	}
}
