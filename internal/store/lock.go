package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Lock makes this process the only one that runs on the store, until it ends or
// Close. ErrLocked.
func (s *Store) Lock() (err error) {
	if s.lock != nil {
		return nil
	}
	// The lock of a process may outlive it: a child that it was about to start has the
	// file until then.
	const patience, tries = time.Second, 10
	for try := 1; ; try++ {
		if s.lock, err = lockFile(s.dir); !errors.Is(err, ErrLocked) || try == tries {
			return err
		}
		time.Sleep(patience / tries)
	}
}

// lockName is the file that a run has locked.
const lockName = "lock"

// lockFile takes the lock that lies beside a store.
func lockFile(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking store: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w", dir, ErrLocked)
		}
		return nil, fmt.Errorf("locking store: %w", err)
	}
	return f, nil
}

// unlockFile gives the lock back although a child that is being started has the
// file as well.
func unlockFile(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}
