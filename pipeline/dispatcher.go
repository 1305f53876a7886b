package pipeline

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

const (
	// poll is how often a run with room looks for what it was not told is ready.
	poll = 500 * time.Millisecond
	// slow is from which mean duration on a stage's steps are not taken ahead of time:
	// what is claimed early runs before what turns up deeper meanwhile.
	slow = 250 * time.Millisecond
	// plenty stands for "nobody knows how many".
	plenty = 1 << 30
)

// lane is one stage as the dispatcher sees it. All of it belongs to its goroutine.
type lane struct {
	node *node
	at   int // place in the plan, builds counted
	cap  int // steps at once

	queue   []Claim        // claimed and not yet started
	suspect map[int64]bool // of the queue
	running int
	unsaved int // ended, not yet booked
	maybe   int // how many ready steps the table may hold
	passed  int // starts of earlier stages that took what the head of the queue waits for

	ended int
	spent time.Duration
}

// isSlow holds until a stage has shown that it is quick.
func (l *lane) isSlow() bool { return l.ended == 0 || l.spent/time.Duration(l.ended) >= slow }

// dispatcher gives out the work. One goroutine owns all its counters; it sleeps
// until something ends, falls due or is said from outside.
type dispatcher struct {
	*run
	observer Observer
	lanes    []*lane // first stage first

	running int
	unsaved int
	queued  int
	used    map[string]int
	paused  map[string]time.Time
	next    time.Time // when the next deferred step falls due
	drain   bool      // the last stage may start

	suspects   bool // there may be some
	suspecting bool // one is claimed or running
	asking     bool // the clerk is at work
	look       bool // a look at the tallies is wanted
	fresh      bool // nothing has happened since the last look
	tried      bool // and nothing of what it showed could be claimed
	ahead      outlook
	stuck      int
	waited     time.Duration
	idleSince  time.Time

	stopping bool
	over     bool
	fault    error // the first that ends the run
	drainErr error
	undone   []int64
	died     []int64 // steps whose workers went silent
	// kept are steps that met a fault of the machine which others may not meet: nobody takes
	// them again before the run ends.
	kept  []int64
	first error // of those faults

	work    context.Context // of running steps
	cut     context.CancelCauseFunc
	durable context.Context
	results chan result   // from steps
	saving  chan result   // to the committer
	booked  chan []result // from the committer
	asks    chan question
	answers chan answer
	grace   <-chan time.Time
}

// outlook is what a look at the tallies showed.
type outlook struct {
	ready    int // that may start as far as pauses go
	blocked  int // ready, but what they need is paused
	running  int // by the table
	waiting  int
	deferred int
	drain    bool // the drain has something to do
}

func (r *run) dispatch(ctx context.Context, observer Observer) error {
	d := &dispatcher{run: r, observer: observer, used: map[string]int{}, paused: map[string]time.Time{}, suspects: true, look: true, durable: context.WithoutCancel(ctx)}
	for i, n := range r.plan.nodes() {
		d.lanes = append(d.lanes, &lane{node: n, at: i, cap: r.capOf(n), suspect: map[int64]bool{}})
	}
	d.work, d.cut = context.WithCancelCause(d.durable)
	defer d.cut(nil)
	room := 4 * r.opts.Slots // more than can be on its way: nobody waits for another
	d.results, d.saving, d.booked = make(chan result, room), make(chan result, room), make(chan []result, room)
	d.asks, d.answers = make(chan question, 1), make(chan answer, 1)

	var helpers sync.WaitGroup
	helpers.Go(func() { r.committer(d.durable, d.saving, d.booked) })
	helpers.Go(func() { r.clerk(d.durable, d.asks, d.answers) })

	err := d.loop(ctx)
	close(d.saving)
	close(d.asks)
	helpers.Wait()
	d.undone = append(d.undone, d.kept...)
	if len(d.undone) > 0 && !errors.Is(err, errStore) {
		if backErr := r.store.Release(d.durable, r.owner, d.undone); backErr != nil && (err == nil || errors.Is(err, errStop)) {
			err = fmt.Errorf("%w: giving steps back: %w", errStore, backErr)
		}
	}
	return err
}

// limit takes note of what there is now of some resources.
func (d *dispatcher) limit(now map[string]int) {
	maps.Copy(d.opts.Resources, now)
	for _, l := range d.lanes {
		l.cap = d.capOf(l.node)
	}
	d.look = true
}

// capOf is how many steps of a stage can run at once.
func (r *run) capOf(n *node) int {
	c := r.opts.Slots
	if n.options.Slots > 0 {
		c = min(c, n.options.Slots)
	}
	for name, need := range n.options.Needs {
		if limit, ok := r.opts.Resources[name]; ok && need > 0 {
			c = min(c, limit/need)
		}
	}
	return c
}

func (d *dispatcher) loop(ctx context.Context) error {
	stop, hurry := ctx.Done(), d.opts.Hurry
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if !d.stopping {
			d.start()
			d.decide()
		}
		d.ask()
		if d.running+d.unsaved == 0 && !d.asking && (d.stopping || d.over) {
			fault := d.fault
			if fault == nil {
				fault = d.first
			}
			return errors.Join(fault, d.drainErr)
		}
		timer.Reset(d.sleep())
		select {
		case res := <-d.results:
			d.ends(res)
		case batch := <-d.booked:
			d.books(batch)
		case a := <-d.answers:
			d.hears(a)
		case <-timer.C:
			d.look = true
		case <-stop:
			stop = nil
			d.stop(errStop)
			d.grace = time.After(d.opts.Grace)
		case <-d.grace:
			d.cut(errStop)
		case <-hurry:
			hurry = nil
			d.stop(errStop)
			d.cut(errStop)
		case limits := <-d.opts.Limits:
			d.limit(limits)
		}
	}
}

// stop begins nothing more and gives back what was not begun.
func (d *dispatcher) stop(cause error) {
	d.stopping = true
	if d.fault == nil {
		d.fault = cause
	}
	for _, l := range d.lanes {
		d.giveBack(l, len(l.queue))
	}
}

// fail ends the run at once: no result is booked any more.
func (d *dispatcher) fail(err error) {
	if d.fault == nil || errors.Is(d.fault, errStop) {
		d.fault = err
	}
	d.dead.Store(true)
	d.stop(err)
	d.cut(err)
}

// failed: a fault, not a wish, ended the run.
func (d *dispatcher) failed() bool { return d.fault != nil && !errors.Is(d.fault, errStop) }

// giveBack returns the last n claims of a lane, which have not been started.
func (d *dispatcher) giveBack(l *lane, n int) {
	for _, c := range l.queue[len(l.queue)-n:] {
		d.undone = append(d.undone, c.ID)
		if l.suspect[c.ID] {
			delete(l.suspect, c.ID)
			d.suspecting, d.suspects = false, true
		} else {
			l.maybe++
		}
	}
	l.queue = l.queue[:len(l.queue)-n]
	d.queued -= n
}

// start starts what fits, the last stage first. All that a step needs is taken at
// once or nothing: nobody holds one thing while waiting for another.
func (d *dispatcher) start() {
	held := map[string]bool{} // kept for a stage that was passed over too often
	for i := len(d.lanes) - 1; i >= 0; i-- {
		l := d.lanes[i]
		if len(l.queue) > 0 && d.isPaused(l) {
			d.giveBack(l, len(l.queue))
		}
		for len(l.queue) > 0 && d.fit(l, held) > 0 && !d.awaits(l, held) {
			d.launch(l)
		}
		if len(l.queue) > 0 && l.passed >= d.opts.Slots {
			for name := range l.node.options.Needs {
				held[name] = true
			}
		}
	}
}

func (d *dispatcher) launch(l *lane) {
	c := l.queue[0]
	l.queue = l.queue[1:]
	d.queued--
	l.running++
	d.running++
	l.passed = 0
	for name, need := range l.node.options.Needs {
		d.used[name] += need
		for _, deeper := range d.lanes[l.at+1:] {
			if len(deeper.queue) > 0 && deeper.node.options.Needs[name] > 0 {
				deeper.passed++
			}
		}
	}
	suspect := l.suspect[c.ID]
	delete(l.suspect, c.ID)
	d.fresh = false
	d.observer.Begin(c.Stage, c.Key)
	go func() {
		res := d.execute(d.work, l, c)
		res.suspect = suspect
		d.results <- res
	}()
}

// fit is how many more steps of a stage could start now.
func (d *dispatcher) fit(l *lane, held map[string]bool) int {
	// A result holds its slot until it is booked: a kill repeats no more than the slots.
	n := min(d.opts.Slots-d.running-d.unsaved, l.cap-l.running)
	for name, need := range l.node.options.Needs {
		if limit, ok := d.opts.Resources[name]; ok && need > 0 {
			n = min(n, (limit-d.used[name])/need)
		}
		if held[name] {
			return 0
		}
	}
	if d.isPaused(l) || d.leadsDeeper(l) {
		return 0
	}
	return max(n, 0)
}

func (d *dispatcher) isPaused(l *lane) bool {
	for name := range l.node.options.Needs {
		if until, ok := d.paused[name]; ok {
			if d.opts.Now().Before(until) {
				return true
			}
			delete(d.paused, name)
		}
	}
	return false
}

// leadsDeeper: results are being booked that make steps behind l ready. Where a
// step takes long, it is worth the few milliseconds to know.
func (d *dispatcher) leadsDeeper(l *lane) bool {
	if !l.isSlow() {
		return false
	}
	for _, other := range d.lanes[l.at:] {
		if other.unsaved > 0 {
			return true
		}
	}
	return false
}

// awaits: deeper steps are known of that could start now and are on their way
// here. They go first.
func (d *dispatcher) awaits(l *lane, held map[string]bool) bool {
	for _, deeper := range d.lanes[l.at+1:] {
		if deeper.maybe > 0 && len(deeper.queue) == 0 && d.within(deeper.node.info.Name) && d.fit(deeper, held) > 0 {
			return !deeper.node.info.Drain
		}
	}
	return false
}

// ends books out a step that is over.
func (d *dispatcher) ends(res result) {
	l := res.lane
	l.running--
	d.running--
	for name, need := range l.node.options.Needs {
		d.used[name] -= need
	}
	l.ended++
	l.spent += time.Duration(res.settlement.MS) * time.Millisecond
	d.fresh = false
	if res.resource != "" && res.until.After(d.paused[res.resource]) {
		d.paused[res.resource] = res.until
	}
	if res.halted != nil && !d.stopping {
		d.halts(res)
		return
	}
	if res.interrupted || d.failed() {
		res.interrupted = true
		if res.died && !d.failed() {
			d.died = append(d.died, res.claim.ID)
		} else {
			d.undone = append(d.undone, res.claim.ID)
		}
		if res.suspect {
			d.suspecting = false
		}
		d.look = d.look || !d.stopping // it is ready again
		d.observer.End(res.step(), false)
		return
	}
	l.unsaved++
	d.unsaved++
	d.saving <- res
}

// halts takes note of a fault of the machine.
func (d *dispatcher) halts(res result) {
	d.observer.End(res.step(), false)
	err := fmt.Errorf("%s: %w", strings.TrimSpace(res.claim.Key+" at "+res.lane.node.info.Name), res.halted)
	if res.halted.All {
		d.undone = append(d.undone, res.claim.ID)
		d.stop(err)
		d.cut(err)
		return
	}
	d.kept = append(d.kept, res.claim.ID)
	if d.first == nil {
		d.first = err
	}
	if res.suspect {
		d.suspecting, d.suspects = false, true
	}
	if res.lane.node.info.Drain {
		d.drain = false
	}
}

// books takes note of what the store has.
func (d *dispatcher) books(batch []result) {
	d.fresh, d.stuck = false, 0
	for _, res := range batch {
		l := res.lane
		l.unsaved--
		d.unsaved--
		if res.suspect {
			d.suspecting, d.suspects = false, true
		}
		if errors.Is(res.err, errStore) {
			d.fail(res.err)
		}
		if d.failed() {
			res.interrupted = true
		}
		step := res.step()
		if res.done != nil && !res.interrupted {
			res.done()
		}
		d.observer.End(step, false)
		if step.State == schemas.StepInterrupted {
			continue
		}
		d.executed[res.claim.Stage]++
		d.follow(l, res, step)
	}
}

// follow notes where a settled step made work.
func (d *dispatcher) follow(l *lane, res result, step schemas.Step) {
	if step.State == schemas.StepDeferred {
		if d.next.IsZero() || res.settlement.NotBefore.Before(d.next) {
			d.next = res.settlement.NotBefore
		}
		return
	}
	d.waited, d.idleSince = 0, time.Time{}
	if l.node.info.Drain {
		d.drain = false
		if step.State != schemas.StepDone {
			cause := res.cause
			if cause == nil { // the store had something against it
				cause = errors.New(step.Detail)
			}
			d.drainErr = fmt.Errorf("%s: %w", l.node.info.Name, cause)
		}
		return
	}
	if l.node.info.Of != "" { // a build: its members, or the next one to try
		d.lanes[l.at+1].maybe, l.maybe = plenty, plenty
	}
	name := l.node.info.Name
	for _, other := range d.lanes[l.at+1:] {
		for _, way := range l.node.next {
			if other.node == way.to || other.node == way.to.build {
				other.maybe += len(step.Outputs)
			}
		}
		for _, read := range other.node.info.Reads {
			if read == name {
				other.maybe++
			}
		}
	}
}

// decide looks ahead where nothing runs: what there is to wait for, or the end.
func (d *dispatcher) decide() {
	busy, now := d.running+d.unsaved+d.queued > 0, d.opts.Now()
	d.idle(!busy, now)
	if busy || d.asking {
		return
	}
	if !d.fresh {
		d.look = true
		return
	}
	a := d.ahead
	a.running -= len(d.kept)
	if a.ready > 0 && !d.tried {
		return // claims are on their way
	}
	if len(d.kept) > 0 && a.running <= 0 {
		d.over = true
		return
	}
	if a.ready+a.blocked+a.running+a.waiting+a.deferred == 0 {
		d.finish()
		return
	}
	wake := d.wake()
	switch {
	case a.running > 0: // on its way back
		return
	case a.ready > 0 || wake.IsZero():
		if d.stuck++; d.stuck > 10 {
			d.fail(fmt.Errorf("%d steps are open and no step can start: %w", a.ready+a.blocked+a.waiting, errStuck))
		}
		return
	case d.waited+wake.Sub(now) <= d.opts.Patience:
		return
	}
	if d.opts.Partial {
		d.finish()
	} else {
		d.over = true
	}
}

// idle keeps account of the time in which nothing ran.
func (d *dispatcher) idle(is bool, now time.Time) {
	if !d.idleSince.IsZero() {
		d.waited += now.Sub(d.idleSince)
	}
	if d.idleSince = now; !is {
		d.idleSince = time.Time{}
	}
}

// errStuck is a fault of ours: the table holds work that nobody can ever start.
var errStuck = errors.New("the step table is at odds with itself")

// finish drains what is there, and ends the run where that is done.
func (d *dispatcher) finish() {
	last := d.lanes[len(d.lanes)-1]
	switch {
	case !d.ahead.drain || d.drainErr != nil || !d.within(last.node.info.Name):
		d.over = true
	case d.tried:
		d.stuck++ // the next look says who has it
	default:
		d.drain, last.maybe = true, 1
	}
}

// wake is when the next thing falls due that is waited for: a deferred step, or a
// paused resource.
func (d *dispatcher) wake() (wake time.Time) {
	if d.ahead.deferred > 0 || !d.fresh {
		wake = d.next
	}
	for _, l := range d.lanes {
		for name := range l.node.options.Needs {
			if until, ok := d.paused[name]; ok && (l.maybe > 0 || l.node.info.Drain) && (wake.IsZero() || until.Before(wake)) {
				wake = until
			}
		}
	}
	return wake
}

// sleep is how long nothing needs to be looked at.
func (d *dispatcher) sleep() time.Duration {
	const long = time.Hour
	if d.stopping || d.over {
		return long
	}
	nap := long
	if wake := d.wake(); !wake.IsZero() {
		nap = min(nap, max(wake.Sub(d.opts.Now()), time.Millisecond))
	}
	a := d.ahead
	if d.running < d.opts.Slots && (d.running > 0 || a.running+a.waiting+a.ready > 0 || a.drain) {
		nap = min(nap, poll)
	}
	return nap
}
