package lang

import (
	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

// Shifter is a Runner whose runs can be made under a clock that is ahead (internal/clock).
type Shifter interface {
	// Shift is one of Runs under the clock, and the way by which it is ahead. An error says
	// why it cannot be with this recipe.
	Shift(r schemas.Recipe, run recipe.TestRun, s clock.Shift) (_ recipe.TestRun, by string, err error)
}
