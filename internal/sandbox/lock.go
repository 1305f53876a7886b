package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
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
	// No *os.File, which the collector closes, and so unlocks, once nobody has unlock.
	fd, err := unix.Open(filepath.Join(dir, name), unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	for errors.Is(err, unix.EINTR) {
		fd, err = unix.Open(filepath.Join(dir, name), unix.O_CREAT|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("opening the lock %s: %w", name, err)
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 100*time.Millisecond) {
		switch err := unix.Flock(fd, how|unix.LOCK_NB); {
		case err == nil:
			return sync.OnceFunc(func() { unix.Close(fd) }), nil
		case !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR):
			unix.Close(fd)
			return nil, fmt.Errorf("locking %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			unix.Close(fd)
			return nil, ctx.Err()
		case <-time.After(wait):
		}
	}
}
