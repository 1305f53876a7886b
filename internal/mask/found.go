package mask

// lists are things that were found together. Their numbers begin with 1.
type lists struct {
	all []thing
	end []int32
}

// pending stands for the number of a list that is being made.
const pending = -1

func (l *lists) add(things []thing) int32 {
	l.all = append(l.all, things...)
	l.end = append(l.end, int32(len(l.all)))
	return int32(len(l.end))
}

func (l *lists) of(number int32) []thing {
	from, to := int32(0), l.end[number-1]
	if number > 1 {
		from = l.end[number-2]
	}
	return l.all[from:to:to]
}

// through resolves one import or binding, once.
func (p *project) through(t thing, depth int) []thing {
	u := p.units[t.unit]
	if u.resolved == nil {
		u.resolved = make([]int32, len(u.imports)+len(u.bindings))
	}
	at := &u.resolved[t.id]
	if t.kind == viaBinding {
		at = &u.resolved[len(u.imports)+int(t.id)]
	}
	switch {
	case *at > 0:
		return p.found.of(*at)
	case *at == pending || depth > deep:
		return nil
	}
	*at = pending
	var found []thing
	if t.kind == viaImport {
		found = p.importOf(u, u.imports[t.id], depth+1)
	} else {
		found = p.bindingOf(u, int(t.id))
	}
	*at = p.found.add(found)
	return found
}
