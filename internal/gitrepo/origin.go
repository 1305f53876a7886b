package gitrepo

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	neturl "net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/schemas"
)

// Origin is a source that was looked up: who it is and where it stands, by names and
// IDs. Nothing is open and no process runs for it, so that a run may have thousands.
// Its methods may be called from many goroutines.
type Origin struct {
	source, cacheDir string
	info             schemas.Repo
	found            found // its pull refs are read by Open
	stores           []string
	partial          partial
	clone            clone
	line             int // commits of the first-parent line, of a path

	silent error
	asOf   time.Time

	patience Patience

	mu      sync.Mutex // held while a URL is fetched
	here    bool
	fetched string // its root, where that is known since it was fetched
}

// Look looks up a source as Open would open it, without fetching it: a path is asked for
// its head and its tags, a URL for its list of refs. What a partial clone lacks is
// fetched all the same, and a mirror that cannot be read is mended. Where a URL does not
// answer, its mirror stands in if it is whole: see Silent. ErrNoRepo, ErrRemote.
func Look(ctx context.Context, source, name, cacheDir string) (*Origin, error) {
	o := &Origin{source: source, cacheDir: cacheDir, info: schemas.Repo{Name: name, URL: source}, patience: patienceOf(ctx)}
	if isURL(source) {
		o.info.Name = cmp.Or(name, nameOfURL(source))
		if err := o.lookAtURL(ctx); err != nil {
			return nil, fmt.Errorf("mirroring %s: %w", source, err)
		}
	} else if err := o.lookAtPath(ctx); err != nil {
		return nil, fmt.Errorf("opening %s: %w", source, err)
	}
	o.info.Head = o.found.head
	o.stores = []string{filepath.Join(o.found.common, "objects")}
	if o.partial.mirror != "" {
		o.stores = append(o.stores, filepath.Join(o.partial.mirror, "objects"))
	}
	o.clone = cloneOf(source, &o.found)
	// A mirror that has not got the head yet gives the root all the same: it stays as it
	// is for as long as history is not rewritten, and Open reads it again.
	from := o.info.Head
	if !o.here {
		from = "HEAD"
	}
	var err error
	if o.line, o.info.Root, err = o.readRoot(ctx, from); err != nil && o.here {
		return nil, fmt.Errorf("reading the history of %s: %w", source, cmp.Or(ctx.Err(), err))
	}
	return o, nil
}

func (o *Origin) lookAtPath(ctx context.Context) error {
	f, err := find(ctx, o.source)
	if err != nil {
		return err
	}
	o.found, o.here = *f, true
	o.info.Name = cmp.Or(o.info.Name, f.name)
	o.partial, err = promised(ctx, f, o.cacheDir)
	return err
}

func (o *Origin) lookAtURL(ctx context.Context) error {
	dir, err := mirrorDir(o.source, o.cacheDir)
	if err != nil {
		return err
	}
	list, err := listRemote(ctx, o.source, filepath.Dir(dir))
	if errors.Is(err, ErrRemote) {
		asOf, ok := whole(ctx, dir)
		if !ok {
			return err
		}
		o.silent, o.asOf = err, asOf
		return o.lookAtMirror(ctx, dir)
	}
	if err != nil {
		return err
	}
	has, err := o.matches(ctx, dir, list)
	if err != nil { // a mirror that cannot be listed
		if _, err := mirror(ctx, o.source, o.cacheDir); err != nil {
			return err
		}
		return o.lookAtMirror(ctx, dir)
	}
	o.found = offeredBy(list)
	o.found.common = dir
	if o.found.head == "" {
		return fmt.Errorf("%w: the remote has no HEAD", ErrNoRepo)
	}
	o.here = has
	return nil
}

func (o *Origin) lookAtMirror(ctx context.Context, dir string) error {
	f, err := find(ctx, dir)
	if err != nil {
		return err
	}
	o.found, o.here = *f, true
	return nil
}

// matches reports whether a mirror has all that its remote offers. It is then given the
// remote's HEAD, and dated, since its remote was asked now.
func (o *Origin) matches(ctx context.Context, dir, list string) (bool, error) {
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil {
		return false, nil
	}
	has, err := listMirror(ctx, dir)
	if err != nil {
		return false, cmp.Or(ctx.Err(), err)
	}
	if !slices.Equal(offered(list), offered(has)) {
		return false, nil
	}
	unlock, err := lock(dir + ".lock")
	if err != nil {
		return false, fmt.Errorf("locking the mirror: %w", err)
	}
	defer unlock()
	if err := setHead(ctx, dir, list); err != nil {
		return false, cmp.Or(ctx.Err(), err)
	}
	return true, date(dir)
}

// date notes in a mirror that its remote was asked now.
func date(dir string) error {
	now := []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
	return unix.UtimesNanoAt(unix.AT_FDCWD, filepath.Join(dir, "HEAD"), now, 0)
}

// offeredBy is the head and the tags of a list of refs.
func offeredBy(list string) (f found) {
	for line := range strings.Lines(list) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case name == "HEAD" && !strings.HasPrefix(id, "ref: "):
			f.head = id
		case strings.HasPrefix(name, "refs/tags/") && !strings.HasSuffix(name, "^{}"):
			f.tags = append(f.tags, ref{id, name})
		}
	}
	return f
}

// readRoot walks the first-parent line of what is on this machine.
func (o *Origin) readRoot(ctx context.Context, from string) (commits int, root string, err error) {
	if _, err := os.Stat(o.found.common); err != nil {
		return 0, "", err
	}
	cmd := inside(ctx, o.found.common, "--git-dir="+o.found.common, "rev-list", "--first-parent", from, "--")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, "", err
	}
	if err := cmd.Start(); err != nil {
		return 0, "", fmt.Errorf("starting git: %w", err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		commits++
		root = lines.Text()
	}
	if err := cmd.Wait(); err != nil {
		return 0, "", gitError(cmd, err, stderr.Bytes())
	}
	return commits, root, lines.Err()
}

// Info is who the repository is. Root is "" where no object of it is on this machine.
func (o *Origin) Info() schemas.Repo { return o.info }

// Here reports whether all that the source has is on this machine, so that opening it
// fetches nothing.
func (o *Origin) Here() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.here
}

// Refs is the digest of all tags: names and what they name.
func (o *Origin) Refs() schemas.Digest {
	lines := []string{}
	for _, t := range o.found.tags {
		lines = append(lines, t.name+" "+t.id)
	}
	if o.partial.err != nil {
		lines = append(lines, "lacks objects") // licence, notes and line counts are read again when they are there
	}
	slices.Sort(lines)
	return schemas.DigestOf(lines)
}

// Silent is the time of the mirror that is read because the URL could not be asked, and
// why it could not; nil where it could, and for a path.
func (o *Origin) Silent() (asOf time.Time, why error) { return o.asOf, o.silent }

// Shallow says of a shallow clone how many commits of its line are there, and the
// oldest: what that changed cannot be known. 0 of any other clone.
func (o *Origin) Shallow() (commits int, oldest string) {
	if !o.clone.cut[o.info.Root] {
		return 0, ""
	}
	return o.line, o.info.Root
}

// Partial gives of a partial clone which lacks something the address that its objects
// are read from, whether that was asked now, and why it could not be. "" of any other.
func (o *Origin) Partial() (url string, fetched bool, err error) {
	if u, err := neturl.Parse(o.partial.url); err == nil { // one may hold a password
		return u.Redacted(), o.partial.fresh, o.partial.err
	}
	return o.partial.url, o.partial.fresh, o.partial.err
}

// Objects distinguishes two states of a repository in which it may have other objects,
// by the files that hold them: what was missing may be there now.
func (o *Origin) Objects() schemas.Digest {
	var seen []string
	for _, dir := range o.stores {
		// Packs by name; a loose object changes the folder that it is put into.
		for _, pattern := range []string{"pack/*.pack", "[0-9a-f][0-9a-f]"} {
			files, _ := filepath.Glob(filepath.Join(dir, pattern)) // the only error is a malformed pattern
			for _, f := range files {
				if info, err := os.Stat(f); err == nil {
					seen = append(seen, fmt.Sprintf("%s %d", f, info.ModTime().UnixNano()))
				}
			}
		}
	}
	return schemas.DigestOf(seen)
}

// Root is the oldest commit of the first-parent line, for which a URL that has no mirror
// yet is fetched. ErrRemote.
func (o *Origin) Root(ctx context.Context) (string, error) {
	if o.info.Root != "" {
		return o.info.Root, nil
	}
	if err := o.fetch(ctx, o.info.Head); err != nil {
		return "", err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.fetched == "" {
		var err error
		if _, o.fetched, err = o.readRoot(ctx, o.info.Head); err != nil {
			return "", fmt.Errorf("reading the history of %s: %w", o.source, cmp.Or(ctx.Err(), err))
		}
	}
	return o.fetched, nil
}

// Open opens the repository at a commit of a record, "" for where it stands now: its
// line is read from there, whatever was committed or fetched since. Its tags are those
// that were there when it was looked up. A URL is fetched first where its mirror does
// not have all of it. ErrRemote, ErrMissing.
func (o *Origin) Open(ctx context.Context, head string) (*Repo, error) {
	return o.open(ctx, cmp.Or(head, o.info.Head), &blobs{}, "")
}

// fetch brings a commit of a URL onto this machine, with all that there is.
func (o *Origin) fetch(ctx context.Context, head string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.here && head == o.info.Head || !isURL(o.source) {
		return nil
	}
	if o.here && o.has(ctx, head) {
		return nil
	}
	ctx = WithPatience(ctx, o.patience)
	m, err := mirror(ctx, o.source, o.cacheDir)
	if err != nil {
		return fmt.Errorf("mirroring %s: %w", o.source, err)
	}
	switch {
	case o.has(ctx, head):
		o.here = o.here || m.silent == nil
		return nil
	case m.silent != nil:
		return fmt.Errorf("mirroring %s: %w", o.source, m.silent)
	}
	// History was rewritten. Most servers still give a commit by its ID.
	if err := fetchCommit(ctx, o.source, m.dir, head); err != nil {
		return fmt.Errorf("%w: commit %.12s of %s: %w", ErrMissing, head, o.source, err)
	}
	return nil
}

func (o *Origin) has(ctx context.Context, commit string) bool {
	_, err := output(online(ctx, filepath.Dir(o.found.common), "--git-dir="+o.found.common, "cat-file", "-e", commit+"^{commit}"))
	return err == nil
}
