package lang

import (
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Server is a Language whose services can be started by rule.
type Server interface {
	// Serve guesses how the service of the solution tree is installed, built and started, each
	// line with its evidence: a recipe with Service, and without lock and tester. A *Refusal
	// with a reason of survey/ says why it cannot.
	Serve(p Project, framework string) (schemas.Recipe, error)
	// DatabaseURL is the URL by which programs of the language, with what a recipe installs, ask the database of its service.
	DatabaseURL(r schemas.Recipe) string
	// Look is how a service is started with a hook in it (package look).
	Look(r schemas.Recipe) Hooked
	// Answering names the functions of a tree that are behind the routes that the hook of a service told.
	Answering(t Tree, h Hooked) func(look.Fact) look.Answering
}

// Hooked is a service with a hook. Step has files and commands that are laid above its environment, before its state is built,
// and Inputs are files that each run of it is given, below sandbox.RunPath. One of the two may be empty.
type Hooked struct {
	Recipe schemas.Recipe
	Step   recipe.Step
	Inputs []sandbox.File
	// Root is where the tree lies whose files the hook tells; "" is sandbox.TreePath.
	Root string
}
