package contamination

import (
	"crypto/sha256"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/parts"
)

// Lengths of the two shares: added lines of a shingle, words of a gram.
const (
	shingleLines = 5
	gramWords    = 13
)

// prints are what tasks are compared by.
type prints struct {
	files    []file // of the code part, towards the solution
	patchID  string
	blank    [sha256.Size]byte
	weight   int                 // letters and digits of the changed lines, equal lines once
	distinct int                 // changed lines that say something, equal lines once
	context  []uint64            // lines around them that say something, sorted, each once
	changed  map[string][]uint64 // those of onlyOf by path, sorted, as often as they stand there
	shingles []shingle
	grams    []uint64 // each once
	words    []uint64 // grams of the added lines, each once
	only     []uint64 // changed lines of the code part, as onlyOf has them
	tests    []uint64 // likewise of the tests
}

// shingle is some added lines in a row of a file, beginning at the at-th that says something.
type shingle struct {
	hash     uint64
	file, at int
}

func printsOf(t *Task) *prints {
	p := &prints{}
	files := parse(t.Patch)
	if t.Reversed {
		files = reversed(files)
	}
	p.files = code(files)
	p.patchID = patchID(p.files)
	p.lines()
	if t.Kind == Change {
		p.shingles = shinglesOf(p.files)
		p.grams = gramsOf(t.Statement)
		p.words = wordsOf(p.files)
		p.only = onlyOf(p.files)
		p.tests = onlyOf(source(parse(t.Tests)))
	}
	return p
}

// lines fills what depends on changed lines and context.
func (p *prints) lines() {
	p.changed = map[string][]uint64{}
	var ends [][]byte
	seen := map[uint64]bool{}
	for _, f := range p.files {
		added, removed := sha256.New(), sha256.New()
		var changed []uint64
		for _, h := range f.hunks {
			for _, l := range h.lines {
				text := blankless(l.text)
				switch l.sign {
				case '+':
					added.Write([]byte(text))
				case '-':
					removed.Write([]byte(text))
				}
				changed = p.line(l.sign, text, changed, seen)
			}
		}
		if len(f.hunks) > 0 {
			ends = append(ends, removed.Sum(added.Sum(nil)))
		}
		only := onlyOf([]file{f})
		changed = slices.DeleteFunc(changed, func(l uint64) bool {
			_, ok := slices.BinarySearch(only, l)
			return !ok
		})
		slices.Sort(changed)
		p.changed[f.path] = changed
	}
	slices.Sort(p.context)
	p.context = slices.Compact(p.context)
	slices.SortFunc(ends, slices.Compare) // a folder that was renamed puts files in another order
	p.blank = sha256.Sum256(slices.Concat(ends...))
}

// line counts one line, white space off, if it says something.
func (p *prints) line(sign byte, text string, changed []uint64, seen map[uint64]bool) []uint64 {
	n, hash := says(text), hashOf(text)
	switch {
	case n == 0:
		return changed
	case sign == ' ':
		p.context = append(p.context, hash)
		return changed
	case !seen[hash]:
		seen[hash] = true
		p.weight += n
		p.distinct++
	}
	return append(changed, hash*31+uint64(sign))
}

// says counts letters and digits: a line of brackets says nothing.
func says(text string) (n int) {
	for _, c := range text {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			n++
		}
	}
	return n
}

// source are the source files that no program wrote.
func source(all []file) []file {
	names := map[string]bool{}
	for _, f := range all {
		names[f.path] = true
	}
	return slices.DeleteFunc(all, func(f file) bool { return !parts.IsSource(f.path) || f.generated(names) })
}

// onlyOf are the changed lines with more than three letters and digits, white space off, with their signs, sorted, each
// once. A line that is both added and removed was moved or indented, and is left out.
func onlyOf(files []file) []uint64 {
	signs := map[uint64]byte{}
	for _, f := range files {
		for _, h := range f.hunks {
			for _, l := range h.lines {
				text := blankless(l.text)
				if l.sign == ' ' || says(text) <= 3 {
					continue
				}
				k := hashOf(text)
				if was, ok := signs[k]; ok && was != l.sign {
					signs[k] = 0
				} else {
					signs[k] = l.sign
				}
			}
		}
	}
	out := make([]uint64, 0, len(signs))
	for k, sign := range signs {
		if sign != 0 {
			out = append(out, k*31+uint64(sign))
		}
	}
	slices.Sort(out)
	return out
}

// signed are the added ('+') or removed ('-') lines of a file that say something.
func signed(f file, sign byte) (lines []string) {
	for _, h := range f.hunks {
		for _, l := range h.lines {
			if l.sign == sign && says(l.text) > 0 {
				lines = append(lines, l.text)
			}
		}
	}
	return lines
}

// shinglesOf are those of added lines, without what the patch only moves or indents.
func shinglesOf(files []file) (out []shingle) {
	moved := map[uint64]bool{}
	for _, f := range files {
		for _, h := range rowsOf(signed(f, '-')) {
			moved[h] = true
		}
	}
	for i, f := range files {
		for at, h := range rowsOf(signed(f, '+')) {
			if !moved[h] {
				out = append(out, shingle{h, i, at})
			}
		}
	}
	return out
}

// wordsOf are the grams of added lines, each once, without those of removed ones: a line that is broken in another place
// changes none.
func wordsOf(files []file) (out []uint64) {
	for _, f := range files {
		was := gramsOf(strings.Join(signed(f, '-'), "\n"))
		for _, g := range gramsOf(strings.Join(signed(f, '+'), "\n")) {
			if _, ok := slices.BinarySearch(was, g); !ok {
				out = append(out, g)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// rowsOf are the hashes of all rows of shingleLines lines, white space off.
func rowsOf(lines []string) (out []uint64) {
	hashes := make([]uint64, len(lines))
	for k, l := range lines {
		hashes[k] = hashOf(blankless(l))
	}
	for at := 0; at+shingleLines <= len(lines); at++ {
		out = append(out, join(hashes[at:at+shingleLines]))
	}
	return out
}

// gramsOf are the words in a row of a statement, each once.
func gramsOf(text string) []uint64 {
	words := wordHashes(text)
	var out []uint64
	for at := 0; at+gramWords <= len(words); at++ {
		out = append(out, join(words[at:at+gramWords]))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// wordHashes are those of the runs of letters and digits, in lower case.
func wordHashes(text string) (out []uint64) {
	h, in := uint64(offset), false
	for _, c := range text {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			if in {
				out, h, in = append(out, h), offset, false
			}
			continue
		}
		in = true
		if c < utf8.RuneSelf && 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		} else if c >= utf8.RuneSelf {
			c = unicode.ToLower(c)
		}
		h = (h ^ uint64(c)) * prime
	}
	if in {
		out = append(out, h)
	}
	return out
}

// words are the texts of wordHashes.
func words(text string) []string {
	return strings.FieldsFunc(text, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
}

// FNV-1a of 64 bits.
const (
	offset = 14695981039346656037
	prime  = 1099511628211
)

func hashOf(s string) uint64 {
	h := uint64(offset)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * prime
	}
	return h
}

// join hashes hashes in their order.
func join(all []uint64) uint64 {
	h := uint64(offset)
	for _, x := range all {
		h = (h ^ x) * prime
		h ^= h >> 29
	}
	return h
}
