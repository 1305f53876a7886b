package mask

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Rooted is a Language of which the tree itself may be a package: its name is that of the
// folder, or was, and stands in the imports of its files alone.
type Rooted interface {
	Language
	// IsRoot tells that a tree with these files of the language is a package.
	IsRoot(paths []string) bool
	// Entry is the module of what is imported by the package's name, as its path has it.
	Entry() string
}

// nameRoots gives the files of a package that is the tree the names under which they
// import each other.
func (r *run) nameRoots() {
	for _, l := range r.Languages {
		rooted, ok := l.(Rooted)
		if !ok {
			continue
		}
		var units []*unit
		var paths []string
		for _, u := range r.project.units {
			if u.language.Name() == l.Name() {
				units, paths = append(units, u), append(paths, u.path)
			}
		}
		if !rooted.IsRoot(paths) {
			continue
		}
		name := rootName(units, filepath.Base(r.Source))
		if name == "" {
			continue
		}
		for _, u := range units {
			for _, m := range slices.Clone(u.modules) {
				if m == rooted.Entry() {
					u.modules = append(u.modules, name)
				} else {
					u.modules = append(u.modules, name+"."+m)
				}
			}
		}
	}
}

// rootName is the name before which imports of units are names of their own: that of the
// folder, else the one of which the most modules are imported, two at least; "" for none.
func rootName(units []*unit, folder string) string {
	own := map[string]bool{}
	for _, u := range units {
		for _, m := range u.modules {
			own[m] = true
		}
	}
	found := map[string]map[string]bool{} // modules by names
	for _, u := range units {
		for _, im := range u.imports {
			head, rest, ok := ownModule(im, own)
			if ok && found[head] == nil {
				found[head] = map[string]bool{}
			}
			if ok {
				found[head][rest] = true
			}
		}
	}
	if len(found[folder]) > 0 {
		return folder
	}
	best := ""
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if n := len(found[name]); n > 1 && n > len(found[best]) {
			best = name
		}
	}
	return best
}

// ownModule parts what is imported into a name that is not of the tree and a module behind it that is.
func ownModule(im Import, own map[string]bool) (head, module string, ok bool) {
	full := im.Module
	if im.Name != "" {
		full += "." + im.Name
	}
	head, module, _ = strings.Cut(full, ".")
	for module != "" && !own[module] { // a name of the module
		module = outer(module)
	}
	return head, module, head != "" && !own[head] && module != ""
}
