package describe

import (
	"context"
	"slices"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
)

// byHand is a statement that somebody wrote. It meets the same gates as any draft.
type byHand string

var _ Drafter = byHand("")

// Draft implements Drafter.
func (text byHand) Draft(ctx context.Context, _ Material) (Draft, error) {
	pipeline.Provide(ctx, prompts.Provenance{Provider: schemas.Hand})
	return Draft{Provider: schemas.Hand, Text: string(text), From: []string{schemas.Hand}}, nil
}

// withNames returns an interface with names that somebody wrote: each stands in place of
// those of its name and kind.
func withNames(all, hand []schemas.Name) []schemas.Name {
	if len(hand) == 0 {
		return all
	}
	out := slices.DeleteFunc(slices.Clone(all), func(n schemas.Name) bool {
		return slices.ContainsFunc(hand, func(h schemas.Name) bool { return h.Name == n.Name && h.Kind == n.Kind })
	})
	return append(out, hand...)
}
