// Package blob keeps bytes by their digest: trees, patches, logs, reports.
//
// It never changes or forgets a blob by itself, and never trusts what it reads
// back without comparing the digest.
package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/schemas"
)

// ErrCorrupt is a blob whose bytes no longer have its digest.
var ErrCorrupt = errors.New("blob is corrupt")

// FaultError is a folder of blobs that does not give or take a blob: a fault of this machine,
// which says nothing of what needs the blob.
type FaultError struct {
	Writes bool
	Dir    string
	Err    error
}

func (e *FaultError) Error() string {
	if e.Writes {
		return fmt.Sprintf("writing a blob to %s: %v", e.Dir, e.Err)
	}
	return fmt.Sprintf("%v; put back what is missing in %s, the folder of blobs", e.Err, e.Dir)
}

func (e *FaultError) Unwrap() error { return e.Err }

// Store is a local content-addressed directory, for any number of goroutines and
// processes.
type Store struct {
	dir string
	// Remote has the same blobs for other machines; nil: there are none. What is put is there as well, and what is
	// not here is got from there.
	Remote Remote
}

// Remote is where machines exchange blobs. It may hold anything: what comes from it is compared with its digest.
type Remote interface {
	Put(ctx context.Context, d schemas.Digest, r io.Reader, size int64) error
	// Get writes a blob to w; fs.ErrNotExist.
	Get(ctx context.Context, d schemas.Digest, w io.Writer) error
}

// First is a Remote that takes all blobs, before one that has others.
type First [2]Remote

// Put implements Remote.
func (f First) Put(ctx context.Context, d schemas.Digest, r io.Reader, size int64) error {
	return f[0].Put(ctx, d, r, size)
}

// Get implements Remote.
func (f First) Get(ctx context.Context, d schemas.Digest, w io.Writer) error {
	err := f[0].Get(ctx, d, w)
	if errors.Is(err, fs.ErrNotExist) {
		return f[1].Get(ctx, d, w)
	}
	return err
}

// Open uses dir, which is made where it is missing.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir}
	if err := os.MkdirAll(s.unfinished(), 0o755); err != nil {
		return nil, fmt.Errorf("opening blob store: %w", err)
	}
	s.sweep()
	return s, nil
}

// unfinished is where blobs are written before they have their names: each under a
// lock, so that one that nobody holds is known to be left by a killed process.
func (s *Store) unfinished() string { return filepath.Join(s.dir, "unfinished") }

func (s *Store) sweep() {
	entries, _ := os.ReadDir(s.unfinished())
	for _, e := range entries {
		path := filepath.Join(s.unfinished(), e.Name())
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(path) // what stays is swept by the next one
		}
		f.Close()
	}
}

func (s *Store) path(d schemas.Digest) (string, error) {
	const prefix = len("sha256:")
	if len(d) != prefix+64 {
		return "", fmt.Errorf("%q is not a digest", d)
	}
	hex := string(d[prefix:])
	return filepath.Join(s.dir, hex[:2], hex[2:]), nil
}

// Put stores b; it is on disk when Put returns. FaultError.
func (s *Store) Put(b []byte) (schemas.Digest, error) {
	d, err := s.put(b)
	if err != nil {
		return "", &FaultError{true, s.dir, err}
	}
	return d, nil
}

func (s *Store) put(b []byte) (schemas.Digest, error) {
	d := schemas.DigestBytes(b)
	path, err := s.path(d)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(b)) {
		return d, nil
	}
	tmp, err := s.create()
	if err != nil {
		return "", err
	}
	if err := finish(tmp, path, b); err != nil {
		return "", err
	}
	if s.Remote != nil {
		if err := s.Remote.Put(context.Background(), d, bytes.NewReader(b), int64(len(b))); err != nil {
			return "", errors.Join(err, os.Remove(path)) // so that the next Put brings it
		}
	}
	return d, nil
}

// Receive stores what r gives, as the blob d. ErrCorrupt where that is not its digest. Nothing is brought to Remote.
func (s *Store) Receive(d schemas.Digest, r io.Reader) error {
	path, err := s.path(d)
	if err != nil {
		return err
	}
	tmp, err := s.create()
	if err != nil {
		return &FaultError{true, s.dir, err}
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(tmp, sum), r); err != nil {
		return &FaultError{true, s.dir, errors.Join(err, tmp.Close())}
	}
	if got := schemas.DigestSum(sum); got != d {
		return errors.Join(fmt.Errorf("blob %s came with the digest %s: %w", d.Short(), got.Short(), ErrCorrupt), tmp.Close())
	}
	if err := name(tmp, path); err != nil {
		return &FaultError{true, s.dir, err}
	}
	return nil
}

// PutFile stores the content of a file, whose name is no longer needed then. It is not read into memory, and
// brought to Remote as Put does.
func (s *Store) PutFile(file string) (schemas.Digest, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", &FaultError{true, s.dir, err}
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return "", &FaultError{true, s.dir, err}
	}
	d := schemas.DigestSum(sum)
	path, err := s.path(d)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(path); err == nil {
		return d, nil
	}
	if err := s.Receive(d, f); err != nil {
		return "", err
	}
	if s.Remote == nil {
		return d, nil
	}
	if _, err = f.Seek(0, io.SeekStart); err == nil {
		err = s.Remote.Put(context.Background(), d, f, size)
	}
	if err != nil {
		return "", &FaultError{true, s.dir, errors.Join(err, os.Remove(path))}
	}
	return d, nil
}

// Open opens a blob, wherever it is: its bytes are those of the digest when it was stored, and are not compared again.
// fs.ErrNotExist.
func (s *Store) Open(d schemas.Digest) (*os.File, error) {
	path, err := s.path(d)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if !errors.Is(err, fs.ErrNotExist) || s.Remote == nil {
		return f, err
	}
	if err := s.fetch(d); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// fetch gets a blob from Remote.
func (s *Store) fetch(d schemas.Digest) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(s.Remote.Get(context.Background(), d, w)) }()
	err := s.Receive(d, r)
	return errors.Join(err, r.Close())
}

// create makes a locked file. Between its making and its locking a sweep may take it
// for one of the dead.
func (s *Store) create() (*os.File, error) {
	for {
		f, err := os.CreateTemp(s.unfinished(), "")
		if err != nil {
			return nil, err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_SH); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		var stat unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if stat.Nlink > 0 {
			return f, nil
		}
		f.Close()
	}
}

// Folder makes an empty folder for work that ends in blobs, and what takes it away again. One
// that a killed process left goes when the store is opened the next time.
func (s *Store) Folder() (dir string, remove func() error, err error) {
	for {
		if dir, err = os.MkdirTemp(s.unfinished(), ""); err != nil {
			return "", nil, err
		}
		f, err := os.Open(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue // swept before it was locked
		}
		if err != nil {
			return "", nil, err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
			return "", nil, errors.Join(err, f.Close())
		}
		if _, err := os.Lstat(dir); err == nil {
			return dir, func() error { return errors.Join(os.RemoveAll(dir), f.Close()) }, nil
		}
		_ = f.Close() // of what is gone
	}
}

// Get reads a blob and proves its digest. FaultError: fs.ErrNotExist, ErrCorrupt.
func (s *Store) Get(d schemas.Digest) ([]byte, error) {
	path, err := s.path(d)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && s.Remote != nil {
		if err = s.fetch(d); err == nil {
			b, err = os.ReadFile(path)
		}
	}
	if err != nil {
		return nil, &FaultError{false, s.dir, fmt.Errorf("reading blob %s: %w", d.Short(), err)}
	}
	if schemas.DigestBytes(b) != d {
		return nil, &FaultError{false, s.dir, fmt.Errorf("reading blob %s: %w", d.Short(), ErrCorrupt)}
	}
	return b, nil
}

// IDFile names a folder of blobs, so that a store knows its own from another or an empty one.
const IDFile = "id"

// ID is the folder's name; "" where it has none yet.
func (s *Store) ID() (string, error) {
	b, err := os.ReadFile(filepath.Join(s.dir, IDFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(b), err
}

// SetID gives the folder its name.
func (s *Store) SetID(id string) error { return WriteFile(filepath.Join(s.dir, IDFile), []byte(id)) }

// Dir is the folder.
func (s *Store) Dir() string { return s.dir }

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
	return finish(tmp, path, b)
}

// finish fills a temporary file and gives it its name.
func finish(tmp *os.File, path string, b []byte) error {
	defer func() { _ = os.Remove(tmp.Name()) }() // after the rename there is nothing left to remove
	if _, err := tmp.Write(b); err != nil {
		return errors.Join(err, tmp.Close())
	}
	return name(tmp, path)
}

// name gives a file that is whole its name.
func name(tmp *os.File, path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := errors.Join(tmp.Chmod(fs.FileMode(0o644)), tmp.Sync(), os.Rename(tmp.Name(), path), tmp.Close()); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
