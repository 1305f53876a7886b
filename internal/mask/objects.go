package mask

import (
	"maps"
	"slices"
	"strings"
)

// ofHeirs are hooks that run when a class is inherited from, mixed in, made by its
// metaclass or put into another; all others run with their file.
var ofHeirs = map[string]bool{
	"__new__": true, "__init__": true, "__prepare__": true, "mro": true, "__setattr__": true, "__set_name__": true,
	"__mro_entries__": true, "_generate_next_value_": true,
	"__init_subclass__": true, "inherited": true, "included": true, "extended": true, "prepended": true,
	"method_added": true, "const_missing": true, "method_missing": true, "__class_getitem__": true,
}

// ofMetaclass are the members of a metaclass that run when a class is made with it.
var ofMetaclass = []string{"__new__", "__init__", "__prepare__", "mro", "__setattr__"}

// define is what the definition of a class runs: hooks of what it inherits from, its
// metaclass.
func (c *closure) define(g int, why cause) {
	line := c.groups[g].line
	for _, a := range line[1:] {
		for _, f := range c.groups[a].members {
			if c.of(f).Construct == Hook {
				c.present(g)
				c.reach(f, why)
			}
		}
	}
	for _, a := range line {
		for _, m := range c.groups[a].made {
			c.present(g)
			c.instantiate(m, why)
			c.lendMeta(m, why)
			for _, name := range ofMetaclass {
				c.method(m, name, why)
			}
		}
	}
	// An enumeration makes its members at once.
	if c.isEnum(g) {
		c.instantiate(g, why)
	}
}

// lendMeta is a metaclass that inherits from one of others: they call what it has when they
// make its classes.
func (c *closure) lendMeta(m int, why cause) {
	line := c.groups[m].line
	if !slices.ContainsFunc(line, func(a int) bool {
		return slices.ContainsFunc(c.groups[a].foreign, func(base string) bool { return calls(base) && !plainMeta[base] })
	}) {
		return
	}
	for _, a := range line {
		for _, f := range c.groups[a].members {
			c.reach(f, why)
		}
	}
}

// plainMeta are the metaclasses of the language.
var plainMeta = map[string]bool{"type": true, "ABCMeta": true, "EnumMeta": true, "EnumType": true}

// isMetaclass tells a class whose objects are classes.
func (c *closure) isMetaclass(g int) bool {
	return slices.ContainsFunc(c.groups[g].line, func(a int) bool {
		return slices.Contains(c.groups[a].foreign, "type") || slices.Contains(c.groups[a].foreign, "ABCMeta") || slices.Contains(c.groups[a].foreign, "EnumMeta")
	})
}

// method reaches the nearest member of a name.
func (c *closure) method(g int, name string, why cause) {
	id, ok := c.words.find(name)
	if !ok {
		return
	}
	for _, t := range c.member(g, id) {
		if t.kind == isFunction {
			c.reach(t.id, why)
		}
	}
}

// instantiate is a class that is called: its constructors, and what the language calls
// on an object unseen (operators, hashes, descriptors).
func (c *closure) instantiate(g int, why cause) {
	if c.made[g] {
		return
	}
	c.made[g] = true
	for _, m := range c.metaclasses(g) {
		c.method(m, "__call__", why)
	}
	for _, a := range c.groups[g].line {
		for _, part := range c.groups[a].parts {
			k := c.classes[part]
			for _, r := range k.makes {
				c.use(where{unit: k.unit, function: -1, class: r.class, loads: true}, r, why)
			}
		}
	}
	seen := map[int]bool{}
	for _, a := range c.groups[g].line {
		var own []int
		for _, f := range c.groups[a].members {
			name := c.of(f).last
			if c.makes(f) && !seen[name] && !late[c.words.texts[name]] {
				if c.of(f).unit.means.ByResult { // what it makes is called by the names that it is put under
					c.begin(f, why)
				} else {
					c.reach(f, why)
				}
			}
			own = append(own, name)
		}
		for _, name := range own { // what inherits hides it; overloads of one class do not
			seen[name] = true
		}
	}
	c.present(g)
}

// makes tells a member that runs when an object is made. A constructor that stays whatever
// runs may still run others: it does no more than call its parent's.
func (c *closure) makes(f int) bool {
	switch c.of(f).Construct {
	case Constructor, Special, Hook:
		return true
	case Trivial, Opaque:
		return constructors[c.words.texts[c.of(f).last]]
	}
	return false
}

// constructors are the names that all classes of a language have for theirs.
var constructors = map[string]bool{"constructor": true, "__construct": true, "initialize": true, "__init__": true, "<init>": true}

// present is a class of which there is an object, or which is one itself for code that
// gets classes: hooks and metaclasses. What is called on the unknown may be called on it.
func (c *closure) present(g int) {
	if c.seen[g] {
		return
	}
	c.seen[g] = true
	c.all = append(c.all, g)
	kin := c.kin(g)
	for _, at := range c.patterns {
		if at.in == kin {
			c.answer(g, at.name, c.waiting[at])
		}
	}
	for _, a := range c.groups[g].line {
		for _, s := range c.supers[a] {
			c.after(g, a, s)
		}
		for _, f := range c.groups[a].members {
			if s, ok := c.waiting[place{kin, c.of(f).last}]; ok {
				c.answer(g, c.of(f).last, s)
			}
		}
		for _, name := range c.groups[a].bound {
			if s, ok := c.waiting[place{kin, name}]; ok {
				c.answer(g, name, s)
			}
		}
	}
	c.touch(g)
	for _, face := range slices.Sorted(maps.Keys(c.faces)) {
		if c.conforms(g, face) {
			for _, at := range c.faces[face] {
				c.answer(g, at.name, c.faced[at])
			}
		}
	}
}

// face is a method called on an interface: on any object that has all of its methods.
func (c *closure) face(g, name int, s site) {
	at := place{g, name}
	if _, ok := c.faced[at]; ok || len(c.wants(g)) == 0 {
		return
	}
	c.faced[at] = s
	c.faces[g] = append(c.faces[g], at)
	for _, h := range c.all {
		if c.conforms(h, g) {
			c.answer(h, name, s)
		}
	}
}

// wants are the methods of an interface.
func (c *closure) wants(g int) []int {
	var out []int
	for _, a := range c.groups[g].line {
		for _, part := range c.groups[a].parts {
			out = append(out, c.classes[part].wants...)
		}
	}
	return out
}

// conforms tells an object that has what an interface wants, or may have it of others.
func (c *closure) conforms(h, g int) bool {
	if c.kin(h) != c.kin(g) {
		return false
	}
	open := slices.ContainsFunc(c.groups[h].line, func(a int) bool { return len(c.groups[a].foreign) > 0 })
	return !slices.ContainsFunc(c.wants(g), func(name int) bool { return !open && len(c.member(h, name)) == 0 })
}

// late are what the language calls on an object when it is printed or awaited: not
// while files are loaded. Copies are made there.
var late = map[string]bool{
	"__repr__": true, "__str__": true, "__bytes__": true, "__sizeof__": true, "__dir__": true, "__await__": true, "__aenter__": true, "__aexit__": true, "__anext__": true,
}

// answer is a call by name on an object of a class.
func (c *closure) answer(g, name int, s site) {
	if c.isPattern(name) {
		c.matching(g, strings.TrimSuffix(c.words.texts[name], "*"), s)
		return
	}
	for _, t := range c.member(g, name) {
		switch {
		case t.kind == isFunction && s.how > reads && !c.isProperty(t.id) && !c.fits(t.id, s.with):
			at := place{c.kin(g), name}
			c.refused[at] = append(c.refused[at], g)
		case t.kind == isFunction && s.how == binds && !c.isProperty(t.id):
			c.begin(t.id, s.cause)
		case t.kind == isFunction && (s.how > reads || c.isProperty(t.id)):
			c.reach(t.id, s.cause)
		case (t.kind == isClass || t.kind == isSlot || t.kind == isMember) && s.how > reads:
			c.run(t, s.cause)
		case t.kind == isInstance && s.how > reads:
			c.call(t.id, s.cause)
		case t.kind == isTable:
			c.openTable(t, s.cause)
		}
	}
}

// isPattern tells a name of which only the beginning is known.
func (c *closure) isPattern(name int) bool { return strings.HasSuffix(c.words.texts[name], "*") }

// matching is a call by a name that is made up: of all members that begin like it, those
// that are private for themselves left out.
func (c *closure) matching(g int, prefix string, s site) {
	for _, a := range c.groups[g].line {
		for _, f := range c.groups[a].members {
			name := c.words.texts[c.of(f).last]
			if strings.HasPrefix(name, prefix) && (prefix != "" || name[0] != '_') && (s.how > reads || c.isProperty(f)) {
				c.reach(f, s.cause)
			}
		}
		if s.how == reads {
			continue
		}
		for _, name := range c.groups[a].bound {
			if word := c.words.texts[name]; strings.HasPrefix(word, prefix) && (prefix != "" || word[0] != '_') {
				for _, t := range c.within(a, name) {
					if t.kind == isSlot || t.kind == isFunction {
						c.hand(t, s.cause)
					}
				}
			}
		}
	}
}

// touch notes a class whose own methods may be called on it, or on what it makes.
func (c *closure) touch(g int) {
	if c.touched[g] {
		return
	}
	c.touched[g] = true
	for _, a := range c.groups[g].line[1:] {
		for _, name := range c.names[a] {
			c.inherited(g, name, c.watched[place{a, name}])
		}
	}
	for _, m := range c.metaclasses(g) {
		c.kinds[m] = append(c.kinds[m], g)
		for _, name := range c.names[m] {
			c.answer(g, name, c.watched[place{m, name}])
		}
	}
}

// metaclasses are those of a class, with what they inherit from.
func (p *project) metaclasses(g int) []int {
	var out []int
	for _, a := range p.groups[g].line {
		for _, m := range p.groups[a].made {
			out = append(out, p.groups[m].line...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// and is both of two uses of a name: what is only read has no arguments.
func (s site) and(other site) site {
	switch {
	case other.how == reads:
		return s
	case s.how == reads:
		return other
	}
	s.how, s.with = max(s.how, other.how), s.with.both(other.with)
	return s
}

// wait is a method called on what is not known.
func (c *closure) wait(at place, s site) {
	old, ok := c.waiting[at]
	if ok {
		s = old.and(s)
	}
	if ok && old == s {
		return
	}
	if !ok && c.isPattern(at.name) {
		c.patterns = append(c.patterns, at)
	}
	c.waiting[at] = s
	if ok && old.how == s.how { // of other numbers of arguments
		again := c.refused[at]
		delete(c.refused, at)
		for _, g := range again {
			c.answer(g, at.name, s)
		}
		return
	}
	for _, f := range c.singles[at] {
		if s.how > reads {
			c.reach(f, s.cause)
		}
	}
	for _, g := range c.all {
		if c.kin(g) == at.in {
			c.answer(g, at.name, s)
		}
	}
}

// lendClass is a class that is named, and so an object: who has it may call on it what it
// answers to itself.
func (c *closure) lendClass(g int) {
	if c.lent[g] {
		return
	}
	c.lent[g] = true
	for _, a := range c.groups[g].line {
		for _, f := range c.groups[a].members {
			if !c.of(f).Single {
				continue
			}
			at := place{c.kin(g), c.of(f).last}
			c.singles[at] = append(c.singles[at], f)
			if s, ok := c.waiting[at]; ok && s.how > reads {
				c.reach(f, s.cause)
			}
		}
	}
}

func (c *closure) kin(g int) int { return c.groups[g].unit.kin }

// inherited is a call by name on a class that inherits from the one that is known: of
// cls.__new__(cls), and of cls(), there is an object of it.
func (c *closure) inherited(g, name int, s site) {
	c.answer(g, name, s)
	if s.how > reads && c.words.texts[name] == "__new__" {
		c.instantiate(g, s.cause)
	}
}

// watch is a method called on a class of ours: those that inherit from it may have
// another, and count when they are in use.
func (c *closure) watch(g, name int, s site) {
	key := place{g, name}
	old, ok := c.watched[key]
	if ok {
		s = old.and(s)
	}
	if ok && old == s {
		return
	}
	c.watched[key] = s
	if !ok {
		c.names[g] = append(c.names[g], name)
	}
	for _, h := range c.groups[g].below {
		if c.touched[h] {
			c.inherited(h, name, s)
		}
	}
	for _, h := range c.kinds[g] { // whose classes are its objects
		c.answer(h, name, s)
	}
}
