// Package states makes the three trees of a start: SourceTree ⊕ Derive = B,
// B ⊕ TestPatch = S, S ⊕ Patch = G. Whoever needs a state asks here, so that a state
// is the same tree in every stage and need not be an object of any repository.
//
// It never decides what belongs to a state (the stages that make starts do) and never
// writes a tree anywhere.
package states

import (
	"cmp"
	"context"
	"fmt"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// Repos reads trees by the repository's name.
type Repos interface {
	Tree(ctx context.Context, repo, id string) (*tree.Tree, error)
}

// Blobs reads what records name by digest.
type Blobs interface {
	Get(d schemas.Digest) ([]byte, error)
}

// Trees are the states of one start, with the patches between them.
type Trees struct {
	B, S, G          *tree.Tree
	TestPatch, Patch []byte
}

// Tree is the tree of one state.
func (t Trees) Tree(s schemas.State) *tree.Tree {
	switch s {
	case schemas.StateB:
		return t.B
	case schemas.StateS:
		return t.S
	}
	return t.G
}

// Maker makes trees from the repository and the blobs that starts name.
type Maker struct {
	Repos Repos
	Blobs Blobs
}

// Of makes the trees of a start. The error names the first state that is not the tree
// that the start names.
func (m Maker) Of(ctx context.Context, s schemas.Start) (Trees, error) {
	base, err := m.base(ctx, s)
	if err != nil {
		return Trees{}, err
	}
	testPatch, err := m.patch(s.TestPatch)
	if err != nil {
		return Trees{}, err
	}
	patch, err := m.patch(s.Patch)
	if err != nil {
		return Trees{}, err
	}
	return From(base, testPatch, patch, s)
}

func (m Maker) base(ctx context.Context, s schemas.Start) (*tree.Tree, error) {
	source, err := m.Repos.Tree(ctx, s.Repo, cmp.Or(s.SourceTree, s.BaseTree))
	if err != nil {
		return nil, fmt.Errorf("reading the base tree: %w", err)
	}
	derive, err := m.patch(s.Derive)
	if err != nil {
		return nil, err
	}
	base, err := source.Apply(derive)
	if err != nil {
		return nil, fmt.Errorf("deriving the base: %w", err)
	}
	return base, nil
}

// patch is a patch that a start names; none where it names none.
func (m Maker) patch(d schemas.Digest) ([]byte, error) {
	if d == "" {
		return nil, nil
	}
	return m.Blobs.Get(d)
}

// From makes the trees of a start from its base and its patches, which a dataset holds
// itself. The error is as that of Of.
func From(base *tree.Tree, testPatch, patch []byte, s schemas.Start) (Trees, error) {
	start, err := base.Apply(testPatch)
	if err != nil {
		return Trees{}, fmt.Errorf("applying the test patch: %w", err)
	}
	solution, err := start.Apply(patch)
	if err != nil {
		return Trees{}, fmt.Errorf("applying the gold patch: %w", err)
	}
	t := Trees{B: base, S: start, G: solution, TestPatch: testPatch, Patch: patch}
	return t, t.check(s)
}

// check compares the trees with the IDs that a start names (design 8): others would
// prove something else.
func (t Trees) check(s schemas.Start) error {
	for _, x := range []struct {
		state schemas.State
		tree  *tree.Tree
		want  string
	}{{schemas.StateB, t.B, s.BaseTree}, {schemas.StateS, t.S, s.StartTree}, {schemas.StateG, t.G, s.SolutionTree}} {
		if got := x.tree.ID(); got != x.want {
			return fmt.Errorf("state %s: tree is %s, the start says %s", x.state, got, x.want)
		}
	}
	return nil
}
