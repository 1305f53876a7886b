package toolchain

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// source is where a toolchain is copied from and how.
type source struct {
	key string // what identifies the source's state; a changed key makes a new copy
	// copy fills dir. finish may add files that are no content of the toolchain
	// (compiled caches); they are outside the digest.
	copy   func(ctx context.Context, dir string) error
	finish func(ctx context.Context, dir string) error
}

// layout changes whenever the copying rules do, so that older copies are not reused.
const layout = "2"

// stamp is the one modification time of every copied file: Python compares it
// with the one noted in compiled files, and a layer must not differ by it.
var stamp = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// note stands beside each copy: what it was made from and how to check it cheaply.
type note struct {
	Key    string         `json:"key"`
	Digest schemas.Digest `json:"digest"`
	Files  int            `json:"files"`
	Bytes  int64          `json:"bytes"`
}

// keep finds the copy for a source, or makes it.
func (s *Store) keep(ctx context.Context, name, version string, src source) (string, schemas.Digest, error) {
	root := filepath.Join(s.host.Cache, "toolchains")
	if err := os.MkdirAll(root, 0o755); err != nil {
		return "", "", err
	}
	src.key = layout + " " + src.key
	// Processes over one cache take turns: a copy is large, and the second one finds it.
	unlock, err := sandbox.Lock(ctx, root, ".lock-"+name+"-"+version)
	if err != nil {
		return "", "", err
	}
	defer unlock()
	if dir, digest, ok := reuse(root, name+"-"+version, src.key); ok {
		return dir, digest, nil
	}
	// Under the lock: what stands there was left by a process that was killed.
	tmp := filepath.Join(root, ".copy-"+name+"-"+version)
	removeAll(tmp)
	if err := os.Mkdir(tmp, 0o755); err != nil {
		return "", "", err
	}
	defer removeAll(tmp)
	tree := filepath.Join(tmp, "tree")
	if err := os.Mkdir(tree, 0o755); err != nil {
		return "", "", err
	}
	if err := src.copy(ctx, tree); err != nil {
		return "", "", err
	}
	digest, err := digestTree(tree)
	if err != nil {
		return "", "", err
	}
	if src.finish != nil {
		if err := src.finish(ctx, tree); err != nil {
			return "", "", err
		}
	}
	dir := filepath.Join(root, fmt.Sprintf("%s-%s-%s", name, version, digest.Short()))
	return dir, digest, place(tmp, tree, dir, note{Key: src.key, Digest: digest})
}

// place moves a finished copy to its name. Another process may have been faster:
// then its copy has the same digest and is used. A broken one is put aside first.
func place(tmp, tree, dir string, n note) error {
	var err error
	if n.Files, n.Bytes, err = measure(tree); err != nil {
		return err
	}
	err = os.Rename(tree, dir)
	if err != nil && errors.Is(err, fs.ErrExist) {
		if files, bytes, e := measure(dir); e != nil || files != n.Files || bytes != n.Bytes {
			if err := os.Rename(dir, filepath.Join(tmp, "broken")); err != nil {
				return err
			}
			err = os.Rename(tree, dir)
		} else {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	side := filepath.Join(tmp, "note")
	if err := os.WriteFile(side, data, 0o644); err != nil {
		return err
	}
	return os.Rename(side, dir+".json")
}

// reuse finds a whole copy of the same source. Whole is decided by the number and
// size of its files: reading every byte again would cost more than a proof run.
func reuse(root, stem, key string) (string, schemas.Digest, bool) {
	notes, err := filepath.Glob(filepath.Join(root, stem+"-*.json"))
	if err != nil {
		return "", "", false
	}
	sort.Strings(notes)
	for _, path := range notes {
		var n note
		data, err := os.ReadFile(path)
		if err != nil || json.Unmarshal(data, &n) != nil || n.Key != key {
			continue
		}
		dir := strings.TrimSuffix(path, ".json")
		if files, bytes, err := measure(dir); err == nil && files == n.Files && bytes == n.Bytes {
			return dir, n.Digest, true
		}
	}
	return "", "", false
}

// measure counts files and bytes, compiled caches left out (a run as root may add some).
func measure(dir string) (files int, bytes int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || compiled(path) {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files++
		bytes += info.Size()
		return nil
	})
	return files, bytes, err
}

// compiled recognises Python's caches, which are no content.
func compiled(path string) bool {
	return strings.HasSuffix(path, ".pyc") || strings.HasSuffix(path, ".pyo")
}

// digestTree is the digest of paths, modes and bytes in path order.
func digestTree(dir string) (schemas.Digest, error) {
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || compiled(path) {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		content, err := fileSum(path, info)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%q %s %s\n", filepath.ToSlash(rel), info.Mode(), content)
		return nil
	})
	return schemas.Digest("sha256:" + hex.EncodeToString(sum.Sum(nil))), err
}

func fileSum(path string, info fs.FileInfo) (string, error) {
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		return fmt.Sprintf("%q", target), err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// copyTree copies from into to. skip is asked with slash paths relative to from;
// a skipped folder is not walked. A link that leaves the tree becomes the file it
// leads to, because its target will not be in the sandbox.
func copyTree(ctx context.Context, from, to string, skip func(rel string, dir bool) bool) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if rel != "." && skip(filepath.ToSlash(rel), d.IsDir()) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			return copyLink(from, path, target)
		case d.Type().IsRegular():
			return copyFile(path, target)
		}
		return nil // sockets and devices are no part of a toolchain
	})
}

func copyLink(root, path, target string) error {
	link, err := os.Readlink(path)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(link) && within(root, filepath.Join(filepath.Dir(path), link)) {
		return os.Symlink(link, target)
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil // dangling, or a folder elsewhere: nothing that a toolchain needs
	}
	return copyFile(path, target)
}

func within(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// copyFile copies one file with modes that any user can read: the source may be
// under a private home, or read-only as in the module cache.
func copyFile(path, target string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(err, out.Close())
	}
	if err := out.Close(); err != nil {
		return err
	}
	if err := os.Chmod(target, mode); err != nil { // the umask may be tighter
		return err
	}
	return os.Chtimes(target, stamp, stamp)
}

// removeAll removes a tree that may hold read-only folders.
func removeAll(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o755)
		}
		return nil
	})
	_ = os.RemoveAll(dir) // what is left is in the next copy's way, and goes then
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
