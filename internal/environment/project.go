package environment

import (
	"context"
	"fmt"
	"time"

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
	out, err := p.At(ctx, s.Repo, s.Base, s.Language, trees.G, s.BaseDate)
	out.Base, out.TestPaths, out.Masked = trees.B, s.TestPaths(), s.Masked != nil
	return out, err
}

// At is the project of one tree, which is base and solution: that of a commit.
func (p Projects) At(ctx context.Context, repo, commit, language string, t lang.Tree, date time.Time) (lang.Project, error) {
	version, err := p.History.Describe(ctx, repo, commit)
	if err != nil {
		return lang.Project{}, fmt.Errorf("describing the base: %w", err)
	}
	var available []lang.ToolchainRelease
	if l, ok := p.Languages[language]; ok {
		available, err = p.Toolchains.Available(ctx, l.Toolchains()...)
	}
	if err != nil {
		return lang.Project{}, fmt.Errorf("listing toolchains: %w", err)
	}
	return lang.Project{Name: repo, Base: t, Solution: t, Date: date, Version: version, PinToDate: p.PinToDate, Available: available}, nil
}
