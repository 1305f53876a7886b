// Package postgrestest starts a private PostgreSQL for tests and gives each of
// them a schema of its own.
//
// It never uses a server that it did not start, never listens on a network, and
// never outlives the test process.
package postgrestest

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
)

// cluster is the one server of this test process.
type cluster struct {
	dir  string
	stop func()
	err  error
	n    atomic.Int64
}

var (
	once   sync.Once
	shared = &cluster{}
)

// Location gives a test the address of an empty schema. Without the server's
// programs the test is skipped.
func Location(t testing.TB) string {
	t.Helper()
	once.Do(func() { shared.err = shared.start() })
	if errors.Is(shared.err, errMissing) {
		t.Skipf("SKIPPED, nothing is proved for PostgreSQL: %v", shared.err)
	}
	if shared.err != nil {
		t.Fatalf("starting PostgreSQL: %v", shared.err)
	}
	name := fmt.Sprintf("t%d", shared.n.Add(1))
	if err := shared.exec("CREATE SCHEMA " + name); err != nil {
		t.Fatal(err)
	}
	return shared.location(name)
}

// Main runs a package's tests and stops the server after them: for TestMain.
func Main(m *testing.M) int {
	code := m.Run()
	if shared.stop != nil {
		shared.stop()
	}
	return code
}

var errMissing = errors.New("initdb and postgres are not installed")

// programs finds a server's folder: the path first, then where Debian and others
// keep several versions.
func programs() (string, error) {
	if p, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(p), nil
	}
	var found []string
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin/initdb", "/usr/pgsql-*/bin/initdb", "/opt/homebrew/opt/postgresql@*/bin/initdb"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		found = append(found, names...)
	}
	if len(found) == 0 {
		return "", errMissing
	}
	slices.Sort(found)
	return filepath.Dir(found[len(found)-1]), nil
}

// account is who the server runs as: it refuses root.
func account() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("no account but root's to run it")
}

func (c *cluster) start() error {
	bin, err := programs()
	if err != nil {
		return err
	}
	as, err := account()
	if err != nil {
		return err
	}
	// Not t.TempDir: a socket's path must be short.
	if c.dir, err = os.MkdirTemp("", "pg"); err != nil {
		return err
	}
	if as != nil {
		if err := os.Chown(c.dir, int(as.Uid), int(as.Gid)); err != nil {
			return err
		}
	}
	data := filepath.Join(c.dir, "data")
	attr := &syscall.SysProcAttr{Credential: as, Setpgid: true}
	initdb := exec.Command(filepath.Join(bin, "initdb"), "-D", data, "-A", "trust", "-U", "benchmint", "-E", "UTF8", "--locale=C", "--no-sync")
	initdb.Dir, initdb.SysProcAttr = c.dir, attr
	if out, err := initdb.CombinedOutput(); err != nil {
		return errors.Join(fmt.Errorf("initdb: %w: %s", err, out), os.RemoveAll(c.dir))
	}
	server := exec.Command(filepath.Join(bin, "postgres"), "-D", data, "-k", c.dir, "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "max_connections=200", "-c", "shared_buffers=64MB", "-c", "deadlock_timeout=100ms")
	var log bytes.Buffer
	server.Dir, server.Stdout, server.Stderr = c.dir, &log, &log
	server.SysProcAttr = &syscall.SysProcAttr{Credential: as, Setpgid: true, Pdeathsig: syscall.SIGQUIT}
	ended := make(chan struct{})
	var end error
	started := make(chan error, 1)
	go func() {
		// The signal of a parent's death comes when the thread ends that started it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := server.Start()
		started <- err
		if err == nil {
			end = server.Wait()
			close(ended)
		}
	}()
	if err := <-started; err != nil {
		return errors.Join(err, os.RemoveAll(c.dir))
	}
	c.stop = func() {
		_ = server.Process.Signal(syscall.SIGQUIT) // at once: nothing of it is kept
		<-ended
		_ = os.RemoveAll(c.dir)
	}
	return c.await(ended, func() error { return fmt.Errorf("the server ended: %w: %s", end, &log) })
}

// await returns when the server answers.
func (c *cluster) await(ended <-chan struct{}, why func() error) error {
	for range 300 {
		select {
		case <-ended:
			return why()
		case <-time.After(100 * time.Millisecond):
		}
		if c.exec("SELECT 1") == nil {
			return nil
		}
	}
	return errors.New("the server does not answer")
}

func (c *cluster) location(schema string) string {
	q := url.Values{"host": {c.dir}, "search_path": {schema}}
	return "postgres://benchmint@/postgres?" + q.Encode()
}

func (c *cluster) exec(query string) (err error) {
	db, err := sql.Open("pgx", c.location("public"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.Exec(query)
	return err
}
