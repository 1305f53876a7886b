// Package spec writes the specification of a library: its documentation at the release as
// one text of Markdown with a table of contents, the pictures beside it, and the same as a
// page of HTML.
//
// Documents are read of the starter, the tree without the bodies of functions: what the
// documentation includes of the code, and what signatures and docstrings say, cannot hold a
// body then. They are Markdown or reStructuredText. There is no library in Go that reads the
// latter and is kept, so that rst.go reads its common constructs; of a directive that it
// does not know the text stays. What directives of Sphinx would write by running the code
// (autoclass and its kind) is written from signatures and docstrings.
//
// Or documents are pages that Sphinx or MkDocs has built of the release (built.go), which a
// library makes Markdown of.
//
// What no document describes follows as a reference. Code of the documentation that is the
// solution all the same is left out (leak.go).
//
// It never runs code, follows no link out of the tree, asks no network, and reads and writes
// no more than its bounds say; what is over them is left out and counted.
package spec

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/tree"
)

// What a specification is made of, the best first.
const (
	FromDocs       = "docs"
	FromReadme     = "readme"     // there is no other document
	FromSignatures = "signatures" // there is none at all
)

// PicturesDir is the folder beside the text that it names pictures in.
const PicturesDir = "pictures"

// Options say what a specification is made of.
type Options struct {
	Name     string // of the library
	Version  string // of the release
	Language string // of the code part
	Starter  *tree.Tree
	Ships    func(path string) bool // reports whether a path is of the code part
	Bodies   *seal.Bodies           // that were taken out: what must not be told; nil for none
	Built    *Pages                 // the documentation as its own tool has built it; nil: files are read
}

// Picture is one file beside the text.
type Picture struct {
	Name string // below the text's folder, with slashes
	Data []byte
}

// Spec is a specification.
type Spec struct {
	Source    string // FromDocs, FromReadme, FromSignatures
	Documents []string
	Reference bool // has an API reference of its own
	Built     bool // documents are pages of Options.Built, which has some with text
	Described int  // objects of the code that documents describe, of Python
	// Guide counts the words of documents, beside the readme, that describe no object: those of a user guide.
	Guide int
	// Public are the functions, methods and classes that users may name, and Documented those of them that have a docstring or a
	// doc comment, or that a document describes.
	Public, Documented int
	Markdown           string
	Pictures           []Picture
	Words              int
	Redacted           int            // blocks of code that hold lines of the bodies
	Left               map[string]int // what is not in it, by why
}

// Build writes the specification of a starter. It is the same for the same options, to the
// byte. A tree without a word of documentation makes one without documents.
func Build(o Options) Spec {
	b := newBook(o)
	var s Spec
	var docs []document
	if o.Built != nil {
		docs, s.Source = b.built(*o.Built)
		if s.Built = s.Source == FromDocs; !s.Built {
			b = newBook(o)
		}
	}
	if !s.Built {
		docs, s.Source = b.read()
	}
	s.Left, s.Described = b.left, len(b.api.done)
	for _, d := range docs {
		s.Documents = append(s.Documents, d.path)
		if d.describes == 0 && d.path != readme(b.tree) {
			s.Guide += len(strings.Fields(strings.Join(d.blocks, " ")))
		}
	}
	s.Public, s.Documented = b.api.documented()
	reference, ok := b.reference()
	if o.Language == "go" {
		reference, ok = b.goReference(o.Ships)
		s.Public, s.Documented = b.public, b.documented
	}
	if s.Reference = ok; ok {
		docs = append(docs, reference)
	}
	for i := range docs {
		n, whole := redact(&docs[i], o.Bodies)
		s.Redacted += n
		if whole {
			b.left[leftLeak]++
		}
	}
	s.Markdown = b.join(o, docs)
	s.Words = len(strings.Fields(s.Markdown))
	for _, name := range slices.Sorted(maps.Keys(b.pictures)) {
		if strings.Contains(s.Markdown, "("+name+")") {
			s.Pictures = append(s.Pictures, b.pictures[name])
		}
	}
	return s
}

func newBook(o Options) *book {
	return &book{
		tree: o.Starter, name: o.Name, version: o.Version, included: map[string]bool{}, labels: map[string]string{}, pictures: map[string]Picture{}, left: map[string]int{},
		api: newAPI(o.Starter, o.Language, o.Ships),
	}
}

var target = lazyregexp.New("\\[([^\\[\\]]*)\\]\\(" + opens + "(doc|ref):([^" + closes + "]*)" + closes + "\\)")

// join makes one text of the documents, with a table of contents.
func (b *book) join(o Options, docs []document) string {
	var body, contents strings.Builder
	slugs := slugger{}
	title := strings.TrimSpace(o.Name + " " + o.Version)
	slugs.of(title)
	slugs.of("Contents")
	places, headings, titles := map[string]string{}, map[string]string{}, map[string]string{}
	for _, d := range docs {
		first := true
		for _, block := range d.blocks {
			if !strings.HasPrefix(block, heading) {
				body.WriteString(block + "\n\n")
				continue
			}
			level, text := int(block[1]-'0'), block[2:]
			slug := slugs.of(text)
			if first {
				places[strings.TrimSuffix(d.path, path.Ext(d.path))], titles[strings.TrimSuffix(d.path, path.Ext(d.path))] = slug, text
				first = false
			}
			for _, key := range []string{text, reference(text)} {
				if _, ok := headings[key]; !ok {
					headings[key] = slug
				}
			}
			body.WriteString(strings.Repeat("#", min(level+1, 6)) + " " + text + "\n\n")
			if level <= 2 {
				fmt.Fprintf(&contents, "%s- [%s](#%s)\n", strings.Repeat("  ", level-1), strings.ReplaceAll(linkless(text), "]", `\]`), slug)
			}
		}
	}
	text := target.ReplaceAllStringFunc(body.String(), func(s string) string {
		m := target.FindStringSubmatch(s)
		shown, name := m[1], m[3]
		slug, otherwise := "", name
		if m[2] == "doc" {
			name = strings.TrimSuffix(name, path.Ext(name))
			slug, otherwise = places[name], titles[name]
		} else if to, ok := b.labels[name]; ok {
			slug, otherwise = headings[to], to
		} else if slugs[name] > 0 {
			slug = name
		} else {
			slug = headings[name]
		}
		if strings.HasPrefix(shown, opens) || shown == "" {
			shown = linkless(otherwise)
		}
		if shown == "" {
			shown = path.Base(name)
		}
		if slug == "" {
			return shown
		}
		return "[" + shown + "](#" + slug + ")"
	})
	text = strings.NewReplacer(heading, "", opens, "", closes, "").Replace(text)
	return "# " + title + "\n\n## Contents\n\n" + contents.String() + "\n" + strings.TrimRight(tidy(text), "\n") + "\n"
}

var inlineLink = lazyregexp.New(`!?\[([^\]]*)\]\([^)]*\)`)

// linkless is text without links, which cannot stand in one.
func linkless(s string) string { return inlineLink.ReplaceAllString(s, "$1") }

// tidy leaves one blank line between blocks, and what stands in code as it is.
func tidy(s string) string {
	var out []string
	fenced := ""
	for l := range strings.SplitSeq(s, "\n") {
		trimmed := strings.TrimLeft(l, " >")
		if n := len(trimmed) - len(strings.TrimLeft(trimmed, "`")); n >= 3 {
			mark := trimmed[:n]
			switch {
			case fenced == "":
				fenced = mark
			case n >= len(fenced) && strings.TrimSpace(trimmed) == mark:
				fenced = ""
			}
		}
		if fenced == "" && blank(l) && len(out) > 0 && blank(out[len(out)-1]) {
			continue
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}

// slugger gives headings the anchors that forges give them: lower-case letters, digits and
// hyphens, with a number where one is there before.
type slugger map[string]int

func (s slugger) of(text string) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_', r == '-':
			return unicode.ToLower(r)
		case r == ' ':
			return '-'
		}
		return -1
	}, linkless(text))
	n := s[slug]
	s[slug]++
	if n == 0 {
		return slug
	}
	numbered := fmt.Sprintf("%s-%d", slug, n)
	s[numbered]++
	return numbered
}
