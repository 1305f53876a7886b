package python

import (
	_ "embed" // the settings for all tasks
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// The linters.
const (
	ruff    = "ruff"
	pyrefly = "pyrefly"
	lintOut = "/tmp/.benchmint-lint."
)

// The settings that are the same for each task.
var (
	//go:embed lint_ruff.toml
	ruffSettings string
	//go:embed lint_pyrefly.toml
	pyreflySettings string
)

var _ lang.Linter = Language{}

// LintTools are ruff, and pyrefly for types.
func (Language) LintTools() []lang.Need {
	return []lang.Need{{Name: ruff, Why: "lints Python"}, {Name: pyrefly, Why: "checks the types of Python"}}
}

// Standard are the settings of both.
func (Language) Standard() map[string]string {
	return map[string]string{ruffFile: ruffSettings, pyreflyFile: pyreflySettings}
}

// ByStandard changes nothing: a file of settings that is named overrules all that lie in the tree.
func (Language) ByStandard(_ string, data []byte, _ lang.LintSettings) []byte { return data }

// Files of settings below sandbox.RunPath.
const (
	ruffFile    = "lint_ruff.toml"
	pyreflyFile = "lint_pyrefly.toml"
)

// Lints checks files. Pyrefly sees what the environment has installed. What is newer than the Python of
// the environment is an error of syntax, whatever the tree says that it supports.
func (Language) Lints(r schemas.Recipe, files []string, by lang.LintSettings) []lang.LintRun {
	if len(files) == 0 {
		return nil
	}
	// Settings of a tree may have it mend what it finds: the lines would be others then.
	ruffs := []string{"check", "--no-fix", "--no-fix-only", "--no-cache", "--output-format", "json", "--output-file", lintOut + ruff}
	pyreflies := []string{"check", "--preset", "default", "--python-interpreter-path", venvPython, "--output", "json:" + lintOut + pyrefly}
	var settings []sandbox.File
	if by != lang.OwnSettings {
		settings = []sandbox.File{lintFile(ruffFile, ruffSettings), lintFile(pyreflyFile, pyreflySettings)}
		version := minor(r.Toolchain.Version)
		ruffs = append(ruffs, "--config", path.Join(sandbox.RunPath, ruffFile), "--target-version", ruffVersion(version))
		pyreflies = append(pyreflies, "--config", path.Join(sandbox.RunPath, pyreflyFile), "--python-version", version)
	}
	switch by {
	case lang.Standard:
		pyreflies = append(pyreflies, "--enabled-ignores", "type,pyrefly") // as by default; the file enables none
	case lang.Unsuppressed:
		ruffs = append(ruffs, "--ignore-noqa")
	}
	run := func(tool string, words []string) lang.LintRun {
		argv := append([]string{path.Join(sandbox.RunPath, tool)}, words...)
		return lang.LintRun{Tool: tool, Needs: tool, TestRun: recipe.TestRun{Command: schemas.Command{Argv: append(argv, files...), Env: activated()}, Inputs: settings, Report: lintOut + tool}}
	}
	return []lang.LintRun{run(ruff, ruffs), run(pyrefly, pyreflies)}
}

func lintFile(name, text string) sandbox.File {
	return sandbox.File{Path: path.Join(sandbox.RunPath, name), Mode: 0o444, Data: []byte(text)}
}

// ruffVersion is a minor version of Python as ruff names it; the oldest that it knows is 3.7.
func ruffVersion(version string) string {
	if newer("3.7", version) {
		version = "3.7"
	}
	return "py" + strings.ReplaceAll(version, ".", "")
}

// Findings reads the JSON of either.
func (Language) Findings(run lang.LintRun, out lang.Output) ([]lang.Finding, error) {
	var found []lang.Finding
	var err error
	switch run.Tool {
	case ruff:
		found, err = ruffFindings(out.Report)
	case pyrefly:
		found, err = pyreflyFindings(out.Report)
	}
	if err != nil {
		return nil, fmt.Errorf("%s ended with code %d: %w: %s", run.Tool, out.Result.ExitCode, err, lastLine(out.Result.Output))
	}
	return found, nil
}

func ruffFindings(report []byte) ([]lang.Finding, error) {
	var all []struct {
		Code     string
		Name     string
		Filename string
		Message  string
		Location struct{ Row, Column int }
	}
	if err := json.Unmarshal(report, &all); err != nil {
		return nil, err
	}
	var out []lang.Finding
	for _, f := range all {
		rule := f.Code
		if rule == "" { // the file does not parse
			rule = f.Name
		}
		out = append(out, lang.Finding{Tool: ruff, Path: inTree(f.Filename), Line: f.Location.Row, Column: f.Location.Column, Rule: rule, Message: f.Message})
	}
	return out, nil
}

func pyreflyFindings(report []byte) ([]lang.Finding, error) {
	var all struct {
		Errors []struct {
			Line, Column int
			Path, Name   string
			Severity     string
			Concise      string `json:"concise_description"`
		}
	}
	if err := json.Unmarshal(report, &all); err != nil {
		return nil, err
	}
	var out []lang.Finding
	for _, f := range all.Errors {
		if f.Severity == "error" {
			out = append(out, lang.Finding{Tool: pyrefly, Path: inTree(f.Path), Line: f.Line, Column: f.Column, Rule: f.Name, Message: f.Concise})
		}
	}
	return out, nil
}

// inTree is a path as the tree knows it.
func inTree(p string) string { return strings.TrimPrefix(path.Clean(p), sandbox.TreePath+"/") }
