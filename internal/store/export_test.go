package store

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"syscall"
)

// Share gives the lock's file to another descriptor, as a child has it between its
// fork and its exec.
func (s *Store) Share() (*os.File, error) {
	fd, err := syscall.Dup(int(s.lock.Fd()))
	return os.NewFile(uintptr(fd), "lock"), err
}

// Plans are the query plans of every statement that s has run, on SQLite.
func (s *Store) Plans() (map[string]string, error) {
	out := map[string]string{}
	var err error
	s.texts.Range(func(_, text any) bool {
		query := text.(string)
		verb, _, _ := strings.Cut(strings.TrimSpace(query), " ")
		if !strings.Contains("SELECT UPDATE DELETE INSERT WITH", verb) {
			return true
		}
		args := make([]any, strings.Count(query, "$"))
		err = s.read(context.Background(), func(r *sql.Rows) error {
			var id, parent, unused int
			var detail string
			err := r.Scan(&id, &parent, &unused, &detail)
			out[query] += detail + "\n"
			return err
		}, "EXPLAIN QUERY PLAN "+query, args[:]...)
		return err == nil
	})
	return out, err
}

// Rewrite changes what is stored of stages.
func (s *Store) Rewrite(ctx context.Context, infos map[string]string) error {
	return s.write(ctx, "begin", func(t *tx) {
		for name, info := range infos {
			t.exec("UPDATE stage SET info = $1 WHERE name = $2", info, name)
		}
	})
}
