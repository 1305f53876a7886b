package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/benchmint/benchmint/internal/packages"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/stages/validate"
)

// terminal is where a person or a script reads what the program says.
type terminal struct {
	*world
	verbose bool
	json    bool
	color   string
	viewed  bool // a live view shows how a run goes on
	// kept is what environments are built from before registries are asked; nil: nothing.
	kept *packages.Kept
}

// out is standard output, coloured where a person reads it.
func (t *terminal) out() *printer {
	return &printer{w: t.stdout, color: t.coloured(t.stdout)}
}

func (t *terminal) coloured(w io.Writer) bool {
	switch t.color {
	case "always":
		return true
	case "never":
		return false
	}
	f, ok := w.(*os.File)
	return ok && t.lookup("NO_COLOR") == "" && isTerminal(f)
}

// writeJSON is the machine-readable result of a verb.
func (t *terminal) writeJSON(v any) error {
	enc := json.NewEncoder(t.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// say is progress for a person, on standard error.
func (t *terminal) say(form string, args ...any) {
	_, _ = fmt.Fprintln(t.stderr, lines(fmt.Sprintf(form, args...)))
}

// sayFormat says what a dataset of an earlier version lacks.
func (t *terminal) sayFormat(dir string, m output.Manifest) {
	if lacks := m.Lacks(); len(lacks) > 0 {
		t.say("%s has the format %s: its rows have no %s", dir, m.Format, strings.Join(lacks, " and no "))
	}
}

// sayLost says which rows a dataset has lost, and why, once it is written.
func (t *terminal) sayLost(rows []output.Leaving) {
	verb := "leave"
	if len(rows) == 1 {
		verb = "leaves"
	}
	t.say("%s %s the dataset: %s", plural(len(rows), "row"), verb, output.Names(rows))
}

// observe says with -v what one run of tests cost.
func (t *terminal) observe(m validate.Measured) {
	if t.verbose {
		t.say("  %s  %s %s #%d: %s, %.2f s, %.2f s around it", m.StartID, m.Run.State, m.Run.Scope, m.Run.Number, m.Run.End, m.Wall.Seconds(), m.Overhead.Seconds())
	}
}
