package sources

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/crawl"
)

// Finder finds and looks up the sources of a configuration.
type Finder struct {
	Config *config.Config
	Crawl  crawl.Config
	Makers Makers
	// Cache is the folder of mirrors. UseCache is called before anything in it is read.
	Cache    string
	UseCache func(context.Context) error
	// Folder is where the store keeps what searches found.
	Folder string
	// GitHub answers for repositories there; nil where it is not asked. Server is the
	// beginning of their addresses.
	GitHub *github.Library
	Server string
	// Index answers for projects of PyPI; Distribution is the project that a module comes from.
	Index        Index
	Distribution func(module string) string
	// Again says that searches are asked again, and that windows only grow: each begins at
	// the day in Starts, by the source's ID.
	Again  bool
	Starts map[string]string
	Now    func() time.Time
	// Clock is a time for a person, Say a line for one, and Progress how far GitHub was asked.
	Clock    func(time.Time) string
	Say      func(form string, args ...any)
	Progress func(what string, done, of int)
}

// RefusedError is why a run does not begin.
type RefusedError struct {
	Err   error
	Later bool // a source or GitHub did not answer: the same run can begin later
}

func (r *RefusedError) Error() string { return r.Err.Error() }
func (r *RefusedError) Unwrap() error { return r.Err }

func refuse(form string, args ...any) error { return &RefusedError{Err: fmt.Errorf(form, args...)} }

// OpenWhole is Open for a run that goes through histories: it reports clones that lack
// something, with the command that mends each. A clone with one commit is refused: nothing
// comes before its only commit.
func (f *Finder) OpenWhole(ctx context.Context) (*Set, error) {
	s, err := f.Open(ctx)
	if err != nil {
		return nil, err
	}
	var problems config.Problems
	for _, src := range s.order {
		r := s.origins[src.Repo.Name]
		if r == nil {
			continue // it does not answer now
		}
		switch n, oldest := r.Shallow(); {
		case n == 1:
			problems = append(problems, config.Problem{Text: fmt.Sprintf("%s is a shallow clone with one commit, and nothing before it to start from; git -C %[1]s fetch --unshallow gets the rest", src.Git)})
		case n > 1:
			f.Say("%s is a shallow clone: only %d commits are there, and the oldest, %s, has nothing to start from; git -C %[1]s fetch --unshallow gets the rest", src.Git, n, oldest[:12])
		}
		switch url, fetched, err := r.Partial(); {
		case err != nil:
			f.Say("%s is a partial clone, and what it lacks cannot be read from %s now; git -C %[1]s fetch --refetch --no-filter gets it: %[3]v", src.Git, url, err)
		case fetched:
			f.Say("%s is a partial clone: what it lacks was read from %s into the cache", src.Git, url)
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems, s.Close())
	}
	return s, nil
}

// grown is the window of a source where it may only grow: from the day of the oldest change
// that was taken of it, with all that came after.
func (f *Finder) grown(s schemas.Source) schemas.Source {
	if day := f.Starts[s.ID()]; f.Again && day != "" {
		s.Since, s.Changes, s.Releases = max(s.Since, day), 0, 0
	}
	return s
}

// plural is "1 row", "2 rows".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
