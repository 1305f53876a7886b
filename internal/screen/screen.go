// Package screen finds in texts of people what says who they are, and words that offend: e-mail
// addresses, the names beside them, and the words of a short list.
//
// It never finds a name that stands alone, and never looks into code: addresses that code and
// its tests work with are given to it, and stay.
package screen

import (
	_ "embed" // the words
	"slices"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Rules of findings.
const (
	Email = "email"
	Name  = "name"
	Word  = "word"
)

// Finding is one hit.
type Finding struct {
	Rule string
	Line int // of the text, from 1

	start, end int
}

// In is what was found in the text that was searched.
func (f Finding) In(text string) string { return text[f.start:f.end] }

var (
	address = lazyregexp.New(`(?i)[a-z0-9][a-z0-9._%+-]*@[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*\.[a-z]{2,}`)
	// before is a name that an address in brackets follows.
	before = lazyregexp.New(`((?:\p{Lu}[\p{L}'’.-]*[ \t]+){0,3}\p{Lu}[\p{L}'’.-]*)[ \t]*[<(\[]+(?:mailto:)?$`)
	// nobodys are addresses that documentation and examples use (RFC 2606), and those that
	// name a service and not a person.
	nobodys = lazyregexp.New(`(?i)@(?:.*\.)?(?:example(?:\.(?:com|org|net|edu))?|[a-z0-9.-]+\.(?:example|invalid|test|localhost|local))$|^(?:git|hg|noreply|no-reply)@`)
	letters = lazyregexp.New(`[\p{L}\p{N}_]+`)
)

//go:embed words.txt
var wordList string

// words are those of the list.
var words = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(wordList) {
		out[w] = true
	}
	return out
})

// Find gives what a text holds, in the order of the text. Addresses for which keep holds are
// passed over, with the names beside them.
func Find(text string, keep func(address string) bool) []Finding {
	var out []Finding
	for _, m := range address.FindAllStringIndex(text, -1) {
		found := text[m[0]:m[1]]
		if nobodys.MatchString(found) || keep(found) || inURL(text, m[0]) {
			continue
		}
		line := text[strings.LastIndexByte(text[:m[0]], '\n')+1 : m[0]]
		if n := before.FindStringSubmatchIndex(line); n != nil {
			at := m[0] - len(line)
			out = append(out, Finding{Rule: Name, start: at + n[2], end: at + n[3]})
		}
		out = append(out, Finding{Rule: Email, start: m[0], end: m[1]})
	}
	for _, m := range letters.FindAllStringIndex(text, -1) {
		if words()[strings.ToLower(text[m[0]:m[1]])] {
			out = append(out, Finding{Rule: Word, start: m[0], end: m[1]})
		}
	}
	slices.SortFunc(out, func(a, b Finding) int { return a.start - b.start })
	// A word of an address, or an address within a name, is part of the first.
	end := 0
	out = slices.DeleteFunc(out, func(f Finding) bool {
		inside := f.start < end
		end = max(end, f.end)
		return inside
	})
	for i := range out {
		out[i].Line = 1 + strings.Count(text[:out[i].start], "\n")
	}
	return out
}

// inURL reports whether what begins at a place is the user of a URL.
func inURL(text string, at int) bool {
	from := strings.LastIndexAny(text[:at], " \t\n<>()\"'`") + 1
	return strings.Contains(text[from:at], "://")
}

// Mask is a text with what Find gives replaced by its rule in angle brackets.
func Mask(text string, keep func(address string) bool) (string, []Finding) {
	found := Find(text, keep)
	var b strings.Builder
	last := 0
	for _, f := range found {
		b.WriteString(text[last:f.start])
		b.WriteString("<" + f.Rule + ">")
		last = f.end
	}
	b.WriteString(text[last:])
	return b.String(), found
}
