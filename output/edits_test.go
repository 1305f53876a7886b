package output

import (
	"bytes"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/schemas"
)

func TestEditFigures(t *testing.T) {
	t.Parallel()
	const patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n same\n-kitten\n+sitting\n other\n@@ -9 +9,2 @@\n-a\n+b\n+c\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -0,0 +1 @@\n+new\n"
	if got := distance(patch); got != 3+3+4 {
		t.Errorf("distance %d", got)
	}
	if got := changedLines(patch); got != 6 {
		t.Errorf("%d lines", got)
	}
	large := "diff --git a/x b/x\n" + strings.Repeat("+"+strings.Repeat("x", 1000)+"\n", 500)
	if got := distance(large); got > mostOfFile {
		t.Errorf("distance %d of a large file", got)
	}
	v := []float64{1, 2, 3, 4}
	if quartile(v, .25) != 1.75 || quartile(v, .5) != 2.5 || quartile(v, 1) != 4 || quartile(nil, .5) != 0 {
		t.Error("quartiles")
	}
	if mean, deviation := meanAndDeviation([]float64{2, 4, 4, 4, 5, 5, 7, 9}); mean != 5 || deviation != 2 {
		t.Errorf("%v, %v", mean, deviation)
	}
	for order, want := range map[string]string{"Add a strict option to `Field`.": "add strict", "Make `Field` strict": "make field", "": " ", "Stop": "stop "} {
		verb, noun := verbAndNoun(order)
		if verb+" "+noun != want {
			t.Errorf("%q: %q %q", order, verb, noun)
		}
	}
}

// A card with edits has the paper's table and figures; one without has no word of them.
func TestEditCard(t *testing.T) {
	t.Parallel()
	all := newTally()
	for i, statement := range []string{"Add a limit to areas.\n\nInterface:\n- x", "Add names", "Fix the end"} {
		r := Row{Repo: []string{"a/b", "c/d", "a/b"}[i], ProblemStatement: statement, Patch: "diff --git a/x b/x\n+y\n"}
		r.Benchmint.Kind, r.Benchmint.Change = schemas.KindEdit, &Change{Class: []string{"feature", "feature", "fix"}[i]}
		all.add(r)
	}
	var b bytes.Buffer
	all.edits.print(&b)
	for _, want := range []string{"## Edits", "| Gold patch: files | 1.00 | 1.00 | 1.00 |", "mean 3.42", "| a/b | 2 |\n| c/d | 1 |", "| feature | 2 |\n| fix | 1 |", "| add | 2 | limit, names |", "| fix | 1 | end |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the card lacks %q:\n%s", want, b.String())
		}
	}
	b.Reset()
	newTally().edits.print(&b)
	if b.Len() > 0 {
		t.Errorf("a card without edits: %s", &b)
	}
}
