package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/internal/worktree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/grade"
	"github.com/benchmint/benchmint/stages/validate"
)

func newTest(p *program) *cobra.Command {
	var dataset string
	cmd := &cobra.Command{
		Use: "test ID [FOLDER] [TEST…]", Short: "run a task's tests on the folder that you work in",
		Long: "Runs the tests of a task, or those that are named (a test's ID, or a file or package of tests), with the\ncode of a folder (default: this one), in the task's environment and sandbox, as benchmint eval would.\nThe tests, the settings of their runner and its hooks are the task's, whatever the folder holds.\n\n" +
			"The folder is a task's base tree with changes: the archive that base_archive of its row names, unpacked,\nor a clone at base_commit. With a repository in it, files that git ignores are left out.\n\nExit codes: 0 all pass; 1 one does not, or a limit ended the run; 2 nothing was run; 3 try again later.",
		Example: "  benchmint test acme__widget-9 ./widget\n  benchmint test acme__widget-9 tests/test_widget.py::test_round --json",
		Args:    argsOf(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := p.load()
			if err != nil {
				return err
			}
			folder, tests := ".", args[1:]
			if len(tests) > 0 && isFolder(tests[0]) {
				folder, tests = tests[0], tests[1:]
			}
			return p.test(cmd.Context(), c, cmp.Or(dataset, c.Output), args[0], folder, tests)
		},
	}
	cmd.Flags().StringVar(&dataset, "dataset", "", "`FOLDER` of the dataset (default: the output of the configuration)")
	p.override(cmd, "sandbox", "sandbox.kind", "`KIND` to run in: docker or bwrap (default: as the row says)")
	p.override(cmd, "timeout", "sandbox.timeout", "`DURATION` of the run")
	return cmd
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// tried is the result for scripts.
type tried struct {
	ID     string      `json:"instance_id"`
	Folder string      `json:"folder"`
	Passes bool        `json:"passes"`
	Passed int         `json:"passed"`
	Wanted int         `json:"wanted"`
	Tests  []triedTest `json:"tests"`
	// Tampered are the paths that were put back: they are the task's.
	Tampered []string       `json:"tampered,omitempty"`
	Limit    schemas.Reason `json:"limit,omitempty"`
	Detail   string         `json:"detail,omitempty"`
	Seconds  float64        `json:"seconds"` // that the commands of the tests took
}

type triedTest struct {
	ID     string         `json:"id"`
	List   string         `json:"list"`
	Status schemas.Status `json:"status,omitempty"`
	Why    string         `json:"why,omitempty"`
}

func (p *program) test(ctx context.Context, c *config.Config, dataset, id, folder string, names []string) (err error) {
	d, rows, err := readRows(dataset, []string{id})
	if err != nil {
		return err
	}
	p.sayFormat(dataset, d.Manifest)
	row := rows[0]
	e := &evaluation{dataset: d, rows: map[string]output.Row{id: row}}
	task, err := e.Task(ctx, id)
	if err != nil {
		return err
	}
	wanted, err := choose(task, names)
	if err != nil {
		return &ended{exitUsage, err}
	}
	c.Sandbox.Kind = kindsOf(c, rows)[0]
	w, err := p.require(ctx, c, job{builds: true, kind: c.Sandbox.Kind, asks: asksFor(id+" is", row.Benchmint.Language)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	logs, err := os.MkdirTemp("", "benchmint-test-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeAll(logs)) }()
	blobs, err := blob.Open(logs)
	if err != nil {
		return err
	}
	var took time.Duration
	observe := func(m validate.Measured) { took += m.Wall }
	grader := grade.New(validate.Outside{Builder: w.builder, Blobs: blobs, Observe: observe}, e, blobs, grade.Config{Limits: c.Sandbox.Limits()})
	defer func() { err = errors.Join(err, grader.Close(context.WithoutCancel(ctx))) }()
	read := func(base *tree.Tree) (*tree.Tree, error) { return worktree.Read(ctx, folder, base) }
	got, err := grader.Try(ctx, id, read, wanted)
	switch end := pipeline.EndOf(ctx, err); {
	case end == schemas.StepDeferred:
		return &ended{exitDeferred, err}
	case err != nil:
		return err
	}
	if p.verbose {
		for _, r := range got.Runs {
			log, err := blobs.Get(r.Log)
			if err != nil {
				return err
			}
			_, _ = p.stderr.Write([]byte(visible(string(log)) + "\n"))
		}
	}
	return p.printTried(triedOf(id, folder, got, took))
}

// choose gives the test for each name: an ID of the task's lists, or a file or package that
// they are in. No name is all of them.
func choose(task grade.Task, names []string) (func(lang.Test) bool, error) {
	known := map[string]bool{}
	for _, t := range slices.Concat(task.FailToPass, task.PassToPass) {
		known[t.ID], known[t.Unit] = true, true
	}
	for _, name := range names {
		if !known[name] {
			return nil, fmt.Errorf("%s is not a test of the task, and not a file or package of one%s", visible(name), nearest.Hint(name, slices.Sorted(maps.Keys(known))))
		}
	}
	return func(t lang.Test) bool {
		return len(names) == 0 || slices.Contains(names, t.ID) || slices.Contains(names, t.Unit)
	}, nil
}

func triedOf(id, folder string, got grade.Tried, took time.Duration) tried {
	lists := map[schemas.Class]string{schemas.F2P: "FAIL_TO_PASS", schemas.P2P: "PASS_TO_PASS"}
	out := tried{ID: id, Folder: filepath.Clean(folder), Passes: got.Passes(), Wanted: len(got.Tests), Tests: []triedTest{}, Tampered: got.Tampered, Limit: got.Limit, Detail: got.Detail, Seconds: took.Seconds()}
	for _, t := range got.Tests {
		if t.Status == schemas.Passed {
			out.Passed++
		}
		out.Tests = append(out.Tests, triedTest{ID: t.Test.ID, List: lists[t.List], Status: t.Status, Why: t.Why})
	}
	return out
}

func (p *program) printTried(r tried) error {
	if p.json {
		if err := p.writeJSON(r); err != nil {
			return err
		}
	} else if err := p.showTried(r); err != nil {
		return err
	}
	if !r.Passes {
		return &ended{code: exitFailed}
	}
	return nil
}

func (p *program) showTried(r tried) error {
	t := p.out()
	for _, x := range r.Tests {
		if x.Status == schemas.Passed && !p.verbose || r.Limit != "" {
			continue
		}
		colour := red
		if x.Status == schemas.Passed {
			colour = green
		}
		t.line("%s  %s", t.in(colour, fmt.Sprintf("%-10s", x.Status)), visible(x.ID))
		if x.Why != "" {
			t.block(tail(x.Why, 10))
		}
	}
	if len(r.Tampered) > 0 {
		t.line("put back   %s", visible(strings.Join(r.Tampered, ", ")))
	}
	if r.Limit != "" {
		t.line("%s  %s", t.in(red, string(r.Limit)), visible(r.Detail))
	}
	t.line("%d of %d pass (%.1f s)", r.Passed, r.Wanted, r.Seconds)
	return t.err
}
