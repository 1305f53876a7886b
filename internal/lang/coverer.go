package lang

import (
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

// Coverage are the lines of one file, from 1, sorted: those that can run, and those of them
// that did.
type Coverage struct {
	Path       string
	Lines, Ran []int
}

// Coverer is a Runner that can tell which lines tests run. As of a Reacher, what it says
// decides no verdict: it looks at one process, and hostile code can make it say anything.
type Coverer interface {
	// Cover are the processes that run tests of a selection, and note which lines of files
	// run. false where it cannot be measured at a bearable cost.
	Cover(r schemas.Recipe, t Tree, sel Select, tests []Test, files []string) ([]recipe.TestRun, bool)
	// Covered reads what they left, by path. A file of which nothing is known is not in it.
	Covered(r schemas.Recipe, out []Output) []Coverage
}
