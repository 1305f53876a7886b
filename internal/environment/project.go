package environment

import (
	"context"
	"fmt"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// History reads what tags say of a commit.
type History interface {
	Describe(ctx context.Context, repo, commit string) (tree.Version, error)
}

// States makes the trees of starts; states.Maker does.
type States interface {
	Of(ctx context.Context, s schemas.Start) (states.Trees, error)
}

// Projects says what inference may look at.
type Projects struct {
	States     States
	History    History
	Toolchains Toolchains
	Languages  map[string]lang.Language
	PinToDate  bool
}

// Of is the project of a start.
func (p Projects) Of(ctx context.Context, s schemas.Start) (lang.Project, error) {
	trees, err := p.States.Of(ctx, s)
	if err != nil {
		return lang.Project{}, err
	}
	version, err := p.History.Describe(ctx, s.Repo, s.Base)
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
		Name: s.Repo, Base: trees.B, Solution: trees.G, Date: s.BaseDate, Version: version,
		TestPaths: s.TestPaths(), Masked: s.Masked != nil, PinToDate: p.PinToDate, Available: available,
	}, nil
}
