package testrun

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// test runs one process where the code of a tree runs. The clock ahead is made by a command that compiles as it runs, and
// may write manifests; what it says withdraws no task.
func (b *Bench) test(ctx context.Context, at Place, layer sandbox.Layer, tr recipe.TestRun, limits sandbox.Limits) (sandbox.Result, error) {
	switch {
	case tr.Serves != nil: // the code runs in another sandbox than what judges it
	case b.Sealed && at.Clock.Ahead == 0:
		own := map[string]bool{}
		for _, p := range b.Own {
			own[path.Join(sandbox.TreePath, p)] = true
		}
		c, compiles := b.Runner.(lang.Compiler)
		compiles = compiles && layer.ID != at.Layer.ID
		tr.Sealed = slices.Concat(tr.Sealed, slices.DeleteFunc(slices.Clone(b.judged(at.Tree)), func(p string) bool {
			return own[p] || compiles && c.Compiled(p) // each file is a mount
		}))
	case !b.Sealed:
		tr.Watch = slices.DeleteFunc(slices.Clone(b.judged(at.Tree)), func(p string) bool { return strings.HasSuffix(p, "/") })
	}
	if l, ok := b.Lang.(lang.Loader); ok && b.Loads != nil && tr.Serves == nil {
		tr = l.Only(tr, b.Loads)
	}
	res, err := b.Builder.Test(ctx, layer, b.Environment.Recipe, tr, limits)
	for _, p := range res.Written {
		b.Written[strings.TrimPrefix(p, sandbox.TreePath+"/")] = true
	}
	return res, err
}

// Wrote are the data files of the test part that the runs until now wrote, and what they wrote of all else that judges
// them: source, settings, manifests. Both are sorted.
func (b *Bench) Wrote() (data, more []string) {
	data = []string{}
	guarded, ok := b.Lang.(lang.Guarded)
	for _, p := range slices.Sorted(maps.Keys(b.Written)) {
		if b.Lang.Source(p) || parts.IsManifest(p) || ok && guarded.Hook(p, b.S) {
			more = append(more, p)
		} else {
			data = append(data, p)
		}
	}
	return data, more
}

// judged are the paths of a tree that judge its code, as the sandbox names them, sorted: the test part, manifests,
// settings of the tests' runner, and what it loads by its name. No run can change them (sandbox.Run.Sealed).
func (b *Bench) judged(t *tree.Tree) []string {
	if paths, ok := b.sealed[t]; ok {
		return paths
	}
	var all []lang.Language
	for _, l := range b.Builder.Languages {
		all = append(all, l)
	}
	rules := parts.New(all...)
	guarded, ok := b.Lang.(lang.Guarded)
	behind := Behind(rules, b.Lang, b.B, t)
	var paths []string
	for _, e := range t.Entries() {
		if e.Mode == tree.ModeModule {
			continue
		}
		part, _ := rules.PartBy(e.Path, b.B, t)
		if part != schemas.PartTest && !behind[e.Path] && !parts.IsManifest(e.Path) && !(ok && (guarded.Hook(e.Path, b.S) || guarded.RunnerSettings(e.Path, e.Data) != "")) {
			continue
		}
		paths = append(paths, path.Join(sandbox.TreePath, e.Path))
		if !ok {
			continue
		}
		if cache := guarded.Cache(e.Path); cache != "" {
			paths = append(paths, path.Join(sandbox.TreePath, cache)+"/")
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	b.sealed[t] = paths
	return paths
}
