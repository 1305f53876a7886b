package seal

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/benchmint/benchmint/internal/tree"
)

const (
	maxDepth    = 8
	maxUnpacked = 8 << 30   // bytes from one file of a layer, all depths together
	maxPackFile = 512 << 20 // a git pack is held in memory to resolve its deltas
	inMemory    = 16 << 20  // larger archives are spooled to disk
	headLen     = 600
)

// errBudget ends the unpacking of a bomb.
var errBudget = errors.New("unpacks to more than the limit")

// unpacker turns a packed stream into members.
type unpacker func(sc *scan, name string, r *spool, depth int) error

// sniff reports how a stream is packed by its first bytes, for names cannot be
// trusted; nil is not at all.
func sniff(name string, head []byte) unpacker {
	has := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case has("PK\x03\x04"):
		return (*scan).zip
	case has("\x1f\x8b\x08"):
		return single(func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) })
	case has("BZh") && len(head) > 10 && string(head[4:10]) == "1AY&SY":
		return single(func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil })
	case has("\xfd7zXZ\x00"):
		return single(func(r io.Reader) (io.Reader, error) { return xz.NewReader(r) })
	case has("\x28\xb5\x2f\xfd"):
		return single(func(r io.Reader) (io.Reader, error) {
			return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(inMemory<<4))
		})
	case has("PACK\x00\x00\x00\x02"), has("PACK\x00\x00\x00\x03"):
		return (*scan).pack
	case len(head) > 262 && string(head[257:262]) == "ustar":
		return (*scan).tar
	// git's loose objects, and whatever else is one zlib stream.
	case len(head) > 2 && head[0] == 0x78 && (int(head[0])<<8|int(head[1]))%31 == 0:
		return single(func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) })
	}
	switch strings.ToLower(path.Ext(name)) {
	case ".tar": // before POSIX there was no magic
		return (*scan).tar
	case ".whl", ".zip", ".egg", ".pyz", ".pex", ".body": // a zip may follow anything
		if len(head) > 0 {
			return (*scan).zip
		}
	}
	return nil
}

// stream searches one file, member or object, and what is packed in it. Only an
// error in reading r itself is an error: a broken archive is noted, and searched
// as it is.
func (sc *scan) stream(name string, r io.Reader, size int64, depth int) error {
	br := bufio.NewReaderSize(r, 64<<10)
	head, err := br.Peek(headLen)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	unpack := sniff(name, head)
	isJSON := path.Base(name) == ConfigFile || path.Ext(name) == ".ipynb"
	wanted := sc.set.sizes[size] || sc.set.hasTwin(name)
	if unpack == nil && !isJSON && !wanted {
		return sc.leaf(name, br, head, depth)
	}
	s, err := newSpool(br)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := sc.leaf(name, s.reader(), head, depth); err != nil {
		return err
	}
	if wanted || isJSON {
		b, err := io.ReadAll(s.reader())
		if err != nil {
			return err
		}
		sc.whole(name, b)
		if isJSON {
			return sc.texts(name, b, depth)
		}
	}
	if unpack == nil {
		return nil
	}
	if depth == maxDepth {
		sc.note(name, fmt.Errorf("packed more than %d deep", maxDepth))
		return nil
	}
	err = unpack(sc, name, s, depth)
	if sc.ctx.Err() != nil {
		return sc.ctx.Err()
	}
	if err != nil {
		sc.note(name, err)
	}
	return nil
}

func (sc *scan) note(name string, err error) {
	sc.unread = append(sc.unread, name+": "+err.Error())
}

// whole compares a file with the changed files, and with what compiling them gives.
func (sc *scan) whole(name string, b []byte) {
	sc.file(name, tree.BlobID(b))
	sc.twin(name, b)
}

// file takes the ID of a whole file.
func (sc *scan) file(name, id string) {
	if n, ok := sc.set.files[id]; ok {
		sc.direct = append(sc.direct, hitOf(n, place{name: name}))
	}
}

// member searches what was unpacked, as far as the budget goes.
func (sc *scan) member(name string, r io.Reader, size int64, depth int) error {
	limited := &io.LimitedReader{R: r, N: sc.budget + 1}
	err := sc.stream(name, limited, size, depth+1)
	sc.budget = min(sc.budget, limited.N-1)
	if limited.N <= 0 {
		return errBudget
	}
	return err
}

// single is a format that packs one stream.
func single(open func(io.Reader) (io.Reader, error)) unpacker {
	return func(sc *scan, name string, s *spool, depth int) error {
		r, err := open(s.reader())
		if err != nil {
			return err
		}
		if d, ok := r.(*zstd.Decoder); ok {
			defer d.Close()
		}
		return sc.member(name+"!", r, -1, depth)
	}
}

func (sc *scan) zip(name string, s *spool, depth int) error {
	zr, err := zip.NewReader(s, s.size)
	if err != nil {
		return err
	}
	for _, f := range zr.File {
		if f.FileInfo().IsDir() {
			continue
		}
		r, err := f.Open()
		if err == nil {
			sc.copies.path(name + "!" + f.Name)
			err = sc.member(name+"!"+f.Name, r, int64(f.UncompressedSize64), depth)
			err = errors.Join(err, r.Close())
		}
		if errors.Is(err, errBudget) || sc.ctx.Err() != nil {
			return err
		}
		if err != nil { // the other members can be whole
			sc.note(name+"!"+f.Name, err)
		}
	}
	return nil
}

func (sc *scan) tar(name string, s *spool, depth int) error {
	tr := tar.NewReader(s.reader())
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		sc.copies.path(name + "!" + h.Name)
		if err := sc.member(name+"!"+h.Name, tr, h.Size, depth); err != nil {
			return err
		}
	}
}

// pack searches every object of a git pack, deltas resolved.
func (sc *scan) pack(name string, s *spool, depth int) error {
	if s.size > maxPackFile {
		return fmt.Errorf("a git pack of %d bytes", s.size)
	}
	objects := memory.NewStorage()
	if err := packfile.UpdateObjectStorage(objects, s.reader()); err != nil {
		return err
	}
	iter, err := objects.IterEncodedObjects(plumbing.AnyObject)
	if err != nil {
		return err
	}
	return iter.ForEach(func(o plumbing.EncodedObject) error {
		r, err := o.Reader()
		if err != nil {
			return err
		}
		return errors.Join(sc.member(name+"!"+o.Hash().String(), r, o.Size(), depth), r.Close())
	})
}

// spool is a stream that can be read again.
type spool struct {
	io.ReaderAt
	size int64
	file *os.File
}

func newSpool(r io.Reader) (*spool, error) {
	var buf bytes.Buffer
	n, err := io.CopyN(&buf, r, inMemory)
	if errors.Is(err, io.EOF) {
		return &spool{ReaderAt: bytes.NewReader(buf.Bytes()), size: n}, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp("", "benchmint-scan-*")
	if err != nil {
		return nil, err
	}
	s := &spool{ReaderAt: f, file: f}
	if err := os.Remove(f.Name()); err != nil { // gone with the process, whatever ends it
		s.Close()
		return nil, err
	}
	if s.size, err = io.Copy(f, io.MultiReader(&buf, r)); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *spool) reader() io.Reader { return io.NewSectionReader(s, 0, s.size) }

// Close gives the disk back.
func (s *spool) Close() {
	if s.file != nil {
		_ = s.file.Close() // only read, and already without a name
	}
}
