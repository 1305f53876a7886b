package describe

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/outline"
	"github.com/benchmint/benchmint/schemas"
)

// interfaceOf returns the names that the tests use and that a solver has to know: those of
// the proof, and others that only the solution's code part declares. It cuts off values
// and paths of new files, which would tell how the solution does it.
func (s *solution) interfaceOf(proved []schemas.Name) []schemas.Name {
	given := map[string]bool{}
	var out []schemas.Name
	add := func(n schemas.Name) {
		all := []schemas.Name{n}
		if n.Kind == string(outline.Parameter) {
			all = s.parameters(n)
		}
		for _, n := range all {
			n.Signature = s.uncommented(n)
			n.Signature, n.Path = s.shown(n), s.shownPath(n)
			out = append(out, n)
		}
		given[n.Name] = true
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
		i := s.gained(name)
		if i < 0 {
			i = slices.IndexFunc(s.declared[name], func(d declaration) bool { return !d.parameter() || s.tests.keywords[name] })
		}
		switch {
		case i >= 0:
			add(nameOf(name, s.declared[name][i], s)) // the first declaration is enough to know the name
		case s.hook(name):
			add(schemas.Name{Name: name, Kind: string(outline.Method), Signature: s.tests.methods[name]})
		}
	}
	for _, d := range s.members() {
		if !given[d.decl.Qualified] {
			add(nameOf(d.decl.Name, d, s))
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

// tight removes the blanks that joining the lines of a signature left.
func tight(s string) string {
	return closing.ReplaceAllString(opening.ReplaceAllString(s, "$1$2"), "$1")
}

// shownPath returns where a name is defined, as far as the base has the place: the file, or
// the nearest existing folder of a file that only the solution has. "" where there is none.
func (s *solution) shownPath(n schemas.Name) string {
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
	simple   = lazyregexp.New(`^(?:-?[\d._]+(?:\s*(?:<<|\*\*?)\s*[\d_]+)?|0[xob][\da-fA-F_]+|"[^"]{0,60}"|'[^']{0,60}'|True|False|None|true|false|nil|iota)$`)
)

// shown returns a name's signature. It keeps the value of a constant or variable only
// where that is a simple literal: anything else would tell how the solution does it.
func (s *solution) shown(n schemas.Name) string {
	switch n.Kind {
	case "constant", "variable", "field":
	default:
		return n.Signature
	}
	m := assigned.FindStringSubmatch(n.Signature)
	if m == nil || simple.MatchString(m[2]) {
		return n.Signature
	}
	return strings.TrimSpace(m[1])
}
