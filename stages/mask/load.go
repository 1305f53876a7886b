package mask

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/benchmint/benchmint/internal/gitrepo"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// rounds is how many starters are made of a release, each with what the load of the one before asked for.
const rounds = 5

// Loader makes the environments in which releases are loaded.
type Loader interface {
	// Open makes the environment of a release.
	Open(ctx context.Context, c schemas.Cut, language string, t *tree.Tree) (Loading, error)
}

// Loading is the environment of one release.
type Loading interface {
	// Load builds a tree of the release, loads its code, and says what ran and what did not load.
	Load(ctx context.Context, t *tree.Tree) (mask.Load, error)
}

// starter masks a release in a folder, and gives the manifest of its code part with the edits. Where the release can be
// loaded, what was seen to run stays, and the starter loads as the release does; else a rule by plain names decides what
// stays. Where that leaves too much, what ran for a file of tests alone goes: that file then fails until the body is written,
// as its tests do. The profiles of Commit0 keep the published rules, and a service loses the bodies of its handlers alone.
func (m *Masker) starter(ctx context.Context, scratch string, t *tree.Tree, c schemas.Cut, language string) (*mask.Manifest, []gitrepo.Edit, error) {
	o := mask.Options{
		Source: filepath.Join(scratch, "release"), Profile: mask.Profile(c.Profile), Slice: sliceOf(c.Slice),
		Languages: m.masksOf(language), Workers: 1,
	}
	if m.loader == nil || o.Profile != mask.Strict || c.Kind() != schemas.KindLibrary {
		return m.once(ctx, o, scratch, t)
	}
	loading, err := m.loader.Open(ctx, c, language, t)
	if err != nil {
		return nil, nil, err
	}
	pipeline.Doing(ctx, "loading the release, to see what runs")
	source, err := loading.Load(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	manifest, edits, err := m.loaded(ctx, loading, o, source, scratch, t, c)
	if err != nil || len(edits) == 0 {
		return manifest, edits, err
	}
	without := source.WithoutTests()
	if done, _ := m.count(manifest, nil, c.Slice); done.Share() > m.config.MaxLinesLeft && len(without.Ran) < len(source.Ran) {
		return m.loaded(ctx, loading, o, without, scratch, t, c)
	}
	return manifest, edits, nil
}

// loaded makes starters until one loads as the release does.
func (m *Masker) loaded(ctx context.Context, loading Loading, o mask.Options, source mask.Load, scratch string, t *tree.Tree, c schemas.Cut) (*mask.Manifest, []gitrepo.Edit, error) {
	o.Load = &source
	for round := 1; ; round++ {
		manifest, edits, err := m.once(ctx, o, scratch, t)
		if err != nil || len(edits) == 0 {
			return manifest, edits, err
		}
		pipeline.Doing(ctx, "loading starter %d of at most %d", round, rounds)
		lost, blamed, err := m.lost(ctx, loading, source, t, c, edits)
		if err != nil || len(lost) == 0 {
			return manifest, edits, err
		}
		blamed = slices.DeleteFunc(blamed, func(name string) bool { return slices.Contains(o.Keep, name) })
		if len(blamed) == 0 || round == rounds {
			first := lost[0]
			if late := func(f mask.NotLoaded) bool { return f.Late }; len(blamed) == 0 && slices.ContainsFunc(lost, late) {
				return nil, nil, fmt.Errorf("loading the starter: %s: %s; it hangs, or this machine is too slow", first.Unit, first.Message)
			}
			return nil, nil, pipeline.Reject(schemas.StarterDead, "%d of %d modules and programs load in the release and not in the starter, after %d rounds; the first is %s: %s",
				len(lost), source.Units, round, first.Unit, first.Message)
		}
		o.Keep = append(o.Keep, blamed...)
	}
}

// lost are the modules that load in the release and not in a starter, and the functions that they name. What no function is
// named for is looked at twice: a machine under load may have ended it.
func (m *Masker) lost(ctx context.Context, in Loading, source mask.Load, t *tree.Tree, c schemas.Cut, edits []gitrepo.Edit) (lost []mask.NotLoaded, blamed []string, err error) {
	id, err := m.repos.Graft(ctx, c.Repo, t.ID(), edits)
	if err != nil {
		return nil, nil, fmt.Errorf("making the starter's tree: %w", err)
	}
	starter, err := m.repos.Tree(ctx, c.Repo, id)
	if err != nil {
		return nil, nil, err
	}
	for range 2 {
		load, err := in.Load(ctx, starter)
		if rejected := (*pipeline.Rejected)(nil); errors.As(err, &rejected) {
			return nil, nil, pipeline.Reject(schemas.StarterDead, "it does not build: %w", rejected.Err)
		}
		if err != nil {
			return nil, nil, err
		}
		if !slices.ContainsFunc(source.Ran, func(s mask.Seen) bool { return s.Tests }) {
			load = load.WithoutTests()
		}
		lost = source.Lost(load)
		blamed = mask.Load{Failed: lost}.Blames()
		if len(lost) == 0 || len(blamed) > 0 {
			break
		}
	}
	return lost, blamed, nil
}

// once masks a release, into a folder of its own.
func (m *Masker) once(ctx context.Context, o mask.Options, scratch string, t *tree.Tree) (*mask.Manifest, []gitrepo.Edit, error) {
	pipeline.Doing(ctx, "masking %d files", len(t.Paths()))
	out, err := os.MkdirTemp(scratch, "starter-")
	if err != nil {
		return nil, nil, err
	}
	o.Output = out
	result, err := mask.Run(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	manifest, err := m.codePart(result.Manifest, t)
	if err != nil {
		return nil, nil, err
	}
	edits, err := changed(manifest, result.Output, t)
	return manifest, edits, err
}

// masksOf are the masks of a task: its own language alone, since no test of its suite sees the code of another.
func (m *Masker) masksOf(language string) []mask.Language {
	return slices.DeleteFunc(slices.Clone(m.maskers), func(l mask.Language) bool { return l.Name() != language })
}
