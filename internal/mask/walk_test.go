package mask

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// Whatever comes to its end first: things are taken in their order, one at a time.
func TestInOrder(t *testing.T) {
	t.Parallel()
	const n = 500
	for _, workers := range []int{1, 2, 5} {
		var taking atomic.Int64
		var order []int
		err := inOrder(t.Context(), workers, n, func(i int) int {
			for range i % 7 * 50 {
				runtime.Gosched()
			}
			return -i
		}, func(i, value int) error {
			if taking.Add(1) != 1 || value != -i {
				t.Errorf("%d workers: %d is taken as %d, beside another", workers, i, value)
			}
			runtime.Gosched()
			order = append(order, i)
			taking.Add(-1)
			return nil
		})
		if err != nil || len(order) != n || !slices.IsSorted(order) {
			t.Errorf("%d workers: %v, %d of %d taken, in the order %v", workers, err, len(order), n, order)
		}
	}
}

// What was done and not taken is bounded.
func TestInOrderBound(t *testing.T) {
	t.Parallel()
	const n = 2*batch + 1
	var done atomic.Int64
	err := inOrder(t.Context(), 3, n, func(int) struct{} { done.Add(1); return struct{}{} }, func(i int, _ struct{}) error {
		if wait := int(done.Load()) - i; wait > batch {
			t.Errorf("%d wait to be taken at %d, want %d at most", wait, i, batch)
		}
		return nil
	})
	if err != nil || done.Load() != n {
		t.Errorf("%v, %d of %d done", err, done.Load(), n)
	}
}

// A fault of taking ends it, and so does the context; nothing is taken after it,
// or begun.
func TestInOrderEnds(t *testing.T) {
	t.Parallel()
	fault := errors.New("disk full")
	for name, end := range map[string]func(context.CancelCauseFunc) error{
		"fault":   func(context.CancelCauseFunc) error { return fault },
		"context": func(cancel context.CancelCauseFunc) error { cancel(fault); return nil },
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		var done atomic.Int64
		taken := 0
		err := inOrder(ctx, 4, 1000, func(int) int64 { return done.Add(1) }, func(i int, _ int64) error {
			taken++
			if i == 200 {
				return end(cancel)
			}
			return nil
		})
		if !errors.Is(err, fault) || name == "fault" && taken != 201 || taken < 201 || taken == 1000 || done.Load() == 1000 {
			t.Errorf("%s: %v, %d of 1000 taken, %d done", name, err, taken, done.Load())
		}
	}
}

// full is a disk without room.
type full struct{ error }

func (f full) Write([]byte) (int, error) { return 0, f.error }

// A starter that cannot be written is the run's fault, not the file's.
func TestPourIntoAFullDisk(t *testing.T) {
	t.Parallel()
	fault := errors.New("no space left")
	var w written
	_, err := w.pour(t.Context(), full{fault}, strings.NewReader("text"), io.Discard)
	if err != nil || !errors.Is(w.err, fault) {
		t.Errorf("fault of the source %v, of the run %v", err, w.err)
	}
}
