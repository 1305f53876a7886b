// Package openai is the llm.Provider of every endpoint that speaks OpenAI's chat API.
//
// It never keeps an answer, never sends its key to another host than the endpoint's, and
// never puts a request's text into an error.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/wholebody"
)

// Provider asks one endpoint.
type Provider struct {
	client *openai.Client
	key    string
	now    func() time.Time
	// rung is how the answer's form is asked for: endpoints differ, and each says so at its
	// first refusal.
	rung atomic.Int32
}

var _ llm.Provider = (*Provider)(nil)

// The rungs, from the best.
const (
	bySchema = iota // response_format json_schema
	byObject        // response_format json_object
	byText          // the question's own words
)

// New asks at base, "https://…/v1", with a key; "" sends none. A call that takes longer
// than timeout has failed.
func New(base, key string, timeout time.Duration, now func() time.Time) *Provider {
	c := openai.DefaultConfig(key)
	c.BaseURL = strings.TrimRight(base, "/")
	c.HTTPClient = &http.Client{
		Transport: &wire{base: http.DefaultTransport}, Timeout: timeout,
		// A key must not follow a redirect.
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("the endpoint redirects") },
	}
	return &Provider{client: openai.NewClientWithConfig(c), key: key, now: now}
}

// Complete implements llm.Provider.
func (p *Provider) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	for {
		rung := p.rung.Load()
		reply, err := p.complete(ctx, r, int(rung))
		var form *formError
		if !errors.As(err, &form) || rung == byText {
			return reply, err
		}
		p.rung.CompareAndSwap(rung, rung+1)
	}
}

// formError is an endpoint that does not know the response_format.
type formError struct{ err error }

func (f *formError) Error() string { return f.err.Error() }

func (p *Provider) complete(ctx context.Context, r llm.Request, rung int) (llm.Reply, error) {
	req := openai.ChatCompletionRequest{Model: r.Model, Messages: messages(r)}
	if reasons(r.Model) { // go-openai refuses max_tokens for these
		req.MaxCompletionTokens = r.MaxTokens
	} else {
		req.MaxTokens = r.MaxTokens //nolint:staticcheck // many servers know this name alone
	}
	switch rung {
	case bySchema:
		req.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: r.Prompt, Schema: shape(r.Text.Schema), Strict: closed(r.Text.Schema)},
		}
	case byObject:
		req.ResponseFormat = &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	var raw []byte
	resp, err := p.client.CreateChatCompletion(context.WithValue(ctx, rawKey{}, &raw), req)
	reply := llm.Reply{Model: resp.Model, Usage: usage(resp.Usage)}
	if err != nil {
		return reply, p.fault(ctx, err, resp.Header().Get("Retry-After"))
	}
	if len(resp.Choices) == 0 {
		return reply, p.noChoice(raw)
	}
	choice := resp.Choices[0]
	switch text := secrets.Scrub(strings.TrimSpace(choice.Message.Content), p.key); {
	case choice.Message.Refusal != "":
		return reply, &llm.Refused{Why: "refusal"}
	case choice.FinishReason == openai.FinishReasonContentFilter:
		return reply, &llm.Refused{Why: "filter"}
	case choice.FinishReason == openai.FinishReasonLength:
		return reply, &llm.Refused{Why: "length"}
	case choice.FinishReason != openai.FinishReasonStop:
		return reply, &llm.Later{Err: fmt.Errorf("an answer that ended with %q", choice.FinishReason)}
	case text == "":
		return reply, &llm.Refused{Why: "empty"}
	case rung == bySchema:
		reply.Text = []byte(text)
	default:
		reply.Text = object(text)
	}
	return reply, nil
}

// usage is what an endpoint counted. Those that say nothing of a cache had none of it there.
func usage(u openai.Usage) llm.Usage {
	out := llm.Usage{Input: int64(u.PromptTokens), Output: int64(u.CompletionTokens)}
	if u.PromptTokensDetails != nil {
		out.Cached = int64(u.PromptTokensDetails.CachedTokens)
	}
	return out
}

// closed reports whether a schema names every member of every object: endpoints refuse a strict
// one that does not.
func closed(schema string) bool {
	var v any
	if json.Unmarshal([]byte(schema), &v) != nil {
		return false
	}
	var all func(v any) bool
	all = func(v any) bool {
		switch t := v.(type) {
		case map[string]any:
			object := t["type"] == "object"
			if kinds, ok := t["type"].([]any); ok {
				object = slices.Contains(kinds, any("object"))
			}
			if object && t["additionalProperties"] != false {
				return false
			}
			for _, next := range t {
				if !all(next) {
					return false
				}
			}
		case []any:
			return !slices.ContainsFunc(t, func(e any) bool { return !all(e) })
		}
		return true
	}
	return all(v)
}

// shape is a schema without what endpoints do not know or know in part: the bounds of
// texts. The answer is held against the whole schema afterwards.
func shape(schema string) json.RawMessage {
	var v any
	if json.Unmarshal([]byte(schema), &v) != nil {
		return json.RawMessage(schema)
	}
	var strip func(v any)
	strip = func(v any) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		for _, key := range []string{"pattern", "minLength", "maxLength"} {
			if _, text := m[key].(map[string]any); !text { // not a property of that name
				delete(m, key)
			}
		}
		for _, next := range m {
			strip(next)
		}
	}
	strip(v)
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(schema)
	}
	return b
}

// messages puts the material before the question.
func messages(r llm.Request) []openai.ChatCompletionMessage {
	question := r.Text.Question
	if r.Fault != "" {
		question += "\n\nYour answer before was refused: " + r.Fault
	}
	return []openai.ChatCompletionMessage{
		{Role: openai.ChatMessageRoleSystem, Content: r.Text.System},
		{Role: openai.ChatMessageRoleUser, Content: r.Text.Material},
		{Role: openai.ChatMessageRoleUser, Content: question},
	}
}

// reasons reports whether go-openai takes a model for one that takes neither max_tokens
// nor a temperature.
func reasons(model string) bool {
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	return false
}

// object cuts words and fences around a JSON object off.
func object(text string) []byte {
	i, j := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}')
	if i < 0 || j < i {
		return []byte(text)
	}
	return []byte(text[i : j+1])
}

// answerError is the error of an answer, in the forms that endpoints have.
type answerError struct {
	Message string `json:"message"`
	Type    string `json:"type"`
	Code    any    `json:"code"`
}

// noChoice is an answer without a choice: some endpoints answer 200 with an error.
func (p *Provider) noChoice(raw []byte) error {
	var body struct {
		Error *answerError `json:"error"`
	}
	if json.Unmarshal(raw, &body) != nil || body.Error == nil {
		return &llm.Later{Err: errors.New("an answer without a choice")}
	}
	return p.classify(http.StatusOK, *body.Error, "")
}

// fault says what an error of the client means.
func (p *Provider) fault(ctx context.Context, err error, retryAfter string) error {
	var request *openai.RequestError
	var api *openai.APIError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &request) && request.HTTPStatusCode != 0: // before APIError, which it may hold empty
		e := answerError{Message: string(request.Body)}
		var body struct {
			Error  any `json:"error"`
			Detail any `json:"detail"`
		}
		if json.Unmarshal(request.Body, &body) == nil {
			e.Message = fmt.Sprint(body.Error, " ", body.Detail)
		}
		return p.classify(request.HTTPStatusCode, e, retryAfter)
	case errors.As(err, &api) && api.HTTPStatusCode != 0:
		return p.classify(api.HTTPStatusCode, answerError{Message: api.Message, Type: api.Type, Code: api.Code}, retryAfter)
	}
	return &llm.Later{Err: errors.New(p.scrubbed(err.Error()))}
}

func (p *Provider) classify(status int, e answerError, retryAfter string) error {
	code, all := fmt.Sprint(e.Code), strings.ToLower(fmt.Sprint(e.Code, " ", e.Type, " ", e.Message))
	said := fmt.Errorf("the endpoint answers %d: %s", status, p.scrubbed(e.Message))
	switch {
	case strings.Contains(all, "insufficient_quota") || status == http.StatusPaymentRequired:
		return fmt.Errorf("%w: %s", llm.ErrQuota, p.scrubbed(e.Message))
	case code == "context_length_exceeded" || e.Type == "exceed_context_size_error" || strings.Contains(all, "maximum context length"):
		return &llm.Refused{Why: "too_long"}
	case strings.Contains(all, "content_filter") || strings.Contains(all, "content management policy"):
		return &llm.Refused{Why: "filter"}
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return fmt.Errorf("%w; the key of the environment (OPENAI_API_KEY) is not accepted", said)
	case strings.Contains(all, "response_format") || strings.Contains(all, "json_schema") || strings.Contains(all, "json_object"):
		return &formError{said}
	case status == http.StatusTooManyRequests || status >= 500 || status == http.StatusRequestTimeout || code == "429":
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

type rawKey struct{}

// maxAnswer bounds the bytes of an answer.
const maxAnswer = 4 << 20

// wire sits below go-openai. It sends a temperature of 0, which the client leaves out, and
// keeps the bytes of an answer for what its types drop.
type wire struct{ base http.RoundTripper }

func (t *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if req.Body != nil {
		b, err := io.ReadAll(req.Body)
		if err = errors.Join(err, req.Body.Close()); err != nil {
			return nil, err
		}
		if b, err = cold(b); err != nil {
			return nil, err
		}
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	b, err := wholebody.Read(resp, maxAnswer)
	if err != nil {
		return nil, err
	}
	if raw, ok := req.Context().Value(rawKey{}).(*[]byte); ok {
		*raw = b
	}
	return resp, nil
}

// cold sets the temperature to 0 where the model takes one.
func cold(body []byte) ([]byte, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	var model string
	if err := json.Unmarshal(m["model"], &model); err != nil {
		return nil, err
	}
	if !reasons(model) {
		m["temperature"] = json.RawMessage("0")
	}
	return json.Marshal(m)
}
