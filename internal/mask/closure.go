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
	patterns []place         // of those waiting, names of which the beginning is known
	names    map[int][]int   // of watched, by class
	lent     map[int]bool    // classes that somebody has
	singles  map[place][]int // what those answer to, by family and name
	seen     []bool          // groups that are present
	all      []int           // those, in order
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
	case u == Named || u == Inherited || u == Handed && unbound:
		return reads
	case u == Bound:
		return binds
	}
	return called
}

// closure is not whole where ctx ends it.
func (p *project) closure(ctx context.Context) *closure {
	c := &closure{
		project: p, causes: make([]cause, len(p.functions)), reached: make([]bool, len(p.functions)), freed: make([]bool, len(p.functions)),
		made: make([]bool, len(p.groups)), seen: make([]bool, len(p.groups)), touched: make([]bool, len(p.groups)),
		asked: map[int]cause{}, lying: map[int][]int{}, placed: map[place][]int{}, sought: map[place]cause{}, still: map[place]stillness{},
		waiting: map[place]site{}, watched: map[place]site{}, names: map[int][]int{}, stored: map[int][]thing{}, used: map[int]cause{}, lent: map[int]bool{}, singles: map[place][]int{},
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
	for i, f := range u.functions {
		at := u.first + i
		if c.of(at).Construct == Hook && f.Parent < 0 && !ofHeirs[c.words.texts[f.last]] {
			c.reach(at, cause{u.index, f.Line, -1})
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
	a := c.ask(w, r.path)
	for _, g := range a.getters {
		c.reach(g, why)
	}
	for _, f := range a.results {
		c.reach(f, why)
	}
	use, puts := c.meant(w, r)
	if w.unit.means.ByResult {
		c.byName(w, c.words.split(r.path), use, a.things, why)
		for _, name := range puts {
			c.store(name, a.things)
		}
	}
	for _, t := range a.things {
		c.take(w, use, t, why)
	}
	if a.unknown {
		c.wait(place{w.unit.kin, a.member}, site{why, strengthOf(use, w.unit.means.ByResult)})
	}
	for _, g := range a.receivers {
		c.received(g, a.member, site{why, strengthOf(use, false)})
	}
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
func (c *closure) received(g, member int, s site) {
	c.touch(g)
	c.watch(g, member, s)
	if c.isPattern(member) {
		c.answer(g, member, s)
	}
}

// lend is an object that is given away, of a class that inherits from one of others:
// they may call what it has under names that stand nowhere here.
func (c *closure) lend(g int, why cause) {
	line := c.groups[g].line
	if !slices.ContainsFunc(line, func(a int) bool { return slices.ContainsFunc(c.groups[a].foreign, calls) }) {
		return
	}
	for _, a := range line {
		for _, f := range c.groups[a].members {
			if !strings.HasPrefix(c.words.texts[c.of(f).last], "_") {
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
