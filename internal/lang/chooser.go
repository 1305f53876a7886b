package lang

import "github.com/benchmint/benchmint/schemas"

// Chooser is a Language of which another version of a recipe's toolchain can be chosen.
type Chooser interface {
	// Usable are the toolchains that the recipe of a project can have.
	Usable(p Project, r schemas.Recipe) []ToolchainRelease
	// Move gives a recipe another version of its toolchain, wherever it is named.
	Move(r schemas.Recipe, version string) schemas.Recipe
}
