package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Leases count who uses the layers that are kept for their users only: goroutines
// of this process by number, other processes by a shared lock on a file of the
// layer's name. What a killed process held is free at once, and Sweep finds it.
//
// Take and Give are called under the lock of the layer (Lock), so that nobody
// begins to use what is just being freed.
type Leases struct {
	dir  string
	mu   sync.Mutex
	held map[string]*lease
}

type lease struct {
	users int
	file  *os.File
}

// NewLeases keeps its files under dir.
func NewLeases(dir string) *Leases { return &Leases{dir: dir, held: map[string]*lease{}} }

// Take adds a user.
func (l *Leases) Take(id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.held[id]; h != nil {
		h.users++
		return nil
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return fmt.Errorf("making the directory of leases: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(l.dir, id), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("leasing layer %s: %w", id, err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); err != nil {
		f.Close()
		return fmt.Errorf("leasing layer %s: %w", id, err)
	}
	l.held[id] = &lease{users: 1, file: f}
	return nil
}

// Give takes a user away; the last one, in any process, frees the layer. A layer
// that nobody leased is freed as well.
func (l *Leases) Give(id string, free func() error) error {
	l.mu.Lock()
	h := l.held[id]
	if h != nil && h.users > 1 {
		h.users--
		l.mu.Unlock()
		return nil
	}
	delete(l.held, id)
	l.mu.Unlock()
	var f *os.File
	if h != nil {
		f = h.file
	} else {
		var err error
		if f, err = os.OpenFile(filepath.Join(l.dir, id), os.O_RDWR, 0); errors.Is(err, fs.ErrNotExist) {
			return free()
		} else if err != nil {
			return fmt.Errorf("giving back layer %s: %w", id, err)
		}
	}
	_, err := l.last(f, id, free)
	return err
}

// last frees a layer unless another process uses it, and closes the file.
func (l *Leases) last(f *os.File, id string, free func() error) (freed bool, err error) {
	defer f.Close()
	switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("giving back layer %s: %w", id, err)
	}
	if err := free(); err != nil {
		return false, err
	}
	// The file goes last: as long as it is there, a sweep finds what is left.
	return true, os.Remove(f.Name())
}

// Sweep frees the layers whose users were killed. locks is where the locks of
// layers are. What is in use, or cannot be freed now, stays.
func (l *Leases) Sweep(ctx context.Context, locks string, free func(id string) error) (freed int) {
	entries, _ := os.ReadDir(l.dir) // none yet
	for _, e := range entries {
		id := e.Name()
		const patience = 10 * time.Millisecond
		soon, cancel := context.WithTimeout(ctx, patience)
		unlock, err := Lock(soon, locks, id)
		cancel()
		if err != nil {
			continue // it is being made or removed
		}
		if f, err := os.OpenFile(filepath.Join(l.dir, id), os.O_RDWR, 0); err == nil {
			if ok, _ := l.last(f, id, func() error { return free(id) }); ok {
				freed++
			}
		}
		unlock()
	}
	return freed
}
