package pipeline

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/benchmint/benchmint/schemas"
)

// Observer is told what happens, as it happens. Calls come one at a time, from the
// goroutine that gives out the work: they must not take long. Each Begin has its
// End, with the state interrupted where the step goes back or its result was lost.
type Observer interface {
	Begin(stage, key string)
	End(s schemas.Step, reused bool)
}

// Running is a step that runs now.
type Running struct {
	Stage string
	Key   string
	Since time.Time
	// Doing is how far it is, in its own words (Doing); "" where it says nothing.
	Doing string
	// From is since when it does that.
	From time.Time
}

// Live is an observer that knows what runs now, for whoever asks meanwhile, and
// passes everything on.
type Live struct {
	next Observer
	now  func() time.Time

	mu      sync.Mutex
	running map[[2]string]Running
}

var _ Observer = (*Live)(nil)

// NewLive passes on to next, which may be nil.
func NewLive(next Observer, now func() time.Time) *Live {
	return &Live{next: next, now: now, running: map[[2]string]Running{}}
}

// Begin implements Observer.
func (l *Live) Begin(stage, key string) {
	now := l.now()
	l.mu.Lock()
	l.running[[2]string{stage, key}] = Running{Stage: stage, Key: key, Since: now, From: now}
	l.mu.Unlock()
	if l.next != nil {
		l.next.Begin(stage, key)
	}
}

// Doing takes note of how far a step is. It may be called from any goroutine.
func (l *Live) Doing(stage, key, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r, ok := l.running[[2]string{stage, key}]; ok {
		if r.Doing != text {
			r.Doing, r.From = text, l.now()
		}
		l.running[[2]string{stage, key}] = r
	}
}

// End implements Observer.
func (l *Live) End(s schemas.Step, reused bool) {
	l.mu.Lock()
	delete(l.running, [2]string{s.Stage, s.Key})
	l.mu.Unlock()
	if l.next != nil {
		l.next.End(s, reused)
	}
}

// Running is what runs now, the longest first.
func (l *Live) Running() []Running {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Running, 0, len(l.running))
	for _, r := range l.running {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Running) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Key, b.Key))
	})
	return out
}

// step is what an observer is told of a settled step.
func (res result) step() schemas.Step {
	s := res.settlement
	step := schemas.Step{
		Stage: res.claim.Stage, Key: res.claim.Key, State: s.State, Fingerprint: res.lane.node.info.Fingerprint,
		Input: res.claim.Digest, Share: res.claim.Share, Reason: s.Reason, Detail: s.Detail, Evidence: s.Evidence,
		Crashes: res.claim.Crashes, NotBefore: s.NotBefore, Cost: s.Cost, Provenance: s.Provenance, MS: s.MS,
	}
	for _, m := range s.Outputs {
		step.Outputs = append(step.Outputs, schemas.Output{To: m.To, Key: m.Key, Digest: m.Digest, Record: m.Record})
	}
	switch {
	case res.interrupted, res.settled.Lost:
		step.State, step.Outputs = schemas.StepInterrupted, nil
	case res.settled.Err != nil:
		step.State, step.Outputs, step.Detail = schemas.StepFailed, nil, res.settled.Err.Error()
	}
	return step
}
