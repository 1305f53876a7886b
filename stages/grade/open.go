package grade

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// mostIdle is how many tasks keep the layer of their base while nobody grades them:
// predictions come in the order of their instances.
const mostIdle = 2

// prepared is one task with the layer of its base, which all its predictions are built on.
type prepared struct {
	task  Task
	bench *testrun.Bench
	// generated are the paths that the build of the base makes or changes.
	generated []string
	start     startup

	mu   sync.Mutex // of kept, own and learned, and of a build that others wait for
	kept map[schemas.Digest]testrun.Place
	// own are Task.Own, which an older proof does not know, until learned.
	own     []string
	learned bool

	users int
	ready chan struct{} // closed when task, bench and err are there
	err   error
}

// inUse are the tasks that are open.
type inUse struct {
	outside testrun.Outside
	tasks   Tasks
	limits  sandbox.Limits
	keep    bool // Config.Keep: what cannot be opened once is not tried again for each run of its task

	mu   sync.Mutex
	open map[string]*prepared
	idle []string // those without users, oldest first
}

// take gives a task ready to be graded, made by the first who asks; give it back.
func (s *inUse) take(ctx context.Context, id string) (*prepared, error) {
	s.mu.Lock()
	d, ok := s.open[id]
	if !ok {
		d = &prepared{ready: make(chan struct{}), kept: map[schemas.Digest]testrun.Place{}}
		s.open[id] = d
	}
	d.users++
	s.idle = without(s.idle, id)
	s.mu.Unlock()
	if !ok {
		d.err = s.make(ctx, id, d)
		close(d.ready)
	}
	select {
	case <-d.ready:
	case <-ctx.Done():
		s.give(d)
		return nil, ctx.Err()
	}
	if d.err != nil {
		s.give(d)
		return nil, d.err
	}
	return d, nil
}

func (s *inUse) make(ctx context.Context, id string, d *prepared) error {
	task, err := s.tasks.Task(ctx, id)
	if err != nil {
		return fmt.Errorf("reading the task: %w", err)
	}
	c, err := s.outside.Prepare(ctx, task.Start, task.Trees, task.Environment)
	var rejected *pipeline.Rejected
	if errors.As(err, &rejected) {
		// The task was proved in this environment: that it cannot be had again is a fault.
		return &Lost{"making the environment of a proved task again", rejected.Reason, rejected.Detail()}
	}
	if err != nil {
		return err
	}
	b := testrun.New(s.outside, c, s.limits)
	at, err := b.Place(ctx, schemas.StateB)
	if err == nil && builds(task.Environment.Recipe) {
		var now map[string]string
		if now, err = built(ctx, b, at); err == nil {
			d.generated = differing(now, at.Tree)
		}
	}
	if err != nil {
		return errors.Join(fault(err), b.Remove(ctx))
	}
	d.task, d.bench, d.own, d.learned = task, b, task.Own, task.Own != nil
	if d.start, err = d.startup(ctx); err != nil {
		return errors.Join(fault(err), b.Remove(ctx))
	}
	return nil
}

// Lost is an environment that can no longer be built, or a base in it, for no fault of this machine.
type Lost struct {
	doing  string
	Reason schemas.Reason
	Detail string
}

func (e *Lost) Error() string { return fmt.Sprintf("%s: %s: %s", e.doing, e.Reason, e.Detail) }

// fault is an error that is no verdict on an answer, whatever it was on a change.
func fault(err error) error {
	var rejected *pipeline.Rejected
	if errors.As(err, &rejected) {
		return &Lost{"building the base of a proved task again", rejected.Reason, rejected.Detail()}
	}
	return err
}

// beside is a bench for one answer, whose runs cannot change what judges them.
func (d *prepared) beside() *testrun.Bench {
	b := d.bench.Beside()
	d.mu.Lock()
	defer d.mu.Unlock()
	b.Sealed, b.Own, b.Loads = true, d.own, d.start.loads
	return b
}

// learn looks which of their own data files the tests of a task write with its solution, where the proof does not say, and
// reports whether there are such: an answer whose tests could not write them has no verdict yet.
func (g *Grader) learn(ctx context.Context, d *prepared) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.learned || d.task.Environment.Recipe.Service != nil {
		return false, nil
	}
	pipeline.Doing(ctx, "the solution: do its tests write their own data?")
	b := d.bench.Beside()
	at, err := b.Instead(ctx, schemas.StateG, "G", d.task.Trees.G)
	if err == nil {
		_, err = b.Run(ctx, at, testrun.ScopeSuite, lang.Select{Number: 1})
		err = errors.Join(err, b.Free(ctx, at))
	}
	var over *pipeline.Rejected
	if err != nil && !errors.As(err, &over) { // a limit of ours says nothing of an answer
		return false, err
	}
	d.own, _ = b.Wrote()
	d.learned = true
	return len(d.own) > 0, nil
}

// remove frees all layers of a task, those of answers first.
func (d *prepared) remove(ctx context.Context) error {
	var errs []error
	for _, at := range d.kept {
		errs = append(errs, d.bench.Free(ctx, at))
	}
	return errors.Join(append(errs, d.bench.Remove(ctx))...)
}

// give takes a task back, and closes those that nobody has used for the longest time.
func (s *inUse) give(d *prepared) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.users--
	if d.users > 0 {
		return
	}
	for id, o := range s.open {
		if o != d {
			continue
		}
		if d.err != nil {
			if !s.keep {
				delete(s.open, id) // the next one tries again
			}
			return
		}
		s.idle = append(s.idle, id)
	}
	for len(s.idle) > mostIdle {
		id := s.idle[0]
		s.idle = s.idle[1:]
		old := s.open[id]
		delete(s.open, id)
		// What cannot be removed now is leased to this process, and freed with it.
		_ = old.remove(context.Background())
	}
}

// close frees all tasks; nobody grades any more.
func (s *inUse) close(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, d := range s.open {
		if d.bench != nil {
			errs = append(errs, d.remove(ctx))
		}
	}
	s.open, s.idle = map[string]*prepared{}, nil
	return errors.Join(errs...)
}

func without(list []string, x string) []string {
	var out []string
	for _, y := range list {
		if y != x {
			out = append(out, y)
		}
	}
	return out
}
