// Package python is the Python plugin of package lang: which files are tests,
// which recipe a tree asks for, how its tests are run and what they said.
//
// It never runs a process and never touches the network: it answers with data
// (steps, commands, files) that others execute in a sandbox.
package python

import (
	"errors"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Name is the language's name in records and configuration.
const Name = "python"

// UVName is the toolchain of the resolver and installer. Stages give it to the
// sandbox beside the interpreter, as sandbox.ToolchainPath/uv-<version>.
const UVName = "uv"

// ReportFormat is what Recipe.Report says for runs with our plugin.
const ReportFormat = "benchmint-pytest"

// Places inside the sandbox.
const (
	venvPath   = sandbox.EnvPath + "/venv"
	venvPython = venvPath + "/bin/python"
	lockPath   = sandbox.EnvPath + "/requirements.lock"
	reportPath = "/tmp/.benchmint-report.jsonl"
	pluginPath = sandbox.RunPath + "/benchmint_pytest.py"
	// searchPath is that of an activated environment: tests and build back ends call
	// programs that dependencies bring.
	searchPath = venvPath + "/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// activated are the variables of an activated environment.
func activated() map[string]string {
	return map[string]string{"PATH": searchPath, "VIRTUAL_ENV": venvPath}
}

// Language implements lang.Language, and lang.Runner for ReportFormat.
type Language struct{}

var (
	_ lang.Language  = Language{}
	_ lang.Runner    = Language{}
	_ lang.TestNamer = Language{}
)

// Name is "python".
func (Language) Name() string { return Name }

// Toolchains are the interpreter and the installer.
func (Language) Toolchains() []string { return []string{"python", UVName} }

// Needs is an interpreter: environments are made from copies of this machine's. uv is
// fetched when it is first needed.
func (Language) Needs() []lang.Need {
	return []lang.Need{{Name: Name, Why: "runs Python projects and their tests", Get: "apt-get install python3 python3-venv, or pyenv install 3.12"}}
}

// Masker is Python's.
func (Language) Masker() mask.Language { return Masker{} }

// uv is the path of the uv that the recipe names among its tools.
func uv(r schemas.Recipe) (string, error) {
	for _, t := range r.Tools {
		if t.Name == UVName {
			return sandbox.ToolchainPath + "/" + UVName + "-" + t.Version + "/bin/uv", nil
		}
	}
	return "", errors.New("the recipe names no uv among its tools")
}

// interpreter is the toolchain's python, inside the sandbox.
func interpreter(r schemas.Recipe) string {
	return sandbox.ToolchainPath + "/" + r.Toolchain.Name + "-" + r.Toolchain.Version + "/bin/python3"
}
