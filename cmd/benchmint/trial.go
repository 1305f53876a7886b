package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/internal/worktree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/grade"
	"github.com/benchmint/benchmint/stages/validate"
)

// work is a folder in which somebody works on a task.
type work struct{ id, folder string }

// read reads the folder, told the base of its task.
func (w work) read(ctx context.Context) func(*tree.Tree) (*tree.Tree, error) {
	return func(base *tree.Tree) (*tree.Tree, error) { return worktree.Read(ctx, w.folder, base) }
}

// worksOf reads ID [FOLDER] [REST…], or ID=FOLDER….
func worksOf(args []string) (works []work, rest []string, err error) {
	if id, _, pair := strings.Cut(args[0], "="); !pair || !isInstance(id) {
		one := work{args[0], "."}
		if rest = args[1:]; len(rest) > 0 && isFolder(rest[0]) {
			one.folder, rest = rest[0], rest[1:]
		}
		return []work{one}, rest, nil
	}
	seen := map[string]bool{}
	for _, arg := range args {
		id, folder, pair := strings.Cut(arg, "=")
		switch {
		case !pair || !isInstance(id):
			return nil, nil, &usageError{fmt.Errorf("%q is not ID=FOLDER, as the others are", arg)}
		case seen[id]:
			return nil, nil, &usageError{fmt.Errorf("%s is given more than once", id)}
		case !isFolder(folder):
			return nil, nil, &usageError{fmt.Errorf("%s: %q is not a folder", id, folder)}
		}
		seen[id] = true
		works = append(works, work{id, folder})
	}
	return works, nil, nil
}

func isInstance(id string) bool {
	_, err := schemas.ParseInstanceID(id)
	return err == nil
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// trial is what folders are tried with. Nothing of it is kept.
type trial struct {
	*grade.Dataset
	machine
	rows   []output.Row
	logs   string
	blobs  *blob.Store
	room   *workshop
	grader *grade.Grader
	// digests are of the tasks, and before are results to compare with, by instance ID.
	digests map[string]schemas.Digest
	before  map[string]tried

	mu    sync.Mutex
	walls map[string]time.Duration // inside commands, by instance ID
}

// openTrial reads the tasks; begin opens the sandbox.
func (m machine) openTrial(dataset string, works []work) (*trial, error) {
	ids := make([]string, 0, len(works))
	for _, w := range works {
		ids = append(ids, w.id)
	}
	d, rows, err := readRows(dataset, ids)
	if err != nil {
		return nil, err
	}
	m.sayFormat(dataset, d.Manifest)
	if err := m.buildFrom(d); err != nil {
		return nil, err
	}
	t := &trial{Dataset: grade.NewDataset(d, rows), machine: m, rows: rows, walls: map[string]time.Duration{}, digests: map[string]schemas.Digest{}}
	return t, settleKind(m.config, rows)
}

// begin opens the sandbox and what grades in it.
func (t *trial) begin(ctx context.Context) (err error) {
	if t.room, err = t.require(ctx, job{builds: true, kind: t.config.Sandbox.Kind, asks: asksFor("there are tasks", languagesOf(t.rows)...)}); err != nil {
		return err
	}
	if t.logs, err = os.MkdirTemp("", "benchmint-test-"); err != nil {
		return err
	}
	if t.blobs, err = blob.Open(t.logs); err != nil {
		return err
	}
	observe := func(m validate.Measured) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.walls[m.StartID] += m.Wall
	}
	t.grader = grade.New(validate.Outside{Builder: t.room.builder, Blobs: t.blobs, Observe: observe}, t, t.blobs, grade.Config{Limits: t.config.Sandbox.Limits()})
	return nil
}

func (t *trial) close() (err error) {
	if t.grader != nil {
		err = t.grader.Close(context.Background())
	}
	if t.logs != "" {
		err = errors.Join(err, removeAll(t.logs))
	}
	if t.room != nil {
		err = errors.Join(err, t.room.close())
	}
	return err
}

// took is how long the commands of a task's tests ran.
func (t *trial) took(id string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.walls[id]
}

// each does all works, as many at one time as the configuration says, and gives the results in
// the order of the works.
func each[R any](ctx context.Context, t *trial, works []work, do func(context.Context, work) (R, error)) ([]R, error) {
	out := make([]R, len(works))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(max(1, t.config.Proof.Parallel))
	var mu sync.Mutex
	done := 0
	for i, w := range works {
		group.Go(func() error {
			r, err := do(within, w)
			if err != nil {
				return fmt.Errorf("%s: %w", w.id, err)
			}
			mu.Lock()
			defer mu.Unlock()
			out[i] = r
			if done++; len(works) > 1 {
				t.say("%d of %d: %s", done, len(works), w.id)
			}
			return nil
		})
	}
	switch err := group.Wait(); {
	case err == nil:
		return out, nil
	case pipeline.EndOf(ctx, err) == schemas.StepDeferred:
		return nil, &ended{exitDeferred, err}
	default:
		return nil, err
	}
}

// printEach prints results, and gives the exit code. For scripts one work is an object, and
// several are a list.
func printEach[R any](p *terminal, works []work, results []R, good bool, show func(*printer, R)) (err error) {
	switch {
	case p.json && len(works) == 1:
		err = p.writeJSON(results[0])
	case p.json:
		err = p.writeJSON(results)
	default:
		t := p.out()
		for i, r := range results {
			if len(works) > 1 {
				t.line("%s", visible(works[i].id))
			}
			show(t, r)
		}
		err = t.err
	}
	if err == nil && !good {
		err = &ended{code: exitFailed}
	}
	return err
}
