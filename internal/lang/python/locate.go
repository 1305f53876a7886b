package python

import (
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/outline"
)

// place is a definition: a file and a qualified name in it.
type place struct{ path, name string }

// maxHops bounds how often locate follows an import or a base class.
const maxHops = 8

// locate finds where a test is defined: in the file itself, in a base class, or
// in the module that it was imported from. A test class that a module imports is
// collected there as well, under that module's name.
func locate(s *sources, at place, hops int) (place, bool) {
	f := s.file(at.path)
	if f == nil || hops > maxHops {
		return place{}, false
	}
	if len(f.Find(at.name)) > 0 {
		return at, true
	}
	class, method, isMethod := strings.Cut(at.name, ".")
	if isMethod && len(f.Find(class)) > 0 {
		return locateInherited(s, at.path, class, method, hops)
	}
	for _, i := range f.Imports {
		if i.Name == "" || i.Name != "*" && boundName(i) != class {
			continue
		}
		name := i.Name
		if i.Name == "*" {
			name = class
		}
		if isMethod {
			name += "." + method
		}
		file := s.moduleFrom(at.path, absolute(at.path, i.Module))
		if home, ok := locate(s, place{file, name}, hops+1); ok {
			return home, true
		}
	}
	return place{}, false
}

// locateInherited asks the base classes from left to right, as Python does where
// no class is met twice.
func locateInherited(s *sources, p, class, method string, hops int) (place, bool) {
	f := s.file(p)
	for _, d := range f.Find(class) {
		decl := f.Decls[d]
		for _, u := range f.In(decl.Span) {
			if u.Span.Start >= decl.Body.Start || u.Kind != outline.Identifier && u.Kind != outline.Attribute || u.Name == class {
				continue
			}
			if home, ok := locate(s, place{p, u.Name + "." + method}, hops+1); ok {
				return home, true
			}
		}
	}
	return place{}, false
}

// moduleFrom is the file of a module as a test file would import it: pytest puts
// the first folder above the file that is no package on the path.
func (s *sources) moduleFrom(p, dotted string) string {
	rel := strings.ReplaceAll(dotted, ".", "/")
	for d := path.Dir(p); ; d = path.Dir(d) {
		for _, file := range []string{path.Join(d, rel+".py"), path.Join(d, rel, "__init__.py")} {
			if rel != "" && s.tree.Has(file) && !s.tree.Has(path.Join(d, "__init__.py")) {
				return file
			}
		}
		if d == "." || d == "/" {
			return s.module(dotted)
		}
	}
}
