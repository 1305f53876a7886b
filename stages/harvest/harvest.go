// Package harvest turns a source into its landed changes, newest first, each with the release that first held it, what
// release notes say of it, and the change that was the same before it.
//
// The words:
//
//   - The line is the first-parent history of the default branch; a change is a commit or merge on it, as it landed.
//   - A candidate is a change that may become a feature: it touches code and tests. Only for candidates GitHub is asked.
//   - A note is one entry of release notes: of a fragment, a changelog, a release or a tag, else the commit's own subject.
//   - A noteLinker gives notes to changes. It walks the line, and an entry that a commit adds is given by the number that
//     it names, by the change that adds it, or by the issue that a commit closes.
//   - The releaseIndex says which release held a change first, for each package of a repository.
//   - A twin is the same change on another source of the same history, or cherry-picked within one.
//
// For example, of a commit "Add colours (#12)" and a later "Release 1.2", which adds the line "- colours for widgets (#12)"
// to CHANGES.md, the change acme__widget-12 has the release v1.2 and that line as its note, linked by its number.
//
// The package never drops a change that it passed: what is not a candidate comes out as well, so that the stage after it
// can say why it was not taken. It never asks a model, and never ties a note to a change by likeness of their texts.
package harvest

import (
	"context"
	"errors"
	"fmt"
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

// Repos opens repositories at the head that their records name, or where they stand
// where a record names none; release gives one back. This stage has one open at a time.
type Repos interface {
	Open(ctx context.Context, r schemas.Repo) (repo *gitrepo.Repo, release func(), err error)
}

// Harvester is the stage.
type Harvester struct {
	repos Repos
	pulls pulls.Forge
}

// New reads from repos. forge is asked of sources that name a repository on GitHub; nil is
// asked nothing.
func New(repos Repos, forge pulls.Forge) *Harvester { return &Harvester{repos, forge} }

var _ pipeline.Expander[schemas.Crawled, schemas.Change] = (*Harvester)(nil)

// Run lists the changes of a source's window, newest first, until as many
// candidates came by as the source asks for (0: all). An entry of only that no
// change answers to is an error: an exact selection with a slip in it would give
// a dataset that is not what was asked for.
func (h *Harvester) Run(ctx context.Context, c schemas.Crawled) ([]schemas.Change, error) {
	changes, err := h.run(ctx, c)
	if errors.Is(err, gitrepo.ErrRemote) {
		return nil, &pipeline.Deferred{Resource: "git", Err: err}
	}
	var deferred *pipeline.Deferred
	if errors.As(err, &deferred) {
		return nil, deferred
	}
	if err != nil {
		return nil, fmt.Errorf("reading the history of %s: %w", c.Source.Repo.Name, err)
	}
	return changes, unanswered(features(c.Source.Only), changes)
}

func (h *Harvester) run(ctx context.Context, c schemas.Crawled) ([]schemas.Change, error) {
	only := features(c.Source.Only)
	if len(only) == 0 && len(c.Source.Only) > 0 {
		return []schemas.Change{}, nil // ranges alone are asked for
	}
	c.Source.Only = only
	query, err := queryOf(c.Source)
	if err != nil {
		return nil, err
	}
	pipeline.Doing(ctx, "reading the history")
	changes, err := h.read(ctx, c, query)
	if err != nil {
		return nil, err
	}
	pipeline.Doing(ctx, "looking up what the pull requests of %d changes say", len(changes))
	// Changes that are no candidates are not paid for.
	number := func(i int) (int, bool) { return changes[i].Number, Candidate(changes[i]) }
	if err := pulls.Tell(ctx, h.pulls, c.Source.GitHub, changes, number); err != nil {
		return nil, err
	}
	for i := range changes {
		scrub(&changes[i])
	}
	return changes, h.nameTwins(ctx, c.Source, changes)
}

// features are the entries of only that name no range.
func features(only []string) []string {
	return slices.DeleteFunc(slices.Clone(only), func(s string) bool { return strings.Contains(s, "..") })
}

// scrub takes credentials out of what was written of a change.
func scrub(c *schemas.Change) {
	texts := []*string{&c.Subject, &c.Body}
	c.Notes = slices.Clone(c.Notes)
	for i := range c.Notes {
		texts = append(texts, &c.Notes[i].Heading, &c.Notes[i].Text)
	}
	for _, t := range texts {
		*t = secrets.Scrub(*t)
	}
}

func (h *Harvester) read(ctx context.Context, c schemas.Crawled, query gitrepo.Query) ([]schemas.Change, error) {
	s := c.Source
	repo, release, err := h.repos.Open(ctx, s.Repo)
	if err != nil {
		return nil, err
	}
	defer release()
	history, err := repo.History(ctx)
	if err != nil {
		return nil, err
	}
	releases := newReleaseIndex(c.Releases, history)
	line := newLine(repo.Line())
	changes, candidates := []schemas.Change{}, 0
	for change, err := range repo.Log(ctx, query) {
		if err != nil {
			return nil, err
		}
		at := line.at[change.Commit]
		if s.Releases > 0 && at >= releases.end(s.Releases) {
			break
		}
		if s.Releases > 0 && !releases.inWindow(change, at, s.Releases) {
			continue
		}
		change.Category, change.CategoryBy = s.Category, s.CategoryBy
		first := releases.first(change, at)
		change.Release, change.ReleasedAt = first.Tag, first.Date
		if Candidate(change) && s.DrawnForEdit(change.Commit) {
			change.LeftTo = schemas.KindEdit
		}
		changes = append(changes, change)
		if Candidate(change) {
			candidates++
		}
		if s.Changes > 0 && candidates == s.Changes && len(s.Only) == 0 {
			break
		}
	}
	for i := range changes {
		if _, err := twin(ctx, repo, &changes[i]); err != nil {
			return nil, err
		}
	}
	return changes, takeNotes(ctx, &noteLinker{repo: repo, history: history, releases: releases, line: line, changes: changes})
}

// nameTwins names twins on sources that come before this one: they count before one that is
// earlier on this line.
func (h *Harvester) nameTwins(ctx context.Context, s schemas.Source, changes []schemas.Change) error {
	found := make([]bool, len(changes))
	for _, name := range s.EarlierSources {
		if err := h.elder(ctx, name, s.Repo.Root, changes, found); err != nil {
			return fmt.Errorf("reading elder source: %w", err)
		}
	}
	return nil
}

func (h *Harvester) elder(ctx context.Context, name, root string, changes []schemas.Change, found []bool) error {
	repo, release, err := h.repos.Open(ctx, schemas.Repo{Name: name})
	if err != nil {
		return err
	}
	defer release()
	if repo.Info().Root != root {
		return nil
	}
	for i := range changes {
		if found[i] {
			continue
		}
		if found[i], err = twin(ctx, repo, &changes[i]); err != nil {
			return err
		}
	}
	return nil
}

// twin names the oldest change of a line that had the same identity; false where the line
// has none.
func twin(ctx context.Context, line *gitrepo.Repo, c *schemas.Change) (bool, error) {
	id, err := line.Oldest(ctx, c.BaseTree, c.Tree)
	if err != nil || id == "" {
		return false, err
	}
	c.Twin = ""
	if c.Base != "" && id != c.ID() {
		c.Twin = id
	}
	return true, nil
}

func queryOf(s schemas.Source) (gitrepo.Query, error) {
	q := gitrepo.Query{Only: s.Only}
	for _, bound := range []struct {
		key, value string
		at         *time.Time
	}{{"since", s.Since, &q.Since}, {"until", s.Until, &q.Until}} {
		if bound.value == "" {
			continue
		}
		at, err := time.Parse(time.DateOnly, bound.value) // in UTC, where no zone is named
		if err != nil {
			return q, fmt.Errorf("reading %s: %w", bound.key, err)
		}
		*bound.at = at
	}
	return q, nil
}

// Candidate reports whether a change touches both code and tests, by its paths
// alone, and is not left to edits. The link stage looks closer, and may think otherwise.
func Candidate(c schemas.Change) bool {
	if c.Base == "" || c.LeftTo != "" {
		return false
	}
	var code, test bool
	for _, f := range c.Files {
		part, rule := parts.Common(f.Path)
		code = code || parts.Ships(f.Path, part, rule)
		test = test || parts.Counts(part, rule) && f.Status != "D"
	}
	return code && test
}

// unanswered names the entries of only that mean none of the changes.
func unanswered(only []string, changes []schemas.Change) error {
	var failed []error
	for _, entry := range only {
		found := false
		for _, c := range changes {
			found = found || gitrepo.Selects(entry, c.Commit, c.Number)
		}
		if !found {
			failed = append(failed, fmt.Errorf("only: no landed change in the window is %q", entry))
		}
	}
	return errors.Join(failed...)
}

// line is the first-parent line, with the places of its commits and numbers.
type line struct {
	commits []gitrepo.Landed
	at      map[string]int // by commit
	numbers map[int]int    // places by number
}

func newLine(commits []gitrepo.Landed) *line {
	l := &line{commits: commits, at: map[string]int{}, numbers: map[int]int{}}
	for i, c := range commits {
		l.at[c.Commit] = i
		if c.Number != 0 {
			l.numbers[c.Number] = i
		}
	}
	return l
}
