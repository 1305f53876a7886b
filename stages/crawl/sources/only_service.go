package sources

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/schemas"
)

// served is what an entry means among the commits and groups of a service: a tag or commit of
// the line, a group that the head declares, or the ID of a task. Nothing is started for it.
func (s *Set) served(ctx context.Context, src schemas.Source, repo *gitrepo.Repo, a *asking) (only string, ok bool, err error) {
	entry := a.entry
	if id, err := schemas.ParseInstanceID(entry); err == nil {
		entry = id.Key
	}
	releases, err := repo.Releases(ctx)
	if err != nil {
		return "", false, fmt.Errorf("reading the releases of %s: %w", src.Repo.Name, err)
	}
	line := repo.Line()
	named := func(tag string) bool {
		commit, short := strings.CutPrefix(tag, "c")
		return slices.ContainsFunc(releases, func(r schemas.Release) bool { return r.Tag == tag }) ||
			slices.ContainsFunc(line, func(l gitrepo.Landed) bool {
				const least = 7
				return len(tag) >= least && strings.HasPrefix(l.Commit, strings.ToLower(tag)) || short && len(commit) == commitDigits && strings.HasPrefix(l.Commit, commit)
			})
	}
	if named(entry) {
		return strings.TrimPrefix(entry, "c"), true, nil
	}
	groups, err := s.declared(ctx, repo)
	if err != nil {
		return "", false, fmt.Errorf("reading the endpoints of %s: %w", src.Repo.Name, err)
	}
	if slices.Contains(groups, entry) {
		return entry, true, nil
	}
	key, variant, isTask := schemas.CutService(entry)
	if variant != "" && !s.config.Service.Env {
		return "", false, refuse("--only: %s is an environment variant; set service.env to make such tasks", entry)
	}
	if at := strings.LastIndexByte(key, '.'); isTask && at > 0 && named(key[:at]) && slices.Contains(groups, key[at+1:]) {
		return entry, true, nil
	}
	return "", false, nil
}

// declared are the groups that the head of a repository declares.
func (s *Set) declared(ctx context.Context, repo *gitrepo.Repo) ([]string, error) {
	t, err := repo.Tree(ctx, repo.Info().Head)
	if err != nil {
		return nil, err
	}
	return s.makers.Groups(t)
}

// groupsOf are the IDs of the service tasks that the head of a source may give, nothing where it
// makes none or does not answer.
func (s *Set) groupsOf(ctx context.Context, src schemas.Source) (ids []string, err error) {
	if !src.Wants(schemas.KindService) {
		return nil, nil
	}
	err = s.reading(ctx, src.Repo, func(repo *gitrepo.Repo) error {
		groups, err := s.declared(ctx, repo)
		head := schemas.Untagged(src.Repo.Name, repo.Info().Head, repo.Line()[0].At)
		for _, g := range groups {
			ids = append(ids, schemas.ServiceID(src.Repo.Name, head.Tag, g, "").String())
		}
		return err
	})
	return ids, err
}

// DeclaredGroups is how many groups the heads of all sources declare that make services.
func (s *Set) DeclaredGroups(ctx context.Context) (n int, err error) {
	for _, src := range s.order {
		ids, err := s.groupsOf(ctx, src)
		if err != nil {
			return n, fmt.Errorf("reading the endpoints of %s: %w", src.Repo.Name, err)
		}
		n += len(ids)
	}
	return n, nil
}

// groups are the names of the groups among IDs of the sources that were asked.
func (a *asking) groups(ids []string) (names []string) {
	for _, id := range ids {
		parsed, err := schemas.ParseInstanceID(id)
		key, _, ok := schemas.CutService(parsed.Key)
		if err == nil && ok && slices.Contains(a.sources, parsed.Repo) {
			names = append(names, key[strings.LastIndexByte(key, '.')+1:])
		}
	}
	return names
}
