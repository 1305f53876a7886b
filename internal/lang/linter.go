package lang

import (
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

// Finding is one thing that a linter says of a file of the tree.
type Finding struct {
	Tool    string `json:"tool"`
	Path    string `json:"path"`   // "" where it is of no one file
	Line    int    `json:"line"`   // from 1; 0 where it is of no one line
	Column  int    `json:"column"` // from 1; 0 where it is of no one column
	Rule    string `json:"rule"`
	Message string `json:"message"`
	// Suppressed is set where a comment in the code suppresses the finding. By OwnSettings such a one is not found.
	Suppressed bool `json:"suppressed,omitempty"`
}

// LintSettings say by whose settings linters run.
type LintSettings int

// By Standard and by Unsuppressed, no file of the tree is read for settings.
const (
	OwnSettings  LintSettings = iota // the tree's
	Standard                         // those of Linter.Standard; comments in the code suppress findings
	Unsuppressed                     // the same, and no comment suppresses a finding
)

// Linter is a Language whose code can be linted in its environment. What linters say decides
// no verdict.
type Linter interface {
	// LintTools are the programs that the environment of a task lacks, by their toolchains'
	// names, with what each does.
	LintTools() []Need
	// Lints are the processes that lint files of t, in order. Tools are given as
	// sandbox.RunPath/NAME.
	Lints(r schemas.Recipe, files []string, by LintSettings) []LintRun
	// Findings reads what one of them left. An error is a linter that did not come to its
	// answer.
	Findings(run LintRun, out Output) ([]Finding, error)
	// Standard are the settings that are the same for each task of the language, as files by their names.
	Standard() map[string]string
	// ByStandard is what linters get by Standard or Unsuppressed in place of a file of the tree: nothing of
	// settings that no option overrules. Places of code stay where they are.
	ByStandard(path string, data []byte, by LintSettings) []byte
}

// LintRun is one process of a tool.
type LintRun struct {
	recipe.TestRun
	Tool string
	// Needs is the toolchain that the tool is in, "" where the environment has it.
	Needs string
}
