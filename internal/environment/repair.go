package environment

import (
	"context"
	"fmt"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/schemas"
)

// Attempts bounds every loop of repairs.
const Attempts = 5

// Repairer edits a recipe after an attempt that failed.
type Repairer interface {
	// Repair returns an edited copy of r, or false where it has nothing to change (any
	// more). It records the edit in Repairs, and clears Lock where the recipe has to be
	// resolved again. log is what the failed attempt printed. An error means that it cannot
	// answer now, and says nothing about the recipe.
	Repair(ctx context.Context, p lang.Project, r schemas.Recipe, log []byte) (schemas.Recipe, bool, error)
}

// FailureTable repairs by the table of the recipe's language. It never fails, and has no
// edit for an unknown language.
type FailureTable map[string]lang.Language

var _ Repairer = FailureTable{}

// Repair implements Repairer.
func (t FailureTable) Repair(_ context.Context, p lang.Project, r schemas.Recipe, log []byte) (schemas.Recipe, bool, error) {
	l, ok := t[r.Language]
	if !ok {
		return r, false, nil
	}
	edited, ok := l.Repair(p, r, log)
	return edited, ok, nil
}

var _ Repairer = (*Builder)(nil)

// Repair asks the failure table, then b.Repairers in order. The first edit holds.
func (b *Builder) Repair(ctx context.Context, p lang.Project, r schemas.Recipe, log []byte) (schemas.Recipe, bool, error) {
	for _, by := range append([]Repairer{FailureTable(b.Languages)}, b.Repairers...) {
		edited, ok, err := by.Repair(ctx, p, r, log)
		if err != nil {
			return r, false, fmt.Errorf("repairing the recipe: %w", err)
		}
		if ok {
			return edited, true, nil
		}
	}
	return r, false, nil
}
