package push

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/gitrepo"
)

// Git is a git repository.
type Git struct {
	url, branch string
	dir         string // of the outbox and clones; removed by Close
	out         *gitrepo.Outbox
}

var _ Remote = (*Git)(nil)

// NewGit makes one; branch "" is the remote's own, or main. Its credentials are those that git
// has by itself; it asks nobody.
func NewGit(ctx context.Context, url, branch string, environ []string) (*Git, error) {
	dir, err := os.MkdirTemp("", "benchmint-push-")
	if err != nil {
		return nil, err
	}
	out, err := gitrepo.NewOutbox(ctx, url, filepath.Join(dir, "outbox"), environ)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &Git{url, branch, dir, out}, nil
}

// Close implements Remote.
func (g *Git) Close() error { return os.RemoveAll(g.dir) }

// URL implements Remote.
func (g *Git) URL(tag string) string {
	if tag != "" {
		return g.url + " " + tag
	}
	return g.url
}

const heads, tags = "refs/heads/", "refs/tags/"

// fault gives an error of git its end.
func (g *Git) fault(err error) error {
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, gitrepo.ErrRejected):
		return Refused("%s has changed meanwhile, and nothing is pushed: %v; run again", g.url, err)
	case errors.Is(err, gitrepo.ErrNoAccess), errors.Is(err, gitrepo.ErrGone):
		return fmt.Errorf("%w: %w", ErrUnmet, err)
	case errors.Is(err, gitrepo.ErrRemote):
		return fmt.Errorf("%w: %w", ErrAway, err)
	}
	return err
}

// Look implements Remote.
func (g *Git) Look(ctx context.Context, wanted func(tag string) bool) (State, error) {
	refs, branch, err := g.out.Refs(ctx)
	if err != nil {
		return State{}, g.fault(err)
	}
	if g.branch == "" {
		if g.branch = branch; branch == "" {
			g.branch = "main"
		}
	}
	s := State{There: true, Open: true, Head: refs[heads+g.branch], Tags: map[string]Tag{}}
	var fetch []string
	if s.Head != "" {
		fetch = append(fetch, heads+g.branch)
	}
	for ref, commit := range refs {
		if name, ok := strings.CutPrefix(ref, tags); ok && wanted(name) {
			s.Tags[name] = Tag{Commit: commit}
			fetch = append(fetch, ref)
		}
	}
	if len(fetch) == 0 {
		return s, nil
	}
	slices.Sort(fetch)
	if err := g.out.Fetch(ctx, fetch...); err != nil {
		return State{}, g.fault(err)
	}
	for name, tag := range s.Tags {
		if _, tag.Record, err = g.read(ctx, tag.Commit); err != nil {
			return State{}, err
		}
		s.Tags[name] = tag
	}
	if s.Head != "" {
		s.Files, s.Record, err = g.read(ctx, s.Head)
	}
	return s, err
}

// read gives the files of a commit, and its record.
func (g *Git) read(ctx context.Context, commit string) (Files, []byte, error) {
	all, err := g.out.Files(ctx, commit)
	if err != nil {
		return nil, nil, err
	}
	var record []byte
	if id := all[RecordFile]; id != "" {
		if record, err = g.out.Blob(ctx, id); err != nil {
			return nil, nil, err
		}
	}
	for name, id := range all {
		all[name] = "blob:" + id
	}
	return all, record, nil
}

// noText keeps git on any machine from writing other line ends into the files: their digests are
// published.
const noText = "* -text\n"

// Send implements Remote. Branch and tag are pushed as one.
func (g *Git) Send(ctx context.Context, s State, p Parcel) (State, error) {
	snap := gitrepo.Snapshot{Parent: s.Head, Message: p.Message, Date: p.Date, Tag: p.Tag, Keep: p.FeedOnly}
	if !p.Made { // else head is the commit
		snap.Files = p.Files
	}
	if !p.Made && !p.FeedOnly {
		snap.Texts = map[string]string{attributes: noText}
	}
	commit, tag, err := g.out.Commit(ctx, snap)
	if err != nil {
		return s, err
	}
	refs := map[string]string{heads + g.branch: commit}
	if p.Tag != "" {
		refs[tags+p.Tag] = tag
	}
	if err := g.out.Push(ctx, refs); err != nil {
		return s, g.fault(err)
	}
	s.Head = commit
	if s.Files, s.Record, err = g.read(ctx, commit); err != nil {
		return s, err
	}
	return s, g.compare(ctx, s, p)
}

// compare clones what was pushed, and compares every file.
func (g *Git) compare(ctx context.Context, s State, p Parcel) error {
	if err := p.differs(s.Files); err != nil {
		return Refused("the head of %s (%s) is not what was sent: %v", g.url, s.Head, err)
	}
	ref := p.Tag
	if ref == "" {
		ref = g.branch
	}
	dir := filepath.Join(g.dir, "clone")
	if err := g.out.Clone(ctx, ref, dir); err != nil {
		return g.fault(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	has, err := cloned(dir)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.Files)) {
		if has[name] != s.Files[name] {
			return Refused("a clone of %s has another %s than was sent; %s is public", g.URL(ref), name, ref)
		}
	}
	if len(has) != len(s.Files) {
		return Refused("a clone of %s has %d files, and %d were sent; %s is public", g.URL(ref), len(has), len(s.Files), ref)
	}
	return nil
}

// cloned are the files of a clone, by git's names of what they hold on this disk.
func cloned(dir string) (Files, error) {
	all := Files{}
	err := filepath.WalkDir(dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if err == nil && e.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		all[filepath.ToSlash(rel)], err = blobOf(file)
		return err
	})
	return all, err
}
