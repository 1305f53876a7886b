package sandbox_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// Whoever drops unlock keeps the lock until the process ends.
func TestLockHoldsWithoutUnlock(t *testing.T) {
	dir := t.TempDir()
	if _, err := sandbox.LockShared(t.Context(), dir, "one"); err != nil {
		t.Fatal(err)
	}
	for range 3 { // a finalizer runs some time after its collection
		runtime.GC()
		time.Sleep(10 * time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := sandbox.Lock(ctx, dir, "one"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Lock of what is held: %v, want %v", err, context.DeadlineExceeded)
	}
}

func TestUnlockTwice(t *testing.T) {
	dir := t.TempDir()
	first, err := sandbox.Lock(t.Context(), dir, "one")
	if err != nil {
		t.Fatal(err)
	}
	first()
	if _, err := sandbox.Lock(t.Context(), dir, "one"); err != nil {
		t.Fatal(err)
	}
	first() // is not the second's
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := sandbox.Lock(ctx, dir, "one"); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("Lock of what is held: %v, want %v", err, context.DeadlineExceeded)
	}
}
