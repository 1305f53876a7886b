package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8/cwriter"

	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/stages"
)

// screen is the live view of a run on a terminal: what is written to it scrolls by
// above, and below stand what runs now, the funnel and the time that is left.
type screen struct {
	mu    sync.Mutex
	out   *cwriter.Writer
	lines []string
	done  bool
}

// newScreen is nil where no person watches: w is no terminal.
func newScreen(w io.Writer) *screen {
	f, ok := w.(*os.File)
	if !ok || !cwriter.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &screen{out: cwriter.New(f)}
}

// Write lets text scroll by. It is whole lines: say writes no others.
func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.out.Write(b); err != nil {
		return 0, err
	}
	return len(b), s.paint()
}

// show replaces the view.
func (s *screen) show(lines []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done || slices.Equal(s.lines, lines) {
		return nil
	}
	s.lines = lines
	return s.paint()
}

// close leaves what scrolled by.
func (s *screen) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done, s.lines = true, nil
	return s.paint()
}

func (s *screen) paint() error {
	width, _, err := s.out.GetTermSize()
	if err != nil || width < 20 {
		width = 80
	}
	for _, line := range s.lines {
		// A line that wraps takes two, and what was painted could not be taken back.
		if _, err := fmt.Fprintln(s.out, clip(line, width-1)); err != nil {
			return err
		}
	}
	return s.out.Flush(len(s.lines))
}

func clip(line string, width int) string {
	runes := []rune(line)
	if len(runes) <= width {
		return line
	}
	return string(runes[:width-1]) + "…"
}

// The view is painted again this often; counts are read less often.
const (
	paintEvery = 250 * time.Millisecond
	countEvery = time.Second
	beatEvery  = time.Second // how often it is looked whether a line is due
)

// pulse says what runs where nobody said anything for a while, for those who read lines
// and no live view.
type pulse struct {
	now  func() time.Time
	view *view

	mu   sync.Mutex
	out  io.Writer
	last time.Time // of the last line
}

// Write passes whole lines on, and takes note of the time.
func (u *pulse) Write(b []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.last = u.now()
	return u.out.Write(b)
}

// due reports whether a line is to be written: one is written every sayEvery at least.
func (u *pulse) due() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.now().Sub(u.last) >= sayEvery
}

// beat writes the view where a line is due.
func (u *pulse) beat(ctx context.Context, funnel func(context.Context) ([]tally, error)) error {
	if !u.due() {
		return nil
	}
	if counts, err := funnel(ctx); err == nil { // else the last ones stay
		u.view.counts = counts
	}
	lines := u.view.lines()
	lines[len(lines)-1] = "  " + lines[len(lines)-1] // lines that do not begin so say how items end
	_, err := io.WriteString(u, strings.Join(lines, "\n")+"\n")
	return err
}

// during does something again and again until end is called or it fails.
func during(every time.Duration, do func(context.Context) error) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		tick := time.NewTicker(every)
		defer tick.Stop()
		for do(ctx) == nil {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		cancel()
		<-gone
	}
}

// shown has what the terminal says go through a live view, where a person
// watches; end takes the view away. Where nobody does, lines say what goes on.
func (t *terminal) shown(live *pipeline.Live, funnel func(context.Context) ([]tally, error), parallel func() int, left func(sign string) string) (end func() error) {
	view := &view{live: live, now: t.now, parallel: parallel, left: left}
	world := *t.world
	s := newScreen(t.stderr)
	if s == nil || t.json {
		u := &pulse{now: t.now, view: view, out: t.stderr, last: t.now()}
		world.stderr, t.world = u, &world
		stop := during(beatEvery, func(ctx context.Context) error { return u.beat(ctx, funnel) })
		return func() error { stop(); return nil }
	}
	world.stderr = s
	t.world, t.viewed = &world, true
	stop := during(paintEvery, func(ctx context.Context) error {
		if now := t.now(); now.Sub(view.counted) >= countEvery {
			if counts, err := funnel(ctx); err == nil { // else the last ones stay
				view.counts, view.counted = counts, now
			}
		}
		return s.show(view.lines())
	})
	return func() error { stop(); return s.close() }
}

// view is what the lines of a screen are made of.
type view struct {
	live     *pipeline.Live
	now      func() time.Time
	parallel func() int // steps that have a sandbox at one time
	counts   []tally
	counted  time.Time
	left     func(sign string) string // hub.leftOf
}

// mostDoing is how many characters of what a step does are shown: a command may be a script.
const mostDoing = 120

func (v *view) lines() []string {
	const most = 8
	var out []string
	running := v.live.Running()
	for i, r := range running {
		if i == most {
			out = append(out, fmt.Sprintf("  and %d more", len(running)-most))
			break
		}
		line := fmt.Sprintf("  %-16s %-44s %5s", r.Stage, visible(name(r.Key)), v.now().Sub(r.Since).Round(time.Second))
		if r.Doing != "" {
			line += fmt.Sprintf("  %s (%s)", clip(visible(r.Doing), mostDoing), v.now().Sub(r.From).Round(time.Second))
		}
		out = append(out, line)
	}
	return append(out, v.funnel())
}

// funnel is one line: how far the items came, and how long it will take.
func (v *view) funnel() string {
	var words []string
	open := 0
	for _, t := range v.counts {
		switch t.Stage {
		case stages.Link:
			words = append(words, plural(t.items(), "change"), fmt.Sprintf("%d linked", t.Done))
		case stages.Range:
			if t.items() > 0 {
				words = append(words, plural(t.items(), "range"), fmt.Sprintf("%d linked", t.Done))
			}
		case stages.Mask:
			if t.items() > 0 {
				words = append(words, plural(t.items(), "release"), fmt.Sprintf("%d masked", t.Done))
			}
		case stages.Strip:
			if t.items() > 0 {
				words = append(words, plural(t.items(), "group"), fmt.Sprintf("%d masked", t.Done))
			}
		case stages.Classify:
			words = append(words, fmt.Sprintf("%d wanted", t.Done))
		case stages.Validate:
			words = append(words, fmt.Sprintf("%d proved", t.Done))
		case stages.Grade:
			words = append(words, fmt.Sprintf("%d graded", t.Done))
		case stages.Reprove:
			words = append(words, fmt.Sprintf("%d run again", t.Done))
		case stages.Describe:
			words = append(words, fmt.Sprintf("%d described", t.Done))
		case stages.Document:
			if t.items() > 0 {
				words = append(words, fmt.Sprintf("%d specified", t.Done))
			}
		}
		open += t.Open
	}
	if open > 0 {
		words = append(words, fmt.Sprintf("%d to do", open))
	}
	if left, ok := timeLeft(v.counts, v.parallel()); ok && open > 0 {
		words = append(words, "about "+left.Round(time.Second).String()+" left")
	}
	if len(words) == 0 {
		words = []string{"reading the sources"}
	}
	return strings.Join(words, ", ") + v.left(", ")
}

func (t tally) settled() int {
	n := t.Done + t.Failed
	for _, rejected := range t.Rejected {
		n += rejected
	}
	return n
}

func (t tally) items() int { return t.settled() + t.Deferred + t.Open }

// enoughProofs is from how many settled proofs on there is an estimate: of fewer, one slow
// suite would be most of it.
const enoughProofs = 3

// timeLeft is what the open steps and those that will follow from them take, by
// what their stages took so far. ok is false until the dear stage has a past.
func timeLeft(counts []tally, parallel int) (left time.Duration, ok bool) {
	waiting := 0.0 // steps that reach the stage
	total := 0.0   // milliseconds
	for _, t := range counts {
		if strings.HasSuffix(t.Stage, ".build") {
			if n := t.settled(); n > 0 {
				total += float64(t.Open) * float64(t.MS) / float64(n)
			}
			continue
		}
		waiting += float64(t.Open)
		n := t.settled()
		if n == 0 {
			continue
		}
		ok = ok || slices.Contains([]string{stages.Validate, stages.Grade, stages.Reprove}, t.Stage) && n >= enoughProofs
		total += waiting * float64(t.MS) / float64(n)
		waiting *= float64(t.Done) / float64(n)
		if t.Stage == stages.Harvest || t.Stage == stages.Pair || t.Stage == stages.Cut || t.Stage == stages.Survey { // one source becomes many changes: unknown beforehand
			waiting = 0
		}
	}
	return time.Duration(total/float64(max(parallel, 1))) * time.Millisecond, ok
}
