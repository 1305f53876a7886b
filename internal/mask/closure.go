package mask

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// cause says why something runs when the project is loaded: a line of a file, and the
// first function that it runs.
type cause struct {
	unit, line int32
	first      int32 // of the chain; -1 for what runs directly
}

// closure is what runs when the files of a project are loaded. Names are resolved in
// their scope; an unknown receiver's method is one of the classes of which there is an
// object by then (rapid type analysis), and never all of that name.
type closure struct {
	*project
	causes  []cause
	reached []bool // functions
	freed   []bool // functions of which what is inside may run too
	made    []bool // groups of which there is an object
	touched []bool // groups whose own methods may have been called on the class
	queue   []int32
	// waiting are names called on what is not known, by family and name: an object is one
	// of its language. watched are those called on a class whose heirs may have their own,
	// by class and name.
	waiting  map[place]site
	asked    map[int32]cause   // names called on what has no such member
	lying    map[int32][]int32 // functions inside of those that were reached and not freed, by name
	still    map[place]stillness
	stored   map[int32][]thing // what functions that leave their arguments alone put under a name
	used     map[int32]cause   // names that are read or called, where things may be stored
	watched  map[place]site
	patterns []place // of those waiting, names of which the beginning is known
	slots    map[place]*slot
	names    map[int32][]int32 // of watched, by class
	offers   map[int32][]offer // functions that nothing has called yet, by their number of arguments
	dialled  map[int32]bool    // numbers of arguments with which something without a name was called
	supers   map[int32][]superCall
	seen     []bool  // groups that are present
	all      []int32 // those, in order
}

// superCall is a call of what comes after a class: in one that inherits from several, that
// is one of the others.
type superCall struct {
	name int32
	why  cause
}

// site is a use of a member by name.
type site struct {
	cause cause
	how   strength
}

// strength is how much of a member a use by name runs.
type strength int8

const (
	reads  strength = iota // properties
	binds                  // and functions, of which the value is only bound to a name
	called                 // and what those make
)

// strengthOf is that of a use; x.f that is handed over alone is seldom a method: it would
// lose its x.
func strengthOf(u Use, unbound bool) strength {
	switch {
	case u == Named || u == Inherited || u == Made || u == Handed && unbound:
		return reads
	case u == Bound:
		return binds
	}
	return called
}

// closure is not whole where ctx ends it.
func (p *project) closure(ctx context.Context) *closure {
	c := &closure{
		project: p, causes: make([]cause, len(p.homes)), reached: make([]bool, len(p.homes)), freed: make([]bool, len(p.homes)),
		made: make([]bool, len(p.groups)), seen: make([]bool, len(p.groups)), touched: make([]bool, len(p.groups)),
		asked: map[int32]cause{}, lying: map[int32][]int32{}, still: map[place]stillness{}, slots: map[place]*slot{},
		offers: map[int32][]offer{}, dialled: map[int32]bool{}, waiting: map[place]site{}, watched: map[place]site{}, names: map[int32][]int32{},
		stored: map[int32][]thing{}, used: map[int32]cause{}, supers: map[int32][]superCall{},
	}
	for u := range p.until(ctx) {
		if !u.outside {
			c.load(u)
			c.drain(ctx)
		}
	}
	return c
}

// load is what one file runs itself.
func (c *closure) load(u *unit) {
	handlers := map[int32]bool{}
	for _, h := range u.handlers {
		handlers[h.path] = true
	}
	for _, r := range u.loads {
		if r.use() == Handed && handlers[r.path] { // a router keeps it for later
			r.ref = refOf(r.path, int(r.class()), Named)
		}
		c.use(where{unit: u, function: -1, class: r.class(), loads: true}, r.ref, cause{u.index, r.line, -1})
	}
	c.values(where{unit: u, function: -1, class: -1, loads: true}, -1, -1, cause{u.index, 0, -1})
	for i := range u.functions {
		f, at := &u.functions[i], u.first+int32(i)
		if c.construct(at) == Hook && f.parent < 0 && !ofHeirs[c.words.texts[f.last]] {
			c.reach(at, cause{u.index, f.line, -1})
		}
	}
	for i, k := range u.classes {
		if !k.late {
			c.define(c.classes[int(u.firstOf)+i].group, cause{u.index, 0, -1})
		}
	}
}

// ofHeirs are hooks that run when a class is inherited from, mixed in, made by its
// metaclass or put into another; all others run with their file.
var ofHeirs = map[string]bool{
	"__new__": true, "__init__": true, "__call__": true, "__prepare__": true, "mro": true, "__setattr__": true, "__set_name__": true,
	"__mro_entries__": true, "_generate_next_value_": true,
	"__init_subclass__": true, "inherited": true, "included": true, "extended": true, "prepended": true,
	"method_added": true, "const_missing": true, "method_missing": true, "__class_getitem__": true,
}

// ofMetaclass are the members of a metaclass that run when a class is made with it.
var ofMetaclass = []string{"__new__", "__init__", "__call__", "__prepare__", "mro", "__setattr__"}

// define is what the definition of a class runs: hooks of what it inherits from, its
// metaclass.
func (c *closure) define(g int32, why cause) {
	line := c.groups[g].lineage
	foreign := slices.Clone(c.groups[g].foreign)
	for _, a := range line[1:] {
		foreign = append(foreign, c.groups[a].foreign...)
		for _, f := range c.groups[a].listed {
			if c.construct(f) == Hook {
				c.present(g)
				c.reach(f, why)
			}
		}
	}
	for _, a := range line {
		for _, m := range c.groups[a].made {
			c.present(g)
			c.instantiate(m, why)
			for _, name := range ofMetaclass {
				c.method(m, name, why)
			}
		}
	}
	// An enumeration makes its members at once.
	if slices.ContainsFunc(foreign, func(f string) bool { return strings.HasSuffix(f, "Enum") || strings.HasSuffix(f, "Flag") }) {
		c.instantiate(g, why)
	}
}

// method reaches the nearest member of a name.
func (c *closure) method(g int32, name string, why cause) {
	id, ok := c.words.ids[name]
	if !ok {
		return
	}
	for _, t := range c.member(g, id) {
		if t.kind == isFunction {
			c.reach(t.id, why)
		}
	}
}

// use follows one reference.
func (c *closure) use(w where, r ref, why cause) {
	if c.wordless(w, r, why) {
		return
	}
	a := c.ask(w, r.path)
	if r.use() == Adorned {
		for _, t := range a.things {
			c.adorned(w, r, t, why)
		}
		return
	}
	if c.lends(w, r, a.things, why) {
		return
	}
	for _, g := range a.getters {
		c.reach(g, why)
	}
	for _, f := range a.results {
		c.reach(f, why)
	}
	parts := c.words.split[r.path]
	if len(parts) == 2 && w.class >= 0 && r.use().calls() && follows[w.unit.family] && superWords[c.words.texts[parts[0]]] {
		c.superior(c.classes[w.unit.firstOf+w.class].group, superCall{parts[1], why})
	}
	use, puts := c.meant(w, r)
	things := a.things
	if use.calls() { // TABLE[k](…)
		things = c.held(things)
	}
	if byResult[w.unit.family] {
		c.byName(w, parts, use, things, why)
		for _, name := range puts {
			c.store(name, things, why)
		}
	}
	for _, t := range things {
		c.take(w, r, use, t, why)
	}
	if a.unknown {
		c.wait(place{w.unit.kin, a.member}, site{why, strengthOf(use, byResult[w.unit.family])})
	}
	for _, g := range a.receivers {
		c.received(w, g, a.member, parts, site{why, strengthOf(use, false)})
	}
}

// wordless follows what goes by no name: a parameter, all that has a name anywhere, and
// what is called of which the number of arguments is known; false for the rest.
func (c *closure) wordless(w where, r ref, why cause) bool {
	parts := c.words.split[r.path]
	switch c.words.texts[parts[0]] {
	case Parameter:
		t, ok := c.parameter(w.function, parts[1])
		if ok && len(parts) == 3 {
			t = c.each(t)
		}
		if ok && len(parts) <= 3 {
			c.take(w, r, r.use(), t, why)
		}
		return true
	case Anywhere:
		for _, u := range c.units {
			if u.kin == w.unit.kin && !u.outside {
				for _, t := range c.inUnit(u.index, parts[1], 0) {
					c.hand(t, why)
				}
			}
		}
		return true
	}
	n, runs, ok := c.dynamic(w, r.path)
	if ok && runs {
		c.dial(n)
	}
	return ok
}

// byName notes what a path reads and calls under names that may stand for what was stored.
func (c *closure) byName(w where, parts []int32, use Use, things []thing, why cause) {
	if (use.calls() || use == Handed) && len(things) == 0 && len(parts) > 1 {
		c.askFor(parts[len(parts)-1], why)
	}
	c.mention(parts, why)
	if last := len(parts) - 1; last > 0 && c.words.texts[parts[last]] == Element {
		c.anyOf(w, parts[:last], why)
	}
}

// received is a member that is used of an object of a class, or of one that inherits.
func (c *closure) received(w where, g, member int32, parts []int32, s site) {
	c.touch(g)
	c.watch(g, member, s)
	if c.isPattern(member) {
		c.answer(g, member, s)
	}
	if s.how == reads || len(c.member(g, member)) > 0 {
		return
	}
	word := c.words.texts[parts[0]]
	switch {
	case len(c.ofMeta(g, member)) > 0:
		c.instantiate(g, s.cause) // a method of the class's class makes objects of it
	case follows[w.unit.family] && !selfWords[word] && !superWords[word]:
		c.lend(g, s.cause) // it has the method from others, who may call its own
	}
}

// superior is a call of what comes after a class: of those present that inherit from it,
// and of those to come.
func (c *closure) superior(g int32, s superCall) {
	if slices.ContainsFunc(c.supers[g], func(old superCall) bool { return old.name == s.name }) {
		return
	}
	c.supers[g] = append(c.supers[g], s)
	for _, h := range c.groups[g].below {
		if c.seen[h] {
			c.after(h, g, s)
		}
	}
}

// after reaches what an object of a class has under a name behind another in its lineage.
func (c *closure) after(h, g int32, s superCall) {
	line := c.groups[h].lineage
	for _, a := range line[slices.Index(line, g)+1:] {
		found := c.groups[a].members.of(s.name)
		for _, t := range found {
			if t.kind == isFunction {
				c.reach(t.id, s.why)
			}
		}
		if len(found) > 0 {
			return
		}
	}
}

// lend is an object that is given away, of a class that inherits from one of others:
// they may call what it has under names that stand nowhere here.
func (c *closure) lend(g int32, why cause) {
	line := c.groups[g].lineage
	if !slices.ContainsFunc(line, func(a int32) bool { return slices.ContainsFunc(c.groups[a].foreign, calls) }) {
		return
	}
	for _, a := range line {
		for _, f := range c.groups[a].listed {
			if !strings.HasPrefix(c.words.texts[c.of(f).last], "_") {
				c.reach(f, why)
			}
		}
	}
}

// calls tells a class of others whose code may call what its heirs have.
func calls(base string) bool {
	for _, end := range []string{"Error", "Exception", "Warning", "Enum", "Flag", "Tuple", "Dict", "Protocol", "ABC", "Generic"} {
		if strings.HasSuffix(base, end) {
			return false
		}
	}
	return !plainBases[base]
}

// plainBases are those of the languages that call nothing on what inherits from them.
var plainBases = map[string]bool{
	"object": true, "str": true, "int": true, "float": true, "bytes": true, "list": true, "dict": true, "tuple": true, "set": true, "frozenset": true,
	"Hash": true, "Array": true, "String": true, "Struct": true, "Object": true, "Comparable": true, "Enumerable": true,
	"Serializable": true, "Cloneable": true,
}

// held adds what tables hold.
func (c *closure) held(things []thing) []thing {
	out := things
	for _, t := range things {
		if t.kind == isTable {
			out = append(out[:len(out):len(out)], c.step(t, c.words.ids[Element])...)
		}
	}
	return out
}

// askFor is a member called on what is not known to have it: one inside of a function
// that was reached may have been put there.
func (c *closure) askFor(name int32, why cause) {
	if _, ok := c.asked[name]; ok {
		return
	}
	c.asked[name] = why
	for _, f := range c.lying[name] {
		c.reach(f, why)
	}
}

// begin keeps a function and takes up what it runs itself.
func (c *closure) begin(f int32, why cause) {
	if c.reached[f] {
		return
	}
	c.reached[f], c.causes[f] = true, why
	c.queue = append(c.queue, f)
}

// reach is begin, with what is inside of the function: what a kept one makes and gives
// away may run under any name.
func (c *closure) reach(f int32, why cause) {
	if !c.freed[f] {
		c.freed[f] = true
		if c.reached[f] {
			c.queue = append(c.queue, f) // once more
		}
	}
	c.begin(f, why)
	if follows[c.units[c.homes[f]].family] {
		c.open(c.result(f), why)
	}
}

// drain follows what was reached.
func (c *closure) drain(ctx context.Context) {
	for len(c.queue) > 0 && ctx.Err() == nil {
		f := c.queue[0]
		c.queue = c.queue[1:]
		at := c.of(f)
		u := c.units[c.homes[f]]
		why := c.causes[f]
		if why.first < 0 {
			why.first = f
		}
		for _, r := range u.refs[at.runs.start:at.runs.end] {
			c.use(where{unit: u, function: f, class: r.class()}, r, why)
		}
		c.values(where{unit: u, function: f, class: at.class}, f-u.first, -1, why)
		for _, r := range u.refs[at.wrapped.start:at.wrapped.end] {
			for _, t := range c.ask(where{unit: u, function: f, class: r.class()}, r.path).things {
				if t.kind == isFunction {
					c.open(c.result(t.id), why)
				}
			}
		}
		if at.inner {
			c.inner(u, f-u.first, why, c.freed[f])
		}
		for i, k := range u.classes {
			if k.late && at.span.wide().Holds(k.span.wide()) {
				c.define(c.classes[int(u.firstOf)+i].group, why)
			}
		}
	}
}

// byObject are families in which what is inside of a function are methods of classes of
// its own: they run when they are called on an object, as those of any other class.
var byObject = map[string]bool{"java": true, "python": true}

func (c *closure) inner(u *unit, local int32, why cause, freed bool) {
	for i := local + 1; int(i) < len(u.functions); i++ {
		f, at := &u.functions[i], u.first+i
		switch {
		case f.parent != local || byObject[u.family] && f.group >= 0:
		case follows[u.family]:
			if c.replaced(at) {
				c.reach(at, why)
			}
		case freed:
			c.reach(at, why)
		default:
			c.lie(at, why)
		}
		if f.span.start >= u.functions[local].span.end {
			return
		}
	}
}

// lie notes what waits to be called by its name.
func (c *closure) lie(f int32, why cause) {
	name := c.of(f).last
	if full := c.words.texts[c.of(f).name]; strings.HasSuffix(full, "]") {
		if strings.Contains(full, "[Symbol.") { // the language calls it
			c.reach(f, why)
			return
		}
		name = c.words.id(Element)
	}
	if asked, ok := c.asked[name]; ok {
		c.reach(f, asked)
		return
	}
	c.lying[name] = append(c.lying[name], f)
}

// replaced tells a function that goes to a decorator of ours, or to one that is not known.
func (c *closure) replaced(f int32) bool {
	u := c.units[c.homes[f]]
	at := c.of(f)
	w := where{unit: u, function: u.first + at.parent}
	return slices.ContainsFunc(u.refs[at.wrapped.start:at.wrapped.end], func(r ref) bool {
		w.class = r.class()
		a := c.ask(w, r.path)
		return a.unknown || !slices.ContainsFunc(a.things, func(t thing) bool { return t.kind == isForeign })
	})
}

// instantiate is a class that is called: its constructors, and what the language calls
// on an object unseen (operators, hashes, descriptors).
func (c *closure) instantiate(g int32, why cause) {
	if c.made[g] {
		return
	}
	c.made[g] = true
	for _, a := range c.groups[g].lineage {
		for _, part := range c.groups[a].parts {
			u := c.units[c.classes[part].unit]
			makes := u.classes[c.classes[part].local].makes
			for _, r := range u.refs[makes.start:makes.end] {
				c.use(where{unit: u, function: -1, class: r.class(), loads: true}, r, why)
			}
		}
	}
	seen := map[int32]bool{}
	for _, a := range c.groups[g].lineage {
		var own []int32
		for _, f := range c.groups[a].listed {
			name := c.of(f).last
			if c.makes(f) && !seen[name] && !late[c.words.texts[name]] {
				if byResult[c.units[c.homes[f]].family] { // what it makes is called by the names that it is put under
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
func (c *closure) makes(f int32) bool {
	switch c.construct(f) {
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
func (c *closure) present(g int32) {
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
	for _, a := range c.groups[g].lineage {
		for _, s := range c.supers[a] {
			c.after(g, a, s)
		}
		for _, f := range c.groups[a].listed {
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

// late are what the language calls on an object when it is printed or awaited: not
// while files are loaded. Copies are made there.
var late = map[string]bool{
	"__repr__": true, "__str__": true, "__bytes__": true, "__sizeof__": true, "__dir__": true, "__await__": true, "__aenter__": true, "__aexit__": true, "__anext__": true,
}

// answer is a call by name on an object of a class.
func (c *closure) answer(g, name int32, s site) {
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
		case (t.kind == isClass || t.kind == isSlot) && s.how > reads:
			c.hand(t, s.cause)
		}
	}
}

// isPattern tells a name of which only the beginning is known.
func (c *closure) isPattern(name int32) bool { return strings.HasSuffix(c.words.texts[name], "*") }

// matching is a call by a name that is made up: of all members that begin like it, those
// that are private for themselves left out.
func (c *closure) matching(g int32, prefix string, s site) {
	for _, a := range c.groups[g].lineage {
		for _, f := range c.groups[a].listed {
			name := c.words.texts[c.of(f).last]
			if strings.HasPrefix(name, prefix) && (prefix != "" || name[0] != '_') {
				c.reach(f, s.cause)
			}
		}
	}
}

// touch notes a class whose own methods may be called on it, or on what it makes.
func (c *closure) touch(g int32) {
	if c.touched[g] {
		return
	}
	c.touched[g] = true
	for _, a := range c.groups[g].lineage[1:] {
		for _, name := range c.names[a] {
			c.answer(g, name, c.watched[place{a, name}])
		}
	}
}

// wait is a method called on what is not known.
func (c *closure) wait(at place, s site) {
	if old, ok := c.waiting[at]; ok && old.how >= s.how {
		return
	}
	if _, ok := c.waiting[at]; !ok && c.isPattern(at.name) {
		c.patterns = append(c.patterns, at)
	}
	c.waiting[at] = s
	for _, g := range c.all {
		if c.kin(g) == at.in {
			c.answer(g, at.name, s)
		}
	}
}

func (c *closure) kin(g int32) int32 { return c.units[c.groups[g].unit].kin }

// watch is a method called on a class of ours: those that inherit from it may have
// another, and count when they are in use.
func (c *closure) watch(g, name int32, s site) {
	key := place{g, name}
	old, ok := c.watched[key]
	if ok && old.how >= s.how {
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

// reason is why a function runs at load time, for the manifest.
func (c *closure) reason(f int32) string {
	why := c.causes[f]
	at := c.units[why.unit].path
	if why.line > 0 {
		at = fmt.Sprintf("%s:%d", at, why.line)
	}
	if why.first >= 0 && why.first != f {
		return fmt.Sprintf("runs when %s is loaded, by %s", at, c.name(why.first))
	}
	return fmt.Sprintf("runs when %s is loaded", at)
}
