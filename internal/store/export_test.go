package store

import (
	"context"
	"database/sql"
	"maps"
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

// traced are readers that note what they are asked.
type traced struct {
	*sql.DB
	asked map[string]bool
}

func (r traced) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	r.asked[query] = true
	return r.DB.QueryContext(ctx, query, args...)
}

// Trace notes what is read of s from now on, in one goroutine, for Plans.
func (s *Store) Trace() { s.readers = traced{s.readers.(*sql.DB), map[string]bool{}} }

// Plans are the query plans of every statement that s has run.
func (s *Store) Plans() (map[string]string, error) {
	out := map[string]string{}
	asked := maps.Clone(s.readers.(traced).asked)
	for query := range s.pinned.cache {
		asked[query] = true
	}
	for query := range asked {
		verb, _, _ := strings.Cut(strings.TrimSpace(query), " ")
		if !strings.Contains("SELECT UPDATE DELETE INSERT WITH", verb) {
			continue
		}
		err := s.read(context.Background(), func(r *sql.Rows) error {
			var id, parent, unused int
			var detail string
			err := r.Scan(&id, &parent, &unused, &detail)
			out[query] += detail + "\n"
			return err
		}, "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "$"))...)
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Rewrite changes what is stored of stages.
func (s *Store) Rewrite(ctx context.Context, infos map[string]string) error {
	return s.write(ctx, "begin", func(t *tx) {
		for name, info := range infos {
			t.exec("UPDATE stage SET info = $1 WHERE name = $2", info, name)
		}
	})
}
