package output

import (
	"bytes"
	"slices"

	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/schemas"
)

// Unlisted says what a statement without the list of the interface leaves to guess.
type Unlisted struct {
	// NotGiven are the names of the interface that hidden tests need and the statement does not say, sorted.
	NotGiven []string `json:"not_given"`
}

// unlistedOf is nil where the statement has the list.
func unlistedOf(bare bool, text string, names []schemas.Name) *Unlisted {
	if !bare {
		return nil
	}
	out := Unlisted{NotGiven: []string{}}
	for _, n := range names {
		if !prose.Says(text, n.Name) {
			out.NotGiven = append(out.NotGiven, n.Name)
		}
	}
	slices.Sort(out.NotGiven)
	out.NotGiven = slices.Compact(out.NotGiven)
	return &out
}

// problem is the text that a solver gets.
func (t Task) problem() string {
	if t.Bare {
		return prose.Problem(t.Statement.Text, nil)
	}
	return prose.Problem(t.Statement.Text, t.Statement.Interface)
}

// unlisted: a statement has the list of the interface, or the row says which names it does not give.
func (l *linter) unlisted() {
	e := l.row.Benchmint
	text, list := prose.Split(l.row.ProblemStatement)
	want := unlistedOf(e.Unlisted != nil, text, e.Interface)
	switch {
	case e.Unlisted != nil && list != "":
		l.add(RuleField, "unlisted is given, and problem_statement lists the interface")
	case !bytes.Equal(mustJSON(e.Unlisted), mustJSON(want)):
		l.add(RuleField, "unlisted.not_given is %q; the statement does not say %q", e.Unlisted.NotGiven, want.NotGiven)
	}
}
