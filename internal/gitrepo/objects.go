package gitrepo

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/hash"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/go-git/go-git/v5/storage/filesystem/dotgit"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Tree reads a whole tree from objects (never with git archive: export-ignore
// drops tests, export-subst rewrites files). id names a commit or a tree.
// ErrMissing, tree.ErrUnsafe, tree.ErrTooLarge.
func (r *Repo) Tree(ctx context.Context, id string) (*tree.Tree, error) {
	root, err := r.objects.id(ctx, id+"^{tree}")
	if err != nil {
		return nil, r.missing(fmt.Errorf("reading tree %s: %w", id, err))
	}
	entries, err := r.list(ctx, root)
	if err != nil {
		return nil, r.missing(fmt.Errorf("reading tree %s: %w", id, err))
	}
	if err := r.fits(ctx, entries); err != nil {
		return nil, r.missing(fmt.Errorf("reading tree %s: %w", id, err))
	}
	for i, e := range entries {
		if e.Mode == tree.ModeModule {
			continue
		}
		data, err := r.objects.blob(ctx, string(e.Data))
		if err != nil {
			return nil, r.missing(fmt.Errorf("reading %s of tree %s: %w", schemas.RecordPath(e.Path), id, err))
		}
		entries[i].Data = data
	}
	t, err := tree.New(entries)
	if err != nil && !errors.Is(err, tree.ErrUnsafe) {
		err = fmt.Errorf("%w: %w", tree.ErrUnsafe, err) // unknown modes, names twice: it cannot be written either
	}
	if err != nil {
		return nil, fmt.Errorf("reading tree %s: %w", id, err)
	}
	return t, nil
}

// fits asks the blobs of a tree for their sizes before any is read.
func (r *Repo) fits(ctx context.Context, entries []tree.Entry) error {
	var ids []string
	paths := map[string]string{}
	for _, e := range entries {
		if e.Mode != tree.ModeModule {
			ids = append(ids, string(e.Data))
			paths[string(e.Data)] = e.Path
		}
	}
	room := tree.NewRoom()
	return r.objects.sizes(ctx, ids, func(id string, size int64) error {
		if err := room.Take(size); err != nil {
			return fmt.Errorf("%s: %w", schemas.RecordPath(paths[id]), err)
		}
		return nil
	})
}

// list are the files below a tree object, with IDs in place of content. ErrMissing,
// tree.ErrTooLarge; tree.ErrUnsafe for a tree that git would not write.
func (r *Repo) list(ctx context.Context, root string) ([]tree.Entry, error) {
	if err := r.listable(ctx, EmptyTree, root); err != nil {
		return nil, err
	}
	var entries []tree.Entry
	err := r.folder(ctx, root, "", &entries)
	return entries, err
}

func (r *Repo) folder(ctx context.Context, id, prefix string, entries *[]tree.Entry) error {
	rows, err := r.trees.rows(ctx, id)
	if err != nil {
		return err
	}
	if err := checkRows(rows); err != nil {
		return fmt.Errorf("tree object %s: %w", id, err)
	}
	for _, row := range rows {
		if row.mode == modeTree {
			if err := r.folder(ctx, row.id, prefix+row.name+"/", entries); err != nil {
				return err
			}
			continue
		}
		*entries = append(*entries, tree.Entry{Path: prefix + row.name, Mode: row.mode, Data: []byte(row.id)})
	}
	return nil
}

// checkRows refuses a tree object that git would not write: its ID is not that of the
// files in it, so that no state made of them could be proved.
func checkRows(rows []treeRow) error {
	last := ""
	for _, row := range rows {
		key := row.name
		switch {
		case row.name == "" || strings.Contains(row.name, "/"):
			return fmt.Errorf("an entry is named %q: %w", row.name, tree.ErrUnsafe)
		case row.mode == paddedTree:
			return fmt.Errorf("the mode of %q is %s: %w", row.name, row.mode, tree.ErrUnsafe)
		case row.mode == modeTree:
			key += "/" // how git sorts folders
		}
		if key <= last {
			return fmt.Errorf("%q is out of order: %w", row.name, tree.ErrUnsafe)
		}
		last = key
	}
	return nil
}

const (
	modeTree   = "40000"
	paddedTree = "040000" // as very old programs wrote it
)

// treeRow is one line of a tree object.
type treeRow struct{ mode, name, id string }

func (r *Repo) treeRows(ctx context.Context, id string) ([]treeRow, error) {
	if id == EmptyTree {
		return nil, nil
	}
	data, err := r.objects.get(ctx, "tree", id)
	if err != nil {
		return nil, err
	}
	var rows []treeRow
	for len(data) > 0 {
		meta, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, space := strings.Cut(string(meta), " ")
		if !ok || !space || len(rest) < hash.Size {
			return nil, fmt.Errorf("tree object %s is malformed: %w", id, ErrMissing)
		}
		rows = append(rows, treeRow{mode, name, hex.EncodeToString(rest[:hash.Size])})
		data = rest[hash.Size:]
	}
	return rows, nil
}

// Blob reads one blob by its ID. ErrMissing, tree.ErrTooLarge.
func (r *Repo) Blob(ctx context.Context, id string) ([]byte, error) {
	b, err := r.objects.blob(ctx, id)
	if err != nil {
		return nil, r.missing(fmt.Errorf("reading blob: %w", err))
	}
	return slices.Clone(b), nil
}

// Diff is the patch that turns one tree into another: git's format, binary
// deltas and full object IDs included, renames as renames. Equal trees give
// equal bytes. ErrMissing, tree.ErrTooLarge.
func (r *Repo) Diff(ctx context.Context, from, to string) ([]byte, error) {
	return r.patch(ctx, r.patches, from, to)
}

// Hunks is Diff without context lines and without binary content: the smallest
// hunks there are. It is for reading, not for applying.
func (r *Repo) Hunks(ctx context.Context, from, to string) ([]byte, error) {
	return r.patch(ctx, r.hunks, from, to)
}

func (r *Repo) patch(ctx context.Context, d *differ, from, to string) ([]byte, error) {
	if from == to {
		return nil, nil
	}
	if err := r.comparable(ctx, from, to); err != nil {
		return nil, r.missing(fmt.Errorf("comparing trees: %w", err))
	}
	var patch bytes.Buffer
	err := d.diff(ctx, from, to, func(out *bufio.Reader) error {
		patch.Reset()
		return readPatch(out, &patch)
	})
	if err != nil {
		return nil, r.missing(fmt.Errorf("comparing trees: %w", err))
	}
	return patch.Bytes(), nil
}

// comparable asks the blobs that differ between two trees for their sizes: git reads
// both sides of each to compare them.
func (r *Repo) comparable(ctx context.Context, from, to string) error {
	rows, err := r.rows(ctx, r.raw, from, to)
	if err != nil {
		return err
	}
	var ids []string
	paths := map[string]string{}
	for _, row := range rows {
		for _, side := range [][2]string{{row.OldMode, row.OldBlob}, {row.NewMode, row.NewBlob}} {
			if id := side[1]; side[0] != modeModule && strings.Trim(id, "0") != "" {
				ids = append(ids, id)
				paths[id] = row.Path
			}
		}
	}
	room := tree.NewRoom()
	return r.objects.sizes(ctx, ids, func(id string, size int64) error {
		if err := room.Take(size); err != nil {
			return fmt.Errorf("%s: %w", schemas.RecordPath(paths[id]), err)
		}
		return nil
	})
}

// Edit puts a path into a tree or takes it out.
type Edit struct {
	Path string
	Mode string // "" removes the path
	ID   string // of a blob that the repository has; "" where Data is given
	Data []byte
}

// Graft makes the tree that edits turn base into, in the private store, and
// gives its ID: Diff and Tree then take it like any other. ErrMissing.
func (r *Repo) Graft(ctx context.Context, base string, edits []Edit) (string, error) {
	root := edit{dirs: map[string]*edit{}}
	for _, e := range edits {
		if e.Mode != "" && e.ID == "" {
			id, err := tree.WriteBlob(r.loose, e.Data)
			if err != nil {
				return "", fmt.Errorf("writing %s: %w", e.Path, err)
			}
			e.ID = id.String()
		}
		root.add(e.Path, e)
	}
	id, err := r.graft(ctx, base, &root)
	return cmp.Or(id, EmptyTree), r.missing(err)
}

// edit is the edits below one folder.
type edit struct {
	dirs  map[string]*edit
	files map[string]Edit
}

func (d *edit) add(path string, e Edit) {
	head, rest, ok := strings.Cut(path, "/")
	if !ok {
		if d.files == nil {
			d.files = map[string]Edit{}
		}
		d.files[head] = e
		return
	}
	if d.dirs[head] == nil {
		d.dirs[head] = &edit{dirs: map[string]*edit{}}
	}
	d.dirs[head].add(rest, e)
}

// graft gives the ID of an edited tree object, "" where nothing is left in it:
// git has no empty folders.
func (r *Repo) graft(ctx context.Context, base string, d *edit) (string, error) {
	var rows []treeRow
	if base != "" {
		var err error
		if rows, err = r.treeRows(ctx, base); err != nil {
			return "", err
		}
	}
	below := map[string]string{}
	rows = slices.DeleteFunc(rows, func(row treeRow) bool {
		_, file := d.files[row.name]
		_, dir := d.dirs[row.name]
		if dir && row.mode == modeTree {
			below[row.name] = row.id
		}
		// A removed file must not take away the folder that stands in its place.
		return dir || file && (row.mode != modeTree || d.files[row.name].Mode != "")
	})
	for name, sub := range d.dirs {
		id, err := r.graft(ctx, below[name], sub)
		if err != nil {
			return "", err
		}
		if id != "" {
			rows = append(rows, treeRow{modeTree, name, id})
		}
	}
	for name, e := range d.files {
		if e.Mode != "" {
			rows = append(rows, treeRow{e.Mode, name, e.ID})
		}
	}
	if len(rows) == 0 {
		return "", nil
	}
	return r.writeRows(rows)
}

func (r *Repo) writeRows(rows []treeRow) (string, error) {
	entries := make([]object.TreeEntry, len(rows))
	for i, row := range rows {
		mode, err := tree.FileMode(row.mode)
		if err != nil {
			return "", fmt.Errorf("writing %s: %w", row.name, err)
		}
		if !plumbing.IsHash(row.id) {
			return "", fmt.Errorf("writing %s: %q is not an object ID", row.name, row.id)
		}
		entries[i] = object.TreeEntry{Name: row.name, Mode: mode, Hash: plumbing.NewHash(row.id)}
	}
	id, err := tree.WriteFolder(r.loose, entries)
	return id.String(), err
}

// looseObjects writes objects into the view; many goroutines may do so.
type looseObjects struct {
	mu sync.Mutex
	to *filesystem.ObjectStorage
}

func writeInto(view string) *looseObjects {
	dir := dotgit.New(osfs.New(view))
	return &looseObjects{to: filesystem.NewObjectStorage(dir, cache.NewObjectLRUDefault())}
}

// SetEncodedObject implements tree.Objects.
func (l *looseObjects) SetEncodedObject(o plumbing.EncodedObject) (plumbing.Hash, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.SetEncodedObject(o)
}

// noTag is how git says that there is no tag to find; it exits 128 for everything.
var noTag = lazyregexp.New(`No names found, cannot describe anything|No tags can describe|No annotated tags can describe`)

// Describe is what tools that take versions from tags read at a commit: the
// nearest tag among its ancestors, as git describe --tags finds it.
func (r *Repo) Describe(ctx context.Context, commit string) (tree.Version, error) {
	const abbreviated = 7
	v := tree.Version{Commit: commit[:min(abbreviated, len(commit))]}
	out, err := output(command(ctx, r.view, "describe", "--tags", "--long", "--abbrev=40", "--match=*[0-9]*", commit))
	if err != nil {
		if ctx.Err() != nil {
			return v, ctx.Err()
		}
		if noTag.MatchString(err.Error()) {
			return v, nil
		}
		// Another pretend version would be built from this than on the next try.
		return v, fmt.Errorf("looking for the tag nearest to %s: %w", commit, err)
	}
	// <tag>-<distance>-g<commit>; the tag may hold dashes.
	s := strings.TrimSpace(string(out))
	at := strings.LastIndexByte(s, '-')
	dash := strings.LastIndexByte(s[:max(at, 0)], '-')
	if dash < 0 {
		return v, fmt.Errorf("git describe answers %q", s)
	}
	if _, err := fmt.Sscanf(s[dash+1:at], "%d", &v.Distance); err != nil {
		return v, fmt.Errorf("git describe answers %q: %w", s, err)
	}
	v.Tag = s[:dash]
	return v, nil
}
