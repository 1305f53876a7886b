package lang

import (
	"github.com/benchmint/benchmint/internal/packages"
	"github.com/benchmint/benchmint/schemas"
)

// Keeper is a Language whose env layers hold their packages as a registry serves them. Those of
// others are seen on their way into a build.
type Keeper interface {
	// Downloads is the folder of an env layer that holds them.
	Downloads(r schemas.Recipe) string
	// Download says what a file is, by its path below that folder; false for one that no build
	// asks for.
	Download(path string) (packages.File, bool)
}
