package release

import (
	"bytes"
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
	FeedFile    = "feed.json"
	journalFile = ".next.json"
	lockFile    = ".lock"
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
	Version Version        `json:"version"`
	Date    string         `json:"date"`
	IDs     []string       `json:"ids"`
	Old     schemas.Digest `json:"old"` // of release.json before
	New     schemas.Digest `json:"new"`
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
	Dir    string
	Feed   Feed
	unlock func()
}

// ErrNoShelf is a folder without a feed.
var ErrNoShelf = errors.New("no releases here")

// ErrUnknownVersion is a version that the shelf does not have.
var ErrUnknownVersion = errors.New("no such version")

// Read reads a shelf. ErrNoShelf. A change that was interrupted after its last step but one is
// taken as made; Open makes it.
func Read(dir string) (*Shelf, error) {
	s := &Shelf{Dir: dir}
	b, err := os.ReadFile(filepath.Join(dir, FeedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: it has no %s", dir, ErrNoShelf, FeedFile)
	}
	if err != nil {
		return nil, err
	}
	if err := strict(b, &s.Feed); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, FeedFile), err)
	}
	if s.Feed.Format != FeedFormat {
		return nil, fmt.Errorf("%s: format is %q; this program reads %q", filepath.Join(dir, FeedFile), s.Feed.Format, FeedFormat)
	}
	return s, nil
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
	if err := recoverShelf(dir); err != nil {
		return nil, err
	}
	s, err := Read(dir)
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
		return &Shelf{Dir: dir, Feed: Feed{Format: FeedFormat, Dataset: dataset, Versions: []Entry{}, Withdrawals: []Withdrawn{}, Held: []Withdrawn{}, Purges: []Purge{}}}, nil
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

// Path is the folder of a version.
func (s *Shelf) Path(v Version) string { return filepath.Join(s.Dir, string(v)) }

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

// journal is a change that is decided: renames of folders that are written, then the feed.
type journal struct {
	Renames []rename `json:"renames"`
	Feed    Feed     `json:"feed"`
}

// rename puts a hidden folder in the place of a version. Record is the digest of its release.json.
type rename struct {
	From    string         `json:"from"`
	Version Version        `json:"version"`
	Record  schemas.Digest `json:"record"`
}

// commit makes a change: the journal, the renames, the feed. One that is interrupted before the
// journal stands has done nothing; after that Open ends it.
func (s *Shelf) commit(feed Feed, renames ...rename) error {
	j := journal{renames, feed}
	b, err := indented(j)
	if err != nil {
		return err
	}
	if err := syncDir(s.Dir); err != nil {
		return err
	}
	if err := blob.WriteFile(filepath.Join(s.Dir, journalFile), b); err != nil {
		return err
	}
	if err := s.finish(j); err != nil {
		return err
	}
	s.Feed = feed
	return nil
}

func (s *Shelf) finish(j journal) error {
	for _, r := range j.Renames {
		to := s.Path(r.Version)
		if recordDigest(to) == r.Record {
			continue
		}
		from := filepath.Join(s.Dir, r.From)
		if _, err := os.Stat(to); errors.Is(err, fs.ErrNotExist) {
			if err := os.Rename(from, to); err != nil {
				return err
			}
			continue
		}
		if err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_EXCHANGE); err != nil {
			return fmt.Errorf("putting %s in its place: %w", r.Version, err)
		}
	}
	if err := syncDir(s.Dir); err != nil {
		return err
	}
	b, err := indented(j.Feed)
	if err != nil {
		return err
	}
	if err := blob.WriteFile(filepath.Join(s.Dir, FeedFile), b); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(s.Dir, journalFile)); err != nil {
		return err
	}
	return sweep(s.Dir)
}

// recoverShelf ends or drops a change that was interrupted.
func recoverShelf(dir string) error {
	b, err := os.ReadFile(filepath.Join(dir, journalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return sweep(dir)
	}
	if err != nil {
		return err
	}
	var j journal
	if err := strict(b, &j); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(dir, journalFile), err)
	}
	for _, r := range j.Renames {
		if recordDigest(filepath.Join(dir, string(r.Version))) != r.Record && recordDigest(filepath.Join(dir, r.From)) != r.Record {
			return fmt.Errorf("%s: neither %s nor %s is the version %s that an interrupted change was to put in its place; nothing is changed", dir, r.Version, r.From, r.Record.Short())
		}
	}
	return (&Shelf{Dir: dir}).finish(j)
}

const hidden = ".new-"

// sweep removes folders that an interrupted change left behind.
func sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), hidden) {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				return err
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
	return dec.Decode(v)
}

func indented(v any) ([]byte, error) {
	b, err := schemas.Canonical(v)
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	if err := json.Indent(&buf, b, "", "  "); err != nil {
		return nil, err
	}
	buf.WriteByte('\n')
	return buf.Bytes(), nil
}

// withdrawn finds a task among those that are out of the data, by ID or identity.
func withdrawn(all []Withdrawn, id string, identity schemas.Digest) (Withdrawn, bool) {
	i := slices.IndexFunc(all, func(w Withdrawn) bool { return w.ID == id || identity != "" && w.Identity == identity })
	if i < 0 {
		return Withdrawn{}, false
	}
	return all[i], true
}
