package mask

import (
	"path"
	"slices"
	"strings"
)

// inUnit is what a name of a file means, that of a star import included.
func (p *project) inUnit(u, name int, depth int) []thing {
	own := p.own(u, name)
	if len(p.stars[u]) == 0 || !p.named[name] || len(own) > 0 {
		return p.expand(own, depth)
	}
	var first []thing
	for _, s := range p.starred(u) {
		found := p.own(s, name)
		// What a file takes from another is no answer where a third defines it: the import
		// may lead back here.
		if slices.ContainsFunc(found, func(t thing) bool { return t.kind != viaImport }) {
			return p.expand(found, depth)
		}
		if len(first) == 0 {
			first = found
		}
	}
	return p.expand(first, depth)
}

// starred are the units whose names a unit has by stars, of stars too.
func (p *project) starred(u int) []int {
	if p.units[u].means.OwnStars {
		return p.stars[u]
	}
	out, ok := p.reach[u]
	if ok {
		return out
	}
	seen := map[int]bool{u: true}
	take := func(from int) {
		for _, s := range p.stars[from] {
			if !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	take(u)
	for i := 0; i < len(out); i++ {
		take(out[i])
	}
	p.reach[u] = out
	return out
}

// tellStars tells those that ask which modules declare what they use.
func (p *project) tellStars() {
	for _, u := range p.units {
		if u.stars != nil {
			u.stars(func(module, name string) bool { return p.declares(u, module, name) })
		}
	}
}

// declares reports whether a function, a class or a plain binding of a module has this name.
func (p *project) declares(u *unit, module, name string) bool {
	word, ok := p.words.find(name)
	if !ok {
		return false
	}
	homes := p.findModule(u, module)
	if module == "" && len(u.modules) > 0 {
		homes = []thing{{kind: isModule, id: p.byModule[moduleKey{u.family, u.modules[0]}]}}
	}
	has := func(at int) bool { return at != u.index && len(p.own(at, word)) > 0 }
	return slices.ContainsFunc(homes, func(t thing) bool { return t.kind == isModule && slices.ContainsFunc(p.modules[t.id].units, has) })
}

// importOf is what an import brings.
func (p *project) importOf(u *unit, im imported, depth int) []thing {
	module, name := p.words.texts[im.module], p.words.texts[im.name]
	homes := p.findModule(u, module)
	if name == "" {
		if head, _, ok := strings.Cut(module, "."); ok && head == p.words.texts[im.local] {
			homes = append(homes, p.findModule(u, head)...)
		}
		if len(homes) == 0 {
			return []thing{{kind: isForeign}}
		}
		return homes
	}
	var out []thing
	for _, h := range homes {
		out = append(out, p.inside(h, im.name, depth)...)
	}
	if len(out) == 0 { // the name may be that of a module
		for _, sep := range separators {
			out = append(out, p.findModule(u, join(module, sep, name))...)
		}
		out = slices.DeleteFunc(out, func(t thing) bool { return t.kind != isModule })
	}
	if len(out) == 0 {
		return []thing{{kind: isForeign}}
	}
	return out
}

// join puts a name behind a module's; relative ones end with their dots.
func join(module, sep, name string) string {
	if strings.HasSuffix(module, sep) {
		return module + name
	}
	return module + sep + name
}

func (p *project) inModule(m, name int, depth int) []thing {
	var out []thing
	for _, u := range p.modules[m].units {
		if p.units[u].means.OwnStars {
			out = append(out, p.expand(p.own(u, name), depth)...)
		} else {
			out = append(out, p.inUnit(u, name, depth)...)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, sep := range separators {
		sub := p.modules[m].name + sep + p.words.texts[name]
		if at, ok := p.byModule[moduleKey{p.modules[m].family, sub}]; ok {
			return []thing{{kind: isModule, id: at}}
		}
		if at, ok := p.byStem[moduleKey{p.modules[m].family, sub}]; ok {
			return []thing{{kind: isModule, id: at}}
		}
	}
	return nil
}

// absolute resolves a path that begins with a package or a class known everywhere.
func (p *project) absolute(u *unit, parts []int) (answer, bool) {
	word := p.words.texts[parts[0]]
	if u.means.OpenClasses { // a file goes by the names of its classes, too
		name := word
		for i := range parts { // A::B may be said nowhere else than in class A::B
			if i > 0 {
				name += "." + p.words.texts[parts[i]]
			}
			var things []thing
			for _, g := range p.global[moduleKey{u.family, name}] {
				things = append(things, thing{kind: isClass, id: g})
			}
			if len(things) > 0 {
				return p.follow(u, things, parts[i:]), true
			}
		}
	}
	if m, ok := p.byModule[moduleKey{u.family, word}]; ok {
		return p.follow(u, []thing{{kind: isModule, id: m}}, parts), true
	}
	return answer{}, false
}

// findModule finds what an import's module names: by what files say of themselves, by
// folders for relative ones, by the project's own prefix, or a member of a module.
func (p *project) findModule(u *unit, name string) []thing {
	if dots := len(name) - len(strings.TrimLeft(name, ".")); dots > 0 && !strings.Contains(name, "/") && name != "." && name != ".." {
		return p.relative(u, dots, name[dots:])
	}
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") || name == "." || name == ".." {
		return p.beside(u, path.Join(path.Dir(u.path), name))
	}
	if m, ok := p.mappedModule(u, name); ok {
		return []thing{{kind: isModule, id: m}}
	}
	if m, ok := p.byModule[moduleKey{u.family, name}]; ok && !(u.means.OwnPrefix && p.hasAnchor(u.family)) {
		return []thing{{kind: isModule, id: m}}
	}
	for _, a := range p.anchors {
		rest, ok := strings.CutPrefix(name, a.prefix)
		if !ok || a.family != u.family || rest != "" && !strings.ContainsAny(rest[:1], "/.:\\") {
			continue
		}
		at := moduleKey{u.family, path.Join(a.folder, strings.TrimLeft(rest, "/"))}
		for _, by := range []map[moduleKey]int{p.byModule, p.byStem} {
			if m, ok := by[at]; ok {
				return []thing{{kind: isModule, id: m}}
			}
		}
	}
	var out []thing
	if head, last, ok := cutLast(name); ok && head != "" {
		for _, t := range p.findModule(u, head) {
			out = append(out, p.inside(t, p.words.id(last), 1)...)
		}
	}
	return out
}

// beside is the module of a path from the root, with an ending or without: ./a.js for a.ts.
func (p *project) beside(u *unit, at string) []thing {
	m, ok := p.byStem[moduleKey{u.family, at}]
	if !ok {
		m, ok = p.byModule[moduleKey{u.family, at}]
	}
	if dot := strings.LastIndexByte(at, '.'); !ok && dot > strings.LastIndexByte(at, '/') {
		m, ok = p.byStem[moduleKey{u.family, at[:dot]}]
	}
	if !ok {
		return nil
	}
	return []thing{{kind: isModule, id: m}}
}

func (p *project) hasAnchor(family string) bool {
	return slices.ContainsFunc(p.anchors, func(a anchor) bool { return a.family == family })
}

// relative is Python's: as many folders up as there are dots, less one.
func (p *project) relative(u *unit, dots int, rest string) []thing {
	dir := path.Dir(u.path)
	for range dots - 1 {
		dir = path.Dir(dir)
	}
	at := path.Join(dir, strings.ReplaceAll(rest, ".", "/"))
	if m, ok := p.byStem[moduleKey{u.family, at}]; ok {
		return []thing{{kind: isModule, id: m}}
	}
	return nil
}
