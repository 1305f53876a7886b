package sources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/schemas"
)

// merges are the commits that GitHub says pull requests were merged as, by the source's
// name and the number: git does not say the number of each change.
type merges map[string]map[int]string

// merged asks GitHub for the pull requests that exact selections name. A source of which it
// does not answer is among later, with the error that ends a run that needs it.
func (f *Finder) merged(ctx context.Context, s *Set) (known merges, later map[string]error, err error) {
	known, later = merges{}, map[string]error{}
	for _, src := range s.order {
		numbers := numbersOf(src)
		if len(numbers) == 0 || src.GitHub == "" || f.GitHub == nil || !f.GitHub.Knows(src.GitHub) {
			continue
		}
		pulls, err := f.GitHub.Pulls(ctx, src.GitHub, numbers)
		for err != nil {
			var refused *RefusedError
			if waited := f.pause(ctx, err); errors.As(waited, &refused) {
				later[src.Repo.Name] = waited
				break
			} else if waited != nil {
				return nil, nil, waited
			}
			pulls, err = f.GitHub.Pulls(ctx, src.GitHub, numbers)
		}
		known[src.Repo.Name] = map[int]string{}
		for n, pull := range pulls {
			known[src.Repo.Name][n] = pull.Merge
		}
	}
	return known, later, nil
}

// numbersOf are the pull request numbers that an exact selection of a source names.
func numbersOf(src schemas.Source) []int {
	var out []int
	for _, entry := range src.Only {
		if id, err := schemas.ParseInstanceID(entry); err == nil {
			if !strings.EqualFold(id.Repo, src.ID()) {
				continue
			}
			entry = id.Key
		}
		if n := numberIn(entry); n > 0 && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// numberIn is the number that a selection is, 0 where it is something else.
func numberIn(selection string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(selection, "#"))
	if err != nil {
		return 0
	}
	return n
}

// landed is what of the line of a source a selection names: by git, and by the number that
// GitHub alone knows. A number that names one change by git and another one by GitHub is an
// error that says both, as twice.
func (s *Set) landed(ctx context.Context, src schemas.Source, repo *gitrepo.Repo, selection string) (means string, found []gitrepo.Landed, twice string, err error) {
	if found, err = repo.Answer(ctx, selection); err != nil {
		return selection, nil, "", fmt.Errorf("looking for %s in %s: %w", selection, src.Repo.Name, err)
	}
	n := numberIn(selection)
	if n == 0 {
		return selection, found, "", nil
	}
	if why := s.unknownNumbers[src.Repo.Name]; why != nil && len(found) == 0 {
		return selection, nil, "", why
	}
	commit := s.merged[src.Repo.Name][n]
	if commit == "" || slices.ContainsFunc(found, func(l gitrepo.Landed) bool { return l.Commit == commit }) {
		return selection, found, "", nil
	}
	by, err := repo.Answer(ctx, commit)
	if err != nil {
		return selection, nil, "", fmt.Errorf("looking for %s in %s: %w", commit, src.Repo.Name, err)
	}
	// One with a number of its own has its ID by that.
	by = slices.DeleteFunc(by, func(l gitrepo.Landed) bool { return l.Number != 0 })
	switch {
	case len(by) == 0:
		return selection, found, "", nil
	case len(found) > 0:
		id := func(l gitrepo.Landed) string { return schemas.FeatureID(src.Repo.Name, l.Number, l.Commit).String() }
		return selection, nil, id(found[0]) + " or " + id(by[0]), nil
	}
	return commit, by, "", nil
}
