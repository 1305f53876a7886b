package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/benchmint/benchmint/bench/internal/table"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/internal/worktree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/schemas"
)

// step is a tree on the way from the starter to the solution.
type step struct {
	file string // that came last, "" for the starter
	tree *tree.Tree
}

// steps are the starter, and the trees after each file of the solution that it has otherwise,
// by path.
func steps(base, goal *tree.Tree) ([]step, error) {
	out := []step{{tree: base}}
	for _, e := range goal.Entries() {
		now := out[len(out)-1].tree
		if was, ok := now.Entry(e.Path); ok && was.Mode == e.Mode && string(was.Data) == string(e.Data) {
			continue
		}
		t, err := with(now, e)
		if err != nil {
			return nil, err
		}
		out = append(out, step{e.Path, t})
	}
	if last := out[len(out)-1].tree; last.ID() != goal.ID() {
		return nil, errors.New("the solution takes files away: it cannot be put back file by file")
	}
	return out, nil
}

// with is a tree with one entry as it is given.
func with(t *tree.Tree, e tree.Entry) (*tree.Tree, error) {
	all := slices.DeleteFunc(t.Entries(), func(x tree.Entry) bool { return x.Path == e.Path })
	return tree.New(append(all, e))
}

// curve grades every step of each library, and adds a row for each; an error where a curve
// does not begin at 0 or end at 1.
func curve(ctx context.Context, program string, d *output.Dataset, rows []output.Row, out *table.Table) error {
	out.Row("library", "files back", "last", "tests", "score", "")
	for n, row := range rows {
		fmt.Fprintf(os.Stderr, "%d of %d: %s\n", n+1, len(rows), row.InstanceID)
		if err := curveOf(ctx, program, d, row, out); err != nil {
			return fmt.Errorf("%s: %w", row.InstanceID, err)
		}
	}
	return nil
}

func curveOf(ctx context.Context, program string, d *output.Dataset, row output.Row, out *table.Table) (err error) {
	base, _, goal, err := d.States(row)
	if err != nil {
		return err
	}
	all, err := steps(base, goal)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "benchmint-bench-solver-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	answers := filepath.Join(dir, "answers")
	// A tree without any change would not be run.
	if all[0].tree, err = with(base, tree.Entry{Path: "benchmint-nop.txt", Mode: tree.ModeFile, Data: []byte("nothing\n")}); err != nil {
		return err
	}
	for i, s := range all { // each is a sample of the model "gold"
		if err := worktree.Make(filepath.Join(answers, "gold", fmt.Sprint(i), row.InstanceID), s.tree); err != nil {
			return err
		}
	}
	cmd := exec.CommandContext(ctx, program, "eval", d.Dir, answers, "--output", filepath.Join(dir, "eval"))
	cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("grading: %w", err)
	}
	grades, err := score.Read(filepath.Join(dir, "eval"))
	if err != nil {
		return err
	}
	rates := make([]float64, len(all))
	for _, l := range grades.Lines {
		if l.LibraryScore == nil {
			return fmt.Errorf("step %d has no score: %s", l.Sample, l.Fault)
		}
		rates[l.Sample] = score.TaskOf(output.Located{Row: row}).PassRate(schemas.Grade{F2P: l.F2P, P2P: l.P2P})
		out.Row(row.InstanceID, fmt.Sprintf("%d of %d", l.Sample, len(all)-1), all[l.Sample].file, fmt.Sprintf("%.1f %%", 100*rates[l.Sample]), fmt.Sprintf("%.1f %%", 100**l.LibraryScore), bar(rates[l.Sample]))
	}
	if zero := row.Benchmint.Library.ZeroWork; math.Abs(rates[0]-zero) > 1e-9 || rates[len(rates)-1] != 1 {
		return fmt.Errorf("the pass rates go from %.3f to %.3f, not from %.3f to 1", rates[0], rates[len(rates)-1], zero)
	}
	return nil
}

// bar draws a share.
func bar(share float64) string {
	const width = 40
	b := slices.Repeat([]byte("#"), int(share*width+0.5))
	return string(b)
}
