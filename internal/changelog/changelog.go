// Package changelog reads what projects write about their changes: changelogs in
// Markdown, reST and plain text, fragments, tag messages.
//
// It works on text alone: it never reads a file, never asks git or a forge, and never
// decides which change an entry is about.
package changelog

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// Entry is one entry of a changelog.
type Entry struct {
	Version  string // as in the heading above: "1.2.0", "Unreleased"; "" where there is none
	Released bool   // the heading names a version and does not call it unreleased
	Heading  string // within the section of the version: "Added"
	Text     string // with markup, without the bullet and line breaks
	Line     int    // number of the first line, from 1
	// References are the numbers, commits and comparisons in the entry, in order, each once.
	References []schemas.Reference
	// Named are the numbers that the entry begins or ends with: those of its own change.
	Named []int
	// Pulls are those of Named that are written as pull requests: :pr:`12`, …/pull/12,
	// PR #12. The others can be issues.
	Pulls []int
}

// point fills in References, Named and Pulls from the text.
func (e *Entry) point(k known) { e.References, e.Named, e.Pulls = k.refs, k.named, k.pulls }

// Reader reads the changelogs of one repository, and ignores the numbers of others. It
// remembers texts that it has read, and is for one goroutine.
type Reader struct {
	own   map[string]bool // owner/name in lower case, with former names; empty where unknown
	known map[string]known
}

// NewReader makes a reader for a repository named owner/name. samples are its present
// changelogs. Where the name has no owner, the reader takes the repository that most of
// their links name. A repository that moved is also known by its former owners, if many
// links name them with the same last name.
func NewReader(repo string, samples ...string) Reader {
	counts := map[string]int{}
	for _, s := range samples {
		for _, url := range bareURL.FindAllString(s, -1) {
			if l := parseLink(url); l.repo != "" {
				counts[l.repo]++
			}
		}
	}
	r := Reader{own: map[string]bool{}, known: map[string]known{}}
	repo = strings.ToLower(repo)
	if strings.HasPrefix(repo, "local/") {
		repo = ""
		for name, n := range counts {
			if repo == "" || n > counts[repo] || n == counts[repo] && name < repo {
				repo = name
			}
		}
	}
	if repo == "" {
		return r
	}
	r.own[repo] = true
	const many = 5 // links; a fork is named less often
	for name, n := range counts {
		if n >= many && base(name) == base(repo) {
			r.own[name] = true
		}
	}
	return r
}

// Parse reads a whole changelog. The path says the markup, and the version of a file that
// describes one version.
func (r Reader) Parse(path, text string) []Entry {
	s := scan(path, text, false)
	links := s.links
	var out []Entry
	for _, b := range s.entries(versionOfPath(path)) {
		out = append(out, b.split(r, links)...)
	}
	return out
}

// Fragment reads a file that a change adds for the notes of the next release.
func (r Reader) Fragment(path, text string) []Entry {
	kind, number := fragmentName(path)
	if isYAML(path) {
		return r.yamlFragment(text, kind)
	}
	heading, text, skipped := frontMatter(text)
	if heading != "" {
		kind = heading
	}
	s := scan(path, text, true)
	blocks := s.entries("fragment")
	bullets := slices.ContainsFunc(blocks, func(b block) bool { return b.bullet })
	loose := slices.ContainsFunc(s.blocks, func(b block) bool { return !b.bullet })
	var out []Entry
	if bullets && !loose {
		for _, b := range blocks {
			out = append(out, b.split(r, s.links)...)
		}
	} else if len(s.blocks) > 0 {
		var all strings.Builder
		for i, b := range s.blocks {
			switch text := b.whole(); {
			case !b.bullet:
				all.WriteString("\n\n" + text)
			case i > 0 && s.blocks[i-1].bullet:
				all.WriteString("\n- " + text)
			default:
				all.WriteString("\n\n- " + text)
			}
		}
		whole := strings.TrimSpace(all.String())
		e := Entry{Heading: s.blocks[0].heading, Text: whole, Line: s.blocks[0].line}
		e.point(r.read(whole, s.links))
		out = append(out, e)
	}
	for i := range out {
		out[i].Version, out[i].Released = "", false
		out[i].Line += skipped
		if out[i].Heading == "" {
			out[i].Heading = kind
		}
		if named := (schemas.Reference{Number: number, Text: base(path)}); number != 0 && !hasNumber(out[i].References, number) {
			// Remembered results are shared, so copy before writing.
			out[i].References, out[i].Named = append(slices.Clone(out[i].References), named), append(slices.Clone(out[i].Named), number)
		}
	}
	return out
}

// Message reads the lists in an annotated tag's message; the rest is a title.
func (r Reader) Message(text string) []Entry {
	s := scan("", text, false)
	var out []Entry
	for _, b := range s.entries("tag") {
		if b.bullet {
			out = append(out, b.split(r, s.links)...)
		}
	}
	for i := range out {
		out[i].Version, out[i].Released = "", false
	}
	return out
}

func hasNumber(refs []schemas.Reference, n int) bool {
	return slices.ContainsFunc(refs, func(r schemas.Reference) bool { return r.Number == n })
}

func base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// split returns the entries of one block: the block itself, or its children if its own
// text is only their heading.
func (b block) split(r Reader, links map[string]string) []Entry {
	entry := Entry{Version: b.version, Released: b.released, Heading: b.heading, Text: b.whole(), Line: b.line}
	own := b.own()
	if len(b.children) > 0 && len(r.References(own, links)) == 0 {
		told := 0
		for _, c := range b.children {
			if len(r.References(c.whole(), links)) > 0 {
				told++
			}
		}
		if isLabel(own) || told > 1 && 2*told >= len(b.children) {
			var out []Entry
			for _, c := range b.children {
				c.version, c.released, c.heading = b.version, b.released, b.heading
				if label := strings.Trim(own, "*_:` "); len(label) <= longestLabel {
					c.heading = label
				}
				out = append(out, c.split(r, links)...)
			}
			return out
		}
	}
	entry.point(r.read(entry.Text, links))
	return []Entry{entry}
}

const longestLabel = 60

var labelShape = lazyregexp.New(`^(?:\*\*[^*]{1,60}\*\*:?|__[^_]{1,60}__:?|[^\s:]+(?: [^\s:]+){0,2}:)$`)

func isLabel(s string) bool { return labelShape.MatchString(strings.TrimSpace(s)) }
