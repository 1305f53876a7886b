package mask

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Value is a function without a name: it runs when something is called of which only the
// number of arguments, or the type, is known, see Dynamic.
type Value struct {
	Function  int       // that makes it, -1 for what is loaded
	Within    int       // index of the value whose code makes it, -1
	Takes     int       // how many arguments, -1 where that varies
	Signature []string  // its type, nil where that is not known
	Into      *Argument // the call that gets it; nil where it is put, bound or given back
	Runs      []Ref
}

// Dynamic begins the path of a call of something that has no name of its own (a local, a
// parameter, an element, what a call gave), with this many arguments; -1 for any number.
// A name behind it is that of the field which is called; Field and a name, or a package and
// a name, what may be a variable. The Into of such a Ref has the type of what is called.
func Dynamic(arguments int) string { return "(" + strconv.Itoa(arguments) + ")" }

// Field begins the path of an Argument that is no call's: the variable, or the field of an
// object, by its name, that a function is put into. It may run once that is called or read.
const Field = "."

// Gives stands in the type of a function, its Signature, between the types of its arguments
// and of what it gives. A type is one word, alike wherever it is written; Any is, or is in,
// one that may be any. Rest stands before the type of all further arguments.
const (
	Gives = "|"
	Any   = "*"
	Rest  = "..."
)

// unknown is the path of a type that nobody knows.
const unknown = -1

// value is a Value in numbers.
type value struct {
	function, within, takes int
	into                    int // of calls, 0 for none
	signature               int // a path
	runs                    []ref
}

// callable is a Callable in numbers.
type callable struct{ name, of int }

// offer is a function that runs when something is called with as many arguments as it has,
// or is of its type.
type offer struct {
	takes     int
	signature int
	function  int // -1: the value of the unit
	unit      *unit
	value     int
	cause     cause
}

// anyNumber is of those whose number of arguments varies.
const anyNumber = -1

// indexCallables notes the types of the functions that lie under the names of a file.
func (p *project) indexCallables(u *unit) {
	for _, c := range u.callables {
		at := place{u.kin, c.name}
		for _, of := range p.signatures(where{unit: u, function: -1, class: -1, loads: true}, c.of) {
			if !slices.Contains(p.callable[at], of) {
				p.callable[at] = append(p.callable[at], of)
			}
		}
	}
}

// signatures are those of a type by its path; one that is unknown where it is not of the
// tree, and none where no function is of it.
func (p *project) signatures(w where, of int) []int {
	if of == unknown || slices.Contains(p.words.split(of), p.words.id(Gives)) {
		return []int{of}
	}
	var out []int
	found := false
	for _, t := range p.ask(w, of).things {
		if t.kind != isClass {
			continue
		}
		for _, part := range p.groups[t.id].parts {
			if k := p.classes[part]; k.span.End > 0 { // else only methods stand there
				found = true
				if !k.solid {
					out = append(out, k.signature)
				}
			}
		}
	}
	if !found {
		return []int{unknown}
	}
	return out
}

// dynamic is the number of arguments of a call that has no name, where a path is one, and
// what the types of the called may be. A field counts where one of its name may be a
// function.
func (c *closure) dynamic(w where, r ref) (n int, of []int, ok bool) {
	parts := c.words.split(r.path)
	text := c.words.texts[parts[0]]
	if len(text) < 3 || text[0] != '(' {
		return 0, nil, false
	}
	number, err := strconv.Atoi(strings.Trim(text, "()"))
	switch {
	case err != nil || len(parts) > 1 && c.declared(w, parts[1:]):
	case r.into > 0:
		of = c.signatures(w, c.calls[r.into-1].path)
	case len(parts) == 1:
		of = []int{unknown}
	default:
		of = c.callable[place{w.unit.kin, parts[len(parts)-1]}]
	}
	return number, of, true
}

// declared tells a name, of this package or another, that is one of a function or a type.
func (c *closure) declared(w where, name []int) bool {
	if len(name) < 2 {
		return false
	}
	path := c.words.texts[name[1]]
	if of := c.words.texts[name[0]]; of != Field {
		path = of + "." + path
	}
	things := c.ask(w, c.words.path(strings.Split(path, "."))).things
	return slices.ContainsFunc(things, func(t thing) bool { return t.kind == isFunction && c.of(t.id).Construct != Lambda || t.kind == isClass })
}

// dial runs what was offered for such a call, and what will be.
func (c *closure) dial(n, signature int) {
	if c.dialled[n] || signature != unknown && c.ringing[signature] {
		return
	}
	if signature == unknown {
		c.dialled[n] = true
	} else {
		c.ringing[signature] = true
		n = c.number(signature)
	}
	for _, takes := range slices.Sorted(maps.Keys(c.offers)) {
		if !sameNumber(n, takes) {
			continue
		}
		var run, rest []offer
		for _, o := range c.offers[takes] {
			if signature == unknown || c.alike(signature, o.signature) {
				run = append(run, o)
			} else {
				rest = append(rest, o)
			}
		}
		c.offers[takes] = rest
		for _, o := range run {
			c.perform(o)
		}
	}
}

// number is how many arguments functions of a type take.
func (p *project) number(signature int) int {
	parts := p.words.split(signature)
	all := slices.Index(parts, p.words.id(Gives))
	if all > 0 && strings.HasPrefix(p.words.texts[parts[all-1]], Rest) {
		return anyNumber
	}
	return all
}

func sameNumber(a, b int) bool { return a == b || a == anyNumber || b == anyNumber }

// alike tells types of functions that may be one.
func (p *project) alike(a, b int) bool {
	if a == b || a == unknown || b == unknown {
		return true
	}
	one, other := p.words.split(a), p.words.split(b)
	if len(one) != len(other) {
		return false
	}
	for i, word := range one {
		if word != other[i] && !p.open(word) && !p.open(other[i]) {
			return false
		}
	}
	return true
}

// open tells the word of a type that may be another: there is a second name for it, or
// for something in it.
func (p *project) open(word int) bool {
	text := p.words.texts[word]
	open, known := p.opened[word]
	if !known {
		open = strings.Contains(text, Any) || slices.ContainsFunc(strings.FieldsFunc(text, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }), func(name string) bool {
			id, named := p.words.find(name)
			return named && p.aliases[id]
		})
		p.opened[word] = open
	}
	return open
}

// rang reports whether something was called that a function may be.
func (c *closure) rang(o offer) bool {
	if c.dialled[o.takes] || c.dialled[anyNumber] || o.takes == anyNumber && len(c.dialled) > 0 || c.ringing[o.signature] {
		return true
	}
	for of := range c.ringing {
		if c.alike(of, o.signature) {
			return true
		}
	}
	return false
}

// offer runs a function at once, where something was called that it may be. What is put
// into a field waits for the name.
func (c *closure) offer(takes, into int, o offer) {
	o.takes = takes
	if into > 0 {
		if parts := c.words.split(c.calls[into-1].path); c.words.texts[parts[0]] == Field {
			c.laid[parts[1]] = append(c.laid[parts[1]], o)
			c.offerField(parts[1], o)
			return
		}
	}
	if c.rang(o) {
		c.perform(o)
		return
	}
	c.offers[takes] = append(c.offers[takes], o)
}

// readFields are those of a path: what is a method, or of others, is none, and for one that
// is called there is a Dynamic path too.
func (c *closure) readFields(parts []int, use Use, a answer) {
	for i, name := range parts[min(1, len(parts)-1):] {
		switch last := i >= len(parts)-2; {
		case last && use.calls(), last && slices.ContainsFunc(a.things, func(t thing) bool { return t.kind == isFunction }):
		default:
			c.readField(name)
		}
	}
}

// dialField is a call of a field with a number of arguments.
func (c *closure) dialField(name, n int) {
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
func (c *closure) offerField(name int, o offer) {
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
func (c *closure) giveField(name int) {
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
func (c *closure) readField(name int) {
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
	for _, r := range v.runs {
		w.class = r.class
		c.use(w, r, o.cause)
	}
	c.values(w, v.function, o.value, o.cause)
}

// values offers what a function, or a value in it, makes.
func (c *closure) values(w where, function, within int, why cause) {
	for _, i := range w.unit.makes[function] {
		v := &w.unit.values[i]
		if v.within != within {
			continue
		}
		o := offer{function: -1, signature: v.signature, unit: w.unit, value: i, cause: why}
		if v.into > 0 && !c.ours(w, v.into) {
			c.perform(o)
			continue
		}
		c.offer(v.takes, v.into, o)
	}
}

// ours tells a call that is one of functions of the tree, or a conversion to its types.
func (c *closure) ours(w where, call int) bool {
	if c.words.texts[c.words.split(c.calls[call-1].path)[0]] == Field {
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
	if !w.unit.means.ByArity || r.use != Named && (r.use != Handed || r.into == 0 || !c.ours(w, r.into)) {
		return false
	}
	for _, t := range things {
		if t.kind != isFunction {
			return false
		}
	}
	for _, t := range things {
		f := c.of(t.id)
		c.offer(f.Arguments, r.into, offer{function: t.id, signature: f.signature, cause: why})
		if f.group >= 0 {
			c.offer(c.unbound(f, r.into, offer{function: t.id, cause: why}))
		}
	}
	return true
}

// unbound is a method that is taken from its type, and gets its receiver with a call.
func (c *closure) unbound(f *function, into int, o offer) (int, int, offer) {
	o.signature = unknown
	if f.signature != unknown {
		o.signature = c.words.join([]int{c.words.id(Any)}, c.words.split(f.signature))
	}
	if f.Arguments == anyNumber {
		return anyNumber, into, o
	}
	return f.Arguments + 1, into, o
}

// ran is what a function runs, with the values that it makes; -1 for values that are
// made when the file is loaded.
func (u *unit) ran(function int) []ref {
	var all []ref
	if function >= 0 {
		all = append(all, u.functions[function].runs...)
	}
	for _, i := range u.makes[function] {
		all = append(all, u.values[i].runs...)
	}
	return all
}
