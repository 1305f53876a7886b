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
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	openai "github.com/sashabaranov/go-openai"

	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/wholebody"
)

// Provider asks one endpoint.
type Provider struct {
	base, key string
	client    *openai.Client
	timeout   time.Duration
	now       func() time.Time

	mu sync.Mutex
	// worked are the ways in which questions were answered, by model and prompt, and by model
	// and "" the last one: a schema that is too much for an endpoint is not that of each prompt.
	worked map[[2]string]way
}

var _ llm.Provider = (*Provider)(nil)

// dialing bounds how long it takes to reach an endpoint: it is not one that is slow.
const dialing = 10 * time.Second

// New asks at base, "https://…/v1", with a key; "" sends none. An answer that takes longer
// than timeout is llm.ErrSlow.
func New(base, key string, timeout time.Duration, now func() time.Time) *Provider {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DialContext = (&net.Dialer{Timeout: dialing}).DialContext
	c := openai.DefaultConfig(key)
	c.BaseURL = strings.TrimRight(base, "/")
	// A key must not follow a redirect: that is an answer like others.
	c.HTTPClient = wire{&http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	return &Provider{base: c.BaseURL, key: key, client: openai.NewClientWithConfig(c), timeout: timeout, now: now, worked: map[[2]string]way{}}
}

// Complete implements llm.Provider. A model that refuses the first question of a prompt by its
// form is asked in other ways (ladder.go); the one that works is kept.
func (p *Provider) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	at, settled := p.way(r)
	reply, err := p.ask(ctx, r, at)
	var first, no *formError
	if settled || !errors.As(err, &first) {
		return reply, p.settle(r, at, err)
	}
	tried := map[way]bool{at: true}
	for next := at.others(first.said); len(next) > 0; {
		at, next = next[0], next[1:]
		if tried[at] {
			continue
		}
		tried[at] = true
		if reply, err = p.ask(ctx, r, at); !errors.As(err, &no) {
			return reply, p.settle(r, at, err)
		}
		next = append(at.hinted(no.said), next...)
	}
	return reply, first.err
}

// way is how a question is put, and whether it is known to work.
func (p *Provider) way(r llm.Request) (way, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w, ok := p.worked[[2]string{r.Model, r.Prompt}]; ok {
		return w, true
	}
	return p.worked[[2]string{r.Model, ""}], false
}

// settle keeps a way that led to an answer, and gives the error of one that did not.
func (p *Provider) settle(r llm.Request, w way, err error) error {
	var no *formError
	if errors.As(err, &no) {
		return no.err
	}
	if err == nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.worked[[2]string{r.Model, r.Prompt}], p.worked[[2]string{r.Model, ""}] = w, w
	}
	return err
}

// ask sends one request. A *formError is for other ways.
func (p *Provider) ask(ctx context.Context, r llm.Request, w way) (llm.Reply, error) {
	x := &exchange{cold: !w.noDegree && !r.Varied}
	own, cancel := context.WithTimeout(httptrace.WithClientTrace(context.WithValue(ctx, exchangeKey{}, x), &httptrace.ClientTrace{
		WroteRequest: func(i httptrace.WroteRequestInfo) { x.sent.Store(i.Err == nil) },
	}), p.timeout)
	defer cancel()
	err := p.send(own, w.request(r))
	switch {
	case ctx.Err() != nil:
		return llm.Reply{}, ctx.Err()
	case errors.Is(err, openai.ErrReasoningModelMaxTokensDeprecated):
		return llm.Reply{}, &formError{err.Error(), err}
	case x.status == 0 && own.Err() != nil && x.sent.Load():
		return llm.Reply{}, fmt.Errorf("%w within %s (model.timeout)", llm.ErrSlow, p.timeout)
	case x.status == 0:
		return llm.Reply{}, &llm.Later{Err: errors.New(p.scrubbed(err.Error()))}
	case x.status != http.StatusOK:
		return llm.Reply{}, p.fault(x.status, x.body, x.retryAfter, r.Model)
	}
	return p.read(x.body, r.Model)
}

// send has the client send a request. What it makes of the answer is left aside: its types drop
// what servers say in other forms.
func (p *Provider) send(ctx context.Context, req openai.ChatCompletionRequest) error {
	if !req.Stream {
		_, err := p.client.CreateChatCompletion(ctx, req)
		return err
	}
	s, err := p.client.CreateChatCompletionStream(ctx, req)
	if err == nil {
		err = s.Close()
	}
	return err
}

// exchange is one request below the client, and what came back. status is 0 where no whole answer
// did.
type exchange struct {
	cold       bool // a temperature of 0 is sent, which the client leaves out
	sent       atomic.Bool
	status     int
	retryAfter string
	body       []byte
}

type exchangeKey struct{}

// wire is the client's way to the endpoint. It keeps the bytes of answers.
type wire struct{ client *http.Client }

// Do implements openai.HTTPDoer.
func (w wire) Do(req *http.Request) (*http.Response, error) {
	x, ok := req.Context().Value(exchangeKey{}).(*exchange)
	if ok && x.cold {
		if err := chill(req); err != nil {
			return nil, err
		}
	}
	resp, err := w.client.Do(req)
	if err != nil {
		return nil, err
	}
	b, err := wholebody.Read(resp, maxAnswer)
	if err != nil {
		return nil, err
	}
	if ok {
		x.status, x.retryAfter, x.body = resp.StatusCode, resp.Header.Get("Retry-After"), b
	}
	return resp, nil
}

// chill sets the temperature of a request to 0.
func chill(req *http.Request) error {
	b, err := io.ReadAll(req.Body)
	if err = errors.Join(err, req.Body.Close()); err != nil {
		return err
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	m["temperature"] = json.RawMessage("0")
	if b, err = json.Marshal(m); err != nil {
		return err
	}
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(b)), int64(len(b))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
	return nil
}

// maxAnswer bounds the bytes of an answer.
const maxAnswer = 4 << 20

// read reads an answer. One that is whole is taken, however it is said to have ended.
func (p *Provider) read(raw []byte, model string) (llm.Reply, error) {
	answer, err := completionOf(raw)
	reply := llm.Reply{Model: answer.Model, Usage: answer.usage()}
	switch {
	case errors.Is(err, errCut):
		return reply, &llm.Later{Err: err}
	case err != nil:
		return reply, fmt.Errorf("model.endpoint: %s answers with something else than JSON (%s): is it the address before /chat/completions, such as https://HOST/v1?",
			p.base, p.scrubbed(string(raw)))
	case isThere(answer.Error):
		return reply, p.fault(http.StatusOK, raw, "", model)
	case len(answer.Choices) == 0:
		return reply, &llm.Later{Err: errors.New("an answer without a choice")}
	}
	choice := answer.Choices[0]
	text, whole := choice.Message.answer()
	switch {
	case choice.Message.Refusal != "":
		return reply, &llm.Refused{Why: "refusal"}
	case choice.Finish == "content_filter":
		return reply, &llm.Refused{Why: "filter"}
	case choice.Finish == "length" && !whole:
		return reply, &llm.Refused{Why: "length"}
	case text == "":
		return reply, &llm.Refused{Why: "empty"}
	}
	reply.Text = []byte(secrets.Scrub(text, p.key))
	return reply, nil
}
