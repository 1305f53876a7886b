package lang

import (
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

// Server is a Language whose services can be started by rule.
type Server interface {
	// Serve guesses how the service of the solution tree is installed, built and started, each
	// line with its evidence: a recipe with Service, and without lock and tester. A *Refusal
	// with a reason of survey/ says why it cannot.
	Serve(p Project, framework string) (schemas.Recipe, error)
	// Look is the recipe of a service with a hook in it (package look), which is built above an environment with the files
	// and commands of the step.
	Look(r schemas.Recipe) (step recipe.Step, hooked schemas.Recipe)
	// Answering names the functions of a tree that are behind the routes that a hook told.
	Answering(t Tree) func(look.Fact) look.Answering
}
