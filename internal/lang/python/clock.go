package python

import (
	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

var _ lang.Shifter = Language{}

// Shift preloads the clock into the interpreter of the run and what it starts.
func (Language) Shift(r schemas.Recipe, run recipe.TestRun, s clock.Shift) (recipe.TestRun, string, error) {
	run.Command = clock.Preload(run.Command, interpreter(r), s)
	return run, clock.ByPreload, nil
}
