package cut

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// leastLines is the least body lines of a function that is a slice by itself: what is
// shorter is hardly a task.
const leastLines = 3

// piece is a slice of a release that is listed.
type piece struct {
	schemas.Slice
	functions []string // whose bodies can be taken out, sorted
	lines     int      // of these bodies
}

// cutsOf are the cuts of one release: those that only names, or the whole and the slices that
// are asked for. A release that cannot be listed, or has nothing to mask, goes on whole: the
// mask says why.
func (c *Cutter) cutsOf(ctx context.Context, only []string, whole schemas.Cut) ([]schemas.Cut, error) {
	keys := named(only, whole)
	all := slices.Contains(only, whole.Release.Tag) || len(only) == 0
	if len(c.config.Slices) == 0 || !all && len(keys) == 1 && keys[0] == keyOf(whole) {
		return []schemas.Cut{whole}, nil
	}
	modules, functions, err := c.pieces(ctx, whole)
	if rejected := (*pipeline.Rejected)(nil); errors.As(err, &rejected) || err == nil && len(modules) == 0 {
		return []schemas.Cut{whole}, nil
	}
	if err != nil {
		return nil, err
	}
	picked := c.picked(modules, functions)
	var out []schemas.Cut
	for _, cut := range slices.Concat([]schemas.Cut{whole}, cuts(whole, modules), cuts(whole, functions)) {
		if slices.Contains(keys, keyOf(cut)) || all && picked[nameOf(cut)] {
			out = append(out, cut)
		}
	}
	return out, nil
}

// picked are the names of the slices that become tasks where nothing else is said, "" for the
// whole. Two that are of the very same functions would be one task: the larger kind has it.
func (c *Cutter) picked(modules, functions []piece) map[string]bool {
	out, taken := map[string]bool{}, map[string]bool{}
	for _, kind := range []struct {
		word   string
		all    []piece
		choose func([]piece, int) []piece
	}{
		{schemas.WholeLibrary, []piece{{functions: functionsOf(modules)}}, first},
		{schemas.ModuleSlices, modules, first},
		{schemas.FunctionSlices, functions, evenly},
	} {
		if !slices.Contains(c.config.Slices, kind.word) {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(kind.all), func(p piece) bool { return taken[strings.Join(p.functions, "\n")] })
		most := c.config.MaxSlices
		if most == 0 {
			most = len(others)
		}
		for _, p := range kind.choose(others, most) {
			out[p.Name], taken[strings.Join(p.functions, "\n")] = true, true
		}
	}
	return out
}

func nameOf(c schemas.Cut) string {
	if c.Slice == nil {
		return ""
	}
	return c.Slice.Name
}

// cuts are slices as cuts of a release.
func cuts(whole schemas.Cut, of []piece) []schemas.Cut {
	var out []schemas.Cut
	for _, p := range of {
		cut := whole
		cut.Slice = &p.Slice
		out = append(out, cut)
	}
	return out
}

// functionsOf are the functions of several slices, sorted.
func functionsOf(all []piece) []string {
	var out []string
	for _, p := range all {
		out = append(out, p.functions...)
	}
	slices.Sort(out)
	return out
}

// named are the keys among selections that are of a release's library or of its slices.
func named(only []string, whole schemas.Cut) []string {
	key := keyOf(whole)
	var out []string
	for _, s := range only {
		if key != "" && (s == key || strings.HasPrefix(s, key+".")) {
			out = append(out, s)
		}
	}
	return out
}

// Slices are the IDs of the slices that can be made of the release which a selection is of,
// those beyond library.max_slices too. The selection is the ID of a slice, or its key. None where
// it is of no release, slices are not asked for, or the release cannot be masked.
func (c *Cutter) Slices(ctx context.Context, repo schemas.Repo, releases []schemas.Release, selection string) ([]string, error) {
	key := selection
	if id, err := schemas.ParseInstanceID(selection); err == nil {
		key = id.Key
	}
	for _, r := range releases {
		whole := schemas.Cut{Repo: repo.Name, RepoRoot: repo.Root, Release: r, Profile: c.config.Profile}
		if of := strings.ToLower(keyOf(whole) + "."); len(c.config.Slices) == 0 || !strings.HasPrefix(strings.ToLower(key), of) {
			continue
		}
		modules, functions, err := c.pieces(ctx, whole)
		if rejected := (*pipeline.Rejected)(nil); errors.As(err, &rejected) {
			return nil, nil
		}
		var out []string
		for _, cut := range slices.Concat(cuts(whole, modules), cuts(whole, functions)) {
			if c.asks(cut) {
				out = append(out, cut.ID())
			}
		}
		return out, err
	}
	return nil, nil
}

// asks reports whether slices of its kind are asked for.
func (c *Cutter) asks(cut schemas.Cut) bool {
	kind := schemas.ModuleSlices
	if cut.Slice.Function != "" {
		kind = schemas.FunctionSlices
	}
	return slices.Contains(c.config.Slices, kind)
}

// pieces are the modules and the functions of a release that can be slices, those with most body
// lines first.
func (c *Cutter) pieces(ctx context.Context, whole schemas.Cut) (modules, functions []piece, err error) {
	manifest, err := c.lister.Manifest(ctx, whole)
	if err != nil {
		return nil, nil, err
	}
	for _, r := range manifest.Files {
		if schemas.RecordPath(r.Path) != r.Path {
			continue // it could not be named
		}
		module, own := list(r)
		if len(own) > 0 {
			modules = append(modules, module)
		}
		functions = append(functions, slices.DeleteFunc(own, func(p piece) bool { return p.lines < leastLines })...)
	}
	name(modules, functions)
	for _, of := range [][]piece{modules, functions} {
		slices.SortStableFunc(of, func(a, b piece) int {
			return cmp.Or(cmp.Compare(b.lines, a.lines), cmp.Compare(a.Path(), b.Path()), cmp.Compare(a.Function, b.Function))
		})
	}
	return modules, functions, nil
}

// list is a file as a slice, and its functions as slices. Functions of one name, as a property
// has them, are one.
func list(r mask.Record) (module piece, functions []piece) {
	module.Module = r.Path
	at := map[string]int{}
	for _, f := range r.Functions {
		if f.Done != mask.Masked {
			continue
		}
		word := schemas.FunctionName(r.Path, f.Name)
		i, ok := at[word]
		if !ok {
			i = len(functions)
			at[word] = i
			functions = append(functions, piece{Slice: schemas.Slice{Function: word, Name: f.Name}, functions: []string{word}})
			module.functions = append(module.functions, word)
		}
		functions[i].lines += f.Shape.Lines
		module.lines += f.Shape.Lines
	}
	slices.Sort(module.functions)
	return module, functions
}

// name gives each slice a name that no other of the release has: a module its path below the
// folder that holds them all, without its extension, a function its own name. One that is not
// the only one of its name has the whole path.
func name(modules, functions []piece) {
	count, folder := map[string]int{}, folderOf(modules)
	for i, m := range modules {
		modules[i].Name = strings.TrimSuffix(strings.TrimPrefix(m.Module, folder), path.Ext(m.Module))
		count[strings.ToLower(modules[i].Name)]++
	}
	for i, m := range modules {
		if count[strings.ToLower(m.Name)] > 1 {
			modules[i].Name = m.Module
		}
	}
	for _, f := range functions {
		count[strings.ToLower(f.Name)]++
	}
	for i, f := range functions {
		if count[strings.ToLower(f.Name)] > 1 {
			functions[i].Name = f.Function
		}
	}
}

// folderOf is the folder, with its "/", that holds all modules; "" is the root.
func folderOf(modules []piece) string {
	dir := ""
	for i, m := range modules {
		if i == 0 {
			dir, _ = path.Split(m.Module)
		}
		for !strings.HasPrefix(m.Module, dir) {
			dir, _ = path.Split(strings.TrimSuffix(dir, "/"))
		}
	}
	return dir
}

// first are the largest: modules hold the more of a library the larger they are.
func first(all []piece, most int) []piece { return all[:min(most, len(all))] }

// evenly are those at equal steps from the largest to the smallest: tasks of every size.
func evenly(all []piece, most int) []piece {
	if len(all) <= most {
		return all
	}
	var out []piece
	for i := range most {
		out = append(out, all[i*len(all)/most])
	}
	return out
}
