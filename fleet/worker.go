package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Work is what a worker needs to take tasks.
type Work struct {
	Name  string // unique
	Host  string
	Slots int
	Lease time.Duration // of the coordinator
	Plan  *pipeline.Plan
	// Ended hears of each task; nil is nobody.
	Ended func(stage, key string, r pipeline.Report)
	Now   func() time.Time
}

// errOver means that the run is done.
var errOver = errors.New("the run is done")

// worker is one that works.
type worker struct {
	Work
	client *Client
	js     jetstream.JetStream
	stop   context.CancelCauseFunc

	mu    sync.Mutex
	doing map[string]*Doing
}

// Work takes tasks until ctx ends, the run is done (nil), this machine has a fault that every task would meet,
// or the coordinator is silent for the client's patience. What is under way then is given back.
func (c *Client) Work(ctx context.Context, work Work) error {
	w := &worker{Work: work, client: c, doing: map[string]*Doing{}}
	var err error
	if w.js, err = jetstream.New(c.nc); err != nil {
		return err
	}
	ctx, w.stop = context.WithCancelCause(ctx)
	defer w.stop(nil)
	over, err := c.nc.Subscribe(overSubject, func(*nats.Msg) { w.stop(errOver) })
	if err != nil {
		return err
	}
	defer func() { _ = over.Unsubscribe() }()
	c.nc.SetReconnectHandler(func(*nats.Conn) { w.say(false) })
	beating, rest := context.WithCancel(context.WithoutCancel(ctx))
	var heart sync.WaitGroup
	heart.Go(func() { w.beat(beating) })
	w.take(ctx)
	rest()
	heart.Wait()
	w.say(true)
	_ = c.nc.FlushTimeout(time.Second)
	if cause := context.Cause(ctx); !errors.Is(cause, errOver) {
		return cause
	}
	return nil
}

// take keeps all slots busy until ctx ends.
func (w *worker) take(ctx context.Context) {
	var tasks sync.WaitGroup
	defer tasks.Wait()
	free := make(chan struct{}, w.Slots)
	for {
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return
		}
		m, err := w.next(ctx)
		if err != nil {
			w.stop(err)
			return
		}
		tasks.Go(func() {
			defer func() { <-free }()
			w.task(ctx, m)
		})
	}
}

// next waits for a task.
func (w *worker) next(ctx context.Context) (jetstream.Msg, error) {
	var consumer jetstream.Consumer
	for heard := w.Now(); ; {
		var err error
		if consumer == nil {
			consumer, err = w.js.Consumer(ctx, tasks, takers)
		}
		if err == nil {
			waiting, cancel := context.WithTimeout(ctx, nextPatience)
			m, nextErr := consumer.Next(jetstream.FetchContext(waiting))
			cancel()
			if nextErr == nil {
				return m, nil
			}
			if err = nextErr; quiet(err) && w.client.nc.IsConnected() {
				heard = w.Now()
				err = nil
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case w.client.Patience > 0 && w.Now().Sub(heard) > w.client.Patience:
			return nil, fmt.Errorf("%w for %s: %w", ErrSilent, w.client.Patience, err)
		case err != nil:
			consumer = nil
			select {
			case <-ctx.Done():
			case <-time.After(500 * time.Millisecond):
			}
		}
	}
}

// nextPatience is how long a worker asks for a task before it asks again.
const nextPatience = 5 * time.Second

// quiet: there is nothing to do.
func quiet(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, nats.ErrTimeout) || errors.Is(err, jetstream.ErrNoMessages)
}

// task does one.
func (w *worker) task(ctx context.Context, m jetstream.Msg) {
	id := strings.TrimPrefix(m.Subject(), taskSubject)
	holding, drop := context.WithCancel(context.WithoutCancel(ctx))
	defer drop()
	go w.hold(holding, m)
	var t pipeline.Task
	out := wire{Worker: w.Name}
	w.mu.Lock()
	twice := w.doing[id] != nil
	w.mu.Unlock()
	var may bool
	var err error
	if !twice {
		may, err = w.client.begin(ctx, id, w.Name)
	}
	if err == nil && !may {
		_ = m.Ack() // it is another's, or over
		return
	}
	if err == nil {
		if fault := unpack(m.Data(), &t, w.client.blobs); fault != nil { // given back, it would come again at once
			out.Report = pipeline.Report{State: schemas.StepInterrupted, Detail: "reading the task: " + fault.Error()}
		} else {
			out.Report, err = w.perform(ctx, id, t)
		}
	}
	switch {
	case errors.Is(err, pipeline.ErrOther):
		w.stop(err)
	case err == nil && out.State == schemas.StepInterrupted && out.All:
		w.stop(fmt.Errorf("%s at %s: %s", t.Key, t.Stage, out.Detail))
		err = errors.New(out.Detail)
	}
	if err != nil { // no report: it is another's
		out = wire{Worker: w.Name, Back: true}
	}
	w.report(ctx, m, id, out)
	w.mu.Lock()
	delete(w.doing, id)
	w.mu.Unlock()
	w.say(false)
}

func (w *worker) perform(ctx context.Context, id string, t pipeline.Task) (pipeline.Report, error) {
	d := &Doing{Task: id, Stage: t.Stage, Key: t.Key, Since: w.Now().UTC()}
	w.mu.Lock()
	w.doing[id] = d
	w.mu.Unlock()
	w.say(false)
	r, err := w.Plan.Perform(ctx, t, func(text string) {
		w.mu.Lock()
		d.Text = text
		w.mu.Unlock()
	})
	if w.Ended != nil {
		if err != nil {
			r.State, r.Detail = schemas.StepInterrupted, err.Error()
		}
		w.Ended(t.Stage, t.Key, r)
	}
	return r, err
}

// hold keeps the lease of a task.
func (w *worker) hold(ctx context.Context, m jetstream.Msg) {
	tick := time.NewTicker(w.Lease / beatsInLease)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_ = m.InProgress() // the next one is soon
		}
	}
}

// report says how a task ended, again and again while the server is away. A result is not lost because
// the worker is to stop meanwhile: it tries for one lease more.
func (w *worker) report(ctx context.Context, m jetstream.Msg, id string, out wire) {
	data, err := pack(out, w.client.blobs)
	if err != nil { // the depot takes nothing from this machine: no fault of the task
		w.stop(err)
		if data, err = pack(wire{Worker: w.Name, Back: true}, w.client.blobs); err != nil {
			return
		}
	}
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stopping := context.AfterFunc(ctx, func() { time.AfterFunc(w.Lease, cancel) })
	defer stopping()
	for last.Err() == nil {
		trying, done := context.WithTimeout(last, 5*time.Second)
		_, err := w.js.Publish(trying, reportSubject+id, data)
		done()
		if err == nil {
			// A server that was killed may have forgotten that it delivered the task. It does so again then, and the
			// coordinator says that it is over.
			_ = m.Ack()
			return
		}
		select {
		case <-last.Done():
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// beat says that the worker lives.
func (w *worker) beat(ctx context.Context) {
	tick := time.NewTicker(w.Lease / beatsInLease)
	defer tick.Stop()
	for w.say(false); ; w.say(false) {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (w *worker) say(leaves bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := Beat{Worker: w.Name, Host: w.Host, Slots: w.Slots, Leaves: leaves}
	for _, d := range w.doing {
		b.Doing = append(b.Doing, *d)
	}
	slices.SortFunc(b.Doing, func(x, y Doing) int { return x.Since.Compare(y.Since) })
	if raw, err := json.Marshal(b); err == nil {
		_ = w.client.nc.Publish(beatSubject, raw) // the next one is soon
	}
}
