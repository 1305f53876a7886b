package store

import (
	"context"
	"database/sql"

	"github.com/benchmint/benchmint/pipeline"
)

func (t *tx) unreserve(worker string) {
	t.exec(`UPDATE resource SET reserved = reserved - (SELECT amount FROM reservation v WHERE v.worker = $1 AND v.resource = resource.name)
		WHERE EXISTS (SELECT 1 FROM reservation v WHERE v.worker = $1 AND v.resource = resource.name)`, worker)
	t.exec("DELETE FROM reservation WHERE worker = $1", worker)
}

// Leave ends a run in good order: what it still has is given back and
// counts as no death.
func (s *Store) Leave(ctx context.Context, worker string) error {
	return s.write(ctx, "leave", func(t *tx) {
		t.release(t.load("state = 'running' AND owner = $1 ORDER BY id", worker), worker)
		t.unreserve(worker)
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
