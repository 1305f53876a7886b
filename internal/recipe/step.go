package recipe

import (
	"slices"

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
	// Sealed are what the command cannot change (sandbox.Run.Sealed), beside what judges the tree that it runs in.
	Sealed []string
	Watch  []string // sandbox.Run.Watch
	Report string   // absolute path collected after the run; "" = standard output
	// Secret is what the runner's Parse has to know of this run and the sandbox must
	// not: it is never among the inputs.
	Secret []byte
	// Given, where it is not nil, is what the command reads from sandbox.GivenFD. Its report
	// then leaves by sandbox.ReportFD, and Report is "".
	Given []byte
	// Serves is the service that the command asks. It runs in the layer of the state, and the
	// command in that of the tester (Recipe.Service.Tester). nil: there is none, and the command
	// runs in the layer of the state.
	Serves *schemas.Command
}

// Asking is r with all that brings the report of t.
func (t TestRun) Asking(r sandbox.Run) sandbox.Run {
	switch {
	case t.Given != nil:
		r.Channel = &sandbox.Channel{Given: t.Given}
	case t.Report != "":
		r.Collect = append(slices.Clone(r.Collect), t.Report)
	}
	return r
}

// Said is the report of t in what came back, nil where there is none, and whether it was cut.
func (t TestRun) Said(res sandbox.Result) (report []byte, cut bool) {
	switch {
	case t.Given != nil:
		return res.Report, res.ReportCut
	case t.Report != "":
		return res.Files[t.Report], res.Cut[t.Report]
	}
	return res.Output, false
}
