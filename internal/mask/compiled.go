package mask

import (
	"path/filepath"

	"github.com/benchmint/benchmint/internal/syntax"
)

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
	if !ok || unreadable(u.family, source).is() {
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
		for i := range u.functions.len() {
			if f := u.functions.at(i); Construct(p.words.texts[f.construct]) == Constant {
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

// host keeps what runs in the compiler.
func (r *run) host(l Language) error {
	settled, ok := l.(Settled)
	hosting, hosts := l.(Hosting)
	if !ok || !hosts {
		return nil
	}
	settings := map[string][]byte{}
	for _, e := range r.entries {
		if e.mode.IsRegular() && e.failed == "" && e.size <= 1<<20 && settled.IsSetting(e.path) {
			source, err := r.source.ReadFile(filepath.FromSlash(e.path))
			if err != nil {
				return err
			}
			settings[e.path] = source
		}
	}
	if len(settings) == 0 {
		return nil
	}
	hosted := hosting.Hosted(settings)
	for _, e := range r.entries {
		if e.unit != nil && e.unit.language == l && !e.whole.is() && hosted(e.path) {
			e.whole = Whole{Kind: InCompiler, Reason: "of a package that runs in the compiler"}
		}
	}
	return nil
}
