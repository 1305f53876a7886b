package openai

import (
	"encoding/json"
	"fmt"
	"net/http"

	"strconv"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/secrets"
)

// tooLong matches what endpoints say of a request that is longer than the model reads: OpenAI,
// Azure, DeepSeek, vLLM and llama-cpp-python ("maximum context length"), vLLM ("maximum model
// length"), SGLang ("longer than the model's context length", "maximum allowed length"), TGI
// ("max_new_tokens"), llama.cpp ("exceed_context_size_error"), LM Studio ("context length of
// only", "context the overflows"), Ollama ("exceeds the context length"), Anthropic ("prompt is
// too long", "exceed context limit"), Gemini ("exceeds the maximum number of tokens").
var tooLong = lazyregexp.New(`(?i)context[ _]?(?:length|size|window|limit)|context the overflows|maximum model length|maximum allowed length|` +
	`max_new_tokens|(?:prompt|input|request) is too (?:long|large)|exceeds the maximum number of tokens`)

// noModel matches what endpoints say of a model that they do not have.
var noModel = lazyregexp.New(`(?i)model_not_found|\bmodel\b[^.]{0,80}not (?:found|exist)|(?:no such|unknown|invalid|not a valid) model\b`)

// answerError is the error of an answer, in the forms that endpoints have.
type answerError struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    any    `json:"code"`
}

func errorOf(body []byte) answerError {
	var in struct {
		Error  json.RawMessage `json:"error"`
		Detail json.RawMessage `json:"detail"`
		answerError
	}
	if json.Unmarshal(body, &in) != nil {
		return answerError{Message: string(body)}
	}
	e := in.answerError
	if isThere(in.Error) && json.Unmarshal(in.Error, &e) != nil {
		_ = json.Unmarshal(in.Error, &e.Message) // else it says nothing
	}
	if e.Message == "" {
		e.Message = string(body)
	}
	return e
}

// fault says what an answer means that is none.
func (p *Provider) fault(status int, body []byte, retryAfter, model string) error {
	e := errorOf(body)
	code := fmt.Sprint(e.Code)
	if n, err := strconv.Atoi(code); err == nil && status == http.StatusOK && n >= 400 { // as some say it
		status = n
	}
	all := fmt.Sprint(code, " ", e.Type, " ", e.Message)
	said := fmt.Errorf("the endpoint answers %d: %s", status, p.scrubbed(e.Message))
	switch {
	case strings.Contains(all, "insufficient_quota") || status == http.StatusPaymentRequired:
		return fmt.Errorf("%w: %s", llm.ErrQuota, p.scrubbed(e.Message))
	case status == http.StatusRequestEntityTooLarge || status != http.StatusTooManyRequests && tooLong.MatchString(all):
		return &llm.Refused{Why: "too_long"}
	case strings.Contains(all, "content_filter") || strings.Contains(all, "content management policy"):
		return &llm.Refused{Why: "filter"}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("%w; the key of the environment (OPENAI_API_KEY) is not accepted", said)
	case status < 500 && noModel.MatchString(all):
		return fmt.Errorf("model.name: %s has no model %q: %w", p.base, model, said)
	case status >= 300 && status < 400:
		return fmt.Errorf("model.endpoint: %s redirects elsewhere, where no key is sent; %w", p.base, said)
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed:
		return fmt.Errorf("model.endpoint: %s has no /chat/completions; it is mostly https://HOST/v1; %w", p.base, said)
	case status == http.StatusBadRequest || status == http.StatusUnprocessableEntity:
		return &formError{all, fmt.Errorf("model.name: %s takes no question to %q in any form; %w", p.base, model, said)}
	case status == http.StatusInternalServerError:
		return &formError{all, &llm.Later{Err: said}}
	case status == http.StatusTooManyRequests || status > 500 || status == http.StatusRequestTimeout:
		later := &llm.Later{Err: said}
		if s, err := strconv.Atoi(retryAfter); err == nil {
			later.Until = p.now().Add(time.Duration(s) * time.Second)
		}
		return later
	}
	return said
}

// maxSaid bounds what an endpoint says in an error: its text may hold the request's.
const maxSaid = 160

func (p *Provider) scrubbed(text string) string {
	text = secrets.Scrub(text, p.key)
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > maxSaid {
		text = string(r[:maxSaid]) + "…"
	}
	return text
}
