package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/plugins"
)

// maxStill is the share of a suite that may pass with nothing done. Tests that can only
// pass, since nothing of them is run or since the mask's own failure is what they expect,
// are on neither side of it: they say nothing of code that was left, and are counted
// beside it.
const maxStill = 0.05

// pair is a project and its starter, beside each other. What is run in one of them is
// run at the same place, tree, so that nothing but the code differs.
type pair struct {
	project
	folder string
}

func (p pair) path(name string) string { return filepath.Join(p.folder, name) }

// starters masks each project with strict, and runs both.
func (b *bench) starters(ctx context.Context) error {
	for _, p := range b.projects {
		if err := b.starter(ctx, pair{p, filepath.Join(b.dir, p.name)}); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return b.table.Print(os.Stdout)
}

func (b *bench) starter(ctx context.Context, p pair) error {
	if err := os.MkdirAll(p.folder, 0o755); err != nil {
		return err
	}
	began := time.Now()
	result, err := mask.Run(ctx, mask.Options{Source: p.root, Output: p.path("starter"), Profile: mask.Strict, Languages: plugins.Maskers()})
	if err != nil {
		return err
	}
	b.masked(p.name, result, time.Since(began))
	if err := p.restore(ctx); err != nil {
		return err
	}
	if b.imports != "" {
		if err := b.imported(ctx, p); err != nil {
			return err
		}
	}
	if b.check != "" {
		if err := b.checks(ctx, p); err != nil {
			return err
		}
	}
	if b.suite == "" {
		return nil
	}
	return b.suites(ctx, p)
}

func (b *bench) masked(name string, r *mask.Result, took time.Duration) {
	t := r.Totals
	b.table.Row(name+": masked", fmt.Sprintf("%.1f s", took.Seconds()))
	b.table.Row("  files, changed, not in the starter", fmt.Sprintf("%d, %d, %d", t.Files, t.Changed, t.Failed))
	b.table.Row("  functions, masked, gone with those", fmt.Sprintf("%d, %d, %d", t.Functions, t.Masked, t.Gone))
	for _, why := range slices.Sorted(maps.Keys(t.Kept)) {
		b.table.Row("  kept: "+why, fmt.Sprint(t.Kept[why]))
	}
	b.table.Row("  body lines, left, %", fmt.Sprintf("%d, %d, %.1f", t.Lines, t.Left, 100*t.Share))
	for _, f := range r.Failed {
		b.table.Row("  failed: " + f)
	}
}

// restore makes the source anew beside the starter, without its history: a copy of the
// starter with its bodies back.
func (p pair) restore(ctx context.Context) error {
	if err := os.CopyFS(p.path("source"), os.DirFS(p.path("starter"))); err != nil {
		return err
	}
	_, err := mask.Undo(ctx, mask.UndoPath(p.path("starter")), p.path("source"))
	return err
}

// suites runs the tests in both.
func (b *bench) suites(ctx context.Context, p pair) error {
	if err := announce(p.path("starter")); err != nil {
		return err
	}
	outcomes := map[string]results{}
	for _, side := range []string{"source", "starter"} {
		var run pytestRun
		if b.report == "pytest" {
			var err error
			if run, err = preparePytest(p.folder, side); err != nil {
				return err
			}
		}
		took, _, err := b.shell(ctx, p, side, b.suite, run.args...)
		if err != nil {
			return err
		}
		if b.report == "pytest" {
			outcomes[side], err = run.results()
		} else {
			outcomes[side], err = b.read(p.path(side), p.path(side+".log"))
		}
		if err != nil {
			return fmt.Errorf("the tests of the %s: %w", side, err)
		}
		b.table.Row("  suite of the "+side+": s, tests seen", fmt.Sprintf("%.0f, %d", took.Seconds(), len(outcomes[side])))
	}
	before := outcomes["source"].with(passed)
	if len(before) == 0 {
		return fmt.Errorf("no test passes in the source: see %s", p.path("source.log"))
	}
	b.table.Row("  only compiled, left out", fmt.Sprint(len(outcomes["source"].with(compiled))))
	excuses := func(id string) bool { return outcomes["starter"][id] == excused }
	all := len(before)
	before = slices.DeleteFunc(before, excuses)
	b.table.Row("  passing before, still by the mask's failure, left out", fmt.Sprintf("%d, %d", all, all-len(before)))
	still := slices.DeleteFunc(slices.Clone(before), func(id string) bool { return outcomes["starter"][id] != passed })
	slices.Sort(still)
	b.table.Row("  of the others, still", fmt.Sprintf("%d, %d", len(before), len(still)))
	b.table.AtMost("  share that passes with nothing done", share(len(still), len(before)), maxStill)
	return os.WriteFile(p.path("still.txt"), []byte(strings.Join(still, "\n")+"\n"), 0o644)
}

func share(some, all int) float64 {
	if all == 0 {
		return 0
	}
	return float64(some) / float64(all)
}

// shell runs a command for sh in one of the two, at the same place. How a suite ends
// does not matter: its report does.
func (b *bench) shell(ctx context.Context, p pair, side, line string, args ...string) (took time.Duration, passed bool, err error) {
	if err := os.Rename(p.path(side), p.path("tree")); err != nil {
		return 0, false, err
	}
	log, err := os.Create(p.path(side + ".log"))
	if err != nil {
		return 0, false, err
	}
	ctx, cancel := context.WithTimeout(ctx, b.limit)
	defer cancel()
	cmd := command(ctx, "sh", append([]string{"-c", line, "sh"}, args...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.path("tree"), log, log
	began := time.Now()
	err = cmd.Run()
	took, passed = time.Since(began), err == nil
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && ctx.Err() == nil {
		return took, false, err
	}
	if ctx.Err() != nil {
		b.table.Row("  what ran in the "+side+" was ended after", b.limit.String())
	}
	return took, passed, errors.Join(log.Close(), os.Rename(p.path("tree"), p.path(side)))
}

// command is one that ends with all that it started.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}
