package mask

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
	}
}

// call is an object that is called.
func (c *closure) call(g int, why cause) {
	for _, name := range []string{"call", "__invoke"} {
		c.method(g, name, why)
	}
}

// take is one thing in use.
func (c *closure) take(w where, how Use, t thing, why cause) {
	switch {
	case t.kind == isResult:
		if how.calls() || how == Handed || how == Inherited {
			c.reach(t.id, why)
		}
	case how == Bound && t.kind == isFunction:
		c.begin(t.id, why)
	case t.kind == isFunction && c.isProperty(t.id):
		c.reach(t.id, why)
	case how.calls() && t.kind == isInstance:
		c.call(t.id, why)
	case how == Handed, how.calls():
		c.hand(t, why)
	case t.kind == isClass && w.unit.means.OpenClasses && how == Named: // who has it may call what it answers
		c.lendClass(t.id)
	case t.kind == isClass && c.late(t.id): // who has it calls it under a name that nobody follows
		c.hand(t, why)
	}
}

// late tells a class that is defined inside of a function.
func (c *closure) late(g int) bool {
	parts := c.groups[g].parts
	return len(parts) > 0 && c.classes[parts[0]].late
}
