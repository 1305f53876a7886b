package describe

import (
	"context"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/prompts"
)

// Rules draft from the author's own sentences. They ask nobody, and never fail.
type Rules struct{}

var _ Drafter = Rules{}

// Draft implements Drafter.
func (Rules) Draft(ctx context.Context, m Material) (Draft, error) {
	pipeline.Provide(ctx, prompts.ByRules())
	d := read(m.Change).plainly().without(m.Forbidden).draft()
	text, from := d.render()
	return Draft{Provider: prompts.Rules, Text: text, From: from, Hints: lines(d.hints)}, nil
}

// maxText bounds a statement: what comes later in a long message is about details.
const maxText = 6000

// draft is a statement on its way.
type draft struct {
	wishes []piece // "I want to …", "I also want to …", each with what follows it in its note
	rest   []piece // of the author's own words
	hints  []piece
}

// example begins what is said to show code.
var example = lazyregexp.New(`(?i)^(?:for (?:example|instance)|e\.g)`)

// plain reduces code to names, and drops what cannot be said without code.
func plain(in []piece) []piece {
	var out []piece
	for _, p := range in {
		text, ok := prose.Named(p.text)
		if !ok || strings.Contains(text, "``") || text != p.text && example.MatchString(text) {
			continue
		}
		p.text = text
		out = append(out, p)
	}
	return out
}

// plainly is all of t without code.
func (t told) plainly() told {
	t.notes, t.body, t.hints = plain(t.notes), plain(t.body), plain(t.hints)
	if titles := plain([]piece{t.title}); len(titles) == 1 {
		t.title = titles[0]
	} else {
		t.title.text = ""
	}
	return t
}

// without drops each sentence that says one of the names, even where the name could
// be an English word there.
func (t told) without(names []string) told {
	bad := func(p piece) bool {
		return slices.ContainsFunc(names, func(name string) bool { return prose.Says(p.text, name) })
	}
	t.notes = slices.DeleteFunc(slices.Clone(t.notes), bad)
	t.body = slices.DeleteFunc(slices.Clone(t.body), bad)
	t.hints = slices.DeleteFunc(slices.Clone(t.hints), bad)
	if bad(t.title) {
		t.title.text = ""
	}
	return t
}

// draft makes wishes of the best text there is: each note's first sentence; where
// there is no note, the title, or the sentence of the body that says the same and
// more.
func (t told) draft() draft {
	var d draft
	var seen map[string]bool
	switch {
	case len(t.notes) > 0:
		d.wishes = t.withTitle(t.noted())
	default:
		d.wishes, t.body = titled(t.title, t.body)
	}
	if len(d.wishes) == 0 {
		return draft{} // nothing in it can be asked for
	}
	for _, p := range d.wishes {
		seen = union(seen, content(p.text))
	}
	for _, p := range t.body {
		words := content(p.text)
		if share(words, seen) >= 0.8 {
			continue
		}
		seen = union(seen, words)
		if !p.item {
			p.text = asked(p.text)
		}
		d.rest = append(d.rest, p)
	}
	d.rest, d.hints = unlisted(d.rest), t.hints
	return d
}

// few: a note of fewer words of meaning may say less than the title.
const few = 5

// withTitle adds the title to a short note that leaves out what it says.
func (t told) withTitle(wishes []piece) []piece {
	have := map[string]bool{}
	for _, p := range wishes {
		have = union(have, content(p.text))
	}
	words := content(t.title.text)
	if len(have) >= few || len(words) < 2 || share(words, have) > 0.6 {
		return wishes
	}
	if text, certain := request(t.title.text, ""); certain {
		t.title.text, t.title.group = wish("I want to ", text), wishes[len(wishes)-1].group
		return append(wishes, t.title)
	}
	return wishes
}

func union(a, b map[string]bool) map[string]bool {
	if a == nil {
		a = map[string]bool{}
	}
	for w := range b {
		a[w] = true
	}
	return a
}

// noted: the first sentence of each note is a wish, the others follow it. Where the
// first one could not be said, the title says what the others are about.
func (t told) noted() []piece {
	var out []piece
	last := 0
	for _, p := range t.notes {
		switch {
		case p.note == last:
			if !p.item {
				p.text = presently(p.text)
			}
			out = append(out, p)
			continue
		case !p.lead && last == 0:
			if text, certain := request(t.title.text, ""); certain {
				title := t.title
				title.text, title.group, last = wish(first, text), p.group, p.note
				out = append(out, title, p)
				continue
			}
		}
		opening := first
		if last != 0 {
			opening = "I also want to "
		}
		if text, _ := request(p.text, p.heading); text != "" {
			if strings.HasSuffix(p.text, ":") {
				text += ":"
			}
			p.text, last, p.item = wish(opening, text), p.note, false
			out = append(out, p)
		}
	}
	return unlisted(out)
}

const first = "I want to "

// titled makes the wish where nobody wrote a note.
func titled(title piece, body []piece) (wishes, rest []piece) {
	text, certain := request(title.text, "")
	words := content(title.text)
	for i, p := range body {
		if i == 3 || p.item {
			break
		}
		own, good := request(p.text, "")
		if !good || !startsWithVerb(p.text) || howTo(p) {
			continue
		}
		// The body says it again in a whole sentence, or the title is a bare noun.
		if share(words, content(p.text)) >= 0.7 || !certain {
			p.text = wish("I want to ", own)
			return []piece{p}, slices.Delete(slices.Clone(body), i, i+1)
		}
	}
	if text == "" {
		return nil, body
	}
	title.text = wish("I want to ", text)
	return []piece{title}, body
}

// startsWithVerb: "Adds X", "This PR adds X".
func startsWithVerb(s string) bool {
	if m := thisChange.FindStringSubmatch(s); m != nil && verbs()[strings.ToLower(m[1])].form == third {
		s = m[1] + m[2]
	}
	first, rest, _ := strings.Cut(s, " ")
	v := verbs()[strings.ToLower(first)]
	return slices.Contains(orders, v.base) && !noun(strings.ToLower(first), v, rest)
}

// presently takes the news out of a sentence: who asks speaks of no "now".
func presently(s string) string {
	return endingNow.ReplaceAllString(nowWord.ReplaceAllString(s, "$1$2"), "$1")
}

// render writes the statement's text: wishes first, then the author's words,
// paragraph by paragraph, items as a list. It gives the sources that got a word in.
func (d draft) render() (text string, from []string) {
	var b strings.Builder
	group, item := -1, false
	for _, p := range slices.Concat(d.wishes, d.rest) {
		s := sentence(p)
		if b.Len()+len(s) > maxText {
			break
		}
		switch {
		case b.Len() == 0:
		case p.item:
			b.WriteString("\n") // a list follows its lead directly
		case p.group == group && !item:
			b.WriteString(" ")
		default:
			b.WriteString("\n\n")
		}
		if p.item {
			s = "- " + s
		}
		b.WriteString(s)
		group, item = p.group, p.item
		if !slices.Contains(from, p.from) {
			from = append(from, p.from)
		}
	}
	return b.String(), from
}

// sentence closes what its author left open.
func sentence(p piece) string {
	s := strings.TrimSpace(p.text)
	if p.item || s == "" || strings.ContainsRune(".!?:…", []rune(s)[len([]rune(s))-1]) || strings.HasSuffix(s, ".)") {
		return s
	}
	return s + "."
}

// lines writes pieces as plain sentences, one a line.
func lines(in []piece) string {
	var out []string
	for _, p := range in {
		out = append(out, sentence(p))
	}
	return strings.Join(out, "\n")
}
