package lang

import (
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

// Place is a line of a file of the tree, from 1.
type Place struct {
	Path string
	Line int
}

// Reacher is a Runner that can tell where each test goes: lines of functions that it enters.
// It measures; what it says decides no verdict, and hostile code can make it say what it likes.
type Reacher interface {
	// Reach are the processes that run the given tests, once each, and note where in the given
	// files they go; nil is all files of the tree. false where the tests are more than can be
	// measured at a bearable cost.
	Reach(r schemas.Recipe, t Tree, tests []Test, files []string) ([]recipe.TestRun, bool)
	// Reached reads what they left, by test ID. A test that was not measured is not in it.
	Reached(r schemas.Recipe, out []Output) map[string][]Place
}
