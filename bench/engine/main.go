// Command engine measures the engine on the synthetic plan of its design
// (package enginetest) and prints one table, medians of three runs:
//
//	go run ./bench/engine                       # 10,000 items, minutes
//	go run ./bench/engine -settled 1000000      # second run, status and show at a million
//
// It never judges by wall-clock time alone: what it holds against a goal is a
// ratio of two figures of the same run. It exits 1 where a goal is missed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/benchmint/benchmint/bench/internal/table"
	"github.com/benchmint/benchmint/pipeline/enginetest"
)

func main() {
	var b bench
	flag.StringVar(&b.dir, "dir", filepath.Join("_work", "bench-engine"), "where stores go; made anew")
	flag.IntVar(&b.items, "items", 10_000, "of the plan for throughput")
	flag.IntVar(&b.settled, "settled", 100_000, "items of the store for the second run, status and show")
	flag.IntVar(&b.runs, "runs", 3, "of each measurement; the median counts")
	flag.Parse()
	if err := b.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		if errors.Is(err, table.ErrMissed) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

type bench struct {
	dir, program         string
	items, settled, runs int
	peak                 float64 // MB, of items at 256 workers
	table                figures
	n                    int
}

func (b *bench) run(ctx context.Context) (err error) {
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(b.dir), os.MkdirAll(b.dir, 0o755)); err != nil {
		return err
	}
	if b.program, err = enginetest.Compile(b.dir); err != nil {
		return err
	}
	for _, measure := range b.measures() {
		if err := measure(ctx); err != nil {
			return err
		}
	}
	return b.table.Print(os.Stdout)
}

func (b *bench) measures() []func(context.Context) error {
	return []func(context.Context) error{b.throughput, b.order, b.memory, b.again}
}
