package sources

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/crawl"
)

// looksAtOnce bounds how many sources are looked up at one time.
const looksAtOnce = 8

// looked is a source of the configuration that was looked up.
type looked struct {
	origin *gitrepo.Origin
	err    error
}

// errNotWanted is a source that is not looked at: what GitHub says of it keeps it out.
var errNotWanted = errors.New("it is kept out by what GitHub says of it")

// look looks up the sources, many at one time. One that GitHub keeps out is not looked up.
func (f *Finder) look(ctx context.Context, all []placed, said answers) []looked {
	out := make([]looked, len(all))
	ctx = gitrepo.WithPatience(ctx, gitrepo.Patience{Waiting: func(host string, silent time.Duration) {
		f.Say("waiting for %s, %s", host, silent)
	}})
	var g errgroup.Group
	g.SetLimit(looksAtOnce)
	for i, src := range all {
		seed := schemas.Source{GitHub: src.GitHub, Gates: src.gates, Forge: f.forgeOf(src, said)}
		if f.GitHub != nil && crawl.CheckGitHub(seed, f.GitHub, f.Crawl) != nil {
			out[i].err = errNotWanted
			continue
		}
		g.Go(func() error {
			if ctx.Err() == nil {
				out[i].origin, out[i].err = f.lookAt(ctx, src)
			}
			return nil
		})
	}
	_ = g.Wait() // each has its own error
	return out
}

// lookAt looks up one source, as it stood before the day of the configuration.
func (f *Finder) lookAt(ctx context.Context, src placed) (*gitrepo.Origin, error) {
	o, err := gitrepo.Look(ctx, src.Git, src.Name, filepath.Join(f.Cache, "mirrors"))
	if day := f.Config.AsOf; err == nil && !day.IsZero() {
		err = o.Before(ctx, day.Time)
	}
	return o, err
}

// Open looks up all sources before anything starts, so that every wrong path is said at
// once. A URL that does not answer now leaves the others unharmed: its mirror
// serves where it is whole.
func (f *Finder) Open(ctx context.Context) (*Set, error) {
	c := f.Config
	places, found, err := f.find(ctx)
	if err != nil {
		return nil, err
	}
	if f.GitHub != nil || slices.ContainsFunc(places, func(src placed) bool { return config.IsURL(src.Git) }) { // of mirrors
		if err := f.UseCache(ctx); err != nil {
			return nil, &RefusedError{Err: err}
		}
	}
	said, err := f.ask(ctx, places)
	if err != nil {
		return nil, err
	}
	s := New(c, f.Makers)
	s.found, s.again = found, f.Again
	all := f.look(ctx, places, said)
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	var problems config.Problems
	for i, src := range places {
		if text := f.addLooked(s, src, said, all[i]); text != "" {
			problems = append(problems, config.Problem{Where: c.Origin(fmt.Sprintf("sources[%d].git", src.at)).Where, Text: text})
		}
	}
	if said.later != nil {
		s.later = append(s.later, said.later)
	}
	if s.merged, s.unknownNumbers, err = f.merged(ctx, s); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	unknown, err := s.pick(ctx)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	problems = append(problems, unknown...)
	s.compareHistories()
	if len(problems) > 0 {
		return nil, errors.Join(problems, s.Close())
	}
	if len(s.order) == 0 && len(s.asked) == 0 && len(s.kept) == 0 && !c.AsOf.IsZero() {
		return nil, errors.Join(refuse("no source has a commit before as_of (%s)", c.AsOf), s.Close())
	}
	if len(s.origins) == 0 && len(s.later) > 0 {
		return nil, errors.Join(&RefusedError{Err: errors.Join(s.later...), Later: true}, s.Close())
	}
	return s, nil
}

// addLooked takes one source, or says what is wrong with it.
func (f *Finder) addLooked(s *Set, src placed, said answers, l looked) (problem string) {
	c := f.Config
	seed := schemas.Source{Git: src.Git, GitHub: src.GitHub, Since: src.Since.String(), Until: src.Until.String(), Only: src.Only, Changes: c.Limits.Changes, Releases: c.Limits.Releases, Gates: src.gates, Category: src.category, Kinds: kindsOfSource(c, src.Source)}
	if seed.Wants(schemas.KindFeature) && seed.Wants(schemas.KindEdit) {
		seed.EditShare = c.Limits.EditShare
	}
	none := f.askedOf(s, src, said, &seed)
	if left, err := f.takeGone(s, src, none, l); left || err != nil {
		if err != nil {
			return err.Error()
		}
		return ""
	}
	if none != nil && l.err == nil {
		f.Say("%v; using the code at %s", none, src.Git)
	}
	switch {
	case errors.Is(l.err, errNotWanted):
		seed.Repo = schemas.Repo{Name: silentName(src.Source), URL: src.Git}
		s.absent[seed.Repo.Name] = l.err
	case none != nil && l.err != nil:
		seed.Repo, seed.Forge = schemas.Repo{Name: silentName(src.Source), URL: src.Git}, &schemas.Forge{Name: src.GitHub, Gone: none.Error()}
		s.absent[seed.Repo.Name] = none
	case errors.Is(l.err, gitrepo.ErrNotYet):
		f.Say("%v; left out", l.err)
		return ""
	case errors.Is(l.err, gitrepo.ErrRemote):
		s.later = append(s.later, l.err)
		f.Say("%s  deferred: %v", src.Git, l.err)
		seed.Repo = schemas.Repo{Name: silentName(src.Source), URL: src.Git}
		s.unreachable[seed.Repo.Name] = l.err
	case l.err != nil:
		return l.err.Error() + elsewhere(src.Source)
	default:
		if asOf, why := l.origin.Silent(); why != nil {
			s.later = append(s.later, why)
			f.Say("%s  does not answer; using its mirror of %s (%v)", src.Git, asOf.Format("2006-01-02 15:04"), why)
		}
		seed.Repo, seed.Refs = l.origin.Info(), l.origin.Refs()
		if _, twice := s.place[seed.Repo.Name]; twice {
			return fmt.Sprintf("%s and another source are both %s; give one of them a name (owner/name=%s)", src.Git, seed.Repo.Name, src.Git)
		}
		s.add(l.origin)
	}
	s.place[seed.Repo.Name] = src.at
	s.order = append(s.order, f.grown(seed))
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

// OwnerName matches what names a repository on a forge, and may be meant for a path.
var OwnerName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)

// elsewhere is where a source may be that is not at its path: in a folder above, or on
// GitHub.
func elsewhere(src config.Source) string {
	if config.IsURL(src.Git) {
		return ""
	}
	if _, err := os.Stat(src.Git); err != nil {
		if OwnerName.MatchString(src.Git) {
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
