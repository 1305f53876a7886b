package lang

import "github.com/benchmint/benchmint/schemas"

// Server is a Language whose services can be started by rule.
type Server interface {
	// Serve guesses how the service of the solution tree is installed, built and started, each
	// line with its evidence: a recipe with Service, and without lock and tester. A *Refusal
	// with a reason of survey/ says why it cannot.
	Serve(p Project, framework string) (schemas.Recipe, error)
}
