// Command solver solves the libraries of a dataset, as a reference user of the tasks and of
// the feedback that there is on them:
//
//	go run ./bench/solver -program ./benchmint -dataset DATASET -gold [ID...]
//	go run ./bench/solver -program ./benchmint -dataset DATASET -endpoint URL -model NAME -to FOLDER [ID...]
//
// With -gold it puts the solution back file by file, has benchmint eval grade the tree after
// each, and prints how the pass rate rises from that of doing nothing to 100 %. With a model it goes
// through the three stages of Commit0's SDE-I: it fills the files one by one, mends what benchmint
// lint says, and then what benchmint test says, a few times. The key comes from
// OPENAI_API_KEY. The solved trees stay in FOLDER, in folders called by the tasks' IDs, for benchmint
// eval.
//
// It never shows a model the solution, never runs what a model wrote but by benchmint, and keeps no
// account of money: -questions bounds what is asked.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/bench/internal/table"
	"github.com/benchmint/benchmint/internal/llm/openai"
	"github.com/benchmint/benchmint/internal/worktree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/schemas"
)

func main() {
	var s settings
	flag.StringVar(&s.program, "program", "benchmint", "the benchmint that tests, lints and grades")
	flag.StringVar(&s.dataset, "dataset", "benchmint-out", "folder of the dataset")
	flag.BoolVar(&s.gold, "gold", false, "put the solution back file by file")
	flag.StringVar(&s.endpoint, "endpoint", "", "base URL of an endpoint that speaks OpenAI's chat API")
	flag.StringVar(&s.model, "model", "", "the model's name there")
	flag.StringVar(&s.to, "to", "solved", "folder that gets the solved trees")
	flag.IntVar(&s.questions, "questions", 100, "questions that may be asked about one library")
	flag.IntVar(&s.tries, "tries", 3, "how often a library is tested and mended")
	flag.IntVar(&s.maxTokens, "tokens", 8000, "tokens of one answer")
	flag.DurationVar(&s.timeout, "timeout", 5*time.Minute, "of one question")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := s.run(ctx, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "solver:", err)
		os.Exit(1)
	}
}

type settings struct {
	program, dataset    string
	gold                bool
	endpoint, model, to string
	questions, tries    int
	maxTokens           int
	timeout             time.Duration
}

func (s settings) run(ctx context.Context, ids []string) error {
	if !s.gold && (s.endpoint == "" || s.model == "") {
		return errors.New("name -endpoint and -model, or -gold")
	}
	d, err := output.Read(s.dataset)
	if err != nil {
		return err
	}
	rows, err := libraries(d, ids)
	if err != nil {
		return err
	}
	path, err := exec.LookPath(s.program)
	if err != nil {
		return err
	}
	if s.program, err = filepath.Abs(path); err != nil {
		return err
	}
	var out table.Table
	if s.gold {
		err = curve(ctx, s.program, d, rows, &out)
	} else {
		err = s.solve(ctx, d, rows, &out)
	}
	return errors.Join(out.Print(os.Stdout), err)
}

func (s settings) solve(ctx context.Context, d *output.Dataset, rows []output.Row, out *table.Table) error {
	provider := openai.New(s.endpoint, os.Getenv("OPENAI_API_KEY"), s.timeout, time.Now)
	out.Row("library", "stage", "questions", "not usable", "tests", "score")
	for n, row := range rows {
		fmt.Fprintf(os.Stderr, "%d of %d: %s\n", n+1, len(rows), row.InstanceID)
		folder := filepath.Join(s.to, row.InstanceID)
		base, _, _, err := d.States(row)
		if err != nil {
			return err
		}
		if err := worktree.Make(folder, base); err != nil {
			return err
		}
		x := solver{
			provider: provider, model: s.model, maxTokens: s.maxTokens, left: s.questions, tries: s.tries,
			feedback: program{path: s.program, dataset: d.Dir, id: row.InstanceID, folder: folder},
			folder:   folder, statement: row.ProblemStatement, files: row.Benchmint.Parts[schemas.PartCode], task: score.TaskOf(output.Located{Row: row}),
		}
		stages, err := x.solve(ctx)
		for _, g := range stages {
			out.Row(row.InstanceID, g.stage, fmt.Sprint(g.questions), fmt.Sprint(g.unusable), fmt.Sprintf("%d of %d", g.passed, g.wanted), fmt.Sprintf("%.1f %%", 100*g.score))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", row.InstanceID, err)
		}
	}
	return nil
}

// libraries are the rows of the IDs, or all libraries.
func libraries(d *output.Dataset, ids []string) ([]output.Row, error) {
	var out []output.Row
	for _, id := range ids {
		row, err := d.Row(id)
		if err != nil {
			return nil, err
		}
		if row.Benchmint.Library == nil {
			return nil, fmt.Errorf("%s is not a library", id)
		}
		out = append(out, row)
	}
	for _, row := range d.Rows {
		if len(ids) == 0 && row.Benchmint.Library != nil {
			out = append(out, row.Row)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s holds no library", d.Dir)
	}
	slices.SortFunc(out, func(a, b output.Row) int { return strings.Compare(a.InstanceID, b.InstanceID) })
	return out, nil
}
