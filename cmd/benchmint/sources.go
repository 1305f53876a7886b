package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/crawl"
	"github.com/benchmint/benchmint/stages/harvest"
)

// sources are the repositories of a run, by name. They are looked up before it begins,
// and opened when a stage asks for one.
type sources struct {
	shelf   *gitrepo.Shelf
	origins map[string]*gitrepo.Origin
	order   []schemas.Source
	place   map[string]int  // of names in the configuration
	asked   map[string]bool // names of sources of which exact changes are asked
	// late are those that had to be fetched when the run began: what they need of this
	// machine shows when they are crawled.
	late map[string]bool
	// lacks tells what this machine cannot build a source without; nil where nothing is
	// built.
	lacks func(ctx context.Context, source string, files map[string]int) error
	// silent are those that do not answer and have no mirror, by name: the crawl puts
	// them off. later holds those as well that a mirror stands in for: the run ends with
	// "again later".
	silent map[string]error
	later  []error
	// absent are those that GitHub does not have, and nobody else: the crawl rejects them.
	absent map[string]error
	// merged are the numbers of exact selections that GitHub knows; untold is why it does not
	// tell, by source.
	merged merges
	untold map[string]error
	// found is what searches found, for the runs after this one.
	found findings
	// sliced says that parts of releases are among what tasks are made of.
	sliced bool
}

func newSources(most int) *sources {
	return &sources{
		shelf: gitrepo.NewShelf(max(most, gitrepo.DefaultOpen)), origins: map[string]*gitrepo.Origin{}, place: map[string]int{},
		asked: map[string]bool{}, late: map[string]bool{}, silent: map[string]error{}, absent: map[string]error{},
	}
}

// add takes a source that was looked up.
func (s *sources) add(o *gitrepo.Origin) {
	name := o.Info().Name
	s.origins[name], s.late[name] = o, !o.Here()
	s.shelf.Add(o)
}

// looksAtOnce bounds how many sources are looked up at one time.
const looksAtOnce = 8

// looked is a source of the configuration that was looked up.
type looked struct {
	origin *gitrepo.Origin
	err    error
}

// errNotWanted is a source that is not looked at: what GitHub says of it keeps it out.
var errNotWanted = errors.New("it is kept out by what GitHub says of it")

func (p *program) look(ctx context.Context, c *config.Config, all []placed, said answers) []looked {
	out := make([]looked, len(all))
	ctx = gitrepo.WithPatience(ctx, gitrepo.Patience{Waiting: func(host string, silent time.Duration) {
		p.say("waiting for %s, %s", visible(host), silent)
	}})
	var g errgroup.Group
	g.SetLimit(looksAtOnce)
	for i, src := range all {
		seed := schemas.Source{GitHub: src.GitHub, Gates: src.gates, Forge: p.forgeOf(src, said)}
		if p.github != nil && crawl.CheckGitHub(seed, p.github, crawlConfig(c)) != nil {
			out[i].err = errNotWanted
			continue
		}
		g.Go(func() error {
			if ctx.Err() == nil {
				out[i].origin, out[i].err = gitrepo.Look(ctx, src.Git, src.Name, filepath.Join(p.cache, "mirrors"))
			}
			return nil
		})
	}
	_ = g.Wait() // each has its own error
	return out
}

// openSources looks up all of them before anything starts, so that every wrong path is
// told at once. A URL that does not answer now leaves the others unharmed: its mirror
// serves where it is whole.
func (p *program) openSources(ctx context.Context, c *config.Config) (*sources, error) {
	places, found, err := p.find(ctx, c)
	if err != nil {
		return nil, err
	}
	if p.github != nil || slices.ContainsFunc(places, func(src placed) bool { return config.IsURL(src.Git) }) { // of mirrors
		if err := p.useCache(ctx); err != nil {
			return nil, &ended{exitUsage, err}
		}
	}
	said, err := p.ask(ctx, c, places)
	if err != nil {
		return nil, err
	}
	s := newSources(c.Jobs)
	s.found, s.sliced = found, c.Library.Sliced()
	all := p.look(ctx, c, places, said)
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	var problems config.Problems
	for i, src := range places {
		if text := p.addLooked(s, c, src, said, all[i]); text != "" {
			problems = append(problems, config.Problem{Where: c.Origin(fmt.Sprintf("sources[%d].git", src.at)).Where, Text: text})
		}
	}
	if said.later != nil {
		s.later = append(s.later, said.later)
	}
	if s.merged, s.untold, err = p.merged(ctx, c, s); err != nil {
		return nil, errors.Join(err, s.close())
	}
	unknown, err := s.pick(ctx, c)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	problems = append(problems, unknown...)
	s.elders()
	if len(problems) > 0 {
		return nil, errors.Join(&ended{exitUsage, problems}, s.close())
	}
	if len(s.origins) == 0 && len(s.later) > 0 {
		return nil, errors.Join(&ended{exitDeferred, errors.Join(s.later...)}, s.close())
	}
	return s, nil
}

// addLooked takes one source, or says what is wrong with it.
func (p *program) addLooked(s *sources, c *config.Config, src placed, said answers, l looked) (problem string) {
	seed := schemas.Source{Git: src.Git, GitHub: src.GitHub, Since: src.Since.String(), Until: src.Until.String(), Only: src.Only, Changes: c.Limits.Changes, Releases: c.Limits.Releases, Gates: src.gates, Category: src.category, Kinds: kindsOfSource(c, src.Source)}
	none := p.askedOf(s, src, said, &seed)
	if none != nil && l.err == nil {
		p.say("%v; using the code at %s", none, src.Git)
	}
	switch {
	case errors.Is(l.err, errNotWanted):
		seed.Repo = schemas.Repo{Name: silentName(src.Source), URL: src.Git}
		s.absent[seed.Repo.Name] = l.err
	case none != nil && l.err != nil:
		seed.Repo, seed.Forge = schemas.Repo{Name: silentName(src.Source), URL: src.Git}, &schemas.Forge{Name: src.GitHub, Gone: none.Error()}
		s.absent[seed.Repo.Name] = none
	case errors.Is(l.err, gitrepo.ErrRemote):
		s.later = append(s.later, l.err)
		p.say("%s  deferred: %v", src.Git, l.err)
		seed.Repo = schemas.Repo{Name: silentName(src.Source), URL: src.Git}
		s.silent[seed.Repo.Name] = l.err
	case l.err != nil:
		return l.err.Error() + elsewhere(src.Source)
	default:
		if asOf, why := l.origin.Silent(); why != nil {
			s.later = append(s.later, why)
			p.say("%s  does not answer; using its mirror of %s (%v)", src.Git, asOf.Format("2006-01-02 15:04"), why)
		}
		seed.Repo, seed.Refs = l.origin.Info(), l.origin.Refs()
		if _, twice := s.place[seed.Repo.Name]; twice {
			return fmt.Sprintf("%s and another source are both %s; give one of them a name (owner/name=%s)", src.Git, seed.Repo.Name, src.Git)
		}
		s.add(l.origin)
	}
	s.place[seed.Repo.Name] = src.at
	s.order = append(s.order, p.grown(seed))
	return ""
}

// kindsOfSource are the kinds of tasks that are made of a source; nil is features alone.
func kindsOfSource(c *config.Config, src config.Source) []schemas.Kind {
	words := src.Kinds
	if len(words) == 0 {
		words = c.Kinds
	}
	var out []schemas.Kind
	for _, w := range schemas.Kinds {
		if slices.Contains(words, string(w)) {
			out = append(out, w)
		}
	}
	if len(out) == 1 && out[0] == schemas.KindFeature {
		return nil
	}
	return out
}

// ownerName matches what names a repository on a forge, and may be meant for a path.
var ownerName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)

// elsewhere is where a source may be that is not at its path: in a folder above, or on
// GitHub.
func elsewhere(src config.Source) string {
	if config.IsURL(src.Git) {
		return ""
	}
	if _, err := os.Stat(src.Git); err != nil {
		if ownerName.MatchString(src.Git) {
			return "; did you mean " + hosts.GitHub + src.Git + "?"
		}
		return ""
	}
	dir, err := filepath.Abs(src.Git)
	if err != nil {
		return ""
	}
	for above := filepath.Dir(dir); above != dir; dir, above = above, filepath.Dir(above) {
		if _, err := os.Stat(filepath.Join(above, ".git")); err == nil {
			return "; it lies in the repository at " + above
		}
	}
	return ""
}

// elders tells each source of those with the same history whose names come first, as far
// as that is known without fetching any; the crawl finds the others.
func (s *sources) elders() {
	for i := range s.order {
		own := &s.order[i]
		var unknown []string
		for _, other := range s.order {
			switch {
			case other.ID() >= own.ID() || s.origins[other.Repo.Name] == nil:
			case other.Repo.Root == "" || own.Repo.Root == "":
				unknown = append(unknown, other.Repo.Name)
			case other.Repo.Root == own.Repo.Root:
				own.EarlierSources = append(own.EarlierSources, other.Repo.Name)
			}
		}
		slices.Sort(own.EarlierSources)
		if len(unknown) > 0 {
			slices.Sort(unknown)
			own.Beside = schemas.DigestOf(unknown)
		}
	}
}

// EarlierSources implements crawl.Repositories. A source that cannot be read now is nobody's
// elder: once it can, the others are crawled again.
func (s *sources) EarlierSources(ctx context.Context, r schemas.Repo) ([]string, error) {
	var out []string
	for _, other := range s.order {
		origin := s.origins[other.Repo.Name]
		if origin == nil || other.ID() >= r.ID() {
			continue
		}
		root, err := origin.Root(ctx)
		switch {
		case errors.Is(err, gitrepo.ErrRemote), errors.Is(err, gitrepo.ErrNoRepo), errors.Is(err, gitrepo.ErrMissing):
		case err != nil:
			return nil, err
		case root == r.Root:
			out = append(out, other.Repo.Name)
		}
	}
	slices.Sort(out)
	return out, nil
}

// Lacks implements crawl.Repositories.
func (s *sources) Lacks(ctx context.Context, r schemas.Repo, files map[string]int) error {
	if s.lacks == nil || !s.late[r.Name] {
		return nil
	}
	return s.lacks(ctx, r.URL, files)
}

// seeds are what the plan begins with.
func (s *sources) seeds() []pipeline.Record {
	var out []pipeline.Record
	// By name: each waits for those before it that were never fetched.
	for _, src := range slices.SortedFunc(slices.Values(s.order), func(a, b schemas.Source) int { return strings.Compare(a.ID(), b.ID()) }) {
		out = append(out, src)
	}
	return out
}

// isSilent reports whether the source with an ID did not answer when it was looked up.
func (s *sources) isSilent(id string) bool {
	for name := range s.silent {
		if schemas.RepoSlug(name) == id {
			return true
		}
	}
	return false
}

// releases is a number of what library tasks are made of, for people.
func (s *sources) releases(n int) string {
	if s.sliced && n != 1 {
		return fmt.Sprintf("%d releases and slices", n)
	}
	if s.sliced {
		return "1 release or slice"
	}
	return plural(n, "release")
}

func (s *sources) close() error { return s.shelf.Close() }

// Open implements the stages: one repository at the head of its record.
func (s *sources) Open(ctx context.Context, r schemas.Repo) (*gitrepo.Repo, func(), error) {
	if err := s.absent[r.Name]; err != nil {
		return nil, nil, fmt.Errorf("%w: %w", gitrepo.ErrRemote, err)
	}
	var waits *github.Later
	if err := s.silent[r.Name]; errors.As(err, &waits) {
		return nil, nil, &pipeline.Deferred{Resource: harvest.GitHub, Until: waits.Until, Err: err}
	} else if err != nil { // at whatever stage it is asked
		return nil, nil, &pipeline.Deferred{Resource: stages.Git, Err: err}
	}
	repo, release, err := s.shelf.Open(ctx, r)
	if errors.Is(err, gitrepo.ErrRemote) {
		err = &pipeline.Deferred{Resource: stages.Git, Err: err}
	}
	return repo, release, err
}

// reading has read use a repository where it stands; what is read by the IDs of objects
// is the same at every head.
func reading[T any](ctx context.Context, s *sources, name string, read func(*gitrepo.Repo) (T, error)) (out T, err error) {
	repo, release, err := s.Open(ctx, schemas.Repo{Name: name})
	if err != nil {
		return out, err
	}
	defer release()
	return read(repo)
}

// Tree implements states.Repos.
func (s *sources) Tree(ctx context.Context, repo, id string) (*tree.Tree, error) {
	return reading(ctx, s, repo, func(r *gitrepo.Repo) (*tree.Tree, error) { return r.Tree(ctx, id) })
}

// Describe implements environment.History.
func (s *sources) Describe(ctx context.Context, repo, commit string) (tree.Version, error) {
	return reading(ctx, s, repo, func(r *gitrepo.Repo) (tree.Version, error) { return r.Describe(ctx, commit) })
}

// note keeps where the sources lie on this machine, for env and for whoever comes back
// to the store. It is not a record: nothing that is digested or exported is read from it.
func (s *sources) note(dir string) error {
	if err := s.found.write(dir); err != nil {
		return err
	}
	notes, err := readNotes(dir)
	if err != nil {
		return err
	}
	for _, src := range s.order {
		git := src.Git
		if !config.IsURL(git) {
			if git, err = filepath.Abs(git); err != nil {
				return err
			}
		}
		notes[src.Repo.Name] = git
	}
	b, err := json.MarshalIndent(notes, "", " ")
	if err != nil {
		return err
	}
	return blob.WriteFile(filepath.Join(dir, store.NotesFile), append(b, '\n'))
}

func readNotes(dir string) (map[string]string, error) {
	notes := map[string]string{}
	b, err := os.ReadFile(filepath.Join(dir, store.NotesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return notes, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b, &notes); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, store.NotesFile), err)
	}
	return notes, nil
}

// Files implements link.Repos.
func (s *sources) Files(ctx context.Context, repo, from, to string) ([]schemas.ChangedFile, error) {
	return reading(ctx, s, repo, func(r *gitrepo.Repo) ([]schemas.ChangedFile, error) { return r.Files(ctx, from, to) })
}

// Graft implements link.Repos.
func (s *sources) Graft(ctx context.Context, repo, base string, edits []gitrepo.Edit) (string, error) {
	return reading(ctx, s, repo, func(r *gitrepo.Repo) (string, error) { return r.Graft(ctx, base, edits) })
}

// Diff implements link.Repos.
func (s *sources) Diff(ctx context.Context, repo, from, to string) ([]byte, error) {
	return reading(ctx, s, repo, func(r *gitrepo.Repo) ([]byte, error) { return r.Diff(ctx, from, to) })
}

// Hunks implements link.Repos.
func (s *sources) Hunks(ctx context.Context, repo, from, to string) ([]byte, error) {
	return reading(ctx, s, repo, func(r *gitrepo.Repo) ([]byte, error) { return r.Hunks(ctx, from, to) })
}

var _ stages.Repos = (*sources)(nil)
