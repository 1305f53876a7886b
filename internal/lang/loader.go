package lang

import (
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

// Loader is a Language whose interpreter and runner load code by themselves as they start: start-up modules, plugins of
// what is installed. The built environment of a task tells what that is, and in that of an answer nothing else loads.
type Loader interface {
	// Loads is a process that tells what an environment loads. It runs in one that no answer has built in.
	Loads(r schemas.Recipe) recipe.TestRun
	// Loaded reads what it told. An error says that it did not come to its end.
	Loaded(out Output) ([]byte, error)
	// Only has a run load nothing else than that.
	Only(run recipe.TestRun, loads []byte) recipe.TestRun
	// Module is the top-level module that a path of the tree may be imported as in the place of another one: of the
	// standard library, or of what is installed. "" where it is none.
	Module(path string, loads []byte) (root, name string)
	// Quiet is a recipe whose builds leave nothing in the folders of others.
	Quiet(r schemas.Recipe) schemas.Recipe
	// Foreign are the paths of the environment that a build made, changed or removed although they are no part of the
	// project, sorted. Each map has the files of an environment, with what tells their content: as it is without the
	// project, with the base of the task, and as it was built.
	Foreign(loads []byte, env, base, built map[string]string) []string
}
