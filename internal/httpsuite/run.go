package httpsuite

import (
	"path"
	"slices"
	"strconv"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/schemas"
)

// ReportFormat is what Recipe.Report says of a service.
const ReportFormat = "benchmint-http"

// ShiftedRun is the number of the run in which the clock of a service is ahead, where it can be.
const ShiftedRun = 4

// Connect is the unit of the test that asks whether the service answers; no group has the name.
const Connect = contract.ConnectName

// Variables that the suite reads.
const (
	urlVariable   = "SERVICE_URL"
	groupVariable = "BENCHMINT_GROUP"
)

const (
	testerPython = sandbox.EnvPath + "/venv/bin/python"
	reportPath   = "/tmp/.benchmint-junit.xml"
	connectFile  = schemas.SuiteFolder + "/test_connect.py"
	funcFile     = contract.TestFile
)

// Runner implements lang.Runner for ReportFormat.
type Runner struct{}

var _ lang.Runner = Runner{}

// Runs asks first whether the service answers, and then the cases of each group of the tree's
// cases.json, each with a service of its own in a fresh state. A tree without cases has the first
// only. The paths of a selection choose nothing: the cases are of one file. Nor do the tests that
// it leaves out: those after them are recorded with them.
func (Runner) Runs(r schemas.Recipe, t lang.Tree, sel lang.Select) []recipe.TestRun {
	if r.Service == nil {
		return nil
	}
	files := suiteIn(t)
	var out []recipe.TestRun
	for _, unit := range append([]string{Connect}, groups(files)...) {
		if sel.Units == nil || slices.Contains(sel.Units, unit) {
			out = append(out, testRun(r, sel, unit, files))
		}
	}
	return out
}

// suiteIn are the files of the suite: the tree's own where it has cases, and else ours.
func suiteIn(t lang.Tree) []File {
	own := program()
	if t == nil || !t.Has(CasesPath) {
		return own
	}
	out := []File{}
	for _, f := range append([]File{{Path: CasesPath}}, own...) {
		if t.Has(f.Path) {
			if data, err := t.Read(f.Path); err == nil {
				f.Data = data
			}
		}
		out = append(out, f)
	}
	return out
}

// groups are the names of those that have a judged case, in their order.
func groups(files []File) []string {
	var out []string
	for _, g := range suiteOf(files).Groups {
		if slices.ContainsFunc(g.Cases, func(c contract.Case) bool { return c.Expect != nil }) {
			out = append(out, g.Name)
		}
	}
	return out
}

func suiteOf(files []File) contract.Suite {
	for _, f := range files {
		if path.Base(f.Path) == CasesFile {
			if s, err := contract.Decode(f.Data); err == nil {
				return s
			}
		}
	}
	return contract.Suite{}
}

func testRun(r schemas.Recipe, sel lang.Select, unit string, files []File) recipe.TestRun {
	start := serve.Start(*r.Service, sel.Number == ShiftedRun && serve.Shifts(r))
	out := recipe.TestRun{
		Command: command(r.Service.Port, unit, Place{Python: testerPython, Folder: sandbox.RunPath, Report: reportPath}),
		Report:  reportPath,
		Serves:  &start,
	}
	for _, f := range files {
		out.Inputs = append(out.Inputs, sandbox.File{Path: path.Join(sandbox.RunPath, f.Path), Mode: 0o644, Data: f.Data})
	}
	return out
}

// Place is where the suite lies, with the interpreter that runs it and the report that it writes.
type Place struct {
	Python string // has the packages of the suite's requirements.txt
	Folder string // schemas.SuiteFolder is in it
	Report string
}

// command asks the service on a port for one unit.
func command(port int, unit string, at Place) schemas.Command {
	env := map[string]string{
		urlVariable: "http://127.0.0.1:" + strconv.Itoa(port), "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1",
	}
	file := connectFile
	if unit != Connect {
		env[groupVariable], file = unit, funcFile
	}
	return schemas.Command{Dir: at.Folder, Env: env, Argv: []string{
		at.Python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short", "--rootdir=" + at.Folder,
		"-o", "junit_family=xunit2", "--junitxml=" + at.Report, file,
	}}
}

// Question is one process of a run, elsewhere than in a sandbox.
type Question struct {
	Command schemas.Command
	Tests   []string // the IDs of its cases
}

// Questions are the processes that Runner runs for a tree, with a service each. place gives each
// of them, by its number, a report of its own.
func Questions(r schemas.Recipe, t lang.Tree, place func(n int) Place) []Question {
	var out []Question
	for n, run := range (Runner{}).Runs(r, t, lang.Select{}) {
		unit := unitOf(run)
		out = append(out, Question{command(r.Service.Port, unit, place(n)), listed(unit, run.Inputs)})
	}
	return out
}

// unitOf is the unit that a process asks for.
func unitOf(run recipe.TestRun) string {
	if name := run.Command.Env[groupVariable]; name != "" {
		return name
	}
	return Connect
}
