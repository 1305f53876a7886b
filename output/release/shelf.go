package release

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// Names on a shelf.
const (
	FeedFile = output.FeedFile
	nextFile = ".next.json" // the feed of a change that is decided and not made yet
	lockFile = ".lock"
)

// Formats of the files.
const (
	FeedFormat   = "benchmint-feed/1"
	RecordFormat = "benchmint-release/1"
)

// Feed is what a shelf says of itself: the one file that is written again.
type Feed struct {
	Format   string  `json:"format"`
	Dataset  string  `json:"dataset"`
	Versions []Entry `json:"versions"` // oldest first
	// Withdrawals stay for ever. Held tasks are out of the data and may come back.
	Withdrawals []Withdrawn `json:"withdrawals"`
	Held        []Withdrawn `json:"held"`
	Purges      []Purge     `json:"purges"`
	// Hidden is how tasks are drawn into hidden parts; not there where they never were.
	Hidden *Drawn `json:"hidden,omitempty"`
	// Disclosed are hidden tasks that became public.
	Disclosed []Disclosed `json:"disclosed,omitempty"`
}

// Entry is a version in the feed.
type Entry struct {
	Version  Version        `json:"version"`
	Date     string         `json:"date"`
	From     string         `json:"from"`
	Record   schemas.Digest `json:"record"` // of its release.json
	Previous Version        `json:"previous"`
	Counts   Counts         `json:"counts"`
}

// Counts are of one version against the one before.
type Counts struct {
	Tasks     int `json:"tasks"`
	Came      int `json:"came"`
	Withdrawn int `json:"withdrawn"`
	Held      int `json:"held"`
	Back      int `json:"back"`
	Revised   int `json:"revised"`
	// Disclosed were hidden: on the public shelf they came out, on that of hidden tasks they went.
	Disclosed int `json:"disclosed,omitempty"`
}

// Withdrawn is a task that was taken out of the data.
type Withdrawn struct {
	ID    string  `json:"id"`
	Date  string  `json:"date"`  // YYYY-MM-DD
	First Version `json:"first"` // the versions that have it, from First to Last
	Last  Version `json:"last"`
	// In is the version that is the first without it.
	In           Version            `json:"in"`
	Reason       schemas.Withdrawal `json:"reason"`
	Text         string             `json:"text"`
	Evidence     schemas.Digest     `json:"evidence,omitempty"`      // of a file that its maintainer keeps
	EvidenceFile string             `json:"evidence_file,omitempty"` // the name of that file
	ReplacedBy   string             `json:"replaced_by,omitempty"`
	Purged       bool               `json:"purged,omitempty"`
	// Identity keeps the task from coming again under another name.
	Identity schemas.Digest `json:"identity"`
}

// Purge is a published version that was changed: the bytes of some tasks were taken out.
type Purge struct {
	Version Version            `json:"version"`
	Date    string             `json:"date"`
	IDs     []string           `json:"ids"`
	Reason  schemas.Withdrawal `json:"reason"`
	Text    string             `json:"text"`
	Old     schemas.Digest     `json:"old"` // of release.json before
	New     schemas.Digest     `json:"new"`
}

// Record is release.json: what a version says of itself. It is written last.
type Record struct {
	Format   string         `json:"format"`
	Dataset  string         `json:"dataset"`
	Version  Version        `json:"version"`
	Date     string         `json:"date"`
	Window   Window         `json:"window"`
	Previous *Link          `json:"previous"` // null for the first
	Canary   string         `json:"canary"`
	Counts   Counts         `json:"counts"`
	Gates    []GateResult   `json:"gates"`
	Configs  []string       `json:"configs"` // that a client opens by name, beside default
	Manifest schemas.Digest `json:"manifest"`
	// Tools are name and version of what wrote it.
	Tools map[string]string `json:"tools"`
	// Purged are IDs whose bytes were taken out after the version was published.
	Purged []string `json:"purged,omitempty"`
	// Freshness is not there in versions that did not measure it.
	Freshness *Freshness `json:"freshness,omitempty"`
	// Hidden is what is said of hidden tasks; not there where nothing was ever hidden.
	Hidden *Veiled `json:"hidden,omitempty"`
}

// Window is the time in which new tasks landed: From is in it, To is not. From is "" in the first
// version.
type Window struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Link is the version before, by the digest of its release.json.
type Link struct {
	Version Version        `json:"version"`
	Record  schemas.Digest `json:"record"`
}

// Shelf is a folder of releases.
type Shelf struct {
	Dir  string
	Feed Feed
	// places are folders of versions that an interrupted change has not put in their places.
	places map[Version]string
	unlock func()
	hidden *Shelf // of hidden tasks, where it is open
}

// ErrNoShelf is a folder without a feed.
var ErrNoShelf = errors.New("no releases here")

// ErrUnknownVersion is a version that the shelf does not have.
var ErrUnknownVersion = errors.New("no such version")

// Read reads a shelf. ErrNoShelf. A change that was interrupted once it was decided is taken as
// made; Open makes it.
func Read(dir string) (*Shelf, error) {
	s := &Shelf{Dir: dir, places: map[Version]string{}}
	next, none := readFeed(filepath.Join(dir, nextFile)) // first, since it takes the other's name
	if none != nil && !errors.Is(none, fs.ErrNotExist) {
		return nil, none
	}
	before, err := readFeed(filepath.Join(dir, FeedFile))
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case none == nil:
		s.Feed = next
		return s, s.place(before)
	case err != nil:
		return nil, fmt.Errorf("%s: %w: it has no %s", dir, ErrNoShelf, FeedFile)
	}
	s.Feed = before
	return s, nil
}

func readFeed(name string) (f Feed, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return f, err
	}
	if err := strict(b, &f); err != nil {
		return f, fmt.Errorf("%s: %w", name, err)
	}
	if f.Format != FeedFormat {
		return f, fmt.Errorf("%s: format is %q; this program reads %q", name, f.Format, FeedFormat)
	}
	return f, nil
}

// place finds the folders of versions that a decided change has not put in their places yet.
func (s *Shelf) place(before Feed) error {
	for _, e := range s.Feed.Versions {
		from := begun + string(e.Version)
		switch there := recordDigest(s.Path(e.Version)); {
		case there == e.Record || slices.Contains(before.Versions, e):
		case recordDigest(filepath.Join(s.Dir, from)) != e.Record:
			return fmt.Errorf("%s: neither %s nor %s is the version %s that an interrupted change was to put in its place; nothing is changed", s.Dir, e.Version, from, e.Record.Short())
		default:
			s.places[e.Version] = from
		}
	}
	return nil
}

// Open reads a shelf to change it, or begins one for a dataset of this name. It holds a lock until
// Close, ends what an interrupted change had left to do, and removes what one had only begun.
func Open(ctx context.Context, dir, dataset string) (*Shelf, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	unlock, err := sandbox.Lock(ctx, dir, lockFile)
	if err != nil {
		return nil, err
	}
	s, err := open(dir, dataset)
	if err != nil {
		unlock()
		return nil, err
	}
	s.unlock = unlock
	return s, nil
}

func open(dir, dataset string) (*Shelf, error) {
	s, err := Read(dir)
	if err == nil {
		err = errors.Join(s.finish(), sweep(dir))
	}
	if errors.Is(err, ErrNoShelf) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") {
				return nil, fmt.Errorf("%s holds %s and no %s: it is no shelf of releases, and nothing is written to it", dir, e.Name(), FeedFile)
			}
		}
		return &Shelf{Dir: dir, Feed: Feed{Format: FeedFormat, Dataset: dataset, Versions: []Entry{}, Withdrawals: []Withdrawn{}, Held: []Withdrawn{}, Purges: []Purge{}}}, sweep(dir)
	}
	if err != nil {
		return nil, err
	}
	if dataset != "" && s.Feed.Dataset != dataset {
		return nil, fmt.Errorf("%s is the shelf of %q, not of %q: a shelf has one dataset", dir, s.Feed.Dataset, dataset)
	}
	return s, nil
}

// Close gives the lock back.
func (s *Shelf) Close() {
	if s.hidden != nil {
		s.hidden.Close()
	}
	if s.unlock != nil {
		s.unlock()
	}
}

// Latest is the newest version; false where there is none.
func (s *Shelf) Latest() (Entry, bool) {
	if len(s.Feed.Versions) == 0 {
		return Entry{}, false
	}
	return s.Feed.Versions[len(s.Feed.Versions)-1], true
}

// Entry finds a version. ErrUnknownVersion, with the nearest one.
func (s *Shelf) Entry(v Version) (Entry, error) {
	var known []string
	for _, e := range s.Feed.Versions {
		if e.Version == v {
			return e, nil
		}
		known = append(known, string(e.Version))
	}
	return Entry{}, fmt.Errorf("%s: %w on %s%s", v, ErrUnknownVersion, s.Dir, nearest.Hint(string(v), known))
}

// Tasks are those of the newest version, by instance ID.
func (s *Shelf) Tasks() (map[string]bool, error) {
	out := map[string]bool{}
	last, ok := s.Latest()
	if !ok {
		return out, nil
	}
	d, err := s.Dataset(last.Version)
	if err != nil {
		return nil, err
	}
	for _, r := range d.Rows {
		out[r.InstanceID] = true
	}
	return out, nil
}

// Path is the folder of a version.
func (s *Shelf) Path(v Version) string {
	return filepath.Join(s.Dir, cmp.Or(s.places[v], string(v)))
}

// Dataset reads a version.
func (s *Shelf) Dataset(v Version) (*output.Dataset, error) {
	if _, err := s.Entry(v); err != nil {
		return nil, err
	}
	return output.Read(s.Path(v))
}

// Record reads what a version says of itself.
func (s *Shelf) Record(v Version) (Record, error) {
	var r Record
	name := filepath.Join(s.Path(v), output.ReleaseFile)
	b, err := os.ReadFile(name)
	if err != nil {
		return r, err
	}
	if err := strict(b, &r); err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// Diff reads what a version changed.
func (s *Shelf) Diff(v Version) (Diff, error) {
	var d Diff
	name := filepath.Join(s.Path(v), DiffFile)
	b, err := os.ReadFile(name)
	if err != nil {
		return d, err
	}
	if err := strict(output.Bare(DiffFile, b), &d); err != nil {
		return d, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}

// commit makes a change whose versions are written beside their places: the feed that will be,
// the renames, its own name. One that is interrupted before that feed stands has done nothing;
// after that Open ends it. The renames need no room on the disk.
func (s *Shelf) commit(feed Feed) error {
	b, err := output.EncodeRecord(feed)
	if err != nil {
		return err
	}
	if err := syncDir(s.Dir); err != nil {
		return err
	}
	next := &Shelf{Dir: s.Dir, Feed: feed, places: map[Version]string{}}
	if err := next.place(s.Feed); err != nil {
		return err
	}
	if err := blob.WriteFile(filepath.Join(s.Dir, nextFile), b); err != nil {
		return err
	}
	if err := next.finish(); err != nil {
		return err
	}
	s.Feed = feed
	return nil
}

// finish makes a change that is decided, if there is one.
func (s *Shelf) finish() error {
	next := filepath.Join(s.Dir, nextFile)
	if _, err := os.Lstat(next); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	for v, name := range s.places {
		from, to := filepath.Join(s.Dir, name), filepath.Join(s.Dir, string(v))
		_, err := os.Lstat(to)
		if errors.Is(err, fs.ErrNotExist) {
			err = os.Rename(from, to)
		} else if err == nil {
			err = unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE)
		}
		if err != nil {
			return fmt.Errorf("putting %s in its place: %w", v, err)
		}
	}
	clear(s.places)
	if err := syncDir(s.Dir); err != nil {
		return err
	}
	if err := os.Rename(next, filepath.Join(s.Dir, FeedFile)); err != nil {
		return err
	}
	return syncDir(s.Dir)
}

const begun = ".new-"

// sweep removes what an interrupted change left behind: folders of versions, those in which
// package output had begun to write them, and files without their names yet. A change that is
// decided still needs them.
func sweep(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, nextFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		for _, prefix := range []string{begun, "." + begun, ".tmp-"} {
			if strings.HasPrefix(e.Name(), prefix) {
				if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func recordDigest(dir string) schemas.Digest {
	b, err := os.ReadFile(filepath.Join(dir, output.ReleaseFile))
	if err != nil {
		return ""
	}
	return schemas.DigestBytes(b)
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(f.Fd())), f.Close())
}

func strict(b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return err
	}
	if rest := bytes.TrimSpace(b[dec.InputOffset():]); len(rest) > 0 {
		return fmt.Errorf("%q stands after the end of the value", rest[:min(len(rest), 20)])
	}
	return nil
}

// withdrawn finds a task among those that are out of the data, by ID or identity.
// Withdrawn is what the feed says of a task that is not in the data any more, and whether it is held.
func (f Feed) Withdrawn(id string) (w Withdrawn, held, ok bool) {
	if w, ok = withdrawn(f.Withdrawals, id, ""); ok {
		return w, false, true
	}
	w, held = withdrawn(f.Held, id, "")
	return w, held, held
}

func withdrawn(all []Withdrawn, id string, identity schemas.Digest) (Withdrawn, bool) {
	i := slices.IndexFunc(all, func(w Withdrawn) bool { return w.ID == id || identity != "" && w.Identity == identity })
	if i < 0 {
		return Withdrawn{}, false
	}
	return all[i], true
}
