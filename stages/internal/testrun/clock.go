package testrun

import (
	"fmt"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
)

// NotShifted is why a run with the clock ahead could not be made: it says nothing of a test.
type NotShifted struct{ Why string }

func (e *NotShifted) Error() string { return "the clock was not shifted: " + e.Why }

// shift puts runs under a clock, in place, and says how.
func (b *Bench) shift(c clock.Shift, runs []recipe.TestRun) (by string, err error) {
	if c.Ahead == 0 {
		return "", nil
	}
	shifter, ok := b.Runner.(lang.Shifter)
	if !ok {
		return "", &NotShifted{fmt.Sprintf("no way is known for tests of %s", b.Environment.Recipe.Report)}
	}
	for i := range runs {
		if runs[i], by, err = shifter.Shift(b.Environment.Recipe, runs[i], c); err != nil {
			return "", &NotShifted{err.Error()}
		}
	}
	if c.Files {
		by += "+files"
	}
	return by, nil
}
