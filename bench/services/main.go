// Command services asks how much the cases of service tasks notice: it breaks the handlers of
// masked groups, one at a time, in ways that are drawn by a seed, and has benchmint grade each.
//
//	go run ./bench/services -program ./benchmint -most 40 DATASET
//
// It never changes a dataset, and never looks at a case: a mutant is noticed where its grade is
// not PASS.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/bench/internal/table"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/internal/worktree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/schemas"
)

func main() {
	program := flag.String("program", "benchmint", "benchmint itself")
	most := flag.Int("most", 40, "mutants, of all tasks together")
	seed := flag.Uint64("seed", 1, "of the draw")
	flag.Parse()
	if err := run(context.Background(), *program, flag.Args(), *most, *seed); err != nil {
		fmt.Fprintln(os.Stderr, "services:", err)
		os.Exit(1)
	}
}

// mutant is one broken solution.
type mutant struct {
	kind, task, place string
	tree              *tree.Tree
}

func run(ctx context.Context, program string, datasets []string, most int, seed uint64) error {
	if len(datasets) == 0 {
		return errors.New("usage: services [-program FILE] [-most N] [-seed N] DATASET…")
	}
	var all []mutant
	of := map[string]string{} // the dataset of a task
	for _, dir := range datasets {
		d, err := output.Read(dir)
		if err != nil {
			return err
		}
		for _, row := range d.Rows {
			if row.Benchmint.Kind != schemas.KindService {
				continue
			}
			_, _, goal, err := d.States(row.Row)
			if err != nil {
				return fmt.Errorf("%s: %w", row.InstanceID, err)
			}
			found, err := mutantsOf(row.Row, goal)
			if err != nil {
				return fmt.Errorf("%s: %w", row.InstanceID, err)
			}
			all, of[row.InstanceID] = append(all, found...), dir
		}
	}
	chosen := draw(all, most, seed)
	noticed, tried := map[string]int{}, map[string]int{}
	for _, dir := range datasets {
		mine := slices.DeleteFunc(slices.Clone(chosen), func(m mutant) bool { return of[m.task] != dir })
		if err := grade(ctx, program, dir, mine, tried, noticed); err != nil {
			return err
		}
	}
	var out table.Table
	out.Row("mutant", "tried", "noticed")
	sum, got := 0, 0
	for _, k := range kinds {
		out.Row(k.name, fmt.Sprint(tried[k.name]), fmt.Sprint(noticed[k.name]))
		sum, got = sum+tried[k.name], got+noticed[k.name]
	}
	out.Row("all", fmt.Sprint(sum), fmt.Sprint(got))
	return out.Print(os.Stdout)
}

// draw takes as many mutants as are asked for, in turn of each kind, by a seed.
func draw(all []mutant, most int, seed uint64) []mutant {
	r := rand.New(rand.NewPCG(28, seed))
	by := map[string][]mutant{}
	for _, m := range all {
		by[m.kind] = append(by[m.kind], m)
	}
	for _, k := range kinds {
		r.Shuffle(len(by[k.name]), func(i, j int) { by[k.name][i], by[k.name][j] = by[k.name][j], by[k.name][i] })
	}
	var out []mutant
	for n := 0; len(out) < most; n++ {
		any := false
		for _, k := range kinds {
			if n < len(by[k.name]) && len(out) < most {
				out, any = append(out, by[k.name][n]), true
			}
		}
		if !any {
			break
		}
	}
	return out
}

// grade has each mutant graded as a prediction of the model that its kind is.
func grade(ctx context.Context, program, dataset string, mutants []mutant, tried, noticed map[string]int) (err error) {
	if len(mutants) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp("", "benchmint-bench-services-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	answers := filepath.Join(dir, "answers")
	places := map[string]string{}
	for i, m := range mutants {
		if err := worktree.Make(filepath.Join(answers, m.kind, fmt.Sprint(i), m.task), m.tree); err != nil {
			return err
		}
		places[fmt.Sprintf("%s %s %d", m.task, m.kind, i)] = m.place
	}
	cmd := exec.CommandContext(ctx, program, "eval", dataset, answers, "--output", filepath.Join(dir, "eval"))
	cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("grading: %w", err)
	}
	grades, err := score.Read(filepath.Join(dir, "eval"))
	if err != nil {
		return err
	}
	for _, l := range grades.Lines {
		if l.Fault != "" {
			return fmt.Errorf("%s: %s", l.Instance, l.Fault)
		}
		tried[l.Model]++
		word := "not noticed"
		if !l.Resolved {
			noticed[l.Model]++
			word = "noticed"
		}
		fmt.Printf("%-11s  %s  %s  %s\n", word, l.Model, l.Instance, places[fmt.Sprintf("%s %s %d", l.Instance, l.Model, l.Sample)])
	}
	return nil
}

// mutantsOf are all mutants of the handlers that a task masks.
func mutantsOf(row output.Row, goal *tree.Tree) ([]mutant, error) {
	var out []mutant
	for _, h := range row.Benchmint.Functions.Modified {
		file, name, _ := strings.Cut(h, schemas.FunctionDivider)
		e, ok := goal.Entry(file)
		if !ok {
			return nil, fmt.Errorf("the solution has no %s", file)
		}
		from, to, ok := body(file, string(e.Data), name)
		if !ok {
			continue
		}
		for _, k := range kinds {
			for _, c := range k.find(row.Benchmint.Language, string(e.Data[from:to])) {
				data := string(e.Data[:from]) + c.text + string(e.Data[to:])
				entries := slices.DeleteFunc(goal.Entries(), func(x tree.Entry) bool { return x.Path == file })
				t, err := tree.New(append(entries, tree.Entry{Path: file, Mode: e.Mode, Data: []byte(data)}))
				if err != nil {
					return nil, err
				}
				out = append(out, mutant{k.name, row.InstanceID, fmt.Sprintf("%s: %s", h, c.what), t})
			}
		}
	}
	return out, nil
}
