package recipe

import (
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Step is one stage of getting a lock or an env layer, to be run in the sandbox.
type Step struct {
	Commands []schemas.Command
	Files    []sandbox.File    // put in place first
	Caches   map[string]string // that outlive it, and that only Fill writes to: name → path inside
	Fill     *sandbox.Fill     // runs first, and no code of a repository or a package
	Env      map[string]string
	Collect  []string // files to read back
}

// TestRun is one process of a run, and where its report will be.
type TestRun struct {
	Command schemas.Command
	Inputs  []sandbox.File // ours, under sandbox.RunPath (the pytest plugin)
	Report  string         // absolute path collected after the run; "" = standard output
	// Secret is what the runner's Parse has to know of this run and the sandbox must
	// not: it is never among the inputs.
	Secret []byte
}
