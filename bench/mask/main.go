// Command mask holds the mask engine against the published commit0 tool, by the oracle
// of its rules, and against the cost of parsing:
//
//	go run ./bench/mask -conformance DIR…   # files equal, differing, explained
//	go run ./bench/mask -speed DIR…         # ratios of one run, medians
//
// Each DIR is the root of one Python project; DIR=src:tests names its folders. It never
// judges by wall-clock time alone: what it holds against a goal is a ratio of figures
// of the same run, or the start of the binary. It exits 1 where a goal is missed or a
// difference is not explained.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	var b bench
	conformance := flag.Bool("conformance", false, "compare with the oracle, file by file")
	speed := flag.Bool("speed", false, "compare with the oracle's time")
	child := flag.String("child", "", "one measurement in a process of its own: run, baseline (used by -speed)")
	flag.StringVar(&b.python, "python", "python3.12", "CPython 3.12")
	flag.StringVar(&b.oracle, "oracle", filepath.Join("..", "shared", "oracles", "commit0_oracle.py"), "the oracle")
	flag.StringVar(&b.dir, "dir", filepath.Join("_work", "bench-mask"), "where starters go; made anew")
	flag.StringVar(&b.profiles, "profiles", "commit0-combined,commit0-all,commit0-docstring", "for -conformance")
	flag.IntVar(&b.runs, "runs", 20, "of each measurement of -speed; the median counts")
	flag.Parse()
	if err := b.run(context.Background(), *conformance, *speed, *child); err != nil {
		fmt.Fprintln(os.Stderr, "mask:", err)
		if errors.Is(err, errMissed) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

// errMissed is a goal that was not reached, or a difference without a cause: everything
// was measured.
var errMissed = errors.New("a goal was missed")

type bench struct {
	python, oracle, dir, profiles string
	runs                          int
	projects                      []project
	program                       string
	table                         table
}

// project is one of the arguments.
type project struct{ name, root, src, tests string }

func (b *bench) run(ctx context.Context, conformance, speed bool, child string) error {
	if child != "" {
		return b.child(child, flag.Args())
	}
	if conformance == speed || flag.NArg() == 0 {
		return errors.New("usage: mask -conformance|-speed DIR…")
	}
	for _, arg := range flag.Args() {
		p, err := readProject(arg)
		if err != nil {
			return err
		}
		b.projects = append(b.projects, p)
	}
	var err error
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	if b.oracle, err = filepath.Abs(b.oracle); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(b.dir), os.MkdirAll(b.dir, 0o755)); err != nil {
		return err
	}
	if conformance {
		return b.conformance(ctx)
	}
	return b.speed(ctx)
}

// readProject reads DIR or DIR=src:tests.
func readProject(arg string) (project, error) {
	root, folders, _ := strings.Cut(arg, "=")
	src, tests, _ := strings.Cut(folders, ":")
	root, err := filepath.Abs(root)
	if err != nil {
		return project{}, err
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return project{}, fmt.Errorf("%s is no folder", root)
	}
	p := project{name: filepath.Base(root), root: root, src: src, tests: tests}
	if p.src == "" {
		p.src = "."
	}
	if p.tests == "" {
		p.tests = "."
	}
	return p, nil
}
