// Command solver solves the libraries of a dataset, as a reference user of the tasks and of
// the feedback that there is on them:
//
//	go run ./bench/solver -program ./benchmint -dataset DATASET -gold [ID...]
//	go run ./bench/solver -program ./benchmint -dataset DATASET -endpoint URL -model NAME -to FOLDER [ID...]
//
// With -gold it puts the solution back file by file, has benchmint eval grade the tree after
// each, and prints how the pass rate rises from that of doing nothing to 100 %. With a model it goes
// through the three stages of SDE-I as Commit0's paper has them: it fills the modules one by one, mends
// what benchmint lint says, and then what benchmint test says, a module of tests at a time. Flags choose
// what the paper's ablations do: the order of modules, what a question shows beside the module,
// answers for each module, rounds of feedback. What each stage took and reached is printed, and
// at the end the row of the paper's Table 1. The key comes from OPENAI_API_KEY. The solved trees stay in
// FOLDER, in folders called by the tasks' IDs, for benchmint eval.
//
// It never shows a model the solution, and never runs what a model wrote but by benchmint.
// -questions bounds what is asked; dollars are counted at the prices that are given, and bound nothing.
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
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/llm/openai"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/plugins"
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
	flag.StringVar(&s.endpoint, "endpoint", os.Getenv("OPENAI_BASE_URL"), "base URL of an endpoint that speaks OpenAI's chat API (default: OPENAI_BASE_URL)")
	flag.StringVar(&s.model, "model", "", "the model's name there")
	flag.StringVar(&s.to, "to", "solved", "folder that gets the solved trees")
	flag.IntVar(&s.questions, "questions", 100, "questions that may be asked about one library")
	flag.StringVar(&s.order, "order", topological, "order of the modules: topological (imported ones first), random or path")
	flag.Uint64Var(&s.seed, "seed", 1, "of the random order")
	flag.BoolVar(&s.imported, "imports", true, "show the modules that a module imports, as they are at that time")
	flag.StringVar(&s.specification, "specification", none, "what is shown of the specification: bm25 (10 chunks of 1,000 tokens that match the module), head (10,000 tokens) or none")
	flag.IntVar(&s.best, "best", 1, "answers for each module in the first stage, of which the one with most passing tests stays")
	flag.IntVar(&s.rounds, "rounds", 3, "how often the files are mended for each module of tests")
	flag.Float64Var(&s.price.Input, "price-input", 0, "dollars per million tokens of input")
	flag.Float64Var(&s.price.Cached, "price-cached", -1, "dollars per million tokens of input that the endpoint had read before (default as -price-input)")
	flag.Float64Var(&s.price.Output, "price-output", 0, "dollars per million tokens of output")
	flag.IntVar(&s.maxTokens, "tokens", 8000, "tokens of one answer")
	flag.DurationVar(&s.timeout, "timeout", 5*time.Minute, "of one question")
	flag.Parse()
	if s.price.Cached < 0 {
		s.price.Cached = s.price.Input
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := s.run(ctx, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "solver:", err)
		os.Exit(1)
	}
}

type settings struct {
	choices
	program, dataset     string
	gold                 bool
	endpoint, model, to  string
	price                llm.Price
	questions, maxTokens int
	timeout              time.Duration
}

func (s settings) run(ctx context.Context, ids []string) error {
	if !s.gold && (s.endpoint == "" || s.model == "") {
		return errors.New("name -endpoint and -model, or -gold")
	}
	if err := s.check(); err != nil {
		return err
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
	head(out)
	var all [][]stage
	for n, row := range rows {
		fmt.Fprintf(os.Stderr, "%d of %d: %s\n", n+1, len(rows), row.InstanceID)
		x, err := s.solver(ctx, d, row)
		if err != nil {
			return fmt.Errorf("%s: %w", row.InstanceID, err)
		}
		x.provider = provider
		stages, err := x.solve(ctx)
		list(out, row.InstanceID, stages)
		if err != nil {
			return fmt.Errorf("%s: %w", row.InstanceID, err)
		}
		all = append(all, stages)
	}
	table1(out, s.model, all)
	return nil
}

// solver makes the folder of a library, and who writes it.
func (s settings) solver(ctx context.Context, d *output.Dataset, row output.Row) (*solver, error) {
	folder := filepath.Join(s.to, row.InstanceID)
	base, _, _, err := d.States(row)
	if err != nil {
		return nil, err
	}
	if err := worktree.Make(folder, base); err != nil {
		return nil, err
	}
	x := &solver{
		choices: s.choices, model: s.model, price: s.price, maxTokens: s.maxTokens, left: s.questions,
		feedback: program{path: s.program, dataset: d.Dir, id: row.InstanceID, folder: folder},
		folder:   folder, statement: row.ProblemStatement, units: map[string]string{}, task: score.TaskOf(output.Located{Row: row}),
	}
	if x.imports, err = mask.Imports(ctx, folder, plugins.Maskers()); err != nil {
		return nil, err
	}
	x.files = s.arrange(row.Benchmint.Parts[schemas.PartCode], x.imports)
	proof, err := d.Proof(row.InstanceID)
	if err != nil {
		return nil, err
	}
	for _, t := range proof.Tests {
		x.units[t.ID] = t.Unit
	}
	if s.specification == none {
		return x, nil
	}
	files, err := d.Specification(row)
	if x.manual = string(files[schemas.SpecificationText]); err == nil && x.manual == "" {
		err = errors.New("there is no specification: leave -specification out")
	}
	return x, err
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
