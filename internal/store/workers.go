package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/benchmint/benchmint/pipeline"
)

// On SQLite there is one process, which holds the file's lock: nobody asks for its
// beats, and none are written.

func (s *Store) register(ctx context.Context, w pipeline.Worker) error {
	if s.dir != "" {
		return nil
	}
	return s.write(ctx, "register", func(t *tx) { t.beat(w) })
}

func (t *tx) beat(w pipeline.Worker) {
	t.exec(`INSERT INTO worker (id, host, beat) VALUES ($1, $2, {now}) ON CONFLICT (id) DO UPDATE SET beat = excluded.beat`, w.ID, w.Host)
}

// Beat says that a worker lives, and takes back the steps of those that have been
// silent for so long, all by the database's clock (engine, 10).
func (s *Store) Beat(ctx context.Context, worker string, silent time.Duration) (rescued int, err error) {
	if s.dir != "" {
		return 0, nil
	}
	if err := s.keepLock(ctx); err != nil {
		return 0, err
	}
	err = s.write(ctx, "beat", func(t *tx) {
		t.beat(pipeline.Worker{ID: worker})
		rescued = 0
		for _, dead := range t.silent(worker, silent) {
			rescued += t.rescue(dead)
		}
	})
	return rescued, err
}

// silent locks the workers that are taken for dead; another process may be at the
// same ones. An owner of running steps without a row was taken for dead before.
func (t *tx) silent(but string, silent time.Duration) []string {
	var out []string
	scan := func(r *sql.Rows) error {
		var id string
		err := r.Scan(&id)
		out = append(out, id)
		return err
	}
	t.each(scan, "SELECT id FROM worker WHERE id <> $1 AND beat < {now} - $2 ORDER BY id {skip}", but, silent.Milliseconds())
	t.each(scan, `SELECT DISTINCT owner FROM step WHERE state = 'running' AND owner <> $1
		AND NOT EXISTS (SELECT 1 FROM worker w WHERE w.id = step.owner) ORDER BY owner`, but)
	return out
}

// rescue takes back what a dead worker had: its steps, and its money.
func (t *tx) rescue(worker string) int {
	rows := t.load("state = 'running' AND owner = $1 ORDER BY id {skip}", worker)
	t.crashed(rows, false)
	t.unreserve(worker)
	t.exec("DELETE FROM worker WHERE id = $1", worker)
	return len(rows)
}

func (t *tx) unreserve(worker string) {
	t.exec(`UPDATE resource SET reserved = reserved - (SELECT amount FROM reservation v WHERE v.worker = $1 AND v.resource = resource.name)
		WHERE EXISTS (SELECT 1 FROM reservation v WHERE v.worker = $1 AND v.resource = resource.name)`, worker)
	t.exec("DELETE FROM reservation WHERE worker = $1", worker)
}

// Leave ends a worker's part in good order: what it still has is given back and
// counts as no death.
func (s *Store) Leave(ctx context.Context, worker string) error {
	return s.write(ctx, "leave", func(t *tx) {
		t.release(t.load("state = 'running' AND owner = $1 ORDER BY id {lock}", worker), worker)
		t.unreserve(worker)
		t.exec("DELETE FROM worker WHERE id = $1", worker)
	})
}

// Running are the steps that are being done, as stage and key, in this order; after a
// process that died, those that the next run takes back.
func (s *Store) Running(ctx context.Context) ([]pipeline.Running, error) {
	var out []pipeline.Running
	err := s.read(ctx, func(r *sql.Rows) error {
		var x pipeline.Running
		err := r.Scan(&x.Stage, &x.Key)
		out = append(out, x)
		return err
	}, "SELECT stage, key FROM step WHERE state = 'running' ORDER BY stage, key")
	return out, err
}

// Workers are the processes that are registered, by ID.
func (s *Store) Workers(ctx context.Context) ([]pipeline.Worker, error) {
	var out []pipeline.Worker
	err := s.read(ctx, func(r *sql.Rows) error {
		var w pipeline.Worker
		var beat int64
		err := r.Scan(&w.ID, &w.Host, &beat)
		w.Beat = moment(beat)
		out = append(out, w)
		return err
	}, "SELECT id, host, beat FROM worker ORDER BY id")
	return out, err
}
