// Package crawl turns a source into its landed changes, newest first.
//
// It never drops a change that it passed: what is no candidate comes out as
// well, so that the stage after it can say why it was not taken.
package crawl

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Version is part of the stage's fingerprint.
const Version = "1"

// Repos reads histories by the repository's name.
type Repos interface {
	Log(ctx context.Context, repo string, q gitrepo.Query) iter.Seq2[schemas.Change, error]
}

// Crawler is the stage.
type Crawler struct{ repos Repos }

// New reads from repos.
func New(repos Repos) *Crawler { return &Crawler{repos: repos} }

var _ pipeline.Expander[schemas.Source, schemas.Change] = (*Crawler)(nil)

// Run lists the changes of a source's window, newest first, until as many
// candidates came by as the source asks for (0: all). An entry of only that no
// change answers to is an error: an exact selection with a slip in it would give
// a dataset that is not what was asked for.
func (c *Crawler) Run(ctx context.Context, s schemas.Source) ([]schemas.Change, error) {
	query, err := queryOf(s)
	if err != nil {
		return nil, err
	}
	changes, candidates := []schemas.Change{}, 0
	for change, err := range c.repos.Log(ctx, s.Repo.Name, query) {
		if errors.Is(err, gitrepo.ErrRemote) {
			return nil, &pipeline.Deferred{Resource: "git", Err: err}
		}
		if err != nil {
			return nil, fmt.Errorf("reading the history of %s: %w", s.Repo.Name, err)
		}
		changes = append(changes, change)
		if Candidate(change) {
			candidates++
		}
		if s.Changes > 0 && candidates == s.Changes && len(s.Only) == 0 {
			break
		}
	}
	return changes, unanswered(s.Only, changes)
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

// Candidate tells whether a change touches both code and tests, by its paths
// alone. The link stage looks closer, and may think otherwise.
func Candidate(c schemas.Change) bool {
	if c.Base == "" {
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
