// Command bench measures what a proof costs, as ratios within one run, so that
// the machine's speed cancels out:
//
//	go run ./bench -benchmint PATH -sandbox bwrap -dir _work/bench
//
// It makes one repository of 20 changes, mints it, and prints each ratio beside
// its goal: test time of a verdict over one start suite plus one solution suite,
// time around each test command, environments built per valid task, and whether
// verdicts are the same without any sharing.
//
// It never judges by wall-clock time alone, and never measures two things at once.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	var b bench
	flag.StringVar(&b.program, "benchmint", "", "the program to measure; empty: built from this checkout")
	flag.StringVar(&b.kind, "sandbox", "bwrap", "docker or bwrap")
	flag.StringVar(&b.dir, "dir", filepath.Join("_work", "bench"), "where the repository, stores and datasets go; made anew")
	alone := flag.Int("alone", changes, "how many of the changes are run again without sharing")
	flag.Parse()
	if err := b.run(*alone); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		if errors.Is(err, errMissed) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}
