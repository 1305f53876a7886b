package seal

import (
	"bytes"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
)

// commit writes the neutral commit of a tree, and all objects that it leads to.
func commit(to *memory.Storage, t *tree.Tree, date time.Time) (plumbing.Hash, error) {
	root, err := tree.Write(to, t.Entries())
	if err != nil {
		return root, err
	}
	if root.String() != t.ID() {
		return root, fmt.Errorf("the sealed tree is %s, not %s", root, t.ID())
	}
	by := object.Signature{Name: author, Email: address, When: date}
	return tree.Encode(to, &object.Commit{TreeHash: root, Author: by, Committer: by, Message: message})
}

// packed is a pack with its index. git names both by sum, the checksum of the pack.
type packed struct {
	data, index []byte
	sum         plumbing.Hash
}

// pack writes all objects, in the order of their IDs and without deltas, so that the
// bytes depend on the content alone.
func pack(from *memory.Storage) (p packed, err error) {
	ids := make([]plumbing.Hash, 0, len(from.Objects))
	for id := range from.Objects {
		ids = append(ids, id)
	}
	plumbing.HashesSort(ids)
	var data, table bytes.Buffer
	if p.sum, err = packfile.NewEncoder(&data, from, false).Encode(ids, 0); err != nil {
		return p, fmt.Errorf("packing: %w", err)
	}
	var w idxfile.Writer // it learns offsets and checksums by reading the pack
	parser, err := packfile.NewParser(packfile.NewScanner(bytes.NewReader(data.Bytes())), &w)
	if err == nil {
		_, err = parser.Parse()
	}
	if err != nil {
		return p, fmt.Errorf("reading the pack again: %w", err)
	}
	entries, err := w.Index()
	if err == nil {
		_, err = idxfile.NewEncoder(&table).Encode(entries)
	}
	if err != nil {
		return p, fmt.Errorf("indexing the pack: %w", err)
	}
	p.data, p.index = data.Bytes(), table.Bytes()
	return p, nil
}

// indexOf is a version 2 index that agrees with files written at date, so that
// `git status` is clean without reading them.
func indexOf(t *tree.Tree, date time.Time) ([]byte, error) {
	const version = 2
	idx := index.Index{Version: version}
	for _, e := range t.Entries() {
		entry := &index.Entry{Name: e.Path, CreatedAt: date, ModifiedAt: date, UID: sandbox.UID, GID: sandbox.GID}
		switch e.Mode {
		case tree.ModeExec:
			entry.Mode = filemode.Executable
		case tree.ModeSymlink:
			entry.Mode = filemode.Symlink
		case tree.ModeModule:
			entry.Mode, entry.Hash = filemode.Submodule, plumbing.NewHash(string(e.Data))
		default:
			entry.Mode = filemode.Regular
		}
		if e.Mode != tree.ModeModule {
			entry.Size, entry.Hash = uint32(len(e.Data)), plumbing.NewHash(tree.BlobID(e.Data))
		}
		idx.Entries = append(idx.Entries, entry)
	}
	var b bytes.Buffer
	if err := index.NewEncoder(&b).Encode(&idx); err != nil {
		return nil, fmt.Errorf("writing the index: %w", err)
	}
	return b.Bytes(), nil
}
