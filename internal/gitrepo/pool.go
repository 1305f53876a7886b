package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Source is one repository that a run works on.
type Source struct {
	Git  string // path or URL
	Name string // owner/name; "" to infer it
}

// Pool opens each repository of a run once and gives it by source or by name.
// The repositories belong to the pool: only Close closes them.
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
// tries again.
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
		if r.Info().Name == name {
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
