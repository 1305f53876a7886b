package mask

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Value is a function without a name: it runs when something is called of which only the
// number of arguments is known, see Dynamic.
type Value struct {
	Function int       // that makes it, -1 for what is loaded
	Within   int       // index of the value whose code makes it, -1
	Takes    int       // how many arguments, -1 where that varies
	Into     *Argument // the call that gets it; nil where it is put, bound or given back
	Runs     []Ref
}

// Dynamic begins the path of a call of something that has no name of its own (a local, a
// parameter, an element, what a call gave), with this many arguments; -1 for any number.
// A name behind it is that of the field which is called; Field and a name, or a package and
// a name, what may be a variable.
func Dynamic(arguments int) string { return "(" + strconv.Itoa(arguments) + ")" }

// Field begins the path of an Argument that is no call's: the variable, or the field of an
// object, by its name, that a function is put into. It may run once that is called or read.
const Field = "."

// value is a Value in numbers.
type value struct {
	function, within, takes int32
	into                    int32 // of calls, 0 for none
	runs                    span  // of refs
}

// offer is a function that runs when something is called with as many arguments as it has.
type offer struct {
	takes    int32
	function int32 // -1: the value of the unit
	unit     *unit
	value    int32
	cause    cause
}

// anyNumber is of those whose number of arguments varies.
const anyNumber = -1

// dynamic is the number of arguments of a call that has no name, where a path is one. A
// field counts where one of its name may be a function.
func (c *closure) dynamic(w where, path int32) (n int32, runs, ok bool) {
	parts := c.words.split[path]
	text := c.words.texts[parts[0]]
	if len(text) < 3 || text[0] != '(' {
		return 0, false, false
	}
	number, err := strconv.Atoi(strings.Trim(text, "()"))
	return int32(number), err == nil && (len(parts) == 1 || c.callable[place{w.unit.kin, parts[len(parts)-1]}] && !c.declared(w, parts[1:])), true
}

// declared tells a name, of this package or another, that is one of a function or a type.
func (c *closure) declared(w where, name []int32) bool {
	if len(name) < 2 {
		return false
	}
	path := c.words.texts[name[1]]
	if of := c.words.texts[name[0]]; of != Field {
		path = of + "." + path
	}
	things := c.ask(w, c.words.path(strings.Split(path, "."))).things
	return slices.ContainsFunc(things, func(t thing) bool { return t.kind == isFunction && c.construct(t.id) != Lambda || t.kind == isClass })
}

// dial runs what was offered for such a call, and what will be.
func (c *closure) dial(n int32) {
	if c.dialled[n] {
		return
	}
	c.dialled[n] = true
	for _, takes := range slices.Sorted(maps.Keys(c.offers)) {
		if n == anyNumber || takes == n || takes == anyNumber {
			offers := c.offers[takes]
			delete(c.offers, takes)
			for _, o := range offers {
				c.perform(o)
			}
		}
	}
}

// offer runs a function at once, where something was called that it may be. What is put
// into a field waits for the name.
func (c *closure) offer(takes, into int32, o offer) {
	o.takes = takes
	if into > 0 {
		if parts := c.words.split[c.calls[into-1].path]; c.words.texts[parts[0]] == Field {
			c.laid[parts[1]] = append(c.laid[parts[1]], o)
			c.offerField(parts[1], o)
			return
		}
	}
	if c.dialled[takes] || c.dialled[anyNumber] || takes == anyNumber && len(c.dialled) > 0 {
		c.perform(o)
		return
	}
	c.offers[takes] = append(c.offers[takes], o)
}

// readFields are those of a path: what is a method, or of others, is none, and for one that
// is called there is a Dynamic path too.
func (c *closure) readFields(parts []int32, use Use, a answer) {
	for i, name := range parts[min(1, len(parts)-1):] {
		switch last := i >= len(parts)-2; {
		case last && use.calls(), last && slices.ContainsFunc(a.things, func(t thing) bool { return t.kind == isFunction }):
		default:
			c.readField(name)
		}
	}
}

// dialField is a call of a field with a number of arguments.
func (c *closure) dialField(name, n int32) {
	at := place{name, n}
	if c.rung[at] {
		return
	}
	c.rung[at], c.rung[place{name, anyNumber}] = true, true
	waiting := c.unread[name]
	delete(c.unread, name)
	for _, o := range waiting {
		c.offerField(name, o)
	}
}

// offerField keeps a function that is put into a field until one of that name is called
// with as many arguments, or read.
func (c *closure) offerField(name int32, o offer) {
	switch {
	case c.given[name]:
		c.perform(o)
	case c.fields[name]:
		c.offer(o.takes, 0, o)
	case c.rung[place{name, o.takes}]:
		c.perform(o)
	default:
		c.unread[name] = append(c.unread[name], o)
	}
}

// giveField is a field that others get: they may call what was put under its name.
func (c *closure) giveField(name int32) {
	if c.given[name] {
		return
	}
	c.given[name] = true
	for _, o := range c.laid[name] {
		c.perform(o)
	}
	delete(c.laid, name)
}

// readField is a name that is read: what was put under it is there for all calls.
func (c *closure) readField(name int32) {
	if c.fields[name] {
		return
	}
	c.fields[name] = true
	waiting := c.unread[name]
	delete(c.unread, name)
	for _, o := range waiting {
		c.offer(o.takes, 0, o)
	}
}

func (c *closure) perform(o offer) {
	if o.function >= 0 {
		c.reach(o.function, o.cause)
		return
	}
	v := &o.unit.values[o.value]
	w := where{unit: o.unit, function: v.function, loads: v.function < 0}
	if v.function >= 0 {
		w.function += o.unit.first
	}
	for _, r := range o.unit.refs[v.runs.start:v.runs.end] {
		w.class = r.class()
		c.use(w, r, o.cause)
	}
	c.values(w, v.function, o.value, o.cause)
}

// values offers what a function, or a value in it, makes.
func (c *closure) values(w where, function, within int32, why cause) {
	for _, i := range w.unit.makes[function] {
		v := &w.unit.values[i]
		if v.within != within {
			continue
		}
		o := offer{function: -1, unit: w.unit, value: i, cause: why}
		if v.into > 0 && !c.ours(w, v.into) {
			c.perform(o)
			continue
		}
		c.offer(v.takes, v.into, o)
	}
}

// ours tells a call that is one of functions of the tree, or a conversion to its types.
func (c *closure) ours(w where, call int32) bool {
	if c.words.texts[c.words.split[c.calls[call-1].path][0]] == Field {
		return true
	}
	things := c.ask(w, c.calls[call-1].path).things
	for _, t := range things {
		if t.kind != isFunction && t.kind != isClass {
			return false
		}
	}
	return len(things) > 0
}

// lends offers the functions that a call of the tree gets, and those that are put, bound or
// given back; false where there are none.
func (c *closure) lends(w where, r ref, things []thing, why cause) bool {
	if !w.unit.means.ByArity || r.use() != Named && (r.use() != Handed || r.into == 0 || !c.ours(w, r.into)) {
		return false
	}
	for _, t := range things {
		if t.kind != isFunction {
			return false
		}
	}
	for _, t := range things {
		c.offer(c.of(t.id).takes, r.into, offer{function: t.id, cause: why})
	}
	return true
}

// ran is what a function runs, with the values that it makes; -1 for values that are
// made when the file is loaded.
func (u *unit) ran(function int32) []ref {
	var out []ref
	if function >= 0 {
		at := u.functions[function].runs
		if len(u.makes[function]) == 0 {
			return u.refs[at.start:at.end]
		}
		out = append(out, u.refs[at.start:at.end]...)
	}
	for _, i := range u.makes[function] {
		at := u.values[i].runs
		out = append(out, u.refs[at.start:at.end]...)
	}
	return out
}
