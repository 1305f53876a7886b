package golang

import (
	"bytes"
	"cmp"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
)

// spec is one import.
type spec struct {
	path   string
	name   string          // as it is written; "" for none
	at     mask.Range      // of the name, empty before the path for none
	local  string          // what the file calls it; "" where it cannot be told
	others map[string]bool // free names that are known to be others', of a dot import
}

// uses are the functions in whose bodies a name is used, by names; -1 is code that always stays.
type uses map[string][]int

// stay reports whether code that is left uses a name.
func (u uses) stay(name string, masked func(function int) bool) bool {
	return slices.ContainsFunc(u[name], func(i int) bool { return i < 0 || !masked(i) })
}

// anyStays reports whether any of the names, but for some, is still in use, or whether
// there was none to begin with.
func (u uses) anyStays(masked func(function int) bool, but map[string]bool) bool {
	seen := false
	for name := range u {
		if !but[name] && u.stay(name, masked) {
			return true
		}
		seen = seen || !but[name]
	}
	return !seen
}

// imports reads the imports, and where the names are used that no scope of the file has.
func (r *maskReader) imports() {
	for _, s := range r.code.Imports {
		p, _ := strconv.Unquote(s.Path.Value) // the parser held it
		at := r.code.offset(s.Path.Pos())
		i := spec{path: p, at: mask.Range{Start: at, End: at}}
		if s.Name != nil {
			i.name, i.at = s.Name.Name, mask.Range{Start: r.code.offset(s.Name.Pos()), End: r.code.offset(s.Name.End())}
			i.local = i.name
		}
		r.specs = append(r.specs, i)
	}
	if len(r.specs) == 0 {
		return
	}
	behind := map[*ast.Ident]string{} // the name behind the dot
	ast.Inspect(r.code.File, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				behind[x] = s.Sel.Name
			}
		}
		return true
	})
	for _, x := range r.code.Unresolved {
		owner := r.owner(x.Pos())
		if ast.IsExported(behind[x]) {
			r.uses[x.Name] = append(r.uses[x.Name], owner)
		}
		if x.IsExported() {
			r.free[x.Name] = append(r.free[x.Name], owner)
		}
	}
	r.resolveImports()
	r.File.Repair = r.repair
	if slices.ContainsFunc(r.specs, func(s spec) bool { return s.name == "." }) {
		r.File.Stars = r.stars
	}
}

// resolveImports finds what the file calls the packages that it names by path alone.
// Every import of code that compiles is used, so the names that stand before a dot and
// are declared nowhere are those of the imports: a guess counts when it is among them, then
// the only one that is like the path, and what is left on both sides belongs together.
func (r *maskReader) resolveImports() {
	left := slices.DeleteFunc(slices.Sorted(maps.Keys(r.uses)), func(name string) bool {
		return name == "C" || slices.ContainsFunc(r.specs, func(s spec) bool { return s.name == name })
	})
	pair := func(s *spec, likely func(name string) bool) {
		found := slices.DeleteFunc(slices.Clone(left), func(name string) bool { return !likely(name) })
		if s.local == "" && len(found) == 1 {
			s.local = found[0]
			left = slices.DeleteFunc(left, func(name string) bool { return name == s.local })
		}
	}
	for guess := range 6 {
		for i := range r.specs {
			all := guesses(r.specs[i].path)
			pair(&r.specs[i], func(name string) bool { return all[guess] == name })
		}
	}
	for i := range r.specs {
		pair(&r.specs[i], func(name string) bool { return strings.Contains(letters(r.specs[i].path), letters(name)) })
	}
	open := func(s spec) bool { return s.local == "" }
	if i := slices.IndexFunc(r.specs, open); i >= 0 && !slices.ContainsFunc(r.specs[i+1:], open) {
		pair(&r.specs[i], func(string) bool { return true })
	}
	for _, s := range r.specs {
		i := mask.Import{Module: s.path, Local: cmp.Or(s.local, guesses(s.path)[0])}
		if s.name == "." {
			i.Name, i.Local = "*", ""
		}
		r.File.Imports = append(r.File.Imports, i)
	}
}

func letters(s string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "", "/", "").Replace(strings.ToLower(s))
}

var (
	versionEnd = lazyregexp.New(`[/.]v[0-9]+$`) // a/mux/v5, gopkg.in/yaml.v3
	affix      = lazyregexp.New(`^(go-|golang-|go\.)+|([-.]go|[-.]golang)+$`)
)

// guesses are six names that a package with this path may have, the likeliest first:
// the path's last element without a version, and without the go that many projects put
// before or after their name.
func guesses(p string) []string {
	base := path.Base(versionEnd.ReplaceAllString(p, ""))
	bare := affix.ReplaceAllString(base, "")
	return []string{
		base, bare, strings.NewReplacer("-", "", ".", "").Replace(bare), strings.NewReplacer("-", "_", ".", "_").Replace(bare),
		bare[strings.LastIndexAny(bare, "-.")+1:], path.Base(p), // k8s.io/api/core/v1 is called v1
	}
}

// repair turns imports that nothing left uses into blank ones: what a package does when
// it is loaded still happens, and the compiler does not mind. An import whose name
// cannot be told stays as it is while any name that may be its own is in use.
func (r *maskReader) repair(masked func(function int) bool) []mask.Edit {
	var edits []mask.Edit
	for _, s := range r.specs {
		if s.name == "_" || s.path == "C" || r.needed(s, masked) {
			continue
		}
		text := "_"
		if s.name == "" {
			text = "_ "
			if bytes.HasSuffix(r.source[:s.at.Start], []byte("import")) { // import"a"
				text = " _ "
			}
		}
		edits = append(edits, mask.Edit{Range: s.at, Text: text})
	}
	return edits
}

// stars notes which free names are no use of a dot import: those that are known to be of
// another, or of the package.
func (r *maskReader) stars(has func(module, name string) bool) {
	for i := range r.specs {
		s := &r.specs[i]
		if s.name != "." {
			continue
		}
		s.others = map[string]bool{}
		for name := range r.free {
			other := has("", name) || slices.ContainsFunc(r.specs, func(o spec) bool { return o.name == "." && o.path != s.path && has(o.path, name) })
			s.others[name] = other && !has(s.path, name)
		}
	}
}

func (r *maskReader) needed(s spec, masked func(function int) bool) bool {
	switch s.local {
	case ".":
		return r.free.anyStays(masked, s.others)
	case "":
		known := map[string]bool{}
		for _, other := range r.specs {
			known[other.local] = true
		}
		return r.uses.anyStays(masked, known)
	}
	return r.uses[s.local] == nil || r.uses.stay(s.local, masked) // one that was used nowhere did not compile before
}
