// Command mask compares what the mask engine chooses with the published commit0 tool, by
// the oracle of its rules:
//
//	go run ./bench/mask -conformance DIR…   # files equal, differing, explained
//
// and starters with their sources, in any language:
//
//	go run ./bench/mask -starter -imports python3 -report pytest -suite 'PYTHONPATH=src python3 "$@" tests' DIR…
//	go run ./bench/mask -starter -check 'go vet ./...' -suite 'go test -json -exec "bench-mask -child each" ./...' -report gotest DIR…
//
//	CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="bench-mask -child libtest" \
//	go run ./bench/mask -starter -check 'cargo check --all-targets' -suite 'cargo test --no-fail-fast' -report cargo DIR…
//
// Two of them, with this program as bench-mask, give each test a process of its own: in
// Go a panic ends all that is in one, in Rust an abort does, and a stack that overflows.
//
// The share that passes with nothing done tells how much working code was left. A test
// that passes because something fails is no part of it: one that expects a panic
// (#[should_panic]), or recovers from any, has the one of a masked body. It is known by
// what it did, not by how it is written: masked code said so while it ran. Nor is an
// example that is compiled and not run. Both are counted beside the share. A starter
// scores nothing for them either way, since they pass before the work as well as after.
//
// -check is a command that compiles: where it ends well in the source, it must in the
// starter, else it may say nothing that it does not say of the source. What it builds
// belongs below its folder: cargo takes an older file at the same path for compiled.
//
// The suite is run in a copy of the source and in the starter, at one and the same path:
// what is installed elsewhere must not be what it tests.
//
// Each DIR is the root of one project; DIR=src:tests names its folders. It exits 1 where a
// goal is missed or a difference is not explained. It never measures speed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/benchmint/benchmint/bench/internal/table"
)

func main() {
	var b bench
	conformance := flag.Bool("conformance", false, "compare with the oracle, file by file")
	starter := flag.Bool("starter", false, "mask with strict: what is left, what imports, which tests still pass")
	child := flag.String("child", "", "each, libtest: run the tests of a program of Go or Rust in one process each")
	flag.StringVar(&b.python, "python", "python3.12", "CPython 3.12")
	flag.StringVar(&b.oracle, "oracle", filepath.Join("..", "shared", "oracles", "commit0_oracle.py"), "the oracle")
	flag.StringVar(&b.dir, "dir", "", "where starters go, made anew (default: _work/bench-mask)")
	flag.StringVar(&b.profiles, "profiles", "commit0-combined,commit0-all,commit0-docstring", "for -conformance")
	flag.StringVar(&b.imports, "imports", "", "for -starter: a Python that imports every module")
	flag.StringVar(&b.check, "check", "", "for -starter: a command for sh that compiles what is in its folder")
	flag.StringVar(&b.suite, "suite", "", "for -starter: a command for sh that runs the tests in its folder")
	flag.StringVar(&b.report, "report", "", "what the suite leaves: junit=PATTERN; gotest (go test -json), cargo, tap: its output; pytest: the command runs \"$@\"")
	flag.DurationVar(&b.limit, "limit", 20*time.Minute, "for each run of the suite")
	flag.DurationVar(&b.alone, "alone", 2*time.Minute, "for each test that -child runs")
	flag.Parse()
	if err := b.run(context.Background(), *conformance, *starter, *child); err != nil {
		fmt.Fprintln(os.Stderr, "mask:", err)
		if errors.Is(err, table.ErrMissed) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

type bench struct {
	python, oracle, dir, profiles string
	imports, check, suite, report string
	limit, alone                  time.Duration
	projects                      []project
	table                         table.Table
}

// project is one of the arguments.
type project struct{ name, root, src, tests string }

func (b *bench) run(ctx context.Context, conformance, starter bool, child string) error {
	if child != "" {
		return b.child(ctx, child, flag.Args())
	}
	if conformance == starter || flag.NArg() == 0 {
		return errors.New("usage: mask -conformance|-starter DIR…")
	}
	for _, arg := range flag.Args() {
		p, err := readProject(arg)
		if err != nil {
			return err
		}
		b.projects = append(b.projects, p)
	}
	if b.dir == "" {
		b.dir = filepath.Join("_work", "bench-mask")
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
	return b.starters(ctx)
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
		return project{}, fmt.Errorf("%s is not a folder", root)
	}
	return project{name: filepath.Base(root), root: root, src: folder(src), tests: folder(tests)}, nil
}

// folder is one of a project, "" for its root: the oracle compares paths as they are put
// together, and takes no file below ROOT/. for one below ROOT.
func folder(name string) string {
	if name = filepath.Clean(name); name == "." {
		return ""
	}
	return name
}
