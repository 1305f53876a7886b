package harvest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/schemas"
)

// releaseIndex is the releases of a source by package, in the order that they came to
// hold the line.
type releaseIndex struct {
	history  *gitrepo.History
	byTag    map[string]*book
	packages map[string][]*book // newest first
	names    []string
	side     []*book // off the line: they may hold what was picked
}

type book struct {
	schemas.Release
	version gitrepo.Version
	at      int // the newest commit of the line that it holds
}

func newReleaseIndex(releases []schemas.Release, history *gitrepo.History) *releaseIndex {
	s := &releaseIndex{history: history, byTag: map[string]*book{}, packages: map[string][]*book{}}
	for _, r := range releases { // newest first
		version, _ := gitrepo.ParseVersion(r.Tag)
		b := &book{Release: r, version: version, at: history.At(r.Tag)}
		s.byTag[r.Tag] = b
		if s.packages[r.Package] == nil {
			s.names = append(s.names, r.Package)
		}
		s.packages[r.Package] = append(s.packages[r.Package], b)
		if r.OffBranch {
			s.side = append(s.side, b)
		}
	}
	return s
}

// of names the package that a change belongs to: the one in whose folder most of
// its files lie, else the repository's own.
func (s *releaseIndex) of(c schemas.Change) string {
	if len(s.names) == 0 {
		return ""
	}
	best, most := "", 0
	for _, name := range s.names {
		folder := name[strings.LastIndexByte(name, '/')+1:]
		n := 0
		for _, f := range c.Files {
			if folder != "" && slices.Contains(strings.Split(f.Path, "/"), folder) {
				n++
			}
		}
		if n > most || n == most && most > 0 && len(folder) > len(best) {
			best, most = name, n
		}
	}
	if most == 0 && s.packages[""] == nil {
		return s.names[0]
	}
	return best
}

// first is the first release that holds a change; the zero Release where none
// does. A package that released nothing since is no reason to have none.
func (s *releaseIndex) first(c schemas.Change, at int) schemas.Release {
	if b := s.firstOf(s.of(c), at); b != nil {
		return b.Release
	}
	var best *book
	for _, name := range s.names {
		if b := s.firstOf(name, at); b != nil && (best == nil || b.at > best.at) {
			best = b
		}
	}
	if best == nil {
		return schemas.Release{}
	}
	return best.Release
}

func (s *releaseIndex) firstOf(name string, at int) *book {
	var best *book
	for _, b := range s.packages[name] {
		if b.at >= 0 && b.at <= at && (best == nil || b.before(best)) {
			best = b
		}
	}
	for _, b := range s.side {
		if b.Package == name && (best == nil || b.Date.Before(best.Date)) && s.history.Holds(b.Tag, at) {
			best = b
		}
	}
	return best
}

// before tells which of two releases that hold a change held it first: the one
// that holds less that is newer, then the older.
func (b *book) before(c *book) bool {
	return cmp.Or(cmp.Compare(c.at, b.at), b.Date.Compare(c.Date), b.version.Compare(c.version)) < 0
}

// bound is the place of the line at which the newest n releases of a package end:
// what its release before them holds.
func (s *releaseIndex) bound(name string, n int) int {
	for _, b := range s.packages[name] {
		if b.Pre || b.at < 0 {
			continue
		}
		if n == 0 {
			return b.at
		}
		n--
	}
	return int(^uint(0) >> 1)
}

func (s *releaseIndex) end(n int) int {
	last := 0
	for _, name := range s.names {
		last = max(last, s.bound(name, n))
	}
	if len(s.names) == 0 {
		return int(^uint(0) >> 1)
	}
	return last
}

func (s *releaseIndex) inWindow(c schemas.Change, at, n int) bool { return at < s.bound(s.of(c), n) }

// fits reports whether an entry can be about a change: the release that its section
// is for must not come after one that held the change already.
func (s *releaseIndex) fits(e entry, change int, by author) bool {
	if b := s.release(e.Version); b != nil {
		return !s.held(s.told(b, by), change)
	}
	// A section without a tag: what was released before it was written is not in it.
	for _, name := range s.names {
		for _, b := range s.packages[name] {
			if !b.Pre && b.at > by.at {
				if b.at <= change {
					return false
				}
				break
			}
		}
	}
	return true
}

// held reports whether a release holds a change as an ancestor. One that it holds as
// a pick may well be told of in the next release of the line.
func (s *releaseIndex) held(tag string, change int) bool {
	at := s.history.At(tag)
	return at >= 0 && at <= change
}

// release is the one that a section's heading names; nil where none does.
func (s *releaseIndex) release(heading string) *book {
	v, ok := gitrepo.ParseVersion(heading)
	if !ok {
		return nil
	}
	for _, name := range s.names {
		for _, b := range s.packages[name] {
			if b.version.Compare(v) == 0 {
				return b
			}
		}
	}
	return nil
}

// told is the release before one that the changelog has a section for: a tag that
// nobody wrote notes for (a release that failed) has its changes told in the next.
func (s *releaseIndex) told(b *book, by author) string {
	for previous := s.byTag[b.Previous]; previous != nil; previous = s.byTag[previous.Previous] {
		if slices.ContainsFunc(by.sections, func(v gitrepo.Version) bool { return v.Compare(previous.version) == 0 }) {
			return previous.Tag
		}
	}
	return b.Previous
}
