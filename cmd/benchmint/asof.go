package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/store"
)

// asOfNote is where a store keeps up to when its sources were read: the day of as_of, or the
// time at which a run without one began. Later ones sort after earlier ones.
const asOfNote = "as_of"

// noteAsOf notes up to when a run reads its sources.
func (s *session) noteAsOf(ctx context.Context) error {
	return s.store.SetNote(ctx, asOfNote, cmp.Or(s.config.AsOf.String(), s.now().UTC().Format(time.RFC3339)))
}

// asOf is the as_of that the last run over a store had.
func asOf(s *store.Store) (config.Date, error) {
	noted, err := s.Note(asOfNote)
	if err != nil || len(noted) != len(time.DateOnly) {
		return config.Date{}, err
	}
	return config.ParseDate(noted)
}

// forward refuses to read sources as they stood before the store has read them: what it holds
// knows of later tags, notes and pull requests.
func (p *program) forward(ctx context.Context, c *config.Config) (err error) {
	if c.AsOf.IsZero() || !store.Exists(c.Store) {
		return nil
	}
	s, err := openShelf(ctx, p.world, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	noted, err := s.Note(asOfNote)
	if err != nil {
		return err
	}
	tallies, err := s.Tallies(ctx)
	switch began := noted != "" || len(tallies) > 0; {
	case err != nil:
		return err
	case began && noted == "":
		noted = "a day that it does not name"
	case !began || c.AsOf.String() >= noted:
		return nil
	}
	return unmet("as_of: the store at %s has read its sources up to %s, and cannot go back to %s; give that day a store of its own (--store FOLDER --output FOLDER)", c.Store, noted, c.AsOf)
}
