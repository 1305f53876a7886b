package gitrepotest

import (
	"strings"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/benchmint/benchmint/internal/tree"
)

// objectsOf is where the objects of a repository are written.
func objectsOf(gitDir string) tree.Objects {
	return filesystem.NewStorage(osfs.New(gitDir), cache.NewObjectLRUDefault())
}

// writeObjects writes every object of h and gives the IDs of its commits.
func writeObjects(to tree.Objects, h *history) ([]string, error) {
	ids := make([]string, len(h.commits))
	for i, c := range h.commits {
		root, err := writeTree(to, c.tree)
		if err != nil {
			return nil, err
		}
		made := object.Commit{TreeHash: root, Author: signature(c.author, c.authored), Committer: signature(c.committer, c.landed), Message: c.subject + "\n"}
		if c.body != "" {
			made.Message += "\n" + c.body + "\n"
		}
		for _, p := range c.parents {
			made.ParentHashes = append(made.ParentHashes, plumbing.NewHash(ids[p]))
		}
		id, err := tree.Encode(to, &made)
		if err != nil {
			return nil, err
		}
		ids[i] = id.String()
	}
	return ids, nil
}

func writeTag(to tree.Objects, r ref, commit string, c commit) (string, error) {
	id, err := tree.Encode(to, &object.Tag{
		Name: strings.TrimPrefix(r.name, "refs/tags/"), Tagger: signature(c.committer, c.landed), Message: r.message + "\n",
		TargetType: plumbing.CommitObject, Target: plumbing.NewHash(commit),
	})
	return id.String(), err
}

// signature is who ("Name <address>") with a time, in the zone that was written.
func signature(who string, at time.Time) (s object.Signature) {
	s.Decode([]byte(who))
	s.When = at
	return s
}

// writeTree writes a folder and all below it. Paths are taken as they are: "../x"
// becomes an entry "..", which is the point of hostile samples.
func writeTree(to tree.Objects, files map[string]file) (plumbing.Hash, error) {
	entries := make([]tree.Entry, 0, len(files))
	for _, path := range sortedKeys(files) {
		entries = append(entries, tree.Entry{Path: path, Mode: files[path].mode, Data: files[path].data})
	}
	return tree.Write(to, entries)
}
