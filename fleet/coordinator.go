package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Options open a Coordinator.
type Options struct {
	// Stages are those whose steps go to workers, with their fingerprints.
	Stages map[string]schemas.Digest
	Lease  time.Duration // 0 means Lease
	Blobs  *blob.Store   // of the run
	Layers *blob.Store   // environments and sources, which can be made again
	Steps  Steps
	Books  Books
	// Source is a source as a worker gets it.
	Source func(ctx context.Context, name string) (Source, error)
	Notes  Notes
	// Complete puts a worker's question to a model, so that no worker needs its key; nil where nobody asks one.
	Complete func(ctx context.Context, question json.RawMessage) (json.RawMessage, error)
	// Funnel is how the steps stand, in the words of whoever asks.
	Funnel func(ctx context.Context) (json.RawMessage, error)
	// Invitation is what a worker is told of the run before it takes anything.
	Invitation json.RawMessage
	Now        func() time.Time
}

// Coordinator is the run's side. It implements pipeline.Far.
type Coordinator struct {
	Options
	nc *nats.Conn
	js jetstream.JetStream

	mu     sync.Mutex
	wait   map[string]chan wire // of tasks that this run waits for
	have   map[string]wire      // reports of a run before this one
	sent   map[string]bool      // tasks of a run before this one that are still there
	tell   map[[2]string]func(string)
	claims claims
	gone   map[string]bool // tasks whose worker went silent: what it says later does not count

	fleet   workers
	uploads uploads
	settled chan string // tasks whose reports can go
	stops   []func()    // the last one ends the connection
	quit    chan struct{}
	helpers sync.WaitGroup
}

// Open connects to a server at url, and takes over what a run before this one left in it.
func Open(ctx context.Context, url string, o Options, connect ...nats.Option) (*Coordinator, error) {
	if o.Lease == 0 {
		o.Lease = Lease
	}
	nc, err := nats.Connect(url, append([]nats.Option{nats.Name("benchmint run"), nats.MaxReconnects(-1)}, connect...)...)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", url, err)
	}
	c := &Coordinator{
		Options: o, nc: nc, wait: map[string]chan wire{}, have: map[string]wire{}, sent: map[string]bool{}, gone: map[string]bool{}, tell: map[[2]string]func(string){},
		claims:  claims{by: map[string]string{}, back: map[string]string{}, old: map[string]bool{}, began: o.Now(), now: o.Now},
		uploads: uploads{open: map[string]*upload{}, now: o.Now}, settled: make(chan string, 4096), quit: make(chan struct{}),
		fleet: workers{lease: o.Lease, now: o.Now, all: map[string]Beat{}, limits: make(chan map[string]int, 1)},
	}
	c.stops = append(c.stops, nc.Close)
	if c.js, err = jetstream.New(nc); err == nil {
		err = c.streams(ctx)
		for _, next := range []func(context.Context) error{c.takeOver, c.listen} {
			if err == nil {
				err = next(ctx)
			}
		}
	}
	if err != nil {
		c.stop()
		return nil, fmt.Errorf("preparing the NATS server: %w", err)
	}
	c.helpers.Go(c.forget)
	return c, nil
}

func (c *Coordinator) streams(ctx context.Context) error {
	for _, s := range []jetstream.StreamConfig{
		{Name: tasks, Subjects: []string{taskSubject + "*"}, Retention: jetstream.WorkQueuePolicy},
		{Name: reports, Subjects: []string{reportSubject + "*"}, MaxMsgsPerSubject: 1, MaxAge: keep},
		{Name: deaths, Subjects: []string{deathSubject}, MaxAge: keep},
	} {
		s.Duplicates = time.Minute
		s.Replicas = 3
		_, err := c.js.CreateOrUpdateStream(ctx, s)
		if api := (*jetstream.APIError)(nil); errors.As(err, &api) { // no cluster, or a small one
			s.Replicas = 1
			_, err = c.js.CreateOrUpdateStream(ctx, s)
		}
		if err != nil {
			return fmt.Errorf("stream %s: %w", s.Name, err)
		}
	}
	// Once: whom a worker died over is not given to the next bystander (package comment).
	_, err := c.js.CreateOrUpdateConsumer(ctx, tasks, jetstream.ConsumerConfig{
		Durable: takers, AckPolicy: jetstream.AckExplicitPolicy, AckWait: c.Lease, MaxDeliver: 1, MaxAckPending: 100_000, MaxWaiting: 10_000,
	})
	return err
}

// takeOver notes the tasks that are still out, and takes back those of another plan.
func (c *Coordinator) takeOver(ctx context.Context) error {
	s, err := c.js.Stream(ctx, tasks)
	if err != nil {
		return err
	}
	for seq := uint64(1); ; {
		m, err := s.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(taskSubject+"*"))
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		if c.Stages[m.Header.Get(stageHeader)] == schemas.Digest(m.Header.Get(fingerprintHeader)) {
			id := strings.TrimPrefix(m.Subject, taskSubject)
			c.sent[id], c.claims.old[id] = true, true
		} else if err := s.DeleteMsg(ctx, m.Sequence); err != nil {
			return err
		}
		seq = m.Sequence + 1
	}
}

// The headers of a task.
const (
	stageHeader       = "Stage"
	fingerprintHeader = "Fingerprint"
)

// listen hears reports, deaths and beats: first what came while no coordinator was there.
func (c *Coordinator) listen(ctx context.Context) error {
	if err := c.hear(ctx, reports, c.reported); err != nil {
		return err
	}
	if err := c.hear(ctx, deaths, c.died); err != nil {
		return err
	}
	sub, err := c.nc.Subscribe(beatSubject, func(m *nats.Msg) {
		var b Beat
		if json.Unmarshal(m.Data, &b) == nil {
			c.fleet.beats(b)
			c.claims.beats(b)
			c.told(b)
		}
	})
	if err != nil {
		return err
	}
	asks, err := c.nc.Subscribe(askSubject+"*", c.asked)
	if err != nil {
		return err
	}
	ticking, stop := context.WithCancel(context.Background())
	c.stops = append([]func(){func() { _, _ = sub.Unsubscribe(), asks.Unsubscribe(); stop() }}, c.stops...)
	c.helpers.Go(func() { c.fleet.watch(ticking, c.silent) })
	return nil
}

// hear gives each message of a stream to take, and comes back when those that were there are taken.
func (c *Coordinator) hear(ctx context.Context, stream string, take func(jetstream.Msg)) error {
	consumer, err := c.js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy})
	if err != nil {
		return err
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return err
	}
	old, left := make(chan struct{}), info.NumPending
	if left == 0 {
		close(old)
	}
	hearing, err := consumer.Consume(func(m jetstream.Msg) {
		take(m)
		if left > 0 {
			if left--; left == 0 {
				close(old)
			}
		}
	})
	if err != nil {
		return err
	}
	c.stops = append([]func(){hearing.Stop}, c.stops...)
	select {
	case <-old:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Coordinator) reported(m jetstream.Msg) {
	id := strings.TrimPrefix(m.Subject(), reportSubject)
	var w wire
	if err := unpack(m.Data(), &w, c.Blobs); errors.As(err, new(*blob.FaultError)) {
		w = wire{fault: fmt.Errorf("reading what a worker made: %w", err)}
	} else if err != nil { // no report: the worker is not in its right mind
		w = wire{died: true}
	}
	c.give(id, w)
}

// died is told by the server that a lease ended. Of a task that a worker is known to do it means nothing: the server
// itself was away, and the worker's beats say whether it lives.
func (c *Coordinator) died(m jetstream.Msg) {
	var a struct {
		Seq uint64 `json:"stream_seq"`
	}
	if json.Unmarshal(m.Data(), &a) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.Lease)
	defer cancel()
	s, err := c.js.Stream(ctx, tasks)
	if err != nil {
		return
	}
	task, err := s.GetMsg(ctx, a.Seq)
	if err != nil {
		return // its worker has reported meanwhile
	}
	id := strings.TrimPrefix(task.Subject, taskSubject)
	time.AfterFunc(c.claims.settles(id, c.Lease), func() {
		if !c.claims.taken(id) {
			c.takeBack(a.Seq)
			c.give(id, wire{died: true})
		}
	})
}

// takeBack takes a task out of the stream.
func (c *Coordinator) takeBack(seq uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), c.Lease)
	defer cancel()
	if s, err := c.js.Stream(ctx, tasks); err == nil {
		_ = s.DeleteMsg(ctx, seq) // a worker that gets it all the same is told no
	}
}

// told hands on how far a worker's steps are.
func (c *Coordinator) told(b Beat) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range b.Doing {
		if tell := c.tell[[2]string{d.Stage, d.Key}]; tell != nil {
			tell(strings.TrimSuffix("on "+b.Host+": "+d.Text, ": "))
		}
	}
}

// give hands a report to whom it is for. Of a task that this run has not asked for yet it is kept; of one that
// it does not wait for any more it is dropped: a worker was silent for longer than its lease.
func (c *Coordinator) give(id string, w wire) {
	c.claims.end(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	switch ch := c.wait[id]; {
	case ch != nil:
		delete(c.wait, id)
		ch <- w
	case c.gone[id]:
		c.purge(id)
	case w.died && !c.sent[id]: // both ways of hearing of a death heard of it
	default:
		c.have[id] = w
	}
}

// begins says whether a worker may do a task: this run waits for it, and nobody has it.
func (c *Coordinator) begins(id, worker string) bool {
	time.Sleep(c.claims.settles(id, c.Lease))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wait[id] != nil {
		return c.claims.begin(id, worker)
	}
	if !c.claims.taken(id) {
		delete(c.sent, id) // it is sent again where somebody asks for it
	}
	return false
}

// silent is told of a worker that says nothing any more.
func (c *Coordinator) silent(worker string) {
	for _, id := range c.claims.of(worker) {
		c.give(id, wire{died: true})
	}
}

func (c *Coordinator) purge(id string) {
	select {
	case c.settled <- id:
	default: // too many at once: it goes with its age
	}
}

// Takes implements pipeline.Far.
func (c *Coordinator) Takes(stage string) bool { return c.Stages[stage] != "" }

// Do implements pipeline.Far.
func (c *Coordinator) Do(ctx context.Context, t pipeline.Task) (pipeline.Report, error) {
	id := name(t.ID)
	ch := make(chan wire, 1)
	step := [2]string{t.Stage, t.Key}
	c.mu.Lock()
	c.tell[step] = func(text string) { pipeline.Doing(ctx, "%s", text) }
	w, has := c.have[id]
	out := c.sent[id]
	delete(c.have, id)
	delete(c.sent, id)
	if has {
		ch <- w
	} else {
		c.wait[id] = ch
	}
	c.mu.Unlock()
	defer c.tellNobody(step)
	if !has && !out {
		if err := c.send(ctx, id, t); err != nil {
			c.forgo(id)
			return pipeline.Report{}, &pipeline.Halted{All: true, Err: fmt.Errorf("giving out %s %s: %w", t.Stage, t.Key, err)}
		}
	}
	select {
	case w = <-ch:
	case <-ctx.Done():
		c.forgo(id)
		return pipeline.Report{}, context.Cause(ctx)
	}
	switch {
	case w.fault != nil:
		c.purge(id)
		return pipeline.Report{}, &pipeline.Halted{Err: w.fault}
	case w.died:
		c.mu.Lock()
		c.gone[id] = true
		c.mu.Unlock()
		return pipeline.Report{}, pipeline.ErrDied
	case w.Back:
		c.purge(id)
		c.claims.again(id, w.Worker)
		return pipeline.Report{}, pipeline.ErrBack
	}
	if w.State == schemas.StepInterrupted {
		w.Detail += " (on " + w.Worker + ")"
	}
	w.Settled = func() { c.purge(id) }
	return w.Report, nil
}

// patience is how long a server that lost its leader may take to take a task.
const patience = time.Minute

func (c *Coordinator) send(ctx context.Context, id string, t pipeline.Task) error {
	data, err := pack(t, c.Blobs)
	if err != nil {
		return err
	}
	m := nats.NewMsg(taskSubject + id)
	m.Data = data
	m.Header.Set(stageHeader, t.Stage)
	m.Header.Set(fingerprintHeader, string(t.Fingerprint))
	once := jetstream.WithMsgID(id + "." + nuid.Next()) // a message that is sent again because its answer was lost
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if _, err = c.js.PublishMsg(patient, m, once); err == nil || patient.Err() != nil {
			return err
		}
		select {
		case <-patient.Done():
		case <-time.After(time.Second):
		}
	}
}

func (c *Coordinator) tellNobody(step [2]string) {
	c.mu.Lock()
	delete(c.tell, step)
	c.mu.Unlock()
}

// forgo waits for a task no more. What its worker says is kept for the next run.
func (c *Coordinator) forgo(id string) {
	c.mu.Lock()
	delete(c.wait, id)
	c.mu.Unlock()
}

// forget takes reports away whose end the step table has.
func (c *Coordinator) forget() {
	for {
		select {
		case id := <-c.settled:
			c.delete(id)
			continue
		case <-c.quit:
		}
		for len(c.settled) > 0 {
			c.delete(<-c.settled)
		}
		return
	}
}

func (c *Coordinator) delete(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if s, err := c.js.Stream(ctx, reports); err == nil {
		_ = s.Purge(ctx, jetstream.WithPurgeSubject(reportSubject+id)) // else it goes with its age
	}
}

// Close ends the coordinator's part. over says that the run is done: workers go home.
func (c *Coordinator) Close(over bool) {
	if over {
		_ = c.nc.Publish(overSubject, nil)
		_ = c.nc.FlushTimeout(time.Second)
	}
	c.stop()
}

func (c *Coordinator) stop() {
	close(c.quit)
	last := len(c.stops) - 1
	for _, stop := range c.stops[:last] {
		stop()
	}
	c.helpers.Wait()
	c.stops[last]()
}
