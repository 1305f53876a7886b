package sources

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/gitrepo"
)

// Kept is a source that is not what it was when the rows of the dataset were made of it: these
// are carried on as they stand there.
type Kept struct {
	Source string `json:"source"` // owner/name
	What   string `json:"what"`   // gone, rewritten or renamed
	Why    string `json:"why"`
	Rows   int    `json:"rows"` // that are carried on
}

// What may have become of a source.
const (
	SourceGone      = "gone"
	SourceRewritten = "rewritten"
	SourceRenamed   = "renamed"
)

// note notes what became of a source, once for each of its rows that is carried on.
func (s *Set) note(name, what, why string, rows int) {
	for i := range s.kept {
		if k := &s.kept[i]; k.Source == name && k.What == what {
			if k.Rows += rows; rows > 0 && !strings.Contains(k.Why, why) {
				k.Why += ", " + why
			}
			return
		}
	}
	s.kept = append(s.kept, Kept{name, what, why, rows})
}

// Kept are the sources of a refresh that are gone, rewritten or renamed.
func (s *Set) Kept() []Kept { return s.kept }

// CarriesRows reports whether rows of sources that are gone or rewritten are carried on.
func (s *Set) CarriesRows() bool { return s.again }

// Rewritten are the IDs of rows whose commits are not on the lines of their sources any more.
func (s *Set) Rewritten() []string { return s.rewritten }

// Gone are the names of the sources that are not there any more.
func (s *Set) Gone() (names []string) {
	for _, k := range s.kept {
		if k.What == SourceGone {
			names = append(names, k.Source)
		}
	}
	return names
}

// takeGone notes a source that earlier runs have read and that is not there any more.
func (f *Finder) takeGone(s *Set, src placed, none *github.Gone, l looked) (bool, error) {
	why := goneFor(none, l)
	if !f.Again || why == nil {
		return false, nil
	}
	name, err := f.readBefore(src)
	if err != nil || name == "" {
		return false, err
	}
	text := strings.TrimPrefix(strings.TrimPrefix(why.Error(), "opening "), "mirroring ")
	s.note(name, SourceGone, text, 0)
	f.Say("%s  gone: %s", name, text)
	return true, nil
}

// goneFor is why a source is not there, nil where it is, and where it does not answer now.
func goneFor(none *github.Gone, l looked) error {
	var silent error
	if l.origin != nil {
		_, silent = l.origin.Silent()
	}
	switch {
	case errors.Is(l.err, errNotWanted):
		return nil
	case none != nil && (l.err != nil || silent != nil):
		return none
	case errors.Is(l.err, gitrepo.ErrNoRepo), errors.Is(l.err, gitrepo.ErrGone):
		return l.err
	case errors.Is(silent, gitrepo.ErrGone):
		return silent
	}
	return nil
}

// readBefore is the name of a source that a run of this store has read from the same place; "" of
// any other.
func (f *Finder) readBefore(src placed) (string, error) {
	notes, err := ReadNotes(f.Folder)
	if err != nil {
		return "", err
	}
	git := src.Git
	if !config.IsURL(git) {
		if git, err = filepath.Abs(git); err != nil {
			return "", err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(notes)) {
		if notes[name] == git && (src.Name == "" || src.Name == name) {
			return name, nil
		}
	}
	return "", nil
}
