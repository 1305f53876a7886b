package mask

import (
	"slices"
	"strings"
)

// where is the place that a reference stands in.
type where struct {
	unit     *unit
	function int  // -1: what runs at load time
	class    int  // of the unit; -1
	loads    bool // in a class body its own names are in reach
}

// question is what an answer is remembered by.
type question struct {
	unit, class, path int
	loads             bool
}

// answer is what a reference may mean.
type answer struct {
	things []thing
	// getters are properties that are read on the way.
	getters []int
	// results are functions of which something that a call gives is asked for a member:
	// it is theirs, or one that they were given.
	results []int
	// receivers are the classes on which the last name was looked up: what inherits from
	// them may have another member of that name.
	receivers []int
	// member is the last name where it is looked up on a receiver, -1 else; unknown
	// tells that nothing is known of the receiver.
	member  int
	unknown bool
}

// The words for the object or class around a method, and for what it inherits from.
var (
	selfWords  = map[string]bool{"self": true, "this": true, "cls": true, "Self": true, "static": true, "$this": true}
	classWords = map[string]bool{"cls": true, "Self": true, "static": true}
	superWords = map[string]bool{"super": true, "parent": true, "base": true}
)

// isSuper tells such a word; one that the file itself has is a name as any other.
func (p *project) isSuper(u *unit, word int) bool {
	return superWords[p.words.texts[word]] && len(p.own(u.index, word)) == 0
}

// maxMemo bounds the answers that are remembered: some 100 bytes each.
const maxMemo = 8_000

// ask resolves a path in its place.
func (p *project) ask(w where, path int) answer {
	parts := p.words.split(path)
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

func (p *project) answer(w where, parts []int) answer {
	word := p.words.texts[parts[0]]
	switch word {
	case Element: // a literal
		return answer{things: []thing{{kind: isForeign, id: ofLiterals}}, member: -1}
	case Whoever:
		a := p.answer(w, parts[1:])
		a.unknown = a.unknown || len(a.things) == 0
		return a
	case "?":
		return answer{member: p.memberIn(parts), unknown: len(parts) > 1}
	}
	if w.class >= 0 {
		if a, ok := p.ofObject(w, parts); ok {
			return a
		}
	}
	found := p.meaning(w, parts)
	if g := p.implied(w, parts[0]); g >= 0 && len(parts) == 1 {
		return answer{things: found, receivers: []int{g}, member: parts[0]}
	}
	if len(found) > 0 {
		return p.follow(w.unit, found, parts)
	}
	if w.unit.means.FullNames {
		if a, ok := p.absolute(w.unit, parts); ok {
			return a
		}
	}
	// A local variable, a parameter, a built-in: the name of a method is all there is.
	member := parts[len(parts)-1]
	return answer{member: member, unknown: len(parts) > 1}
}

// ofObject resolves a path that begins with the object or class around the place, or with
// what that inherits from; false for any other.
func (p *project) ofObject(w where, parts []int) (answer, bool) {
	word, g := p.words.texts[parts[0]], w.unit.classes[w.class].group
	if selfWords[word] {
		what := isInstance
		if classWords[word] { // cls(…) makes an object
			what = isClass
		}
		return p.follow(w.unit, []thing{{kind: what, id: g}}, parts), true
	}
	if !p.isSuper(w.unit, parts[0]) || len(p.groups[g].line) == 0 {
		return answer{}, false
	}
	var bases []thing
	for _, b := range p.groups[g].line[1:] {
		bases = append(bases, thing{kind: isInstance, id: b})
	}
	return p.super(w.unit, bases, parts), true
}

// meaning is what the first name of a path stands for. Of one of which something is asked
// that is no method.
func (p *project) meaning(w where, parts []int) []thing {
	found := p.lookup(w, parts[0])
	if word := p.words.texts[parts[0]]; w.unit.means.OpenClasses && len(parts) > 1 && len(found) > 0 && found[0].kind == isFunction && word[0] >= 'A' && word[0] <= 'Z' {
		found = p.constant(w, parts[0])
	}
	if w.unit.means.Overrides && p.asked(parts) && p.methods(found) {
		if fields := p.constant(w, parts[0]); len(fields) > 0 {
			found = fields
		}
	}
	return found
}

// memberIn is the last name of a path: of one of a table, that with the table's.
func (p *project) memberIn(parts []int) int {
	last := parts[len(parts)-1]
	if len(parts) > 2 && p.words.texts[last] == Element {
		return p.words.id(p.words.texts[parts[len(parts)-2]] + "." + Element)
	}
	return last
}

// implied is the class around the place of which a bare name is a method, -1 for none: the
// object that it is called on may be of a class below, which has another.
func (p *project) implied(w where, name int) int {
	if !w.unit.means.Overrides && !w.unit.means.OpenClasses {
		return -1
	}
	for c := w.class; c >= 0; c = w.unit.classes[c].parent {
		g := w.unit.classes[c].group
		if found := p.member(g, name); len(found) > 0 {
			if slices.ContainsFunc(found, func(t thing) bool {
				// One of which there is nothing is there for others to have it.
				return t.kind == isFunction && (w.unit.means.Overrides || p.of(t.id).Construct == Trivial)
			}) {
				return g
			}
			return -1
		}
	}
	return -1
}

// super looks a name up in what comes after the class: the first that has it.
func (p *project) super(u *unit, bases []thing, parts []int) answer {
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
func (p *project) nested(w where, name int) []thing {
	for at := w.function; at >= 0; {
		f := p.of(at)
		if f.inner {
			if id, ok := p.enclosed[place{f.name, name}]; ok {
				if found := p.own(w.unit.index, id); len(found) > 0 {
					return found
				}
			}
		}
		if f.Parent < 0 {
			return nil
		}
		at = w.unit.first + f.Parent
	}
	return nil
}

// lookup finds a bare name: in the class where that counts, the file, its package, what
// it takes by a star.
func (p *project) lookup(w where, name int) []thing {
	if found := p.amongMembers(w, name); len(found) > 0 {
		return found
	}
	if found := p.inUnit(w.unit.index, name, 0); len(found) > 0 {
		return found
	}
	for _, of := range w.unit.means.Universal {
		for _, g := range p.global[moduleKey{w.unit.family, of}] {
			if found := p.member(g, name); len(found) > 0 {
				return found
			}
		}
	}
	return p.inPackage(w.unit, name)
}

// amongMembers finds a bare name among the members of the classes around, where it counts.
func (p *project) amongMembers(w where, name int) []thing {
	if !w.unit.means.BareMembers {
		if w.class < 0 || !w.loads {
			return nil
		}
		found := p.member(w.unit.classes[w.class].group, name)
		if len(found) == 0 {
			return nil
		}
		// A member stands for its name from where it is declared on.
		return slices.Concat(found, p.inUnit(w.unit.index, name, 0))
	}
	for c := w.class; c >= 0; c = w.unit.classes[c].parent {
		if found := p.member(w.unit.classes[c].group, name); len(found) > 0 {
			return found
		}
	}
	return nil
}

// inPackage finds a name in the other files of a file's package.
func (p *project) inPackage(u *unit, name int) []thing {
	if len(u.modules) == 0 {
		return nil
	}
	// Most names in use are none of the tree, and need not be looked for in all files.
	if !p.named[name] {
		return nil
	}
	var found []thing
	for _, at := range p.modules[p.byModule[moduleKey{u.family, u.modules[0]}]].units {
		if at == u.index || p.units[at].modules[0] != u.modules[0] {
			continue
		}
		for _, t := range p.own(at, name) {
			if t.kind != viaImport { // imports are of their file
				found = append(found, t)
			}
		}
	}
	return p.expand(found, 0)
}

// constant is a name of which something is asked, and so no method that is called like it.
func (p *project) constant(w where, name int) []thing {
	for c := w.class; c >= 0; c = w.unit.classes[c].parent {
		if found := p.fields(w.unit.classes[c].group, name); len(found) > 0 {
			return found
		}
	}
	return nil
}

// asked tells that something is asked of the first name of a path, and not of what a call
// of it gives: where methods have names of their own, it is none.
func (p *project) asked(parts []int) bool { return len(parts) > 1 && !p.isResult(parts[1]) }

// methods tells functions that have to be called.
func (p *project) methods(things []thing) bool {
	return slices.ContainsFunc(things, func(t thing) bool { return t.kind == isFunction && !p.isProperty(t.id) })
}

// fields are what a class has under a name beside methods.
func (p *project) fields(g, name int) []thing {
	for _, a := range p.groups[g].line {
		found := slices.DeleteFunc(slices.Clone(p.within(a, name)), func(t thing) bool { return t.kind == isFunction })
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// deep is how many names may stand for names: cycles end here.
const deep = 24

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

// bindingOf is what a name holds: what a call of a class makes is an instance of it.
func (p *project) bindingOf(u *unit, i int) []thing {
	b := u.bindings[i]
	if own := p.words.split(b.path); len(own) == 1 && own[0] == b.name { // x = x, and X = X()
		var out []thing
		for _, t := range u.own[b.name] {
			if t.kind == isClass && b.use == Called {
				out = append(out, thing{kind: isInstance, id: t.id})
			}
		}
		return out
	}
	a := p.ask(where{unit: u, function: -1, class: b.class, loads: true}, b.path)
	var out []thing
	for _, t := range a.things {
		switch {
		case b.use != Called && b.use != Bound || t.kind == isForeign:
			out = append(out, t)
		case t.kind == isClass:
			out = append(out, thing{kind: isInstance, id: t.id})
		case t.kind == isFunction && u.means.ByResult:
			out = append(out, thing{kind: isResult, id: t.id})
		}
	}
	return out
}

// inside is what a name means on something that holds names.
func (p *project) inside(t thing, name int, depth int) []thing {
	switch t.kind {
	case isModule:
		return p.inModule(t.id, name, depth)
	case isClass:
		found := p.member(t.id, name)
		switch {
		case len(found) > 0 && p.isEnum(t.id) && !slices.ContainsFunc(found, func(m thing) bool { return m.kind != isForeign }):
			return []thing{{kind: isInstance, id: t.id}} // what the value of a member is, it is an object of the class
		}
		return found
	case isInstance:
		return p.member(t.id, name)
	}
	return nil
}

// isEnum tells a class whose members are objects of it.
func (p *project) isEnum(g int) bool {
	return slices.ContainsFunc(p.groups[g].line, func(a int) bool {
		return slices.ContainsFunc(p.groups[a].foreign, func(f string) bool {
			return strings.HasSuffix(f, "Enum") || strings.HasSuffix(f, "Flag")
		})
	})
}

// member is what a class or those that it inherits from have under a name.
func (p *project) member(g, name int) []thing {
	line := p.groups[g].line
	if len(line) == 0 {
		line = []int{g}
	}
	for _, at := range line {
		if found := p.members[place{at, name}]; len(found) > 0 {
			return found
		}
		if found := p.within(at, name); len(found) > 0 {
			return found
		}
	}
	return nil
}

// within are nested classes and bindings of a class.
func (p *project) within(g, name int) []thing {
	id, ok := p.words.find(p.words.texts[p.groups[g].name] + "." + p.words.texts[name])
	if !ok {
		return nil
	}
	if found := p.own(p.groups[g].unit.index, id); len(found) > 0 {
		return p.expand(found, 1)
	}
	for _, part := range p.groups[g].parts {
		if found := p.own(p.classes[part].unit.index, id); len(found) > 0 {
			return p.expand(found, 1)
		}
	}
	return nil
}

// through resolves one import or binding, once. While it is resolved it stands for nothing.
func (p *project) through(t thing, depth int) []thing {
	if found, ok := p.found[t]; ok || depth > deep {
		return found
	}
	p.found[t] = nil
	u := p.units[t.unit]
	if t.kind == viaImport {
		p.found[t] = slices.Clip(p.importOf(u, u.imports[t.id], depth+1))
	} else {
		p.found[t] = slices.Clip(p.bindingOf(u, t.id))
	}
	return p.found[t]
}
