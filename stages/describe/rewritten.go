package describe

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// pair is a text that the tests compared with before the change, and what they compare with after it.
type pair struct{ old, now string }

var (
	anyQuoted = lazyregexp.New("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\]|\\\\.)*'|`[^`]*`")
	asserting = lazyregexp.New(`\bassert|==|!=|Equal|(?i:\bwant|\bexpect)|match=`)
	ownWords  = lazyregexp.New(`%[-+#]?[a-z]`) // of what a test says when it fails
	tableRow  = lazyregexp.New("^[({\\[\"'`]")
	rawMark   = lazyregexp.New("`|\"\"\"|'''")
)

// rewritten returns the texts that the change rewords in the tests' assertions, each once. A text
// of several lines counts by its lines.
func (s *solution) rewritten() (out []pair) {
	const most, pairs = 5, 1 << 16 // more pairs of lines are a test that was written anew
	for _, p := range s.start.TestPaths() {
		if _, source := grammar(p); !source || !s.base.tree.Has(p) {
			continue
		}
		before, after := strings.Split(string(s.base.read(p)), "\n"), strings.Split(string(s.after.read(p)), "\n")
		gone, added := missing(before, after), missing(after, before)
		if len(gone)*len(added) > pairs {
			continue
		}
		for _, line := range added {
			for i, old := range gone {
				if q, ok := rewording(old, line); ok {
					gone = slices.Delete(gone, i, i+1)
					again := slices.ContainsFunc(out, func(o pair) bool { return o.differs() == q.differs() })
					if !again && len(out) < most && !s.base.holds(q.now) {
						out = append(out, q)
					}
					break
				}
			}
		}
	}
	return out
}

// textLine is a line of a source; raw is whether it lies within a text of several lines.
type textLine struct {
	text string
	raw  bool
}

// missing returns the lines that others lack.
func missing(lines, others []string) (out []textLine) {
	raw, has := false, map[string]bool{}
	for _, line := range others {
		has[line] = true
	}
	for _, line := range lines {
		opens := len(rawMark.FindAllString(line, -1))%2 == 1
		if text := strings.TrimSpace(line); text != "" && !has[line] {
			out = append(out, textLine{text, raw && !opens})
		}
		raw = raw != opens
	}
	return out
}

// rewording returns the texts in which two lines differ: whole lines of a text, or the one literal of
// an assertion, or the last one of a row of a table.
func rewording(old, now textLine) (pair, bool) {
	if old.raw || now.raw {
		q := pair{old.text, now.text}
		return q, old.raw && now.raw && q.alike()
	}
	was, is := anyQuoted.FindAllString(old.text, -1), anyQuoted.FindAllString(now.text, -1)
	if len(was) != len(is) || len(is) == 0 || anyQuoted.ReplaceAllString(old.text, "_") != anyQuoted.ReplaceAllString(now.text, "_") {
		return pair{}, false
	}
	last := len(is) - 1
	for i := range is[:last] {
		if was[i] != is[i] {
			return pair{}, false
		}
	}
	q := pair{literalOf(was[last], was[last]).value, literalOf(is[last], is[last]).value}
	return q, (last > 0 && tableRow.MatchString(now.text) || asserting.MatchString(now.text)) && q.alike()
}

// middle is the part of a text that the other does not share.
func middle(text, other string) string {
	a, b := []rune(text), []rune(other)
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return string(a)
}

// alike reports whether the two are one text that was reworded.
func (q pair) alike() bool {
	const longest = 200
	longer := max(len(q.old), len(q.now))
	return longer <= longest && q.old != q.now && !ownWords.MatchString(q.now) && 2*(len(q.now)-len(middle(q.now, q.old))) >= longer
}

func (q pair) differs() pair { return pair{middle(q.old, q.now), middle(q.now, q.old)} }

// stateRewritten returns a sentence for each text that neither the statement says nor the literals below it.
func stateRewritten(text string, all []pair) (out []string) {
	for _, q := range all {
		if !strings.Contains(text, q.now) {
			out = append(out, "The text "+quotation(q.old)+" changes to "+quotation(q.now)+".")
		}
	}
	return out
}
