package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// errMissed is a goal that was not reached: everything was measured.
var errMissed = errors.New("a goal was missed")

// bench is one measurement.
type bench struct {
	program, kind, dir string
}

// one is a run of tests as `benchmint run -v` prints it.
type one struct {
	state, scope string
	wall, around float64
}

// runs reads lines such as "acme__x-1  S suite #2: exited, 3.21 s, 0.08 s around it".
var runLine = regexp.MustCompile(`(?m)^\s*(\S+)  ([BSG]) (\w+) #\d+: \w+, ([0-9.]+) s, ([0-9.]+) s around it$`)

func runs(log string) map[string][]one {
	out := map[string][]one{}
	for _, m := range runLine.FindAllStringSubmatch(log, -1) {
		wall, _ := strconv.ParseFloat(m[4], 64)
		around, _ := strconv.ParseFloat(m[5], 64)
		out[m[1]] = append(out[m[1]], one{m[2], m[3], wall, around})
	}
	return out
}

func (b *bench) run(alone int) error {
	if err := b.prepare(); err != nil {
		return err
	}
	log, err := b.mint("shared", nil)
	if err != nil {
		return err
	}
	d, err := output.Read(filepath.Join(b.dir, "shared", "out"))
	if err != nil {
		return err
	}
	r := report{}
	r.proofs(runs(log))
	r.around(runs(log), map[string]float64{"bwrap": 0.3, "docker": 1.0}[b.kind])
	built, err := b.built("shared")
	if err != nil {
		return err
	}
	r.add("environments built per valid task", float64(built)/float64(max(1, len(d.Rows))), 0.2)
	differ, err := b.sharing(d, alone)
	if err != nil {
		return err
	}
	r.add(fmt.Sprintf("verdicts that differ without sharing (of %d)", alone), float64(differ), 0)
	return r.print()
}

// prepare makes the folder, the program and the repository.
func (b *bench) prepare() (err error) {
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(b.dir), os.MkdirAll(b.dir, 0o755)); err != nil {
		return err
	}
	if b.program == "" {
		b.program = filepath.Join(b.dir, "benchmint")
		if out, err := exec.Command("go", "build", "-o", b.program, "./cmd/benchmint").CombinedOutput(); err != nil {
			return fmt.Errorf("building the program: %w: %s", err, out)
		}
	}
	if b.program, err = filepath.Abs(b.program); err != nil {
		return err
	}
	_, err = gitrepotest.Build(filepath.Join(b.dir, "repo"), []byte(history()))
	return err
}

// mint runs the program in a folder of its own; with env variables beside the caller's.
func (b *bench) mint(name string, env []string, args ...string) (log string, err error) {
	dir := filepath.Join(b.dir, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	config := fmt.Sprintf("dataset: bench\nsources:\n  - git: %s\n    name: bench/steps\nsandbox: {kind: %s}\nstore: state\noutput: out\n", filepath.Join(b.dir, "repo"), b.kind)
	file := filepath.Join(dir, "benchmint.yaml")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		return "", err
	}
	cmd := exec.Command(b.program, append([]string{"run", "-v", "-c", file}, args...)...)
	cmd.Dir, cmd.Env = dir, append(cmd.Environ(), env...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err = cmd.Run()
	if keep := os.WriteFile(filepath.Join(dir, "log"), said.Bytes(), 0o644); err == nil {
		err = keep
	}
	if err != nil {
		return "", fmt.Errorf("benchmint run (%s): %w\n%s", name, err, said.String())
	}
	return said.String(), nil
}

// built counts the environments of a store: one settled build each.
func (b *bench) built(name string) (int, error) {
	cmd := exec.Command(b.program, "status", "--json", "-c", "benchmint.yaml")
	cmd.Dir = filepath.Join(b.dir, name)
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("benchmint status: %w", err)
	}
	var stages []struct {
		Stage string
		Done  int
	}
	if err := json.Unmarshal(out, &stages); err != nil {
		return 0, fmt.Errorf("benchmint status: %w", err)
	}
	for _, stage := range stages {
		if stage.Stage == "provision.build" {
			return stage.Done, nil
		}
	}
	return 0, fmt.Errorf("benchmint status names no provision.build: %s", out)
}

// sharing runs changes each with a store and a cache of its own, and counts the
// verdicts that differ from the shared run.
func (b *bench) sharing(shared *output.Dataset, alone int) (differ int, err error) {
	for n := 1; n <= alone; n++ {
		name := fmt.Sprintf("alone-%d", n)
		cache := "XDG_CACHE_HOME=" + filepath.Join(b.dir, name, "cache")
		if _, err := b.mint(name, []string{cache}, "--only", strconv.Itoa(n)); err != nil {
			return 0, err
		}
		d, err := output.Read(filepath.Join(b.dir, name, "out"))
		if err != nil {
			return 0, err
		}
		id := fmt.Sprintf("bench__steps-%d", n)
		if got, want := verdict(d, id), verdict(shared, id); got != want {
			fmt.Printf("%s: alone %s, shared %s\n", id, got, want)
			differ++
		}
		if err := os.RemoveAll(filepath.Join(b.dir, name)); err != nil {
			return 0, err
		}
	}
	return differ, nil
}

// verdict is the end of an item with its lists, as one comparable text.
func verdict(d *output.Dataset, id string) string {
	if row, err := d.Row(id); err == nil {
		lists := append(slices.Clone(row.FailToPass), "|")
		return strings.Join(append(lists, row.PassToPass...), " ")
	}
	for _, r := range d.Rejects {
		if r.InstanceID == id && r.End == schemas.StepRejected {
			return string(r.Reason)
		}
	}
	return "missing"
}

// report is the table that is printed.
type report struct {
	lines  []string
	missed bool
}

func (r *report) add(name string, got, goal float64) {
	word := "kept"
	if got > goal {
		word, r.missed = "MISSED", true
	}
	r.lines = append(r.lines, fmt.Sprintf("%-58s %6.2f  goal ≤ %.2f  %s", name, got, goal, word))
}

// ratio is add for what cannot be 0: then nothing was measured.
func (r *report) ratio(name string, got, goal float64) {
	if got == 0 {
		r.missed = true
		r.lines = append(r.lines, fmt.Sprintf("%-58s not measured", name))
		return
	}
	r.add(name, got, goal)
}

// proofs are the ratios of test time. The denominator of a change without suites
// is the median of its neighbours: it is the same suite.
func (r *report) proofs(all map[string][]one) {
	var pairs, valid []float64
	spent := map[string]float64{}
	own := map[string]float64{}
	based := map[string]bool{}
	for id, list := range all {
		var s, g []float64
		for _, o := range list {
			spent[id] += o.wall
			based[id] = based[id] || o.state == "B"
			switch {
			case o.scope == "suite" && o.state == "S":
				s = append(s, o.wall)
			case o.scope == "suite" && o.state == "G":
				g = append(g, o.wall)
			}
		}
		if len(s) > 0 && len(g) > 0 {
			own[id] = median(s) + median(g)
			pairs = append(pairs, own[id])
		}
	}
	var base, none float64
	for id := range all {
		switch {
		case own[id] == 0:
			none = max(none, spent[id]/median(pairs))
		case based[id]:
			base = max(base, spent[id]/own[id])
		default:
			valid = append(valid, spent[id]/own[id])
		}
	}
	r.ratio("test time ÷ (S suite + G suite), valid, median", median(valid), 3.2)
	r.ratio("test time ÷ (S suite + G suite), with base runs, worst", base, 4.8)
	r.ratio("test time ÷ (S suite + G suite), no FAIL_TO_PASS", none, 0.3)
}

func (r *report) around(all map[string][]one, goal float64) {
	var list []float64
	for _, runs := range all {
		for _, o := range runs {
			list = append(list, o.around)
		}
	}
	r.ratio("seconds around each test command, median", median(list), goal)
}

func (r *report) print() error {
	for _, l := range r.lines {
		fmt.Println(l)
	}
	if r.missed {
		return errMissed
	}
	return nil
}

func median(l []float64) float64 {
	if len(l) == 0 {
		return 0
	}
	l = slices.Clone(l)
	sort.Float64s(l)
	return l[len(l)/2]
}
