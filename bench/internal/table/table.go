// Package table prints what the benches measured: figures, some of them held against
// a goal.
//
// It never measures, and never judges by anything but the goal that it is given.
package table

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// ErrMissed is a goal that was not reached: everything was measured.
var ErrMissed = errors.New("a goal was missed")

// Table is what is printed; the zero Table is empty.
type Table struct {
	lines  []string
	missed bool
}

// Row adds a line as it is.
func (t *Table) Row(cells ...string) { t.lines = append(t.lines, strings.Join(cells, "\t")+"\t") }

// AtLeast adds a figure that is to reach a goal.
func (t *Table) AtLeast(name string, got, goal float64) {
	t.Row(name, fmt.Sprintf("%.3g", got), fmt.Sprintf("goal ≥ %g  %s", goal, t.Kept(got >= goal)))
}

// AtMost adds a figure that may not pass a goal.
func (t *Table) AtMost(name string, got, goal float64) {
	t.Row(name, fmt.Sprintf("%.3g", got), fmt.Sprintf("goal ≤ %g  %s", goal, t.Kept(got <= goal)))
}

// Kept is the word for a goal, and remembers one that was missed.
func (t *Table) Kept(kept bool) string {
	if kept {
		return "kept"
	}
	t.missed = true
	return "MISSED"
}

// Print writes all lines; ErrMissed.
func (t *Table) Print(w io.Writer) error {
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range t.lines {
		fmt.Fprintln(tabs, l)
	}
	if err := tabs.Flush(); err != nil {
		return err
	}
	if t.missed {
		return ErrMissed
	}
	return nil
}
