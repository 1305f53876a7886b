package main

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/bench/internal/table"
	"github.com/benchmint/benchmint/pipeline/enginetest"
)

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
	var text strings.Builder
	if err := b.table.Print(&text); err != nil && !errors.Is(err, table.ErrMissed) || strings.Count(text.String(), "\n") < 12 {
		t.Errorf("%v, and not 12 lines:\n%s", err, &text)
	}
}
