package mask

import (
	"context"
	"slices"
	"strings"
)

// index makes the tables, when all files were read. The units are in order.
func (p *project) index(ctx context.Context) error {
	for i, u := range p.units {
		u.index, u.first = i, len(p.functions)
		p.indexModules(u)
		p.functions = append(p.functions, u.functions...)
		p.classes = append(p.classes, u.classes...)
	}
	groups := map[groupKey]int{}
	for _, u := range p.units {
		p.indexClasses(u, groups)
	}
	for _, u := range p.units {
		p.indexNames(u, groups)
	}
	for _, u := range p.units {
		for name := range u.own {
			p.named[name] = true
		}
	}
	p.indexMembers()
	for _, u := range p.units {
		if u.means.ByName {
			p.indexByName(u)
		}
	}
	for u := range p.until(ctx) {
		p.indexStars(u)
	}
	for g := range p.groups {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.descent(g)
	}
	clear(p.memo) // what was asked while classes had no lineage yet
	clear(p.found)
	for g := range p.groups {
		for _, a := range p.groups[g].line[1:] {
			p.groups[a].below = append(p.groups[a].below, g)
		}
	}
	return ctx.Err()
}

func (p *project) indexModules(u *unit) {
	for _, name := range u.modules {
		m := p.module(u.family, name)
		if !slices.Contains(p.modules[m].units, u.index) {
			p.modules[m].units = append(p.modules[m].units, u.index)
		}
	}
	for _, s := range stems(u.path) {
		key := moduleKey{u.family, s}
		m, ok := p.byStem[key]
		if !ok {
			m = len(p.modules)
			p.modules = append(p.modules, module{name: s, family: u.family})
			p.byStem[key] = m
		}
		p.modules[m].units = append(p.modules[m].units, u.index)
	}
}

// module is the entry of a name, made with those above it, which are packages.
func (p *project) module(family, name string) int {
	key := moduleKey{family, name}
	if m, ok := p.byModule[key]; ok {
		return m
	}
	m := len(p.modules)
	p.modules = append(p.modules, module{name: name, family: family})
	p.byModule[key] = m
	if up, _, ok := cutLast(name); ok && up != "" {
		p.module(family, up)
	}
	return m
}

// separators stand between the parts of a module's name, by language.
var separators = []string{"::", "\\", "/", "."}

// cutLast takes the last part off a module's name.
func cutLast(name string) (head, last string, ok bool) {
	for _, sep := range separators {
		if i := strings.LastIndex(name, sep); i >= 0 {
			return name[:i], name[i+len(sep):], true
		}
	}
	return "", name, false
}

// stems are a path as imports write it: without its ending, and a folder for the file
// that speaks for it.
func stems(path string) []string {
	out := []string{path}
	stem := path
	if dot := strings.LastIndexByte(path, '.'); dot > strings.LastIndexByte(path, '/') {
		stem = path[:dot]
		out = append(out, stem)
	}
	dir, base, ok := strings.Cut(stem, "/")
	if i := strings.LastIndexByte(stem, '/'); i >= 0 {
		dir, base, ok = stem[:i], stem[i+1:], true
	}
	if ok && (base == "__init__" || base == "index" || base == "mod") {
		out = append(out, dir)
	}
	return out
}

func (p *project) indexClasses(u *unit, groups map[groupKey]int) {
	for _, c := range u.classes {
		c.group = p.group(u, c.name, groups)
	}
}

func (p *project) group(u *unit, name int, groups map[groupKey]int) int {
	key := p.groupKey(u, name)
	g, ok := groups[key]
	if !ok {
		g = len(p.groups)
		groups[key] = g
		p.groups = append(p.groups, group{name: name, unit: u})
		if u.means.OpenClasses {
			global := moduleKey{u.family, p.words.texts[name]}
			p.global[global] = append(p.global[global], g)
		}
	}
	return g
}

// groupKey tells apart classes of one name: by package where their parts may be spread,
// else by file; Ruby's names hold everywhere.
type groupKey struct {
	scope    scopeOf
	in, name int // the word of a family, a module or a unit; a word
}

// scopeOf is where a class of a name is the same.
type scopeOf uint8

const (
	inFile scopeOf = iota
	inPackage
	inFamily
)

func (p *project) groupKey(u *unit, name int) groupKey {
	switch {
	case u.means.OpenClasses:
		return groupKey{inFamily, u.kin, name}
	case u.means.SpreadClasses && len(u.modules) > 0:
		return groupKey{inPackage, p.byModule[moduleKey{u.family, u.modules[0]}], name}
	}
	return groupKey{inFile, u.index, name}
}

// groupOf is the group of a name that is there, -1 for none.
func (p *project) groupOf(u *unit, name string, groups map[groupKey]int) int {
	if id, ok := p.words.find(name); ok && name != "" {
		if g, ok := groups[p.groupKey(u, id)]; ok {
			return g
		}
	}
	return -1
}

func (p *project) indexNames(u *unit, groups map[groupKey]int) {
	u.own = map[int][]thing{}
	put := func(name int, t thing) {
		if !slices.Contains(u.own[name], t) {
			u.own[name] = append(u.own[name], t)
		}
	}
	for _, c := range u.classes {
		put(c.name, thing{kind: isClass, id: c.group})
	}
	for i, f := range u.functions {
		head, last := splitName(f.Name)
		f.last, f.group = p.words.id(last), p.memberOf(u, f, head, groups)
		if f.Parent >= 0 {
			u.functions[f.Parent].inner = true
		}
		put(f.name, thing{kind: isFunction, id: u.first + i})
	}
	for i, b := range u.bindings {
		if b.path < 0 {
			continue
		}
		put(b.name, thing{kind: viaBinding, id: i, unit: u.index})
		head, last := splitName(p.words.texts[b.name])
		p.bind(p.groupOf(u, head, groups), last)
	}
	inside := map[string]bool{} // functions that import
	for i, im := range u.imports {
		if local := p.words.texts[im.local]; p.words.texts[im.name] != "*" && local != "" && local != "_" {
			put(im.local, thing{kind: viaImport, id: i, unit: u.index})
			if head, _ := splitName(local); head != "" && local[0] != '\'' {
				inside[head] = true
			}
		}
	}
	inner := map[string]bool{}
	for _, f := range u.functions {
		f.inner = f.inner || inside[f.Name]
		inner[f.Name] = inner[f.Name] || f.inner
	}
	for name := range u.own {
		if head, last := splitName(p.words.texts[name]); inner[head] {
			p.enclosed[place{p.words.id(head), p.words.id(last)}] = name
		}
	}
}

// bind notes that a binding is of a class, of group g; -1 for none.
func (p *project) bind(g int, name string) {
	if g >= 0 {
		p.groups[g].bound = append(p.groups[g].bound, p.words.id(name))
	}
}

// indexMembers gives groups what is of them.
func (p *project) indexMembers() {
	for i, c := range p.classes {
		p.groups[c.group].parts = append(p.groups[c.group].parts, i)
	}
	for i, f := range p.functions {
		if f.group >= 0 {
			p.groups[f.group].members = append(p.groups[f.group].members, i)
			at := place{f.group, f.last}
			p.members[at] = append(p.members[at], thing{kind: isFunction, id: i})
		}
	}
}

// own is what a qualified name of a unit stands for.
func (p *project) own(u, name int) []thing {
	return p.units[u].own[name]
}

// memberOf is the group of a method, -1 for a function that is none.
func (p *project) memberOf(u *unit, f *function, head string, groups map[groupKey]int) int {
	if f.Class >= 0 && f.Class < len(u.classes) {
		return u.classes[f.Class].group
	}
	if f.Parent >= 0 || head == "" {
		return -1
	}
	if u.means.SpreadClasses {
		return p.group(u, p.words.id(head), groups)
	}
	return p.groupOf(u, head, groups)
}

// splitName takes the last part off a qualified name.
func splitName(name string) (head, last string) {
	if i := strings.LastIndexByte(name, '.'); i > 0 && i < len(name)-1 {
		return name[:i], name[i+1:]
	}
	return "", name
}

// indexStars notes from which units a unit takes all names.
func (p *project) indexStars(u *unit) {
	for _, im := range u.imports {
		if p.words.texts[im.name] != "*" {
			continue
		}
		for _, t := range p.findModule(u, p.words.texts[im.module]) {
			if t.kind == isModule {
				p.stars[u.index] = append(p.stars[u.index], p.modules[t.id].units...)
			}
		}
	}
}

// descent is a class with those that it inherits from, nearest first.
func (p *project) descent(g int) []int {
	of := &p.groups[g]
	if of.solved {
		return of.line
	}
	of.solved, of.line = true, []int{g}
	var rest [][]int
	for _, b := range p.basesOf(g) {
		rest = append(rest, p.descent(b))
	}
	line := of.line
	// Breadth after breadth keeps what is common to several bases behind them.
	for depth := 0; ; depth++ {
		before := len(line)
		for _, r := range rest {
			if depth < len(r) {
				line = append(line, r[depth])
			}
		}
		if len(line) == before {
			break
		}
	}
	of.line = unique(line)
	return of.line
}

// basesOf are the groups that a group inherits from. Those of others are noted with
// it.
func (p *project) basesOf(g int) []int {
	of := &p.groups[g]
	var bases []int
	for _, part := range of.parts {
		c := p.classes[part]
		scope := c.parent
		if c.unit.means.OpenClasses {
			scope = c.local // include stands in the body, where the class's own names are known
		}
		for _, b := range c.bases {
			found := false
			for _, t := range p.ask(where{unit: c.unit, function: -1, class: scope, loads: true}, b.path).things {
				if (t.kind == isClass || t.kind == isInstance) && t.id != g {
					bases, found = append(bases, t.id), true
				}
			}
			if !found {
				parts := p.words.split(b.path)
				of.foreign = append(of.foreign, p.words.texts[parts[len(parts)-1]])
			}
		}
	}
	return bases
}

// unique keeps the first of each.
func unique(all []int) []int {
	seen := make(map[int]bool, len(all))
	return slices.DeleteFunc(all, func(i int) bool {
		if seen[i] {
			return true
		}
		seen[i] = true
		return false
	})
}

// of is a function by its number.
func (p *project) of(f int) *function { return p.functions[f] }
