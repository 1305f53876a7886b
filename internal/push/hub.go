package push

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/internal/verify"
)

//go:embed hub.py
var hubProgram []byte

// Variables of the hub's own client.
const (
	HubToken    = "HF_TOKEN"
	HubEndpoint = "HF_ENDPOINT"
)

// Hub is a dataset repository on a hub.
type Hub struct {
	Repo     string // OWNER/NAME
	Endpoint string // "" is the public one
	Token    string
	Private  bool // make it private, if it is made
	Client   verify.Options
}

var _ Remote = (*Hub)(nil)

// NewHub makes one. The client sees nothing of the environment that would lead it elsewhere or
// make it print a token: of its own variables, those that are set here. ErrUnmet without a token.
func NewHub(repo, endpoint, token string, private bool, o verify.Options) (*Hub, error) {
	if token = strings.TrimSpace(token); token == "" {
		return nil, fmt.Errorf("%w: %s is not set: make a token that may write to %s at %s/settings/tokens, and put it in that variable", ErrUnmet, HubToken, repo, hosts.HuggingFace)
	}
	o.Env = slices.DeleteFunc(slices.Clone(o.Env), func(e string) bool {
		return strings.HasPrefix(e, "HF_") || strings.HasPrefix(e, "HUGGING") || strings.HasPrefix(e, "PYTHON")
	})
	return &Hub{repo, strings.TrimRight(cmp.Or(endpoint, hosts.HuggingFace), "/"), token, private, o}, nil
}

// Close implements Remote.
func (h *Hub) Close() error { return nil }

// URL implements Remote.
func (h *Hub) URL(tag string) string {
	url := h.Endpoint + "/datasets/" + h.Repo
	if tag != "" {
		url += "/tree/" + tag
	}
	return url
}

// env is that of the client. Xet's protocol is another program, which no stand-in speaks.
func (h *Hub) env(token bool) []string {
	env := []string{HubEndpoint + "=" + h.Endpoint, "HF_HUB_DISABLE_XET=1", "HF_HUB_DISABLE_IMPLICIT_TOKEN=1", "HF_HUB_DISABLE_UPDATE_CHECK=1", "HF_HUB_DISABLE_PROGRESS_BARS=1"}
	if token {
		env = append(env, HubToken+"="+h.Token, "HF_HUB_DISABLE_IMPLICIT_TOKEN=0")
	}
	return env
}

// answer is what the program says of any verb.
type answer struct {
	There   bool               `json:"there"`
	Open    bool               `json:"open"`
	Head    string             `json:"head"`
	Record  *string            `json:"record"`
	Files   Files              `json:"files"`
	Tags    map[string]string  `json:"tags"`
	Records map[string]*string `json:"records"`
	Fault   *struct {
		Status *int   `json:"status"`
		Text   string `json:"text"`
	} `json:"fault"`
}

func (h *Hub) ask(ctx context.Context, verb string, question map[string]any) (a answer, err error) {
	question["repo"], question["record"] = h.Repo, RecordFile
	in, err := json.Marshal(question)
	if err != nil {
		return a, err
	}
	out, err := verify.Run(ctx, verify.HuggingFaceName, verify.Program{Text: hubProgram, Input: in, Args: func(string) []string { return []string{verb} }, Env: h.env(true)}, h.Client)
	if ctx.Err() != nil {
		return a, ctx.Err()
	}
	if err != nil {
		return a, h.hide(err)
	}
	if err := json.Unmarshal(out, &a); err != nil {
		return a, h.hide(fmt.Errorf("reading the client's answer %.200q: %w", out, err))
	}
	if a.Fault != nil {
		return a, h.fault(verb, a.Fault.Status, strings.ReplaceAll(a.Fault.Text, h.Token, hidden))
	}
	return a, nil
}

// hidden stands in the place of a token in what others say.
const hidden = "(token)"

// hide takes the token out of an error that is not ours.
func (h *Hub) hide(err error) error {
	if !strings.Contains(err.Error(), h.Token) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), h.Token, hidden)) // without what it wraps, which holds the token
}

// fault gives a hub's status its end.
func (h *Hub) fault(verb string, status *int, text string) error {
	text = strings.Join(strings.Fields(text), " ")
	switch {
	case status == nil:
		return fmt.Errorf("the client failed at the %s: %s", verb, text)
	case *status == 0:
		return fmt.Errorf("%w: %s at the %s: %s", ErrAway, h.Endpoint, verb, text)
	}
	switch n := *status; {
	case n == 401:
		return fmt.Errorf("%w: %s does not accept %s (401 at the %s: %s)", ErrUnmet, h.Endpoint, HubToken, verb, text)
	case n == 403:
		return fmt.Errorf("%w: the token in %s may not write to %s (403 at the %s: %s)", ErrUnmet, HubToken, h.Repo, verb, text)
	case n == 408, n == 429, n >= 500:
		return fmt.Errorf("%w: %s said %d at the %s: %s", ErrAway, h.Endpoint, n, verb, text)
	case (n == 409 || n == 412) && verb == "tag":
		return Refused("somebody has made this tag at %s meanwhile: %s", h.Repo, text)
	case n == 409, n == 412:
		return Refused("somebody has changed %s meanwhile, and nothing is committed: %s; run again", h.Repo, text)
	default:
		return Refused("%s refused the %s (%d): %s", h.Endpoint, verb, n, text)
	}
}

func bytesOf(s *string) []byte {
	if s == nil {
		return nil
	}
	return []byte(*s)
}

// Look implements Remote.
func (h *Hub) Look(ctx context.Context, wanted func(tag string) bool) (State, error) {
	a, err := h.ask(ctx, "look", map[string]any{})
	if err != nil {
		return State{}, err
	}
	if h.Private && a.There && a.Open {
		return State{}, fmt.Errorf("%w: %s is there and everybody reads it: --private makes a new repository private, and changes none", ErrUnmet, h.Repo)
	}
	s := State{There: a.There, Open: a.Open, Head: a.Head, Record: bytesOf(a.Record), Files: a.Files, Tags: map[string]Tag{}}
	maps.DeleteFunc(a.Tags, func(name, _ string) bool { return !wanted(name) })
	if len(a.Tags) == 0 {
		return s, nil
	}
	r, err := h.ask(ctx, "records", map[string]any{"tags": a.Tags})
	if err != nil {
		return State{}, err
	}
	for name, commit := range a.Tags {
		s.Tags[name] = Tag{commit, bytesOf(r.Records[name])}
	}
	return s, nil
}

// Send implements Remote. The tag is made last, upon a commit that was read and compared: a tag
// whose rows differ never is.
func (h *Hub) Send(ctx context.Context, s State, p Parcel) (State, error) {
	if !p.Made {
		var err error
		if s, err = h.commit(ctx, s, p); err != nil {
			return s, err
		}
	}
	if err := h.compare(ctx, s, p); err != nil {
		return s, err
	}
	if p.Tag == "" {
		return s, nil
	}
	a, err := h.ask(ctx, "tag", map[string]any{"tag": p.Tag, "message": p.Message, "head": s.Head})
	if err != nil {
		return s, err
	}
	if a.Tags[p.Tag] != s.Head {
		return s, Refused("the tag %s of %s is at %q, and not at the commit %s that was made for it", p.Tag, h.Repo, a.Tags[p.Tag], s.Head)
	}
	return s, nil
}

func (h *Hub) commit(ctx context.Context, s State, p Parcel) (State, error) {
	if !s.There {
		a, err := h.ask(ctx, "create", map[string]any{"private": h.Private})
		if err != nil {
			return s, err
		}
		s.There, s.Open, s.Head, s.Files = a.There, a.Open, a.Head, a.Files
	}
	other, extra, err := p.Differences(s.Files)
	if err != nil {
		return s, err
	}
	if p.FeedOnly {
		other, extra = []string{p.Feed}, nil
	}
	adds := map[string]string{}
	for _, name := range other {
		adds[name] = p.Files[name]
	}
	question := map[string]any{"adds": adds, "deletes": append([]string{}, extra...), "message": p.Message, "parent": s.Head}
	if s.Head == "" {
		question["parent"] = nil
	}
	a, err := h.ask(ctx, "commit", question)
	if err != nil {
		return s, err
	}
	s.Head, s.Files = a.Head, a.Files
	return s, nil
}

// compare holds what the hub has at a commit to the files, and to the rows as the client opens
// them: without a token, as everybody does, where everybody may.
func (h *Hub) compare(ctx context.Context, s State, p Parcel) error {
	if err := p.differs(s.Files); err != nil {
		return Refused("the head of %s (%s) is public and is not what was sent: %v", h.Repo, s.Head, err)
	}
	for _, split := range slices.Sorted(maps.Keys(p.Rows)) {
		seen, err := verify.Published(ctx, p.Folder, split, p.Rows[split], verify.Hub{Repo: h.Repo, Revision: s.Head, Env: h.env(!s.Open)}, h.Client)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return h.hide(err)
		}
		for _, f := range seen.Formats {
			f.Difference = strings.ReplaceAll(f.Difference, h.Token, hidden)
			switch {
			case f.Silent:
				return fmt.Errorf("%w: the head of %s (%s) could not be read back: %s", ErrAway, h.Repo, s.Head, f.Difference)
			case f.Difference != "":
				return Refused("the head of %s (%s) is public, and a client reads there what was not sent: %s: %s", h.Repo, s.Head, f.Format, f.Difference)
			}
		}
	}
	return nil
}
