package testrun

import (
	"fmt"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
)

// Clock is the time that the runs of a place go by.
type Clock int

// The clocks.
const (
	RealTime   Clock = iota
	Ahead            // clock.Ahead ahead; what is written to disk has the real time
	FilesAhead       // as Ahead, and so are the times of files
)

// NotShifted is why a run with the clock ahead could not be made: it says nothing of a test.
type NotShifted struct{ Why string }

func (e *NotShifted) Error() string { return "the clock was not shifted: " + e.Why }

// shift puts runs under a clock, in place, and says how.
func (b *Bench) shift(c Clock, runs []recipe.TestRun) (by string, err error) {
	if c == RealTime {
		return "", nil
	}
	shifter, ok := b.Runner.(lang.Shifter)
	if !ok {
		return "", &NotShifted{fmt.Sprintf("no way is known for tests of %s", b.Environment.Recipe.Report)}
	}
	for i := range runs {
		if runs[i], by, err = shifter.Shift(b.Environment.Recipe, runs[i], c == FilesAhead); err != nil {
			return "", &NotShifted{err.Error()}
		}
	}
	if c == FilesAhead {
		by += "+files"
	}
	return by, nil
}
