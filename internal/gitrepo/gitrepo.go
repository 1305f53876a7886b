// Package gitrepo reads git repositories: their first-parent line as changes,
// their trees as bytes, the differences between trees as patches.
//
// It never reads the reader's configuration, attributes, hooks, filters, grafts
// or replacements, never fetches after Open, and never writes into a
// repository that it was given: objects that it makes are kept in a private
// store beside it. All reading goes through that private store ("the view"), an
// empty bare repository of ours that borrows the source's objects, so that
// nothing that stands in the source's own configuration can change an answer.
//
// It reads with git's own co-processes (cat-file, diff-tree) and not with a library:
// they read partial, shallow and damaged clones, alternates and every pack, give git's
// own patches and renames, and take no configuration but the view's. What it writes
// goes through go-git.
package gitrepo

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/benchmint/benchmint/schemas"
)

// Errors that callers tell apart.
var (
	// ErrMissing is an object that the repository lacks or cannot read: a partial
	// clone whose remote does not answer, a damaged pack.
	ErrMissing = errors.New("object is missing")
	// ErrRemote is a URL that could not be fetched now.
	ErrRemote = errors.New("remote cannot be fetched")
	// ErrGone is an ErrRemote whose server answers, and has no such repository.
	ErrGone = fmt.Errorf("%w", ErrRemote)
	// ErrNoRepo is a path or URL that holds no repository with a commit.
	ErrNoRepo = errors.New("not a git repository")
)

// EmptyTree is the object ID of the tree without entries.
const EmptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Repo is one opened repository. Its methods may be called from many goroutines.
type Repo struct {
	origin *Origin
	info   schemas.Repo
	view   string // our bare repository, removed by Close
	hold   *os.File
	line   []entry
	tags   []ref
	pulls  []pull

	clone clone

	objects *objects
	trees   treeCache
	loose   *looseObjects
	raw     *differ // trees only: works without any blob
	stats   *differ // counts lines and finds renames: reads blobs
	patches *differ
	hunks   *differ

	licensing sync.Mutex
	licence   *string // nil until first needed

	match   sync.Mutex
	matched map[string]int // commits numbered by patch-id; nil until first needed

	past    sync.Mutex
	history *History          // nil until first needed
	oldest  map[[2]string]int // positions by base tree and tree; nil until first needed
}

// Open looks up a source, which is a path (bare or not, a linked work tree) or a URL
// that is mirrored under cacheDir, and opens it where it stands. What a partial clone
// lacks is read from a mirror of its remote, in the same place. name is owner/name, or
// "" to infer it. Where the URL does not answer, its mirror serves if it is whole.
// ErrNoRepo, ErrRemote.
func Open(ctx context.Context, source, name, cacheDir string) (*Repo, error) {
	o, err := Look(ctx, source, name, cacheDir)
	if err != nil {
		return nil, err
	}
	return o.Open(ctx, "")
}

// open opens the repository at a commit. Objects that are made of it are kept in made,
// "" for the view, which is gone once it is closed.
func (o *Origin) open(ctx context.Context, head string, kept *blobs, made string) (r *Repo, err error) {
	if err := o.fetch(ctx, head); err != nil {
		return nil, err
	}
	r = &Repo{origin: o, info: o.info, tags: o.found.tags, clone: o.clone}
	r.info.Head = head
	if r.pulls, err = pullRefs(ctx, o.found.common); err != nil {
		return nil, fmt.Errorf("opening %s: %w", o.source, err)
	}
	stores := o.stores
	if made != "" {
		if err := os.MkdirAll(filepath.Join(made, "objects", "pack"), 0o755); err != nil {
			return nil, fmt.Errorf("opening %s: %w", o.source, err)
		}
		stores = append(slices.Clone(stores), filepath.Join(made, "objects"))
	}
	if r.view, r.hold, err = makeView(&o.found, head, stores); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", o.source, err), r.Close())
	}
	r.objects, r.loose = &objects{view: r.view, of: o, kept: kept, mark: rand.Text()}, writeInto(cmp.Or(made, r.view))
	r.trees.read = r.treeRows
	r.raw = &differ{view: r.view, args: []string{"--raw", "--no-renames", "-z"}}
	r.stats = &differ{view: r.view, args: append([]string{"--raw", "--numstat", "-z"}, renames...)}
	r.patches = &differ{view: r.view, args: append([]string{"-p", "--binary", "--full-index", "-U3"}, renames...)}
	r.hunks = &differ{view: r.view, args: append([]string{"-p", "--full-index", "-U0"}, renames...)}
	if r.line, err = r.readLine(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("reading the history of %s: %w", o.source, err), r.Close())
	}
	r.info.Root = r.line[len(r.line)-1].commit
	return r, nil
}

// Origin is where the repository was looked up.
func (r *Repo) Origin() *Origin { return r.origin }

// NameOf is the name that Open infers for a URL, whether it answers or not; ok is
// false for a path.
func NameOf(source string) (name string, ok bool) {
	if !isURL(source) {
		return "", false
	}
	return nameOfURL(source), true
}

// Info is who the repository is.
func (r *Repo) Info() schemas.Repo { return r.info }

// Close ends git's processes and removes the view.
func (r *Repo) Close() error {
	if r.objects != nil {
		r.objects.close()
		for _, d := range []*differ{r.raw, r.stats, r.patches, r.hunks} {
			d.close()
		}
	}
	if r.view == "" {
		return nil
	}
	err := os.RemoveAll(r.view)
	if r.hold != nil {
		err = errors.Join(err, r.hold.Close())
	}
	return err
}

// makeView writes the bare repository that all reading goes through. Only tags
// are put into it (for Describe): other refs are known as commits.
func makeView(s *found, head string, stores []string) (view string, hold *os.File, err error) {
	if view, hold, err = newView(); err != nil {
		return view, hold, err
	}
	var refs bytes.Buffer
	for _, t := range s.tags {
		fmt.Fprintf(&refs, "%s %s\n", t.id, t.name)
	}
	var alternates bytes.Buffer
	for _, dir := range stores {
		alternates.WriteString(quoteAlternate(dir) + "\n")
	}
	files := map[string][]byte{
		"HEAD":                    []byte(head + "\n"),
		"config":                  []byte(viewConfig),
		"packed-refs":             refs.Bytes(),
		"objects/info/alternates": alternates.Bytes(),
	}
	if s.shallow != nil {
		files["shallow"] = s.shallow // without it git takes the cut for a broken history
	}
	for _, dir := range []string{"refs", "objects/info", "objects/pack"} {
		if err := os.MkdirAll(filepath.Join(view, dir), 0o755); err != nil {
			return view, hold, fmt.Errorf("making a view: %w", err)
		}
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(view, name), data, 0o644); err != nil {
			return view, hold, fmt.Errorf("making a view: %w", err)
		}
	}
	return view, hold, nil
}

// viewConfig is all the configuration there is for reading. Plumbing commands
// ignore most of diff.*; what they do read has git's default here because
// nothing sets it.
const viewConfig = `[core]
	repositoryformatversion = 0
	bare = true
	attributesFile = /dev/null
	hooksPath = /dev/null
	fsmonitor = false
	quotePath = true
	bigFileThreshold = 512m
[gc]
	auto = 0
[maintenance]
	auto = false
`

// quoteAlternate writes a path as objects/info/alternates wants it: plain, or
// C-quoted where it would read as something else.
func quoteAlternate(path string) string {
	plain := path != "" && path[0] != '"' && path[0] != '#'
	for i := range len(path) {
		if path[i] < ' ' {
			plain = false
		}
	}
	if plain {
		return path
	}
	var b bytes.Buffer
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ':
			fmt.Fprintf(&b, "\\%03o", c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
