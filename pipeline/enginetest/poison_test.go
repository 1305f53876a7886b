package enginetest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/pipeline/enginetest"
)

// An item that ends the process five times is given up; nobody beside it is.
func TestPoisonOfTheProcess(t *testing.T) {
	t.Parallel()
	c := enginetest.Spike(200, 3)
	c.Poison = enginetest.PoisonExit
	e := enginetest.Engine{Program: compiled(t), Dir: t.TempDir(), Slots: 16, Config: c}
	if deaths := untilItEnds(t, e); deaths != 5 {
		t.Errorf("the process died %d times, want 5", deaths)
	}
	sameDataset(t, e)
	// It is not tried again by itself, neither by the same nor by a new process.
	if deaths := untilItEnds(t, e); deaths != 0 {
		t.Errorf("a later run died %d times over it", deaths)
	}
	sameDataset(t, e)
	// Asked to, it is tried again, and given up once more: it is still a suspect.
	if deaths := untilItEnds(t, e, "-retry-crashed"); deaths < 1 || deaths > 5 {
		t.Errorf("asked to try again, it died %d times, want 1 to 5", deaths)
	}
	sameDataset(t, e)
}

// untilItEnds starts the program until it ends by itself; args are for the first start.
func untilItEnds(t *testing.T, e enginetest.Engine, args ...string) (deaths int) {
	t.Helper()
	for range 20 {
		p, err := e.Start(args...)
		if err != nil {
			t.Fatal(err)
		}
		<-p.Done()
		if !p.Killed() {
			if _, err := p.Wait(); err != nil {
				t.Fatal(err)
			}
			return deaths
		}
		deaths++
		args = nil
	}
	t.Fatal("it dies for ever")
	return deaths
}

func sameDataset(t *testing.T, e enginetest.Engine) {
	t.Helper()
	got, err := enginetest.ReadDataset(e.DatasetPath())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(e.Config.Want(), got); diff != "" {
		t.Errorf("dataset (-want +got):\n%s", diff)
	}
	if err := enginetest.Audit(t.Context(), e); err != nil {
		t.Error(err)
	}
}

// An item that panics, or that never comes back, fails alone.
func TestPoisonOfTheItem(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{enginetest.PoisonPanic, enginetest.PoisonHang} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := enginetest.Spike(200, 4)
			c.Poison, c.Limit = kind, 2*time.Second
			e := enginetest.Engine{Program: compiled(t), Dir: t.TempDir(), Slots: 16, Config: c}
			r, _, err := e.Run()
			if err != nil {
				t.Fatal(err)
			}
			if r.Summary.Code() != 1 {
				t.Errorf("exit code %d with a failed item, want 1", r.Summary.Code())
			}
			sameDataset(t, e)
		})
	}
}
