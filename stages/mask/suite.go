package mask

import (
	"context"
	"fmt"
	"slices"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/deploy"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// suite adds the recorded cases of a service to the start and the solution, with the programs
// that run them. What a solver gets has none of it.
func (m *Masker) suite(ctx context.Context, s *schemas.Start) error {
	raw, err := m.blobs.Get(s.Group.Suite)
	if err != nil {
		return fmt.Errorf("reading the cases of the group: %w", err)
	}
	cases, err := contract.Decode(raw)
	if err != nil {
		return fmt.Errorf("reading the cases of the group: %w", err)
	}
	files, err := httpsuite.Files(cases)
	if err != nil {
		return err
	}
	var edits []gitrepo.Edit
	for _, f := range files {
		edits = append(edits, gitrepo.Edit{Path: f.Path, Mode: tree.ModeFile, Data: f.Data})
	}
	for _, state := range []*string{&s.StartTree, &s.SolutionTree} {
		if *state, err = m.repos.Graft(ctx, s.Repo, *state, edits); err != nil {
			return fmt.Errorf("adding the suite: %w", err)
		}
	}
	return nil
}

// deployed is the solution of an environment variant, without the suite, and the edits that take
// the environment of the service out of its starter.
func (m *Masker) deployed(ctx context.Context, release *tree.Tree, c schemas.Cut) (goal string, without []gitrepo.Edit, err error) {
	raw, err := m.blobs.Get(c.Deploy.Files)
	if err != nil {
		return "", nil, fmt.Errorf("reading the environment of a service: %w", err)
	}
	files, err := deploy.Decode(raw)
	if err != nil {
		return "", nil, err
	}
	for _, p := range release.Paths() {
		if deploy.Environment(p) {
			without = append(without, gitrepo.Edit{Path: p})
		}
	}
	edits := slices.Clone(without)
	for _, f := range files {
		if f.Path != deploy.Dockerfile && release.Has(f.Path) {
			return "", nil, fmt.Errorf("the release has %s, which a solution would write", f.Path)
		}
		if part, rule := m.rules.Part(f.Path, release); parts.Counts(part, rule) {
			return "", nil, fmt.Errorf("%s of a solution would be taken for a test", f.Path)
		}
		edits = append(edits, gitrepo.Edit{Path: f.Path, Mode: tree.ModeFile, Data: []byte(f.Text)})
	}
	if goal, err = m.repos.Graft(ctx, c.Repo, release.ID(), edits); err != nil {
		return "", nil, fmt.Errorf("making the tree of the solution: %w", err)
	}
	return goal, without, nil
}
