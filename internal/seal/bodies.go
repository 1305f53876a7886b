package seal

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"hash/maphash"
	"html"
	"io"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/syntax"
	"github.com/benchmint/benchmint/internal/tree"
)

// Bounds of the search for copies. Texts are compared by their words alone, in order: letters, digits and underscores, without
// numbers. So indentation, line breaks, leaders of comments, prompts and patches, and the tags of
// highlighted code hide nothing.
//
// The bounds are chosen by 40 libraries of Python and Go with 6,716 files. Runs of up to 11 words are
// everywhere: loops and errors that everybody writes. 19 files have 24 words in runs of 12: the 4
// documents are copies, and so are most of the 15 tests and sources; the others share idioms. The
// tests and sources of a library hold less than a hundredth of its bodies together, but for one, whose
// C code quotes them.
const (
	windowWords = 8  // that are looked up together
	takenWords  = 4  // of these have to be of lines that the mask took out
	runWords    = 12 // in a row are no chance,
	copyWords   = 24 // and so many in such runs are a copy of bodies
	wordsShown  = 24

	// blockLetters are what the words of a run have together that takes a block of code out of a text:
	// two lines of a body or a long one, but no call that an example has, too.
	blockLetters = 45

	// mostCopied is the share of all bodies that tests and code of a starter may hold all the same: a
	// test that works out what it expects in the way of one body is no copy of a library.
	mostCopied = 0.01

	mostText    = 8 << 20  // bytes of a file that is searched as it is; the rest of it is not
	mostEncoded = 1 << 20  // bytes of a file that is decoded, and of what comes out of it
	mostMembers = 64 << 20 // bytes that are unpacked of one file
	leastNames  = 3        // names in a compiled module that stand in bodies alone
)

// Bodies are the bodies that a mask took out of a library, and finds copies of them. Code that stays
// in the starter has a right to its lines: a run of words that stands there is no copy.
type Bodies struct {
	windows map[uint64]bool // of words that follow one another
	names   map[string]bool // words of bodies that no code of the starter has
	ships   func(string) bool
}

// Copy is a file of a starter that holds lines of bodies.
type Copy struct {
	Path string
	How  string // the encodings that hide it, or the member that holds it; "" for none
	Text string // the words of it, or the beginning of them
	// windows of bodies that it has; nil for a compiled one.
	windows map[uint64]bool
}

// Share is the part of all bodies that some copies hold, 0 to 1. A compiled one holds all.
func (b *Bodies) Share(copies []Copy) float64 {
	all := map[uint64]bool{}
	for _, c := range copies {
		if c.windows == nil {
			return 1
		}
		maps.Copy(all, c.windows)
	}
	return float64(len(all)) / float64(max(len(b.windows), 1))
}

var seed = maphash.MakeSeed()

// BodiesOf reads what the patch from a starter to its release brings back. ships reports whether a
// path is of the code part; only code of languages that tasks can be in counts as such.
func BodiesOf(starter *tree.Tree, patch []byte, ships func(string) bool) (*Bodies, error) {
	b := &Bodies{windows: map[uint64]bool{}, names: map[string]bool{}, ships: ships}
	files, _, err := gitdiff.Parse(bytes.NewReader(patch))
	if err != nil || len(files) == 0 {
		return b, err
	}
	release, err := starter.Apply(patch)
	if err != nil {
		return nil, fmt.Errorf("reading the bodies: %w", err)
	}
	for _, f := range files {
		if e, ok := release.Entry(f.NewName); ok && b.code(f.NewName) {
			b.add(e, addedLines(f))
		}
	}
	for _, e := range starter.Entries() {
		if e.Mode != tree.ModeSymlink && b.code(e.Path) {
			b.drop(divide(e).code)
		}
	}
	return b, nil
}

// grammars are the languages of code that is told from its comments and texts.
var grammars = map[string]syntax.Language{".py": syntax.Python, ".go": syntax.Go}

func (b *Bodies) code(p string) bool { return grammars[path.Ext(p)] != "" && b.ships(p) }

// addedLines are the numbers of the lines that a patch adds to a file, from 1.
func addedLines(f *gitdiff.File) map[int]bool {
	out := map[int]bool{}
	for _, part := range f.TextFragments {
		at := int(part.NewPosition)
		for _, l := range part.Lines {
			if l.Op == gitdiff.OpAdd {
				out[at] = true
			}
			if l.New() {
				at++
			}
		}
	}
	return out
}

// divided is a file as code and as texts.
type divided struct {
	code   []byte   // with blanks in the place of texts
	texts  []string // blocks of two comments and more, and strings of several lines
	quoted [][2]int // where strings and comments stand in code
}

// divide divides a file. One that cannot be read is code.
func divide(e tree.Entry) divided {
	d := divided{code: slices.Clone(e.Data)}
	t, err := syntax.ParseTree(grammars[path.Ext(e.Path)], e.Data)
	if err != nil {
		return d
	}
	var block []syntax.Node // comments that follow one another
	cut := func(from, to int) {
		d.texts = append(d.texts, string(e.Data[from:to]))
		for i := from; i < to; i++ {
			if d.code[i] != '\n' {
				d.code[i] = ' '
			}
		}
	}
	flush := func() {
		if n := len(block); n > 1 || n == 1 && strings.Contains(block[0].Text(), "\n") {
			cut(block[0].Start(), block[n-1].End())
		}
		block = nil
	}
	for n := range t.All() {
		switch {
		case n.Is("comment"):
			if k := len(block); k > 0 && strings.TrimSpace(string(e.Data[block[k-1].End():n.Start()])) != "" {
				flush()
			}
			block = append(block, n)
			d.quoted = append(d.quoted, [2]int{n.Start(), n.End()})
		case !n.Is("string", "raw_string_literal", "interpreted_string_literal"):
		case strings.Contains(n.Text(), "\n"):
			cut(n.Start(), n.End())
		default:
			d.quoted = append(d.quoted, [2]int{n.Start(), n.End()})
		}
	}
	flush()
	return d
}

// add takes the windows of a file of the release that hold enough of what was taken out. Strings
// count for nothing there: tests and documents have messages of the code with every right.
func (b *Bodies) add(e tree.Entry, taken map[int]bool) {
	d := divide(e)
	line, from := 1, 0
	var all []string
	sums := []int{0} // how many of the first words were taken out
	n := 0
	for at, w := range words(string(d.code)) {
		line += bytes.Count(d.code[from:at], []byte("\n"))
		from = at
		for len(d.quoted) > 0 && d.quoted[0][1] <= at {
			d.quoted = d.quoted[1:]
		}
		if taken[line] && (len(d.quoted) == 0 || at < d.quoted[0][0]) {
			n++
			if len(w) >= minWord {
				b.names[w] = true
			}
		}
		all, sums = append(all, w), append(sums, n)
	}
	for end := windowWords; end < len(sums); end++ {
		if sums[end]-sums[end-windowWords] >= takenWords {
			b.windows[sum(all[end-windowWords:end])] = true
		}
	}
}

// drop leaves out what code of the starter has.
func (b *Bodies) drop(code []byte) {
	var last []string
	for _, w := range words(string(code)) {
		delete(b.names, w)
		if last = append(last, w); len(last) >= windowWords {
			delete(b.windows, sum(last[len(last)-windowWords:]))
		}
	}
}

func sum(window []string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, w := range window {
		_, _ = h.WriteString(w) // never fails
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// words gives the words of a text that are no numbers, and where each begins.
func words(text string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		start, letters := 0, false
		for i := 0; i <= len(text); i++ {
			if i < len(text) {
				c := text[i]
				if c == '_' || c >= 0x80 || 'a' <= c|0x20 && c|0x20 <= 'z' {
					letters = true
					continue
				}
				if '0' <= c && c <= '9' {
					continue
				}
			}
			if letters && !yield(start, text[start:i]) {
				return
			}
			start, letters = i+1, false
		}
	}
}

// runs gives the runs of words of a text that bodies have, and have at least so many words.
func (b *Bodies) runs(text string, least int) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		if b == nil || len(b.windows) == 0 {
			return
		}
		var last []string // that may be of a run
		in := false
		for _, w := range words(text) {
			last = append(last, w)
			if n := len(last); n < windowWords || b.windows[sum(last[n-windowWords:])] {
				in = in || n >= windowWords
				continue
			}
			if in && len(last) > least && !yield(last[:len(last)-1]) {
				return
			}
			last, in = slices.Clone(last[len(last)-windowWords+1:]), false
		}
		if in && len(last) >= least {
			yield(last)
		}
	}
}

// Block reports whether a block of code of a text, which may be left out alone, holds lines of a body.
func (b *Bodies) Block(text string) bool {
	for run := range b.runs(text, windowWords) {
		if len(strings.Join(run, "")) >= blockLetters {
			return true
		}
	}
	return false
}

// copied are the windows of a text that make it a copy, and words of it; nil where it is none. What
// a text says more than once counts once.
func (b *Bodies) copied(text string) (map[uint64]bool, string) {
	seen := map[uint64]bool{}
	var shown []string
	total := 0
	for run := range b.runs(text, runWords) {
		fresh := 0
		for end := windowWords; end <= len(run); end++ {
			if h := sum(run[end-windowWords : end]); !seen[h] {
				seen[h] = true
				fresh++
			}
		}
		if fresh += windowWords - 1; fresh >= runWords {
			total += fresh
			shown = append(shown, run...)
		}
	}
	if total < copyWords {
		return nil, ""
	}
	return seen, strings.Join(shown[:min(len(shown), wordsShown)], " ")
}

// Text gives words that make a text a copy, "" where there are none.
func (b *Bodies) Text(text string) string {
	_, shown := b.copied(text)
	return shown
}

// Copies are the files of a tree that hold lines of bodies, by path. Files of the code part are
// asked for their comments and texts alone.
func (b *Bodies) Copies(ctx context.Context, t *tree.Tree) ([]Copy, error) {
	var out []Copy
	for _, e := range t.Entries() {
		if len(b.windows) == 0 {
			break
		}
		if e.Mode == tree.ModeSymlink || e.Mode == tree.ModeModule {
			continue
		}
		if b.code(e.Path) {
			e.Data = []byte(strings.Join(divide(e).texts, " ; "))
		}
		found, err := b.file(ctx, e)
		if err != nil {
			return nil, err
		}
		if found != nil {
			out = append(out, *found)
		}
	}
	return out, nil
}

// file looks through what may hide a copy in one file.
func (b *Bodies) file(ctx context.Context, e tree.Entry) (*Copy, error) {
	var found *Copy
	sc := &scan{ctx: ctx, set: &Set{}, copies: newCopies(project{}), budget: mostMembers}
	sc.text = func(name string, r io.Reader, depth int) error {
		data, err := io.ReadAll(io.LimitReader(r, mostText))
		if found != nil {
			return err
		}
		if found = b.plain(name, data); found != nil {
			_, member, packed := strings.Cut(name, "!")
			if found.Path, found.How = e.Path, strings.Trim(member+" "+found.How, " "); packed && found.How == "" {
				found.How = "unpacked"
			}
		}
		if err != nil || found != nil {
			return err // of an archive that is cut: the rest of the file is searched as it is
		}
		for i, decoded := range fromBase64(data) {
			if err := sc.member(fmt.Sprintf("%s!base64 %d", name, i+1), bytes.NewReader(decoded), -1, depth); err != nil {
				return err
			}
		}
		return nil
	}
	err := sc.stream(e.Path, bytes.NewReader(e.Data), int64(len(e.Data)), 0)
	return found, err
}

var (
	inLine  = lazyregexp.New(`(?i)</?(?:span|a|b|i|em|strong|code|tt|font)\b[^>]*>`)
	anyTag  = lazyregexp.New(`<[^>]*>`)
	base64s = lazyregexp.New(`[A-Za-z0-9+/_-]{40,}(?:(?:\\n|[\s"',>#*|]+)[A-Za-z0-9+/_-]{40,})*(?:(?:\\n|[\s"',>#*|]+)[A-Za-z0-9+/_-]+)?`)
	notIn64 = lazyregexp.New(`\\n|[^A-Za-z0-9+/]`)
)

var escapes = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\n", `\"`, `"`, `\\`, `\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// plain looks for a copy in bytes that are not unpacked any more.
func (b *Bodies) plain(name string, data []byte) *Copy {
	if ext := path.Ext(name); ext == ".pyc" || ext == ".pyo" {
		if found := b.compiled(string(data)); len(found) >= leastNames {
			return &Copy{How: "compiled", Text: strings.Join(found[:min(len(found), wordsShown)], " ")}
		}
	}
	s := string(data)
	for _, way := range []struct {
		how   string
		gives func() string
	}{
		{"", func() string { return s }},
		{"UTF-16", func() string { return strings.ReplaceAll(s, "\x00", "") }},
		{"escaped", func() string { return escapes.Replace(s) }},
		{"marked up", func() string {
			return html.UnescapeString(anyTag.ReplaceAllString(inLine.ReplaceAllString(escapes.Replace(s), ""), " "))
		}},
		{"rot13", func() string { return strings.Map(rot13, s) }},
	} {
		if windows, text := b.copied(way.gives()); text != "" {
			return &Copy{How: way.how, Text: text, windows: windows}
		}
		if len(data) > mostEncoded {
			break
		}
	}
	return nil
}

// compiled are the names of bodies in a compiled module.
func (b *Bodies) compiled(text string) []string {
	var found []string
	for _, w := range word.FindAllString(text, -1) {
		if b.names[w] && !slices.Contains(found, w) {
			found = append(found, w)
		}
	}
	return found
}

func rot13(c rune) rune {
	switch {
	case 'a' <= c|0x20 && c|0x20 <= 'm':
		return c + 13
	case 'n' <= c|0x20 && c|0x20 <= 'z':
		return c - 13
	}
	return c
}

// fromBase64 decodes what looks so in a text, lines of it together.
func fromBase64(data []byte) [][]byte {
	if len(data) > mostEncoded {
		return nil
	}
	var out [][]byte
	for _, s := range base64s.FindAllString(string(data), -1) {
		s = notIn64.ReplaceAllString(strings.NewReplacer("-", "+", "_", "/").Replace(s), "")
		if len(s)%4 == 1 {
			s = s[:len(s)-1]
		}
		if decoded, err := base64.RawStdEncoding.DecodeString(s); err == nil {
			out = append(out, decoded)
		}
	}
	return out
}
