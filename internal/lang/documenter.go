package lang

import (
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

// Documenter is a Language whose projects have their documentation built by a tool, which
// runs code of theirs.
type Documenter interface {
	// Documentation says how the documentation of a project's solution is built; false where
	// no tool of the language's builds one. r is the recipe of the project's environment.
	Documentation(p Project, r schemas.Recipe) (Documentation, bool)
}

// Documentation is how one is built.
type Documentation struct {
	Tool string // sphinx, mkdocs
	// Recipes are those of an environment to build it in, without locks, the best first:
	// where one finds no lock the next is asked. None is that of the project's tests, which
	// what the documentation needs has no business in.
	Recipes []schemas.Recipe
	// Run builds the pages in a layer of the solution, without network. Its report is what
	// spec.ReadPages reads.
	Run recipe.TestRun
}
