package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/pipeline/enginetest"
)

func TestTable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		fill   func(*table)
		missed bool
	}{
		{"all_kept", func(t *table) { t.atLeast("faster", 3, 2); t.atMost("smaller", 1.1, 1.15) }, false},
		{"too_slow", func(t *table) { t.atLeast("faster", 1.9, 2) }, true},
		{"too_large", func(t *table) { t.atMost("smaller", 1.2, 1.15); t.atLeast("faster", 3, 2) }, true},
		{"figures_have_no_goal", func(t *table) { t.figure("seconds", "%.1f", 1000) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var tab table
			var text strings.Builder
			c.fill(&tab)
			if err := tab.print(&text); errors.Is(err, errMissed) != c.missed {
				t.Errorf("missed is %v, want %t:\n%s", err, c.missed, &text)
			}
		})
	}
}

// Every measurement, on a plan too small to say anything.
func TestMeasures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, err := enginetest.Compile(dir)
	if err != nil {
		t.Fatal(err)
	}
	b := bench{dir: filepath.Join(dir, "runs"), program: program, items: 250, settled: 250, runs: 1}
	for _, measure := range b.measures() {
		if err := measure(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.table.lines) < 12 {
		t.Errorf("only %d lines:\n%s", len(b.table.lines), strings.Join(b.table.lines, "\n"))
	}
}
