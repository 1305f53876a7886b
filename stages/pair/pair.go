// Package pair turns a source into commit ranges: a base and a later commit of its line, made
// by one author within days, over files that overlap, with code and tests.
//
// It never cuts a merge apart, never makes two ranges of one commit, and never asks a model:
// which ranges are taken is drawn by a seed, to the repository's own mix of changes.
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
)

// Version is part of the stage's fingerprint.
const Version = "2"

// The bounds of a range (design 2: an edit is told in a sentence).
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
type Pairer struct{ repos Repos }

// New reads from repos.
func New(repos Repos) *Pairer { return &Pairer{repos} }

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
	line := repo.Line()
	var spans []span
	if len(s.Only) > 0 {
		spans, err = named(line, s.Only)
	} else {
		spans, err = p.found(ctx, repo, line, s)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for ranges in %s: %w", s.Repo.Name, err)
	}
	words, err := said(ctx, repo, line, spans)
	if err != nil {
		return nil, fmt.Errorf("reading the messages of %s: %w", s.Repo.Name, err)
	}
	out := []schemas.Change{}
	for _, sp := range spans {
		change, err := sp.change(ctx, repo, line, words)
		if err != nil {
			return nil, fmt.Errorf("reading a range of %s: %w", s.Repo.Name, err)
		}
		change.Category, change.Licence = s.Category, s.Repo.Licence
		out = append(out, change)
	}
	return out, nil
}

// span is a range of the line by its places: newest and oldest commit.
type span struct {
	newest, oldest int
	class          string
	code, tests    bool
}

// named are the ranges that a configuration names. What names something else is for others.
func named(line []gitrepo.Landed, only []string) (out []span, err error) {
	at := func(prefix string) int {
		return slices.IndexFunc(line, func(l gitrepo.Landed) bool { return strings.HasPrefix(l.Commit, strings.ToLower(prefix)) })
	}
	for _, entry := range only {
		base, commit, ok := gitrepo.Between(entry)
		if !ok {
			continue
		}
		from, to := at(base), at(commit)
		if from < 0 || to < 0 || from <= to {
			return nil, fmt.Errorf("only: %q is not a commit of the line and a later one", entry)
		}
		out = append(out, span{newest: to, oldest: from - 1})
	}
	return out, nil
}

// found are the ranges of the window that are drawn.
func (p *Pairer) found(ctx context.Context, repo *gitrepo.Repo, line []gitrepo.Landed, s schemas.Source) ([]span, error) {
	since, until, err := window(s)
	if err != nil {
		return nil, err
	}
	var all []span
	mix := map[string]int{}
	for i := 0; i < min(len(line)-1, maxRead); { // the root has no base
		if at := line[i].At; !since.IsZero() && at.Before(since) || !until.IsZero() && !at.Before(until) {
			i++
			continue
		}
		sp, err := grow(ctx, repo, line, i, since)
		if err != nil {
			return nil, err
		}
		i = sp.oldest + 1
		mix[sp.class]++
		// A single commit with code and tests is a feature already.
		if sp.code && sp.tests && (sp.newest != sp.oldest || !s.Wants(schemas.KindFeature)) {
			all = append(all, sp)
		}
	}
	return draw(all, mix, s.Changes, func(sp span) string { return string(schemas.DigestOf([]string{s.Repo.Root, line[sp.newest].Commit})) }), nil
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

// grow is the range that ends at a place of the line: older commits belong to it as long as
// they are of the same author, within days, and touch a code file that it touches.
func grow(ctx context.Context, repo *gitrepo.Repo, line []gitrepo.Landed, i int, since time.Time) (span, error) {
	sp := span{newest: i, oldest: i, class: Class(line[i].Subject)}
	touched := map[string]bool{}
	for j := i; j < len(line)-1 && j-i < maxCommits; j++ {
		l := line[j]
		if j > i && (l.Author != line[i].Author || line[i].At.Sub(l.At) > maxDays*24*time.Hour || l.At.Before(since)) {
			break
		}
		rows, err := repo.Raw(ctx, l.BaseTree, l.Tree)
		if err != nil {
			return sp, err
		}
		var code []string
		tests := false
		for _, f := range rows {
			part, rule := parts.Common(f.Path)
			if parts.Ships(f.Path, part, rule) && parts.LanguageOf(f.Path) != "" {
				code = append(code, f.Path)
			}
			tests = tests || parts.Counts(part, rule) && f.Status != "D"
		}
		if j > i && !slices.ContainsFunc(code, func(path string) bool { return touched[path] }) {
			break
		}
		for _, path := range code {
			touched[path] = true
		}
		// What was begun with says what the range is for.
		sp.oldest, sp.code, sp.tests, sp.class = j, sp.code || len(code) > 0, sp.tests || tests, Class(l.Subject)
		if len(code) == 0 {
			break
		}
	}
	return sp, nil
}

// message is what a commit says: of a merge, what the pull request is called.
type message struct{ title, body string }

// said are the messages of all commits of ranges.
func said(ctx context.Context, repo *gitrepo.Repo, line []gitrepo.Landed, spans []span) (map[string]message, error) {
	var commits []string
	for _, sp := range spans {
		for i := sp.newest; i <= sp.oldest; i++ {
			commits = append(commits, line[i].Commit)
		}
	}
	out := map[string]message{}
	if len(commits) == 0 {
		return out, nil
	}
	for c, err := range repo.Log(ctx, gitrepo.Query{Only: commits}) {
		if err != nil {
			return nil, err
		}
		m := message{c.Subject, c.Body}
		if strings.HasPrefix(c.Subject, "Merge ") {
			title, rest, _ := strings.Cut(strings.TrimSpace(c.Body), "\n")
			if title != "" && !strings.HasPrefix(title, "#") { // "# Conflicts:" is git's
				m = message{strings.TrimSpace(title), strings.TrimSpace(rest)}
			}
		}
		out[c.Commit] = message{secrets.Scrub(m.title), secrets.Scrub(m.body)}
	}
	return out, nil
}

// change is a range as a record.
func (sp span) change(ctx context.Context, repo *gitrepo.Repo, line []gitrepo.Landed, words map[string]message) (schemas.Change, error) {
	newest, oldest, base := line[sp.newest], line[sp.oldest], line[sp.oldest+1]
	c := schemas.Change{
		Kind: schemas.KindEdit, Repo: repo.Info().Name, RepoRoot: repo.Info().Root, Commit: newest.Commit, Tree: newest.Tree,
		Base: base.Commit, BaseTree: base.Tree, Parents: newest.Parents, Subject: words[oldest.Commit].title, Body: words[oldest.Commit].body, Class: Class(words[oldest.Commit].title), CommittedAt: newest.At, BaseDate: base.At,
	}
	rows, err := repo.Files(ctx, base.Tree, newest.Tree)
	if err != nil {
		return c, err
	}
	for i := range rows {
		rows[i].Path, rows[i].OldPath = schemas.RecordPath(rows[i].Path), schemas.RecordPath(rows[i].OldPath)
	}
	c.Files = rows
	for i := sp.oldest; i >= sp.newest; i-- {
		title := words[line[i].Commit].title
		c.Range = append(c.Range, schemas.RangeCommit{Commit: line[i].Commit, Subject: title})
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
