package classify

import (
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// Weights of what people wrote down as a label. A note from the change's own diff
// outweighs one that was found by its number, because the number can be an issue's.
const (
	weightNote         = 1000
	weightNoteByNumber = 900
	weightTemplate     = 800
	weightTrailer      = 750
	weightLabel        = 720 // of a pull request: maintainers set it
	weightCommit       = 700
	weightEmoji        = 600
	weightMaintenance  = 2000 // a merge of a branch for old versions: many changes, made elsewhere
	weightUpkeepType   = 60   // of a type that says upkeep of a commit whose words ask for more
	weightUpkeep       = 50   // of words with which an entry under a heading is upkeep
)

// word returns a pattern that matches whole words in any case.
func word(alternatives string) *lazyregexp.Regexp {
	return lazyregexp.New(`(?i)(^|[^\pL\pN])(` + alternatives + `)($|[^\pL\pN])`)
}

// kinds are the words of headings, fragment types and boxes. Upkeep outweighs other
// kinds in the same text: "Documentation fixes", "Internal improvements".
var kinds = []struct {
	label  schemas.Label
	upkeep bool
	words  *lazyregexp.Regexp
}{
	{schemas.LabelOther, true, word(`docs?|documentation|internals?|chores?|dependenc(y|ies)|deps|remov(ed|als?|es?)|deprecat(ed|ions?|es)|housekeeping|maintenance|ci|builds?|packaging|tests?|testing|code quality|cod(e|ing) styl(e|ing)|\A\W*styl(e|ing)\W*\z|refactor(ed|ing|s)?|clean-?ups?|tooling|infrastructure|contrib(utors)?|trivial|vendor(ed|ing)?|under the hood|developers?|development|typos?|lint(ing)?|releases?|reverts?|examples?|tidy`)},
	// "Enhancement" is in both this row and the next, so that other words decide: the
	// default label of forges describes it as "new feature or request".
	{schemas.LabelFeature, false, word(`add(ed|itions?|s)?|new|features?|feat|enhancements?`)},
	{schemas.LabelImprovement, false, word(`changed|improve(d|ments?|s)?|enhance(d|ments?|s)?|perf(ormance)?|optimi[sz](ations?|ed)|faster`)},
	{schemas.LabelFix, false, word(`fix(es|ed)?|bugs?|bug-?fix(es)?|hotfix(es)?|security|regressions?|corrections?`)},
}

// rest are words that mean "other" only where no kind matches.
var rest = word(`misc(ellaneous)?|others?|support|general`)

var emojis = []struct {
	label schemas.Label
	signs []string
}{
	{schemas.LabelFeature, []string{"✨", "🎉", "🚀", "🆕", "➕ ", ":sparkles:", ":tada:", ":rocket:", ":new:"}},
	{schemas.LabelImprovement, []string{"⚡", "🚸", "💄", "🏎", "📈", "👌", ":zap:", ":children_crossing:", ":lipstick:", ":racehorse:", ":ok_hand:"}},
	{schemas.LabelFix, []string{"🐛", "🚑", "🔒", "🩹", "🐞", "⏪", "🥅", ":bug:", ":ambulance:", ":lock:", ":adhesive_bandage:", ":rewind:", ":goal_net:"}},
	{schemas.LabelOther, []string{"📝", "📚", "📖", "♻", "🔧", "🔨", "🧹", "🎨", "✅", "🧪", "👷", "💚", "⬆", "⬇", "📌", "🔖", "🚨", "🔥", "🗑", "✏", "🚚", "📦", "👽", "📄", "🏗", "🙈", "🏷", "💡", "🧑‍💻", "🔀", "🌐", "🏠",
		":memo:", ":books:", ":recycle:", ":wrench:", ":hammer:", ":art:", ":white_check_mark:", ":test_tube:", ":construction_worker:", ":green_heart:", ":arrow_up:", ":arrow_down:", ":pushpin:", ":bookmark:", ":rotating_light:", ":fire:", ":wastebasket:", ":pencil2:", ":truck:", ":package:", ":label:", ":bulb:"}},
}

// emojiOf returns the label of the emoji that a text begins with, and the emoji.
func emojiOf(text string) (schemas.Label, string) {
	for _, e := range emojis {
		for _, sign := range e.signs {
			if strings.HasPrefix(text, sign) {
				return e.label, sign
			}
		}
	}
	return "", ""
}

// headsAll are headings under which a forge lists every change of a release, whatever it is.
var headsAll = lazyregexp.New(`(?i)what\W?s (?:changed|new)|new in (?:this|version)\b`)

// kindsOf returns the labels that a heading, a fragment's type or a box names.
func kindsOf(text string) []schemas.Label {
	text = headsAll.ReplaceAllString(text, "")
	var out []schemas.Label
	for _, k := range kinds {
		if k.words.MatchString(text) {
			if k.upkeep {
				return []schemas.Label{k.label}
			}
			out = append(out, k.label)
		}
	}
	if label, sign := emojiOf(strings.TrimSpace(text)); len(out) == 0 && sign != "" {
		return []schemas.Label{label}
	}
	if len(out) == 0 && rest.MatchString(text) {
		return []schemas.Label{schemas.LabelOther}
	}
	return out
}

// bugfix begins an entry that says what it is, whatever its heading.
var bugfix = lazyregexp.New(`(?i)^(?:\W*\w+\W+){0,2}bug-?fix\b`)

// notes reads headings and fragment types. "Changes" and "Breaking changes" are not in
// any list, because entries of every kind stand below them.
func (f *findings) notes(notes []schemas.Note) {
	for _, n := range notes {
		if n.Form == schemas.NoteSubject { // read as the commit's title
			continue
		}
		weight := weightNote
		if n.Link != schemas.LinkDiff {
			weight = weightNoteByNumber
		}
		rule, quote, labels := "heading", n.Heading, kindsOf(n.Heading)
		if n.Form == schemas.NoteFragment {
			rule = "fragment_type"
			if len(labels) == 0 {
				quote, labels = fragmentType(n.Path)
			}
		}
		for _, l := range labels {
			f.add(l, rule, quote, weight)
			if words := bugfix.FindString(n.Text); words != "" && l == improvement {
				f.add(fix, "bugfix_below_heading", words, weight+1)
			}
			// "Improvements: remove redundant code" is upkeep that was filed under a kind.
			if s, words := leading(plain(untyped(n.Text))); s != nil && s.label == other && s.weight >= weightUpkeep && rule == "heading" && (l == feature || l == improvement) {
				f.add(other, "upkeep_below_heading", words, weight+1)
			}
		}
		if label, quote, _ := entryType(n.Text); quote != "" {
			f.add(label, "entry_type", quote, weightCommit)
		}
	}
}

// pull reads the labels of a pull request.
func (f *findings) pull(p *schemas.Pull) {
	if p == nil {
		return
	}
	for _, name := range p.Labels {
		for _, l := range kindsOf(name) {
			f.add(l, "pull_label", name, weightLabel)
		}
	}
}

// releasesRole begins an entry in the form of Sphinx's "releases": :bug:`12 major`.
var releasesRole = lazyregexp.New("^:(feature|bug|support):`[^`]*`\\s*")

// entryType splits an entry that begins with a type: a role, or the type of the commit
// that the entry was generated from. quote is "" where there is no type.
func entryType(text string) (label schemas.Label, quote, rest string) {
	if m := releasesRole.FindStringSubmatch(text); m != nil {
		return kindsOf(m[1])[0], strings.TrimSpace(m[0]), text[len(m[0]):]
	}
	label, quote = emojiOf(text)
	rest = strings.TrimLeft(strings.TrimPrefix(text, quote), "\ufe0f\u200d ")
	if typed, kind, after := commitType(rest); kind != "" {
		return typed, kind, after
	}
	if quote == "" {
		rest = text
	}
	return label, quote, rest
}

// fragmentType reads the type from a fragment's name (12.feature.rst, 12.bugfix.1.md,
// +name.misc.rst, feature-12.md) or from its folder (feature/12.md).
func fragmentType(p string) (string, []schemas.Label) {
	dir, name := path.Split(p)
	words := strings.FieldsFunc(name, func(c rune) bool { return c == '.' || c == '-' || c == '_' })
	if len(words) > 1 {
		words = words[1:] // a bare name such as "docs.rst" is not a type
	}
	for _, w := range append(words, path.Base(dir)) {
		if labels := kindsOf(w); len(labels) > 0 {
			return w, labels
		}
	}
	return "", nil
}

// conventional matches type, scope and "!" of a conventional commit at the start of a title.
var conventional = lazyregexp.New(`(?i)^(\[)?(feat(?:ures?)?|fix(?:es|ed)?|bug ?fix|hotfix|bug|perf|improve(?:ment)?s?|enh(?:ancement)?|refactor|docs?|documentation|chore|ci|tests?|build|style|revert|deps|release|lint|typo|typing|cleanup|maint(?:enance)?|security)(?:\(([^)]*)\)|(\]))?(!)?(?::|\]|(\])?[ ]*:)\s*`)

// aside are scopes in which even a fix is upkeep.
var aside = lazyregexp.New(`(?i)^(ci|docs?|tests?|deps|lint|readme|tox|nox|pre-commit|mypy|typing)$`)

// commitType splits a conventional title. quote is "" where the title is not one.
func commitType(title string) (label schemas.Label, quote, text string) {
	m := conventional.FindStringSubmatch(title)
	if m == nil {
		return "", "", title
	}
	text = title[len(m[0]):]
	label = schemas.LabelOther
	switch kind := strings.ToLower(m[2]); {
	case aside.MatchString(m[3]):
	case strings.HasPrefix(kind, "feat"):
		label = schemas.LabelFeature
	case strings.HasPrefix(kind, "perf"), strings.HasPrefix(kind, "improve"), strings.HasPrefix(kind, "enh"):
		label = schemas.LabelImprovement
	case strings.HasPrefix(kind, "fix"), strings.HasPrefix(kind, "bug"), kind == "hotfix", kind == "revert", kind == "security":
		label = schemas.LabelFix
	}
	return label, strings.TrimRight(m[0], " "), text
}

// rework are types under which features land too.
var rework = lazyregexp.New(`(?i)^\[?(?:refactor|chore)\(([^)]*)\)`)

func (f *findings) commit(t texts) {
	if t.emoji != "" {
		f.add(t.emojiLabel, "gitmoji", t.emoji, weightEmoji)
	}
	weight := weightCommit
	m := rework.FindStringSubmatch(t.commit)
	if s, _ := leading(t.title); m != nil && !aside.MatchString(m[1]) && s != nil && s.label == feature {
		weight = weightUpkeepType // "refactor(context): add an optional parameter"
	}
	if t.commit != "" {
		f.add(t.commitLabel, "conventional_commit", t.commit, weight)
	}
}

var (
	box     = lazyregexp.New(`(?m)^[ \t]*[-*+][ \t]*\[([ xX✓✔])\][ \t]*(.+)$`)
	boxKind = lazyregexp.New(`(?i)^[^\pL]*(a |this is a )?(new feature|feature|bug ?-?fix|bug|fix|enhancement|improvement|performance|optimi[sz]ation|refactor(ing)?|code (style|refactor)|documentation|docs?|chores?|ci|build|tests?|dependenc(y|ies)|style)\b`)
	claim   = word(`added|updated|included|pass(es|ed|ing)?|i have|i've|required|necessary|needed`)
)

// template reads the ticked boxes of a pull request template. Boxes of a checklist
// ("Tests added", "Documentation") are not kinds, so upkeep counts only in a list that
// also offers features or fixes.
func (f *findings) template(body string) {
	type ticked struct {
		text   string
		labels []schemas.Label
	}
	var boxes []ticked
	offers := false
	for _, m := range box.FindAllStringSubmatch(body, -1) {
		if !boxKind.MatchString(m[2]) || claim.MatchString(m[2]) {
			continue
		}
		labels := kindsOf(boxKind.FindString(m[2]))
		for _, l := range labels {
			offers = offers || l != schemas.LabelOther
		}
		if m[1] != " " {
			boxes = append(boxes, ticked{m[2], labels})
		}
	}
	for _, b := range boxes {
		for _, l := range b.labels {
			if l != schemas.LabelOther || offers {
				f.add(l, "template", "[x] "+b.text, weightTemplate)
			}
		}
	}
}

var trailer = lazyregexp.New(`(?mi)^[ \t]*(?:(type|kind|labels?|category|change[- ]?type|changelog)[ \t]*:|(/kind)[ \t])[ \t]*([^\n]{1,80})$`)

// trailers reads "Type: feature", "Labels: bug, core", "Changelog: added", "/kind bug".
func (f *findings) trailers(body string) {
	for _, m := range trailer.FindAllStringSubmatch(body, -1) {
		if len(strings.Fields(m[3])) > 6 { // a sentence
			continue
		}
		for _, l := range kindsOf(m[3]) {
			f.add(l, "trailer", m[0], weightTrailer)
		}
	}
}
