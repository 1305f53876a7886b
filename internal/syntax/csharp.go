package syntax

import (
	"bytes"
	"slices"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// directive is a line of C# that a preprocessor reads.
var directive = lazyregexp.New(`^(?:\xEF\xBB\xBF)?[ \t]*#[ \t]*(if\b|elif\b|else\b|endif\b|region\b|endregion\b|pragma\b|nullable\b|error\b|warning\b|line\b)`)

// condition is an #if with its branches, by line.
type condition struct {
	at  []int
	end int
}

// Directive is the word of such a line: if, endif, region …; "" for any other.
func Directive(line []byte) string {
	if word := directive.FindSubmatch(line); word != nil {
		return string(word[1])
	}
	return ""
}

// Readings are trees of C# that the grammar does not read as it stands: of texts in which
// every place is what it was, without what the grammar does not know; whole, and as a compiler
// reads it, with the first branch of each condition, and with the last. They have the matches of a query.
func Readings(source []byte, query string) []*Tree {
	q, err := queryOf(CSharp, query)
	if err != nil {
		return nil
	}
	var trees []*Tree
	for _, text := range branches(source) {
		if t, err := (parser{language: CSharp, limit: maxTime, query: q}).parseAs(text, older(text)); err == nil {
			trees = append(trees, t)
		}
	}
	return trees
}

// bridgeCSharp gives the texts of Readings.
func bridgeCSharp(t *Tree) [][]byte {
	texts := branches(t.Source)
	for i, text := range texts {
		texts[i] = older(text)
	}
	return texts
}

// branches are a source as it stands, with the first branch of each condition, and with the
// last.
func branches(source []byte) [][]byte {
	texts := [][]byte{source}
	for _, last := range []bool{false, true} {
		if text, ok := branch(source, last); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// conditions are those of a file; false where they do not nest.
func conditions(lines [][]byte) ([]condition, bool) {
	var all []condition
	var open []int
	for i, line := range lines {
		switch word := Directive(line); word {
		case "if":
			open = append(open, len(all))
			all = append(all, condition{at: []int{i}})
		case "elif", "else", "endif":
			if len(open) == 0 {
				return nil, false
			}
			c := &all[open[len(open)-1]]
			if word == "endif" {
				c.end, open = i, open[:len(open)-1]
			} else {
				c.at = append(c.at, i)
			}
		}
	}
	return all, len(open) == 0
}

// branch is the source with one branch of each condition, and without directives; false
// where it would be what it is, or the last branch is the first.
func branch(source []byte, last bool) ([]byte, bool) {
	lines := bytes.SplitAfter(source, []byte("\n"))
	all, ok := conditions(lines)
	gone := make([]bool, len(lines))
	for i, line := range lines {
		gone[i] = Directive(line) != ""
	}
	if !ok || !slices.Contains(gone, true) || last && len(all) == 0 {
		return nil, false
	}
	for _, c := range all {
		chosen := 0
		if last {
			chosen = len(c.at) - 1
		}
		ends := append(c.at[1:len(c.at):len(c.at)], c.end)
		for b, start := range c.at {
			for i := start + 1; b != chosen && i < ends[b]; i++ {
				gone[i] = true
			}
		}
	}
	out := bytes.Clone(source)
	at := 0
	for i, line := range lines {
		if gone[i] {
			blank(out[at : at+len(line)])
		}
		at += len(line)
	}
	return out, true
}

// collection begins a collection expression, or an attribute of a parameter.
var collection = lazyregexp.New(`(?:=>?|\(|,|:|\?\?|\?\s|\breturn\b)\s*\[`)

// bodiless is a type that ends with its head (C# 12).
var bodiless = lazyregexp.New(`(?m)^[ \t]*(?:[a-z]+\s+)*(?:class|struct|interface)\s+[A-Za-z_]\w[^;{}()="]*;`)

// scripted is a line that says how a file is run (C# 14).
var scripted = lazyregexp.New(`(?m)^#[:!].*$`)

// collected is a parameter of any number, which may be more than an array (C# 13).
var collected = lazyregexp.New(`[(,]\s*(params)\s`)

// aimed begins an index with a name that the grammar takes for the target of an attribute,
// [type: A], or for the word before a lambda.
var aimed = lazyregexp.New(`\[\s*(type|field|method|param|property|async)\b\s*[^\s:]`)

// older writes what came with C# 12, which the grammar does not know, as what it knows:
// collections [] as "", [a, b] as (a, b); a type without a body with an empty one, for
// which its last name gives a letter; and no params. A name that it takes for another word
// gets another letter. Every place stays what it is.
func older(source []byte) []byte {
	out := bytes.Clone(source)
	for _, found := range scripted.FindAllIndex(source, -1) {
		blank(out[found[0]:found[1]])
	}
	for _, found := range collected.FindAllSubmatchIndex(source, -1) {
		blank(out[found[2]:found[3]])
	}
	for _, found := range aimed.FindAllSubmatchIndex(source, -1) {
		out[found[2]] = '_'
	}
	for _, found := range bodiless.FindAllIndex(source, -1) {
		out[found[1]-2], out[found[1]-1] = '{', '}'
	}
	for _, found := range collection.FindAllIndex(source, -1) {
		start := found[1] - 1
		end := closed(source, start)
		if end < 0 {
			continue
		}
		if rest := bytes.TrimLeft(source[end+1:], " \t\r\n"); len(rest) > 0 && !bytes.ContainsRune([]byte(",;)]}.:?"), rune(rest[0])) {
			continue // an attribute
		}
		out[start], out[end] = '(', ')'
		switch inner := bytes.TrimRight(source[start+1:end], " \t\r\n"); {
		case len(inner) == 0:
			out[start], out[end] = '"', '"'
		case inner[len(inner)-1] == ',':
			out[start+len(inner)] = ' '
		}
	}
	return out
}

// widest bounds how far the end of a collection is looked for.
const widest = 4096

// closed is the place of the bracket that closes one, -1 for none.
func closed(source []byte, start int) int {
	depth := 0
	for i, b := range source[start:min(len(source), start+widest)] {
		switch b {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return start + i
			}
		}
	}
	return -1
}
