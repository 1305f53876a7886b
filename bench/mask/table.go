package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// table is what is printed.
type table struct {
	lines  []string
	missed bool
}

func (t *table) row(cells ...string) { t.lines = append(t.lines, strings.Join(cells, "\t")+"\t") }

func (t *table) atLeast(name string, got, goal float64) { t.held(name, got, goal, "≥", got >= goal) }
func (t *table) atMost(name string, got, goal float64)  { t.held(name, got, goal, "≤", got <= goal) }

func (t *table) held(name string, got, goal float64, sign string, kept bool) {
	word := "kept"
	if !kept {
		word, t.missed = "MISSED", true
	}
	t.row(name, fmt.Sprintf("%.3g", got), fmt.Sprintf("goal %s %g  %s", sign, goal, word))
}

func (t *table) print(w io.Writer) error {
	tabs := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range t.lines {
		fmt.Fprintln(tabs, l)
	}
	if err := tabs.Flush(); err != nil {
		return err
	}
	if t.missed {
		return errMissed
	}
	return nil
}
