package lang

import (
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

// Observer is a Language that can show which functions run when the code of a tree is loaded.
// What hostile code says of itself harms its own task alone: a function that is said to run stays.
type Observer interface {
	// Observe are the processes that load the code of a tree that a recipe built: they import its modules, or start its
	// test programs without a test, and collect its tests.
	Observe(r schemas.Recipe, t Tree) []recipe.TestRun
	// Observed reads what they left.
	Observed(out []Output) mask.Load
}
