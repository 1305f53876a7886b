package gitrepo

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestSweepOfAPipe: a pipe that another user left in the place of a lock holds nobody up.
func TestSweepOfAPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	view := filepath.Join(dir, viewPrefix+"x")
	if err := os.Mkdir(view, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(filepath.Join(view, viewLock), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		sweepViews(dir)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Error("it waits for somebody to write to the pipe")
	}
}
