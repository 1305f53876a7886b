package mask

// ofLiterals is the id of what is foreign, and gives nothing of the tree, whatever it is
// asked for.
const ofLiterals = 1

// unknown is the path of a type that nobody knows.
const unknown = -1

func (p *project) isResult(word int) bool { return p.words.texts[word] == Outcome }

// outcome is what a call of a thing gives; false where that is not told.
func (p *project) outcome(t thing) ([]thing, bool) {
	switch t.kind {
	case isFunction:
		return p.results(t.id)
	case isClass, isInstance:
		return []thing{{kind: isInstance, id: t.id}}, true
	case isForeign:
		return []thing{t}, t.id == ofLiterals
	}
	return nil, false
}

// results are what a function gives, with those of its name that it may hide: overloads.
func (p *project) results(f int) (out []thing, told bool) {
	all := []int{f}
	if of := p.of(f); of.group >= 0 && of.unit.means.Overrides {
		for _, a := range p.groups[of.group].line[1:] {
			for _, t := range p.members[place{a, of.last}] {
				if t.kind == isFunction {
					all = append(all, t.id)
				}
			}
		}
	}
	for _, f := range all {
		of := p.of(f)
		one, told := p.objects(where{unit: of.unit, function: -1, class: of.Class}, of.result)
		if !told {
			return nil, false
		}
		out = append(out, one...)
	}
	return out, true
}

// objects are what is of a type.
func (p *project) objects(w where, of int) ([]thing, bool) {
	if of == unknown {
		return nil, false
	}
	var out []thing
	for _, t := range p.ask(w, of).things {
		switch {
		case t.kind == isClass || t.kind == isInstance:
			out = append(out, thing{kind: isInstance, id: t.id})
		case t.kind == isForeign && t.id == ofLiterals:
			out = append(out, t)
		}
	}
	return out, len(out) > 0
}
