package python

import (
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/routes"
	"github.com/benchmint/benchmint/schemas"
)

// Look implements lang.Server.
func (Language) Look(r schemas.Recipe) (recipe.Step, schemas.Recipe) {
	return recipe.Step{}, r
}

// Answering implements lang.Server: Python's functions tell their file and qualified name.
func (Language) Answering(lang.Tree) func(look.Fact) look.Answering {
	return func(f look.Fact) look.Answering {
		p, ok := look.InTree(f.File, "")
		if !ok {
			return look.Answering{}
		}
		return look.Answering{Function: routes.Function{Path: p, Name: f.Func}, At: f.At}
	}
}
