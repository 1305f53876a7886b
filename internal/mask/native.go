package mask

import (
	"context"
	"path"
	"path/filepath"
	"slices"
)

// compiledFrom are the endings of what is compiled and loaded with a language's modules, or
// will be, by family: it calls functions of those by texts, that of the module and its own.
var compiledFrom = map[string][]string{
	"python": {".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".src", ".inc", ".so", ".pyd"},
}

// maxNative bounds what is read of one such file.
const maxNative = 64 << 20

// nativeCalls are the functions that compiled code names together with their modules.
func (r *run) nativeCalls(ctx context.Context) []int {
	modules, names := r.namedModules()
	var out []int
	for _, e := range r.entries {
		if ctx.Err() != nil {
			return nil
		}
		if e.unit != nil || e.failed != "" || !e.mode.IsRegular() || e.size > maxNative {
			continue
		}
		for family, endings := range compiledFrom {
			if len(modules[family]) == 0 || !slices.Contains(endings, path.Ext(e.path)) {
				continue
			}
			if source, err := r.source.ReadFile(filepath.FromSlash(e.path)); err == nil {
				out = append(out, r.calledBy(source, modules[family], names[family])...)
			}
		}
	}
	return out
}

// namedModules are the units of such families by their modules, and the names of their
// functions.
func (r *run) namedModules() (modules map[string]map[string][]*unit, names map[string]map[string]bool) {
	modules, names = map[string]map[string][]*unit{}, map[string]map[string]bool{}
	for _, u := range r.project.units {
		if compiledFrom[u.family] == nil || u.outside {
			continue
		}
		if modules[u.family] == nil {
			modules[u.family], names[u.family] = map[string][]*unit{}, map[string]bool{}
		}
		for _, m := range u.modules {
			modules[u.family][m] = append(modules[u.family][m], u)
		}
		for _, f := range u.functions {
			if f.Parent < 0 && f.Class < 0 {
				names[u.family][f.Name] = true
			}
		}
	}
	return modules, names
}

// calledBy are the functions of which one file has both texts.
func (r *run) calledBy(source []byte, modules map[string][]*unit, names map[string]bool) []int {
	var units []*unit
	named := map[string]bool{}
	for text := range texts(source) {
		units = append(units, modules[string(text)]...)
		if names[string(text)] {
			named[string(text)] = true
		}
	}
	var out []int
	for _, u := range units {
		for i, f := range u.functions {
			if f.Parent < 0 && f.Class < 0 && named[f.Name] {
				out = append(out, u.first+i)
			}
		}
	}
	return out
}

// texts are the dotted names that stand alone in quotes, or between zero bytes.
func texts(source []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for at := 0; at < len(source); {
			from := at
			for at < len(source) && dotted[source[at]] {
				at++
			}
			if at > from && from > 0 && at < len(source) && source[from-1] == source[at] && (source[at] == 0 || source[at] == '"') && !yield(source[from:at]) {
				return
			}
			if at == from {
				at++
			}
		}
	}
}

// dotted are the bytes of a dotted name.
var dotted = func() (out [256]bool) {
	for c := range out {
		out[c] = c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
	}
	return out
}()
