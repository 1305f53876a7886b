package bwrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// record is what is kept beside the tree of a layer.
type record struct {
	Key    schemas.Digest `json:"key"`
	Parent string         `json:"parent,omitempty"` // ID
	// Full: the tree holds its parents' content too, made where no overlay can be mounted.
	Full bool `json:"full,omitempty"`
	// Toolchains of the base: where they lie on this host.
	Toolchains []sandbox.Toolchain `json:"toolchains,omitempty"`
}

// store is the layers on disk: layers/<id>/{tree,layer.json}.
type store struct{ dir string }

func (s store) layers() string        { return filepath.Join(s.dir, "layers") }
func (s store) path(id string) string { return filepath.Join(s.layers(), id) }
func (s store) tree(id string) string { return filepath.Join(s.path(id), "tree") }
func (s store) runs() string          { return filepath.Join(s.dir, "runs") }
func (s store) locks() string         { return filepath.Join(s.dir, "locks") }
func (s store) leases() string        { return filepath.Join(s.dir, "leases") }
func (s store) uses() string          { return filepath.Join(s.dir, "uses") }

// filled holds the caches of one user; "caches", of earlier versions, was writable to strangers.
func (s store) filled() string { return filepath.Join(s.dir, "filled-"+strconv.Itoa(sandbox.UID)) }

func treePath(tree, inside string) string { return filepath.Join(tree, filepath.FromSlash(inside)) }

// read gives the record of a layer; fs.ErrNotExist where there is none.
func (s store) read(id string) (record, error) {
	var r record
	if !wellFormed(id) {
		return r, fmt.Errorf("layer %q: %w", id, fs.ErrNotExist)
	}
	b, err := os.ReadFile(filepath.Join(s.path(id), "layer.json"))
	if err != nil {
		return r, fmt.Errorf("layer %s: %w", id, err)
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("layer %s: %w", id, err)
	}
	return r, nil
}

// stack is a layer and those below it that its content needs, top first, and the
// toolchains of its base.
func (s store) stack(id string) (ids []string, toolchains []sandbox.Toolchain, err error) {
	full := false
	for next := true; next; next = id != "" {
		r, err := s.read(id)
		if err != nil {
			return nil, nil, err
		}
		if !full {
			ids = append(ids, id)
		}
		full = full || r.Full
		toolchains = append(toolchains, r.Toolchains...)
		id = r.Parent
	}
	return ids, toolchains, nil
}

// ancestry is a layer and all below it, down to the base, which it does not hold.
func (s store) ancestry(id string) ([]string, error) {
	var ids []string
	for {
		r, err := s.read(id)
		if err != nil {
			return nil, err
		}
		if r.Parent == "" {
			return ids, nil
		}
		ids = append(ids, id)
		id = r.Parent
	}
}

// scratch is a directory of ours for a while. The file beside it whose lock we hold
// shows sweepers of other processes that it is in use.
type scratch struct {
	dir  string
	lock *os.File
}

const lockSuffix = ".lock"

// scratch makes one: the lock first, so that a directory never stands without.
func (s store) scratch(prefix string) (*scratch, error) {
	lock, err := s.lockFile(prefix)
	if err != nil {
		return nil, fmt.Errorf("making scratch space: %w", err)
	}
	sc := &scratch{dir: strings.TrimSuffix(lock.Name(), lockSuffix), lock: lock}
	if err := os.Mkdir(sc.dir, 0o700); err != nil {
		sc.close()
		return nil, fmt.Errorf("making scratch space: %w", err)
	}
	return sc, nil
}

// lockFile makes a file and locks it. In between, a sweep may take it for one of the
// dead, and then another is made.
func (s store) lockFile(prefix string) (*os.File, error) {
	for {
		f, err := os.CreateTemp(s.runs(), prefix+"*"+lockSuffix)
		if err != nil {
			return nil, err
		}
		var st unix.Stat_t
		if err := errors.Join(unix.Flock(int(f.Fd()), unix.LOCK_EX), unix.Fstat(int(f.Fd()), &st)); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if st.Nlink > 0 {
			return f, nil
		}
		f.Close()
	}
}

// close leaves what it cannot remove to the next start.
func (sc *scratch) close() {
	if removeAll(sc.dir) == nil {
		_ = os.Remove(sc.lock.Name())
	}
	sc.lock.Close()
}

// use keeps a layer and all below it from being removed until release: an overlay
// over a tree that is being deleted would show a run fewer files, and no error.
func (s store) use(ctx context.Context, id string) (release func(), err error) {
	var unlocks []func()
	release = func() {
		for _, unlock := range unlocks {
			unlock()
		}
	}
	for id != "" {
		if !wellFormed(id) {
			release()
			return nil, fmt.Errorf("layer %q: %w", id, fs.ErrNotExist)
		}
		unlock, err := sandbox.LockShared(ctx, s.uses(), id)
		if err != nil {
			release()
			return nil, err
		}
		unlocks = append(unlocks, unlock)
		r, err := s.read(id) // after the lock: before it, it could go
		if err != nil {
			release()
			return nil, err
		}
		id = r.Parent
	}
	return release, nil
}

// free takes a layer out of sight at once, so that a kill on the way leaves no half
// layer, and then deletes it.
func (s store) free(ctx context.Context, id string) error {
	unlock, err := sandbox.Lock(ctx, s.uses(), id)
	if err != nil {
		return err
	}
	defer unlock()
	dying, err := s.scratch("dying-")
	if err != nil {
		return err
	}
	defer dying.close()
	if err := os.Rename(s.path(id), filepath.Join(dying.dir, "layer")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing layer %s: %w", id, err)
	}
	return nil
}

// wellFormed reports whether an ID can be a layer's: it names a file.
func wellFormed(id string) bool { return id != "" && !strings.ContainsAny(id, "/.") }

// keep moves a finished tree into place under its ID, at once or not at all.
func (s store) keep(tree, id string, r record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	made, err := os.MkdirTemp(filepath.Dir(tree), "layer-") // in the space of the build, and swept with it
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(made, "layer.json"), b, 0o600); err != nil {
		return err
	}
	if err := os.Rename(tree, filepath.Join(made, "tree")); err != nil {
		return err
	}
	if err := os.MkdirAll(s.layers(), 0o700); err != nil {
		return err
	}
	return os.Rename(made, s.path(id))
}

// rewrite gives a layer another record, whole or not at all.
func (s store) rewrite(id string, r record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	name := filepath.Join(s.path(id), "layer.json")
	if err := os.WriteFile(name+".new", b, 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

// prune takes from a written tree all but what layers keep.
func prune(tree string) error {
	var kept []string
	for _, inside := range sandbox.Kept() {
		kept = append(kept, treePath(tree, inside))
	}
	return pruneBelow(tree, kept)
}

func pruneBelow(dir string, kept []string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		keep, above := false, false
		for _, k := range kept {
			keep = keep || p == k
			above = above || strings.HasPrefix(k, p+"/")
		}
		switch {
		case keep:
		case above:
			err = pruneBelow(p, kept)
		default:
			err = removeAll(p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Whiteouts and opaque directories as overlayfs writes them with userxattr.
const opaque = "user.overlay.opaque"

func isWhiteout(info fs.FileInfo) bool {
	if info.Mode()&fs.ModeCharDevice == 0 {
		return false
	}
	st, ok := info.Sys().(*unixStat)
	return ok && st.Rdev == 0
}

func isOpaque(dir string) bool {
	value := make([]byte, 1)
	n, err := unix.Lgetxattr(dir, opaque, value)
	return err == nil && n == 1 && (value[0] == 'y' || value[0] == 'x')
}

// layerID names a layer's directory; keys may be of any length and alphabet. The user is
// in it: what another one owns is of no use.
func layerID(key schemas.Digest) string {
	return strings.TrimPrefix(string(schemas.DigestOf([]any{key, sandbox.UID})), "sha256:")[:24]
}
