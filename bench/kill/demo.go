package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/benchmint/benchmint/internal/samples"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/pipeline/enginetest"
	"github.com/benchmint/benchmint/schemas"
)

// killsPerStore keeps innocent steps away from the fifth death, after which a step
// is taken for poison: a demo has few steps, and the long ones meet most kills.
const killsPerStore = 4

// demo kills the real program on the two demo repositories.
type demo struct {
	program string // "" is built
	dir     string
	kind    string        // of sandbox
	samples string        // folder of the histories
	config  string        // file that the demo runs with
	span    time.Duration // of a run to its end; the shortest so far, for others use the machine as well
	rng     *rand.Rand
	say     func(format string, args ...any)
}

// demoResult is what came of it.
type demoResult struct {
	Kills, Runs    int
	Undisturbed    time.Duration
	Steps          int // claims of an undisturbed run
	Repeated, Most int // claims beyond those; of one store
	Manifest       schemas.Digest
	Wrong          []string
}

func (d *demo) run(ctx context.Context, rounds int) (demoResult, error) {
	var r demoResult
	if err := d.prepare(); err != nil {
		return r, err
	}
	// The first run fills the caches, so that the second tells how long one takes.
	if err := d.fresh(); err != nil {
		return r, err
	}
	if _, err := d.mint(ctx, 0); err != nil {
		return r, err
	}
	if err := d.fresh(); err != nil {
		return r, err
	}
	began := time.Now()
	if _, err := d.mint(ctx, 0); err != nil {
		return r, err
	}
	r.Undisturbed = time.Since(began)
	d.span = r.Undisturbed
	var err error
	if r.Manifest, r.Steps, err = d.read(ctx); err != nil {
		return r, err
	}
	d.say("undisturbed: %.1f s, %d claims, manifest %s", r.Undisturbed.Seconds(), r.Steps, r.Manifest.Short())
	for r.Kills < rounds {
		if err := d.killed(ctx, min(killsPerStore, rounds-r.Kills), &r); err != nil {
			return r, err
		}
	}
	return r, nil
}

// killed takes one store to its end, with so many kills on the way.
func (d *demo) killed(ctx context.Context, kills int, r *demoResult) error {
	if err := d.fresh(); err != nil {
		return err
	}
	mine := 0
	var worked time.Duration
	for done := false; !done; {
		var after time.Duration
		if mine < kills {
			// Half of a run at most: the kills of one store add up to all of it.
			after = time.Duration(1 + d.rng.Int64N(int64(d.span/2)))
		}
		var err error
		began := time.Now()
		if done, err = d.mint(ctx, after); err != nil {
			return err
		}
		worked += time.Since(began)
		if !done {
			mine++
			d.say("killed after %.2f s", after.Seconds())
		}
	}
	d.span = min(d.span, worked)
	r.Kills += mine
	r.Runs++
	manifest, steps, err := d.read(ctx)
	if err != nil {
		return err
	}
	if manifest != r.Manifest {
		r.Wrong = append(r.Wrong, fmt.Sprintf("after %d kills the manifest is %s, undisturbed %s", mine, manifest.Short(), r.Manifest.Short()))
	}
	r.Repeated += steps - r.Steps
	r.Most = max(r.Most, steps-r.Steps)
	d.say("ended after %d kills: %d claims repeated, manifest %s", mine, steps-r.Steps, manifest.Short())
	return nil
}

// prepare writes the repositories, builds the program and writes the configuration.
func (d *demo) prepare() (err error) {
	if d.dir, err = filepath.Abs(d.dir); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(d.dir), os.MkdirAll(d.dir, 0o755)); err != nil {
		return err
	}
	if d.program == "" {
		d.program = filepath.Join(d.dir, "benchmint")
		if out, err := exec.Command("go", "build", "-o", d.program, "github.com/benchmint/benchmint/cmd/benchmint").CombinedOutput(); err != nil {
			return fmt.Errorf("building the program: %w: %s", err, out)
		}
	}
	if d.program, err = filepath.Abs(d.program); err != nil {
		return err
	}
	all, err := samples.Load(d.samples)
	if err != nil {
		return err
	}
	for _, s := range all {
		if strings.HasPrefix(s.Name, "demo-") {
			if err := s.Build(filepath.Join(d.dir, s.Name)); err != nil {
				return err
			}
		}
	}
	config, err := os.ReadFile(d.config)
	if err != nil {
		return err
	}
	config = append(config, fmt.Sprintf("\nsandbox: {kind: %s}\nstore: state\noutput: out\n", d.kind)...)
	return os.WriteFile(filepath.Join(d.dir, "benchmint.yaml"), config, 0o644)
}

// fresh takes store and dataset away; what is cached between stores stays.
func (d *demo) fresh() error {
	return errors.Join(os.RemoveAll(filepath.Join(d.dir, "state")), os.RemoveAll(filepath.Join(d.dir, "out")))
}

// mint runs the program, and kills it after a time that is not 0. done tells that it
// came to its end.
func (d *demo) mint(ctx context.Context, after time.Duration) (done bool, err error) {
	cmd := exec.CommandContext(ctx, d.program, "run", "-c", "benchmint.yaml")
	cmd.Dir = d.dir
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = 10 * time.Second // what it started may hold its output open
	if err := cmd.Start(); err != nil {
		return false, err
	}
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	err = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && ctx.Err() == nil {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("benchmint run: %w\n%s", err, said.String())
	}
	return true, nil
}

// read gives the digest of the dataset's manifest, which holds those of all files,
// and how many claims the store counts; its books have to balance.
func (d *demo) read(ctx context.Context) (schemas.Digest, int, error) {
	text, err := os.ReadFile(filepath.Join(d.dir, "out", output.ManifestFile))
	if err != nil {
		return "", 0, err
	}
	e := enginetest.Engine{Dir: d.dir, Store: filepath.Join(d.dir, "state")}
	if err := enginetest.Audit(ctx, e); err != nil {
		return "", 0, err
	}
	n, err := enginetest.Claims(ctx, e)
	return schemas.DigestBytes(text), n, err
}
