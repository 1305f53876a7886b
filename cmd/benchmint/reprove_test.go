package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/reproof"
	"github.com/benchmint/benchmint/schemas"
)

// reproofBench is a dataset of clockwork, with commands that see a clock of the test's.
type reproofBench struct {
	t       *testing.T
	dir     string
	env     []string
	now     time.Time
	dataset string
	ledger  string
}

// newReproofBench mints the four tasks of clockwork; a test of the third passes for 600 days.
func newReproofBench(t *testing.T) *reproofBench {
	t.Helper()
	history := built(t, "clockwork")
	b := &reproofBench{t: t, dir: t.TempDir(), now: time.Now()}
	b.dataset = filepath.Join(b.dir, "benchmint-out")
	b.env = append(os.Environ(), "NO_COLOR=1", "BENCHMINT_FILTERS_LABELS=feature,improvement,fix,other", "BENCHMINT_FILTERS_MODIFIES_ONLY=false", "BENCHMINT_FILTERS_THIN=true", "BENCHMINT_WAIT=0s")
	until := fmt.Sprint(b.now.AddDate(0, 0, 600).Unix())
	repo := gitrepotest.New(t, strings.ReplaceAll(history, "99999999999", until))
	code, out := b.command("run", "local/clockwork="+repo, "--sandbox", "bwrap", "--set", "proof.runs=1", "--set", "proof.hunks=0", "--set", "dataset=clockwork")
	if code != 0 || !strings.Contains(out, "(4 rows)") {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	return b
}

// command runs the program itself, by the real clock.
func (b *reproofBench) command(args ...string) (int, string) {
	b.t.Helper()
	cmd := exec.CommandContext(b.t.Context(), "benchmint", args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		b.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// reprove runs the verb on a day after the first, and gives its exit code and what it says of each task.
func (b *reproofBench) reprove(day int, args ...string) (int, map[string]reprovedTask) {
	b.t.Helper()
	var out, said bytes.Buffer
	w := newWorld()
	w.stdout, w.stderr, w.environ, w.now = &out, &said, b.env, func() time.Time { return b.now.AddDate(0, 0, day) }
	all := append([]string{"--json", "reprove", b.dataset, "--output", b.ledger + ".store", "--ledger", b.ledger, "--releases", filepath.Join(b.dir, "releases")}, args...)
	code := execute(context.Background(), w, newRoot(w), all)
	var tasks []reprovedTask
	if err := json.Unmarshal(out.Bytes(), &tasks); err != nil {
		b.t.Fatalf("exit code %d, %v\n%s", code, err, &said)
	}
	by := map[string]reprovedTask{}
	for _, x := range tasks {
		by[x.ID] = x
	}
	return code, by
}

// edit changes the rows of the dataset.
func (b *reproofBench) edit(change func(*output.Row)) {
	b.t.Helper()
	d, err := output.Read(b.dataset)
	if err != nil {
		b.t.Fatal(err)
	}
	var text []byte
	for _, r := range d.Rows {
		change(&r.Row)
		line, err := r.Row.Encoded()
		if err != nil {
			b.t.Fatal(err)
		}
		text = append(text, line...)
	}
	write(b.t, filepath.Join(b.dataset, output.DataDir, "test.jsonl"), string(text))
}

// toss has the coin of a task fall on either side.
func (b *reproofBench) toss(id string) {
	b.t.Helper()
	name := filepath.Join(b.dataset, "tasks", id, output.RecipeFile)
	text, err := os.ReadFile(name)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { write(b.t, name, string(text)) })
	var r schemas.Recipe
	if err := json.Unmarshal(text, &r); err != nil {
		b.t.Fatal(err)
	}
	if r.Variables == nil {
		r.Variables = map[string]string{}
	}
	r.Variables["COIN"] = "1"
	changed, err := output.EncodeRecord(r)
	if err != nil {
		b.t.Fatal(err)
	}
	write(b.t, name, string(changed))
}

func (b *reproofBench) lines() []schemas.Reproof {
	b.t.Helper()
	lines, err := reproof.Lines(b.ledger)
	if err != nil {
		b.t.Fatal(err)
	}
	return lines
}

// has is that the ledger has each run that was said to have ended.
func (b *reproofBench) has(ended map[string]bool) {
	b.t.Helper()
	lines, err := reproof.Lines(b.ledger)
	if err != nil && !errors.Is(err, reproof.ErrCut) {
		b.t.Fatal(err)
	}
	for key := range ended {
		if !slices.ContainsFunc(lines, func(r schemas.Reproof) bool { return r.ID() == key }) {
			b.t.Errorf("%s ended before the process was killed, and the ledger of %d lines does not have it", key, len(lines))
		}
	}
}

const (
	task7, task8, task9, task10 = "local__clockwork-7", "local__clockwork-8", "local__clockwork-9", "local__clockwork-10"
	coin                        = "tests/test_gears.py::test_coin"
)

func TestReprove(t *testing.T) {
	t.Parallel()
	b := newReproofBench(t)
	for name, test := range map[string]func(*testing.T, *reproofBench){"faults": reproofFaults, "outcomes": reproofOutcomes, "killed": func(t *testing.T, b *reproofBench) { reproofKilled(t, b, 3) }} {
		t.Run(name, func(t *testing.T) {
			b := *b
			b.t, b.ledger = t, filepath.Join(t.TempDir(), reproof.File)
			test(t, &b)
		})
	}
}

// TestReproveKilledTwentyTimes is for make soak.
func TestReproveKilledTwentyTimes(t *testing.T) {
	t.Parallel()
	b := newReproofBench(t)
	b.ledger = filepath.Join(t.TempDir(), reproof.File)
	reproofKilled(t, b, 20)
}

// reproofOutcomes plants what rots in tasks, and looks at what is said of each after two dates.
func reproofOutcomes(t *testing.T, b *reproofBench) {
	t.Helper()
	before, err := os.ReadFile(filepath.Join(b.dataset, output.DataDir, "test.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer write(t, filepath.Join(b.dataset, output.DataDir, "test.jsonl"), string(before))
	b.toss(task7) // a test disagrees with itself
	b.edit(func(r *output.Row) {
		if r.InstanceID == task10 {
			r.FailToPass = output.List{"tests/test_gears.py::test_teeth"} // it passes without the solution
		}
	})
	often := []string{task7, "--gold", "10", "--nop", "1", "--forged", "1", "--clock", "own", "-j", "2"}
	once := []string{task8, task9, task10, "--gold", "2", "--nop", "1", "--forged", "1", "--clock", "own,+800d", "-j", "2"}
	b.reprove(0, often...)
	code, first := b.reprove(0, once...)
	if x := first[task9]; code != exitFailed || x.State != reproof.Proved || x.Gold != 1 || !x.Later || x.ClockBound != "+800d" || len(x.Bound) != 1 {
		t.Errorf("first date, exit code %d: %+v", code, x)
	}
	made := len(b.lines())
	if b.reprove(0, once...); len(b.lines()) != made {
		t.Errorf("%d runs were made twice", len(b.lines())-made)
	}
	b.reprove(1, once...)
	_, last := b.reprove(1, often...)
	code, all := b.reprove(1, task8, task9, task10, "--gold", "2", "--nop", "1", "--forged", "1", "--clock", "own,+800d")
	maps.Copy(all, last)
	got := map[string]string{}
	for id, x := range all {
		got[id] = fmt.Sprint(x.State, " ", x.Reason, " ", x.Flaky, " ", x.ClockBound, " ", x.Later, x.Wanted)
	}
	want := map[string]string{
		task7:  "narrowed  [" + coin + "]  false 0",
		task8:  "withdrawn forged_passes []  false 0",
		task9:  "proved  [] +800d false 0",
		task10: "withdrawn nop_passes [] +800d false 0",
	}
	if d := cmp.Diff(want, got); d != "" || code != exitFailed {
		t.Errorf("exit code %d (-want +got):\n%s", code, d)
	}
	if x := all[task9]; len(x.Dates) != 2 || x.Gold != 2 || x.Nop != 1 || x.Forged != 1 {
		t.Errorf("%+v", x)
	}
	for _, r := range b.lines() {
		if r.Machine == "" || r.Program == "" || r.Log == "" || r.Clock != schemas.OwnClock && r.By == "" {
			t.Fatalf("a line says too little: %+v", r)
		}
	}
}

// reproofFaults: a registry that is down is no line; a package that is gone holds the task.
func reproofFaults(t *testing.T, b *reproofBench) {
	t.Helper()
	recipe := filepath.Join(b.dataset, "tasks", task7, output.RecipeFile)
	text, err := os.ReadFile(recipe)
	if err != nil {
		t.Fatal(err)
	}
	once := []string{task7, "--gold", "1", "--nop", "0", "--forged", "0", "--dates", "1", "--clock", "own"}
	changed := bytes.ReplaceAll(text, []byte("iniconfig=="), []byte("iniconfig==0.0.0.")) // such a version never was
	if bytes.Equal(changed, text) {
		t.Fatal("the recipe does not name iniconfig")
	}
	write(t, recipe, string(changed))
	env := b.env
	for _, name := range []string{"UV_INDEX_URL", "UV_DEFAULT_INDEX", "PIP_INDEX_URL"} {
		b.env = append(b.env, name+"=http://127.0.0.1:1/simple")
	}
	code, down := b.reprove(0, once...)
	if x := down[task7]; code != exitDeferred || x.State != reproof.Unproved || len(b.lines()) > 0 {
		t.Errorf("the registry is down: exit code %d, %+v, %d lines", code, x, len(b.lines()))
	}
	b.env = env
	code, gone := b.reprove(1, once...) // the run of the first date waits until the registry is asked again
	if x := gone[task7]; code != exitFailed || x.State != reproof.Held || x.Reason != schemas.ForEnvironmentLost {
		t.Errorf("the package is gone: exit code %d, %+v", code, x)
	}
	write(t, recipe, string(text))
	code, there := b.reprove(1, once...)
	if x := there[task7]; code != exitOK || x.State != reproof.Proved {
		t.Errorf("it is there again: exit code %d, %+v", code, x)
	}
}

// reproofKilled kills a re-proof while it runs, goes on, and counts: each run is one line, and none that had ended is
// made again.
func reproofKilled(t *testing.T, b *reproofBench, kills int) {
	t.Helper()
	args := []string{"reprove", b.dataset, task7, task9, "--output", b.ledger + ".store", "--ledger", b.ledger, "--gold", fmt.Sprint(kills), "--nop", "2", "--forged", "1", "--dates", "1", "--clock", "own", "-v", "-j", "2"}
	ended, twice := map[string]bool{}, 0
	for n := 0; ; n++ {
		cmd := exec.CommandContext(t.Context(), "benchmint", args...)
		cmd.Dir, cmd.Env = b.dir, b.env
		said, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		begun := 0
		for lines := bufio.NewScanner(said); lines.Scan(); {
			fmt.Fprintln(&text, lines.Text())
			key, what, _ := strings.Cut(strings.TrimSpace(lines.Text()), "  ")
			switch {
			case !strings.Contains(key, "@"):
			case what == "reprove …":
				if ended[key] {
					twice++
				}
				if begun++; n < kills && begun == 1+n%3 {
					if err := cmd.Process.Kill(); err != nil {
						t.Fatal(err)
					}
				}
			case what == "passes", what == "fails":
				ended[key] = true
			}
		}
		err = cmd.Wait()
		if status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
			b.has(ended)
			continue
		}
		if err != nil {
			t.Fatalf("call %d: %v\n%s", n, err, &text)
		}
		break
	}
	seen := map[string]int{}
	for _, r := range b.lines() {
		seen[r.ID()]++
		if seen[r.ID()] > 1 {
			t.Errorf("%s stands twice in the ledger", r.ID())
		}
	}
	if want := 2 * (kills + 3); len(seen) != want || twice > 0 {
		t.Errorf("%d runs in the ledger, want %d; %d were made again", len(seen), want, twice)
	}
}
