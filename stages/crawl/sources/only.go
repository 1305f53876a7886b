package sources

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/schemas"
)

// pick turns exact selections into numbers and commits that their repositories have,
// and leaves out a source of which nothing is asked. An entry that no source answers
// to is a problem: all of them are said before anything starts.
//
// What a flag gives holds for all sources, and each takes what it has. What a file
// gives one source is that source's.
func (s *Set) pick(ctx context.Context) (config.Problems, error) {
	var kept []schemas.Source
	var asked []*asking
	for _, src := range s.order {
		if len(src.Only) == 0 {
			kept = append(kept, src)
			continue
		}
		s.asked[src.Repo.Name] = true
		origin := s.config.Origin(fmt.Sprintf("sources[%d].only", s.place[src.Repo.Name]))
		only := []string{}
		for _, entry := range src.Only {
			a := askingFor(&asked, entry, origin)
			selection, ok, err := s.answer(ctx, src, entry, a)
			if err != nil {
				return nil, err
			}
			if ok {
				only = append(only, selection)
			}
		}
		if src.Only = only; len(only) > 0 {
			kept = append(kept, src)
		}
	}
	known, err := s.idsOf(ctx, asked)
	if err != nil {
		return nil, err
	}
	s.order = kept
	var problems config.Problems
	for _, a := range asked {
		if !a.answered || a.twice != "" {
			problems = append(problems, config.Problem{Where: a.origin.Where, Text: a.problem(slices.Concat(known, a.slices))})
		}
	}
	return problems, nil
}

// asking is one entry of exact selections, and what became of it.
type asking struct {
	entry    string
	origin   config.Origin
	answered bool
	outside  string   // where it was found, out of the window
	twice    string   // the changes that it may mean
	sources  []string // that were asked
	made     []string // what these have: landed changes, releases
	slices   []string // IDs of those of the release that the entry begins with
}

// asks notes that a source is asked.
func (a *asking) asks(src schemas.Source) {
	a.sources = append(a.sources, src.ID())
	var have []string
	if makesChanges(src) {
		have = append(have, "landed change")
	}
	if src.Wants(schemas.KindLibrary) {
		have = append(have, "release")
	}
	if src.Wants(schemas.KindService) {
		have = append(have, "group of endpoints")
	}
	for _, what := range have {
		if !slices.Contains(a.made, what) {
			a.made = append(a.made, what)
		}
	}
}

// makesChanges reports whether tasks are made of a source's changes.
func makesChanges(src schemas.Source) bool {
	return src.Wants(schemas.KindFeature) || src.Wants(schemas.KindEdit)
}

func askingFor(all *[]*asking, entry string, origin config.Origin) *asking {
	for _, a := range *all {
		if a.entry == entry && a.origin == origin {
			return a
		}
	}
	a := &asking{entry: entry, origin: origin}
	*all = append(*all, a)
	return a
}

// commitDigits is how many digits of a commit are in an ID.
const commitDigits = 12

// answer asks one source for an entry.
func (s *Set) answer(ctx context.Context, src schemas.Source, entry string, a *asking) (selection string, ok bool, err error) {
	selection = entry
	if id, err := schemas.ParseInstanceID(entry); err == nil {
		if !strings.EqualFold(id.Repo, src.ID()) {
			a.asks(src)
			return "", false, nil
		}
		selection = KeyToSelection(id.Key)
	}
	a.asks(src)
	repo, release, err := s.Open(ctx, src.Repo)
	if errors.Is(err, gitrepo.ErrRemote) { // it does not answer: nobody knows yet
		a.answered = true
		return selection, true, nil
	}
	if err != nil {
		return "", false, err
	}
	defer release()
	if src.Wants(schemas.KindLibrary) {
		only, ok, err := s.released(ctx, src, repo, a)
		if ok || err != nil {
			a.answered = a.answered || ok
			return only, ok, err
		}
	}
	if src.Wants(schemas.KindService) {
		only, ok, err := s.served(ctx, src, repo, a)
		if ok || err != nil {
			a.answered = a.answered || ok
			return only, ok, err
		}
	}
	if !src.Wants(schemas.KindFeature) && !src.Wants(schemas.KindEdit) {
		return "", false, nil
	}
	if base, commit, ok := gitrepo.Between(entry); ok {
		from, err := repo.Answer(ctx, base)
		if err != nil {
			return "", false, fmt.Errorf("looking for %s in %s: %w", entry, src.Repo.Name, err)
		}
		to, err := repo.Answer(ctx, commit)
		a.answered = a.answered || err == nil && len(from) > 0 && len(to) > 0
		return entry, a.answered, err
	}
	return s.change(ctx, src, repo, selection, a)
}

// change is what a selection means among the changes of a source.
func (s *Set) change(ctx context.Context, src schemas.Source, repo *gitrepo.Repo, selection string, a *asking) (_ string, ok bool, err error) {
	selection, found, twice, err := s.landed(ctx, src, repo, selection)
	if twice != "" {
		a.twice = twice
		return "", false, nil
	}
	// The end of an ID, as a reader copies it: c and the commit.
	if commit := KeyToSelection(a.entry); err == nil && len(found) == 0 && len(commit) == commitDigits && commit != a.entry {
		selection = commit
		found, err = repo.Answer(ctx, selection)
	}
	if err != nil {
		return "", false, err
	}
	for _, landed := range found {
		if out := outside(&src, landed); out != "" {
			a.outside = out
			continue
		}
		a.answered, ok = true, true
	}
	return selection, ok, nil
}

// released is what an entry means among releases and their slices, as the stage that cuts them has it.
func (s *Set) released(ctx context.Context, src schemas.Source, repo *gitrepo.Repo, a *asking) (only string, ok bool, err error) {
	releases, err := repo.Releases(ctx)
	if err != nil {
		return "", false, fmt.Errorf("reading the releases of %s: %w", src.Repo.Name, err)
	}
	if only, ok = s.makers.Release(src.Repo.Name, releases, a.entry); ok {
		return only, true, nil
	}
	if !s.config.Library.Sliced() {
		return "", false, nil
	}
	ids, err := s.makers.Slices(ctx, s, src.Repo, releases, a.entry)
	if err != nil {
		return "", false, fmt.Errorf("listing the slices of %s: %w", src.Repo.Name, err)
	}
	for _, id := range ids {
		if parsed, err := schemas.ParseInstanceID(id); err == nil && (strings.EqualFold(id, a.entry) || strings.EqualFold(parsed.Key, a.entry)) {
			return parsed.Key, true, nil
		}
	}
	a.slices = append(a.slices, ids...)
	return "", false, nil
}

// idsOf are the IDs of all changes of the sources, where an entry is to be likened to
// them.
func (s *Set) idsOf(ctx context.Context, asked []*asking) (ids []string, err error) {
	if !slices.ContainsFunc(asked, func(a *asking) bool { return !a.answered }) {
		return nil, nil
	}
	for _, src := range s.order {
		if makesChanges(src) {
			line, err := s.lineOf(ctx, src.Repo)
			if err != nil {
				return nil, err
			}
			for _, c := range line {
				ids = append(ids, schemas.FeatureID(src.Repo.Name, c.Number, c.Commit).String())
			}
		}
		more, err := s.librariesOf(ctx, src)
		if err != nil {
			return nil, err
		}
		groups, err := s.groupsOf(ctx, src)
		if err != nil {
			return nil, err
		}
		ids = append(append(ids, more...), groups...)
	}
	return ids, nil
}

// librariesOf are the IDs of the library tasks of a source's releases, nothing where it makes
// none or does not answer.
func (s *Set) librariesOf(ctx context.Context, src schemas.Source) (ids []string, err error) {
	if !src.Wants(schemas.KindLibrary) {
		return nil, nil
	}
	err = s.reading(ctx, src.Repo, func(repo *gitrepo.Repo) error {
		releases, err := repo.Releases(ctx)
		for _, r := range releases {
			ids = append(ids, schemas.Cut{Repo: src.Repo.Name, Release: r, Profile: s.config.Library.Profile}.ID())
		}
		return err
	})
	return ids, err
}

// reading has a repository read. Of one that does not answer there is nothing to read.
func (s *Set) reading(ctx context.Context, r schemas.Repo, read func(*gitrepo.Repo) error) error {
	repo, release, err := s.Open(ctx, r)
	if errors.Is(err, gitrepo.ErrRemote) {
		return nil
	}
	if err != nil {
		return err
	}
	defer release()
	return read(repo)
}

// lineOf is the line of a source, nothing where it does not answer. A URL is fetched for it.
func (s *Set) lineOf(ctx context.Context, r schemas.Repo) (line []gitrepo.Landed, err error) {
	err = s.reading(ctx, r, func(repo *gitrepo.Repo) error {
		line = repo.Line()
		return nil
	})
	return line, err
}

func (a *asking) problem(ids []string) string {
	key := ""
	if a.origin.Layer == config.FromFile {
		key = "only: "
	}
	where, what := strings.Join(a.sources, ", "), strings.Join(a.made, " or ")
	id, err := schemas.ParseInstanceID(a.entry)
	switch {
	case a.twice != "":
		return fmt.Sprintf("%s%s is %s; say which", key, a.entry, a.twice)
	case a.outside != "":
		return fmt.Sprintf("%s%s is %s", key, a.entry, a.outside)
	case err == nil && !slices.ContainsFunc(a.sources, func(s string) bool { return strings.EqualFold(s, id.Repo) }):
		return fmt.Sprintf("%s%s is of no source of this run (%s)%s", key, a.entry, where, nearest.Hint(id.Repo, a.sources))
	case err == nil:
		return fmt.Sprintf("%s%s has no %s %q%s", key, id.Repo, what, a.entry, a.near(ids))
	case len(a.sources) == 1:
		return fmt.Sprintf("%s%s has no %s %q%s", key, where, what, a.entry, a.near(ids))
	}
	return fmt.Sprintf("%snone of %s has a %s %q%s", key, where, what, a.entry, a.near(ids))
}

// near names the IDs that were probably meant: those that differ in a letter or two, for a
// number those next to it, for the beginning of a tag the newest that goes on so.
func (a *asking) near(ids []string) string {
	if strings.Contains(a.entry, "__") {
		return nearest.Hint(a.entry, ids)
	}
	keys := map[string]string{}
	var words []string
	if group, ok := nearest.Word(a.entry, a.groups(ids)); ok {
		return "; did you mean " + group + "?"
	}
	for _, id := range ids {
		if parsed, err := schemas.ParseInstanceID(id); err == nil && slices.Contains(a.sources, parsed.Repo) {
			word := strings.TrimSuffix(parsed.Key, "."+string(schemas.KindLibrary)) // a tag
			keys[word] = id
			words = append(words, word)
		}
	}
	if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, a.entry+".") }); i >= 0 {
		return "; did you mean " + keys[words[i]] + "?"
	}
	word, ok := nearest.Word(strings.TrimPrefix(a.entry, "#"), words)
	if !ok {
		return ""
	}
	return "; did you mean " + keys[word] + "?"
}

// KeyToSelection is an ID's key as git knows it: c and 12 hex digits is a commit.
func KeyToSelection(key string) string { return strings.TrimPrefix(key, "c") }

// silentName is the name of a source that does not answer.
func silentName(src config.Source) string {
	if src.Name != "" {
		return src.Name
	}
	name, _ := gitrepo.NameOf(src.Git)
	return name
}
