// Command mask holds the mask engine against the published commit0 tool, by the oracle
// of its rules, and against the cost of parsing:
//
//	go run ./bench/mask -conformance DIR…   # files equal, differing, explained
//	go run ./bench/mask -speed DIR…         # ratios of one run, medians
//	go run ./bench/mask -trees DIR…         # each tree is that of tree-sitter's own runtime
//
// and its starters against their sources, in any language:
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
// Each DIR is the root of one project; DIR=src:tests names its folders. It never
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
	"syscall"
	"time"

	"github.com/benchmint/benchmint/bench/internal/table"
)

func main() {
	var b bench
	conformance := flag.Bool("conformance", false, "compare with the oracle, file by file")
	speed := flag.Bool("speed", false, "compare with the oracle's time")
	trees := flag.Bool("trees", false, "compare each tree, and those of damaged sources, with tree-sitter's own runtime, in all languages")
	starter := flag.Bool("starter", false, "mask with strict: what is left, what imports, which tests still pass")
	child := flag.String("child", "", "start, run, baseline, own: one measurement in a process of its own (used by -speed); each, libtest: the tests of a program of Go or Rust in one process each")
	flag.StringVar(&b.python, "python", "python3.12", "CPython 3.12")
	flag.StringVar(&b.oracle, "oracle", filepath.Join("..", "shared", "oracles", "commit0_oracle.py"), "the oracle")
	flag.StringVar(&b.dir, "dir", "", "where starters go, made anew (default: _work/bench-mask; of -speed a folder in memory, where one has the room)")
	flag.StringVar(&b.profiles, "profiles", "commit0-combined,commit0-all,commit0-docstring", "for -conformance")
	flag.IntVar(&b.runs, "runs", 20, "of each measurement of -speed; the median counts")
	flag.IntVar(&b.damage, "damage", 3, "for -trees: damaged sources of each file")
	flag.StringVar(&b.imports, "imports", "", "for -starter: a Python that imports every module")
	flag.StringVar(&b.check, "check", "", "for -starter: a command for sh that compiles what is in its folder")
	flag.StringVar(&b.suite, "suite", "", "for -starter: a command for sh that runs the tests in its folder")
	flag.StringVar(&b.report, "report", "", "what the suite leaves: junit=PATTERN; gotest (go test -json), cargo, tap: its output; pytest: the command runs \"$@\"")
	flag.DurationVar(&b.limit, "limit", 20*time.Minute, "for each run of the suite")
	flag.DurationVar(&b.alone, "alone", 2*time.Minute, "for each test that -child runs")
	flag.Parse()
	if err := b.run(context.Background(), mode{*conformance, *speed, *starter, *trees}, *child); err != nil {
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
	runs, damage                  int
	projects                      []project
	program                       string
	table                         table.Table
}

// project is one of the arguments.
type project struct{ name, root, src, tests string }

// mode is what is measured: one of them.
type mode struct{ conformance, speed, starter, trees bool }

func (m mode) one() bool {
	return m == mode{conformance: true} || m == mode{speed: true} || m == mode{starter: true} || m == mode{trees: true}
}

func (b *bench) run(ctx context.Context, m mode, child string) error {
	if child != "" {
		return b.child(ctx, child, flag.Args())
	}
	if !m.one() || flag.NArg() == 0 {
		return errors.New("usage: mask -conformance|-speed|-starter|-trees DIR…")
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
		if m.speed && roomy(inMemory) {
			b.dir = filepath.Join(inMemory, "bench-mask")
		}
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
	switch {
	case m.conformance:
		return b.conformance(ctx)
	case m.starter:
		return b.starters(ctx)
	case m.trees:
		return b.trees(ctx)
	}
	return b.speed(ctx)
}

// inMemory is a file system in memory, for starters whose time is taken. On a disk that of a
// new file hangs on what was deleted before: ext4 without a journal passes over each such
// inode for five minutes, so that a second run of -speed had four times the time of the first.
const inMemory = "/dev/shm"

// roomy tells whether a folder is there, and has room for all starters of -speed.
func roomy(folder string) bool {
	var fs syscall.Statfs_t
	return syscall.Statfs(folder, &fs) == nil && fs.Bavail*uint64(fs.Bsize) >= 4<<30
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
	return project{name: filepath.Base(root), root: root, src: folder(src), tests: folder(tests)}, nil
}

// flags name its folders to benchmint mask, for which the root is what no flag says.
func (p project) flags() []string {
	var out []string
	for _, f := range [][2]string{{"--src", p.src}, {"--tests", p.tests}} {
		if f[1] != "" {
			out = append(out, f[0], f[1])
		}
	}
	return out
}

// folder is one of a project, "" for its root: the oracle compares paths as they are put
// together, and takes no file below ROOT/. for one below ROOT.
func folder(name string) string {
	if name = filepath.Clean(name); name == "." {
		return ""
	}
	return name
}
