package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/grade"
)

func newTest(p *program) *cobra.Command {
	var dataset string
	var measure measuring
	cmd := &cobra.Command{
		Use: "test ID [FOLDER] [TEST…] | ID=FOLDER…", Short: "run a task's tests on the folder that you work in",
		Long: "Runs the tests of a task, or those that are named (a test's ID, or a file or package of tests), with the\ncode of a folder (default: this one), in the task's environment and sandbox, as benchmint eval would.\nThe tests, the settings of their runner and its hooks are the task's, whatever the folder holds.\n\n" +
			"The folder is a task's base tree with changes: the archive that base_archive of its row names, unpacked\n(of a release, the folder in it that trees.base names), or a clone at base_commit. With a repository in\nit, files that git ignores are left out.\nID=FOLDER, once or more, are several tasks with all their tests.\n\nExit codes: 0 all pass; 1 one does not, or a limit ended the run; 2 nothing was run; 3 try again later.",
		Example: "  benchmint test acme__widget-9 ./widget\n  benchmint test acme__widget-9 tests/test_widget.py::test_round --json\n" +
			"  benchmint test acme__widget-9 --coverage --json >before.json\n  benchmint test acme__widget-9 --coverage --against before.json",
		Args: argsOf(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := p.load()
			if err != nil {
				return err
			}
			works, tests, err := worksOf(args)
			if err != nil {
				return err
			}
			if measure.against != "" && !measure.on {
				return &usageError{errors.New("--against goes with --coverage")}
			}
			return p.machine(c).test(cmd.Context(), cmp.Or(dataset, c.Output), works, tests, measure)
		},
	}
	cmd.Flags().BoolVar(&measure.on, "coverage", false, "run the tests once more and print which lines of the code they run")
	cmd.Flags().StringVar(&measure.against, "against", "", "compare the coverage with that in `FILE`, which test --coverage --json printed before")
	cmd.Flags().StringVar(&dataset, "dataset", "", "`FOLDER` of the dataset (default: the output of the configuration)")
	p.override(cmd, "sandbox", "sandbox.kind", "`KIND` to run in: docker or bwrap (default: as the row says)")
	p.override(cmd, "timeout", "sandbox.timeout", "`DURATION` of the run")
	p.overrideShort(cmd, "jobs", "j", "proof.parallel", "`N` tasks at one time")
	return cmd
}

// tried is the result for scripts.
type tried struct {
	ID     string         `json:"instance_id"`
	Task   schemas.Digest `json:"task"` // of what the task is; another version of the dataset may have another
	Folder string         `json:"folder"`
	Passes bool           `json:"passes"`
	Passed int            `json:"passed"`
	Wanted int            `json:"wanted"`
	Tests  []triedTest    `json:"tests"`
	// Tampered are the paths that were put back: they are the task's.
	Tampered []string       `json:"tampered,omitempty"`
	Limit    schemas.Reason `json:"limit,omitempty"`
	Detail   string         `json:"detail,omitempty"`
	Seconds  float64        `json:"seconds"` // that the commands of the tests took
	// Coverage is there where it was asked for.
	Coverage *covered `json:"coverage,omitempty"`
}

type triedTest struct {
	ID     string         `json:"id"`
	List   string         `json:"list"`
	Status schemas.Status `json:"status,omitempty"`
	Why    string         `json:"why,omitempty"`
	Trace  string         `json:"trace,omitempty"` // what the runner printed of the failure; at most 8 KiB and a note
}

func (m machine) test(ctx context.Context, dataset string, works []work, names []string, measure measuring) (err error) {
	t, err := m.openTrial(dataset, works)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	for id, row := range t.Rows {
		if _, t.digests[id], err = t.Folder.Digests(row); err != nil {
			return err
		}
	}
	if t.before, err = earlier(measure.against, t.digests); err != nil {
		return &ended{exitUsage, err}
	}
	wanted := func(lang.Test) bool { return true }
	if len(names) > 0 { // of the one task that there is then
		task, err := t.Task(ctx, works[0].id)
		if err != nil {
			return err
		}
		if wanted, err = choose(task, names); err != nil {
			return &ended{exitUsage, err}
		}
	}
	if err := t.begin(ctx); err != nil {
		return err
	}
	results, err := each(ctx, t, works, func(ctx context.Context, w work) (tried, error) { return t.test(ctx, w, wanted, measure.on) })
	if err != nil {
		return err
	}
	passes := true
	for _, r := range results {
		passes = passes && r.Passes
	}
	return printEach(m.terminal, works, results, passes, func(t *printer, r tried) { r.print(t, m.verbose) })
}

// test runs the tests of one task.
func (t *trial) test(ctx context.Context, w work, wanted func(lang.Test) bool, coverage bool) (tried, error) {
	try := t.grader.Try
	if coverage {
		try = t.grader.TryCovered
	}
	got, err := try(ctx, w.id, w.read(ctx), wanted)
	if err != nil {
		return tried{}, err
	}
	if t.verbose {
		for _, r := range got.Runs {
			log, err := t.blobs.Get(r.Log)
			if err != nil {
				return tried{}, err
			}
			t.say("%s", strings.TrimRight(string(log), "\r\n"))
		}
	}
	out := triedOf(w.id, w.folder, got, t.took(w.id))
	out.Task = t.digests[w.id]
	if coverage {
		out.Coverage = coveredOf(got)
		out.Coverage.compare(t.before[w.id], out)
	}
	return out, nil
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
		out.Tests = append(out.Tests, triedTest{ID: t.Test.ID, List: lists[t.List], Status: t.Status, Why: t.Why, Trace: t.Trace})
	}
	return out
}

func (r tried) print(t *printer, verbose bool) {
	for _, x := range r.Tests {
		if x.Status == schemas.Passed && !verbose || r.Limit != "" {
			continue
		}
		colour := red
		if x.Status == schemas.Passed {
			colour = green
		}
		t.line("%s  %s", t.in(colour, fmt.Sprintf("%-10s", x.Status)), visible(x.ID))
		if verbose && x.Trace != "" {
			t.block(x.Trace)
		} else if x.Why != "" {
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
	if r.Coverage != nil {
		r.Coverage.show(t)
	}
}
