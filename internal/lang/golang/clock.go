package golang

import (
	"fmt"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

var _ lang.Shifter = Language{}

// clockFrom is the first Go whose clock can be set, because it has -overlay.
const clockFrom = "1.16"

// Shift compiles the run with a time.Now that is ahead.
func (Language) Shift(r schemas.Recipe, run recipe.TestRun, s clock.Shift) (recipe.TestRun, string, error) {
	if !atLeast(r, clockFrom) {
		return run, "", fmt.Errorf("go test of Go %s has no -overlay (%s has)", r.Toolchain.Version, clockFrom)
	}
	run, err := clock.Overlay(run, goRoot(r), s)
	return run, clock.ByOverlay, err
}
