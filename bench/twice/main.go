// Command twice runs benchmint on repositories with every cache cold, then the same
// command again with nothing changed, and holds the second run against the first:
//
//	go run ./bench/twice [-changes 8] [-sandbox bwrap] [-dir _work/twice] SOURCE SOURCE…
//
// Each SOURCE is a git URL, or the path of a repository that ends in owner/name or
// owner/name.git. Wall time, processor time, requests by kind and bytes are printed
// with their ratios; it exits 1 where a goal is missed. Each source has to be asked
// once whether it has anything new, so that a first run of fewer than 50 requests a
// source cannot keep the goal of requests.
//
// The sources, the Python package index and the Go module proxy are all reached
// through one counting server, which is given to benchmint as a machine behind
// mirrors gives them (build.registries: inherit). It never keeps an answer for the
// next request, so what is counted is what the registries would be asked.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/benchmint/benchmint/bench/internal/table"
)

func main() {
	var b bench
	flag.StringVar(&b.program, "benchmint", "", "the program to measure; empty: built from this checkout")
	flag.StringVar(&b.kind, "sandbox", "bwrap", "docker or bwrap")
	flag.StringVar(&b.dir, "dir", filepath.Join("_work", "twice"), "where caches, store and dataset go; made anew")
	flag.IntVar(&b.changes, "changes", 8, "newest changes of each source")
	flag.Parse()
	b.sources = flag.Args()
	if err := b.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "twice:", err)
		if errors.Is(err, table.ErrMissed) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

func (b *bench) run(ctx context.Context) error {
	first, second, err := b.twice(ctx)
	if err != nil {
		return err
	}
	var t figures
	t.fill(first, second)
	return t.Print(os.Stdout)
}
