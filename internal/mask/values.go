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
// A name behind it is that of the field which is called.
func Dynamic(arguments int) string { return "(" + strconv.Itoa(arguments) + ")" }

// value is a Value in numbers.
type value struct {
	function, within, takes int32
	into                    int32 // of calls, 0 for none
	runs                    span  // of refs
}

// offer is a function that runs when something is called with as many arguments as it has.
type offer struct {
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
	return int32(number), err == nil && (len(parts) == 1 || c.callable[place{w.unit.kin, parts[1]}]), true
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

// offer runs a function at once, where something was called that it may be.
func (c *closure) offer(takes int32, o offer) {
	if c.dialled[takes] || c.dialled[anyNumber] || takes == anyNumber && len(c.dialled) > 0 {
		c.perform(o)
		return
	}
	c.offers[takes] = append(c.offers[takes], o)
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
		c.offer(v.takes, o)
	}
}

// ours tells a call that is one of functions of the tree, or a conversion to its types.
func (c *closure) ours(w where, call int32) bool {
	things := c.ask(w, c.calls[call-1].path).things
	for _, t := range things {
		if t.kind != isFunction && t.kind != isClass {
			return false
		}
	}
	return len(things) > 0
}

// lends offers the functions that a call of the tree gets; false where it gets none.
func (c *closure) lends(w where, r ref, things []thing, why cause) bool {
	if !w.unit.means.ByArity || r.use() != Handed || r.into == 0 || !c.ours(w, r.into) {
		return false
	}
	for _, t := range things {
		if t.kind != isFunction {
			return false
		}
	}
	for _, t := range things {
		c.offer(c.of(t.id).takes, offer{function: t.id, cause: why})
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
