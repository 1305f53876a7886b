package lang

import "github.com/benchmint/benchmint/schemas"

// Narrower is a Runner of a language whose builds leave nothing behind but a cache that goes by
// content: a tree may be built on what another one left, and less than all of it.
type Narrower interface {
	// Narrow gives the builds of a recipe that warm the cache for runs of a selection, in the order of
	// the recipe. false where a build may do more than that: then it is run as it stands.
	Narrow(r schemas.Recipe, t Tree, sel Select) ([]schemas.Command, bool)
}
