package main

import (
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
)

// leftByLabel are the steps of a store whose label filter left out two fixes.
type leftByLabel []schemas.Step

func (l leftByLabel) Steps(string) ([]schemas.Step, error) { return l, nil }

// TestWidens: each filter that left something out is advised once. With the setting that was
// advised, no closing line advises it again, and explain says that it lets the item through.
func TestWidens(t *testing.T) {
	t.Parallel()
	narrow := []string{"filters.max_source_lines=1", "filters.min_releases=1", "filters.licences=MIT", "service.min_endpoints=2"}
	for _, w := range widens {
		for _, reason := range w.reasons {
			left := schemas.Step{Stage: stages.Classify, State: schemas.StepRejected, Reason: reason, Detail: "fix: its heading"}
			end := pipeline.Summary{Stages: []pipeline.Count{{Stage: stages.Classify, Rejected: map[schemas.Reason]int{reason: 2}}}}
			before := set(t, narrow...)
			advised, err := filters(before, end, leftByLabel{left, left})
			if err != nil || len(advised) != 1 || advised[0].key != w.key || len(advised[0].ways) != 1 {
				t.Fatalf("%s: %+v, %v", reason, advised, err)
			}
			if key := letThrough(before, left); key != "" {
				t.Errorf("%s: %s lets it through before it is set", reason, key)
			}
			after := set(t, append(narrow, advised[0].ways[0].set)...)
			if key := letThrough(after, left); key != w.key && !w.shared {
				t.Errorf("%s: explain still advises what is set: %q", reason, key)
			}
			if w.key == labelsKey {
				continue // what is left out now has another label
			}
			if again, err := filters(after, end, leftByLabel{left}); err != nil || len(again) != 0 {
				t.Errorf("%s: %s is advised though it is set: %+v, %v", reason, advised[0].ways[0].set, again, err)
			}
		}
	}
}

// set is a configuration with settings as --set gives them.
func set(t *testing.T, settings ...string) *config.Config {
	t.Helper()
	in := config.Input{Sources: []string{"."}}
	for _, s := range settings {
		key, value, _ := strings.Cut(s, "=")
		in.Flags = append(in.Flags, config.Setting{Key: key, Value: value})
	}
	c, err := config.Load(in)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
