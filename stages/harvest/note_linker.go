package harvest

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/changelog"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// noteLinker gives notes to the changes that they are about: the line is walked from the oldest change of the
// window to the head, and each entry is given out when it first appears.
type noteLinker struct {
	repo     *gitrepo.Repo
	history  *gitrepo.History
	releases *releaseIndex
	line     *line
	changes  []schemas.Change

	subjects map[string][]int        // places by what commits call themselves
	closers  map[int][]int           // places by the issues that their messages close
	places   map[int]*schemas.Change // the window's changes by their places
	reader   changelog.Reader
	parsed   map[string][]entry  // by path and blob
	words    map[string][]string // by text: an entry stands in hundreds of versions of its file
	gone     []entry             // taken out, and not put in elsewhere by the same commit
}

// takeNotes gives each change its notes. Those of changelogs and fragments come
// first, then those of tags; what nobody wrote a note for has its subject.
func takeNotes(ctx context.Context, d *noteLinker) error {
	if len(d.changes) == 0 {
		return nil
	}
	d.places, d.closers, d.parsed, d.words = map[int]*schemas.Change{}, map[int][]int{}, map[string][]entry{}, map[string][]string{}
	oldest := 0
	for i := range d.changes {
		c := &d.changes[i]
		at := d.line.at[c.Commit]
		d.places[at] = c
		oldest = max(oldest, at)
		if c.Number != 0 {
			d.line.numbers[c.Number] = at // patch-ids tell more than subjects
		}
		for _, m := range closes.FindAllStringSubmatch(c.Subject+"\n"+c.Body, -1) {
			if n, err := strconv.Atoi(m[1]); err == nil {
				d.closers[n] = append(d.closers[n], at)
			}
		}
	}
	d.subjects = map[string][]int{}
	for at, c := range d.line.commits {
		if said := description(c.Subject); said != "" {
			d.subjects[said] = append(d.subjects[said], at)
		}
	}
	if err := d.meet(ctx); err != nil {
		return err
	}
	for at := oldest; at >= 0; at-- {
		if err := d.visit(ctx, at); err != nil {
			return err
		}
	}
	d.tags()
	for i := range d.changes {
		d.finish(&d.changes[i])
	}
	return nil
}

// closes are the words by which forges tie a commit to the issue that it ends
// (GitHub, "Linking a pull request to an issue").
var closes = lazyregexp.New(`(?i)\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+#(\d+)\b`)

// meet finds out whom links mean, from the changelogs as they stand now.
func (d *noteLinker) meet(ctx context.Context) error {
	rows, err := d.repo.Raw(ctx, gitrepo.EmptyTree, d.line.commits[0].Tree)
	if err != nil {
		return err
	}
	var samples []string
	for _, f := range rows {
		if !changelog.IsLog(f.Path) {
			continue
		}
		text, err := d.text(ctx, f.NewMode, f.NewBlob)
		if err != nil {
			return err
		}
		samples = append(samples, text)
	}
	d.reader = changelog.NewReader(d.repo.Info().Name, samples...)
	return nil
}

// entry is one entry of a changelog or a fragment at one commit.
type entry struct {
	changelog.Entry
	path     string
	fragment bool
	form     schemas.NoteForm // of what stands in no file
	words    []string
	key      string // words and numbers
}

// visit gives out what the commit at a place of the line adds.
func (d *noteLinker) visit(ctx context.Context, at int) error {
	commit := d.line.commits[at]
	var files []schemas.ChangedFile
	change := d.places[at]
	if change != nil {
		files = change.Files
	} else {
		rows, err := d.repo.Raw(ctx, commit.BaseTree, commit.Tree)
		if err != nil {
			return err
		}
		files = rows
	}
	if !slices.ContainsFunc(files, func(f schemas.ChangedFile) bool { return tells(f.Path) || tells(f.OldPath) }) {
		return nil
	}
	var before, after []entry
	fresh := false
	for _, f := range files {
		old, err := d.entries(ctx, cmp.Or(f.OldPath, f.Path), f.OldMode, f.OldBlob)
		if err != nil {
			return err
		}
		now, err := d.entries(ctx, f.Path, f.NewMode, f.NewBlob)
		if err != nil {
			return err
		}
		fresh = fresh || f.Status == "A" && len(now) > 0 && !now[0].fragment
		before, after = append(before, old...), append(after, now...)
	}
	added, grown, removed := compare(before, after)
	added = d.unseen(added)
	const remembered = 5000
	if d.gone = append(d.gone, removed...); len(d.gone) > remembered {
		d.gone = d.gone[len(d.gone)-remembered:]
	}
	if len(added)+len(grown) == 0 {
		return nil
	}
	if change == nil { // its size is needed
		rows, err := d.repo.Files(ctx, commit.BaseTree, commit.Tree)
		if err != nil {
			return err
		}
		files = rows
	}
	by := d.author(at, files, before, added, fresh)
	by.sections = sections(after)
	for _, e := range added {
		d.give(e, by)
	}
	for _, e := range grown {
		d.share(e, by)
	}
	return nil
}

// share ties an entry of before to the changes that it came to name as well: the
// commit itself by its diff, others by their numbers.
func (d *noteLinker) share(e grownEntry, by author) {
	for _, n := range e.more {
		at, landed := d.line.numbers[n]
		switch {
		case by.own[n] && (landed && at == by.at || !by.docs && !by.release):
			d.note(by.at, e.entry, schemas.LinkDiff)
		case landed && at >= by.at && d.releases.fits(e.entry, at, by) && !d.has(at, e.words):
			d.note(at, e.entry, schemas.LinkNumber)
		}
	}
}

func tells(path string) bool {
	return path != "" && (changelog.IsLog(path) || changelog.IsFragment(path))
}

const (
	largest   = 4 << 20 // of a changelog, in bytes
	noContent = "0000000000000000000000000000000000000000"
)

// entries reads one file; what is no text, too large or not there has none.
func (d *noteLinker) entries(ctx context.Context, path, mode, blob string) ([]entry, error) {
	if !tells(path) {
		return nil, nil
	}
	key := path + "\x00" + blob
	if all, ok := d.parsed[key]; ok {
		return all, nil
	}
	text, err := d.text(ctx, mode, blob)
	if err != nil {
		return nil, err
	}
	var all []entry
	fragment := !changelog.IsLog(path)
	read := d.reader.Parse
	if fragment {
		read = d.reader.Fragment
	}
	for _, e := range read(path, text) {
		words, ok := d.words[e.Text]
		if !ok {
			words = changelog.Words(e.Text)
			d.words[e.Text] = words
		}
		all = append(all, entry{Entry: e, path: path, fragment: fragment, words: words, key: keyOf(words, e)})
	}
	const kept = 200
	if len(d.parsed) > kept {
		clear(d.parsed)
	}
	d.parsed[key] = all
	return all, nil
}

func (d *noteLinker) text(ctx context.Context, mode, blob string) (string, error) {
	if !strings.HasPrefix(mode, "100") || blob == noContent {
		return "", nil
	}
	data, err := d.repo.Blob(ctx, blob)
	if errors.Is(err, gitrepo.ErrMissing) || errors.Is(err, tree.ErrTooLarge) || len(data) > largest {
		return "", nil
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), err
}

func keyOf(words []string, e changelog.Entry) string {
	numbers := []string{}
	for _, r := range e.References {
		numbers = append(numbers, strconv.Itoa(r.Number)+r.Commit)
	}
	slices.Sort(numbers)
	return strings.Join(words, " ") + "|" + strings.Join(slices.Compact(numbers), " ")
}

// author is the commit that wrote entries, and whether they can be about itself.
type author struct {
	at      int
	own     map[int]bool // numbers that it says it is of
	release bool         // it writes notes for what others did
	docs    bool         // it changes nothing but text
	// sections are the versions that the changelogs have after it.
	sections []gitrepo.Version
}

var (
	releaseSubject = lazyregexp.New(`(?i)^(?:\W*|[a-z]+(?:\([^)]*\))?!?: *)(?:releas|prepar\w* (?:for |the )?(?:v?\d|releas|next|new)|bump|version\b|v?\d+\.\d+|cut\b|publish|tag\b)|\brelease v?\d|\bv?\d+\.\d+(?:\.\d+)? release\b|\bbump(?:s|ed|ing)?\b.*\bversion`)
	onlyVersion    = lazyregexp.New(`(?i)^\W*(?:(?:version|release|bump|prepare)\w*\W+(?:[\w-]+ +)?)?v?\d+\.\d+[\w.]*(?: *\(#\d+\))?\W*$`)
	releaseBranch  = lazyregexp.New(`(?i)^Merge (?:pull request #\d+ from [^/\s]+/|branch '?)(?:[\w-]+/)*(?:releas|bump|prepar|version|v?\d+\.\d+\.\d+)`)
	logSubject     = lazyregexp.New(`(?i)change ?log|release notes?|version history|\bchanges?\.(?:md|rst|txt)|\bhistory\.(?:md|rst)|\bnews\b(?: file| fragment| entr)|\b(?:update|add|edit|fix|amend|write|missing)\w* (?:the )?(?:changes|history|news)\b`)
	ownNumber      = lazyregexp.New(`(?:^|[\s(\[,:])(?:#|GH-|gh-)([1-9]\d{0,8})\b`)
)

// fewLines are what a release changes besides its notes: a version here and there.
// One that says that it is a release may change someLines.
const (
	fewLines  = 10
	someLines = 40
)

func (d *noteLinker) author(at int, files []schemas.ChangedFile, before, added []entry, fresh bool) author {
	commit := d.line.commits[at]
	a := author{at: at, own: map[int]bool{}, docs: true}
	told := d.ownNumbers(at, a.own)
	lines, ships, tests := 0, 0, false
	for _, f := range files {
		part, rule := parts.Common(f.Path)
		if tells(f.Path) || part == schemas.PartDocs || part == schemas.PartCI {
			continue
		}
		a.docs = a.docs && parts.IsManifest(f.Path)
		tests = tests || parts.Counts(part, rule)
		size := max(f.Added, 0) + max(f.Removed, 0)
		if parts.Ships(f.Path, part, rule) {
			ships += size
		}
		if parts.Ships(f.Path, part, rule) || part == schemas.PartTest {
			lines += size
		}
	}
	const many = 4
	small := lines <= fewLines && !tests
	begins := d.newVersion(before, added)
	strict := onlyVersion.MatchString(commit.Subject) || releaseBranch.MatchString(commit.Subject)
	switch {
	case len(added) >= many && (fresh || ships <= fewLines), len(added) > 1 && begins && strict,
		begins && !tests && ships <= someLines && releaseSubject.MatchString(commit.Subject):
		a.release = true
	case small:
		a.release = releaseSubject.MatchString(commit.Subject) || logSubject.MatchString(commit.Subject) || begins && len(added) > 1
	}
	if a.docs { // nothing of its own to tell of
		a.release = a.release || strict || logSubject.MatchString(told)
	}
	return a
}

// ownNumbers puts the numbers of a commit into own. told is the text that it was read from.
func (d *noteLinker) ownNumbers(at int, own map[int]bool) (told string) {
	subject := d.line.commits[at].Subject
	told = subject
	if c := d.places[at]; c != nil {
		told += "\n" + c.Body
		if c.Number != 0 {
			own[c.Number] = true
		}
	}
	for _, m := range ownNumber.FindAllStringSubmatch(told, -1) {
		n, err := strconv.Atoi(m[1])
		if _, landed := d.line.numbers[n]; err == nil && !landed { // "Add note for #12" is not #12
			own[n] = true
		}
	}
	// A second commit for issue 12 has no number of its own, for an ID is one change's;
	// it is of #12 nevertheless.
	if n, _ := gitrepo.SubjectNumber(subject); n != 0 {
		own[n] = true
	}
	return told
}

func sections(all []entry) []gitrepo.Version {
	var out []gitrepo.Version
	last := ""
	for _, e := range all {
		if v, ok := gitrepo.ParseVersion(e.Version); ok && e.Version != last {
			out = append(out, v)
		}
		last = e.Version
	}
	return out
}

// newVersion reports whether entries stand below a released version that was not
// there before.
func (d *noteLinker) newVersion(before, added []entry) bool {
	for _, e := range added {
		if e.Released && !slices.ContainsFunc(before, func(b entry) bool { return b.Version == e.Version }) {
			return true
		}
	}
	return false
}

// give ties one new entry to its change: to the commit that wrote it, unless that
// wrote for others; else by number, else by commit, else to none.
func (d *noteLinker) give(e entry, by author) {
	mine := slices.ContainsFunc(e.Named, func(n int) bool {
		at, landed := d.line.numbers[n]
		return by.own[n] && (landed && at == by.at || !by.docs && !by.release)
	})
	others := d.landed(e, by)
	if len(others) == 0 && (by.release || by.docs) && len(e.commits()) == 0 {
		others = d.closed(e, by)
	}
	switch {
	case mine, !by.release && len(others) == 0 && (!by.docs || len(e.commits()) == 0):
		d.note(by.at, e, schemas.LinkDiff)
		return
	case len(others) > 0:
		for _, at := range others {
			d.note(at, e, schemas.LinkNumber)
		}
		return
	}
	linked := false
	for _, id := range e.commits() {
		if at := d.history.Landed(id); at >= by.at && d.releases.fits(e, at, by) {
			d.note(at, e, schemas.LinkCommit)
			linked = true
		}
	}
	if linked {
		return
	}
	// Notes that are made from commits' subjects, without their numbers.
	for _, at := range d.subjects[description(e.Text)] {
		if at > by.at && d.releases.fits(e, at, by) {
			d.note(at, e, schemas.LinkSelf)
		}
	}
}

var conventional = lazyregexp.New(`^(?:\W*\s)?(?:[a-z]+(?:\([^)]*\))?!?|\*\*[^*]+\*\*):?\s+`)

// description is the words of a subject, or of an entry that was made from one:
// without a conventional commit's type and scope. "" where they say too little.
func description(text string) string {
	said := changelog.Words(text)
	if m := conventional.FindString(text); strings.Contains(m, ":") || strings.Contains(m, "**") {
		said = changelog.Words(text[len(m):])
	}
	const few = 2
	if len(said) <= few {
		return ""
	}
	return strings.Join(said, " ")
}

// has reports whether a change was given an entry before it was re-worded.
func (d *noteLinker) has(at int, words []string) bool {
	c := d.places[at]
	return c != nil && slices.ContainsFunc(c.Notes, func(n schemas.Note) bool { return changelog.Likeness(changelog.Words(n.Text), words) >= alike })
}

// landed are the other changes that an entry names by their own numbers. In the
// diff of a change that is none of them they count where they are written as pull
// requests, or where the entry names nothing else: with an issue beside them, they
// are mentions.
func (d *noteLinker) landed(e entry, by author) []int {
	var out []int
	all, sure := true, false
	for _, n := range e.Named {
		at, ok := d.line.numbers[n]
		if !ok || at < by.at || !d.releases.fits(e, at, by) || slices.Contains(out, at) {
			all = all && slices.Contains(out, at)
			continue
		}
		sure = sure || slices.Contains(e.Pulls, n)
		out = append(out, at)
	}
	if !all && !sure && !by.release && !by.docs {
		return nil
	}
	return out
}

// closed are the changes that say that they end an issue which an entry names.
func (d *noteLinker) closed(e entry, by author) []int {
	var out []int
	for _, n := range e.Named {
		for _, at := range d.closers[n] {
			if at > by.at && d.releases.fits(e, at, by) && !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	return out
}

func (e entry) commits() (out []string) {
	for _, r := range e.References {
		if r.Commit != "" {
			out = append(out, r.Commit)
		}
	}
	return out
}

// note puts an entry to the change at a place of the line, if that is asked for.
func (d *noteLinker) note(at int, e entry, link schemas.NoteLink) {
	c := d.places[at]
	if c == nil {
		return
	}
	form := schemas.NoteChangelog
	if e.fragment {
		form = schemas.NoteFragment
	}
	if e.path == "" {
		form = e.form
	}
	n := schemas.Note{
		Release: c.Release, Version: e.Version, Heading: e.Heading, Text: e.Text, Path: schemas.RecordPath(e.path), Line: e.Line,
		Form: form, Link: link, References: e.References,
	}
	if !slices.ContainsFunc(c.Notes, func(o schemas.Note) bool { return o.Form == n.Form && o.Text == n.Text }) {
		c.Notes = append(c.Notes, n)
	}
}

// tags read how releases are announced on the forge, and the messages of annotated tags.
func (d *noteLinker) tags() {
	for _, t := range d.history.Tags {
		b := d.releases.byTag[t.Name]
		if b == nil {
			continue
		}
		d.message(t, b, b.Body, schemas.NoteRelease)
		if t.Message != b.Body {
			d.message(t, b, t.Message, schemas.NoteTag)
		}
	}
}

// message reads what a release says: an entry is tied by number, by commit, or by being a
// change's subject.
func (d *noteLinker) message(t gitrepo.Tag, b *book, text string, form schemas.NoteForm) {
	if text == "" {
		return
	}
	in := func(at int) bool {
		return at >= 0 && d.history.Holds(t.Name, at) && !d.releases.held(b.Previous, at)
	}
	for _, e := range d.reader.Message(text) {
		e.Version = b.Release.Version
		tagged := entry{Entry: e, form: form}
		linked := false
		for _, n := range e.Named {
			if at, ok := d.line.numbers[n]; ok && in(at) {
				d.note(at, tagged, schemas.LinkNumber)
				linked = true
			}
		}
		for _, id := range tagged.commits() {
			if at := d.history.Landed(id); !linked && in(at) {
				d.note(at, tagged, schemas.LinkCommit)
				linked = true
			}
		}
		for at, c := range d.places {
			if !linked && (e.Text == c.Subject || e.Text == title(*c)) && in(at) {
				d.note(at, tagged, schemas.LinkSelf)
			}
		}
	}
}

// finish puts a change's notes in order; one without any has its own subject.
func (d *noteLinker) finish(c *schemas.Change) {
	if len(c.Notes) == 0 {
		text := title(*c)
		c.Notes = []schemas.Note{{
			Release: c.Release, Text: text, Form: schemas.NoteSubject, Link: schemas.LinkSelf, References: d.reader.References(text, nil),
		}}
		return
	}
	forms := []schemas.NoteForm{schemas.NoteFragment, schemas.NoteChangelog, schemas.NoteRelease, schemas.NoteTag, schemas.NoteSubject}
	links := []schemas.NoteLink{schemas.LinkDiff, schemas.LinkNumber, schemas.LinkCommit, schemas.LinkSelf}
	slices.SortStableFunc(c.Notes, func(a, b schemas.Note) int {
		return cmp.Or(cmp.Compare(slices.Index(forms, a.Form), slices.Index(forms, b.Form)),
			cmp.Compare(slices.Index(links, a.Link), slices.Index(links, b.Link)), strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
}

// title is what a change calls itself: a merge commit's subject names a branch,
// and the pull request's title is below it.
func title(c schemas.Change) string {
	if c.NumberFrom != schemas.NumberMerge {
		return c.Subject
	}
	for line := range strings.Lines(c.Body) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return c.Subject
}
