package mask

import "strings"

// ofHeirs are hooks that run when a class is inherited from, mixed in or put into another;
// all others run with their file.
var ofHeirs = map[string]bool{
	"inherited": true, "included": true, "extended": true, "prepended": true, "method_added": true, "const_missing": true, "method_missing": true,
}

// define is what the definition of a class runs: hooks of what it inherits from.
func (c *closure) define(g int, why cause) {
	for _, a := range c.groups[g].line[1:] {
		for _, f := range c.groups[a].members {
			if c.of(f).Construct == Hook {
				c.present(g)
				c.reach(f, why)
			}
		}
	}
	// An enumeration makes its members at once.
	if c.isEnum(g) {
		c.instantiate(g, why)
	}
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
			if c.makes(f) && !seen[name] {
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
var constructors = map[string]bool{"constructor": true, "__construct": true, "initialize": true, "<init>": true}

// present is a class of which there is an object, or which is one itself for code that
// gets classes: hooks. What is called on the unknown may be called on it.
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
}

// answer is a call by name on an object of a class.
func (c *closure) answer(g, name int, s site) {
	if c.isPattern(name) {
		c.matching(g, strings.TrimSuffix(c.words.texts[name], "*"), s)
		return
	}
	for _, t := range c.member(g, name) {
		switch {
		case t.kind == isFunction && s.how == binds && !c.isProperty(t.id):
			c.begin(t.id, s.cause)
		case t.kind == isFunction && (s.how > reads || c.isProperty(t.id)):
			c.reach(t.id, s.cause)
		case t.kind == isClass && s.how > reads:
			c.hand(t, s.cause)
		case t.kind == isInstance && s.how > reads:
			c.call(t.id, s.cause)
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
					if t.kind == isFunction {
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
			c.answer(g, name, c.watched[place{a, name}])
		}
	}
}

// and is both of two uses of a name.
func (s site) and(other site) site {
	switch {
	case other.how == reads:
		return s
	case s.how == reads:
		return other
	}
	s.how = max(s.how, other.how)
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
			c.answer(h, name, s)
		}
	}
}
