// Package github reads what GitHub says of repositories, their releases and their pull
// requests, and searches for repositories. It asks by GraphQL, many at a time, through
// go-github's client, and by REST where GraphQL is not served.
//
// It never reads code from GitHub (git does), never sends a token to another host than
// the API's, and never waits: a limit is said with its end.
package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/wholebody"
)

// Later is "not now": a limit, the primary or a secondary one, or an overloaded service.
type Later struct {
	Until time.Time // zero: not said
	Err   error
	limit bool // of a token, so that another one may ask
}

func (l *Later) Error() string { return "GitHub does not answer now: " + l.Err.Error() }
func (l *Later) Unwrap() error { return l.Err }

// Gone is a repository that is not to be had: renamed without a trace, deleted, private or
// blocked.
type Gone struct {
	Name string
	Err  error
}

func (g *Gone) Error() string { return fmt.Sprintf("GitHub has no %s: %v", g.Name, g.Err) }
func (g *Gone) Unwrap() error { return g.Err }

// Spent is what was asked so far.
type Spent struct {
	Requests int
	Points   int // by GitHub's own count
	Left     int // points of this hour; -1 where it was not said
}

// ErrBudget is why nothing more is asked: a run may ask only so often.
var ErrBudget = errors.New("the requests of github.max_requests are used up; --set github.max_requests=N raises it")

// errNoGraphQL is the answer of a server that has the REST API alone.
var errNoGraphQL = errors.New("GraphQL is not served")

// Client asks one GitHub, with one token after another as their limits are reached.
type Client struct {
	sessions []*session
	tokens   []string
	now      func() time.Time
	most     int // requests; 0 means no limit

	mu    sync.Mutex
	spent Spent
	rest  bool // GraphQL is not served here
}

// session is one token, and until when it is of no use. go-github holds a client back whose
// limit is reached, so that each token has its own.
type session struct {
	client *github.Client
	until  map[string]time.Time // by what has a limit of its own: "core", "search"
	dead   bool                 // not accepted
}

// New asks the API at base ("https://api.github.com/") with tokens, at most so many times
// (0 means no limit).
func New(base string, tokens []string, most int, now func() time.Time) (*Client, error) {
	u, err := url.Parse(strings.TrimRight(base, "/") + "/")
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is not the URL of an API", base)
	}
	c := &Client{tokens: tokens, now: now, most: most, spent: Spent{Left: -1}}
	for _, token := range tokens {
		client := github.NewClient(&http.Client{
			Timeout:   time.Minute,
			Transport: &wire{base: http.DefaultTransport, host: u.Host, token: token},
		})
		client.BaseURL = u
		c.sessions = append(c.sessions, &session{client: client, until: map[string]time.Time{}})
	}
	return c, nil
}

// Spent is what was asked so far.
func (c *Client) Spent() Spent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spent
}

// do asks with the first token that may ask, and with the next one where its limit is
// reached. name is the repository, for errors.
func (c *Client) do(ctx context.Context, name string, ask func(*github.Client) error) error {
	return c.doFor(ctx, "core", name, ask)
}

func (c *Client) doFor(ctx context.Context, kind, name string, ask func(*github.Client) error) error {
	var refused error
	first := time.Time{}
	for _, s := range c.sessions {
		c.mu.Lock()
		until, dead := s.until[kind], s.dead
		c.mu.Unlock()
		switch {
		case dead:
			continue
		case until.After(c.now()):
			first = earlier(first, until)
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.count(); err != nil {
			return err
		}
		err := ask(s.client)
		var later *Later
		switch {
		case errors.As(err, &later) && later.limit:
			c.mu.Lock()
			s.until[kind] = later.Until
			c.mu.Unlock()
			first, refused = earlier(first, later.Until), later
		case errors.Is(err, errToken):
			c.mu.Lock()
			s.dead = true
			c.mu.Unlock()
			refused = err
		default:
			return err
		}
	}
	if first.IsZero() && refused == nil {
		return fmt.Errorf("asking GitHub of %s: %w", name, errToken)
	}
	if first.IsZero() {
		return refused
	}
	why := errors.New("the limit is reached")
	var later *Later
	if errors.As(refused, &later) {
		why = later.Err
	}
	return &Later{Until: first, Err: why, limit: true}
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// count takes one request from the budget.
func (c *Client) count() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.most > 0 && c.spent.Requests >= c.most {
		return &Later{Err: ErrBudget}
	}
	c.spent.Requests++
	return nil
}

// errToken is a token that GitHub does not know, or no longer.
var errToken = errors.New("the token of the environment (GITHUB_TOKEN) is not accepted")

type heavyError struct{ err error }

func (h *heavyError) Error() string { return h.err.Error() }

// graphError is one error of GraphQL, which come with status 200.
type graphError struct {
	Type    string
	Message string
	Path    []any
}

// alias is the name within the question that an error is of; "" is the whole.
func (e graphError) alias(depth int) string {
	if len(e.Path) <= depth {
		return ""
	}
	s, _ := e.Path[depth].(string)
	return s
}

// price is what a question cost.
type price struct {
	Cost, Remaining int
	ResetAt         time.Time
}

// graph asks one question of GraphQL. What it says of parts of the question (NOT_FOUND,
// FORBIDDEN) is for the caller; all else is a typed error.
func (c *Client) graph(ctx context.Context, name, query string, variables map[string]any, data any) ([]graphError, error) {
	var errs []graphError
	err := c.do(ctx, name, func(rest *github.Client) error {
		req, err := rest.NewRequest(http.MethodPost, "graphql", map[string]any{"query": query, "variables": variables})
		if err != nil {
			return err
		}
		var a struct {
			Data   json.RawMessage
			Errors []graphError
		}
		if _, err := rest.Do(ctx, req, &a); err != nil {
			var status *github.ErrorResponse
			if errors.As(err, &status) && (status.Response.StatusCode == http.StatusNotFound || status.Response.StatusCode == http.StatusNotImplemented) {
				return errNoGraphQL
			}
			return c.fault(ctx, name, err)
		}
		errs = nil
		var paid struct{ RateLimit *price }
		if len(a.Data) > 0 && json.Unmarshal(a.Data, &paid) == nil && paid.RateLimit != nil {
			c.mu.Lock()
			c.spent.Points, c.spent.Left = c.spent.Points+paid.RateLimit.Cost, paid.RateLimit.Remaining
			c.mu.Unlock()
		}
		for _, e := range a.Errors {
			switch e.Type {
			case "NOT_FOUND", "FORBIDDEN":
				errs = append(errs, e)
			case "RATE_LIMITED":
				until := c.now().Add(time.Minute)
				if paid.RateLimit != nil && !paid.RateLimit.ResetAt.IsZero() {
					until = paid.RateLimit.ResetAt
				}
				return &Later{Until: until, Err: c.say(e.Message), limit: true}
			case "", "INTERNAL", "SERVICE_UNAVAILABLE", "TIMEOUT", "MAX_NODE_LIMIT_EXCEEDED", "RESOURCE_LIMITS_EXCEEDED":
				return &heavyError{c.say(e.Type + " " + e.Message)}
			default:
				return fmt.Errorf("asking GitHub of %s: %w", name, c.say(e.Type+": "+e.Message))
			}
		}
		if err := json.Unmarshal(a.Data, data); err != nil {
			return &Later{Err: errors.New("the answer is not what was asked for")}
		}
		return nil
	})
	return errs, err
}

// halved asks of all, and of half of them at a time where that is too much: GitHub answers
// 502 to heavy questions.
func halved[T any](all []T, ask func([]T) error) error {
	err := ask(all)
	var heavy *heavyError
	if !errors.As(err, &heavy) {
		return err
	}
	if len(all) == 1 {
		return &Later{Err: heavy.err}
	}
	half := len(all) / 2
	if err := halved(all[:half], ask); err != nil {
		return err
	}
	return halved(all[half:], ask)
}

// fault says what an error of the client means. go-github 60 knows neither status 429 nor
// a secondary limit without a header.
func (c *Client) fault(ctx context.Context, name string, err error) error {
	var primary *github.RateLimitError
	var secondary *github.AbuseRateLimitError
	var other *github.ErrorResponse
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &primary):
		return &Later{primary.Rate.Reset.Time, errors.New("the hourly limit is reached"), true}
	case errors.As(err, &secondary):
		return &Later{c.after(secondary.RetryAfter), errors.New("a secondary limit is reached"), true}
	case errors.As(err, &other):
		status := other.Response.StatusCode
		said := fmt.Errorf("GitHub answers %d", status)
		switch {
		case status == http.StatusTooManyRequests, status == http.StatusForbidden && strings.Contains(strings.ToLower(other.Message), "rate limit"):
			return &Later{c.until(other.Response.Header), said, true}
		case status == http.StatusUnauthorized:
			return fmt.Errorf("%w: %w", said, errToken)
		case status == http.StatusUnavailableForLegalReasons, status == http.StatusNotFound, status == http.StatusForbidden:
			return &Gone{name, said}
		case status == http.StatusBadGateway || status == http.StatusGatewayTimeout:
			return &heavyError{said}
		case status >= 500:
			return &Later{Err: said}
		}
		return said
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Later{Err: errors.New("the answer is not JSON")}
	}
	return &Later{Err: c.say(err.Error())}
}

// Resource is the name of what is paused where GitHub does not answer.
const Resource = "github"

// maxSaid bounds what GitHub says in an error.
const maxSaid = 300

// say is an error in GitHub's words, without a token: a redirect or a body may have one.
func (c *Client) say(what string) error {
	what = secrets.Scrub(what, c.tokens...)
	return errors.New(strings.ToValidUTF8(what[:min(len(what), maxSaid)], ""))
}

// until is when a limit ends that go-github does not know as one.
func (c *Client) until(h http.Header) time.Time {
	if s, err := strconv.Atoi(h.Get("Retry-After")); err == nil {
		return c.now().Add(time.Duration(s) * time.Second)
	}
	if s, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64); err == nil && h.Get("X-RateLimit-Remaining") == "0" {
		return time.Unix(s, 0)
	}
	return c.after(nil)
}

// after is when a secondary limit ends: at least a minute, where it is not said.
func (c *Client) after(wait *time.Duration) time.Time {
	if wait == nil {
		return c.now().Add(time.Minute)
	}
	return c.now().Add(*wait)
}

// maxAnswer bounds the bytes of an answer.
const maxAnswer = 64 << 20

// wire gives the token to the API's host alone, whatever redirects, and refuses an empty
// answer: the client takes one for nothing found.
type wire struct {
	base  http.RoundTripper
	host  string
	token string
}

func (t *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Del("Authorization")
	if req.URL.Host == t.host && t.token != "" {
		req.Header.Set("Authorization", "Bearer "+t.token)
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	b, err := wholebody.Read(resp, maxAnswer)
	if err != nil {
		return nil, err
	}
	if len(b) == 0 && resp.StatusCode == http.StatusOK {
		return nil, errors.New("the answer is empty")
	}
	return resp, nil
}
