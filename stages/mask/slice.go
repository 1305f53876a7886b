package mask

import (
	"context"
	"errors"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/ends"
)

// Manifest says of each function of a release's code part whether its body can be taken out, as
// the profile strict does it. Rejections: those of Run for a tree that no starter can be made of.
func (m *Masker) Manifest(ctx context.Context, c schemas.Cut) (*mask.Manifest, error) {
	manifest, err := m.listed(ctx, c)
	return manifest, ends.OfTree(err)
}

func (m *Masker) listed(ctx context.Context, c schemas.Cut) (manifest *mask.Manifest, err error) {
	t, err := m.repos.Tree(ctx, c.Repo, c.Release.Commit)
	if err != nil {
		return nil, err
	}
	language, err := m.language(t)
	if err != nil {
		return nil, err
	}
	scratch, remove, err := m.released(t)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	c.Slice, c.Profile = nil, string(mask.Strict)
	manifest, _, err = m.starter(ctx, scratch, t, c, language)
	return manifest, err
}

// sliceOf is a slice as package mask takes it.
func sliceOf(s *schemas.Slice) mask.Slice {
	switch {
	case s == nil:
		return mask.Slice{}
	case s.Function != "":
		return mask.Slice{Names: []string{s.Function}}
	case len(s.Handlers) > 0:
		return mask.Slice{Names: s.Handlers}
	}
	return mask.Slice{Module: s.Module}
}

// within are the functions of a file that are in a slice, with those inside of them, in the
// order of the file.
func within(s *schemas.Slice, r mask.Record) []mask.Definition {
	if s == nil {
		return r.Functions
	}
	var out []mask.Definition
	end := 0 // of the last function that the slice names
	for _, f := range r.Functions {
		switch {
		case s.Holds(schemas.FunctionName(r.Path, f.Name)):
			end = max(end, f.Span.End)
		case f.Span.Start >= end:
			continue
		}
		out = append(out, f)
	}
	return out
}
