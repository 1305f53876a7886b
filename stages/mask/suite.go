package mask

import (
	"context"
	"fmt"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/httpsuite"
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
