package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/benchmint/benchmint/internal/mask"
)

// speed measures whole processes. What is compared is run in turns, so that a busy
// machine is as busy for both.
func (b *bench) speed(ctx context.Context) (err error) {
	// On a disk, as installed programs are, wherever the starters go: from a file system in
	// memory a start takes a third longer.
	folder, err := os.MkdirTemp("", "bench-mask")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	b.program = filepath.Join(folder, "benchmint")
	if said, err := exec.CommandContext(ctx, "go", "build", "-o", b.program, "./cmd/benchmint").CombinedOutput(); err != nil {
		return fmt.Errorf("building the program: %w: %s", err, said)
	}
	if err := rewrite(b.program); err != nil {
		return err
	}
	b.table.Row(fmt.Sprintf("%d processors, medians of %d", runtime.GOMAXPROCS(0), b.runs))
	start, err := b.medians(func(int) (usage, error) { return b.process(ctx, b.program, "version") })
	if err != nil {
		return err
	}
	b.table.AtMost("start (version), ms", start[0].wall, 15)
	// Each starter goes to a folder of its own, and all are removed at the very end: see
	// inMemory.
	defer func() { err = errors.Join(err, os.RemoveAll(filepath.Join(b.dir, "starters"))) }()
	for _, p := range b.projects {
		if err := b.measure(ctx, p, start[0].wall); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if err := b.memory(ctx); err != nil {
		return err
	}
	return b.table.Print(os.Stdout)
}

// rewrite writes a program again, in one piece, so that the kernel keeps it in large pages.
// In small ones, in which a linker or a copy may leave it, each start takes 200 page faults
// more: a twentieth of a mask of a small project, that is there in one build and not in the
// next.
func rewrite(program string) error {
	text, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	if err := os.Remove(program); err != nil {
		return err
	}
	return os.WriteFile(program, text, 0o755)
}

// goal is the ratio that is asked of a project of so many lines. From 100,000 on the
// engine has all processors, and the oracle, which has no threads, one.
func goal(lines int) (string, float64) {
	switch {
	case lines < 5_000:
		return "small", 4
	case lines < 60_000:
		return "medium", 4
	case lines < 170_000:
		return "100 k", 2
	}
	return "200 k", 2.5
}

// measure is one project: against the oracle, against parsing, and how far parsing on all
// processors, after a start of so many milliseconds and with nothing else, would be. Parsing
// is once as tree-sitter comes, with the memory of the C library, against which the goal
// is, and once by the engine's own parser.
func (b *bench) measure(ctx context.Context, p project, start float64) error {
	me, err := os.Executable()
	if err != nil {
		return err
	}
	starters := filepath.Join(b.dir, "starters", p.name)
	if err := os.MkdirAll(starters, 0o755); err != nil {
		return err
	}
	n, out := 0, ""
	fresh := func(program string, args ...string) (usage, error) {
		n++
		out = filepath.Join(starters, strconv.Itoa(n))
		return b.process(ctx, program, slices.Replace(args, slices.Index(args, starter), slices.Index(args, starter)+1, out)...)
	}
	profile := string(mask.Commit0Combined)
	figures, err := b.medians(
		func(int) (usage, error) {
			return fresh(b.program, append([]string{"mask", p.root, "--output", starter, "--profile", profile}, p.flags()...)...)
		},
		func(int) (usage, error) {
			return fresh(b.python, b.oracle, p.root, p.src, p.tests, starter, "combined")
		},
		func(int) (usage, error) { return fresh(me, "-child", "run", p.root, starter, p.src, p.tests, profile) },
		// The starter of the run before is there.
		func(int) (usage, error) { return b.process(ctx, me, "-child", "baseline", p.root, out, p.src, p.tests) },
		func(int) (usage, error) { return b.process(ctx, me, "-child", "own", p.root, out, p.src, p.tests) },
		func(int) (usage, error) { return b.process(ctx, me, "-child", "start") },
	)
	if err != nil {
		return err
	}
	ours, oracle, run, baseline, own, idle := figures[0], figures[1], figures[2], figures[3], figures[4], figures[5]
	lines, err := strconv.Atoi(strings.TrimSpace(baseline.said))
	if err != nil {
		return fmt.Errorf("the baseline said %q", baseline.said)
	}
	size, want := goal(lines)
	name := fmt.Sprintf("%s (%s, %d lines)", p.name, size, lines)
	b.table.Row(name+": ours / oracle, ms", fmt.Sprintf("%.0f / %.0f", ours.wall, oracle.wall))
	b.table.AtLeast(name+": oracle ÷ ours", oracle.wall/ours.wall, want)
	bare := func(parsing usage) float64 {
		return oracle.wall / (start + (parsing.cpu-idle.cpu)/float64(runtime.GOMAXPROCS(0)))
	}
	b.table.Row(name+": oracle ÷ (start; parse in, query, parse out on all processors), tree-sitter / own",
		fmt.Sprintf("%.2f / %.2f", bare(baseline), bare(own)))
	b.table.Row(name+": CPU ours / parse in, query, parse out, tree-sitter / own, ms",
		fmt.Sprintf("%.0f / %.0f / %.0f", run.cpu, baseline.cpu, own.cpu))
	b.table.AtMost(name+": CPU ÷ parsing by tree-sitter", run.cpu/baseline.cpu, 1.25)
	b.table.Row(name+": CPU ÷ parsing by the engine's own parser", fmt.Sprintf("%.2f", run.cpu/own.cpu))
	return nil
}

// starter stands for the next folder in the arguments of a program.
const starter = "STARTER"

// memory is the peak of runs over many files: of parsing alone, in and out, by the engine's
// parser, and of masks. Few and many are alike in their sizes: what a large file takes for
// itself is no growth in the number of files.
func (b *bench) memory(ctx context.Context) error {
	me, err := os.Executable()
	if err != nil {
		return err
	}
	few, many := filepath.Join(b.dir, "few"), filepath.Join(b.dir, "many")
	if err := errors.Join(b.copies(few, 1_000), b.copies(many, 10_000)); err != nil {
		return err
	}
	masked := func(profile mask.Profile) func(root string) (usage, error) {
		return func(root string) (u usage, err error) {
			out := root + "-" + string(profile)
			defer func() { err = errors.Join(err, os.RemoveAll(out)) }()
			return b.process(ctx, b.program, "mask", root, "--output", out, "--profile", string(profile))
		}
	}
	for _, of := range []struct {
		name string
		run  func(root string) (usage, error)
	}{
		{"parsing alone", func(root string) (usage, error) { return b.process(ctx, me, "-child", "own", root, root, "", "") }},
		{string(mask.Commit0Combined), masked(mask.Commit0Combined)},
		{string(mask.Strict), masked(mask.Strict)},
	} {
		small, err := of.run(few)
		if err != nil {
			return err
		}
		large, err := of.run(many)
		if err != nil {
			return err
		}
		b.table.Row("peak memory, MB, 1,000 / 10,000 files, "+of.name, fmt.Sprintf("%.0f / %.0f (%.2f)", small.peak, large.peak, large.peak/small.peak))
	}
	return errors.Join(os.RemoveAll(few), os.RemoveAll(many))
}

// copies writes n modules into packages of a hundred each: all of the projects, where n is
// more than they have again and again, where it is less evenly chosen by size.
func (b *bench) copies(root string, n int) error {
	type source struct {
		path string
		size int64
	}
	var sources []source
	for _, p := range b.projects {
		err := filepath.WalkDir(p.root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || filepath.Ext(path) != ".py" {
				return err
			}
			info, err := d.Info()
			sources = append(sources, source{path, info.Size()})
			return err
		})
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(sources, func(a, b source) int { return cmp.Compare(a.size, b.size) })
	// The largest is in both; large ones do not stand together.
	order := rand.New(rand.NewPCG(0, 0)).Perm(n)
	for i, k := range order {
		data, err := os.ReadFile(sources[((k+1)*len(sources)-1)/n].path)
		if err != nil {
			return err
		}
		folder := filepath.Join(root, fmt.Sprintf("package%d", i/100))
		if err := errors.Join(os.MkdirAll(folder, 0o755), os.WriteFile(filepath.Join(folder, fmt.Sprintf("module%d.py", i)), data, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// usage is what one process took.
type usage struct {
	wall, cpu float64 // ms
	peak      float64 // MB
	said      string
}

// process runs a program; what it says goes to files, so that nothing of this process has a
// part in what is measured.
func (b *bench) process(ctx context.Context, program string, args ...string) (usage, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	said, err := b.file("said")
	if err != nil {
		return usage{}, err
	}
	defer said.Close()
	complaint, err := b.file("complaint")
	if err != nil {
		return usage{}, err
	}
	defer complaint.Close()
	cmd.Stdout, cmd.Stderr = said, complaint
	began := time.Now()
	err = cmd.Run()
	wall := time.Since(began)
	if err != nil {
		why, _ := os.ReadFile(complaint.Name())
		return usage{}, fmt.Errorf("%s %s: %w: %s", filepath.Base(program), strings.Join(args, " "), err, why)
	}
	text, err := os.ReadFile(said.Name())
	if err != nil {
		return usage{}, err
	}
	u := usage{wall: ms(wall), cpu: ms(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()), said: string(text)}
	if r, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.peak = float64(r.Maxrss) / 1024 // KB on Linux
	}
	return u, nil
}

func (b *bench) file(name string) (*os.File, error) { return os.Create(filepath.Join(b.dir, name)) }

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// medians takes turns; the first turn warms caches and does not count.
func (b *bench) medians(all ...func(int) (usage, error)) ([]usage, error) {
	figures := make([][]usage, len(all))
	for turn := range b.runs + 1 {
		for i, one := range all {
			u, err := one(turn)
			if err != nil {
				return nil, err
			}
			if turn > 0 {
				figures[i] = append(figures[i], u)
			}
		}
	}
	out := make([]usage, len(all))
	for i, f := range figures {
		of := func(figure func(usage) float64) float64 {
			values := make([]float64, len(f))
			for j, u := range f {
				values[j] = figure(u)
			}
			slices.Sort(values)
			return values[len(values)/2]
		}
		out[i] = usage{
			wall: of(func(u usage) float64 { return u.wall }), cpu: of(func(u usage) float64 { return u.cpu }),
			peak: of(func(u usage) float64 { return u.peak }), said: f[0].said,
		}
	}
	return out, nil
}
