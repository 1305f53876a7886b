package describe

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// interfaceOf is what a solver has to know of the names that tests use: those of
// the proof, and others that only the solution's code part declares. Values and
// new files, which are the solution's own affair, are cut from them.
func (s *solution) interfaceOf(proved []schemas.Name) []schemas.Name {
	given := map[string]bool{}
	var out []schemas.Name
	add := func(n schemas.Name) {
		n.Signature = s.uncommented(n)
		n.Signature, n.Path = s.shown(n), s.placeOf(n)
		out = append(out, n)
		for _, part := range partsOf(n.Name) {
			given[part] = true
		}
	}
	for _, n := range proved {
		add(n)
	}
	for _, name := range s.required() {
		if given[name] {
			continue
		}
		if i := slices.IndexFunc(s.declared[name], func(d declaration) bool { return !d.parameter() || s.tests.keywords[name] }); i >= 0 {
			add(nameOf(name, s.declared[name][i], s)) // one of several is enough to know the name
		}
	}
	slices.SortFunc(out, func(a, b schemas.Name) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Signature, b.Signature))
	})
	return slices.Compact(out)
}

var (
	opening = lazyregexp.New(`([(\[]) | ([)\]])`)
	closing = lazyregexp.New(`,([)\]])`)
)

// tight takes the blanks out that breaking a signature into lines left.
func tight(s string) string {
	return closing.ReplaceAllString(opening.ReplaceAllString(s, "$1$2"), "$1")
}

// placeOf is where a name is defined, as far as the base knows the place: the
// file, or the folder of a file that only the solution has.
func (s *solution) placeOf(n schemas.Name) string {
	if n.Kind == "module" || s.base.tree.Has(n.Path) || n.Path == "" {
		return n.Path
	}
	for dir := path.Dir(n.Path); dir != "."; dir = path.Dir(dir) {
		if slices.ContainsFunc(s.base.paths, func(p string) bool { return strings.HasPrefix(p, dir+"/") }) {
			return dir
		}
	}
	return ""
}

var (
	assigned = lazyregexp.New(`^((?:const |var )?[^=]*[^=:!<>\s])\s*=\s*([^=].*)$`)
	simple   = lazyregexp.New(`^(?:-?[\d._]+|"[^"]{0,60}"|'[^']{0,60}'|True|False|None|true|false|nil|iota)$`)
)

// shown is a name's signature; of a value only what is plain to see: the rest is
// how the solution does it.
func (s *solution) shown(n schemas.Name) string {
	switch n.Kind {
	case "constant", "variable", "field":
	case "parameter":
		return s.parameter(n)
	default:
		return n.Signature
	}
	m := assigned.FindStringSubmatch(n.Signature)
	if m == nil || simple.MatchString(m[2]) {
		return n.Signature
	}
	return strings.TrimSpace(m[1])
}
