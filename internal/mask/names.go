package mask

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// This file is the rule of plain names, the last resort where nobody looked at what runs: of a call it knows how it is
// written, and in Java and C# the declared type of a variable before it. It knows nothing of values.

// most is how many functions of other files a call on an object may mean whose class is not known; of a name that more have,
// none is taken.
const most = 4

// mayCall are the functions that a call may mean, by names alone: those of the file, else of its package, else of what it
// imports. What is called on a module from outside of the tree is none of them.
func (p *project) mayCall(u *unit, parts []string) []int {
	name := parts[len(parts)-1]
	switch {
	case u.means.Everywhere:
		return p.anywhere(u, parts)
	case len(parts) > 1:
		return p.onSomething(u, parts[0], name)
	}
	if found := p.goingBy([]*unit{u}, name, false); len(found) > 0 {
		return found
	}
	if im, ok := u.brings(name); ok {
		return p.given(p.ofImport(u, im), cmp.Or(im.Name, name), false)
	}
	if len(u.modules) > 0 {
		if found := p.goingBy(p.byModule[key{u.family, u.modules[0]}], name, false); len(found) > 0 {
			return found
		}
	}
	return p.given(p.starred(u), name, false)
}

// asked is a name in a unit.
type asked struct {
	unit *unit
	name string
}

// given are the functions that others have from some units by a name: their own, else those that they import, and so on;
// each unit is asked once.
func (p *project) given(units []*unit, name string, members bool) []int {
	known := map[asked]bool{}
	next := func(units []*unit, name string) (out []asked) {
		for _, u := range units {
			if at := (asked{u, name}); !known[at] {
				known[at] = true
				out = append(out, at)
			}
		}
		return out
	}
	for level := next(units, name); len(level) > 0; {
		var found []int
		var further []asked
		for _, at := range level {
			found = append(found, p.goingBy([]*unit{at.unit}, at.name, members)...)
			if im, ok := at.unit.brings(at.name); ok {
				further = append(further, next(p.ofImport(at.unit, im), cmp.Or(im.Name, at.name))...)
			} else {
				further = append(further, next(p.starred(at.unit), at.name)...)
			}
		}
		if len(found) > 0 {
			return found
		}
		level = further
	}
	return nil
}

// starred are the units of which a unit takes every name.
func (p *project) starred(u *unit) []*unit {
	var out []*unit
	for _, im := range u.imports {
		if im.Name == "*" {
			out = append(out, p.ofImport(u, im)...)
		}
	}
	return out
}

// onSomething is mayCall for what is called on a module, a class or an object.
func (p *project) onSomething(u *unit, receiver, name string) []int {
	if im, ok := u.brings(receiver); ok {
		return p.given(p.ofImport(u, im), name, true)
	}
	if found := p.goingBy([]*unit{u}, name, true); len(found) > 0 {
		return found
	}
	return p.few(u, name)
}

// few are the functions of a name anywhere, where they are few.
func (p *project) few(u *unit, name string) []int {
	if found := p.byLast[key{u.family, name}]; len(found) <= most {
		return found
	}
	return nil
}

// anywhere is mayCall where a name needs no import: the functions of the file, what makes objects of a class of that name,
// the members of the class that stands before it, and else those of the name where they are few, as for an abstract member.
func (p *project) anywhere(u *unit, parts []string) []int {
	name := parts[len(parts)-1]
	if len(parts) > 1 {
		found := p.members[place{u.family, parts[len(parts)-2], name}]
		if slices.ContainsFunc(found, func(f int) bool { return p.of(f).Construct != Abstract && p.of(f).Construct != Bodiless }) {
			return found
		}
		if p.isForeign(u, parts[len(parts)-2]) {
			return nil
		}
	}
	members := len(parts) > 1 && parts[len(parts)-2] != "crate" || u.means.BareMembers
	if found := p.goingBy([]*unit{u}, name, members); len(found) > 0 {
		return found
	}
	if found := p.makers[key{u.family, name}]; len(found) > 0 && len(parts) == 1 {
		return found
	}
	return slices.DeleteFunc(slices.Clone(p.few(u, name)), func(f int) bool { return !members && p.of(f).Class >= 0 })
}

// builtin are the types that languages have words for.
var builtin = strings.Fields("bool boolean byte sbyte char decimal double float int uint nint nuint long ulong short ushort object string")

// isForeign tells a class that is not of the tree by its capital letter, or as the language's own; what is in capitals is a
// constant.
func (p *project) isForeign(u *unit, name string) bool {
	return name != "" && name[0] >= 'A' && name[0] <= 'Z' && name != strings.ToUpper(name) && !p.classes[key{u.family, name}] ||
		slices.Contains(builtin, name)
}

// self are the words for the object or the class around, and Rust's for all modules.
var self = []string{"crate", "self", "this", "$this", "static", "Self", "super", "parent", "base"}

// onObject reports whether something is called on an object of which the class is not known.
func (p *project) onObject(u *unit, parts []string) bool {
	owner := parts[max(0, len(parts)-2)]
	return u.means.Everywhere && len(parts) > 1 && !slices.Contains(self, owner) && !p.classes[key{u.family, owner}] && !p.isForeign(u, owner)
}

// brings is the import by which a unit has a name.
func (u *unit) brings(local string) (Import, bool) {
	i := slices.IndexFunc(u.imports, func(im Import) bool { return im.Local == local })
	if i < 0 {
		return Import{}, false
	}
	return u.imports[i], true
}

// goingBy are the functions of some units that go by a name, and what makes objects of the classes that do; members where
// they may be meant.
func (p *project) goingBy(units []*unit, name string, members bool) []int {
	var out []int
	for _, u := range units {
		for _, f := range u.byLast[name] {
			if members || p.of(f).Class < 0 {
				out = append(out, f)
			}
		}
		out = append(out, u.makers[name]...)
	}
	return out
}

// ofImport are the units that an import leads to: of its module, of a module of its name, and of those below.
func (p *project) ofImport(u *unit, im Import) []*unit {
	homes := slices.Clone(p.findModule(u, im.Module))
	if im.Name != "" && im.Name != "*" {
		homes = append(homes, p.findModule(u, join(im.Module, ".", im.Name))...)
	}
	return homes
}

// join puts a name behind a module's; relative ones end with their dots.
func join(module, sep, name string) string {
	if strings.HasSuffix(module, sep) {
		return module + name
	}
	return module + sep + name
}

// findModule finds what an import's module names: by what files say of themselves, by folders for relative ones, by the
// project's own prefix, or a member of a module.
func (p *project) findModule(u *unit, name string) []*unit {
	if dots := len(name) - len(strings.TrimLeft(name, ".")); dots > 0 && !strings.Contains(name, "/") && name != "." && name != ".." {
		return p.relative(u, dots, name[dots:])
	}
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") || name == "." || name == ".." {
		return p.at(u.family, path.Join(path.Dir(u.path), name))
	}
	if found := p.byModule[key{u.family, name}]; len(found) > 0 && !(u.means.OwnPrefix && p.hasAnchor(u.family)) {
		return found
	}
	for _, a := range p.anchors {
		rest, ok := strings.CutPrefix(name, a.prefix)
		if !ok || a.family != u.family || rest != "" && !strings.ContainsAny(rest[:1], "/.:\\") {
			continue
		}
		if found := p.at(u.family, path.Join(a.folder, strings.TrimLeft(rest, "/"))); len(found) > 0 {
			return found
		}
	}
	if head := outer(name); head != "" {
		return p.findModule(u, head)
	}
	return nil
}

// at are the units of a path from the root, with an ending or without: ./a.js for a.ts.
func (p *project) at(family, at string) []*unit {
	for _, table := range []map[key][]*unit{p.byModule, p.byStem} {
		if found := table[key{family, at}]; len(found) > 0 {
			return found
		}
	}
	if dot := strings.LastIndexByte(at, '.'); dot > strings.LastIndexByte(at, '/') {
		return p.byStem[key{family, at[:dot]}]
	}
	return nil
}

func (p *project) hasAnchor(family string) bool {
	return slices.ContainsFunc(p.anchors, func(a anchor) bool { return a.family == family })
}

// relative is Python's: as many folders up as there are dots, less one.
func (p *project) relative(u *unit, dots int, rest string) []*unit {
	dir := path.Dir(u.path)
	for range dots - 1 {
		dir = path.Dir(dir)
	}
	return p.byStem[key{u.family, path.Join(dir, strings.ReplaceAll(rest, ".", "/"))}]
}

// importedBy are the units that a unit's imports name.
func (p *project) importedBy(u *unit) []*unit {
	var out []*unit
	for _, im := range u.imports {
		out = append(out, p.ofImport(u, im)...)
	}
	return out
}
