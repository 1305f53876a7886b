// Package blob keeps bytes by their digest: trees, patches, logs, reports.
//
// It never changes or forgets a blob by itself, and never trusts what it reads
// back without comparing the digest.
package blob

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/benchmint/benchmint/schemas"
)

// ErrCorrupt is a blob whose bytes no longer have its digest.
var ErrCorrupt = errors.New("blob is corrupt")

// Store is a local content-addressed directory.
type Store struct{ dir string }

// Open uses dir, which is made where it is missing.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("opening blob store: %w", err)
	}
	return &Store{dir: dir}, nil
}

func (s *Store) path(d schemas.Digest) (string, error) {
	const prefix = len("sha256:")
	if len(d) != prefix+64 {
		return "", fmt.Errorf("%q is no digest", d)
	}
	hex := string(d[prefix:])
	return filepath.Join(s.dir, hex[:2], hex[2:]), nil
}

// Put stores b; it is on disk when Put returns.
func (s *Store) Put(b []byte) (schemas.Digest, error) {
	d := schemas.DigestBytes(b)
	path, err := s.path(d)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(b)) {
		return d, nil
	}
	return d, WriteFile(path, b)
}

// Get reads a blob and proves its digest. fs.ErrNotExist, ErrCorrupt.
func (s *Store) Get(d schemas.Digest) ([]byte, error) {
	path, err := s.path(d)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading blob %s: %w", d.Short(), err)
	}
	if schemas.DigestBytes(b) != d {
		return nil, fmt.Errorf("reading blob %s: %w", d.Short(), ErrCorrupt)
	}
	return b, nil
}

// WriteFile writes a whole file or none: temporary file, sync, rename, sync of
// the directory. Missing directories are made.
func WriteFile(path string, b []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // after the rename there is nothing left to remove
	if _, err := tmp.Write(b); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := errors.Join(tmp.Chmod(fs.FileMode(0o644)), tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
