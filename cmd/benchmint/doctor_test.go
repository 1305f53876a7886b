package main

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
)

// TestRecount: doctor says that a tally is not what the steps add up to.
func TestRecount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Open(t.Context(), dir, store.Options{})
	check(err)
	defer func() { _ = s.Close() }()
	check(s.Begin(t.Context(), pipeline.BeginOptions{Stages: []pipeline.StageInfo{{Name: "export", Drain: true}}}))
	db, err := sql.Open("sqlite3", filepath.Join(dir, "steps.db"))
	check(err)
	defer func() { _ = db.Close() }()
	for _, want := range []struct{ change, state, detail string }{
		{"SELECT 1", stateOK, "1 step counted, as the tallies say"},
		{"UPDATE tally SET n = n + 1", stateWrong, "1 line of the tally off, as export ready: 2 in the tally, 1 counted"},
	} {
		_, err := db.ExecContext(t.Context(), want.change)
		check(err)
		state, detail, err := recount(t.Context(), s)
		check(err)
		if state != want.state || detail != want.detail {
			t.Errorf("%s: %s, %q; want %s, %q", want.change, state, detail, want.state, want.detail)
		}
	}
}
