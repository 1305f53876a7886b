package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/release"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/crawl/sources"
)

// shelf reads a store by item: what every stage made of one ID.
type shelf struct {
	*store.Store
	config *config.Config
}

// openShelf opens a store that is already there; reading makes none.
func openShelf(ctx context.Context, e *world, c *config.Config) (*shelf, error) {
	if !store.Exists(c.Store) {
		return nil, unmet("there is no store at %s; begin with: benchmint run PATH-OR-URL", c.Store)
	}
	s, err := e.openStore(ctx, c)
	if err != nil {
		return nil, err
	}
	return &shelf{Store: s, config: c}, nil
}

// item is everything the store knows of one ID.
type item struct {
	ID    string `json:"id"`
	Alias string `json:"alias,omitempty"` // schemas.Change.Alias
	schemas.Origin
	Steps []schemas.Step `json:"steps"`
	// Spent is what its steps asked models for; only show reads it.
	Spent []pipeline.Spend `json:"spent,omitempty"`
	// Refused are the answers of those that were of no use.
	Refused []pipeline.Verdict `json:"refused,omitempty"`

	// Left is the end of a proved item that is not in the dataset, Withdrawn that of one that releases do not have any
	// more, or Held for now; show and explain read them.
	Left      *output.Reject     `json:"left,omitempty"`
	Withdrawn *release.Withdrawn `json:"withdrawn,omitempty"`
	Held      bool               `json:"held,omitempty"`

	start *schemas.Start
	env   *schemas.Environment
	proof *schemas.Proof
	known *schemas.Resolved
}

// end is the last step that has come to something: how far the item came.
func (i *item) end() schemas.Step {
	for _, s := range slices.Backward(i.Steps) {
		switch s.State {
		case schemas.StepDone, schemas.StepRejected, schemas.StepDeferred, schemas.StepFailed:
			return s
		}
	}
	return schemas.Step{}
}

// recipe is the recipe as built, else as resolved.
func (i *item) recipe() *schemas.Recipe {
	switch {
	case i.env != nil && i.proof != nil:
		r := i.env.Recipe.Settled(*i.proof)
		return &r
	case i.env != nil:
		return &i.env.Recipe
	case i.known != nil:
		return &i.known.Recipe
	}
	return nil
}

// ids are all items, sorted: what the sources gave, in this run or an earlier one.
func (s *shelf) ids() ([]string, error) {
	var out []string
	for _, maker := range stages.StartStages {
		for step, err := range s.Each(maker) {
			if err != nil {
				return nil, err
			}
			out = append(out, step.Key)
		}
	}
	slices.Sort(out)
	return out, nil
}

// repositories are the sources that the store knows, as IDs.
func (s *shelf) repositories() ([]string, error) {
	var out []string
	for step, err := range s.Each(stages.Crawl) {
		if err != nil {
			return nil, err
		}
		out = append(out, step.Key)
	}
	return out, nil
}

// words are all that find resolves: items, then sources.
func (s *shelf) words() ([]string, error) {
	items, err := s.ids()
	if err != nil {
		return nil, err
	}
	sources, err := s.repositories()
	return append(items, sources...), err
}

// commitWord matches the beginning of a commit's hash.
var commitWord = lazyregexp.New(`^[0-9a-fA-F]{7,40}$`)

// ofCommit are the items whose change is a commit that begins so.
func (s *shelf) ofCommit(begin string, ids []string) ([]string, error) {
	begin = strings.ToLower(begin)
	var out []string
	for _, id := range ids {
		origin, err := s.origin(id)
		if err != nil {
			return nil, err
		}
		if origin != nil && strings.HasPrefix(origin.Commit(), begin) {
			out = append(out, id)
		}
	}
	return out, nil
}

// numberWord matches a number, alone or as the key of an ID.
var numberWord = lazyregexp.New(`^(?:.+-)?[1-9][0-9]*$`)

// ofAlias are the items that have an alias which is a word, or which ends in it. Only IDs
// that name a commit have one.
func (s *shelf) ofAlias(word string, ids []string) ([]string, error) {
	if !numberWord.MatchString(word) {
		return nil, nil
	}
	var out []string
	for _, id := range ids {
		if parsed, err := schemas.ParseInstanceID(id); err != nil || sources.KeyToSelection(parsed.Key) == parsed.Key {
			continue
		}
		origin, err := s.origin(id)
		if err != nil {
			return nil, err
		}
		if origin == nil || origin.Change == nil {
			continue
		}
		if alias := origin.Change.Alias(); alias != "" && (strings.EqualFold(alias, word) || strings.HasSuffix(alias, "-"+word)) {
			out = append(out, id)
		}
	}
	return out, nil
}

// find resolves what a person typed: an ID or an alias, in any case, the key alone where
// only one item has it (12 for acme__widget-12), the beginning of a commit's hash, or a
// source (acme__widget, acme/widget).
func (s *shelf) find(word string) (string, error) {
	all, err := s.words()
	if err != nil {
		return "", err
	}
	word = strings.TrimPrefix(word, "#")
	var close []string
	for _, id := range all {
		if strings.EqualFold(id, word) || strings.EqualFold(id, strings.Replace(word, "/", "__", 1)) {
			return id, nil
		}
		if strings.HasSuffix(id, "-"+word) {
			close = append(close, id)
		}
	}
	aliased, err := s.ofAlias(strings.Replace(word, "/", "__", 1), all)
	if err != nil {
		return "", err
	}
	close = append(close, aliased...)
	if len(close) == 0 && commitWord.MatchString(word) {
		if close, err = s.ofCommit(word, all); err != nil {
			return "", err
		}
	}
	switch {
	case len(close) == 1:
		return close[0], nil
	case len(close) > 1:
		return "", unmet("%q is %s; say which", word, strings.Join(close, " or "))
	case len(all) == 0:
		return "", unmet("no item %q: the store at %s is empty", word, s.config.Store)
	}
	return "", unmet("no item %q in the store at %s%s", word, s.config.Store, nearest.Hint(word, all))
}

// origin is what an item comes from, whatever its kind; nil for a source.
func (s *shelf) origin(id string) (*schemas.Origin, error) {
	for _, maker := range stages.StartStages {
		raw, ok, err := s.Inputs(maker, id)
		if err != nil {
			return nil, err
		}
		if ok {
			o, err := stages.OriginOf(maker, raw)
			if err != nil {
				return nil, fmt.Errorf("reading what %s comes from: %w", id, err)
			}
			return &o, nil
		}
	}
	return nil, nil
}

// item reads the ladder of one ID.
func (s *shelf) item(id string) (*item, error) {
	i := &item{ID: id}
	origin, err := s.origin(id)
	if err != nil {
		return nil, err
	}
	if origin != nil {
		i.Origin = *origin
	}
	if i.Change != nil {
		i.Alias = i.Change.Alias()
	}
	if i.Steps, err = s.Ladder(stages.Order, id); err != nil {
		return nil, err
	}
	for _, step := range i.Steps {
		if err := i.read(step); err != nil {
			return nil, fmt.Errorf("reading %s of %s: %w", step.Stage, id, err)
		}
		if step.Evidence != "" && step.Stage == stages.Validate {
			i.readEvidence(s.Blobs, step.Evidence)
		}
	}
	return i, s.addBuild(i)
}

// outside reads why a proved item is not in the dataset of the configuration, or not in its releases any more. The
// first is a step more of its ladder.
func (s *shelf) outside(i *item) error {
	if i.end().State != schemas.StepDone {
		return nil
	}
	left, ok, err := output.RejectOf(s.config.Output, i.ID)
	if err != nil {
		return &ended{exitUsage, err}
	}
	if ok {
		i.Left = &left
		i.Steps = append(i.Steps, schemas.Step{Stage: left.Stage, Key: i.ID, State: left.End, Reason: left.Reason, Detail: left.Detail})
	}
	releases, err := release.Read(s.config.Releases)
	if errors.Is(err, release.ErrNoShelf) {
		return nil
	}
	if err != nil {
		return &ended{exitUsage, err}
	}
	if w, held, ok := releases.Feed.Withdrawn(i.ID); ok {
		i.Withdrawn, i.Held = &w, held
	}
	return nil
}

// read keeps the record that a step made, by stage.
func (i *item) read(step schemas.Step) error {
	out, ok := step.Output()
	if step.State != schemas.StepDone || !ok {
		return nil
	}
	raw := out.Record
	switch step.Stage {
	case stages.Link, stages.Range, stages.Mask, stages.Strip:
		i.start = new(schemas.Start)
		return json.Unmarshal(raw, i.start)
	case stages.Resolve:
		i.known = new(schemas.Resolved)
		return json.Unmarshal(raw, i.known)
	case stages.Provision:
		var p schemas.Provisioned
		err := json.Unmarshal(raw, &p)
		i.env = &p.Environment
		return err
	case stages.Suite:
		var p schemas.Provisioned
		err := json.Unmarshal(raw, &p)
		if p.Tested != nil {
			i.start = p.Tested
		}
		return err
	case stages.Validate:
		i.proof = new(schemas.Proof)
		return json.Unmarshal(raw, i.proof)
	}
	return nil
}

// readEvidence takes the proof of a reject, as far as it came. A lost blob leaves
// the rest of the ladder to be read.
func (i *item) readEvidence(b *blob.Store, d schemas.Digest) {
	raw, err := b.Get(d)
	if err != nil {
		return
	}
	var proof schemas.Proof
	if json.Unmarshal(raw, &proof) == nil {
		i.proof = &proof
	}
}

// addBuild puts the shared build before the provision step that waited for it.
func (s *shelf) addBuild(i *item) error {
	if i.known == nil {
		return nil
	}
	step, ok, err := s.Step(stages.Provision+".build", string(i.known.Key))
	if err != nil || !ok {
		return err
	}
	at := slices.IndexFunc(i.Steps, func(s schemas.Step) bool { return s.Stage == stages.Provision })
	if at < 0 {
		at = len(i.Steps)
	}
	i.Steps = slices.Insert(i.Steps, at, step)
	return nil
}

// text reads a blob as text; a missing or corrupt one is said in its place, so
// that one lost log does not hide the rest of a page.
func text(b *blob.Store, d schemas.Digest) string {
	if d == "" {
		return ""
	}
	raw, err := b.Get(d)
	if err != nil {
		return "[" + err.Error() + "]"
	}
	return string(raw)
}
