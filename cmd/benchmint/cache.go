package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// cacheUse is whether this process has said that it uses the cache; the worlds of one
// process share it.
type cacheUse struct {
	mu   sync.Mutex
	held string // the cache that is held, until the process ends
}

// soon is how long a lock is tried before anything is said.
const soon = time.Second

// useCache keeps clean from the cache until this process ends. Everything that reads or
// makes mirrors, toolchains, layers or clients calls it first.
func (e *world) useCache(ctx context.Context) error {
	e.use.mu.Lock()
	defer e.use.mu.Unlock()
	if e.use.held == e.cache {
		return nil
	}
	if err := os.MkdirAll(e.cache, 0o755); err != nil {
		return fmt.Errorf("making the cache: %w", err)
	}
	_, err := e.lockedSoon(ctx, sandbox.LockShared)
	if errors.Is(err, context.DeadlineExceeded) {
		_, _ = fmt.Fprintln(e.stderr, "waiting for benchmint clean, which has the cache at", e.cache)
		_, err = sandbox.LockShared(ctx, e.cache, cacheLock)
	}
	if err != nil {
		return fmt.Errorf("using the cache at %s: %w", e.cache, err)
	}
	e.use.held = e.cache
	return nil
}

func (e *world) lockedSoon(ctx context.Context, lock func(context.Context, string, string) (func(), error)) (unlock func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	return lock(ctx, e.cache, cacheLock)
}

// ownCache is the cache for this process alone; where another one uses it, it is named
// and nothing is begun.
func (e *world) ownCache(ctx context.Context) (unlock func() error, err error) {
	if _, err := os.Stat(e.cache); errors.Is(err, os.ErrNotExist) {
		return func() error { return nil }, nil
	}
	free, err := e.lockedSoon(ctx, sandbox.Lock)
	if errors.Is(err, context.DeadlineExceeded) {
		return nil, unmet("the cache at %s is in use by %s; nothing was freed", e.cache, users(filepath.Join(e.cache, cacheLock)))
	}
	if err != nil {
		return nil, fmt.Errorf("locking the cache at %s: %w", e.cache, err)
	}
	return func() error { free(); return nil }, nil
}

// users are the processes that have a lock on a file, as the kernel lists them.
func users(file string) string {
	var stat unix.Stat_t
	b, err := os.ReadFile("/proc/locks")
	if err = errors.Join(err, unix.Stat(file, &stat)); err != nil {
		return "another benchmint"
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line) // 1: FLOCK ADVISORY READ 4711 08:01:123456 0 EOF
		if len(f) < 6 || f[1] != "FLOCK" || !strings.HasSuffix(f[5], ":"+strconv.FormatUint(stat.Ino, 10)) {
			continue
		}
		text := "benchmint"
		if argv, err := os.ReadFile("/proc/" + f[4] + "/cmdline"); err == nil && len(argv) > 0 {
			words := strings.Split(strings.TrimRight(string(argv), "\x00"), "\x00")
			words[0] = filepath.Base(words[0])
			text = strings.Join(words, " ")
		}
		out = append(out, fmt.Sprintf("%s (process %s)", text, f[4]))
	}
	if len(out) == 0 {
		return "another benchmint"
	}
	return strings.Join(out, ", ")
}
