package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// pytestRun is how the program itself runs pytest: its plugin writes outcomes as they
// come, so that a test that ends the process takes no others with it.
type pytestRun struct {
	run    recipe.TestRun
	report string
	args   []string // what stands behind the interpreter: the suite's "$@"
}

// preparePytest puts the plugin beside the tree that it is to run in.
func preparePytest(folder, side string) (pytestRun, error) {
	tree := dirTree(filepath.Join(folder, side))
	runs := python.Language{}.Runs(schemas.Recipe{Test: []schemas.Command{{Argv: []string{"python", "-m", "pytest"}}}}, tree, lang.Select{Number: 1})
	p := pytestRun{run: runs[0], report: filepath.Join(folder, side+".report")}
	at := map[string]string{}
	for _, f := range p.run.Inputs {
		at[f.Path] = filepath.Join(folder, side+"."+path.Base(f.Path))
		data := f.Data
		if path.Ext(f.Path) == ".json" {
			var config map[string]any
			if err := json.Unmarshal(data, &config); err != nil {
				return p, fmt.Errorf("reading the plugin's settings: %w", err)
			}
			config["report"], config["tree"] = p.report, filepath.Join(folder, "tree")
			var err error
			if data, err = json.Marshal(config); err != nil {
				return p, err
			}
		}
		if err := os.WriteFile(at[f.Path], data, 0o644); err != nil {
			return p, err
		}
	}
	for _, word := range p.run.Command.Argv[1:] {
		if here, ok := at[word]; ok {
			word = here
		}
		p.args = append(p.args, word)
	}
	return p, nil
}

// results reads what the plugin wrote.
func (p pytestRun) results() (results, error) {
	written, err := os.ReadFile(p.report)
	if err != nil {
		return nil, err
	}
	out := results{}
	report := python.Language{}.Parse(schemas.Recipe{}, []lang.Output{{Run: p.run, Report: written, Result: sandbox.Result{End: sandbox.Exited}}})
	for _, t := range report.Tests {
		if t.Status != schemas.Skipped {
			out.end(t.ID, t.Status == schemas.Passed)
		}
	}
	return out, nil
}

// dirTree is a folder as a lang.Tree.
type dirTree string

func (d dirTree) Paths() []string {
	var out []string
	_ = fs.WalkDir(os.DirFS(string(d)), ".", func(p string, e fs.DirEntry, err error) error { // what cannot be read is not there
		if err == nil && !e.IsDir() {
			out = append(out, p)
		}
		return nil
	})
	slices.Sort(out)
	return out
}

func (d dirTree) Has(p string) bool {
	_, err := os.Lstat(filepath.Join(string(d), filepath.FromSlash(p)))
	return err == nil
}

func (d dirTree) Read(p string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(d), filepath.FromSlash(p)))
}
