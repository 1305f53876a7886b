package environment

import (
	"context"
	"fmt"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Repos reads trees and history of the sources.
type Repos interface {
	Tree(ctx context.Context, repo, id string) (*tree.Tree, error)
	Describe(ctx context.Context, repo, commit string) (tree.Version, error)
}

// Projects says what inference may look at.
type Projects struct {
	Repos      Repos
	Toolchains Toolchains
	Languages  map[string]lang.Language
	PinToDate  bool
}

// Of is the project of a start.
func (p Projects) Of(ctx context.Context, s schemas.Start) (lang.Project, error) {
	base, err := p.Repos.Tree(ctx, s.Repo, s.BaseTree)
	if err != nil {
		return lang.Project{}, fmt.Errorf("reading the base tree: %w", err)
	}
	solution, err := p.Repos.Tree(ctx, s.Repo, s.SolutionTree)
	if err != nil {
		return lang.Project{}, fmt.Errorf("reading the solution tree: %w", err)
	}
	version, err := p.Repos.Describe(ctx, s.Repo, s.Base)
	if err != nil {
		return lang.Project{}, fmt.Errorf("describing the base: %w", err)
	}
	var available []lang.ToolchainRelease
	if l, ok := p.Languages[s.Language]; ok {
		available, err = p.Toolchains.Available(ctx, l.Toolchains()...)
	}
	if err != nil {
		return lang.Project{}, fmt.Errorf("listing toolchains: %w", err)
	}
	return lang.Project{
		Name: s.Repo, Base: base, Solution: solution, Date: s.BaseDate, Version: version,
		TestPaths: s.TestPaths(), PinToDate: p.PinToDate, Available: available,
	}, nil
}
