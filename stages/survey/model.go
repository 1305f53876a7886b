package survey

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/internal/scenario"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/asked"
)

// Model proposes further requests by asking a model. What is expected of their answers comes from
// the recording, as for those of the rules.
type Model struct{ Client asked.Client }

// With has a model asked for further requests of each group.
func (s *Surveyor) With(m Model) *Surveyor {
	s.model = &m
	return s
}

// proposer is the model for one commit.
type proposer struct {
	Model
	repo, framework string
	tree            lang.Tree
	by              map[string]string // who proposed, by group
}

var _ scenario.Proposer = (*proposer)(nil)

// proposals are who is asked for further requests of a commit; nil where nobody is.
func (s *Surveyor) proposals(c Commit, framework string) *proposer {
	if s.model == nil {
		return nil
	}
	return &proposer{Model: *s.model, repo: c.Repo.Name, framework: framework, tree: c.Tree, by: map[string]string{}}
}

// Propose implements scenario.Proposer. A model that has no answer proposes nothing.
func (p *proposer) Propose(ctx context.Context, m scenario.Material) ([]scenario.Proposal, error) {
	in, err := p.question(m)
	if err != nil {
		return nil, err
	}
	out, by, err := asked.Put(ctx, p.Client, prompts.Requests, in)
	switch {
	case llm.NoAnswer(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	why := ""
	if out.Suspicious {
		why = "suspicious"
	}
	if err := by.Judged(ctx, why, ""); err != nil || out.Suspicious {
		return nil, err
	}
	p.by[m.Group] = by.Provider
	var all []scenario.Proposal
	for _, c := range out.Cases {
		one, err := proposal(c)
		if err != nil {
			return nil, fmt.Errorf("reading the proposal %s: %w", c.ID, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// proposal is a case of an answer with its references as a request has them.
func proposal(c prompts.ProposedCase) (scenario.Proposal, error) {
	out := scenario.Proposal{ID: c.ID, Needs: c.Needs, Route: c.Route, As: c.Auth, Encoding: c.Encoding, Why: c.Why}
	values := func(all map[string]json.RawMessage) (map[string]any, error) {
		var out map[string]any
		for k, raw := range all {
			v, err := contract.Plain(raw)
			if err != nil {
				return nil, err
			}
			if out == nil {
				out = map[string]any{}
			}
			out[k] = renamed(v, refKey, contract.RefKey)
		}
		return out, nil
	}
	var err error
	if out.Params, err = values(c.PathParams); err != nil {
		return out, err
	}
	if out.Query, err = values(c.Query); err != nil {
		return out, err
	}
	body, err := contract.Plain(c.Body)
	out.Body = renamed(body, refKey, contract.RefKey)
	return out, err
}

// refKey is what a question and its answer call contract.RefKey.
const refKey = "ref"

// renamed is a value whose references have another key. They are objects with the one key, of a
// case and a place; other objects may have it as well.
func renamed(v any, from, to string) any {
	switch t := v.(type) {
	case map[string]any:
		if ref, ok := t[from].(string); ok && len(t) == 1 {
			if id, place, ok := contract.SplitRef(ref); ok && id != "" && place != "" {
				return map[string]any{to: ref}
			}
		}
		out := map[string]any{}
		for k, e := range t {
			out[k] = renamed(e, from, to)
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, e := range t {
			out[i] = renamed(e, from, to)
		}
		return out
	}
	return v
}

// What a question holds at most.
const (
	maxCases = 80
	maxFile  = 6 << 10 // bytes
	maxFiles = 18 << 10
)

// question is what a model is told of a group. It is the same for every recording of one commit,
// so that nobody is asked twice.
func (p *proposer) question(m scenario.Material) (prompts.RequestsInput, error) {
	in := prompts.RequestsInput{Repository: p.repo, Framework: p.framework, Group: m.Group, Users: m.Users}
	var handlers []routes.Function
	for i, a := range m.Asked {
		e := prompts.ServiceEndpoint{Index: i, Method: a.Method, Path: a.Path, Auth: a.Auth, Query: fields(a.Query, 0), Status: a.Status}
		if a.Body != nil {
			e.Body, e.Encoding = fields(a.Body.Fields, 0), a.Body.Encoding
		}
		in.Endpoints = append(in.Endpoints, e)
		switch {
		case contract.GroupName(a.Group()) != m.Group || a.Handler.Name == "":
		case a.Answered:
			handlers = append(handlers, a.Handler)
		default: // what the code asks for is not known
			handlers = slices.Insert(handlers, 0, a.Handler)
		}
	}
	for _, c := range m.Cases[:min(len(m.Cases), maxCases)] {
		in.Cases = append(in.Cases, prompts.ServiceCase{
			ID: c.ID, Endpoint: c.Endpoint.String(), Params: shown(c.Request.Params), Query: shown(c.Request.Query),
			Body: renamed(c.Request.Body, contract.RefKey, refKey), Status: c.Status, Gives: c.Gives,
		})
	}
	return in, p.files(&in, handlers)
}

func shown(values map[string]any) map[string]any {
	out, _ := renamed(values, contract.RefKey, refKey).(map[string]any)
	return out
}

// files adds the files of handlers; of a long one what stands around the handler.
func (p *proposer) files(in *prompts.RequestsInput, handlers []routes.Function) error {
	left := maxFiles
	for _, h := range handlers {
		if left <= 0 {
			break
		}
		b, err := p.tree.Read(h.Path)
		if err != nil {
			return fmt.Errorf("reading the code of a handler: %w", err)
		}
		text := around(string(b), h.Name[strings.LastIndexByte(h.Name, '.')+1:], min(left, maxFile))
		f := prompts.File{Path: h.Path, Text: text}
		if slices.Contains(in.Files, f) {
			continue
		}
		left -= len(text)
		in.Files = append(in.Files, f)
	}
	return nil
}

// around is the part of a text from where a function begins, in whole lines.
func around(text, function string, most int) string {
	if len(text) <= most {
		return strings.ToValidUTF8(text, "")
	}
	at := 0
	for _, word := range []string{"def " + function + "(", "func " + function + "(", ") " + function + "("} {
		if i := strings.Index(text, word); i >= 0 {
			at = strings.LastIndexByte(text[:i], '\n') + 1
			break
		}
	}
	text = text[at:min(len(text), at+most)]
	if end := strings.LastIndexByte(text, '\n'); end > 0 {
		text = text[:end+1]
	}
	return strings.ToValidUTF8(text, "")
}

// fields are members with what is known of them, those inside of others behind a dot.
func fields(all []routes.Field, depth int) (out []string) {
	const deepest = 4
	for _, f := range all {
		text := f.Name + ": " + f.Type
		if f.Format != "" {
			text += " " + f.Format
		}
		if len(f.Enum) > 0 {
			text += " (" + strings.Join(f.Enum, ", ") + ")"
		}
		if f.Required {
			text += ", required"
		}
		out = append(out, text)
		inner := f.Fields
		if f.Items != nil {
			inner = f.Items.Fields
		}
		if depth < deepest {
			for _, x := range fields(inner, depth+1) {
				out = append(out, f.Name+"."+x)
			}
		}
	}
	return out
}

// asked is what became of a model's proposals for a group: those of which the replays have
// nothing in common are dropped by name, too.
func (p *proposer) asked(g *scenario.Group, unjudged map[string]string) *schemas.Asked {
	if p == nil || p.by[contract.GroupName(g.Name)] == "" {
		return nil
	}
	out := &schemas.Asked{Provider: p.by[contract.GroupName(g.Name)]}
	for _, v := range g.Proposed {
		one := schemas.Proposal{ID: v.ID, Why: v.Why, Dropped: v.Dropped}
		if one.Dropped == "" {
			one.Dropped = unjudged[v.ID]
		}
		out.Proposals = append(out.Proposals, one)
	}
	return out
}
