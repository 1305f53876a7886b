package python

import (
	"bufio"
	"bytes"
	_ "embed" // the pytest plugin
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

//go:embed plugin/benchmint_reach.py
var reachPlugin []byte

const (
	reachPath = sandbox.RunPath + "/benchmint_reach.py"
	reachOnly = sandbox.RunPath + "/reach.json"
	reachOut  = "/tmp/.benchmint-reach.jsonl"
)

var _ lang.Reacher = Language{}

// Reach is the whole suite once, in which each test is watched: about as long as the suite takes,
// and before Python 3.12 several times that where tests compute.
func (Language) Reach(r schemas.Recipe, t lang.Tree, tests []lang.Test, files []string) ([]recipe.TestRun, bool) {
	if len(tests) == 0 {
		return nil, false
	}
	only, err := json.Marshal(files)
	if err != nil {
		panic("encoding strings: " + err.Error()) // plain strings always encode
	}
	var runs []recipe.TestRun
	for i, command := range r.Test {
		run, ok := testRun(t, lang.Select{Number: 1}, command)
		if !ok {
			continue
		}
		run.Report = reachOut + "." + strconv.Itoa(i)
		run.Command.Argv = append([]string{venvPython, reachPath, sandbox.TreePath, run.Report, reachOnly}, run.Command.Argv[3:]...)
		run.Inputs = []sandbox.File{{Path: reachPath, Mode: 0o644, Data: reachPlugin}, {Path: reachOnly, Mode: 0o644, Data: only}}
		runs = append(runs, run)
	}
	return runs, true
}

// Reached reads a line for each test. What is no such line is passed over.
func (Language) Reached(_ schemas.Recipe, out []lang.Output) map[string][]lang.Place {
	reached := map[string][]lang.Place{}
	for _, o := range out {
		scan := bufio.NewScanner(bytes.NewReader(o.Report))
		scan.Buffer(make([]byte, 0, 64<<10), maxLine)
		for scan.Scan() {
			var r struct {
				ID string               `json:"id"`
				At [][2]json.RawMessage `json:"at"`
			}
			if json.Unmarshal(scan.Bytes(), &r) != nil || r.ID == "" {
				continue
			}
			places := reached[r.ID]
			for _, at := range r.At {
				var p lang.Place
				if json.Unmarshal(at[0], &p.Path) == nil && json.Unmarshal(at[1], &p.Line) == nil && !path.IsAbs(p.Path) && !strings.HasPrefix(p.Path, "..") {
					places = append(places, p)
				}
			}
			reached[r.ID] = places
		}
	}
	return reached
}
