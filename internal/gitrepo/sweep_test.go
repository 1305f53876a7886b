package gitrepo

import (
	"context"
	"os"
	"path/filepath"
	"strings"
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

// TestFilesOfAPipe: a pipe in the place of a file that git reads in a stranger's folder holds nobody up.
func TestFilesOfAPipe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pipe, want string
		limit      time.Duration
	}{
		{".git/info/exclude", "info/exclude is not a file", time.Minute},
		{".git/config", "config is not a file", time.Minute},
		{".gitignore", "no answer within 1s", time.Second},
	} {
		t.Run(c.pipe, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := inside(t.Context(), dir, "init", "-q").Run(); err != nil {
				t.Fatal(err)
			}
			pipe := filepath.Join(dir, c.pipe)
			if err := os.RemoveAll(pipe); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(pipe), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := unix.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, end := context.WithTimeout(t.Context(), 20*time.Second)
			defer end()
			if _, err := filesWithin(ctx, dir, c.limit); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
