// Package golang is the Go plugin of package lang: which files are tests, which
// recipe a tree asks for, how its tests are run and what they said.
//
// It never runs a process and never touches the network: it answers with data
// (steps, commands, files) that others execute in a sandbox.
package golang

import (
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Name is the language's name in records and configuration, and its toolchain's.
const Name = "go"

// ReportFormat is what Recipe.Report says.
const ReportFormat = "go-test-json"

// Places inside the sandbox. Module and build cache are what the env layer is;
// modulesPath holds the project's manifests without its code, while it is made.
const (
	modCachePath   = sandbox.EnvPath + "/gomod"
	buildCachePath = sandbox.EnvPath + "/gocache"
	gopathPath     = sandbox.EnvPath + "/gopath"
	modulesPath    = sandbox.EnvPath + "/modules"
	planPath       = sandbox.RunPath + "/packages"
)

// Language implements lang.Language, and lang.Runner for ReportFormat.
type Language struct{}

var (
	_ lang.Language     = Language{}
	_ lang.Runner       = Language{}
	_ lang.TreeManifest = Language{}
)

// Name is "go".
func (Language) Name() string { return Name }

// Toolchains is Go alone: it brings all that it needs.
func (Language) Toolchains() []string { return []string{Name} }

// Needs is any go command: it fetches the versions that projects ask for.
func (Language) Needs() []lang.Need {
	return []lang.Need{{Name: Name, Why: "builds Go projects and fetches the versions that they ask for", Get: "apt-get install golang-go, or a newer one from the Go project, its bin folder in PATH"}}
}

// Masker is Go's.
func (Language) Masker() mask.Language { return Masker{} }

// goCommand is the toolchain's go, inside the sandbox.
func goCommand(r schemas.Recipe) string { return goRoot(r) + "/bin/go" }

func goRoot(r schemas.Recipe) string {
	return sandbox.ToolchainPath + "/" + r.Toolchain.Name + "-" + r.Toolchain.Version
}

// TestID joins the import path of a package and a test's name.
func TestID(pkg, name string) string { return pkg + idSeparator + name }

// idSeparator cannot be part of an import path; a test's name may hold it.
const idSeparator = "::"
