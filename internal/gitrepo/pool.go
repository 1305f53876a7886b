package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Source is one repository that a run works on.
type Source struct {
	Git  string // path or URL
	Name string // owner/name; "" to infer it
}

// Pool opens each repository of a run once and answers by the repository's name,
// which is what records carry. Its repositories are closed by Close alone.
type Pool struct {
	cacheDir string
	sources  []Source

	mu   sync.Mutex
	open map[Source]*Repo
}

// NewPool makes a pool over the sources of a run; URLs are mirrored under cacheDir.
func NewPool(cacheDir string, sources []Source) *Pool {
	return &Pool{cacheDir: cacheDir, sources: sources, open: map[Source]*Repo{}}
}

// Open gives one source's repository. A failure is not remembered: the next call
// tries again. Two sources of one name are refused: IDs would mean two things.
func (p *Pool) Open(ctx context.Context, s Source) (*Repo, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := p.open[s]; r != nil {
		return r, nil
	}
	r, err := Open(ctx, s.Git, s.Name, p.cacheDir)
	if err != nil {
		return nil, err
	}
	for other, o := range p.open {
		if schemas.RepoSlug(o.info.Name) == schemas.RepoSlug(r.info.Name) && other.Git != s.Git {
			err := fmt.Errorf("%s and %s are both named %s: give one of them a name", other.Git, s.Git, r.info.Name)
			return nil, errors.Join(err, r.Close())
		}
	}
	p.open[s] = r
	return r, nil
}

// Named gives the repository that changes of that name came from, and opens
// sources until one has it: a run that resumes has not crawled.
func (p *Pool) Named(ctx context.Context, name string) (*Repo, error) {
	var failed []error
	for _, s := range p.sources {
		if s.Name != "" && s.Name != name {
			continue
		}
		r, err := p.Open(ctx, s)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		if r.info.Name == name {
			return r, nil
		}
	}
	return nil, errors.Join(append(failed, fmt.Errorf("no source is named %s", name))...)
}

// Close closes all repositories.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var failed []error
	for s, r := range p.open {
		failed = append(failed, r.Close())
		delete(p.open, s)
	}
	return errors.Join(failed...)
}

// Log is Repo.Log of the repository named repo.
func (p *Pool) Log(ctx context.Context, repo string, q Query) iter.Seq2[schemas.Change, error] {
	r, err := p.Named(ctx, repo)
	if err != nil {
		return func(yield func(schemas.Change, error) bool) { yield(schemas.Change{}, err) }
	}
	return r.Log(ctx, q)
}

// Files is Repo.Files.
func (p *Pool) Files(ctx context.Context, repo, from, to string) ([]schemas.ChangedFile, error) {
	r, err := p.Named(ctx, repo)
	if err != nil {
		return nil, err
	}
	return r.Files(ctx, from, to)
}

// Tree is Repo.Tree.
func (p *Pool) Tree(ctx context.Context, repo, id string) (*tree.Tree, error) {
	r, err := p.Named(ctx, repo)
	if err != nil {
		return nil, err
	}
	return r.Tree(ctx, id)
}

// Graft is Repo.Graft.
func (p *Pool) Graft(ctx context.Context, repo, base string, edits []Edit) (string, error) {
	r, err := p.Named(ctx, repo)
	if err != nil {
		return "", err
	}
	return r.Graft(ctx, base, edits)
}

// Diff is Repo.Diff.
func (p *Pool) Diff(ctx context.Context, repo, from, to string) ([]byte, error) {
	r, err := p.Named(ctx, repo)
	if err != nil {
		return nil, err
	}
	return r.Diff(ctx, from, to)
}

// Hunks is Repo.Hunks.
func (p *Pool) Hunks(ctx context.Context, repo, from, to string) ([]byte, error) {
	r, err := p.Named(ctx, repo)
	if err != nil {
		return nil, err
	}
	return r.Hunks(ctx, from, to)
}

// Describe is Repo.Describe.
func (p *Pool) Describe(ctx context.Context, repo, commit string) (lang.Version, error) {
	r, err := p.Named(ctx, repo)
	if err != nil {
		return lang.Version{}, err
	}
	return r.Describe(ctx, commit)
}
