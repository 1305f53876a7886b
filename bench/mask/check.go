package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// checks compiles both. Where the source does not compile as it is, what is said of the
// starter only counts, wherever it stands.
func (b *bench) checks(ctx context.Context, p pair) error {
	said := map[string][]string{}
	ended := map[string]bool{}
	for _, side := range []string{"source", "starter"} {
		took, passed, err := b.shell(ctx, p, side, b.check)
		if err != nil {
			return err
		}
		raw, err := os.ReadFile(p.path(side + ".log"))
		if err != nil {
			return err
		}
		said[side], ended[side] = strings.Split(strings.TrimSpace(string(raw)), "\n"), passed
		b.table.Row("  check of the "+side+": s, passes", fmt.Sprintf("%.0f, %t", took.Seconds(), passed))
	}
	var more []string
	if !ended["starter"] {
		more = said["starter"]
	}
	if !ended["source"] {
		more = newLines(said["source"], said["starter"])
	}
	for i, line := range more {
		if i == 20 {
			b.table.Row(fmt.Sprintf("    and %d more", len(more)-i))
			break
		}
		b.table.Row("    " + line)
	}
	b.table.AtMost("  complaints about the starter only", float64(len(more)), 0)
	return nil
}

var places = lazyregexp.New(`[0-9]+`)

// newLines are those of after that are not among before, whatever their numbers are.
func newLines(before, after []string) []string {
	key := func(line string) string { return places.ReplaceAllString(line, "0") }
	known := map[string]int{}
	for _, line := range before {
		known[key(line)]++
	}
	var out []string
	for _, line := range after {
		k := key(line)
		if known[k]--; known[k] < 0 && line != "" {
			out = append(out, line)
		}
	}
	return out
}
