package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

// overridesNote is where a store keeps what was last written by hand, by digest.
const overridesNote = "overrides"

// readOverrides reads what was written by hand, before anything starts.
func (p *program) readOverrides(c *config.Config) (err error) {
	if p.written, err = config.ReadOverrides(c.Overrides); err != nil {
		return &ended{exitUsage, err}
	}
	return nil
}

// holdOverrides asks for the statement of each item again whose override has changed since
// the last run: of these alone. A worker takes part only where it has the same ones.
func (p *program) holdOverrides(ctx context.Context, s *store.Store, join bool) error {
	now := map[string]schemas.Digest{}
	for id, o := range p.written {
		now[id] = schemas.DigestOf(o)
	}
	was := map[string]schemas.Digest{}
	note, err := s.Note(overridesNote)
	if err != nil {
		return err
	}
	if note != "" {
		if err := json.Unmarshal([]byte(note), &was); err != nil {
			return fmt.Errorf("reading the note of overrides: %w", err)
		}
	}
	if maps.Equal(was, now) {
		return nil
	}
	if join {
		return unmet("overrides: this file is not what the run was begun with; a worker needs the same")
	}
	for _, id := range slices.Sorted(maps.Keys(merge(was, now))) {
		if was[id] == now[id] {
			continue
		}
		step, ok, err := s.Step(stages.Describe, id)
		if err != nil {
			return err
		}
		if !ok || step.State == schemas.StepHeld {
			continue // it is not that far
		}
		if err := s.Retry(stages.Describe, id); err != nil {
			return err
		}
	}
	b, err := json.Marshal(now)
	if err != nil {
		return err
	}
	// Last: what is broken off before asks for the same items once more.
	return s.SetNote(ctx, overridesNote, string(b))
}

func merge[K comparable, V any](a, b map[K]V) map[K]V {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// unusedOverrides says which IDs of the file no item has.
func (p *program) unusedOverrides(c *config.Config, s *store.Store) error {
	if len(p.written) == 0 {
		return nil
	}
	all, err := (&shelf{Store: s}).ids()
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(p.written)) {
		if !slices.Contains(all, id) {
			p.say("%s: no item is %s%s", c.Overrides, id, nearest.Hint(id, all))
		}
	}
	return nil
}

// writable are the reasons that a statement or an interface written by hand can mend.
var writable = []schemas.Reason{schemas.ThinStatement, schemas.NothingSaid, schemas.LeakyStatement, schemas.Uncovered, schemas.StatementForm}

// overrideOf is what a person may put into a file of overrides for an item, as YAML; nil
// for none.
func overrideOf(e explanation) []string {
	if !slices.Contains(writable, e.Reason) {
		return nil
	}
	lines := []string{e.ID + ":"}
	if e.Reason != schemas.Uncovered {
		return append(lines, "  statement: |", "    I want to …")
	}
	lines = append(lines, "  interface:")
	_, names, _ := strings.Cut(e.Detail, "gives: ")
	for _, name := range strings.Split(names, ", ") {
		if name != "" {
			lines = append(lines, "  - name: "+name, "    kind: function  # or class, variable, module …", "    signature: def "+name+"(…)")
		}
	}
	return lines
}
