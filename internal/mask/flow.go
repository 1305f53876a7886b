package mask

import (
	"slices"
	"strconv"
	"strings"
)

// result is the word for what a function gives, in the place of a parameter's name.
const result = "()"

// slot is a parameter, or what a function gives: what flows into it is called when it is
// opened, and not before.
type slot struct {
	values  []thing
	weak    []bool // by value: that it goes somewhere does not run it, a call does
	open    bool
	called  bool    // where it was opened, and nowhere else
	applied bool    // its functions run, and what they give is not known to be called
	looked  bool    // all properties of what it holds are read
	each    bool    // a function goes through what it holds
	adorn   []thing // definitions that it decorates
	why     cause
}

// result is the slot of what a function gives.
func (c *closure) result(f int) thing {
	return thing{kind: isSlot, id: f, unit: c.words.id(result)}
}

func (c *closure) slot(t thing) *slot {
	key := place{t.id, t.unit}
	if c.slots[key] == nil {
		c.slots[key] = &slot{}
	}
	return c.slots[key]
}

// parameter is the slot of the nearest parameter of a name.
func (c *closure) parameter(f, name int) (thing, bool) {
	for f >= 0 {
		all := c.parameters(f)
		if slices.Contains(all, name) {
			return thing{kind: isSlot, id: f, unit: name}, true
		}
		if again, ok := c.words.find("!" + c.words.texts[name]); ok && slices.Contains(all, again) {
			return thing{kind: isSlot, id: f, unit: name}, true
		}
		of := c.of(f)
		if of.Parent < 0 {
			break
		}
		f = c.of(f).unit.first + of.Parent
	}
	return thing{}, false
}

// parameters are the words for those of a function.
func (p *project) parameters(f int) []int {
	return p.of(f).parameters
}

// put is a value that gets into a slot. A class may be asked for its members there.
func (c *closure) put(into, t thing, why cause) { c.place(into, t, false, why) }

func (c *closure) place(into, t thing, weak bool, why cause) {
	s := c.slot(into)
	if at := slices.Index(s.values, t); into == t || at >= 0 && (weak || !s.weak[at]) {
		return
	}
	s.values, s.weak = append(s.values, t), append(s.weak, weak)
	if (t.kind == isClass || t.kind == isInstance) && !weak {
		c.present(t.id)
	}
	if t.kind == isClass {
		c.giveClass(t.id)
	}
	for _, one := range s.adorn {
		c.adorn(t, one, why)
	}
	if s.each {
		c.placeEach(c.each(into), t, why)
	}
	if s.looked {
		c.look(t, why)
	}
	switch {
	case s.called:
		c.run(t, why)
	case s.open && !weak:
		c.hand(t, why)
	case s.applied && !weak:
		c.apply(t, why)
	}
}

// apply is a value that is called on a definition.
func (c *closure) apply(t thing, why cause) {
	switch t.kind {
	case isFunction:
		c.begin(t.id, why)
	case isInstance:
		c.call(t.id, why)
	case isSlot:
		s := c.slot(t)
		if s.applied {
			return
		}
		s.applied = true
		for i, v := range s.values {
			if !s.weak[i] {
				c.apply(v, why)
			}
		}
	}
}

// look reads all properties of a value.
func (c *closure) look(t thing, why cause) {
	switch t.kind {
	case isInstance:
		c.matching(t.id, "", site{why, reads, 0})
	case isSlot:
		s := c.slot(t)
		if s.looked {
			return
		}
		s.looked = true
		for _, v := range s.values {
			c.look(v, why)
		}
	}
}

// each is the slot of what a parameter's value holds, where a function goes through it;
// what that holds in turn is the same.
func (c *closure) each(t thing) thing {
	if strings.HasSuffix(c.words.texts[t.unit], Element) {
		return t
	}
	out := thing{kind: isSlot, id: t.id, unit: c.words.id(c.words.texts[t.unit] + Element)}
	if s := c.slot(t); !s.each {
		s.each = true
		for _, v := range s.values {
			c.placeEach(out, v, s.why)
		}
	}
	return out
}

// placeEach are the things of a table that gets into a parameter.
func (c *closure) placeEach(each, t thing, why cause) {
	switch t.kind {
	case isTable:
		for _, one := range c.step(t, c.words.known(Element)) {
			c.place(each, one, true, why)
		}
	case isSlot:
		c.place(each, c.each(t), false, why)
	case isFunction: // nobody goes through one: it is what a table was added to
		c.place(each, t, true, why)
	}
}

// open is a slot whose values go where nobody follows them, or are called.
func (c *closure) open(t thing, why cause) {
	s := c.slot(t)
	if s.open {
		return
	}
	s.open, s.why = true, why
	for i, v := range s.values {
		if !s.weak[i] {
			c.hand(v, why)
		}
	}
}

// run is a value that is called.
func (c *closure) run(t thing, why cause) {
	if t.kind != isSlot {
		c.hand(t, why)
		return
	}
	s := c.slot(t)
	if s.called {
		return
	}
	s.open, s.called, s.why = true, true, why
	for _, v := range s.values {
		c.run(v, why)
	}
}

// adorn is what gets into the first parameter of a value that is called.
func (c *closure) adorn(by, t thing, why cause) {
	switch by.kind {
	case isFunction:
		if len(c.of(by.id).wrapped) == 0 {
			c.bindTo(by.id, "0", t, true, why)
		}
	case isClass:
		for _, f := range c.makers(by.id) {
			c.bindTo(f, "0", t, true, why)
		}
	case isInstance:
		for _, f := range c.methods(by.id, "__call__") {
			c.bindTo(f, "0", t, true, why)
		}
	case isSlot:
		s := c.slot(by)
		if slices.Contains(s.adorn, t) {
			return
		}
		s.adorn = append(s.adorn, t)
		for _, v := range s.values {
			c.adorn(v, t, why)
		}
	}
}

// adorned is a definition with its decorator, which has a class in its hands.
func (c *closure) adorned(w where, r ref, t thing, why cause) {
	call := c.calls[r.into-1]
	to := c.ask(w, call.path).things
	if t.kind == isClass && len(to) > 0 {
		c.lendClass(t.id)
	}
	if !call.of {
		for _, by := range to {
			c.adorn(by, t, why)
		}
		return
	}
	for _, by := range to {
		switch by.kind {
		case isFunction:
			c.adorn(c.result(by.id), t, why)
		case isClass:
			c.adorn(thing{kind: isInstance, id: by.id}, t, why)
		}
	}
}

// hand is a value that may be called.
func (c *closure) hand(t thing, why cause) {
	switch t.kind {
	case isFunction:
		c.reach(t.id, why)
	case isClass:
		c.instantiate(t.id, why)
		if c.groups[t.id].unit.means.Lends {
			c.lend(t.id, why)
		}
		if c.isMetaclass(t.id) { // and classes, which are called
			c.method(t.id, "__call__", why)
		}
	case isInstance:
		c.call(t.id, why)
		c.lend(t.id, why)
	case isSlot:
		c.open(t, why)
	case isTable:
		c.openTable(t, why)
	case isMember:
		c.wait(place{c.units[t.unit].kin, t.id}, site{why, called, 0})
	}
}

// openTable is a table that goes where nobody follows it: what got into it by way of a
// parameter may be called there.
func (c *closure) openTable(t thing, why cause) {
	for _, one := range c.step(t, c.words.known(Element)) {
		if one.kind == isSlot && one.unit != c.words.known(result) {
			c.open(one, why)
		}
	}
}

// handEach is a table that others get: they may call the functions in it.
func (c *closure) handEach(t thing, why cause) {
	for _, one := range c.step(t, c.words.known(Element)) {
		if one.kind == isFunction {
			c.hand(one, why)
		}
	}
}

// ofOthers tells a function that is known to be none of the tree's.
func (c *closure) ofOthers(w where, path int) bool {
	return slices.ContainsFunc(c.ask(w, path).things, func(t thing) bool { return t.kind == isForeign && t.id != ofLiterals })
}

// call is an object that is called.
func (c *closure) call(g int, why cause) {
	for _, name := range []string{"__call__", "call", "__invoke"} {
		c.method(g, name, why)
	}
}

// take is one thing in use.
func (c *closure) take(w where, r ref, how Use, t thing, why cause) {
	switch {
	case t.kind == isResult:
		if how.calls() || how == Handed || how == Inherited {
			c.reach(t.id, why)
		}
	case how == Bound && t.kind == isFunction:
		c.begin(t.id, why)
	case t.kind == isFunction && c.isProperty(t.id) && (len(c.words.split(r.path)) > 1 || !w.unit.means.Flow): // by its name alone it is no value of an object
		c.reach(t.id, why)
	case how == Handed, how == Named && r.into > 0 && w.unit.means.Flow:
		c.pass(w, r, how, t, why)
	case how == Returned && w.function >= 0:
		c.put(c.result(w.function), t, why)
	case how == Returned:
		c.hand(t, why)
	case how.calls():
		c.called(w, how, t, why)
	case t.kind == isClass && w.unit.means.OpenClasses && how == Named: // who has it may call what it answers
		c.lendClass(t.id)
	case c.escapes(t):
		c.hand(t, why)
	}
}

// escapes tells what runs under a name that nobody follows: a parameter, what is defined
// inside of a function.
func (c *closure) escapes(t thing) bool {
	switch t.kind {
	case isSlot:
		return t.unit != c.words.known(result)
	case isFunction:
		return c.of(t.id).Parent >= 0 && c.of(t.id).unit.means.Flow
	case isClass:
		parts := c.groups[t.id].parts
		return len(parts) > 0 && c.groups[t.id].unit.classes[c.classes[parts[0]].local].late
	}
	return false
}

// called is one thing that is called, by what becomes of what it gives.
func (c *closure) called(w where, how Use, t thing, why cause) {
	switch {
	case t.kind == isClass:
		c.instantiate(t.id, why)
		if how == Relayed && w.function >= 0 {
			c.put(c.result(w.function), thing{kind: isInstance, id: t.id}, why)
		}
	case t.kind == isInstance:
		c.call(t.id, why)
	case t.kind == isFunction && how != Called:
		c.begin(t.id, why)
		gives := c.result(t.id)
		switch {
		case how == Relayed && w.function >= 0:
			c.put(c.result(w.function), gives, why)
		case how == Applied:
			c.apply(gives, why)
		}
	case t.kind == isSlot && t.id == w.function: // not by what takes the place of what it got
		c.run(t, why)
	default:
		c.hand(t, why)
	}
}

// pass is an argument: it gets into a parameter where what is called is known.
func (c *closure) pass(w where, r ref, how Use, t thing, why cause) {
	var to []int
	known := false
	if r.into > 0 && w.unit.means.Flow {
		to, known = c.callees(w, c.calls[r.into-1].path)
	}
	if !known {
		if how == Handed || c.escapes(t) {
			c.hand(t, why)
		}
		if t.kind == isTable && w.unit.means.Flow && r.into > 0 && c.ofOthers(w, c.calls[r.into-1].path) {
			c.handEach(t, why)
		}
		return
	}
	if t.kind == isModule { // who has it may ask it for what it holds
		c.whole(t.id, why)
		return
	}
	for _, f := range to {
		c.bind(f, c.words.texts[c.calls[r.into-1].as], t, why)
	}
}

// whole is a module that is handed to a function of ours: its public functions.
func (c *closure) whole(m int, why cause) {
	for _, at := range c.modules[m].units {
		u := c.units[at]
		for i, f := range u.functions {
			if f.Public && f.Parent < 0 && f.Class < 0 {
				c.reach(u.first+i, why)
			}
		}
	}
}

// callees are the functions that a call of a path runs, those of heirs included; false
// where there may be others.
func (c *closure) callees(w where, path int) (out []int, known bool) {
	a := c.ask(w, path)
	if a.unknown || len(a.things) == 0 {
		return nil, false
	}
	for _, t := range a.things {
		found := []int{t.id}
		switch t.kind {
		case isFunction:
		case isClass:
			found = c.makers(t.id)
		case isInstance:
			found = c.methods(t.id, "__call__")
		default:
			return nil, false
		}
		if len(found) == 0 {
			return nil, false
		}
		out = append(out, found...)
	}
	for _, g := range a.receivers {
		for _, h := range c.groups[g].below {
			out = append(out, c.methods(h, c.words.texts[a.member])...)
		}
	}
	for _, f := range out {
		if of := c.of(f); !of.unit.means.Flow || c.isProperty(f) || len(of.wrapped) > 0 {
			return nil, false
		}
	}
	return out, true
}

// makers are the functions that get what a class, or one that inherits from it, is called
// with; none where not all of them are known.
func (c *closure) makers(g int) []int {
	var out []int
	for _, at := range append([]int{g}, c.groups[g].below...) {
		if id, ok := c.words.find("__call__"); ok && len(c.ofMeta(at, id)) > 0 {
			return nil
		}
		own := append(c.methods(at, "__init__"), c.methods(at, "__new__")...)
		if len(own) == 0 {
			return nil
		}
		out = append(out, own...)
	}
	return out
}

// methods are the functions that an object of a class has under a name.
func (c *closure) methods(g int, name string) []int {
	id, ok := c.words.find(name)
	if !ok {
		return nil
	}
	var out []int
	for _, t := range c.member(g, id) {
		if t.kind == isFunction {
			out = append(out, t.id)
		}
	}
	return out
}

// bind puts an argument into the parameter that it is for. A method may be called with
// its receiver among the arguments, or before them.
func (c *closure) bind(f int, as string, t thing, why cause) { c.bindTo(f, as, t, false, why) }

func (c *closure) bindTo(f int, as string, t thing, weak bool, why cause) {
	var all []string
	for _, word := range c.parameters(f) {
		all = append(all, c.words.texts[word])
	}
	number, err := strconv.Atoi(as)
	if err != nil {
		switch {
		case slices.Contains(all, as) && as != "*":
			c.place(thing{kind: isSlot, id: f, unit: c.words.id(as)}, t, weak, why)
		case slices.Contains(all, "!"+as), slices.Contains(all, "**"), as == "*":
			c.hand(t, why)
		}
		return
	}
	places := []int{number}
	if c.of(f).group >= 0 {
		places = append(places, number+1)
	}
	for _, at := range places {
		switch rest := slices.Index(all, "*"); {
		case at >= len(all) && rest < 0 || weak && rest >= 0 && at >= rest:
		case rest >= 0 && at >= rest:
			c.hand(t, why)
		case all[at] == ".":
		case all[at][0] == '!' || all[at] == "**":
			if !weak {
				c.hand(t, why)
			} else if all[at] != "**" { // it gets other values, too
				c.place(thing{kind: isSlot, id: f, unit: c.words.id(all[at][1:])}, t, weak, why)
			}
		default:
			c.place(thing{kind: isSlot, id: f, unit: c.words.id(all[at])}, t, weak, why)
		}
	}
}
