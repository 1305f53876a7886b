// Package github reads what GitHub says of pull requests: titles, bodies and labels. It
// asks by GraphQL, many at a time, through go-github's client.
//
// It never reads code from GitHub (git does), never sends its token to another host than
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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/benchmint/benchmint/internal/wholebody"
	"github.com/benchmint/benchmint/schemas"
)

// Later is "not now": a limit, the primary or a secondary one, or an overloaded service.
type Later struct {
	Until time.Time // zero: not said
	Err   error
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

// Client asks one GitHub with one token.
type Client struct {
	rest *github.Client
	now  func() time.Time

	mu    sync.Mutex
	spent Spent
}

// batch is how many pull requests one question asks for: 2,800 nodes, 5 points.
const batch = 100

// New asks the API at base ("https://api.github.com/") with a token.
func New(base, token string, now func() time.Time) (*Client, error) {
	u, err := url.Parse(strings.TrimRight(base, "/") + "/")
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is not the URL of an API", base)
	}
	c := &Client{now: now, spent: Spent{Left: -1}}
	c.rest = github.NewClient(&http.Client{
		Timeout:   time.Minute,
		Transport: &wire{base: http.DefaultTransport, host: u.Host, token: token},
	})
	c.rest.BaseURL = u
	return c, nil
}

// Spent is what was asked so far.
func (c *Client) Spent() Spent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spent
}

// Pulls reads pull requests of owner/name by number. A number that is an issue, or nothing,
// is not among the answers. Errors: *Later, *Gone, or a fault.
func (c *Client) Pulls(ctx context.Context, name string, numbers []int) (map[int]schemas.Pull, error) {
	out := map[int]schemas.Pull{}
	for chunk := range slices.Chunk(numbers, batch) {
		if err := c.some(ctx, name, chunk, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// some asks for a few, and for half of them at a time where that is too much: GitHub
// answers 502 to heavy questions.
func (c *Client) some(ctx context.Context, name string, numbers []int, out map[int]schemas.Pull) error {
	err := c.ask(ctx, name, numbers, out)
	var heavy *heavyError
	if !errors.As(err, &heavy) {
		return err
	}
	if len(numbers) == 1 {
		return &Later{Err: heavy.err}
	}
	half := len(numbers) / 2
	if err := c.some(ctx, name, numbers[:half], out); err != nil {
		return err
	}
	return c.some(ctx, name, numbers[half:], out)
}

type heavyError struct{ err error }

func (h *heavyError) Error() string { return h.err.Error() }

// answer is what GraphQL gives, errors with status 200 included.
type answer struct {
	Data struct {
		Repository map[string]*pull
		RateLimit  *struct {
			Cost, Remaining int
			ResetAt         time.Time
		}
	}
	Errors []struct {
		Type    string
		Message string
		Path    []any
	}
}

type pull struct {
	Number      int
	Title       string
	Body        string
	MergeCommit *struct{ OID string }
	Labels      struct{ Nodes []struct{ Name string } }
}

// Query is the question for some pull requests.
func Query(numbers []int) string {
	var q strings.Builder
	q.WriteString("query($owner: String!, $name: String!) {\n  repository(owner: $owner, name: $name) {\n")
	for _, n := range numbers {
		fmt.Fprintf(&q, "    p%d: pullRequest(number: %d) { number title body mergeCommit { oid } labels(first: 20) { nodes { name } } }\n", n, n)
	}
	q.WriteString("  }\n  rateLimit { cost remaining resetAt }\n}")
	return q.String()
}

func (c *Client) ask(ctx context.Context, name string, numbers []int, out map[int]schemas.Pull) error {
	owner, repo, _ := strings.Cut(name, "/")
	req, err := c.rest.NewRequest(http.MethodPost, "graphql", map[string]any{"query": Query(numbers), "variables": map[string]string{"owner": owner, "name": repo}})
	if err != nil {
		return err
	}
	var a answer
	_, err = c.rest.Do(ctx, req, &a)
	c.count(a)
	if err != nil {
		return c.fault(ctx, name, err)
	}
	for _, f := range a.Errors {
		switch f.Type {
		case "NOT_FOUND", "FORBIDDEN":
			if len(f.Path) < 2 { // of the repository, not of one number
				return &Gone{name, errors.New(f.Message)}
			}
		case "RATE_LIMITED":
			later := &Later{Err: errors.New(f.Message)}
			if a.Data.RateLimit != nil {
				later.Until = a.Data.RateLimit.ResetAt
			}
			return later
		case "", "INTERNAL", "SERVICE_UNAVAILABLE", "TIMEOUT", "MAX_NODE_LIMIT_EXCEEDED", "RESOURCE_LIMITS_EXCEEDED":
			return &heavyError{fmt.Errorf("%s %s", f.Type, f.Message)}
		default:
			return fmt.Errorf("asking GitHub of %s: %s: %s", name, f.Type, f.Message)
		}
	}
	if a.Data.Repository == nil {
		return &Gone{name, errors.New("the answer has no repository")}
	}
	for _, p := range a.Data.Repository {
		if p == nil {
			continue
		}
		pull := schemas.Pull{Title: p.Title, Body: p.Body}
		if p.MergeCommit != nil {
			pull.Merge = p.MergeCommit.OID
		}
		for _, l := range p.Labels.Nodes {
			pull.Labels = append(pull.Labels, l.Name)
		}
		out[p.Number] = pull
	}
	return nil
}

func (c *Client) count(a answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spent.Requests++
	if l := a.Data.RateLimit; l != nil {
		c.spent.Points, c.spent.Left = c.spent.Points+l.Cost, l.Remaining
	}
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
		return &Later{primary.Rate.Reset.Time, errors.New("the hourly limit is reached")}
	case errors.As(err, &secondary):
		return &Later{c.after(secondary.RetryAfter), errors.New("a secondary limit is reached")}
	case errors.As(err, &other):
		status := other.Response.StatusCode
		said := fmt.Errorf("GitHub answers %d", status)
		switch {
		case status == http.StatusTooManyRequests:
			var wait *time.Duration
			if s, e := strconv.Atoi(other.Response.Header.Get("Retry-After")); e == nil {
				d := time.Duration(s) * time.Second
				wait = &d
			}
			return &Later{c.after(wait), said}
		case status == http.StatusUnauthorized:
			return fmt.Errorf("%w: the token of the environment (GITHUB_TOKEN) is not accepted", said)
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
	return &Later{Err: err}
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
