// Command grade measures what grading costs: predictions for the tasks of datasets, made of
// their gold patches, are graded by benchmint eval, and the wall time of each is compared with
// one run of the test files that a task is about. It also counts the environments that were built.
//
//	go run ./bench/grade -program ./benchmint [-n 100] [-j 2] [-cache FOLDER] DATASET...
//
// Without -cache every environment is built anew. It never changes a dataset, and never judges a
// verdict.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/worktree"
	"github.com/benchmint/benchmint/output"
)

func main() {
	program := flag.String("program", "benchmint", "the benchmint that grades")
	n := flag.Int("n", 100, "predictions over all tasks")
	j := flag.Int("j", 2, "predictions at one time")
	cache := flag.String("cache", "", "cache folder; a fresh one by default")
	flag.Parse()
	b := bench{jobs: *j, cache: *cache}
	err := b.run(*program, *n, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "grade:", err)
		os.Exit(1)
	}
}

type bench struct {
	program, dir, cache string
	jobs                int
}

func (b *bench) run(program string, n int, names []string) (err error) {
	if len(names) == 0 {
		return errors.New("name folders of datasets")
	}
	if b.program, err = exec.LookPath(program); err == nil {
		b.program, err = filepath.Abs(b.program)
	}
	if err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "benchmint-bench-grade-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.cache == "" {
		b.cache = filepath.Join(b.dir, "cache")
	}
	var sets []*output.Dataset
	tasks := 0
	for _, name := range names {
		d, err := output.Read(name)
		if err != nil {
			return err
		}
		sets = append(sets, d)
		tasks += len(d.Rows)
	}
	fmt.Printf("%-20s %6s %12s %8s %14s %14s %7s\n", "dataset", "tasks", "predictions", "wall", "a prediction", "a test file", "ratio")
	var all result
	first := 0
	for i, d := range sets {
		share := func(at int) int { return n*(first+at+1)/tasks - n*(first+at)/tasks }
		r, err := b.measure(d, fmt.Sprint(i), share)
		if err != nil {
			return fmt.Errorf("%s: %w", d.Manifest.Name, err)
		}
		r.print(d.Manifest.Name)
		all.add(r)
		first += len(d.Rows)
	}
	all.print("all")
	built, err := b.environments(sets)
	fmt.Printf("environments: %d layers of %d environments of %d tasks\n", built, len(environments(sets)), tasks)
	return err
}

// result is what one dataset took.
type result struct {
	tasks, predictions int
	wall               time.Duration // of all predictions
	suites             float64       // seconds: a run of the test files of each prediction's task
}

func (r *result) add(o result) {
	r.tasks, r.predictions, r.wall, r.suites = r.tasks+o.tasks, r.predictions+o.predictions, r.wall+o.wall, r.suites+o.suites
}

func (r result) print(name string) {
	each, suite := r.wall.Seconds()/float64(r.predictions), r.suites/float64(r.predictions)
	fmt.Printf("%-20s %6d %12d %7.1fs %13.2fs %13.2fs %7.2f\n", name, r.tasks, r.predictions, r.wall.Seconds(), each, suite, each/suite)
}

// measure grades share predictions for each task, after the environments are there.
func (b *bench) measure(d *output.Dataset, name string, share func(at int) int) (result, error) {
	r := result{tasks: len(d.Rows)}
	if _, err := b.command("eval", d.Dir, "--nop", "--output", filepath.Join(b.dir, "warm"+name)); err != nil {
		return r, err
	}
	var lines strings.Builder
	for i, row := range d.Rows {
		suite, err := b.suite(d, row.Row, fmt.Sprint(name, "-", i))
		if err != nil {
			return r, err
		}
		gold, err := row.GoldPatch()
		if err != nil {
			return r, err
		}
		for sample := range share(i) {
			// Each is another patch, so that each is graded.
			file := fmt.Sprintf("diff --git a/sample.txt b/sample.txt\nnew file mode 100644\n--- /dev/null\n+++ b/sample.txt\n@@ -0,0 +1 @@\n+%d\n", sample)
			line, err := json.Marshal(map[string]string{"instance_id": row.InstanceID, "model_name_or_path": "m", "model_patch": string(gold) + file})
			if err != nil {
				return r, err
			}
			lines.Write(append(line, '\n'))
			r.predictions++
			r.suites += suite
		}
	}
	preds := filepath.Join(b.dir, name+".jsonl")
	if err := os.WriteFile(preds, []byte(lines.String()), 0o600); err != nil {
		return r, err
	}
	began := time.Now()
	_, err := b.command("eval", d.Dir, preds, "-j", fmt.Sprint(b.jobs), "--output", filepath.Join(b.dir, "eval"+name))
	r.wall = time.Since(began)
	return r, err
}

// suite is how long one run of the files of a task's FAIL_TO_PASS takes with its solution.
func (b *bench) suite(d *output.Dataset, row output.Row, name string) (seconds float64, err error) {
	_, _, solution, err := d.States(row)
	if err != nil {
		return 0, err
	}
	folder := filepath.Join(b.dir, "work"+name)
	if err := worktree.Make(folder, solution); err != nil {
		return 0, err
	}
	proof, err := d.Proof(row.InstanceID)
	if err != nil {
		return 0, err
	}
	args := []string{"test", row.InstanceID, folder}
	for _, t := range proof.Tests {
		if slices.Contains(row.FailToPass, t.ID) && !slices.Contains(args, t.Unit) {
			args = append(args, t.Unit)
		}
	}
	out, err := b.command(append(args, "--dataset", d.Dir, "--json")...)
	// 1 is a test that does not pass: in some projects one does only after those of another file.
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return 0, err
	}
	var said struct {
		Seconds float64 `json:"seconds"`
	}
	return said.Seconds, json.Unmarshal(out, &said)
}

func (b *bench) command(args ...string) ([]byte, error) {
	cmd := exec.Command(b.program, args...)
	cmd.Dir, cmd.Env = b.dir, append(os.Environ(), "XDG_CACHE_HOME="+b.cache)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("benchmint %s: %w\n%s", strings.Join(args, " "), err, said.String())
	}
	return out, err
}

// environments are the keys of the tasks' environments.
func environments(sets []*output.Dataset) map[string]bool {
	out := map[string]bool{}
	for _, d := range sets {
		for _, r := range d.Rows {
			out[string(r.Benchmint.Environment)] = true
		}
	}
	return out
}

// environments counts the layers of them that bubblewrap keeps.
func (b *bench) environments(sets []*output.Dataset) (int, error) {
	files, err := filepath.Glob(filepath.Join(b.cache, "benchmint", "sandbox", "bwrap", "layers", "*", "layer.json"))
	if err != nil {
		return 0, err
	}
	keys, count := environments(sets), 0
	for _, p := range files {
		text, err := os.ReadFile(p)
		if err != nil {
			return 0, err
		}
		var layer struct {
			Key string `json:"key"`
		}
		if json.Unmarshal(text, &layer) == nil && keys[layer.Key] {
			count++
		}
	}
	return count, nil
}
