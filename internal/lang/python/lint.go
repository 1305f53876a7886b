package python

import (
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

var _ lang.Linter = Language{}

// LintTools are ruff, and pyrefly for types.
func (Language) LintTools() []lang.Need {
	return []lang.Need{{Name: ruff, Why: "lints Python"}, {Name: pyrefly, Why: "checks the types of Python"}}
}

// Lints checks files as the settings of the tree say. Pyrefly sees what the environment has
// installed.
func (Language) Lints(_ schemas.Recipe, _ lang.Tree, files []string) []lang.LintRun {
	if len(files) == 0 {
		return nil
	}
	run := func(tool string, words ...string) lang.LintRun {
		argv := append([]string{path.Join(sandbox.RunPath, tool)}, words...)
		return lang.LintRun{Tool: tool, Needs: tool, TestRun: recipe.TestRun{Command: schemas.Command{Argv: append(argv, files...), Env: activated()}, Report: lintOut + tool}}
	}
	return []lang.LintRun{
		// Settings of a tree may have it mend what it finds: the lines would be others then.
		run(ruff, "check", "--no-fix", "--no-fix-only", "--no-cache", "--output-format", "json", "--output-file", lintOut+ruff),
		run(pyrefly, "check", "--preset", "default", "--python-interpreter-path", venvPython, "--output", "json:"+lintOut+pyrefly),
	}
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
