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

// handwritten is what somebody wrote by hand, by instance ID.
type handwritten map[string]schemas.Override

// read reads a file of it, before anything starts.
func (h *handwritten) read(file string) (err error) {
	if *h, err = config.ReadOverrides(file); err != nil {
		return &ended{exitUsage, err}
	}
	return nil
}

// retryChanged asks for the statement of each item again whose override has changed since
// the last run: of these alone.
func (h handwritten) retryChanged(ctx context.Context, s *store.Store) error {
	now := map[string]schemas.Digest{}
	for id, o := range h {
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

// unused are those whose IDs no item of a store has, each with a hint at what was meant.
func (h handwritten) unused(s *store.Store) (ids []string, err error) {
	if len(h) == 0 {
		return nil, nil
	}
	all, err := (&shelf{Store: s}).ids()
	for _, id := range slices.Sorted(maps.Keys(h)) {
		if !slices.Contains(all, id) {
			ids = append(ids, id+nearest.Hint(id, all))
		}
	}
	return ids, err
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
