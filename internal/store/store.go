// Package store keeps what is known of every step: one table that is both the truth and the queue, in a SQLite
// file, and the blobs beside it.
//
// The words:
//
//   - A step is one record at one stage, named by stage and key. It is ready, running, done, rejected, deferred or failed.
//   - To seed is to give the first stage its records; to claim is to take ready steps as their owner; to settle is to give
//     a claimed step its end and its outputs. Each output makes, or makes again, a step of the next stage.
//   - The fingerprint of a stage and the digest of a record say whether a settled step still holds. Where both are the
//     same it is not done again.
//   - A step is live while the step that it comes from still makes it; else it is withdrawn, with all below it, and its
//     result is kept in case that it comes back.
//   - A build is a step that many others need once, such as an environment; each of them names it as its share.
//   - The tally counts steps by stage, state and reason, so that nobody has to count the table.
//
// For example, "link acme__widget-12" is made by the step "harvest acme__widget", is claimed by a run, and is settled as
// done with the output acme__widget-12, which is a ready step of classify from then on; or it is settled as rejected with
// the reason link/no_tests, and nothing comes after it.
//
// The package never runs a stage, never reads a clock but the database's or one that it was given, and never holds up a
// reader: status and show work beside a run.
package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/pipeline"
)

// ErrLocked means that another run works on the store.
var ErrLocked = errors.New("another run works on this store")

// ErrDead is what a store answers after its Crash hook ended it.
var ErrDead = errors.New("the store's process died (by its crash hook)")

// Options open a store.
type Options struct {
	// Now is the clock by which waiting is measured against a budget; nil is the
	// database's.
	Now func() time.Time
	// Crash is asked before and after each commit ("settle/before"); an error ends
	// this handle as a death of the process would.
	Crash func(point string) error
}

// Store is a step table in a folder.
type Store struct {
	Blobs *blob.Store

	dir     string
	file    os.FileInfo // as it was opened; nil before there is one
	options Options
	db      *sql.DB // of the writer
	readers interface {
		querier
		Close() error
	}
	dead atomic.Bool
	lock *os.File

	writer sync.Mutex // of the one connection that writes
	pinned *prepared

	plan   atomic.Pointer[plan]
	worker atomic.Value // string: whose reservations are made here
	// spared is how many deaths make no suspect: 1 where steps are done on other machines, of which each
	// takes many bystanders with it when it dies.
	spared atomic.Int32
}

// Open opens the store at a folder, made where it is missing, and brings its tables up to
// date. ErrForeign.
func Open(ctx context.Context, dir string, o Options) (*Store, error) {
	s := &Store{options: o, dir: dir}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("opening store: %w", err)
	}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("opening store: %w", err), s.Close())
	}
	s.file, _ = os.Stat(filepath.Join(s.dir, sqliteFile)) // nil: nothing to compare with
	return s, nil
}

// there reports a file of steps that was taken away since it was opened: SQLite would go on
// writing to what nobody reads again.
func (s *Store) there() error {
	if s.file == nil {
		return nil
	}
	now, err := os.Stat(filepath.Join(s.dir, sqliteFile))
	if err == nil && !os.SameFile(now, s.file) {
		err = errors.New("it is another file than at the beginning")
	}
	if err != nil {
		return &pipeline.Halted{All: true, Err: fmt.Errorf("the store at %s is gone: %w", s.dir, err)}
	}
	return nil
}

// ErrBlobs is a folder of blobs that is not the one of the store.
var ErrBlobs = errors.New("is not the folder of blobs that this store was begun with")

// SameBlobs refuses a folder of blobs that is not the one of the store: every step would miss
// what others made. A store that knows of none takes the one that it is given. ErrBlobs.
func (s *Store) SameBlobs() error {
	have, err := s.Blobs.ID()
	if err != nil {
		return err
	}
	noted, err := s.Fix("blobs", "")
	if err != nil || noted != "" && noted == have {
		return err
	}
	if noted != "" {
		return fmt.Errorf("%s %w: mount it or put it back; without it begin anew with another store", s.Blobs.Dir(), ErrBlobs)
	}
	if have == "" {
		have = rand.Text()
		if err := s.Blobs.SetID(have); err != nil {
			return err
		}
	}
	_, err = s.Fix("blobs", have)
	return err
}

func (s *Store) open() (err error) {
	if err := Fit(s.dir); err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	if s.Blobs, err = blob.Open(filepath.Join(s.dir, blobsDir)); err != nil {
		return err
	}
	s.db, s.readers, err = openSQLite(s.dir)
	return err
}

// Exists reports whether there is a store at a folder without making one.
func Exists(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, sqliteFile))
	return err == nil && info.Mode().IsRegular()
}

// Close ends all connections and gives the lock back.
func (s *Store) Close() error {
	s.writer.Lock()
	defer s.writer.Unlock()
	var errs []error
	if s.pinned != nil {
		for _, p := range s.pinned.cache {
			errs = append(errs, p.Close())
		}
		errs = append(errs, s.pinned.conn.Close())
		s.pinned = nil
	}
	errs = append(errs, s.readers.Close(), s.db.Close())
	if s.lock != nil {
		errs = append(errs, unlockFile(s.lock))
		s.lock = nil
	}
	return errors.Join(errs...)
}

//go:embed migrations/*.sql
var migrations embed.FS

// migrate brings the tables to this program's version: one transaction each, the
// version last.
func (s *Store) migrate(ctx context.Context) error {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	slices.Sort(names)
	have, err := s.version(ctx)
	if err != nil {
		return err
	}
	if have > len(names) {
		return fmt.Errorf("the store is of version %d, and this program knows %d: a newer benchmint made it; install that, or give another folder with --store", have, len(names))
	}
	for i := have; i < len(names); i++ {
		text, err := migrations.ReadFile(names[i])
		if err != nil {
			return err
		}
		if err := s.write(ctx, "migrate", func(t *tx) { t.migrate(i+1, string(text)) }); err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
	}
	return nil
}

// version reads without writing: status works on a store that it may not change.
func (s *Store) version(ctx context.Context) (n int, err error) {
	if !Exists(s.dir) {
		return 0, nil
	}
	scan := func(r *sql.Rows) error { return r.Scan(&n) }
	if err := s.read(ctx, scan, "SELECT count(*) FROM sqlite_master WHERE name = 'version'"); err != nil || n == 0 {
		return 0, err
	}
	err = s.read(ctx, scan, "SELECT coalesce(max(version), 0) FROM version")
	return n, err
}

// migrate takes one step, unless another process took it meanwhile.
func (t *tx) migrate(version int, text string) {
	t.exec("CREATE TABLE IF NOT EXISTS version (version BIGINT PRIMARY KEY)")
	if n := one[int](t, "SELECT coalesce(max(version), 0) FROM version"); n >= version {
		return
	}
	for statement := range strings.SplitSeq(text, ";\n") {
		t.exec(statement)
	}
	t.exec("INSERT INTO version (version) VALUES ($1)", version)
}

// tx is one writing transaction. Its first error makes every later call do
// nothing, and the whole is rolled back.
type tx struct {
	s      *Store
	ctx    context.Context
	conn   *prepared
	err    error
	deltas map[tallyKey]tallySum
	drain  bool // something that the drain sees was changed
	dirty  bool // something was written
}

// tries bounds how often a transaction is repeated that met the one of another command.
const tries = 20

// write runs do in one transaction, again where it met another one; do must begin
// from scratch each time.
func (s *Store) write(ctx context.Context, op string, do func(*tx)) error {
	for n := 1; ; n++ {
		if err := s.once(ctx, op, do); err == nil || n == tries || !repeatable(err) {
			return away(err)
		}
	}
}

func (s *Store) once(ctx context.Context, op string, do func(*tx)) error {
	if s.dead.Load() {
		return ErrDead
	}
	if err := errors.Join(ctx.Err(), s.there()); err != nil {
		return err
	}
	// A statement takes microseconds and is not worth the goroutine that a cancellable
	// context costs.
	ctx = context.WithoutCancel(ctx)
	s.writer.Lock()
	defer s.writer.Unlock()
	if err := s.pin(ctx); err != nil {
		return err
	}
	if _, err := s.pinned.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	t := &tx{s: s, ctx: ctx, conn: s.pinned, deltas: map[tallyKey]tallySum{}}
	do(t)
	t.finish()
	if t.err == nil && t.dirty {
		t.err = s.crash(op + "/before")
	}
	if t.err == nil {
		_, t.err = t.conn.ExecContext(ctx, "COMMIT")
	}
	if t.err != nil {
		_, back := t.conn.ExecContext(ctx, "ROLLBACK") // also of a commit: a disk that is full leaves it open
		return errors.Join(t.err, back)
	}
	if t.dirty {
		return s.crash(op + "/after")
	}
	return nil
}

// crash asks the hook whether the process dies here.
func (s *Store) crash(point string) error {
	if s.options.Crash == nil {
		return nil
	}
	if err := s.options.Crash(point); err != nil {
		s.dead.Store(true)
		return fmt.Errorf("%w at %s: %w", ErrDead, point, err)
	}
	return nil
}

func (s *Store) pin(ctx context.Context) error {
	if s.pinned != nil {
		return nil
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	s.pinned = &prepared{conn: conn, cache: map[string]*sql.Stmt{}}
	return nil
}

// exec runs a statement and says how many rows it changed.
func (t *tx) exec(query string, args ...any) int64 {
	if t.err != nil {
		return 0
	}
	res, err := t.conn.ExecContext(t.ctx, query, args...)
	if err != nil {
		t.err = err
		return 0
	}
	n, err := res.RowsAffected()
	t.err = err
	t.dirty = t.dirty || n > 0
	return n
}

// each reads rows; scan is called for each of them before the next statement.
func (t *tx) each(scan func(*sql.Rows) error, query string, args ...any) {
	if t.err == nil {
		t.err = each(t.ctx, t.conn, scan, query, args...)
	}
}

// change is each for a statement that writes and returns.
func (t *tx) change(scan func(*sql.Rows) error, query string, args ...any) {
	t.each(func(r *sql.Rows) error {
		t.dirty = true
		return scan(r)
	}, query, args...)
}

func each(ctx context.Context, on querier, scan func(*sql.Rows) error, query string, args ...any) (err error) {
	rows, err := on.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// one reads one value; the zero value where there is no row.
func one[T any](t *tx, query string, args ...any) (v T) {
	t.each(func(r *sql.Rows) error { return r.Scan(&v) }, query, args...)
	return v
}

// read is each outside of a transaction, on the readers.
func (s *Store) read(ctx context.Context, scan func(*sql.Rows) error, query string, args ...any) error {
	if s.dead.Load() {
		return ErrDead
	}
	return away(each(ctx, s.readers, scan, query, args...))
}

// places is "$from, …, $from+n-1".
func places(from, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d", from+i)
	}
	return b.String()
}

// millis and moment are how times are stored.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
