package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Lock holds a file lock of this name under dir until the returned function is
// called, or the process ends. It makes equal keys be built once, also by two
// processes: each call opens the file anew, so that it holds between goroutines too.
func Lock(ctx context.Context, dir, name string) (unlock func(), err error) {
	return lock(ctx, dir, name, unix.LOCK_EX)
}

// LockShared is Lock that many hold at once, and that keeps out those who Lock.
func LockShared(ctx context.Context, dir, name string) (unlock func(), err error) {
	return lock(ctx, dir, name, unix.LOCK_SH)
}

func lock(ctx context.Context, dir, name string, how int) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the lock directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("opening a lock: %w", err)
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		switch err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB); {
		case err == nil:
			return func() { f.Close() }, nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			f.Close()
			return nil, fmt.Errorf("locking %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}
