package enginetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// look opens what a store left, past the package that wrote it. It is copied
// first: who looks must not repair what the next run has to.
func (e Engine) look() (db *sql.DB, done func() error, err error) {
	tmp, err := os.MkdirTemp(e.Dir, "look-")
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{"steps.db", "steps.db-wal"} {
		err := copyFile(filepath.Join(e.StorePath(), name), filepath.Join(tmp, name))
		if err != nil && !os.IsNotExist(err) {
			return nil, nil, errors.Join(err, os.RemoveAll(tmp))
		}
	}
	db, err = sql.Open("sqlite3", "file:"+filepath.Join(tmp, "steps.db"))
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(tmp))
	}
	return db, func() error { return errors.Join(db.Close(), os.RemoveAll(tmp)) }, nil
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// SettledIn reads which executions the store of an engine holds as settled for good.
func SettledIn(ctx context.Context, e Engine) (out map[Execution]bool, err error) {
	db, done, err := e.look()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	out = map[Execution]bool{}
	if there, err := hasTables(ctx, db); !there {
		return out, err
	}
	rows, err := db.QueryContext(ctx, "SELECT stage, key FROM step WHERE live AND key <> '' AND state IN ('done', 'rejected')")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var x Execution
		if err := rows.Scan(&x.Stage, &x.Key); err != nil {
			return nil, err
		}
		out[x] = true
	}
	return out, rows.Err()
}

// hasTables is false where the process was killed before it made any.
func hasTables(ctx context.Context, db *sql.DB) (bool, error) {
	var n int
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM step WHERE id = 0").Scan(&n)
	if err != nil && strings.Contains(err.Error(), "no such table") {
		return false, nil
	}
	return true, err
}

// Audit holds the books of a finished run against its steps: the tallies are what
// counting gives, nothing is open, nobody owns anything, the file is sound.
func Audit(ctx context.Context, e Engine) (err error) {
	db, done, err := e.look()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	counted, err := tally(ctx, db, `SELECT stage, state, CASE WHEN state IN ('rejected', 'failed', 'deferred') THEN reason ELSE '' END AS why, count(*)
		FROM step WHERE live GROUP BY stage, state, why`)
	if err != nil {
		return err
	}
	kept, err := tally(ctx, db, "SELECT stage, state, reason, n FROM tally WHERE n <> 0")
	if err != nil {
		return err
	}
	if diff := cmp.Diff(counted, kept); diff != "" {
		return fmt.Errorf("tallies (-counted +kept):\n%s", diff)
	}
	for _, line := range counted {
		for _, open := range []string{"ready", "running", "waiting", "deferred"} {
			if strings.Contains(line, " "+open+" ") {
				return fmt.Errorf("left open: %s", line)
			}
		}
	}
	var owned int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM step WHERE owner <> ''").Scan(&owned); err != nil || owned > 0 {
		return errors.Join(err, fmt.Errorf("%d steps with an owner", owned))
	}
	var sound string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check").Scan(&sound); err != nil || sound != "ok" {
		return errors.Join(err, fmt.Errorf("integrity: %s", sound))
	}
	return nil
}

func tally(ctx context.Context, db *sql.DB, query string) ([]string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]bool{}
	for rows.Next() {
		var stage, state, reason string
		var n int64
		if err := rows.Scan(&stage, &state, &reason, &n); err != nil {
			return nil, err
		}
		out[fmt.Sprintf("%s %s %s %d steps", stage, state, reason, n)] = true
	}
	return slices.Sorted(maps.Keys(out)), rows.Err()
}

// Running counts the steps that are somebody's.
func (e Engine) Running(ctx context.Context) (n int, err error) {
	db, done, err := e.look()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM step WHERE state = 'running' OR owner <> ''").Scan(&n)
	return n, err
}
