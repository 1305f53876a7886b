// Package lang says what the stages ask of a language, and of what runs its tests. Each language is a package below this
// one, and package plugins lists them all.
//
// The words:
//
//   - A Masker (mask.Language) says what a file holds, so that its functions can be masked. Every language has one, in
//     mask.go and mask_*.go; seven of the nine have no more.
//   - A Language is one that environments are made for, Python and Go: it tells tests from code (files.go), guesses a
//     recipe from a tree (infer*.go), locks its dependencies (resolve.go), mends it after a failed build (repair.go), and
//     names what only the solution defines (names.go).
//   - A Runner runs the tests of a recipe (run.go) and reads their report (report.go). A recipe names its runner by the
//     format of the report, not by its language: the suite of a service is run by package httpsuite.
//   - Author, Compiler, Coverer, Documenter, Guarded, Keeper, Linter, Narrower, Observer, Reacher, Server and Shifter are further interfaces that a Language may have;
//     each stands in a file of its name.
//   - A Refusal is "no recipe", with the reason that the item is rejected for.
//
// For example, of a tree with a go.mod, golang.Language says that a_test.go is of the test part, and gives the recipe
// with the test command "go test ./..." and the report format "go-test-json".
//
// The package never runs a process and never touches the network: it reads trees and reports, and answers with data that
// others execute.
package lang

import (
	"time"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Tree is a read-only view on one commit's tree.
type Tree interface {
	Paths() []string // every file and symlink, sorted; no submodules
	Has(path string) bool
	Read(path string) ([]byte, error) // a symlink reads as its target
}

// Project is what inference may look at. The solution's manifests and the
// changed tests decide dependencies; the base's date decides versions.
type Project struct {
	Name      string // owner/name
	Base      Tree
	Solution  Tree
	Date      time.Time // commit date of base
	Version   tree.Version
	TestPaths []string // changed test files, in the solution
	// Masked says that the bodies of most functions are missing in Base.
	Masked bool
	// PinToDate holds dependency versions to Date (build.pin_to_date).
	PinToDate bool
	// Available toolchains by name (python, go), any order.
	Available []ToolchainRelease
}

// ToolchainRelease is one that can be had, here and now.
type ToolchainRelease struct {
	Name     string // python, go
	Version  string // 3.12.1
	Released time.Time
}

// Select says what one proof run covers.
type Select struct {
	// Paths are changed test files; nil is the whole suite. Where they come to all
	// test files that the suite runs, Runs gives the suite's very commands: the run
	// then counts as the suite's first and is not made twice.
	Paths []string
	// Skip are test IDs left out: they ended the run before (design 8, after an abort).
	Skip []string
	// Units are the only units to run (what is left after an abort); nil is all of
	// Paths. A runner that cannot narrow a run to units ignores it: of a test that
	// runs twice the first outcome counts.
	Units []string
	// Number is the run's number within its state, from 1: hash seeds and the like.
	Number int
	// Traces asks for what the runner prints of each failure (testlog.Test.Trace).
	Traces bool
	// Nonce marks the records of this run, where the runner's plugin can; "" is a
	// random one. Only what is rendered for a dataset asks for a fixed one.
	Nonce string
}

// Output is what came back from one TestRun.
type Output struct {
	Run    recipe.TestRun
	Tree   Tree   // of the state that it ran in
	Report []byte // nil where no report was written
	Result sandbox.Result
}

// Test names one test of a report.
type Test struct{ ID, Unit string }

// Need is one thing that this machine has to have before anything of a language can
// be built. It is asked for before a run starts: what is missing then is no verdict
// on any change.
type Need struct {
	Name string // of a toolchain: python, go
	Why  string // what it does here, as the end of "it …"
	Get  string // the command that gets it, on Debian
}

// Language is one plugin. Implementations hold no state.
type Language interface {
	Name() string
	// Toolchains are the names of what Infer chooses from (Project.Available).
	Toolchains() []string
	// Needs is what the language cannot do without. What the program fetches by
	// itself is not among it.
	Needs() []Need

	// Files (files.go): the part of each path of a change, and manifests split by hunk.
	Files
	// Masker (mask.go) says what functions a source file has; nil where nothing does.
	Masker() mask.Language
	// Infer (infer.go) guesses a recipe; a *Refusal says why there is none.
	Infer(p Project) (schemas.Recipe, error)
	// Resolve gives the steps whose Collect holds the lock; Locked puts it into the
	// recipe. nil steps: the recipe is complete (the lock file is the lock).
	Resolve(p Project, r schemas.Recipe) (*recipe.Step, error)
	Locked(r schemas.Recipe, files map[string][]byte) (schemas.Recipe, error)
	// Setup gives the steps that make the env layer from a locked recipe.
	Setup(r schemas.Recipe) (recipe.Step, error)
	// Repair looks at a failed log and gives an edited recipe, or false (failure table).
	// Edits that change Requirements clear Lock, so that it is resolved again.
	Repair(p Project, r schemas.Recipe, log []byte) (schemas.Recipe, bool)
	// Untouched (untouched.go) prepares a question about the tests of one change: is a
	// test, with all fixtures and helpers that it may run, the same in both trees? What
	// it gives keeps what it read of the trees, for one goroutine at a time; false where
	// it cannot tell.
	Untouched(base, start Tree, changed []string) func(Test) bool
	// NewNames lists the names that the test paths use and that only the solution's
	// code defines; a Name without a Kind could not be found as a definition.
	NewNames(base, solution Tree, code, tests []string) []schemas.Name
}

// Runner runs test suites of one report format (Recipe.Report). A runner is not a
// language: one language has several, and one runner can serve several languages.
// Implementations hold no state.
type Runner interface {
	// Runs (run.go) are the processes of one proof run in state tree t.
	Runs(r schemas.Recipe, t Tree, sel Select) []recipe.TestRun
	// Parse (report.go) reads what they left. It never fails on hostile bytes: what
	// cannot be read is a run without its end.
	Parse(r schemas.Recipe, out []Output) testlog.Report
}

// Files decides parts.
type Files interface {
	// Source reports whether path is source code of this language.
	Source(path string) bool
	// Part decides one path of a change; ok is false where the language has no say
	// and the common rules of stages/link apply. after is the solution tree.
	Part(path string, after Tree) (part schemas.Part, rule string, ok bool)
	// Manifest splits the hunks of a manifest: for each hunk (its changed lines and
	// its place) whether it is of the test part; ok is false if path is not a manifest
	// that can serve both.
	Manifest(path string, before, after []byte, hunks []Hunk) (test []bool, mixed bool, ok bool)
}

// TreeManifest is a Files that needs the solution's tree to split a manifest: whom
// a requirement serves is told by the imports (Go). It is asked before Manifest.
type TreeManifest interface {
	ManifestIn(path string, before, after []byte, hunks []Hunk, solution Tree) (test []bool, mixed bool, ok bool)
}

// TestNamer is a Files of a language whose projects say in settings what their tests are
// called. It is asked before Part.
type TestNamer interface {
	// NamesTest reports whether the settings in one tree take path in another for a test,
	// and which settings do.
	NamesTest(path string, settings, t Tree) (rule string, ok bool)
}

// Hunk is the changed lines of one hunk: line numbers are 1-based.
type Hunk struct {
	OldStart, OldLines int
	NewStart, NewLines int
}

// Refusal is a typed "no recipe", for the stage to turn into a reject.
type Refusal struct {
	Reason schemas.Reason
	Detail string
}

func (r *Refusal) Error() string { return string(r.Reason) + ": " + r.Detail }
