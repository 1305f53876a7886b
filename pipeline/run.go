package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// RunOptions narrow a run, and say what it may use.
type RunOptions struct {
	// Until names the last stage to run: only it and those that lead to it are; "" is
	// all of them.
	Until string
	// Now gives the time for measured times and deferrals; never part of a record.
	Now func() time.Time
	// Slots is how many steps run at once; 0 is one.
	Slots int
	// Resources are the limits of what stages need, by name.
	Resources map[string]int
	// Far does the steps of some stages on other machines; nil: all are done here.
	Far Far
	// Limits changes Resources while the run goes on: workers come and go. Each value replaces
	// the limits that it names; nil changes nothing.
	Limits <-chan map[string]int
	// Grace is how long running steps have after the first cancel of the context.
	Grace time.Duration
	// Hurry ends the grace as soon as it is closed; nil is never.
	Hurry <-chan struct{}
	// Patience is how long a run with nothing else to do waits for steps that are put
	// off; it begins again with each step that gets somewhere.
	Patience time.Duration
	// Partial drains although steps are still put off.
	Partial bool
	// Redrain drains although nothing has changed.
	Redrain bool
	// RetryCrashed tries steps again that ended the process five times.
	RetryCrashed bool
	// Worker names this process, which owns what it claims.
	Worker string
}

func (o RunOptions) withDefaults() RunOptions {
	if o.Slots <= 0 {
		o.Slots = 1
	}
	if o.Worker == "" {
		o.Worker = "run"
	}
	return o
}

// run is the work of one process on a plan.
type run struct {
	plan  *Plan
	store Store
	owner string
	opts  RunOptions
	// observer is told what happens; it may be asked how far a step is.
	observer Observer
	// told is closed when the run was told to end.
	told <-chan struct{}
	// until are the stages of this run, as leadsTo has them; nil is all.
	until map[string]bool
	// executed counts the steps that ended here; the dispatcher's alone.
	executed map[string]int
	// dead: nothing may be booked any more, a fault ended the run.
	dead atomic.Bool
}

// Run takes the seeds through the plan until all of them are settled, deferred or
// failed. An error is a fault of the store, the plan or the drain; what happens to
// items is in the Summary. The first cancel of ctx ends it: nothing more is begun,
// what runs has Grace to end, and the rest is ready for the next run.
func (p *Plan) Run(ctx context.Context, store Store, seeds []Record, observer Observer, opts RunOptions) (Summary, error) {
	opts = opts.withDefaults()
	r := &run{plan: p, store: store, owner: opts.Worker, opts: opts, observer: observer, told: ctx.Done(), executed: map[string]int{}}
	if err := r.check(); err != nil {
		return Summary{}, err
	}
	if opts.Until != "" {
		r.until = p.leadsTo(opts.Until)
	}
	list, made, err := p.seeds(seeds)
	if err != nil {
		return Summary{}, err
	}
	// What the store is told must arrive, whatever ends the run.
	durable := context.WithoutCancel(ctx)
	err = r.begin(durable, list, made)
	if err == nil {
		err = r.dispatch(ctx, observer)
	}
	if err != nil && errors.Is(err, errStore) {
		return Summary{}, err
	}
	if leaveErr := store.Leave(durable, opts.Worker); err == nil {
		err = leaveErr
	}
	s, sumErr := r.summary(durable)
	if errors.Is(err, errStop) {
		s.Interrupted, err = !s.Drained, nil
	}
	return s, errors.Join(err, sumErr)
}

// check refuses what cannot work before anything is begun.
func (r *run) check() error {
	errs := []error{r.plan.Check()}
	if r.opts.Now == nil {
		errs = append(errs, errors.New("run options: no clock"))
	}
	if r.opts.Until != "" && !slices.Contains(r.plan.Stages(), r.opts.Until) {
		errs = append(errs, fmt.Errorf("run options: no stage %q", r.opts.Until))
	}
	for _, n := range r.plan.order {
		for name, need := range n.options.Needs {
			if limit, ok := r.opts.Resources[name]; ok && need > limit && r.opts.Limits == nil {
				errs = append(errs, fmt.Errorf("stage %s needs %d %s, and there is %d", n.info.Name, need, name, limit))
			}
		}
	}
	return errors.Join(errs...)
}

// seeds are the inputs of the first stage in order of key, made one at a time, and
// the digest by which the store recognises the list that it had last.
func (p *Plan) seeds(records []Record) (schemas.Digest, iter.Seq2[Made, error], error) {
	if len(p.order) == 0 {
		return "", nil, nil
	}
	sorted := records
	first := p.order[0]
	digest, err := guarded(func() (schemas.Digest, error) {
		order := func(a, b Record) int { return strings.Compare(a.ID(), b.ID()) }
		if !slices.IsSortedFunc(records, order) { // a list may be large: no copy without need
			sorted = slices.Clone(records)
			slices.SortFunc(sorted, order)
		}
		return first.list(sorted)
	})
	return digest, func(yield func(Made, error) bool) {
		for _, seed := range sorted {
			m, err := guarded(func() (Made, error) {
				m, err := madeOf(seed)
				if err == nil {
					err = first.enter(&m)
				}
				return m, err
			})
			if err != nil {
				err = fmt.Errorf("seed %s: %w", seed.ID(), err)
			}
			if !yield(m, err) {
				return
			}
		}
	}, err
}

// list is the digest of seeds, and of the stage that says what they depend on.
func (n *node) list(seeds []Record) (schemas.Digest, error) {
	sum := sha256.New()
	all := json.NewEncoder(sum)
	all.SetEscapeHTML(false)
	about := []schemas.Digest{n.info.Fingerprint}
	if n.build != nil {
		about = append(about, n.build.info.Fingerprint)
	}
	errs := []error{all.Encode(about)}
	for _, s := range seeds {
		if err := all.Encode(s); err != nil {
			errs = append(errs, fmt.Errorf("seed %s: %w", s.ID(), err))
		}
	}
	return schemas.DigestSum(sum), errors.Join(errs...)
}

func (r *run) begin(ctx context.Context, list schemas.Digest, seeds iter.Seq2[Made, error]) error {
	o := BeginOptions{Worker: r.opts.Worker, Stages: r.plan.Infos(), RetryCrashed: r.opts.RetryCrashed, Until: r.opts.Until, Away: r.plan.away(r.opts)}
	if err := r.store.Begin(ctx, o); err != nil {
		return fmt.Errorf("beginning the run: %w", err)
	}
	if err := r.store.Seed(ctx, r.plan.order[0].info.Name, list, seeds); err != nil {
		return fmt.Errorf("seeding the run: %w", err)
	}
	if r.opts.Redrain && r.within(r.last().info.Name) {
		if err := r.store.Retry(r.last().info.Name, ""); err != nil {
			return fmt.Errorf("asking for %s again: %w", r.last().info.Name, err)
		}
	}
	return nil
}

// away are the stages whose steps go to other machines.
func (p *Plan) away(o RunOptions) (stages []string) {
	for _, n := range p.nodes() {
		if o.away(n.info.Name) {
			stages = append(stages, n.info.Name)
		}
	}
	return stages
}

func (r *run) last() *node { return r.plan.order[len(r.plan.order)-1] }

// within reports whether a stage is Until or leads to it.
func (r *run) within(stage string) bool { return r.until == nil || r.until[stage] }
