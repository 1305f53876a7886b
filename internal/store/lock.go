package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// Lock makes this process the only one that runs on the store, until it ends or
// Close. ErrLocked. Who joins a run takes no lock.
func (s *Store) Lock() error {
	if s.dir == "" {
		return s.lockSession(context.Background())
	}
	if s.lock != nil {
		return nil
	}
	return outlive(func() (err error) {
		s.lock, err = lockFile(s.dir)
		return err
	})
}

// lockPatience is how long the lock of a process may outlive it: a server has to
// notice first, and a child that it was about to start has the file until then.
const lockPatience = time.Second

// outlive tries to lock for as long as that.
func outlive(lock func() error) error {
	const tries = 10
	for try := 1; ; try++ {
		if err := lock(); !errors.Is(err, ErrLocked) || try == tries {
			return err
		}
		time.Sleep(lockPatience / tries)
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

// sessionLock is a lock of the server that a connection has which is kept for it:
// it is free as soon as that connection is gone, however the process ended.
type sessionLock struct {
	mu     sync.Mutex
	wanted bool
	conn   *sql.Conn // nil where it was lost
}

// sessionKey names the lock of one store among all of a database: by its table,
// which has a number of its own.
const sessionKey = "(7264002, CAST(CAST(CAST('version' AS regclass) AS oid) AS int4))"

func (s *Store) lockSession(ctx context.Context) error {
	l := &s.session
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wanted {
		return nil
	}
	err := outlive(func() error { return s.hold(ctx) })
	l.wanted = err == nil
	return err
}

// hold takes the lock on a connection of its own.
func (s *Store) hold(ctx context.Context) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("locking store: %w", err)
	}
	got := false
	// A machine that lost its power says no goodbye; left alone, the server would
	// hold its lock for hours.
	const alive = "SELECT set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '3', false)"
	if _, err = conn.ExecContext(ctx, alive); err == nil {
		err = conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock"+sessionKey).Scan(&got)
	}
	switch {
	case err != nil:
		return errors.Join(fmt.Errorf("locking store: %w", err), conn.Close())
	case !got:
		return errors.Join(ErrLocked, conn.Close())
	}
	s.session.conn = conn
	return nil
}

// keepLock takes the lock again where its connection broke; another run may have it
// by now.
func (s *Store) keepLock(ctx context.Context) error {
	l := &s.session
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.wanted {
		return nil
	}
	if l.conn != nil {
		_, err := l.conn.ExecContext(ctx, "SELECT 1")
		if err == nil || ctx.Err() != nil {
			return err
		}
		_ = l.conn.Close() // it is broken already
		l.conn = nil
	}
	return s.hold(ctx)
}

// unlock gives the lock back before the connection ends: the server would do so a
// little after it.
func (s *Store) unlock() error {
	l := &s.session
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return nil
	}
	_, err := l.conn.ExecContext(context.Background(), "SELECT pg_advisory_unlock"+sessionKey)
	if cutOff(err) {
		err = nil // and so is the lock
	}
	err = errors.Join(err, l.conn.Close())
	l.conn, l.wanted = nil, false
	return err
}
