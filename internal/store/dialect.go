package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/mattn/go-sqlite3"

	"github.com/benchmint/benchmint/pipeline"
)

// dialect is all that differs between the databases: words in braces in the one
// text of SQL.
type dialect struct {
	words  *strings.Replacer
	shards int64 // of the tally
}

var sqlite = dialect{
	shards: 1,
	words: strings.NewReplacer(
		"{id}", "INTEGER PRIMARY KEY",
		"{bytes}", "",
		"{lock}", "", "{share}", "", "{skip}", "", // one writer: nothing to lock
		"{now}", "CAST(unixepoch('subsec') * 1000 AS BIGINT)",
	),
}

var postgres = dialect{
	shards: 64, // one hot row would order all commits
	words: strings.NewReplacer(
		"{id}", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
		"{bytes}", `COLLATE "C"`, // keys are in the order of their bytes, as in Go
		"{lock}", "FOR UPDATE", "{share}", "FOR SHARE", "{skip}", "FOR UPDATE SKIP LOCKED",
		"{now}", "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)",
	),
}

// Damaged reports whether an error is that of a file which is not a database, or not a
// whole one.
func Damaged(err error) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && (e.Code == sqlite3.ErrCorrupt || e.Code == sqlite3.ErrNotADB)
}

// away marks what is a fault of the machine and of no step: a disk that is full or broken, a
// file that is gone, locked or not to be written, a server that does not come back.
func away(err error) error {
	var e sqlite3.Error
	codes := []sqlite3.ErrNo{sqlite3.ErrFull, sqlite3.ErrIoErr, sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrPerm, sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrCorrupt, sqlite3.ErrNotADB}
	if err != nil && (errors.As(err, &e) && slices.Contains(codes, e.Code) || cutOff(err)) {
		return &pipeline.Halted{All: true, Err: err}
	}
	return err
}

// isPostgres recognises a location that is not a folder.
func isPostgres(location string) bool {
	return strings.HasPrefix(location, "postgres://") || strings.HasPrefix(location, "postgresql://")
}

// sqliteName is the file as a URI, with the settings of a connection.
func sqliteName(dir string, settings url.Values) string {
	u := url.URL{Path: filepath.ToSlash(filepath.Join(dir, sqliteFile))}
	return "file:" + u.EscapedPath() + "?" + settings.Encode()
}

const sqliteFile = "steps.db"

// openSQLite opens the one writer and the readers. Readers need settings of their
// own: an immediate transaction on a read-only handle fails.
func openSQLite(dir string) (writer, readers *sql.DB, err error) {
	both := url.Values{"_busy_timeout": {"10000"}}
	w, r := url.Values{}, url.Values{}
	for k, v := range both {
		w[k], r[k] = v, v
	}
	w.Set("_journal_mode", "WAL")
	w.Set("_synchronous", "FULL") // a power cut loses no answer that was paid for
	r.Set("mode", "ro")
	r.Set("_query_only", "true")
	if writer, err = sql.Open("sqlite3", sqliteName(dir, w)); err != nil {
		return nil, nil, err
	}
	if readers, err = sql.Open("sqlite3", sqliteName(dir, r)); err != nil {
		return nil, nil, errors.Join(err, writer.Close())
	}
	writer.SetMaxOpenConns(1)
	readers.SetMaxOpenConns(4)
	return writer, readers, nil
}

// idle bounds how long a transaction of ours may do nothing: a process that is
// frozen in the middle of one holds locks that keep its steps from being taken back.
const idle = "10s"

func openPostgres(location string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(location)
	if err != nil {
		return nil, err
	}
	const setting = "idle_in_transaction_session_timeout"
	if config.RuntimeParams[setting] == "" {
		config.RuntimeParams[setting] = idle
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	return db, nil
}

// repeatable recognises errors after which the same transaction may be tried again:
// deadlock, serialization, a database that another process has locked.
func repeatable(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "40P01" || pg.Code == "40001"
	}
	var lite sqlite3.Error
	return errors.As(err, &lite) && (lite.Code == sqlite3.ErrBusy || lite.Code == sqlite3.ErrLocked)
}

// execer is a connection, a transaction or a pool.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// prepared keeps the statements of SQLite's one writer, which the driver would
// parse anew each time. pgx keeps its own.
type prepared struct {
	conn  *sql.Conn
	cache map[string]*sql.Stmt
}

func (p *prepared) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if s := p.cache[query]; s != nil {
		return s, nil
	}
	s, err := p.conn.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%w in %s", err, query)
	}
	p.cache[query] = s
	return s, nil
}

func (p *prepared) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := p.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args...)
}

func (p *prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	s, err := p.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args...)
}

// cutOff recognises a connection that is gone, or that cannot be had yet: the server was
// started again, closed an idle transaction, or the network broke.
func cutOff(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		const administration, connection = "57P", "08"
		return strings.HasPrefix(pg.Code, administration) || pg.Code == idleTransaction || strings.HasPrefix(pg.Code, connection)
	}
	var connect *pgconn.ConnectError
	var network *net.OpError
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.As(err, &connect) || errors.As(err, &network) || pgconn.SafeToRetry(err)
}

// idleTransaction is the code with which a server ends a transaction in which
// nothing was asked for too long.
const idleTransaction = "25P03"

// undone recognises a commit over which the connection was lost, and which the server
// cannot have done: nothing of it was sent, or it had ended the transaction before.
func undone(err error) bool {
	var pg *pgconn.PgError
	return pgconn.SafeToRetry(err) || errors.As(err, &pg) && pg.Code == idleTransaction
}
