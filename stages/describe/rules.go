package describe

import (
	"context"
	"slices"
	"strings"

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
	d := read(m.Change).withoutCode().without(m.Forbidden).draft().testable()
	text, from := d.render()
	return Draft{Provider: prompts.Rules, Text: text, From: from, Hints: lines(d.hints)}, nil
}

// maxText bounds a statement, in bytes. The end of a long message is about details.
const maxText = 6000

// draft is a statement before it is rendered.
type draft struct {
	wishes []piece // "I want to …", "I also want to …", each with the sentences that follow it in its note
	rest   []piece // the author's other sentences
	hints  []piece
}

// plain drops pieces that are lines of code, and those whose marks do not close.
func plain(in []piece) []piece {
	return slices.DeleteFunc(slices.Clone(in), func(p piece) bool {
		return len(prose.Code(p.text)) > 0 || p.from == fromBody && !p.item && !prose.Worded(p.text) || strings.Contains(p.text, "``") || strings.Count(p.text, "`")%2 == 1
	})
}

// withoutCode returns t without lines of code.
func (t texts) withoutCode() texts {
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
func (t texts) without(names []string) texts {
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

// draft makes wishes from the best text there is: the first sentence of each note. Where
// there are no notes, it takes the title, or a sentence of the body that says the same
// and more.
func (t texts) draft() draft {
	var d draft
	var seen map[string]bool
	switch {
	case len(t.notes) > 0:
		d.wishes = t.withTitle(t.noteWishes())
	default:
		d.wishes, t.body = titleWish(t.title, t.body)
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
			p.text = reworded(p.text)
		}
		d.rest = append(d.rest, p)
	}
	d.rest, d.hints = unlisted(d.rest), t.hints
	return d
}

// testable returns the draft without what no test can see, without sentences that only say
// where to read on, and without those that do not say what their author said. The sentences that
// follow a wish go with it.
func (d draft) testable() draft {
	drop := func(p piece) bool {
		return untestable(p.text) || elsewhere.MatchString(p.text) || !faithful(p.text, p.source, p.heading)
	}
	var wishes []piece
	gone := false
	for _, p := range d.wishes {
		rest, leads := strings.CutPrefix(p.text, also)
		leads = leads || prose.Begins(p.text)
		gone = drop(p) || gone && !leads
		if gone {
			continue
		}
		if len(wishes) == 0 && leads && !prose.Begins(p.text) {
			p.text = first + rest
		}
		wishes = append(wishes, p)
	}
	d.wishes, d.rest = unlisted(wishes), unlisted(slices.DeleteFunc(d.rest, drop))
	if len(d.wishes) == 0 || !prose.Begins(d.wishes[0].text) {
		return draft{} // nothing in it can be asked for
	}
	return d
}

// fewWords is a number of words with meaning. A note with fewer may say less than the title.
const fewWords = 5

// withTitle adds the title where the notes are short and do not say the same.
func (t texts) withTitle(wishes []piece) []piece {
	have := map[string]bool{}
	for _, p := range wishes {
		have = union(have, content(p.text))
	}
	words := content(t.title.text)
	if len(have) >= fewWords || len(words) < 2 || share(words, have) > 0.6 {
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

// noteWishes makes a wish of the first sentence of each note, followed by its other sentences.
// Where the first one was dropped, the title says what the others are about.
func (t texts) noteWishes() []piece {
	var out []piece
	last := 0
	for _, p := range t.notes {
		switch {
		case p.note == last:
			if !p.item {
				p.text = withoutNow(p.text)
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
			opening = also
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

const (
	first = "I want to "
	also  = "I also want to "
)

// titleWish makes the wish of a change without notes.
func titleWish(title piece, body []piece) (wishes, rest []piece) {
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

// startsWithVerb reports whether s begins like "Adds X" or "This PR adds X".
func startsWithVerb(s string) bool {
	if m := thisChange.FindStringSubmatch(s); m != nil && verbs()[strings.ToLower(m[1])].form == third {
		s = m[1] + m[2]
	}
	first, rest, _ := strings.Cut(s, " ")
	v := verbs()[strings.ToLower(first)]
	return slices.Contains(orders, v.base) && !noun(strings.ToLower(first), v, rest)
}

// withoutNow removes "now" from a sentence: a request is not news.
func withoutNow(s string) string {
	return endingNow.ReplaceAllString(nowWord.ReplaceAllString(s, "$1$2"), "$1")
}

// render returns the text, wishes first, then the author's sentences in their paragraphs,
// items as a list. from names the sources that were used.
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

// sentence adds the full stop that its author left out.
func sentence(p piece) string {
	s := strings.TrimSpace(p.text)
	if p.item || s == "" || strings.ContainsRune(".!?:…", []rune(s)[len([]rune(s))-1]) || strings.HasSuffix(s, ".)") {
		return s
	}
	return s + "."
}

// lines returns the pieces as sentences, one on each line.
func lines(in []piece) string {
	var out []string
	for _, p := range in {
		out = append(out, sentence(p))
	}
	return strings.Join(out, "\n")
}
