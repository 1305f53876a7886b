package mask

// meant is what a reference comes to. What is given to functions that leave it alone is
// only named, and what is made for them is as good as bound: it runs when the name that
// the value has in the end is called, which holds it too. Where the function around
// is freed, its value is in use.
//
// It comes with the names under which the value is put on something on the way.
func (c *closure) meant(w where, r ref) (Use, []int) {
	use := r.use
	free := w.function >= 0 && c.freed[w.function]
	switch {
	case use == Bound && free:
		return Called, nil
	case r.into == 0 || free || use != Handed && use != Called:
		return use, nil
	}
	s := c.quiet(w, r.into)
	switch {
	case !s.still:
		return use, nil
	case use == Handed:
		return Named, s.puts
	}
	return Bound, s.puts
}

// stillness is what a function does with an argument: whether it leaves it alone, and
// the names under which it puts it on something.
type stillness struct {
	still bool
	puts  []int
}

// quiet reports whether none of the calls that get an argument, one from the other, runs it.
// An object that was made with it holds it by the names under which it was put there, and
// by none else.
func (c *closure) quiet(w where, at int) stillness {
	var all stillness
	for ; at > 0; at = c.calls[at-1].into {
		call := c.calls[at-1]
		a := c.ask(w, call.path)
		known, made := false, false
		for _, t := range a.things {
			if t.kind == isModule || t.kind == isFunction && c.of(t.id).Construct == Overload {
				continue // this is the default of one, or the function itself stands beside it
			}
			one := c.leaves(t, call.at)
			if !one.still {
				return stillness{}
			}
			known, made = true, made || t.kind == isClass
			all.puts = append(all.puts, one.puts...)
		}
		if !known {
			return stillness{}
		}
		if made {
			break
		}
	}
	all.still = true
	return all
}

// leaves tells what a function, or the constructor of a class, does with its argument of
// a number.
func (c *closure) leaves(t thing, at int) stillness {
	f := t.id
	switch t.kind {
	case isFunction:
	case isClass:
		if f = c.constructor(t.id); f < 0 {
			return stillness{}
		}
	default:
		return stillness{}
	}
	key := place{f, at}
	if known, ok := c.still[key]; ok {
		return known
	}
	c.still[key] = stillness{still: true} // those that hand it on to each other
	all := c.of(f).takes
	out := stillness{still: all != nil}
	if last := len(all) - 1; out.still && at >= last && last >= 0 && all[last].rest {
		at = last
	}
	if out.still && at < len(all) {
		out.still, out.puts = !all[at].runs, all[at].puts
		for _, call := range all[at].into {
			one := c.quiet(where{unit: c.of(f).unit, function: f, class: c.of(f).Class}, call)
			out.still = out.still && one.still
			out.puts = append(out.puts[:len(out.puts):len(out.puts)], one.puts...)
		}
	}
	c.still[key] = out
	return out
}

// constructor is the one that gets what a class is called with, -1 where it is not ours.
func (c *closure) constructor(g int) int {
	for _, a := range c.groups[g].line {
		for _, f := range c.groups[a].members {
			if c.of(f).Construct == Constructor || constructors[c.words.texts[c.of(f).last]] {
				return f
			}
		}
	}
	return -1
}

// store is what lies under a name until that is read.
func (c *closure) store(name int, things []thing) {
	if used, ok := c.used[name]; ok {
		c.wake(things, used)
		return
	}
	c.stored[name] = append(c.stored[name], things...)
}

// mention is a path that stands somewhere: what is stored under its names may be meant.
func (c *closure) mention(parts []int, why cause) {
	for _, name := range parts {
		if _, ok := c.used[name]; !ok {
			c.used[name] = why
			c.wake(c.stored[name], why)
			delete(c.stored, name)
		}
	}
}

// wake are things that were stored, and may be called.
func (c *closure) wake(things []thing, why cause) {
	for _, t := range things {
		switch t.kind {
		case isFunction, isResult:
			c.reach(t.id, why)
		case isClass:
			c.instantiate(t.id, why)
		}
	}
}

// anyOf is a member of an object that is called by a name that is made up: it may be any.
func (c *closure) anyOf(w where, object []int, why cause) {
	path := make([]string, len(object))
	for i, word := range object {
		path[i] = c.words.texts[word]
	}
	for _, t := range c.ask(w, c.words.path(path)).things {
		if t.kind != isClass {
			continue
		}
		for _, f := range c.groups[t.id].members {
			c.reach(f, why)
		}
		for _, name := range c.groups[t.id].bound {
			for _, one := range c.within(t.id, name) {
				c.hand(one, why)
			}
		}
	}
}
