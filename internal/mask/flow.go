package mask

import (
	"slices"
	"strconv"
)

// follows are the families whose files say where what is defined inside of a function,
// handed to one, and given by one goes.
var follows = map[string]bool{"python": true}

// result is the word for what a function gives, in the place of a parameter's name.
const result = "()"

// slot is a parameter, or what a function gives: what flows into it is called when it is
// opened, and not before.
type slot struct {
	values  []thing
	open    bool
	applied bool // its functions run, and what they give is not known to be called
	why     cause
}

// result is the slot of what a function gives.
func (c *closure) result(f int32) thing {
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
func (c *closure) parameter(f, name int32) (thing, bool) {
	for f >= 0 {
		if slices.Contains(c.parameters(f), name) {
			return thing{kind: isSlot, id: f, unit: name}, true
		}
		of := c.of(f)
		if of.parent < 0 {
			break
		}
		f = c.units[c.homes[f]].first + of.parent
	}
	return thing{}, false
}

// parameters are the words for those of a function.
func (c *closure) parameters(f int32) []int32 {
	of := c.of(f).parameters
	return c.units[c.homes[f]].parameters[of.start:of.end]
}

// put is a value that gets into a slot. A class may be asked for its members there.
func (c *closure) put(into, t thing, why cause) {
	s := c.slot(into)
	if into == t || slices.Contains(s.values, t) {
		return
	}
	s.values = append(s.values, t)
	if t.kind == isClass || t.kind == isInstance {
		c.present(t.id)
	}
	if s.open {
		c.hand(t, why)
	} else if s.applied && t.kind == isFunction {
		c.begin(t.id, why)
	}
}

// open is a slot whose values are called, or go where nobody follows them.
func (c *closure) open(t thing, why cause) {
	s := c.slot(t)
	if s.open {
		return
	}
	s.open, s.why = true, why
	for _, v := range s.values {
		c.hand(v, why)
	}
}

// hand is a value that may be called.
func (c *closure) hand(t thing, why cause) {
	switch t.kind {
	case isFunction:
		c.reach(t.id, why)
	case isClass:
		c.instantiate(t.id, why)
	case isInstance:
		c.call(t.id, why)
		c.lend(t.id, why)
	case isSlot:
		c.open(t, why)
	}
}

// call is an object that is called.
func (c *closure) call(g int32, why cause) {
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
	case t.kind == isFunction && c.isProperty(t.id):
		c.reach(t.id, why)
	case how == Handed, how == Named && r.into > 0 && follows[w.unit.family]:
		c.pass(w, r, how, t, why)
	case how == Returned && w.function >= 0:
		c.put(c.result(w.function), t, why)
	case how == Returned:
		c.hand(t, why)
	case how.calls():
		c.called(w, how, t, why)
	case c.escapes(t):
		c.hand(t, why)
	}
}

// escapes tells what runs under a name that nobody follows: a parameter, what is defined
// inside of a function.
func (c *closure) escapes(t thing) bool {
	switch t.kind {
	case isSlot:
		return t.unit != c.words.ids[result]
	case isFunction:
		return c.of(t.id).parent >= 0 && follows[c.units[c.homes[t.id]].family]
	case isClass:
		g := &c.groups[t.id]
		return len(g.parts) > 0 && c.units[g.unit].classes[c.classes[g.parts[0]].local].late
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
		switch s := c.slot(gives); {
		case how == Relayed && w.function >= 0:
			c.put(c.result(w.function), gives, why)
		case how == Applied && !s.applied:
			s.applied = true
			for _, v := range s.values {
				if v.kind == isFunction {
					c.begin(v.id, why)
				}
			}
		}
	default:
		c.hand(t, why)
	}
}

// pass is an argument: it gets into a parameter where what is called is known.
func (c *closure) pass(w where, r ref, how Use, t thing, why cause) {
	var to []int32
	known := false
	if r.into > 0 && follows[w.unit.family] {
		to, known = c.callees(w, c.calls[r.into-1].path)
	}
	if !known {
		if how == Handed || c.escapes(t) {
			c.hand(t, why)
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
func (c *closure) whole(m int32, why cause) {
	for _, at := range c.modules[m].units {
		u := c.units[at]
		for i := range u.functions {
			if f := &u.functions[i]; f.public && f.parent < 0 && f.class < 0 {
				c.reach(u.first+int32(i), why)
			}
		}
	}
}

// callees are the functions that a call of a path runs, those of heirs included; false
// where there may be others.
func (c *closure) callees(w where, path int32) (out []int32, known bool) {
	a := c.ask(w, path)
	if a.unknown || len(a.things) == 0 {
		return nil, false
	}
	for _, t := range a.things {
		found := []int32{t.id}
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
		if w := c.of(f).wrapped; !follows[c.units[c.homes[f]].family] || c.isProperty(f) || w.start < w.end {
			return nil, false
		}
	}
	return out, true
}

// makers are the functions that get what a class, or one that inherits from it, is called
// with; none where not all of them are known.
func (c *closure) makers(g int32) []int32 {
	var out []int32
	for _, at := range append([]int32{g}, c.groups[g].below...) {
		if id, ok := c.words.ids["__call__"]; ok && len(c.ofMeta(at, id)) > 0 {
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
func (c *closure) methods(g int32, name string) []int32 {
	id, ok := c.words.ids[name]
	if !ok {
		return nil
	}
	var out []int32
	for _, t := range c.member(g, id) {
		if t.kind == isFunction {
			out = append(out, t.id)
		}
	}
	return out
}

// bind puts an argument into the parameter that it is for. A method may be called with
// its receiver among the arguments, or before them.
func (c *closure) bind(f int32, as string, t thing, why cause) {
	var all []string
	for _, word := range c.parameters(f) {
		all = append(all, c.words.texts[word])
	}
	number, err := strconv.Atoi(as)
	if err != nil {
		switch {
		case slices.Contains(all, as) && as != "*":
			c.put(thing{kind: isSlot, id: f, unit: c.words.id(as)}, t, why)
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
		case rest >= 0 && at >= rest:
			c.hand(t, why)
		case at >= len(all) || all[at] == ".":
		case all[at][0] == '!' || all[at] == "**":
			c.hand(t, why)
		default:
			c.put(thing{kind: isSlot, id: f, unit: c.words.id(all[at])}, t, why)
		}
	}
}
