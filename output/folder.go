package output

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/schemas"
)

// folder is a dataset's folder while it is written: each file's checksum goes to
// disk as it is made, so that the memory does not grow with the files.
type folder struct {
	dir   string
	sums  *stream
	files int
	open  []*stream
	// written counts files. The first few are synced one by one; of many that would
	// take longer than all the rest, and the file system is synced once at the end.
	written int
	// canary is that of a release; "" puts none into files. digests are those of the files of rows.
	canary  string
	digests map[string]schemas.Digest
}

const syncedSingly = 64

func newFolder(dir string) (*folder, error) {
	f := &folder{dir: dir, digests: map[string]schemas.Digest{}}
	var err error
	f.sums, err = f.stream(ChecksumsFile)
	return f, err
}

// stream is a file that is written bit by bit.
type stream struct {
	name string
	f    *os.File
	w    *bufio.Writer
	sum  hash.Hash
	size int64
	done bool
}

func (f *folder) stream(name string) (*stream, error) {
	file, err := f.create(name, 0o644)
	if err != nil {
		return nil, err
	}
	s := &stream{name: name, f: file, w: bufio.NewWriterSize(file, 1<<16), sum: sha256.New()}
	f.open = append(f.open, s)
	return s, nil
}

func (s *stream) Write(b []byte) (int, error) {
	n, err := s.w.Write(b)
	s.sum.Write(b[:n])
	s.size += int64(n)
	return n, err
}

// drop ends a file that no checksum is kept of.
func (s *stream) drop() error {
	if s.done {
		return nil
	}
	s.done = true
	return errors.Join(s.w.Flush(), s.f.Sync(), s.f.Close())
}

func (s *stream) digest() schemas.Digest {
	return schemas.Digest("sha256:" + hex.EncodeToString(s.sum.Sum(nil)))
}

// keep ends a file and writes its checksum.
func (f *folder) keep(s *stream) error {
	return errors.Join(s.drop(), f.note(s.name, s.digest()))
}

// put writes a whole file and its checksum.
func (f *folder) put(name string, mode fs.FileMode, b []byte) error {
	if err := f.write(name, mode, b); err != nil {
		return err
	}
	return f.note(name, schemas.DigestBytes(b))
}

// note is one line as sha256sum writes it. Names of ours hold nothing that it would
// have to escape.
func (f *folder) note(name string, d schemas.Digest) error {
	f.files++
	if strings.HasPrefix(name, DataDir+"/") {
		f.digests[name] = d
	}
	_, err := fmt.Fprintf(f.sums, "%s  %s\n", string(d)[len("sha256:"):], name)
	return err
}

// finish ends the checksums: nothing is put after it.
func (f *folder) finish() (Checksums, error) {
	if err := f.sums.drop(); err != nil {
		return Checksums{}, err
	}
	return Checksums{SHA256: f.sums.digest(), Size: f.sums.size, Files: f.files}, nil
}

// write is put without a checksum.
func (f *folder) write(name string, mode fs.FileMode, b []byte) error {
	file, err := f.create(name, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(b)
	if f.written++; f.written <= syncedSingly {
		err = errors.Join(err, file.Sync())
	}
	return errors.Join(err, file.Close())
}

func (f *folder) create(name string, mode fs.FileMode) (*os.File, error) {
	p := filepath.Join(f.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		return nil, err
	}
	return os.OpenFile(p, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
}

// sync: the swap must never make durable what its files are not.
func (f *folder) sync() error {
	if f.written <= syncedSingly {
		return nil
	}
	dir, err := os.Open(f.dir)
	if err != nil {
		return err
	}
	return errors.Join(unix.Syncfs(int(dir.Fd())), dir.Close())
}

// close ends what an error has left open.
func (f *folder) close() error {
	var errs []error
	for _, s := range slices.Backward(f.open) {
		errs = append(errs, s.drop())
	}
	return errors.Join(errs...)
}
