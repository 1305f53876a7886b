// Package classify labels a change: new feature, improvement, fix, or other.
//
// Rules read the label from what people wrote down as one (a heading of release
// notes, the type of a fragment or of a conventional commit, a ticked box), else from
// their words, else from traces in the code. The label is stored with all evidence for
// and against it. Where the rules found nothing explicit, further deciders are asked.
//
// The stage never runs code, and a label never says more than its evidence: a change
// that nothing describes is other.
package classify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Version is part of the stage's fingerprint.
const Version = "5"

// Changes gives the change of a start, with its notes.
type Changes interface {
	Change(id string) (schemas.Change, error)
}

// Decider labels one change.
type Decider interface {
	// Provider is the decider's name in a record: "rules", or a model's name.
	Provider() string
	// Decide returns the label with its evidence: what speaks for the label first. Whether
	// the label rests on something explicit is for Explicit to say. An error means that the
	// decider cannot answer now; it is never an answer.
	Decide(ctx context.Context, change schemas.Change, s schemas.Start) (schemas.Label, []schemas.LabelEvidence, error)
}

// explicit is the least weight of what people wrote down as a label.
const explicit = 100

// Explicit reports whether the heaviest evidence is a label that somebody wrote down.
func Explicit(evidence []schemas.LabelEvidence) bool { return heaviest(evidence) >= explicit }

func heaviest(evidence []schemas.LabelEvidence) int {
	most := 0
	for _, e := range evidence {
		most = max(most, e.Weight)
	}
	return most
}

// Config is the stage's settings (filters in the configuration file).
type Config struct {
	Labels []schemas.Label // the labels to keep; a change with another one is rejected
	// HideHeadings makes the rules ignore headings of notes, types of fragments and of
	// commits, and emoji. BenchmarkRealNotes of harvest measures the other rules against these with it.
	HideHeadings bool
	// Model is who is asked where the rules find nothing explicit, with the hash of the
	// prompt; nil is nobody.
	Model  *llm.Settings `json:"model,omitempty"`
	Prompt string        `json:"prompt,omitempty"`
}

// Default is what holds where nothing is configured.
func Default() Config {
	return Config{Labels: []schemas.Label{schemas.LabelFeature, schemas.LabelImprovement}}
}

// Validate refuses an unknown label and an empty list.
func (c Config) Validate() error {
	var failed []error
	if len(c.Labels) == 0 {
		failed = append(failed, errors.New("labels: the list is empty: nothing would be kept"))
	}
	for _, l := range c.Labels {
		if !slices.Contains(schemas.Labels, l) {
			failed = append(failed, fmt.Errorf("labels: %q is not one of %s", l, joined(schemas.Labels)))
		}
	}
	return errors.Join(failed...)
}

func joined(labels []schemas.Label) string {
	var words []string
	for _, l := range labels {
		words = append(words, string(l))
	}
	return strings.Join(words, ", ")
}

// Classifier is the stage. It holds no state.
type Classifier struct {
	changes  Changes
	config   Config
	deciders []Decider
}

var _ pipeline.Stage[schemas.Start, schemas.Labelled] = (*Classifier)(nil)

// New makes the stage; diffs may be nil (Rules). The rules decide first. Where they find nothing explicit, the
// others are asked in order.
func New(changes Changes, diffs Diffs, c Config, others ...Decider) (*Classifier, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	rules := Rules{HideHeadings: c.HideHeadings, Diffs: diffs}
	return &Classifier{changes: changes, config: c, deciders: append([]Decider{rules}, others...)}, nil
}

// Run labels the change of one start; a library and a service have no label. Rejections: schemas.OtherLabel.
func (c *Classifier) Run(ctx context.Context, s schemas.Start) (schemas.Labelled, error) {
	if s.Masked != nil { // it is no change
		return schemas.Labelled{StartID: s.ChangeID, Start: schemas.DigestOf(s), Provider: Rules{}.Provider()}, nil
	}
	change, err := c.changes.Change(s.ChangeID)
	if err != nil {
		return schemas.Labelled{}, err
	}
	out := schemas.Labelled{StartID: s.ChangeID, Start: schemas.DigestOf(s)}
	// The rules have the say where they find something explicit; else the first of the others
	// that decides; else the rules.
	for i, d := range c.deciders {
		label, evidence, err := d.Decide(ctx, change, s)
		if errors.Is(err, ErrUndecided) {
			continue
		}
		if err != nil {
			return schemas.Labelled{}, err
		}
		out.Label, out.Evidence, out.Provider = label, evidence, d.Provider()
		if i > 0 || Explicit(out.Evidence) {
			break
		}
	}
	// What an edit must be is not said by a label.
	if s.Kind != schemas.KindEdit && !slices.Contains(c.config.Labels, out.Label) {
		return schemas.Labelled{}, pipeline.Reject(schemas.OtherLabel, "%s: %s", out.Label, first(out.Evidence))
	}
	return out, nil
}

// Unsaid is in a reject what stands in place of evidence.
const Unsaid = "nothing says what it is"

func first(evidence []schemas.LabelEvidence) string {
	if len(evidence) == 0 {
		return Unsaid
	}
	said := fmt.Sprintf("%s %q", evidence[0].Rule, evidence[0].Quote)
	if i := slices.IndexFunc(evidence, func(e schemas.LabelEvidence) bool { return e.Rule == "tie" }); i >= 0 {
		said += "; " + evidence[i].Quote
	}
	return said
}
