package enginetest_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/benchmint/benchmint/pipeline/enginetest"
)

// A signal ends a run in time, leaves nothing running, and costs nothing but what
// was cut off.
func TestSignals(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		work    time.Duration
		grace   string
		signals int
		most    time.Duration
		cut     bool // some work does not end
	}{
		{"within_grace", 50 * time.Millisecond, "20s", 1, 10 * time.Second, false},
		{"beyond_grace", 20 * time.Second, "300ms", 1, 5 * time.Second, true},
		{"twice", 20 * time.Second, "1h", 2, 5 * time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e := enginetest.Engine{Program: compiled(t), Dir: t.TempDir(), Slots: 4, Config: enginetest.Spike(100, 21)}
			e.Config.Sleep = c.work
			p, err := e.Start("-grace", c.grace)
			if err != nil {
				t.Fatal(err)
			}
			working(t, e, p)
			for range c.signals {
				if err := p.Signal(syscall.SIGINT); err != nil {
					t.Fatal(err)
				}
				time.Sleep(100 * time.Millisecond) // two at once are one
			}
			told := time.Now()
			r, err := p.Wait()
			if took := time.Since(told); err != nil || took > c.most || r.Summary.Code() != 130 {
				t.Errorf("it ended with %d after %s, %v; want 130 within %s", r.Summary.Code(), took, err, c.most)
			}
			if n, err := e.Running(t.Context()); n != 0 || err != nil {
				t.Errorf("%d steps left running, %v", n, err)
			}
			resumed(t, e, c.cut)
		})
	}
}

// working waits until something is at work.
func working(t *testing.T, e enginetest.Engine, p *enginetest.Process) {
	t.Helper()
	for {
		n, _, err := enginetest.Executions(e.LogPath(), 0)
		if err != nil {
			t.Fatal(err)
		}
		for x := range n {
			if x.Stage == enginetest.Work {
				return
			}
		}
		select {
		case <-p.Done():
			t.Fatalf("it ended before that: %s", p.Said())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func resumed(t *testing.T, e enginetest.Engine, cut bool) {
	t.Helper()
	e.Config.Sleep = 0
	if _, _, err := e.Run(); err != nil {
		t.Fatal(err)
	}
	sameDataset(t, e)
	n, _, err := enginetest.Executions(e.LogPath(), 0)
	if err != nil {
		t.Fatal(err)
	}
	repeated := 0
	for x, times := range e.Config.Expected() {
		repeated += n[x] - times
	}
	if repeated > e.Slots || !cut && repeated > 0 || cut && repeated == 0 {
		t.Errorf("%d executions repeated", repeated)
	}
}
