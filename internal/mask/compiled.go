package mask

import "github.com/benchmint/benchmint/internal/syntax"

// compile notes which functions the compiler runs (Rust's const fn), by their names
// alone: where one that it needs is masked, nothing compiles any more. The words are locked.
func (p *project) compile(u *unit, f *File) {
	p.compiles(u.kin, f.Compiled)
	for i := range f.Functions {
		if all := f.Functions[i].Compiles; len(all) > 0 {
			if u.compiles == nil {
				u.compiles = map[int32][]int32{}
			}
			for _, name := range all {
				u.compiles[int32(i)] = append(u.compiles[int32(i)], p.words.id(name))
			}
		}
	}
}

func (p *project) compiles(kin int32, names []string) {
	for _, name := range names {
		p.compiled[place{kin, p.words.id(name)}] = true
	}
}

// test reads of a file that stays whole what the compiler runs for it, and nothing else.
func (p *project) test(u *unit, source []byte) error {
	c, ok := u.language.(Compiler)
	if !ok || unreadable(u.family, source) != "" {
		return nil
	}
	tree, err := syntax.ParseTree(u.language.Grammar(u.path), source)
	if err != nil {
		return err
	}
	return guard(func() {
		names := c.Compiled(u.path, tree)
		p.words.Lock()
		defer p.words.Unlock()
		p.compiles(p.words.id(u.family), names)
	})
}

// constants are the functions that the compiler runs, with what those run.
func (p *project) constants() map[int32]bool {
	byName := map[place][]int32{}
	for _, u := range p.units {
		for i := range u.functions {
			if f := &u.functions[i]; Construct(p.words.texts[f.construct]) == Constant {
				at := place{u.kin, f.last}
				byName[at] = append(byName[at], u.first+int32(i))
			}
		}
	}
	out := map[int32]bool{}
	var queue []int32
	reach := func(at place) {
		for _, f := range byName[at] {
			if !out[f] {
				out[f] = true
				queue = append(queue, f)
			}
		}
	}
	for at := range p.compiled {
		reach(at)
	}
	for len(queue) > 0 {
		f := queue[0]
		queue = queue[1:]
		u := p.units[p.homes[f]]
		for _, name := range u.compiles[f-u.first] {
			reach(place{u.kin, name})
		}
	}
	return out
}
