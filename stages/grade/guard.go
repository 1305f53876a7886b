package grade

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/patch"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// guard makes the tree that is run of a predicted one: the code of the answer with the tests
// of the task, their runner's settings and hooks.
type guard struct {
	rules    parts.Rules
	language lang.Language
	loads    []byte // of the task's environment (lang.Loader)
}

// put gives that tree, and the paths where the answer differed from the task in what is not
// its to change, sorted.
func (g guard) put(ctx context.Context, predicted *tree.Tree, t states.Trees) (*tree.Tree, []string, error) {
	w := work{guard: g, base: t.B, solution: t.G, entries: map[string]tree.Entry{}, tampered: map[string]bool{}, known: testrun.Behind(g.rules, g.language, t.B, t.S)}
	maps.DeleteFunc(w.known, func(p string, _ bool) bool { return !same(t.S, t.G, p) }) // the solution has its own
	for _, e := range predicted.Entries() {
		w.entries[e.Path] = e
	}
	w.clear(t, predicted)
	for _, e := range append(t.S.Entries(), predicted.Entries()...) {
		is, here := w.entries[e.Path]
		switch {
		case !w.protected(e.Path, t, predicted):
		case here && w.solved(e.Path, is) && !w.ofTests(e.Path, t, predicted): // a hook that the solution has
		default:
			w.restore(e.Path)
		}
	}
	for _, e := range t.B.Entries() { // what the task's own tests delete, and the answer may have changed
		if _, ok := t.S.Entry(e.Path); !ok && w.protected(e.Path, t, predicted) {
			w.restore(e.Path)
		}
	}
	out, err := w.with(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	for p := range w.tampered {
		// An answer may well bring the very tests of the task.
		if same(out, predicted, p) {
			delete(w.tampered, p)
		}
	}
	return out, sorted(w.tampered), nil
}

type work struct {
	guard
	base     *tree.Tree
	solution *tree.Tree
	entries  map[string]tree.Entry
	tampered map[string]bool
	known    map[string]bool // answers of protected, which asks the rules of a language, and what links of the task lead to
}

// protected reports whether a path is the task's. What only the answer has is judged in its
// own tree.
func (w *work) protected(p string, t states.Trees, predicted *tree.Tree) bool {
	if is, ok := w.known[p]; ok {
		return is
	}
	g, ok := w.language.(lang.Guarded)
	w.known[p] = ok && g.Hook(p, t.S) || w.ofTests(p, t, predicted) || w.shadows(p, t, predicted) || w.leads(p, t, predicted)
	return w.known[p]
}

func (w *work) shadows(p string, t states.Trees, predicted *tree.Tree) bool {
	e, ok := predicted.Entry(p)
	return shadows(w.language, w.loads, p, ok && e.Mode == tree.ModeSymlink, t)
}

// shadows reports whether a path, perhaps a link, would be imported in the place of a module that the task does not have in
// its tree.
func shadows(language lang.Language, loads []byte, p string, link bool, t states.Trees) bool {
	l, ok := language.(lang.Loader)
	if !ok || loads == nil {
		return false
	}
	root, name := l.Module(p, loads)
	if name == "" && link { // of a folder
		root, name = l.Module(p+"/__init__.py", loads)
	}
	if name == "" {
		return false
	}
	has := func(in *tree.Tree) bool {
		return slices.ContainsFunc(in.Paths(), func(have string) bool {
			_, module := l.Module(have, loads)
			return module == name && strings.HasPrefix(have, root+name)
		})
	}
	return !has(t.S) && !has(t.G)
}

// leads reports whether a path is a link in the place of a manifest: what programs read there depends on where it leads.
func (w *work) leads(p string, t states.Trees, predicted *tree.Tree) bool {
	e, ok := predicted.Entry(p)
	if !ok || e.Mode != tree.ModeSymlink || !parts.IsManifest(p) {
		return false
	}
	return !same(predicted, t.S, p) && !same(predicted, t.G, p)
}

func (w *work) ofTests(p string, t states.Trees, predicted *tree.Tree) bool {
	in := t.S
	if _, ok := t.S.Entry(p); !ok {
		in = t.B
		if _, ok := t.B.Entry(p); !ok {
			in = predicted
		}
	}
	part, _ := w.rules.PartBy(p, t.B, in)
	return part == schemas.PartTest
}

// clear takes away what an answer has in the place of a folder of the task's paths, and what
// it has below them as if they were folders.
func (w *work) clear(t states.Trees, predicted *tree.Tree) {
	held, above := map[string]bool{}, map[string]bool{}
	for _, from := range []*tree.Tree{t.S, t.B} {
		for _, e := range from.Entries() {
			if held[e.Path] || !w.protected(e.Path, t, predicted) {
				continue
			}
			held[e.Path] = true
			for d := path.Dir(e.Path); d != "." && !above[d]; d = path.Dir(d) {
				above[d] = true
			}
		}
	}
	for p := range w.entries {
		below := false
		for d := path.Dir(p); d != "." && !below; d = path.Dir(d) {
			below = held[d]
		}
		if above[p] || below {
			w.tampered[p] = true
			delete(w.entries, p)
		}
	}
}

// solved reports whether an answer has a path as the solution of the task has it: what is no
// test may well be part of both.
func (w *work) solved(p string, e tree.Entry) bool {
	want, ok := w.solution.Entry(p)
	return ok && equal(want, e)
}

// restore puts a path back as the base has it.
func (w *work) restore(p string) {
	was, inBase := w.base.Entry(p)
	is, here := w.entries[p]
	if inBase == here && (!here || equal(was, is)) {
		return
	}
	w.tampered[p] = true
	delete(w.entries, p)
	if inBase {
		w.entries[p] = was
	}
}

// with applies the tests of the task. Where they change a file that the answer changed too
// and do not fit, and where the runner's settings are not the task's, the file is the task's.
func (w *work) with(ctx context.Context, t states.Trees) (*tree.Tree, error) {
	out, err := w.apply(ctx, t.TestPatch)
	if errors.Is(err, patch.ErrConflict) || errors.Is(err, tree.ErrUnsafe) {
		for _, e := range t.B.Entries() {
			if now, ok := t.S.Entry(e.Path); !ok || !equal(e, now) {
				w.restore(e.Path)
			}
		}
		for _, e := range t.S.Entries() {
			if _, ok := t.B.Entry(e.Path); !ok {
				w.restore(e.Path)
			}
		}
		out, err = w.apply(ctx, t.TestPatch)
	}
	if err != nil {
		return nil, fmt.Errorf("putting the tests of the task on an answer: %w", err)
	}
	if g, ok := w.language.(lang.Guarded); ok {
		return w.settled(g, out, t)
	}
	return out, nil
}

// settled has the settings of the runner as the task has them.
func (w *work) settled(g lang.Guarded, out *tree.Tree, t states.Trees) (*tree.Tree, error) {
	settings := func(in *tree.Tree, p string) string {
		data := content(in, p)
		if e, ok := in.Entry(p); ok && e.Mode == tree.ModeSymlink && data == nil && parts.IsManifest(p) {
			return "a link that leads nowhere: " + string(e.Data)
		}
		return g.RunnerSettings(p, data)
	}
	var entries []tree.Entry
	back := map[string]bool{} // with what it leads to
	for _, e := range out.Entries() {
		_, has := t.S.Entry(e.Path)
		switch is := settings(out, e.Path); {
		case has && g.Weakens(e.Path, content(t.S, e.Path), content(out, e.Path)) && !same(out, t.G, e.Path):
			back[e.Path] = true
		case is == settings(t.S, e.Path), is == settings(t.G, e.Path):
			entries = append(entries, e)
		case has:
			back[e.Path] = true
		default:
			w.tampered[e.Path] = true
		}
	}
	for _, want := range t.S.Entries() { // a manifest that the answer took away
		if _, ok := out.Entry(want.Path); !ok && settings(t.S, want.Path) != "" && settings(t.G, want.Path) != "" {
			back[want.Path] = true
		}
	}
	for p := range maps.Clone(back) {
		for _, led := range testrun.Led(t.S, p) {
			back[led] = true
		}
	}
	entries = slices.DeleteFunc(entries, func(e tree.Entry) bool { return back[e.Path] })
	for p := range back {
		w.tampered[p] = true
		if want, ok := t.S.Entry(p); ok {
			entries = append(entries, want)
		}
	}
	return tree.New(entries)
}

func (w *work) apply(ctx context.Context, testPatch []byte) (*tree.Tree, error) {
	entries := make([]tree.Entry, 0, len(w.entries))
	for _, e := range w.entries {
		entries = append(entries, e)
	}
	t, err := tree.New(entries)
	if err != nil {
		return nil, err
	}
	out, _, err := patch.Apply(ctx, t, testPatch)
	return out, err
}

// content is what a program reads at a path. What cannot be read is nil.
func content(t *tree.Tree, p string) []byte {
	led := testrun.Led(t, p)
	if led == nil {
		return nil
	}
	e, _ := t.Entry(led[len(led)-1])
	return e.Data
}

func equal(a, b tree.Entry) bool { return a.Mode == b.Mode && bytes.Equal(a.Data, b.Data) }

func same(a, b *tree.Tree, p string) bool {
	x, inA := a.Entry(p)
	y, inB := b.Entry(p)
	return inA == inB && equal(x, y)
}

func sorted(set map[string]bool) []string {
	var out []string
	for p := range set {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}
