package python

import (
	"bytes"
	_ "embed" // the watcher
	"encoding/json"
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

// Observed reads what each watcher left.
func (Language) Observed(out []lang.Output) mask.Load {
	var l mask.Load
	for _, o := range out {
		for _, line := range observed(o.Report) {
			switch {
			case line.seen.Name != "":
				l.Ran = append(l.Ran, line.seen)
			case line.Unit != "":
				l.Units++
			}
			if line.Message != "" {
				l.Failed = append(l.Failed, mask.NotLoaded{Unit: line.Unit, Message: line.Message, Path: line.Path, Tests: line.tests, Late: line.late})
			}
		}
	}
	return l
}

// watched is a line of the watcher: a function that ran, or a unit, which did not load where there is a message.
type watched struct {
	seen        mask.Seen
	tests, late bool
	verify.Fault
}

// observed reads a watcher's lines. What is no such line is passed over.
func observed(report []byte) (out []watched) {
	for line := range bytes.Lines(report) {
		var said struct {
			Ran   [4]json.RawMessage `json:"ran"`
			Tests bool               `json:"tests"`
			Late  bool               `json:"late"`
			verify.Fault
		}
		if json.Unmarshal(line, &said) != nil {
			continue
		}
		w := watched{Fault: said.Fault, tests: said.Tests, late: said.Late, seen: mask.Seen{Tests: said.Tests}}
		for i, to := range []any{&w.seen.Path, &w.seen.Line, &w.seen.Name, &w.seen.First} {
			_ = json.Unmarshal(said.Ran[i], to) // what is none stays empty
		}
		out = append(out, w)
	}
	return out
}
