package seal

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git's object IDs are SHA-1
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
)

// Object types of a pack (gitformat-pack).
const (
	objCommit = 1
	objTree   = 2
	objBlob   = 3
)

var objNames = map[int]string{objCommit: "commit", objTree: "tree", objBlob: "blob"}

type oid = [sha1.Size]byte

type packed struct {
	id     oid
	kind   int
	data   []byte
	crc    uint32
	offset uint32
}

// pack gathers objects once each and writes them whole, without deltas, so that
// the bytes depend on the content alone.
type pack struct {
	objects []packed
	seen    map[oid]bool
	size    int64 // of all objects, not compressed
}

func (p *pack) add(kind int, data []byte) oid {
	h := sha1.New() //nolint:gosec // git's object IDs are SHA-1
	fmt.Fprintf(h, "%s %d\x00", objNames[kind], len(data))
	h.Write(data)
	id := oid(h.Sum(nil))
	if p.seen == nil {
		p.seen = map[oid]bool{}
	}
	if !p.seen[id] {
		p.seen[id] = true
		p.size += int64(len(data))
		p.objects = append(p.objects, packed{id: id, kind: kind, data: data})
	}
	return id
}

// addTree adds every blob and directory, and gives the root's ID.
func (p *pack) addTree(t *tree.Tree) (oid, error) {
	entries := t.Entries()
	// Directories before what sorts after them: git compares them as "name/".
	root, err := p.addDir(entries, "")
	if err == nil && hex.EncodeToString(root[:]) != t.ID() {
		err = fmt.Errorf("the sealed tree is %x, not %s", root, t.ID())
	}
	return root, err
}

func (p *pack) addDir(entries []tree.Entry, prefix string) (oid, error) {
	type row struct {
		sort, mode, name string
		id               oid
	}
	var rows []row
	for i := 0; i < len(entries); {
		rest := entries[i].Path[len(prefix):]
		name, _, isDir := strings.Cut(rest, "/")
		if !isDir {
			id, err := p.addEntry(entries[i])
			if err != nil {
				return oid{}, err
			}
			rows = append(rows, row{name, entries[i].Mode, name, id})
			i++
			continue
		}
		dir := prefix + name + "/"
		j := i + sort.Search(len(entries)-i, func(k int) bool { return !strings.HasPrefix(entries[i+k].Path, dir) })
		id, err := p.addDir(entries[i:j], dir)
		if err != nil {
			return oid{}, err
		}
		rows = append(rows, row{name + "/", "40000", name, id})
		i = j
	}
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.sort, b.sort) })
	var buf bytes.Buffer
	for _, r := range rows {
		fmt.Fprintf(&buf, "%s %s\x00%s", r.mode, r.name, r.id[:])
	}
	return p.add(objTree, buf.Bytes()), nil
}

func (p *pack) addEntry(e tree.Entry) (oid, error) {
	if e.Mode != tree.ModeModule {
		return p.add(objBlob, e.Data), nil
	}
	id, err := hex.DecodeString(string(e.Data))
	if err != nil || len(id) != sha1.Size {
		return oid{}, fmt.Errorf("submodule %s: %q is no commit", e.Path, e.Data)
	}
	return oid(id), nil
}

// encode gives the pack, its version 2 index, and the name that git gives both:
// the pack's checksum.
func (p *pack) encode() (data, idx []byte, name string) {
	var buf bytes.Buffer
	buf.WriteString("PACK")
	buf.Write(be32(2, uint32(len(p.objects))))
	slices.SortFunc(p.objects, func(a, b packed) int { return bytes.Compare(a.id[:], b.id[:]) })
	for i := range p.objects {
		o := &p.objects[i]
		o.offset = uint32(buf.Len())
		buf.Write(packHeader(o.kind, len(o.data)))
		zw := zlib.NewWriter(&buf)
		_, _ = zw.Write(o.data) // a bytes.Buffer takes everything
		_ = zw.Close()
		o.crc = crc32.ChecksumIEEE(buf.Bytes()[o.offset:])
	}
	sum := sha1.Sum(buf.Bytes()) //nolint:gosec // as above
	buf.Write(sum[:])
	return buf.Bytes(), p.index(sum), hex.EncodeToString(sum[:])
}

func packHeader(kind, size int) []byte {
	b := byte(kind<<4 | size&15)
	size >>= 4
	var out []byte
	for size > 0 {
		out = append(out, b|0x80)
		b = byte(size & 0x7f)
		size >>= 7
	}
	return append(out, b)
}

func (p *pack) index(packSum oid) []byte {
	var ids, crcs, offsets bytes.Buffer
	var fan [256]uint32
	for _, o := range p.objects {
		fan[o.id[0]]++
		ids.Write(o.id[:])
		crcs.Write(be32(o.crc))
		offsets.Write(be32(o.offset))
	}
	out := append([]byte("\xfftOc"), be32(2)...)
	total := uint32(0)
	for _, n := range fan {
		total += n
		out = append(out, be32(total)...)
	}
	out = slices.Concat(out, ids.Bytes(), crcs.Bytes(), offsets.Bytes(), packSum[:])
	sum := sha1.Sum(out) //nolint:gosec // as above
	return append(out, sum[:]...)
}

// index is a version 2 index that agrees with files written at date, so that
// `git status` is clean without reading them.
func index(t *tree.Tree, date time.Time) []byte {
	entries := t.Entries()
	out := append([]byte("DIRC"), be32(2, uint32(len(entries)))...)
	sec := uint32(max(date.Unix(), 0))
	for _, e := range entries {
		mode, size, id := uint32(0o100644), len(e.Data), oid{}
		switch e.Mode {
		case tree.ModeExec:
			mode = 0o100755
		case tree.ModeSymlink:
			mode = 0o120000
		case tree.ModeModule:
			mode, size = 0o160000, 0
		}
		if e.Mode == tree.ModeModule {
			_, _ = hex.Decode(id[:], e.Data) // addEntry has proved it
		} else {
			_, _ = hex.Decode(id[:], []byte(tree.BlobID(e.Data)))
		}
		start := len(out)
		out = append(out, be32(sec, 0, sec, 0, 0, 0, mode, sandbox.UID, sandbox.GID, uint32(size))...)
		out = append(out, id[:]...)
		out = binary.BigEndian.AppendUint16(out, uint16(min(len(e.Path), 0xfff)))
		out = append(out, e.Path...)
		out = append(out, make([]byte, 8-(len(out)-start)%8)...) // 1 to 8 NULs
	}
	sum := sha1.Sum(out) //nolint:gosec // as above
	return append(out, sum[:]...)
}

func be32(values ...uint32) []byte {
	var out []byte
	for _, v := range values {
		out = binary.BigEndian.AppendUint32(out, v)
	}
	return out
}
