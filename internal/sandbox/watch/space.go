package watch

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// The floor is the room that is left free on the file system of a sandbox: nothing is
// started below it, and what ran while there was less is a fault of the machine, because
// a test that fails on a full disk looks as one that fails. It is a twentieth of the
// file system, and no more than 512 MiB: a disk of a terabyte needs no 50 GB for this,
// and a small tmpfs can be used at all.
const (
	floorPart = 20
	floorMost = 512 << 20
	// Files run out as bytes do, where a file system counts them.
	filesPart = 100
	filesMost = 1000
)

// near is so little room that a command can have filled it between two looks and
// removed it again: then its own words on a full disk are believed.
const near = 1 << 30

// spacePace is how often the room is looked at: one system call of about a microsecond.
const spacePace = 5 * time.Millisecond

// Space watches the room of one file system while something runs. A nil Space
// watches nothing: the disk of an engine on another machine cannot be seen.
type Space struct {
	dir string

	mu    sync.Mutex
	least room
}

// room is what a file system has and had.
type room struct{ free, total, files, allFiles int64 }

func (r room) floor() int64 { return min(floorMost, r.total/floorPart) }

func (r room) short() bool {
	return r.free < r.floor() || r.allFiles > 0 && r.files < min(filesMost, r.allFiles/filesPart)
}

func look(dir string) (room, bool) {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return room{}, false
	}
	return room{
		free: int64(st.Bavail) * st.Bsize, total: int64(st.Blocks) * st.Bsize, files: int64(st.Ffree), allFiles: int64(st.Files),
	}, true
}

// NewSpace is the watch over the file system of dir; below the floor it is a
// *sandbox.ShortageError, and nothing should be started.
func NewSpace(dir string) (*Space, error) {
	s := &Space{dir: dir}
	if r, ok := look(dir); ok {
		s.least = r
	}
	err := s.Short()
	var short *sandbox.ShortageError
	if errors.As(err, &short) {
		short.Before = true
	}
	return s, err
}

// Watch looks until done is closed, and calls stop once when the room is below the floor.
func (s *Space) Watch(done <-chan struct{}, stop func()) {
	if s == nil {
		return
	}
	ticks := time.NewTicker(spacePace)
	defer ticks.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticks.C:
		}
		if s.look().short() {
			stop()
			return
		}
	}
}

func (s *Space) look() room {
	r, ok := look(s.dir)
	s.mu.Lock()
	defer s.mu.Unlock()
	if ok && (r.free < s.least.free || r.files < s.least.files) {
		s.least.free, s.least.files = min(r.free, s.least.free), min(r.files, s.least.files)
	}
	return s.least
}

// full are the words of a system call that found no room, in the forms of C, Python,
// Rust and Node.
var full = [][]byte{[]byte("No space left on device"), []byte("[Errno 28]"), []byte("os error 28"), []byte("ENOSPC:")}

// Short is a *sandbox.ShortageError where the room was below the floor at any look, or
// where there was little and the command says that there was none. said is all that
// came back from the command.
func (s *Space) Short(said ...[]byte) error {
	if s == nil {
		return nil
	}
	least := s.look()
	const mib = 1 << 20
	short := &sandbox.ShortageError{Of: "disk", Where: s.dir, Get: sandbox.MoreDisk}
	switch {
	case least.total == 0:
		return nil // not to be seen
	case least.free < least.floor():
		short.Why = fmt.Sprintf("%d MiB were free, and %d MiB have to stay free", least.free/mib, least.floor()/mib)
		return short
	case least.short():
		short.Of, short.Why = "files", fmt.Sprintf("it can hold %d more, of %d", least.files, least.allFiles)
		return short
	case least.free > near:
		return nil
	}
	for _, text := range said {
		for _, word := range full {
			if bytes.Contains(text, word) {
				short.Why = fmt.Sprintf("%d MiB were free, and the command says %q", least.free/mib, word)
				return short
			}
		}
	}
	return nil
}
