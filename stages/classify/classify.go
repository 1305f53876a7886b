// Package classify labels a change: new feature, improvement, fix, or other.
//
// The label is decided by rules, and stored with all that speaks for it and against
// it. What people wrote down as a label (a heading of release notes, the type of a
// fragment or of a conventional commit, a ticked box) goes before words, and words
// before traces in the code. It never runs code, never asks anyone, and never says
// more than its evidence: where nothing says what a change is, it is other. Other is what
// is left where no kind is told: as much said for a kind is said for the kind, since a
// feature whose notes tell of upkeep too is a feature.
package classify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Version is part of the stage's fingerprint.
const Version = "3"

// Provider says in a record who decided.
const Provider = "rules"

// Changes gives the change of a start, with its notes.
type Changes interface {
	Change(id string) (schemas.Change, error)
}

// Config is the stage's settings (filters in the configuration file).
type Config struct {
	Labels []schemas.Label // that are kept; others are rejected
	// HideHeadings leaves out the headings of notes, the types of fragments and of
	// commits, and emoji, which is how the rules for all else are measured against them.
	HideHeadings bool
}

// Default is what holds where nothing is configured.
func Default() Config {
	return Config{Labels: []schemas.Label{schemas.LabelFeature, schemas.LabelImprovement}}
}

// Validate refuses labels that there are none of, and an empty list.
func (c Config) Validate() error {
	var failed []error
	if len(c.Labels) == 0 {
		failed = append(failed, errors.New("labels: the list is empty: nothing would be kept"))
	}
	for _, l := range c.Labels {
		if !slices.Contains(schemas.Labels, l) {
			failed = append(failed, fmt.Errorf("labels: %q is none of %s", l, joined(schemas.Labels)))
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
	changes Changes
	config  Config
}

var _ pipeline.Stage[schemas.Start, schemas.Labelled] = (*Classifier)(nil)

// New makes the stage.
func New(changes Changes, c Config) (*Classifier, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Classifier{changes: changes, config: c}, nil
}

// Run labels the change of one start. Rejections: schemas.OtherLabel.
func (c *Classifier) Run(_ context.Context, s schemas.Start) (schemas.Labelled, error) {
	change, err := c.changes.Change(s.ChangeID)
	if err != nil {
		return schemas.Labelled{}, err
	}
	label, evidence := c.Label(change, s)
	if !slices.Contains(c.config.Labels, label) {
		return schemas.Labelled{}, pipeline.Reject(schemas.OtherLabel, "%s: %s", label, first(evidence))
	}
	return schemas.Labelled{StartID: s.ChangeID, Start: schemas.DigestOf(s), Label: label, Evidence: evidence, Provider: Provider}, nil
}

func first(evidence []schemas.LabelEvidence) string {
	if len(evidence) == 0 {
		return "nothing says what it is"
	}
	return fmt.Sprintf("%s %q", evidence[0].Rule, evidence[0].Quote)
}

// Label decides, and gives what speaks for the label first, the strongest before others.
func (c *Classifier) Label(change schemas.Change, s schemas.Start) (schemas.Label, []schemas.LabelEvidence) {
	const most = 5 // notes, best first: the others would say it again
	change.Notes = change.Notes[:min(most, len(change.Notes))]
	t := textsOf(change)
	var found findings
	if !c.config.HideHeadings {
		found.notes(change.Notes)
		found.commit(t)
	}
	found.template(t.body)
	found.trailers(t.body)
	found.branch(t.branch)
	found.words(t)
	found.traces(s)
	label := decide(found)
	slices.SortStableFunc(found, func(a, b schemas.LabelEvidence) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), side(a.Label == label)-side(b.Label == label))
	})
	// What the label rests on comes first, though a heavier word was outvoted.
	slices.SortStableFunc(found, func(a, b schemas.LabelEvidence) int {
		return side(a.Label == label) - side(b.Label == label)
	})
	return label, found
}

func side(mine bool) int {
	if mine {
		return 0
	}
	return 1
}

// findings is evidence on its way to a decision.
type findings []schemas.LabelEvidence

func (f *findings) add(label schemas.Label, rule, quote string, weight int) {
	const most = 120
	if r := []rune(quote); len(r) > most {
		quote = string(r[:most]) + "…"
	}
	*f = append(*f, schemas.LabelEvidence{Label: label, Rule: rule, Quote: strings.TrimSpace(quote), Weight: weight})
}

// explicit is the least weight of what people wrote down as a label.
const explicit = 100

// decide gives the label of the heaviest evidence where that is explicit; where
// several labels have it, and among words, weights add up. Written down beside a kind,
// other has no say; among words it has to outweigh every kind.
func decide(all findings) schemas.Label {
	heaviest := 0
	for _, e := range all {
		heaviest = max(heaviest, e.Weight)
	}
	candidates := map[schemas.Label]bool{}
	sums := map[schemas.Label]int{}
	for _, e := range all {
		if heaviest < explicit || e.Weight == heaviest {
			candidates[e.Label] = true
		}
		if e.Weight < explicit || e.Weight == heaviest {
			sums[e.Label] += e.Weight
		}
	}
	// Of equal kinds, the lesser claim.
	var best schemas.Label
	for _, l := range []schemas.Label{schemas.LabelFix, schemas.LabelImprovement, schemas.LabelFeature} {
		if candidates[l] && (best == "" || sums[l] > sums[best]) {
			best = l
		}
	}
	if best == "" || heaviest < explicit && sums[schemas.LabelOther] > sums[best] {
		return schemas.LabelOther
	}
	return best
}
