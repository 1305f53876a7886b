// Package pulls gives changes what a forge says of their pull requests.
//
// It never gives a change a number or an ID: these come from git alone.
package pulls

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// Forge gives pull requests of owner/name by number, as package github does. A number that
// is none is not among the answers.
type Forge interface {
	Pulls(ctx context.Context, name string, numbers []int) (map[int]schemas.Pull, error)
	// Merged gives those that were touched since a time, by the commit they were merged as.
	Merged(ctx context.Context, name string, since time.Time) (map[string]schemas.Pull, error)
}

// Tell asks what the pull requests of changes say, without credentials: by number, and those without
// one by the commit that the forge says it merged. number is that of a change, and whether it is asked
// for at all. A nil forge, and a source without a name there, is asked nothing. Errors:
// *pipeline.Deferred where the forge does not answer, or a fault.
func Tell(ctx context.Context, forge Forge, name string, changes []schemas.Change, number func(i int) (n int, asked bool)) error {
	if forge == nil || name == "" {
		return nil
	}
	var numbers []int
	var oldest time.Time // of those without a number
	for i, c := range changes {
		switch n, asked := number(i); {
		case !asked:
		case n > 0:
			numbers = append(numbers, n)
		case oldest.IsZero() || c.CommittedAt.Before(oldest):
			oldest = c.CommittedAt
		}
	}
	slices.Sort(numbers)
	byNumber, byCommit, err := ask(ctx, forge, name, slices.Compact(numbers), oldest)
	if err != nil {
		return put(err)
	}
	for i, c := range changes {
		n, asked := number(i)
		p, ok := byNumber[n]
		if n == 0 {
			p, ok = byCommit[c.Commit]
		}
		if asked && ok {
			p.Title, p.Body = secrets.Scrub(p.Title), secrets.Scrub(p.Body)
			changes[i].Pull = &p
		}
	}
	return nil
}

func ask(ctx context.Context, forge Forge, name string, numbers []int, oldest time.Time) (byNumber map[int]schemas.Pull, byCommit map[string]schemas.Pull, err error) {
	if len(numbers) > 0 {
		if byNumber, err = forge.Pulls(ctx, name, numbers); err != nil {
			return nil, nil, err
		}
	}
	if !oldest.IsZero() {
		byCommit, err = forge.Merged(ctx, name, oldest)
	}
	return byNumber, byCommit, err
}

// put is an error as a stage ends with it. A repository that is gone was there when the run began:
// the next run asks what became of it.
func put(err error) error {
	var later *github.Later
	var gone *github.Gone
	switch {
	case errors.As(err, &later):
		return &pipeline.Deferred{Resource: github.Resource, Until: later.Until, Err: err}
	case errors.As(err, &gone):
		return &pipeline.Deferred{Resource: github.Resource, Err: err}
	}
	return err
}
