package mask

import (
	"path/filepath"
)

// compiles notes which functions the compiler runs (Rust's const fn), by their names alone:
// where one that it needs is masked, nothing compiles any more.
func (p *project) compiles(family string, names []string) {
	for _, name := range names {
		p.compiled[key{family, name}] = true
	}
}

// compiledFor is what the compiler runs for a test.
func compiledFor(u *unit, source []byte) (names []string, err error) {
	c, ok := u.language.(Compiler)
	if !ok || unreadable(u.family, source).is() {
		return nil, nil
	}
	tree, err := Parse(u.language, u.path, source)
	if err != nil {
		return nil, err
	}
	err = guard(func() { names = c.Compiled(u.path, tree) })
	return names, err
}

// constants are the functions that the compiler runs, with what those run.
func (p *project) constants() map[int]bool {
	byName := map[key][]int{}
	for _, u := range p.units {
		for i, f := range u.functions {
			if f.Construct == Constant {
				at := key{u.family, f.last}
				byName[at] = append(byName[at], u.first+i)
			}
		}
	}
	out := map[int]bool{}
	var queue []int
	reach := func(at key) {
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
		for _, name := range p.of(f).Compiles {
			reach(key{p.of(f).unit.family, name})
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
