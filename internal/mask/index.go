package mask

import (
	"context"
	"slices"
	"strings"
)

// index makes the tables, when all files were read. The units are in order.
func (p *project) index(ctx context.Context) error {
	functions, classes := 0, 0
	for _, u := range p.units {
		functions, classes = functions+u.functions.len(), classes+len(u.classes)
	}
	p.homes, p.classes = make([]int32, 0, functions), make([]class, 0, classes)
	for i, u := range p.units {
		u.index = int32(i)
		u.first, u.firstOf = int32(len(p.homes)), int32(len(p.classes))
		p.indexModules(u)
		for range u.functions.len() {
			p.homes = append(p.homes, u.index)
		}
		for j := range u.classes {
			p.classes = append(p.classes, class{unit: u.index, local: int32(j)})
		}
	}
	p.groups = make([]group, 0, classes)
	groups := map[groupKey]int32{}
	for _, u := range p.units {
		p.indexClasses(u, groups)
	}
	for _, u := range p.units {
		p.indexNames(u, groups)
	}
	p.named = make([]bool, len(p.words.texts))
	for _, u := range p.units {
		for _, e := range u.own {
			p.named[e.name] = true
		}
	}
	p.indexMembers()
	for u := range p.until(ctx) {
		p.indexStars(u)
	}
	for g := range p.groups {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.descent(int32(g))
	}
	for u := range p.until(ctx) {
		p.indexCallables(u)
		p.indexDecorated(u)
		p.indexFilled(u)
	}
	clear(p.memo) // what was asked while classes had no lineage yet
	p.found = lists{}
	for _, u := range p.units {
		u.resolved = nil
	}
	for g := range p.groups {
		for _, a := range p.lineage(int32(g))[1:] {
			above := p.relate(a)
			above.below = append(above.below, int32(g))
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
			m = int32(len(p.modules))
			p.modules = append(p.modules, module{name: s, family: u.family})
			p.byStem[key] = m
		}
		p.modules[m].units = append(p.modules[m].units, u.index)
	}
}

// module is the entry of a name, made with those above it, which are packages.
func (p *project) module(family, name string) int32 {
	key := moduleKey{family, name}
	if m, ok := p.byModule[key]; ok {
		return m
	}
	m := int32(len(p.modules))
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

func (p *project) indexClasses(u *unit, groups map[groupKey]int32) {
	for i, c := range u.classes {
		p.classes[int(u.firstOf)+i].group = p.group(u, c.name, groups)
	}
}

func (p *project) group(u *unit, name int32, groups map[groupKey]int32) int32 {
	key := p.groupKey(u, name)
	g, ok := groups[key]
	if !ok {
		g = int32(len(p.groups))
		groups[key] = g
		p.groups = append(p.groups, group{name: name, unit: u.index, relations: &p.alone})
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
	in, name int32 // the word of a family, a module or a unit; a word
}

// scopeOf is where a class of a name is the same.
type scopeOf uint8

const (
	inFile scopeOf = iota
	inPackage
	inFamily
)

func (p *project) groupKey(u *unit, name int32) groupKey {
	switch {
	case u.means.OpenClasses:
		return groupKey{inFamily, u.kin, name}
	case u.means.SpreadClasses && len(u.modules) > 0:
		return groupKey{inPackage, p.byModule[moduleKey{u.family, u.modules[0]}], name}
	}
	return groupKey{inFile, u.index, name}
}

// groupOf is the group of a name that is there, -1 for none.
func (p *project) groupOf(u *unit, name string, groups map[groupKey]int32) int32 {
	if id, ok := p.words.find(name); ok && name != "" {
		if g, ok := groups[p.groupKey(u, id)]; ok {
			return g
		}
	}
	return -1
}

func (p *project) indexNames(u *unit, groups map[groupKey]int32) {
	var all []entitled
	put := func(name int32, t thing) { all = append(all, entitled{name, t}) }
	for i, c := range u.classes {
		put(c.name, thing{kind: isClass, id: p.classes[int(u.firstOf)+i].group})
	}
	for i := range u.functions.len() {
		f, at := u.functions.at(i), u.first+int32(i)
		head, last := splitName(p.words.texts[f.name])
		group := p.memberOf(u, f, head, groups)
		u.functions.place(i, p.words.id(last), group)
		if f.parent >= 0 {
			u.functions.hold(int(f.parent))
		}
		put(f.name, thing{kind: isFunction, id: at})
	}
	for i, b := range u.bindings {
		if b.path < 0 {
			continue
		}
		put(b.name, thing{kind: viaBinding, id: int32(i), unit: u.index})
		head, last := splitName(p.words.texts[b.name])
		switch last {
		case Decorated:
		case Element:
			put(p.words.id(head), thing{kind: isTable, id: b.name, unit: u.index})
			if of, table := splitName(head); of != "" {
				p.bind(p.groupOf(u, of, groups), table+"."+Element)
			}
		default:
			p.bind(p.groupOf(u, head, groups), last)
		}
	}
	inside := map[int32]bool{} // functions that import
	for i, im := range u.imports {
		if local := p.words.texts[im.local]; p.words.texts[im.name] != "*" && local != "" && local != "_" {
			put(im.local, thing{kind: viaImport, id: int32(i), unit: u.index})
			if head, _ := splitName(local); head != "" && local[0] != '\'' {
				inside[p.words.id(head)] = true
			}
		}
	}
	for i := range u.functions.len() {
		if inside[u.functions.at(i).name] {
			u.functions.hold(i)
		}
	}
	u.own = table(nil).with(all)
	inner := map[int32]bool{}
	for i := range u.functions.len() {
		if f := u.functions.at(i); f.inner {
			inner[f.name] = true
		}
	}
	for _, e := range u.own {
		head, last := splitName(p.words.texts[e.name])
		if id, ok := p.words.find(head); ok && inner[id] {
			p.enclosed[place{id, p.words.id(last)}] = e.name
		}
	}
}

// bind notes that a binding is of a class, of group g; -1 for none.
func (p *project) bind(g int32, name string) {
	if g >= 0 {
		of := p.relate(g)
		of.bound = append(of.bound, p.words.id(name))
	}
}

// indexMembers lays out what groups have many of.
func (p *project) indexMembers() {
	p.parts = p.gather(len(p.classes), func(i int) int32 { return p.classes[i].group }, func(g *group) *span { return &g.parts })
	p.listed = p.gather(len(p.homes), func(i int) int32 { return p.of(int32(i)).group }, func(g *group) *span { return &g.listed })
	p.members = make(table, 0, len(p.listed))
	var all []entitled
	for g := range p.groups {
		all = all[:0]
		for _, f := range p.membersOf(int32(g)) {
			all = append(all, entitled{p.of(f).last, thing{kind: isFunction, id: f}})
		}
		p.members = p.members.with(all)
	}
}

// own is what a qualified name of a unit stands for.
func (p *project) own(u, name int32) []thing {
	found := p.units[u].own.of(name, u)
	if more := p.decorated[place{u, name}]; len(more) > 0 {
		return append(found, more...)
	}
	return found
}

// indexDecorated puts what is decorated under the names of the functions that do it.
func (p *project) indexDecorated(u *unit) {
	for i, b := range u.bindings {
		head, last := splitName(p.words.texts[b.name])
		if last != Decorated || b.path < 0 {
			continue
		}
		path := p.words.path(strings.Split(head, "."))
		for _, t := range p.ask(where{unit: u, function: -1, class: b.class(), loads: true}, path).things {
			if t.kind != isFunction {
				continue
			}
			key := place{p.homes[t.id], p.words.id(p.name(t.id) + "." + Decorated)}
			p.decorated[key] = append(p.decorated[key], thing{kind: viaBinding, id: int32(i), unit: u.index})
		}
	}
}

// indexFilled puts what a file puts into the table of another file where that one looks.
func (p *project) indexFilled(u *unit) {
	homes := map[string][]place{}
	for i, b := range u.bindings {
		head, last := splitName(p.words.texts[b.name])
		if last != Element || b.path < 0 {
			continue
		}
		if _, ok := homes[head]; !ok {
			homes[head] = p.homesOf(u, head, map[home]bool{})
		}
		for _, of := range homes[head] {
			if of.in == u.index {
				continue
			}
			table := thing{kind: isTable, id: p.words.id(p.words.texts[of.name] + "." + Element), unit: of.in}
			if found := p.own(of.in, of.name); !slices.Contains(found, table) {
				p.decorated[of] = append(p.decorated[of], table)
			}
			key := place{of.in, table.id}
			p.decorated[key] = append(p.decorated[key], thing{kind: viaBinding, id: int32(i), unit: u.index})
		}
	}
}

// home is a name in a file that was asked for already: files import from each other.
type home struct {
	in   int32
	name string
}

// homesOf are the files that have what a file knows by a name, a module's before it or
// not, each with its name there.
func (p *project) homesOf(u *unit, name string, asked map[home]bool) []place {
	if asked[home{u.index, name}] {
		return nil
	}
	asked[home{u.index, name}] = true
	head, last := splitName(name)
	local := last
	if head != "" {
		local = head
	}
	var out []place
	for _, im := range u.imports {
		if p.words.texts[im.local] != local {
			continue
		}
		in := p.words.texts[im.module]
		of := p.words.texts[im.name]
		switch {
		case head == "":
		case of == "": // import module; module.TABLE
			of = last
		default: // from package import module; module.TABLE
			in, of = join(in, ".", of), last
		}
		for _, m := range p.findModule(u, in) {
			if m.kind != isModule {
				continue
			}
			for _, at := range p.modules[m.id].units {
				for _, s := range append([]int32{at}, p.starred(at)...) {
					if further := p.homesOf(p.units[s], of, asked); len(further) > 0 {
						out = append(out, further...)
					} else if id, ok := p.words.find(of); ok && len(p.units[s].own.of(id, s)) > 0 {
						out = append(out, place{s, id})
					}
				}
			}
		}
	}
	return out
}

// memberOf is the group of a method, -1 for a function that is none.
func (p *project) memberOf(u *unit, f function, head string, groups map[groupKey]int32) int32 {
	if f.class >= 0 && int(f.class) < len(u.classes) {
		return p.classes[u.firstOf+f.class].group
	}
	if f.parent >= 0 || head == "" {
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
func (p *project) descent(g int32) []int32 {
	if p.groups[g].solved {
		return p.lineage(g)
	}
	p.groups[g].solved = true
	p.descend(g, []int32{g})
	var bases []int32
	for _, part := range p.partsOf(g) {
		c := p.classes[part]
		u := p.units[c.unit]
		of := u.classes[c.local]
		for b := range u.refs.of(of.bases) {
			scope := of.parent
			if u.means.OpenClasses {
				scope = c.local // include stands in the body, where the class's own names are known
			}
			a := p.ask(where{unit: u, function: -1, class: scope, loads: true}, b.path)
			found := false
			for _, t := range a.things {
				if t.kind != isClass && t.kind != isInstance || t.id == g {
					continue
				}
				found = true
				if b.use() == Made {
					of := p.relate(g)
					of.made = append(of.made, t.id)
				} else {
					bases = append(bases, t.id)
				}
			}
			if !found && b.use() != Made {
				parts := p.words.split(b.path)
				of := p.relate(g)
				of.foreign = append(of.foreign, p.words.texts[parts[len(parts)-1]])
			}
		}
	}
	line := []int32{g}
	var rest [][]int32
	for _, b := range bases {
		rest = append(rest, p.descent(b))
	}
	// Breadth after breadth keeps what is common to several bases behind them.
	for depth := 0; ; depth++ {
		more := false
		for _, r := range rest {
			if depth < len(r) {
				more = true
				line = append(line, r[depth])
			}
		}
		if !more {
			break
		}
	}
	if len(bases) > 0 {
		p.descend(g, unique(line))
	}
	return p.lineage(g)
}

// unique keeps the first of each.
func unique(all []int32) []int32 {
	seen := make(map[int32]bool, len(all))
	return slices.DeleteFunc(all, func(i int32) bool {
		if seen[i] {
			return true
		}
		seen[i] = true
		return false
	})
}

// of is a function by its number.
func (p *project) of(f int32) function {
	u := p.units[p.homes[f]]
	return u.functions.at(int(f - u.first))
}

func (p *project) name(f int32) string { return p.words.texts[p.of(f).name] }

func (p *project) construct(f int32) Construct { return Construct(p.words.texts[p.of(f).construct]) }
