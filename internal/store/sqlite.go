package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/mattn/go-sqlite3"

	"github.com/benchmint/benchmint/pipeline"
)

// Damaged reports whether an error is that of a file which is not a database, or not a
// whole one.
func Damaged(err error) bool { return isCode(err, sqlite3.ErrCorrupt, sqlite3.ErrNotADB) }

// away marks what is a fault of the machine and of no step: a disk that is full or broken, a
// file that is gone, locked or not to be written.
func away(err error) error {
	if isCode(err, sqlite3.ErrFull, sqlite3.ErrIoErr, sqlite3.ErrReadonly, sqlite3.ErrCantOpen, sqlite3.ErrPerm, sqlite3.ErrBusy, sqlite3.ErrLocked, sqlite3.ErrCorrupt, sqlite3.ErrNotADB) {
		return &pipeline.Halted{All: true, Err: err}
	}
	return err
}

// repeatable recognises errors after which the same transaction may be tried again: another
// command has locked the database.
func repeatable(err error) bool { return isCode(err, sqlite3.ErrBusy, sqlite3.ErrLocked) }

func isCode(err error, codes ...sqlite3.ErrNo) bool {
	var e sqlite3.Error
	return errors.As(err, &e) && slices.Contains(codes, e.Code)
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

// querier is the writer's connection, or the readers.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// prepared keeps the statements of the one writer, which the driver would parse anew
// each time.
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
