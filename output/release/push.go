package release

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/push"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// Push is what is pushed where.
type Push struct {
	Remote  push.Remote
	Version Version // "" is the newest
	DryRun  bool    // read the remote, and send nothing
	Say     func(what string, n, of int)
}

// Pushed is what a push did.
type Pushed struct {
	Versions []PushedVersion `json:"versions"` // up to the one asked for, oldest first
	// Feed is the commit that brought feed.json alone; "" for none.
	Feed string `json:"feed"`
	// Replaced are files at head that others had changed since the newest version there.
	Replaced []string `json:"replaced"`
	// Decide is what a person should look at.
	Decide []string `json:"decide"`
}

// PushedVersion is one version at the remote.
type PushedVersion struct {
	Version Version   `json:"version"`
	State   PushState `json:"state"`
	Commit  string    `json:"commit"`
	URL     string    `json:"url"`
}

// PushState says how a version came to be at a remote.
type PushState string

// The states of a version.
const (
	PushThere  PushState = "there"  // it was there before
	PushSent   PushState = "pushed" // it is there now
	PushTagged PushState = "tagged" // its commit was there, and has its tag now
	PushWaits  PushState = "waits"  // it would be pushed, but for --dry-run
	PushLacks  PushState = "lacks"  // it is not there, and a newer one is
	PushPurged PushState = "purged" // it is there as it was before a purge
)

// hubFolder is how many entries a folder on the public hub may have.
const hubFolder = 10000

// Push brings a version to a remote, and before it all older ones that the remote lacks. Nothing is
// sent unless the shelf holds at each of them, and the remote has nothing that it would change:
// push.RefusedError.
func (s *Shelf) Push(ctx context.Context, o Push) (Pushed, error) {
	if len(s.Feed.Versions) == 0 {
		return Pushed{}, fmt.Errorf("%s: %w: nothing is published yet", s.Dir, ErrNoShelf)
	}
	if o.Version == "" {
		last, _ := s.Latest()
		o.Version = last.Version
	}
	if _, err := s.Entry(o.Version); err != nil {
		return Pushed{}, err
	}
	state, err := o.Remote.Look(ctx, func(tag string) bool { return versionShape.MatchString(tag) })
	if err != nil {
		return Pushed{}, err
	}
	p := &pushing{Push: o, shelf: s, state: state, done: Pushed{Versions: []PushedVersion{}, Replaced: []string{}, Decide: []string{}}}
	if err := errors.Join(p.foreign(), p.plan()); err != nil {
		return p.done, err
	}
	if o.DryRun {
		return p.done, nil
	}
	if err := p.holds(); err != nil {
		return p.done, err
	}
	for i := range p.done.Versions {
		if v := &p.done.Versions[i]; v.State == PushWaits {
			if err := p.send(ctx, v); err != nil {
				return p.done, fmt.Errorf("%s: %w", v.Version, err)
			}
		}
	}
	return p.done, p.feed(ctx)
}

type pushing struct {
	Push
	shelf *Shelf
	state push.State
	done  Pushed
}

// foreign refuses a repository that holds something else: it would be deleted at head.
func (p *pushing) foreign() error {
	if p.state.Record != nil {
		var r Record
		if err := strict(p.state.Record, &r); err != nil || r.Dataset != p.shelf.Feed.Dataset {
			return push.Refused("%s holds the dataset %q, and not %q: push to a repository of its own", p.Remote.URL(""), r.Dataset, p.shelf.Feed.Dataset)
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(p.state.Files)) {
		if !slices.Contains([]string{".gitattributes", ".gitignore", "README.md", "LICENSE"}, name) {
			return push.Refused("%s holds %s and no %s: it is not a repository of releases; push to an empty one", p.Remote.URL(""), name, output.ReleaseFile)
		}
	}
	return nil
}

// plan decides for each version, oldest first. A tag with other content is refused, whichever
// version is asked for: the remote is then that of another shelf.
func (p *pushing) plan() error {
	newest := Version("")
	for _, name := range slices.Sorted(maps.Keys(p.state.Tags)) {
		v := Version(name)
		if _, err := p.shelf.Entry(v); err != nil {
			return push.Refused("%s has the version %s, which %s lacks: this shelf is not the one that was pushed there last", p.Remote.URL(""), v, p.shelf.Dir)
		}
		if newest == "" || v.Compare(newest) > 0 {
			newest = v
		}
	}
	for _, e := range p.shelf.Feed.Versions {
		if e.Version.Compare(p.Version) > 0 {
			break
		}
		v := PushedVersion{Version: e.Version, State: PushWaits, URL: p.Remote.URL(string(e.Version))}
		tag, there := p.state.Tags[string(e.Version)]
		switch {
		case there:
			v.Commit = tag.Commit
			var err error
			if v.State, err = p.there(e, tag); err != nil {
				return err
			}
		case newest != "" && e.Version.Compare(newest) < 0:
			v.State = PushLacks
			text := fmt.Sprintf("%s is not at %s, and %s is: a version comes in its order, so that head is the newest", e.Version, p.Remote.URL(""), newest)
			if e.Version == p.Version {
				return push.Refused("%s", text)
			}
			p.done.Decide = append(p.done.Decide, text)
		}
		p.done.Versions = append(p.done.Versions, v)
	}
	return nil
}

// there compares a version with its tag. A tag never moves, not even for a purge.
func (p *pushing) there(e Entry, tag push.Tag) (PushState, error) {
	has := schemas.DigestBytes(tag.Record)
	if tag.Record != nil && has == e.Record {
		return PushThere, nil
	}
	purged := tag.Record != nil && slices.ContainsFunc(p.shelf.Feed.Purges, func(x Purge) bool { return x.Version == e.Version && x.Old == has })
	said := string(has)
	if tag.Record == nil {
		said = "none"
	}
	text := fmt.Sprintf("the tag %s of %s never moves, and it has other content: its %s is %s, that of the shelf %s", e.Version, p.Remote.URL(""), output.ReleaseFile, said, e.Record)
	if !purged {
		return "", push.Refused("%s", text)
	}
	text += "; it holds tasks that were purged since (docs/releases.md says how to take them out)"
	if e.Version == p.Version {
		return "", push.Refused("%s", text)
	}
	p.done.Decide = append(p.done.Decide, text)
	return PushPurged, nil
}

// holds checks the versions that are to be sent, as release check does.
func (p *pushing) holds() error {
	var wait []Version
	for _, v := range p.done.Versions {
		if v.State == PushWaits {
			wait = append(wait, v.Version)
		}
	}
	if len(wait) == 0 {
		return nil
	}
	findings, err := p.shelf.Check(wait, p.Say)
	if err != nil || len(findings) == 0 {
		return err
	}
	return push.Refused("%s does not hold, and nothing is sent: %s (%d findings; benchmint release check has all)", p.shelf.Dir, findings[0], len(findings))
}

// send sends one version.
func (p *pushing) send(ctx context.Context, v *PushedVersion) error {
	parcel, err := p.parcel(v.Version)
	if err != nil {
		return err
	}
	if err := p.changed(v.Version); err != nil {
		return err
	}
	if parcel.Made, err = parcel.IsAt(p.state.Files); err != nil {
		return err
	}
	parcel.Tag = string(v.Version)
	if p.state, err = p.Remote.Send(ctx, p.state, parcel); err != nil {
		return err
	}
	p.state.Tags[parcel.Tag] = push.Tag{Commit: p.state.Head}
	v.State, v.Commit = PushSent, p.state.Head
	if parcel.Made {
		v.State = PushTagged
	}
	return nil
}

// parcel is a version with the feed, as it stands at head.
func (p *pushing) parcel(v Version) (push.Parcel, error) {
	e, err := p.shelf.Entry(v)
	if err != nil {
		return push.Parcel{}, err
	}
	d, err := p.shelf.Dataset(v)
	if err != nil {
		return push.Parcel{}, err
	}
	dir, n := p.shelf.Path(v), e.Counts
	parcel := push.Parcel{
		Folder: dir, Files: map[string]string{}, Feed: FeedFile, Rows: map[string]map[string][]string{},
		Message: fmt.Sprintf("%s %s\n\n%d tasks: %d came, %d withdrawn, %d held, %d back, %d revised\n", p.shelf.Feed.Dataset, v, n.Tasks, n.Came, n.Withdrawn, n.Held, n.Back, n.Revised),
	}
	if parcel.Date, err = time.Parse(time.DateOnly, e.Date); err != nil {
		return parcel, err
	}
	for _, s := range d.Manifest.Splits {
		parcel.Rows[s.Name] = d.ConfigRows(s.Name)
	}
	err = filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		parcel.Files[filepath.ToSlash(rel)] = file
		return err
	})
	parcel.Files[FeedFile] = filepath.Join(p.shelf.Dir, FeedFile)
	p.crowded(v, parcel)
	return parcel, err
}

// crowded tells of folders with more entries than the public hub takes.
func (p *pushing) crowded(v Version, parcel push.Parcel) {
	entries := map[string]map[string]bool{}
	for name := range parcel.Files {
		for ; name != "."; name = path.Dir(name) {
			dir := path.Dir(name)
			if entries[dir] == nil {
				entries[dir] = map[string]bool{}
			}
			entries[dir][name] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(entries)) {
		if n := len(entries[dir]); n > hubFolder {
			p.done.Decide = append(p.done.Decide, fmt.Sprintf("%s: the folder %s has %d entries; the public hub takes %d", v, dir, n, hubFolder))
		}
	}
}

// changed notes what others have changed at head since the newest version there: the next version
// takes its place.
func (p *pushing) changed(next Version) error {
	i := slices.IndexFunc(p.shelf.Feed.Versions, func(e Entry) bool { return e.Version == next })
	for ; i > 0; i-- {
		before := p.shelf.Feed.Versions[i-1].Version
		tag, there := p.state.Tags[string(before)]
		if !there {
			continue
		}
		if purged := i <= len(p.done.Versions) && p.done.Versions[i-1].State == PushPurged; purged || tag.Commit == p.state.Head {
			return nil // what a purge took out is no change of theirs
		}
		parcel, err := p.parcel(before)
		if err != nil {
			return err
		}
		other, extra, err := parcel.Differences(p.state.Files)
		if err != nil {
			return err
		}
		p.done.Replaced = slices.DeleteFunc(slices.Concat(other, extra), func(name string) bool { return name == FeedFile })
		return nil
	}
	return nil
}

// feed brings feed.json to head where it is another there: withdrawals are read at head.
func (p *pushing) feed(ctx context.Context) error {
	if !p.state.There || p.state.Head == "" {
		return nil
	}
	e, err := p.shelf.Entry(p.Version)
	if err != nil {
		return err
	}
	parcel := push.Parcel{Files: map[string]string{FeedFile: filepath.Join(p.shelf.Dir, FeedFile)}, Feed: FeedFile, FeedOnly: true, Message: p.shelf.Feed.Dataset + ": " + FeedFile + "\n"}
	if parcel.Date, err = time.Parse(time.DateOnly, e.Date); err != nil {
		return err
	}
	if other, _, err := parcel.Differences(p.state.Files); err != nil || len(other) == 0 {
		return err
	}
	if p.state, err = p.Remote.Send(ctx, p.state, parcel); err != nil {
		return fmt.Errorf("%s: %w", FeedFile, err)
	}
	p.done.Feed = p.state.Head
	return nil
}

// Text is a line for people of a version at a remote.
func (v PushedVersion) Text() string {
	text := map[PushState]string{
		PushThere: "already pushed", PushSent: "pushed, read back and equal", PushTagged: "read back and equal; its commit was there, and has its tag now",
		PushWaits: "not sent (--dry-run)", PushLacks: "not there", PushPurged: "there as it was before a purge",
	}[v.State]
	if v.Commit != "" {
		text += " (" + v.Commit[:min(len(v.Commit), 12)] + ")"
	}
	return strings.TrimSpace(text + "  " + v.URL)
}
