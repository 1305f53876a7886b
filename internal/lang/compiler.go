package lang

import (
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Compiler is a Runner whose tests are programs. All of a run are compiled before anything of the tree has run, and each
// then runs in a sandbox of its own, so that no test reaches the compiler, another program, or what is still to be
// compiled.
type Compiler interface {
	// Compile builds the programs of one of Runs, with its inputs. Its Collect is one file. false where the command
	// has to run its tests itself.
	Compile(r schemas.Recipe, run recipe.TestRun) (recipe.Step, bool)
	// Compiled reports whether a path of the test part is in the programs, which do not read it again.
	Compiled(path string) bool
	// Told is what tells a run from another one with the same step, but for what is random.
	Told(run recipe.TestRun) []byte
	// Programs are the processes that the collected file tells of, and the exit code of the build. An error says that
	// the build did not come to its end.
	Programs(r schemas.Recipe, run recipe.TestRun, made []byte) (programs []recipe.TestRun, code int, err error)
	// Convert makes of what the build and the programs said (as many as ran) what the command would have said. It runs
	// nothing of the tree. Its layer lies on the environment, and Converter makes it.
	Convert(r schemas.Recipe, made []byte, said []sandbox.Result) (recipe.TestRun, error)
	Converter(r schemas.Recipe) recipe.Step
}
