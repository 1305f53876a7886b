package mask

import (
	"strconv"
	"strings"
)

// ofLiterals is the id of what is foreign, and gives nothing of the tree, whatever it is
// asked for.
const ofLiterals = 1

// resultOf is which of the values of a call a part of a path stands for.
func resultOf(word string) (at int, ok bool) {
	rest, ok := strings.CutPrefix(word, Outcome)
	if !ok || rest == "" {
		return 0, ok
	}
	at, err := strconv.Atoi(rest)
	return at, err == nil
}

func (p *project) isResult(word int) bool {
	_, ok := resultOf(p.words.texts[word])
	return ok
}

// outcome is what a call of a thing gives; false where that is not told.
func (p *project) outcome(t thing, at int) ([]thing, bool) {
	switch t.kind {
	case isFunction:
		return p.results(t.id, at)
	case isClass, isInstance:
		return p.converted(t.id, at)
	case isType:
		if at == 0 && p.words.texts[p.words.split(t.id)[0]] == Outcome {
			return p.behind(t)
		}
	case isForeign:
		return []thing{t}, t.id == ofLiterals
	}
	return nil, false
}

// results are what a function gives, with those of its name that it may hide: overloads.
func (p *project) results(f int, at int) (out []thing, told bool) {
	all := []int{f}
	if of := p.of(f); of.group >= 0 && p.of(f).unit.means.Overrides {
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
		if at >= len(of.results) {
			return nil, false
		}
		one, told := p.objects(where{unit: of.unit, function: -1, class: of.Class}, of.results[at])
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
		switch t.kind {
		case isClass, isInstance:
			out = append(out, thing{kind: isInstance, id: t.id})
		case isType:
			out = append(out, t)
		case isForeign:
			if t.id == ofLiterals {
				out = append(out, t)
			}
		}
	}
	return out, len(out) > 0
}

// converted is what a call of a type gives: an object of it, or what its functions give.
func (p *project) converted(g int, at int) ([]thing, bool) {
	if at > 0 {
		return nil, false
	}
	out := []thing{{kind: isInstance, id: g}}
	for _, part := range p.groups[g].parts {
		if p.classes[part].signature != unknown {
			more := p.member(g, p.words.id(Outcome))
			return append(out, more...), len(more) > 0
		}
	}
	return out, true
}

// behind is what a type without a name holds or gives.
func (p *project) behind(t thing) ([]thing, bool) {
	parts := p.words.split(t.id)
	return p.objects(where{unit: p.units[t.unit], function: -1, class: -1}, p.words.join(parts[1:]))
}
