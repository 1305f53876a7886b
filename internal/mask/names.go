package mask

import (
	"path"
	"slices"
	"strings"
)

// where is the place that a reference stands in.
type where struct {
	unit     *unit
	function int32 // -1: what runs at load time
	class    int32 // of the unit; -1
	loads    bool  // in a class body its own names are in reach
}

// question is what an answer is remembered by.
type question struct {
	unit, class, path int32
	loads             bool
}

// answer is what a reference may mean.
type answer struct {
	things []thing
	// getters are properties that are read on the way.
	getters []int32
	// results are functions of which something that a call gives is asked for a member:
	// it is theirs, or one that they were given.
	results []int32
	// receivers are the classes on which the last name was looked up: what inherits from
	// them may have another member of that name.
	receivers []int32
	// member is the last name where it is looked up on a receiver, -1 else; unknown
	// tells that nothing is known of the receiver.
	member  int32
	unknown bool
}

var (
	// implicit are the families in which a bare name may be a member of the class
	// around it.
	implicit = map[string]bool{"java": true, "csharp": true, "ruby": true}
	// everywhere are those in which a name that begins with a package needs no import.
	everywhere = map[string]bool{"java": true, "csharp": true, "ruby": true, "php": true, "rust": true}
	// ownStars are those in which what a file takes by a star (using, import a.*) is a name
	// for itself alone; in the others it is one of the file for those that import it.
	ownStars = map[string]bool{"java": true, "csharp": true, "go": true}
	// virtual are those of them in which such a call is followed to what classes below have.
	// In Ruby it is not: what a class and what its objects answer is told apart by nobody,
	// and too much would be kept.
	virtual = map[string]bool{"java": true, "csharp": true}
	// universal are the classes whose methods every object and class has: what a tree adds
	// to them is called by a bare name anywhere.
	universal = map[string][]string{"ruby": {"Object", "Kernel", "Module", "Class"}}
)

// The words for the object or class around a method, and for what it inherits from.
var (
	selfWords  = map[string]bool{"self": true, "this": true, "cls": true, "Self": true, "static": true, "$this": true, "@": true}
	classWords = map[string]bool{"cls": true, "Self": true, "static": true}
	superWords = map[string]bool{"super": true, "parent": true, "base": true}
)

// maxMemo bounds the answers that are remembered: some 100 bytes each.
const maxMemo = 30_000

// ask resolves a path in its place.
func (p *project) ask(w where, path int32) answer {
	parts := p.words.split[path]
	if w.function >= 0 {
		if found := p.nested(w, parts[0]); len(found) > 0 {
			return p.follow(w.unit, p.expand(found, 0), parts)
		}
	}
	q := question{w.unit.index, w.class, path, w.loads}
	if a, ok := p.memo[q]; ok {
		return a
	}
	a := p.answer(w, parts)
	if len(p.memo) >= maxMemo {
		clear(p.memo) // most questions are those of one file, one file after another
	}
	p.memo[q] = a
	return a
}

func (p *project) answer(w where, parts []int32) answer {
	word := p.words.texts[parts[0]]
	if word == Element { // a literal
		return answer{things: []thing{{kind: isForeign}}, member: -1}
	}
	if word == "?" {
		return answer{member: parts[len(parts)-1], unknown: len(parts) > 1}
	}
	if w.class >= 0 {
		g := p.classes[w.unit.firstOf+w.class].group
		if selfWords[word] {
			what := isInstance
			if classWords[word] { // cls(…) makes an object
				what = isClass
			}
			return p.follow(w.unit, []thing{{kind: what, id: g}}, parts)
		}
		if superWords[word] && len(p.groups[g].lineage) > 0 {
			var bases []thing
			for _, b := range p.groups[g].lineage[1:] {
				bases = append(bases, thing{kind: isInstance, id: b})
			}
			return p.super(w.unit, bases, parts)
		}
	}
	found := p.lookup(w, parts[0])
	if g := p.implied(w, parts[0]); g >= 0 && len(parts) == 1 {
		return answer{things: found, receivers: []int32{g}, member: parts[0]}
	}
	if len(found) == 0 && everywhere[w.unit.family] {
		if a, ok := p.absolute(w.unit, parts); ok {
			return a
		}
	}
	if len(found) == 0 {
		// A local variable, a parameter, a built-in: the name of a method is all there is.
		return answer{member: parts[len(parts)-1], unknown: len(parts) > 1}
	}
	return p.follow(w.unit, found, parts)
}

// implied is the class around the place of which a bare name is a method, -1 for none: the
// object that it is called on may be of a class below, which has another.
func (p *project) implied(w where, name int32) int32 {
	if !virtual[w.unit.family] {
		return -1
	}
	for c := w.class; c >= 0; c = w.unit.classes[c].parent {
		g := p.classes[w.unit.firstOf+c].group
		if found := p.member(g, name); len(found) > 0 {
			if slices.ContainsFunc(found, func(t thing) bool { return t.kind == isFunction }) {
				return g
			}
			return -1
		}
	}
	return -1
}

// super looks a name up in what comes after the class: the first that has it.
func (p *project) super(u *unit, bases []thing, parts []int32) answer {
	if len(parts) == 1 && len(bases) > 0 { // super(…): the constructor of the nearest
		return answer{things: []thing{{kind: isClass, id: bases[0].id}}, member: -1}
	}
	for _, b := range bases {
		if a := p.follow(u, []thing{b}, parts); len(a.things) > 0 {
			a.receivers = nil // never below
			return a
		}
	}
	return answer{member: -1}
}

// nested finds a name among the functions inside of those around the place.
func (p *project) nested(w where, name int32) []thing {
	for at := w.function; at >= 0; {
		f := p.of(at)
		if f.inner {
			if id, ok := p.words.ids[p.words.texts[f.name]+"."+p.words.texts[name]]; ok {
				if found := p.own(w.unit.index, id); len(found) > 0 {
					return found
				}
			}
		}
		if f.parent < 0 {
			return nil
		}
		at = w.unit.first + f.parent
	}
	return nil
}

// lookup finds a bare name: in the class where that counts, the file, its package, what
// it takes by a star.
func (p *project) lookup(w where, name int32) []thing {
	for c := w.class; c >= 0; c = w.unit.classes[c].parent {
		g := p.classes[w.unit.firstOf+c].group
		if implicit[w.unit.family] {
			if found := p.member(g, name); len(found) > 0 {
				return found
			}
		} else if w.loads && c == w.class {
			if found := p.member(g, name); len(found) > 0 {
				// A member stands for its name from where it is declared on.
				return append(found[:len(found):len(found)], p.inUnit(w.unit.index, name, 0)...)
			}
		}
	}
	if found := p.inUnit(w.unit.index, name, 0); len(found) > 0 {
		return found
	}
	for _, of := range universal[w.unit.family] {
		for _, g := range p.global[moduleKey{w.unit.family, of}] {
			if found := p.member(g, name); len(found) > 0 {
				return found
			}
		}
	}
	if len(w.unit.modules) == 0 {
		return nil
	}
	if w.unit.family == "python" { // what was imported from below a package is a name of it
		if m, ok := p.byModule[moduleKey{w.unit.family, w.unit.modules[0] + "." + p.words.texts[name]}]; ok {
			return []thing{{kind: isModule, id: m}}
		}
	}
	if !p.isNamed(name) {
		return nil
	}
	var found []thing
	for _, u := range p.siblings[moduleKey{w.unit.family, w.unit.modules[0]}] {
		if u != w.unit.index {
			for _, t := range p.own(u, name) {
				if t.kind != viaImport { // imports are of their file
					found = append(found, t)
				}
			}
		}
	}
	return p.expand(found, 0)
}

// deep is how many names may stand for names: cycles end here.
const deep = 24

// inUnit is what a name of a file means, that of a star import included.
func (p *project) inUnit(u, name int32, depth int) []thing {
	if found := p.own(u, name); len(found) > 0 {
		return p.expand(found, depth)
	}
	if len(p.stars[u]) == 0 || !p.isNamed(name) {
		return nil
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

// isNamed tells whether any file names something so. Most names in use are none of
// those, and need not be looked for in all files of all packages.
func (p *project) isNamed(word int32) bool { return int(word) < len(p.named) && p.named[word] }

// starred are the units whose names a unit has by stars, of stars too.
func (p *project) starred(u int32) []int32 {
	if ownStars[p.units[u].family] {
		return p.stars[u]
	}
	out, ok := p.reach[u]
	if ok {
		return out
	}
	seen := map[int32]bool{u: true}
	take := func(from int32) {
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

// expand follows imports and bindings to what they stand for.
func (p *project) expand(things []thing, depth int) []thing {
	plain := true
	for _, t := range things {
		plain = plain && t.kind != viaImport && t.kind != viaBinding
	}
	if plain {
		return things
	}
	var out []thing
	for _, t := range things {
		switch t.kind {
		case viaImport, viaBinding:
			out = append(out, p.through(t, depth)...)
		default:
			out = append(out, t)
		}
	}
	return once(out)
}

// once leaves out what is there before. Where many names hold each other, as in code
// that was made small, the ways to one thing are more than there is memory for.
func once(things []thing) []thing {
	if len(things) < 2 {
		return things
	}
	seen := make(map[thing]struct{}, len(things))
	out := things[:0]
	for _, t := range things {
		if _, ok := seen[t]; !ok {
			seen[t] = struct{}{}
			out = append(out, t)
		}
	}
	return out
}

// through resolves one import or binding, once.
func (p *project) through(t thing, depth int) []thing {
	key := place{t.unit, t.id<<1 | int32(t.kind-viaImport)}
	if found, ok := p.imported[key]; ok {
		return found
	}
	if p.pending[key] || depth > deep {
		return nil
	}
	p.pending[key] = true
	defer delete(p.pending, key)
	var found []thing
	if t.kind == viaImport {
		found = p.importOf(p.units[t.unit], p.units[t.unit].imports[t.id], depth+1)
	} else {
		found = p.bindingOf(p.units[t.unit], int(t.id))
	}
	p.imported[key] = found
	return found
}

// bindingOf is what a name holds: what a call of a class makes is an instance of it.
func (p *project) bindingOf(u *unit, i int) []thing {
	b := u.bindings[i]
	if own := p.words.split[b.path]; len(own) == 1 && own[0] == b.name { // x = x
		return nil
	}
	a := p.ask(where{unit: u, function: -1, class: b.class(), loads: true}, b.path)
	var out []thing
	for _, t := range a.things {
		switch {
		case b.use() != Called && b.use() != Bound || t.kind == isForeign:
			out = append(out, t)
		case t.kind == isClass:
			out = append(out, thing{kind: isInstance, id: t.id})
		case t.kind == isFunction && byResult[u.family]:
			out = append(out, thing{kind: isResult, id: t.id})
		case t.kind == isFunction && follows[u.family]:
			out = append(out, thing{kind: isSlot, id: t.id, unit: p.words.id(result)})
		}
	}
	return out
}

// byResult are families in which what is inside of a function runs when what the function
// gave is called, and not with the function.
var byResult = map[string]bool{"javascript": true}

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

// inside is what a name means on something that holds names.
func (p *project) inside(t thing, name int32, depth int) []thing {
	switch t.kind {
	case isModule:
		return p.inModule(t.id, name, depth)
	case isClass:
		if found := p.member(t.id, name); len(found) > 0 {
			return found
		}
		return p.ofMeta(t.id, name)
	case isInstance:
		return p.member(t.id, name)
	}
	return nil
}

// ofMeta is what a class, not its objects, has of its metaclass.
func (p *project) ofMeta(g, name int32) []thing {
	for _, a := range p.groups[g].lineage {
		for _, m := range p.groups[a].made {
			if found := p.member(m, name); len(found) > 0 {
				return found
			}
		}
	}
	return nil
}

func (p *project) inModule(m, name int32, depth int) []thing {
	var out []thing
	for _, u := range p.modules[m].units {
		if ownStars[p.units[u].family] {
			out = append(out, p.expand(p.own(u, name), depth)...)
		} else {
			out = append(out, p.inUnit(u, name, depth)...)
		}
	}
	// What a call gives may be hidden by a module of the name: stars leave out what a
	// file does not list.
	if slices.ContainsFunc(out, func(t thing) bool { return t.kind != isSlot }) {
		return out
	}
	for _, sep := range separators {
		sub := p.modules[m].name + sep + p.words.texts[name]
		if at, ok := p.byModule[moduleKey{p.modules[m].family, sub}]; ok {
			return append(out, thing{kind: isModule, id: at})
		}
		if at, ok := p.byStem[moduleKey{p.modules[m].family, sub}]; ok {
			return append(out, thing{kind: isModule, id: at})
		}
	}
	return out
}

// member is what a class or those that it inherits from have under a name.
func (p *project) member(g, name int32) []thing {
	line := p.groups[g].lineage
	if len(line) == 0 {
		line = []int32{g}
	}
	for _, at := range line {
		if found := p.groups[at].members.of(name); len(found) > 0 {
			return found
		}
		if found := p.within(at, name); len(found) > 0 {
			return found
		}
	}
	return nil
}

// within are nested classes and bindings of a class.
func (p *project) within(g, name int32) []thing {
	id, ok := p.words.ids[p.groups[g].name+"."+p.words.texts[name]]
	if !ok {
		return nil
	}
	if found := p.own(p.groups[g].unit, id); len(found) > 0 {
		return p.expand(found, 1)
	}
	for _, part := range p.groups[g].parts {
		if found := p.own(p.classes[part].unit, id); len(found) > 0 {
			return p.expand(found, 1)
		}
	}
	return nil
}

// follow goes along the rest of a path, from what its first name means.
func (p *project) follow(u *unit, things []thing, parts []int32) answer {
	a := answer{things: things, member: -1}
	for i, name := range parts[1:] {
		last := i == len(parts)-2
		var next []thing
		var receivers []int32
		known := false // is nothing found because there is nothing of ours
		if slices.ContainsFunc(a.things, func(t thing) bool { return t.kind == isResult }) {
			for _, t := range a.things {
				if t.kind == isResult || t.kind == isFunction {
					a.results = append(a.results, t.id)
				}
			}
		}
		for _, t := range a.things {
			found := p.step(t, name)
			next = append(next, found...)
			known = known || t.kind == isForeign || t.kind == isModule
			if t.kind == isClass || t.kind == isInstance {
				receivers = append(receivers, t.id)
			}
		}
		if last {
			a.receivers, a.member = receivers, name
		}
		if len(next) == 0 {
			a.things = nil
			// An attribute of unknown kind: the last name of the path is all there is.
			if !known && !(last && len(receivers) > 0) {
				a.unknown, a.receivers, a.member = true, nil, parts[len(parts)-1]
			}
			if known {
				a.receivers, a.member = nil, -1
			}
			return a
		}
		if !last {
			next = p.read(next, &a)
			if len(next) == 0 {
				a.things, a.unknown, a.receivers, a.member = nil, true, nil, parts[len(parts)-1]
				return a
			}
		}
		a.things = next
	}
	return a
}

// read takes properties off the way: what they give is not known.
func (p *project) read(things []thing, a *answer) []thing {
	var out []thing
	for _, t := range things {
		if t.kind == isFunction && p.isProperty(t.id) {
			a.getters = append(a.getters, t.id)
			continue
		}
		out = append(out, t)
	}
	return out
}

func (p *project) isProperty(f int32) bool {
	c := p.construct(f)
	return c == Getter || c == Setter
}

// step is a name on one thing.
func (p *project) step(t thing, name int32) []thing {
	switch t.kind {
	case isFunction:
		if id, ok := p.words.ids[p.name(t.id)+"."+p.words.texts[name]]; ok {
			return p.expand(p.own(p.homes[t.id], id), 1)
		}
	case isClass, isInstance, isModule:
		return p.inside(t, name, 1)
	case isTable:
		if p.words.texts[name] == Element {
			return p.expand(p.own(t.unit, t.id), 1)
		}
	}
	return nil
}

// absolute resolves a path that begins with a package or a class known everywhere.
func (p *project) absolute(u *unit, parts []int32) (answer, bool) {
	word := p.words.texts[parts[0]]
	if u.family == "ruby" { // a file goes by the names of its classes, too
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
	found := func(m int32, ok bool) []thing {
		if !ok {
			return nil
		}
		return []thing{{kind: isModule, id: m}}
	}
	if dots := len(name) - len(strings.TrimLeft(name, ".")); dots > 0 && !strings.Contains(name, "/") && name != "." && name != ".." || name != "" && u.family == "python" && name[0] == '.' {
		return p.relative(u, dots, name[dots:])
	}
	if strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") || name == "." || name == ".." {
		at := path.Join(path.Dir(u.path), name)
		if m, ok := p.byStem[moduleKey{u.family, at}]; ok {
			return found(m, ok)
		}
		if m, ok := p.byModule[moduleKey{u.family, at}]; ok {
			return found(m, ok)
		}
		if dot := strings.LastIndexByte(at, '.'); dot > strings.LastIndexByte(at, '/') { // ./a.js for a.ts
			m, ok := p.byStem[moduleKey{u.family, at[:dot]}]
			return found(m, ok)
		}
		return nil
	}
	if m, ok := p.byModule[moduleKey{u.family, name}]; ok && !(anchored[u.family] && p.hasAnchor(u.family)) {
		return found(m, ok)
	}
	for _, a := range p.anchors {
		if rest, ok := strings.CutPrefix(name, a.prefix); ok && a.family == u.family && (rest == "" || strings.ContainsAny(rest[:1], "/.:\\")) {
			at := path.Join(a.folder, strings.TrimLeft(rest, "/"))
			if m, ok := p.byModule[moduleKey{u.family, at}]; ok {
				return found(m, ok)
			}
			if m, ok := p.byStem[moduleKey{u.family, at}]; ok {
				return found(m, ok)
			}
		}
	}
	if head, last, ok := cutLast(name); ok && head != "" {
		var out []thing
		for _, t := range p.findModule(u, head) {
			out = append(out, p.inside(t, p.words.id(last), 1)...)
		}
		return out
	}
	return nil
}

// anchored are the families in which an import begins with the project's own prefix: a
// folder that is called as a package of others is none of what they take.
var anchored = map[string]bool{"go": true}

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
