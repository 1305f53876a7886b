package verify

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Tree is a source, as a mask found it, to one language.
type Tree struct {
	Paths   []string      // of all files, with slashes, sorted
	Files   []mask.Record // of the language
	Changed []string      // those that the mask wrote into
	root    string
}

// NewTree is the source of a mask, as its manifest lists it.
func NewTree(root string, m *mask.Manifest, language string) *Tree {
	t := &Tree{root: root}
	for _, f := range m.Files {
		if f.Before == "" && f.Link == "" {
			continue // a folder, or what could not be read
		}
		t.Paths = append(t.Paths, f.Path)
		if f.Language != language || f.Link != "" {
			continue
		}
		t.Files = append(t.Files, f)
		if f.Before != f.After && f.Failed == "" {
			t.Changed = append(t.Changed, f.Path)
		}
	}
	return t
}

// Read reads a file of the source.
func (t *Tree) Read(p string) ([]byte, error) {
	return os.ReadFile(filepath.Join(t.root, filepath.FromSlash(p)))
}

// Has reports whether a file is there, be it through a link to a folder of the tree, as pnpm
// lays out node_modules.
func (t *Tree) Has(p string) bool {
	for at := p; at != "."; at = path.Dir(at) {
		if _, ok := slices.BinarySearch(t.Paths, at); ok {
			return at == p || t.leads(p)
		}
	}
	return false
}

// leads reports whether a path leads to a file of the tree through its links.
func (t *Tree) leads(p string) bool {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return false
	}
	defer func() { _ = root.Close() }() // only looked into
	info, err := root.Stat(filepath.FromSlash(p))
	return err == nil && info.Mode().IsRegular()
}

// Folders are those with a file of this name, fit to be looked at by its tool: other
// people's code, what tests feed on and hidden folders are left out.
func (t *Tree) Folders(name string) []string {
	var out []string
	for _, p := range t.Paths {
		if path.Base(p) == name && !slices.ContainsFunc(strings.Split(path.Dir(p), "/"), aside) {
			out = append(out, path.Dir(p))
		}
	}
	return out
}

func aside(folder string) bool {
	return len(folder) > 1 && (folder[0] == '.' || folder[0] == '_') ||
		slices.Contains([]string{"node_modules", "vendor", "third_party", "testdata", "fixtures"}, folder)
}

// chunk is how many bytes of a tree go into one layer: they are held in memory.
const chunk = 64 << 20

// prepare makes a layer of each tree, over all the toolchains.
func (r *run) prepare(ctx context.Context, plans []plan) error {
	var tools []sandbox.Toolchain
	var home []sandbox.File
	for _, p := range plans {
		tools = append(tools, p.kit.mounts...)
		home = append(home, p.kit.Files...)
	}
	var err error
	if r.base, err = r.Sandbox.Base(ctx, sandbox.Base{Toolchains: tools}); err != nil {
		return err
	}
	if r.source, err = r.put(ctx, r.base, r.Source, home); err != nil {
		return fmt.Errorf("copying the source: %w", err)
	}
	if r.starter, err = r.put(ctx, r.base, r.Starter, home); err != nil {
		return fmt.Errorf("copying the starter: %w", err)
	}
	return nil
}

// put makes a layer with a copy of a tree.
func (r *run) put(ctx context.Context, layer sandbox.Layer, root string, files []sandbox.File) (sandbox.Layer, error) {
	size := 0
	flush := func() (err error) {
		layer, _, err = r.Sandbox.Build(ctx, sandbox.Build{Key: keyOf(layer, files), Parent: layer, Files: files, Lease: true, Limits: r.Limits})
		if err == nil {
			r.layers = append(r.layers, layer)
		}
		files, size = nil, 0
		return err
	}
	for _, f := range r.Manifest.Files {
		file, err := readFile(root, f.Path)
		if errors.Is(err, fs.ErrNotExist) || err != nil && f.Failed != "" {
			continue // left out of the starter, or what the mask could not read either
		}
		if err != nil {
			return layer, err
		}
		files = append(files, file)
		if size += len(file.Data); size >= chunk {
			if err := flush(); err != nil {
				return layer, err
			}
		}
	}
	return layer, flush()
}

// keyOf names a layer by what is in it.
func keyOf(parent sandbox.Layer, files []sandbox.File) schemas.Digest {
	var list strings.Builder
	for _, f := range files {
		fmt.Fprintf(&list, "%q %v %s\n", f.Path, f.Mode, schemas.DigestBytes(f.Data))
	}
	return schemas.DigestBytes([]byte(string(parent.Key) + "\n" + list.String()))
}

func readFile(root, p string) (sandbox.File, error) {
	at := filepath.Join(root, filepath.FromSlash(p))
	out := sandbox.File{Path: path.Join(sandbox.TreePath, p)}
	info, err := os.Lstat(at)
	if err != nil {
		return out, err
	}
	out.Mode = info.Mode()
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		var target string
		target, err = os.Readlink(at)
		out.Data = []byte(target)
	case info.Mode().IsRegular():
		out.Data, err = os.ReadFile(at)
		out.ModTime = timeOf(out.Data)
	default:
		return out, fmt.Errorf("%s is not a file", p)
	}
	return out, err
}

// timeOf is a time of the past by what a file holds: compilers take a file of the same
// name, size and time for the same file, and their caches outlive a tree.
func timeOf(data []byte) time.Time {
	const first, span = 1_000_000_000, 500_000_000 // seconds: 2001 to 2017
	sum := sha256.Sum256(data)
	return time.Unix(first+int64(binary.BigEndian.Uint32(sum[:])%span), int64(binary.BigEndian.Uint32(sum[4:])%1e9))
}

// close frees the layers.
func (r *run) close(ctx context.Context) error {
	var errs []error
	for _, l := range slices.Backward(r.layers) {
		errs = append(errs, r.Sandbox.Remove(ctx, l))
	}
	return errors.Join(errs...)
}
