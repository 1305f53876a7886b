package python

import (
	_ "embed" // the program that traces lines
	"encoding/json"
	"slices"
	"strconv"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

//go:embed plugin/benchmint_cover.py
var coverProgram []byte

const (
	coverPath  = sandbox.RunPath + "/benchmint_cover.py"
	coverFiles = sandbox.RunPath + "/cover.json"
	coverOut   = "/tmp/.benchmint-cover.json"
)

var _ lang.Coverer = Language{}

// Cover is the selection once more, watched from before the first import.
func (Language) Cover(r schemas.Recipe, t lang.Tree, sel lang.Select, _ []lang.Test, files []string) ([]recipe.TestRun, bool) {
	list, err := json.Marshal(files)
	if err != nil || len(files) == 0 {
		return nil, false
	}
	var runs []recipe.TestRun
	for i, command := range r.Test {
		run, ok := testRun(t, sel, command)
		if !ok {
			continue
		}
		run.Report = coverOut + "." + strconv.Itoa(i)
		run.Command.Argv = append([]string{venvPython, coverPath, sandbox.TreePath, run.Report, coverFiles}, run.Command.Argv[3:]...)
		run.Inputs = []sandbox.File{{Path: coverPath, Mode: 0o644, Data: coverProgram}, {Path: coverFiles, Mode: 0o644, Data: list}}
		runs = append(runs, run)
	}
	return runs, len(runs) > 0
}

// Covered reads {path: [lines, those that ran]} of each process.
func (Language) Covered(_ schemas.Recipe, out []lang.Output) []lang.Coverage {
	lines, ran := map[string][]int{}, map[string]map[int]bool{}
	for _, o := range out {
		var said map[string][2][]int
		if json.Unmarshal(o.Report, &said) != nil {
			continue
		}
		for p, of := range said {
			if ran[p] == nil {
				ran[p] = map[int]bool{}
			}
			lines[p] = of[0]
			for _, n := range of[1] {
				ran[p][n] = true
			}
		}
	}
	var all []lang.Coverage
	for _, p := range sortedKeys(lines) {
		c := lang.Coverage{Path: p, Lines: slices.Clone(lines[p])}
		slices.Sort(c.Lines)
		for _, n := range c.Lines {
			if ran[p][n] {
				c.Ran = append(c.Ran, n)
			}
		}
		all = append(all, c)
	}
	return all
}
