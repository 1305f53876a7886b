package seal

import (
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/benchmint/benchmint/internal/tree"
)

// Line is a branch of a bare repository, with the commit that it adds.
type Line struct {
	Branch, Message string
	Tree            *tree.Tree
}

// Named is a file of a repository by its path.
type Named struct {
	Path string
	Data []byte
}

// Bare is a bare repository: the commit of each line stands on that of the line before it, and
// the first branch is the current one. Nothing else is in it. It gives the IDs of the commits;
// equal lines and dates give equal bytes.
func Bare(date time.Time, lines ...Line) (files []Named, ids []string, err error) {
	objects := memory.NewStorage()
	by := object.Signature{Name: author, Email: address, When: stampOf(date)}
	var parents []plumbing.Hash
	for _, l := range lines {
		root, err := tree.Write(objects, l.Tree.Entries())
		if err != nil {
			return nil, nil, fmt.Errorf("branch %s: %w", l.Branch, err)
		}
		id, err := tree.Encode(objects, &object.Commit{TreeHash: root, Author: by, Committer: by, Message: l.Message + "\n", ParentHashes: parents})
		if err != nil {
			return nil, nil, fmt.Errorf("branch %s: %w", l.Branch, err)
		}
		parents, ids = []plumbing.Hash{id}, append(ids, id.String())
		files = append(files, Named{"refs/heads/" + l.Branch, []byte(id.String() + "\n")})
	}
	p, err := pack(objects)
	if err != nil {
		return nil, nil, err
	}
	name := "objects/pack/pack-" + p.sum.String()
	return append(files,
		Named{"HEAD", []byte("ref: refs/heads/" + lines[0].Branch + "\n")},
		Named{"config", []byte("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n")},
		Named{name + ".idx", p.index}, Named{name + ".pack", p.data}), ids, nil
}
