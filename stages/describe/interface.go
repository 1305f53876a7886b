package describe

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/syntax"
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
		if i := slices.IndexFunc(s.declared[name], func(d declaration) bool { return d.decl.Kind != syntax.Parameter || s.tests.keywords[name] }); i >= 0 {
			add(nameOf(name, s.declared[name][i], s)) // one of several is enough to know the name
		}
	}
	slices.SortFunc(out, func(a, b schemas.Name) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Signature, b.Signature))
	})
	return slices.Compact(out)
}

// nameOf describes a declaration; a parameter stands with its function.
func nameOf(name string, d declaration, s *solution) schemas.Name {
	n := schemas.Name{Name: d.decl.Qualified, Kind: string(d.decl.Kind), Signature: d.decl.Signature, Path: d.path}
	if d.decl.Kind == syntax.Parameter {
		n.Name = name
		if f := s.after.file(d.path); f != nil && d.decl.Parent >= 0 {
			n.Signature = f.Decls[d.decl.Parent].Signature
		}
	}
	return n
}

var (
	comment = lazyregexp.New(`(?m)(^|\s)#.*$`)
	opening = lazyregexp.New(`([(\[]) | ([)\]])`)
	closing = lazyregexp.New(`,([)\]])`)
)

// uncommented is a signature of several lines without the comments between them.
func (s *solution) uncommented(n schemas.Name) string {
	f := s.after.file(n.Path)
	if f == nil || f.Language != syntax.Python {
		return n.Signature
	}
	if !strings.Contains(n.Signature, "#") {
		return tight(n.Signature)
	}
	for _, d := range f.Decls {
		if d.Signature == n.Signature && d.Body.Start > d.NameSpan.Start {
			head := comment.ReplaceAllString(string(f.Source[d.NameSpan.Start:d.Body.Start]), "$1")
			before, _, _ := strings.Cut(d.Signature, d.Name)
			return strings.TrimRight(tight(before+strings.Join(strings.Fields(head), " ")), " :")
		}
	}
	return n.Signature
}

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

// longSignature is what one line of an interface may hold.
const longSignature = 160

// parameter shows a parameter in its function, and of a long signature it alone.
func (s *solution) parameter(n schemas.Name) string {
	if len(n.Signature) <= longSignature {
		return n.Signature
	}
	head, _, ok := strings.Cut(n.Signature, "(")
	for _, d := range s.declared[n.Name] {
		f := s.after.file(n.Path)
		if ok && d.path == n.Path && d.decl.Kind == syntax.Parameter && f != nil && strings.HasPrefix(f.Decls[d.decl.Parent].Signature, head+"(") {
			return head + "(…, " + strings.Join(strings.Fields(f.Text(d.decl.Span)), " ") + ", …)"
		}
	}
	return n.Signature
}
