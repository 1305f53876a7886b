package mask

import "slices"

// follow goes along the rest of a path, from what its first name means.
func (p *project) follow(u *unit, things []thing, parts []int) answer {
	a := answer{things: things, member: -1}
	if p.along(u, &a, parts) && p.words.texts[parts[len(parts)-1]] != Element {
		a.unknown, a.member = true, p.memberIn(parts)
	}
	return a
}

// along is follow; it reports whether something on the way may be another than what is known.
func (p *project) along(u *unit, a *answer, parts []int) (anyone bool) {
	var before []int // receivers of the name before
	for i := 1; i < len(parts); i++ {
		name, last := parts[i], i == len(parts)-1
		h := p.hop(u, a, parts[i:])
		if anyone = anyone || h.anyone; !h.told {
			*a = answer{unknown: true, member: p.memberIn(parts), getters: a.getters, results: a.results}
			return anyone
		}
		inherited := last && i > 1 && p.words.texts[name] == Element && len(before) > 0 // heirs may have another table
		switch {
		case inherited:
			a.receivers, a.member = before, p.memberIn(parts)
		case last:
			a.receivers, a.member = h.receivers, name
		}
		before = h.receivers
		switch {
		case len(h.things) == 0 && inherited:
			a.things = nil
			return anyone
		case len(h.things) == 0:
			p.nothing(a, h, parts, i)
			return anyone
		case last:
			a.things = h.things
			return anyone
		}
		if a.things = p.read(h.things, a); len(a.things) == 0 {
			a.things, a.unknown, a.receivers, a.member = nil, true, nil, p.memberIn(parts)
			return anyone
		}
	}
	return anyone
}

// hop is one name on all things that are meant before it.
type hop struct {
	things    []thing
	receivers []int
	known     bool // where nothing is found, it is because there is nothing of ours
	anyone    bool // one of the things before may be another than what is known
	told      bool // else it may be anything
}

// hop goes on from the things of an answer by the first of the names that are left.
func (p *project) hop(u *unit, a *answer, rest []int) hop {
	var h hop
	if slices.ContainsFunc(a.things, func(t thing) bool { return t.kind == isResult }) {
		for _, t := range a.things {
			if t.kind == isResult || t.kind == isFunction {
				a.results = append(a.results, t.id)
			}
		}
	}
	name := rest[0]
	for _, t := range a.things {
		object := t.kind == isClass || t.kind == isInstance
		h.anyone = h.anyone || t.kind == isClass && p.adapts(t.id)
		found, told := p.step(t, name), true
		switch {
		case p.isResult(name):
			found, told = p.outcome(t)
		case u.means.Overrides && object && p.asked(rest) && p.methods(found):
			if fields := p.fields(t.id, name); len(fields) > 0 {
				found = fields
			}
		}
		if !told {
			return h
		}
		h.things = append(h.things, found...)
		h.known = h.known || t.kind == isForeign || t.kind == isModule
		if object {
			h.receivers = append(h.receivers, t.id)
		}
	}
	h.things, h.told = once(h.things), true
	return h
}

// nothing is the answer where the name at i of a path stands for nothing.
func (p *project) nothing(a *answer, h hop, parts []int, i int) {
	from := a.things
	a.things = nil
	switch last := i == len(parts)-1; {
	case h.known:
		a.receivers, a.member = nil, -1
		literal := slices.ContainsFunc(from, func(t thing) bool { return t.kind == isForeign && t.id == ofLiterals })
		// What others give may be of the tree.
		if !literal && slices.ContainsFunc(parts[i+1:], p.isResult) {
			a.unknown, a.member = true, p.memberIn(parts)
		}
	case !last || len(h.receivers) == 0:
		// An attribute of unknown kind: the last name of the path is all there is.
		a.unknown, a.receivers, a.member = true, nil, p.memberIn(parts)
	}
}

// adapts tells an interface, of which a call gives any object that has its methods.
func (p *project) adapts(g int) bool {
	return slices.ContainsFunc(p.groups[g].line, func(a int) bool { return slices.Contains(p.groups[a].foreign, "Interface") })
}

// read takes properties off the way: what they give is not known.
func (p *project) read(things []thing, a *answer) []thing {
	var out []thing
	for _, t := range things {
		if t.kind == isFunction && p.isProperty(t.id) {
			a.getters = append(a.getters, t.id)
			continue
		}
		out = append(out, t)
	}
	return out
}

func (p *project) isProperty(f int) bool {
	c := p.of(f).Construct
	return c == Getter || c == Setter
}

// step is a name on one thing.
func (p *project) step(t thing, name int) []thing {
	switch t.kind {
	case isFunction:
		if id, ok := p.words.find(p.of(t.id).Name + "." + p.words.texts[name]); ok {
			return p.expand(p.own(p.of(t.id).unit.index, id), 1)
		}
	case isClass, isInstance, isModule:
		return p.inside(t, name, 1)
	}
	return nil
}
