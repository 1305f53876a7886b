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
	unit, line int
	first      int // of the chain; -1 for what runs directly
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
	queue   []int
	// waiting are names called on what is not known, by family and name: an object is one
	// of its language. watched are those called on a class whose heirs may have their own,
	// by class and name.
	waiting  map[place]site
	asked    map[int]cause   // names called on what has no such member
	lying    map[int][]int   // functions inside of those that were reached and not freed, by name
	placed   map[place][]int // functions that are put on what other files give, by whose member they are and their name
	sought   map[place]cause // those that are called so
	still    map[place]stillness
	stored   map[int][]thing // what functions that leave their arguments alone put under a name
	used     map[int]cause   // names that are read or called, where things may be stored
	watched  map[place]site
	refused  map[place][]int // of waiting, classes whose member takes another number of arguments
	kinds    map[int][]int   // by metaclass, the classes in use that are made with it
	patterns []place         // of those waiting, names of which the beginning is known
	slots    map[place]*slot
	names    map[int][]int   // of watched, by class
	offers   map[int][]offer // functions that nothing has called yet, by their number of arguments
	fields   map[int]bool    // names behind dots
	rung     map[place]bool  // and those of fields that were called, with numbers of arguments
	unread   map[int][]offer // functions that lie in fields whose names nobody has read yet
	laid     map[int][]offer // all that lie or lay in fields that others did not get
	given    map[int]bool    // names of fields that they got
	faces    map[int][]place // methods called on interfaces, by those
	faced    map[place]site
	dialled  map[int]bool // numbers of arguments with which something without a name or a known type was called
	ringing  map[int]bool // types of functions of which one without a name was called
	supers   map[int][]superCall
	lent     map[int]bool    // classes that somebody has
	singles  map[place][]int // what those answer to, by family and name
	seen     []bool          // groups that are present
	all      []int           // those, in order
	heirsOf  heirsOf
}

// heirsOf is what classes are asked for their heirs.
type heirsOf struct {
	any   bool  // one that is not known
	given []int // those that functions got, as long as none was
}

// superCall is a call of what comes after a class: in one that inherits from several, that
// is one of the others.
type superCall struct {
	name int
	why  cause
}

// site is a use of a member by name.
type site struct {
	cause cause
	how   strength
	with  counts
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

// closure is not whole where ctx ends it. Native functions are those that compiled code
// calls.
func (p *project) closure(ctx context.Context, native []int) *closure {
	c := &closure{
		project: p, causes: make([]cause, len(p.functions)), reached: make([]bool, len(p.functions)), freed: make([]bool, len(p.functions)),
		made: make([]bool, len(p.groups)), seen: make([]bool, len(p.groups)), touched: make([]bool, len(p.groups)),
		asked: map[int]cause{}, lying: map[int][]int{}, placed: map[place][]int{}, sought: map[place]cause{}, still: map[place]stillness{}, slots: map[place]*slot{},
		offers: map[int][]offer{}, fields: map[int]bool{}, unread: map[int][]offer{}, rung: map[place]bool{}, laid: map[int][]offer{}, given: map[int]bool{},
		faces: map[int][]place{}, faced: map[place]site{}, dialled: map[int]bool{}, ringing: map[int]bool{}, waiting: map[place]site{}, watched: map[place]site{},
		refused: map[place][]int{}, kinds: map[int][]int{}, names: map[int][]int{},
		stored: map[int][]thing{}, used: map[int]cause{}, supers: map[int][]superCall{}, lent: map[int]bool{}, singles: map[place][]int{},
	}
	for _, f := range native {
		c.reach(f, cause{p.of(f).unit.index, p.of(f).Line, -1})
	}
	for u := range p.until(ctx) {
		if !u.outside && !u.means.ByName {
			c.load(u)
			c.drain(ctx)
		}
	}
	return c
}

// load is what one file runs itself.
func (c *closure) load(u *unit) {
	handlers := map[int]bool{}
	for _, h := range u.handlers {
		handlers[h.path] = true
	}
	for _, r := range u.loads {
		if r.use == Handed && handlers[r.path] { // a router keeps it for later
			r.use, r.into = Named, 0
		}
		c.use(where{unit: u, function: -1, class: r.class, loads: true}, r, cause{u.index, r.line, -1})
	}
	c.values(where{unit: u, function: -1, class: -1, loads: true}, -1, -1, cause{u.index, 0, -1})
	for i, f := range u.functions {
		at := u.first + i
		if c.of(at).Construct == Hook && f.Parent < 0 && !ofHeirs[c.words.texts[f.last]] {
			c.reach(at, cause{u.index, f.Line, -1})
		}
		if u.means.ByArity && c.of(at).Construct == Lambda && f.Parent < 0 {
			c.offer(f.Arguments, f.into, offer{function: at, signature: f.signature, cause: cause{u.index, f.Line, -1}})
		}
		if u.means.ByResult {
			c.putElsewhere(u, f, at)
		}
	}
	for _, k := range u.classes {
		if !k.late {
			c.define(k.group, cause{u.index, 0, -1})
		}
	}
}

// use follows one reference.
func (c *closure) use(w where, r ref, why cause) {
	if c.wordless(w, r, why) {
		return
	}
	a := c.ask(w, r.path)
	if w.unit.means.ByArity {
		c.readFields(c.words.split(r.path), r.use, a)
		if parts := c.words.split(r.path); r.use == Handed && r.into == 0 && len(parts) > 1 && len(a.things) == 0 {
			c.giveField(parts[len(parts)-1])
		}
	}
	if r.use == Adorned {
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
	parts := c.words.split(r.path)
	if len(parts) == 2 && w.class >= 0 && r.use.calls() && w.unit.means.Linear && c.isSuper(w.unit, parts[0]) {
		c.superior(w.unit.classes[w.class].group, superCall{parts[1], why})
	}
	use, puts := c.meant(w, r)
	things := a.things
	if use.calls() { // TABLE[k](…)
		things = c.held(things)
	}
	if w.unit.means.ByResult {
		c.byName(w, parts, use, things, why)
		for _, name := range puts {
			c.store(name, things)
		}
	}
	for _, t := range things {
		if t.kind == isSlot && use.calls() { // of a table or a field
			c.run(t, why)
			continue
		}
		c.take(w, r, use, t, why)
	}
	if a.member >= 0 && use.calls() && c.words.texts[a.member] == "__subclasses__" {
		c.heirs(a)
	}
	if a.unknown {
		c.wait(place{w.unit.kin, a.member}, site{why, strengthOf(use, w.unit.means.ByResult), c.counts(r)})
		if w.unit.means.Flow {
			c.onTheWay(w, parts, why)
		}
	}
	for _, g := range a.receivers {
		c.received(w, g, a.member, parts, site{why, strengthOf(use, false), c.counts(r)})
	}
}

// heirs are the classes that a class is asked for which inherit from it: somebody has them.
func (c *closure) heirs(a answer) {
	for _, g := range a.receivers {
		c.bring(g)
	}
	if a.unknown && !c.heirsOf.any {
		c.heirsOf.any = true
		for _, g := range c.heirsOf.given {
			c.bring(g)
		}
	}
}

// giveClass is a class that a function of ours gets, which may ask it for its heirs.
func (c *closure) giveClass(g int) {
	if c.heirsOf.any {
		c.bring(g)
	} else {
		c.heirsOf.given = append(c.heirsOf.given, g)
	}
}

// bring are the classes that inherit from one.
func (c *closure) bring(g int) {
	for _, h := range c.groups[g].below {
		c.lendClass(h)
	}
}

// onTheWay are the names between the first of a path and the last, on what is not known:
// each may be a property.
func (c *closure) onTheWay(w where, parts []int, why cause) {
	for _, name := range parts[1:max(1, len(parts)-1)] {
		if !c.isPattern(name) && c.words.texts[name] != Element {
			c.wait(place{w.unit.kin, name}, site{why, reads, 0})
		}
	}
}

// wordless follows what goes by no name: a parameter, all that has a name anywhere, and
// what is called of which the number of arguments is known; false for the rest.
func (c *closure) wordless(w where, r ref, why cause) bool {
	parts := c.words.split(r.path)
	switch c.words.texts[parts[0]] {
	case Parameter:
		t, ok := c.parameter(w.function, parts[1])
		if ok && len(parts) == 3 && c.isPattern(parts[2]) {
			c.look(t, why)
			return true
		}
		if ok && len(parts) == 3 {
			t = c.each(t)
		}
		if ok && len(parts) <= 3 {
			c.take(w, r, r.use, t, why)
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
	n, of, ok := c.dynamic(w, r)
	if len(of) > 0 {
		if len(parts) > 1 {
			c.dialField(parts[len(parts)-1], n)
		}
		for _, signature := range of {
			c.dial(n, signature)
		}
	}
	return ok
}

// byName notes what a path reads and calls under names that may stand for what was stored.
func (c *closure) byName(w where, parts []int, use Use, things []thing, why cause) {
	if (use.calls() || use == Handed) && len(things) == 0 && len(parts) > 1 {
		c.askFor(parts[len(parts)-1], why)
		c.askElsewhere(parts, why)
	}
	c.mention(parts, why)
	if last := len(parts) - 1; last > 0 && c.words.texts[parts[last]] == Element {
		c.anyOf(w, parts[:last], why)
	}
}

// received is a member that is used of an object of a class, or of one that inherits.
func (c *closure) received(w where, g, member int, parts []int, s site) {
	c.touch(g)
	if !w.unit.means.Structural { // there what inherits has its own for itself alone
		c.watch(g, member, s)
	}
	if c.isPattern(member) {
		c.answer(g, member, s)
	}
	if s.how == reads || len(c.member(g, member)) > 0 || strings.HasSuffix(c.words.texts[member], "."+Element) {
		return
	}
	if !c.isPattern(member) && c.delegates(g) {
		c.wait(place{w.unit.kin, member}, s)
	}
	switch {
	case w.unit.means.Structural:
		c.face(g, member, s)
	case len(c.ofMeta(g, member)) > 0:
		c.instantiate(g, s.cause) // a method of the class's class makes objects of it
	case w.unit.means.Lends && !selfWords[c.words.texts[parts[0]]] && !c.isSuper(w.unit, parts[0]):
		c.lend(g, s.cause) // it has the method from others, who may call its own
	}
}

// delegates tells a class that asks another object for what it has not.
func (c *closure) delegates(g int) bool {
	return slices.ContainsFunc(c.methods(g, "__getattr__"), func(f int) bool {
		for _, r := range c.of(f).runs {
			if path := c.words.split(r.path); len(path) == 1 && c.words.texts[path[0]] == "getattr" {
				return true
			}
		}
		return false
	})
}

// superior is a call of what comes after a class: of those present that inherit from it,
// and of those to come.
func (c *closure) superior(g int, s superCall) {
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
func (c *closure) after(h, g int, s superCall) {
	line := c.groups[h].line
	for _, a := range line[slices.Index(line, g)+1:] {
		found := c.members[place{a, s.name}]
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
func (c *closure) lend(g int, why cause) {
	line := c.groups[g].line
	if !slices.ContainsFunc(line, func(a int) bool { return slices.ContainsFunc(c.groups[a].foreign, calls) }) {
		return
	}
	private := "_"
	if c.groups[g].unit.means.Protected {
		private = "__"
	}
	for _, a := range line {
		for _, f := range c.groups[a].members {
			if !strings.HasPrefix(c.words.texts[c.of(f).last], private) {
				c.reach(f, why)
			}
		}
		for _, name := range c.groups[a].bound { // parameter_class = Parameter: theirs make it
			for _, t := range c.within(a, name) {
				if t.kind == isClass {
					c.instantiate(t.id, why)
				}
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
			out = append(out[:len(out):len(out)], c.step(t, c.words.known(Element))...)
		}
	}
	return out
}

// askFor is a member called on what is not known to have it: one inside of a function
// that was reached may have been put there.
func (c *closure) askFor(name int, why cause) {
	if _, ok := c.asked[name]; ok {
		return
	}
	c.asked[name] = why
	for _, f := range c.lying[name] {
		c.reach(f, why)
	}
}

// begin keeps a function and takes up what it runs itself.
func (c *closure) begin(f int, why cause) {
	if c.reached[f] {
		return
	}
	c.reached[f], c.causes[f] = true, why
	c.queue = append(c.queue, f)
}

// reach is begin, with what is inside of the function: what a kept one makes and gives
// away may run under any name.
func (c *closure) reach(f int, why cause) {
	if !c.freed[f] {
		c.freed[f] = true
		if c.reached[f] {
			c.queue = append(c.queue, f) // once more
		}
	}
	c.begin(f, why)
	if c.of(f).unit.means.Flow {
		c.open(c.result(f), why)
	}
}

// drain follows what was reached.
func (c *closure) drain(ctx context.Context) {
	for len(c.queue) > 0 && ctx.Err() == nil {
		f := c.queue[0]
		c.queue = c.queue[1:]
		at := c.of(f)
		u := c.of(f).unit
		why := c.causes[f]
		if why.first < 0 {
			why.first = f
		}
		for _, r := range at.runs {
			c.use(where{unit: u, function: f, class: r.class}, r, why)
		}
		c.values(where{unit: u, function: f, class: at.Class}, f-u.first, -1, why)
		for _, r := range at.wrapped {
			for _, t := range c.ask(where{unit: u, function: f, class: r.class, loads: true}, r.path).things { // where the decorator stands
				if t.kind == isFunction {
					c.open(c.result(t.id), why)
				}
			}
		}
		if at.inner {
			c.inner(u, f-u.first, why, c.freed[f])
		}
		for _, k := range u.classes {
			if k.late && at.Span.Holds(k.span) {
				c.define(k.group, why)
			}
		}
	}
}

func (c *closure) inner(u *unit, local int, why cause, freed bool) {
	for i := local + 1; i < len(u.functions); i++ {
		f, at := u.functions[i], u.first+i
		switch {
		case f.Parent != local || u.means.LocalClasses && f.group >= 0:
		case u.means.Flow:
			if c.replaced(at) {
				c.reach(at, why)
			}
		case freed:
			c.reach(at, why)
		default:
			c.lie(at, why)
		}
		if f.Span.Start >= u.functions[local].Span.End {
			return
		}
	}
}

// lie notes what waits to be called by its name.
func (c *closure) lie(f int, why cause) {
	name := c.of(f).last
	if full := c.of(f).Name; strings.HasSuffix(full, "]") {
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

// replaced tells a function that goes to a decorator that is not known.
func (c *closure) replaced(f int) bool {
	u := c.of(f).unit
	at := c.of(f)
	w := where{unit: u, function: u.first + at.Parent}
	for _, r := range at.wrapped {
		w.class = r.class
		if a := c.ask(w, r.path); len(a.things) == 0 && a.member >= 0 {
			return true
		}
	}
	return false
}

// reason is why a function runs at load time, for the manifest.
func (c *closure) reason(f int) string {
	why := c.causes[f]
	at := c.units[why.unit].path
	if why.line > 0 {
		at = fmt.Sprintf("%s:%d", at, why.line)
	}
	if why.first >= 0 && why.first != f {
		return fmt.Sprintf("runs when %s is loaded, by %s", at, c.of(why.first).Name)
	}
	return fmt.Sprintf("runs when %s is loaded", at)
}
