// Package pair turns a source into the edits of its line, each of one wish: a commit or a merged pull request, or commits
// in a row of one author, within days, that name a common issue or pull request or share the words of their subjects.
//
// It never cuts a merge apart, never makes two edits of one commit, never takes what is a feature's, and never asks a
// model: which edits are taken is drawn by a seed, to the repository's own mix of changes.
package pair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/pulls"
)

// Version is part of the stage's fingerprint.
const Version = "4"

// The bounds of a range.
const (
	maxCommits = 5
	maxDays    = 14
	maxRead    = 3000 // newest commits that are looked at
)

// Repos opens repositories at the head that their records name; release gives one back.
type Repos interface {
	Open(ctx context.Context, r schemas.Repo) (repo *gitrepo.Repo, release func(), err error)
}

// Pairer is the stage.
type Pairer struct {
	repos    Repos
	forge    pulls.Forge
	untested bool
}

// New reads from repos. forge is asked of sources that name a repository on GitHub; nil is
// asked nothing. With untested, ranges without tests are drawn like others.
func New(repos Repos, forge pulls.Forge, untested bool) *Pairer {
	return &Pairer{repos, forge, untested}
}

var _ pipeline.Expander[schemas.Crawled, schemas.Change] = (*Pairer)(nil)

// Run lists the ranges of a source's window, at most as many as it asks for (0: all), newest
// first; those that only names where it names some.
func (p *Pairer) Run(ctx context.Context, c schemas.Crawled) ([]schemas.Change, error) {
	s := c.Source
	pipeline.Doing(ctx, "opening the repository")
	repo, release, err := p.repos.Open(ctx, s.Repo)
	if errors.Is(err, gitrepo.ErrRemote) {
		return nil, &pipeline.Deferred{Resource: "git", Err: err}
	}
	if err != nil {
		return nil, err
	}
	defer release()
	pipeline.Doing(ctx, "looking for ranges in the history")
	h := &history{source: s, repo: repo, line: repo.Line(), untested: p.untested}
	var spans []span
	if len(s.Only) > 0 {
		spans, err = h.named(ctx)
	} else {
		spans, err = h.drawn(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for ranges in %s: %w", s.Repo.Name, err)
	}
	out := []schemas.Change{}
	for _, sp := range spans {
		change, err := h.change(ctx, sp)
		if err != nil {
			return nil, fmt.Errorf("reading a range of %s: %w", s.Repo.Name, err)
		}
		out = append(out, change)
	}
	pipeline.Doing(ctx, "looking up what the pull requests of %d ranges say", len(out))
	// A range of several commits is no pull request, or a part of one.
	number := func(i int) (int, bool) { return h.line[spans[i].newest].Number, spans[i].newest == spans[i].oldest }
	if err := pulls.Tell(ctx, p.forge, s.GitHub, out, number); err != nil {
		return nil, err
	}
	return out, nil
}

// history is what a source's line says and touches.
type history struct {
	source schemas.Source
	repo   *gitrepo.Repo
	line   []gitrepo.Landed
	said   []message // of the newest of the line
	since  time.Time
	// untested says that a range needs no tests.
	untested bool
}

// read reads the messages of the newest n commits.
func (h *history) read(ctx context.Context, n int) error {
	bodies, err := h.repo.Bodies(ctx, n)
	for i, body := range bodies {
		h.said = append(h.said, said(h.line[i].Subject, body))
	}
	return err
}

// span is a range of the line by its places: newest and oldest commit.
type span struct {
	newest, oldest int
	class          string
}

// named are the ranges that a configuration names. What names something else is for others.
func (h *history) named(ctx context.Context) (out []span, err error) {
	at := func(prefix string) int {
		return slices.IndexFunc(h.line, func(l gitrepo.Landed) bool { return strings.HasPrefix(l.Commit, strings.ToLower(prefix)) })
	}
	oldest := 0
	for _, entry := range h.source.Only {
		base, commit, ok := gitrepo.Between(entry)
		if !ok {
			continue
		}
		from, to := at(base), at(commit)
		if from < 0 || to < 0 || from <= to {
			return nil, fmt.Errorf("only: %q is not a commit of the line and a later one", entry)
		}
		out, oldest = append(out, span{newest: to, oldest: from - 1}), max(oldest, from)
	}
	return out, h.read(ctx, oldest)
}

// drawn are the ranges of the window that are drawn.
func (h *history) drawn(ctx context.Context) ([]span, error) {
	since, until, err := window(h.source)
	if err != nil {
		return nil, err
	}
	h.since = since
	most := min(len(h.line)-1, maxRead) // the root has no base
	if err := h.read(ctx, most+maxCommits); err != nil {
		return nil, err
	}
	var all []span
	mix := map[string]int{}
	for i := 0; i < most; {
		if at := h.line[i].At; !since.IsZero() && at.Before(since) || !until.IsZero() && !at.Before(until) {
			i++
			continue
		}
		sp, ok, err := h.grow(ctx, i)
		if err != nil {
			return nil, err
		}
		i = sp.oldest + 1
		mix[sp.class]++
		if ok {
			all = append(all, sp)
		}
	}
	return draw(all, mix, h.source.Changes, func(sp span) string {
		return string(schemas.DigestOf([]string{h.source.Repo.Root, h.line[sp.newest].Commit}))
	}), nil
}

func window(s schemas.Source) (since, until time.Time, err error) {
	for _, b := range []struct {
		text string
		at   *time.Time
	}{{s.Since, &since}, {s.Until, &until}} {
		if b.text == "" {
			continue
		}
		if *b.at, err = time.Parse(time.DateOnly, b.text); err != nil {
			return since, until, err
		}
	}
	return since, until, nil
}

// touched is what a commit touches.
type touched struct {
	code    []string // in a language
	tests   bool
	feature bool // a feature is made of it
}

func (h *history) touched(ctx context.Context, i int) (t touched, err error) {
	l := h.line[i]
	rows, err := h.repo.Raw(ctx, l.BaseTree, l.Tree)
	if err != nil {
		return t, err
	}
	ships := false
	for _, f := range rows {
		part, rule := parts.Common(f.Path)
		if parts.Ships(f.Path, part, rule) {
			ships = true
			if parts.LanguageOf(f.Path) != "" {
				t.code = append(t.code, f.Path)
			}
		}
		t.tests = t.tests || parts.Counts(part, rule) && f.Status != "D"
	}
	t.feature = ships && t.tests && h.source.Wants(schemas.KindFeature) && !h.source.DrawnForEdit(l.Commit)
	return t, nil
}

// grow is the range that ends at a place of the line: older commits belong to it as long as they are of the same author,
// within days, and of one wish. It is ok where it has code and, unless untested, tests, and says what it is for.
func (h *history) grow(ctx context.Context, i int) (sp span, ok bool, err error) {
	var all []touched
	for j := i; j < min(len(h.line)-1, i+maxCommits); j++ {
		if j > i && (h.line[j].Author != h.line[i].Author || h.line[i].At.Sub(h.line[j].At) > maxDays*24*time.Hour || h.line[j].At.Before(h.since)) {
			break
		}
		t, err := h.touched(ctx, j)
		if err != nil {
			return sp, false, err
		}
		if j > i && (t.feature || all[0].feature || !h.joins(i, j, all, t)) {
			break
		}
		all = append(all, t)
	}
	for len(all) > 1 && h.said[i+len(all)-1].tidies() { // what it tidies up is before it, and of another wish
		all = all[:len(all)-1]
	}
	sp = span{newest: i, oldest: i + len(all) - 1}
	began := h.said[sp.oldest]
	sp.class = Class(began.title) // what was begun with says what the range is for
	code, tests, ok := false, false, began.wishes() && !all[0].feature
	for k, t := range all {
		code, tests, ok = code || len(t.code) > 0, tests || t.tests, ok && !several(h.said[i+k].title)
	}
	return sp, ok && code && (tests || h.untested), nil
}

// joins reports whether the commit at j, which touches t, is of one wish with all those from i on. What only tidies up
// belongs to the commit before it, where both touch a file of the code or it is about tests alone.
func (h *history) joins(i, j int, all []touched, t touched) bool {
	own, worded := h.said[j], false
	for _, m := range h.said[i:j] {
		if m.tidies() || own.tidies() {
			continue
		}
		if worded = together(m, own); !worded {
			return false
		}
	}
	last := all[len(all)-1]
	tidying := last
	if own.tidies() {
		tidying = t
	}
	return worded || len(tidying.code) == 0 && tidying.tests ||
		slices.ContainsFunc(t.code, func(path string) bool { return slices.Contains(last.code, path) })
}

// change is a range as a record.
func (h *history) change(ctx context.Context, sp span) (schemas.Change, error) {
	newest, base, first := h.line[sp.newest], h.line[sp.oldest+1], h.said[sp.oldest]
	c := schemas.Change{
		Kind: schemas.KindEdit, Repo: h.repo.Info().Name, RepoRoot: h.repo.Info().Root, Licence: h.source.Repo.Licence, Category: h.source.Category, CategoryBy: h.source.CategoryBy,
		Commit: newest.Commit, Tree: newest.Tree, Base: base.Commit, BaseTree: base.Tree, Parents: newest.Parents,
		Subject: secrets.Scrub(first.title), Body: secrets.Scrub(first.body), Class: Class(first.title), CommittedAt: newest.At, BaseDate: base.At,
	}
	if c.Body == "" && sp.newest == sp.oldest { // of a merge, its branch may say more
		body, err := h.repo.BranchBody(ctx, newest)
		if err != nil {
			return c, err
		}
		c.Body = secrets.Scrub(body)
	}
	rows, err := h.repo.Files(ctx, base.Tree, newest.Tree)
	if err != nil {
		return c, err
	}
	for i := range rows {
		rows[i].Path, rows[i].OldPath = schemas.RecordPath(rows[i].Path), schemas.RecordPath(rows[i].OldPath)
	}
	c.Files = rows
	for i := sp.oldest; i >= sp.newest; i-- {
		title := secrets.Scrub(h.said[i].title)
		c.Range = append(c.Range, schemas.RangeCommit{Commit: h.line[i].Commit, Subject: title})
		c.Notes = append(c.Notes, schemas.Note{Text: title, Form: schemas.NoteSubject, Link: schemas.LinkSelf})
	}
	return c, nil
}

// draw takes at most n of the ranges (0: all), of each class as many as the repository has of
// it in a hundred; what a class lacks, others give. rank is the seed's order. The ranges
// stay newest first.
func draw(all []span, mix map[string]int, n int, rank func(span) string) []span {
	if n == 0 || len(all) <= n {
		return all
	}
	total := 0
	for _, m := range mix {
		total += m
	}
	by := map[string][]span{}
	for _, sp := range all {
		by[sp.class] = append(by[sp.class], sp)
	}
	var taken, rest []span
	for _, class := range slices.Sorted(maps.Keys(by)) {
		own := by[class]
		slices.SortFunc(own, func(a, b span) int { return strings.Compare(rank(a), rank(b)) })
		quota := min(n*mix[class]/total, len(own))
		taken, rest = append(taken, own[:quota]...), append(rest, own[quota:]...)
	}
	slices.SortFunc(rest, func(a, b span) int { return strings.Compare(rank(a), rank(b)) })
	taken = append(taken, rest[:n-len(taken)]...)
	slices.SortFunc(taken, func(a, b span) int { return cmp.Compare(a.newest, b.newest) })
	return taken
}
