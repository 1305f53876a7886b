package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/benchmint/benchmint/schemas"
)

// DefaultOpen is how many repositories a Shelf keeps open where nobody says otherwise.
// Each costs up to five processes of git and the memory of its history.
const DefaultOpen = 8

// Shelf opens the repositories of a run when they are asked for, and keeps a few of them
// open: where there are more, the one that was not used for longest is closed. It opens
// those that were put on it, and never looks one up itself.
type Shelf struct {
	most int
	kept blobs

	mu      sync.Mutex
	origins map[string]*Origin
	open    map[stand]*opened
	uses    int
	freed   chan struct{} // closed whenever a repository is given back
	faults  []error
	// made holds the objects that were made of each repository (Graft): they are there for
	// as long as the shelf is, however often a repository is closed meanwhile.
	made string
	hold *os.File
}

// stand is one commit that a repository is read at.
type stand struct{ name, head string }

// opened is a repository that is open, or about to be.
type opened struct {
	ready chan struct{} // closed once repo or err is there
	repo  *Repo
	err   error
	users int
	used  int // when it was asked for last, counted in uses
}

// NewShelf keeps at most so many repositories open, and at least one.
func NewShelf(most int) *Shelf {
	return &Shelf{most: max(most, 1), origins: map[string]*Origin{}, open: map[stand]*opened{}, freed: make(chan struct{})}
}

// Add puts a source on the shelf, by its name. Two of one name are a mistake of the caller.
func (s *Shelf) Add(o *Origin) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.origins[o.Info().Name] = o
}

// Open opens a repository as a record describes it: by its name, at its head ("" is where
// it stands now). It waits where as many as may be are in use, so a caller gives back one
// before it asks for the next. release gives it back; it stays open until its place is
// needed. ErrRemote, ErrMissing.
func (s *Shelf) Open(ctx context.Context, r schemas.Repo) (repo *Repo, release func(), err error) {
	for {
		o, first, err := s.take(ctx, &r)
		if err != nil {
			return nil, nil, err
		}
		if first {
			s.fill(ctx, r, o)
		}
		select {
		case <-o.ready:
		case <-ctx.Done():
			s.giveBack(o)
			return nil, nil, ctx.Err()
		}
		if o.err == nil {
			return o.repo, sync.OnceFunc(func() { s.giveBack(o) }), nil
		}
		if first || ctx.Err() != nil || !errors.Is(o.err, context.Canceled) && !errors.Is(o.err, context.DeadlineExceeded) {
			return nil, nil, o.err
		}
		// Whoever opened it was called off, and we were not.
	}
}

// take finds the repository, or room for it: first says that it is for the caller to fill.
func (s *Shelf) take(ctx context.Context, r *schemas.Repo) (o *opened, first bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	origin := s.origins[r.Name]
	if origin == nil {
		return nil, false, fmt.Errorf("%s is not a source of this run", r.Name)
	}
	if r.Head == "" {
		r.Head = origin.Info().Head
	}
	at := stand{r.Name, r.Head}
	for {
		s.uses++
		if o = s.open[at]; o != nil {
			o.users++
			o.used = s.uses
			return o, false, nil
		}
		if len(s.open) < s.most || s.closeOne() {
			o = &opened{ready: make(chan struct{}), users: 1, used: s.uses}
			s.open[at] = o
			return o, true, nil
		}
		freed := s.freed
		s.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
	}
}

// closeOne closes the repository that nobody uses and nobody used for longest; false
// where all are in use.
func (s *Shelf) closeOne() bool {
	var oldest stand
	var found *opened
	for at, o := range s.open {
		if o.users == 0 && (found == nil || o.used < found.used) {
			oldest, found = at, o
		}
	}
	if found == nil {
		return false
	}
	delete(s.open, oldest)
	if err := found.repo.Close(); err != nil {
		s.faults = append(s.faults, err)
	}
	return true
}

// fill opens the repository, and takes its place away where that fails.
func (s *Shelf) fill(ctx context.Context, r schemas.Repo, o *opened) {
	s.mu.Lock()
	origin := s.origins[r.Name]
	if s.made == "" {
		s.made, s.hold, o.err = newView()
	}
	made := filepath.Join(s.made, schemas.RepoSlug(r.Name))
	s.mu.Unlock()
	if o.err == nil {
		o.repo, o.err = origin.open(ctx, r.Head, &s.kept, made)
	}
	if o.err != nil {
		s.mu.Lock()
		delete(s.open, stand{r.Name, r.Head})
		s.wake()
		s.mu.Unlock()
	}
	close(o.ready)
}

func (s *Shelf) giveBack(o *opened) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.users--
	s.wake()
}

func (s *Shelf) wake() {
	close(s.freed)
	s.freed = make(chan struct{})
}

// Close closes all repositories. None may be in use.
func (s *Shelf) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.open {
		if o.repo != nil {
			s.faults = append(s.faults, o.repo.Close())
		}
	}
	clear(s.open)
	if s.made != "" {
		s.faults = append(s.faults, os.RemoveAll(s.made))
		s.made = ""
	}
	if s.hold != nil {
		s.faults = append(s.faults, s.hold.Close())
		s.hold = nil
	}
	return errors.Join(s.faults...)
}
