package python

import (
	"bufio"
	"bytes"
	_ "embed" // the watcher
	"encoding/json"
	"path"
	"strconv"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/mask/verify"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

//go:embed plugin/benchmint_observe.py
var observer []byte

const (
	observePath = sandbox.RunPath + "/benchmint_observe.py"
	observePlan = sandbox.RunPath + "/plan.json"
	observeOut  = "/tmp/.benchmint-observe.jsonl"
)

var _ lang.Observer = Language{}

// Observe imports every module of the packages of a tree, and collects its tests.
func (Language) Observe(r schemas.Recipe, t lang.Tree) []recipe.TestRun {
	names, roots := importable(t, t.Paths())
	var runs []recipe.TestRun
	for i, command := range r.Test {
		run, ok := testRun(t, lang.Select{Number: 1}, command)
		if !ok {
			continue
		}
		if i > 0 {
			names = nil // they are imported once
		}
		plan, err := json.Marshal(map[string]any{"modules": append([]string{}, names...), "roots": append([]string{}, roots...), "seconds": verify.ImportSeconds})
		if err != nil {
			panic("encoding strings: " + err.Error()) // plain strings always encode
		}
		run.Report = observeOut + "." + strconv.Itoa(i)
		run.Command.Argv = append([]string{venvPython, observePath, sandbox.TreePath, run.Report, observePlan}, run.Command.Argv[3:]...)
		run.Inputs = []sandbox.File{{Path: observePath, Mode: 0o644, Data: observer}, {Path: observePlan, Mode: 0o644, Data: plan}}
		runs = append(runs, run)
	}
	return runs
}

// Observed reads a line for each function that ran, and for each module. What is no such line is passed over.
func (Language) Observed(out []lang.Output) mask.Load {
	var l mask.Load
	for _, o := range out {
		scan := bufio.NewScanner(bytes.NewReader(o.Report))
		scan.Buffer(make([]byte, 0, 64<<10), maxLine)
		for scan.Scan() {
			var line struct {
				Ran [4]json.RawMessage `json:"ran"`
				mask.NotLoaded
			}
			if json.Unmarshal(scan.Bytes(), &line) != nil {
				continue
			}
			var s mask.Seen
			if json.Unmarshal(line.Ran[0], &s.Path) == nil && json.Unmarshal(line.Ran[1], &s.Line) == nil &&
				json.Unmarshal(line.Ran[2], &s.Name) == nil && json.Unmarshal(line.Ran[3], &s.First) == nil && s.Name != "" && !path.IsAbs(s.Path) {
				l.Ran = append(l.Ran, s)
			}
			if line.Unit != "" {
				l.Units++
			}
			if line.Message != "" {
				l.Failed = append(l.Failed, line.NotLoaded)
			}
		}
	}
	return l
}
