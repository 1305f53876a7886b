package classify

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
)

// Rules decide from the change's own text and code. They ask nobody, and fail only
// where the diffs of a start cannot be read.
type Rules struct {
	HideHeadings bool // see Config
	// Diffs gives the diffs of a start; nil where the rules have to do without.
	Diffs Diffs
}

// Diffs gives what a digest of a start names; a store of blobs does.
type Diffs interface {
	Get(d schemas.Digest) ([]byte, error)
}

var _ Decider = Rules{}

// Provider implements Decider.
func (Rules) Provider() string { return prompts.Rules }

// Decide implements Decider. Evidence for the label comes first, heavier before lighter.
func (r Rules) Decide(_ context.Context, change schemas.Change, s schemas.Start) (schemas.Label, []schemas.LabelEvidence, error) {
	const most = 5 // notes, best first: further ones would say the same again
	change.Notes = change.Notes[:min(most, len(change.Notes))]
	t := textsOf(change)
	var found findings
	if maintenance.MatchString(change.Subject) {
		found.add(other, "merge_of_maintenance", change.Subject, weightMaintenance)
	}
	if !r.HideHeadings {
		found.notes(change.Notes)
		found.commit(t)
		found.pull(change.Pull)
	}
	found.template(t.body)
	found.trailers(t.body)
	found.branch(t.branch)
	found.words(t)
	found.lines(t)
	code, err := r.diff(s.Patch)
	if err != nil {
		return "", nil, err
	}
	tests, err := r.diff(s.TestPatch)
	if err != nil {
		return "", nil, err
	}
	found.traces(s, code, tests)
	label, rival := decide(found)
	if rival != "" {
		found.add(rival, "tie", "as much speaks for "+string(rival), 0)
	}
	slices.SortStableFunc(found, func(a, b schemas.LabelEvidence) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), side(a.Label == label)-side(b.Label == label))
	})
	// Evidence for the label comes first, even where a heavier word was outvoted.
	slices.SortStableFunc(found, func(a, b schemas.LabelEvidence) int {
		return side(a.Label == label) - side(b.Label == label)
	})
	return label, found, nil
}

// diff is one diff of a start, "" where there is none.
func (r Rules) diff(d schemas.Digest) (string, error) {
	if r.Diffs == nil || d == "" {
		return "", nil
	}
	b, err := r.Diffs.Get(d)
	return string(b), err
}

func side(mine bool) int {
	if mine {
		return 0
	}
	return 1
}

// findings collects evidence for and against each label.
type findings []schemas.LabelEvidence

func (f *findings) add(label schemas.Label, rule, quote string, weight int) {
	const most = 120
	if r := []rune(quote); len(r) > most {
		quote = string(r[:most]) + "…"
	}
	*f = append(*f, schemas.LabelEvidence{Label: label, Rule: rule, Quote: strings.TrimSpace(quote), Weight: weight})
}

// decide gives the label of the heaviest evidence if that is explicit. Where several
// labels share the greatest weight, and where there are only words, weights add up.
// An explicit other never wins over an explicit kind of equal weight. Among words,
// other wins only if it outweighs every kind: a feature whose notes mention upkeep is
// still a feature. rival is a kind for which exactly as many words speak; "" for most.
func decide(all findings) (best, rival schemas.Label) {
	heaviest := heaviest(all)
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
	// Of labels with equal sums, the first in this order wins: the smaller claim.
	for _, l := range []schemas.Label{fix, improvement, feature} {
		switch {
		case !candidates[l]:
		case best == "" || sums[l] > sums[best]:
			best, rival = l, ""
		case sums[l] == sums[best]:
			rival = l
		}
	}
	switch {
	case best == "" || heaviest < explicit && sums[other] > sums[best]:
		return other, ""
	case heaviest >= explicit: // one heading can name two kinds
		return best, ""
	}
	return best, rival
}
