package mask

import (
	"slices"
	"strings"
	"sync"
)

// project is what all files of a run say, in tables: names are numbers, functions and
// classes are counted through over all files. No source and no tree is in it.
type project struct {
	words words
	units []*unit

	functions []function // of all units, in their order
	classes   []class
	groups    []group

	own      map[place][]thing // what a unit's qualified name stands for
	members  map[place][]thing // what a group's name stands for
	stars    map[int32][]int32 // units from which a unit takes every name
	modules  []module
	byModule map[moduleKey]int32
	byStem   map[moduleKey]int32   // by path without what languages leave out in imports
	siblings map[moduleKey][]int32 // units of one package, by its most usual name
	global   map[moduleKey][]int32 // groups by family and qualified name
	anchors  []anchor

	calls []given // of references and parameters; their numbers begin with 1

	memo     map[question]answer
	imported map[place][]thing // of imports and bindings, resolved
	pending  map[place]bool
}

// unit is one file with the facts that are kept of it.
type unit struct {
	index    int32
	path     string
	language Language
	family   string
	file     *File // without the references, which are compact in what follows
	reason   string
	outside  bool // a test: what it loads is no load of the project
	runs     [][]ref
	takes    [][]take
	bases    [][]ref
	bound    []ref
	loads    []ref
	handlers []ref // of routes
	first    int32 // of its functions, among all
	firstOf  int32 // of its classes, among all
	decided  []Fate
}

// function is one of a unit.
type function struct {
	unit, local int32
	group       int32 // of which it is a member; -1
	name        int32 // the last part of its name
	inner       bool  // functions are inside it
}

type class struct{ unit, local, group int32 }

// group is one class, wherever its parts stand (partial classes, Go's methods).
type group struct {
	name    string
	unit    int32   // of its first part
	parts   []int32 // classes
	listed  []int32 // functions that are its members, in order
	lineage []int32 // itself, then those it inherits from, nearest first
	below   []int32 // those that inherit from it
	bound   []int32 // names of its bindings
	made    []int32 // its metaclasses
	foreign []string
	solved  bool
}

type module struct {
	name, family string
	units        []int32
}

type moduleKey struct{ family, name string }

type anchor struct{ family, prefix, folder string }

// place is a name (a number of words) in a unit or a group.
type place struct{ in, name int32 }

// kind is what a thing is.
type kind uint8

const (
	isFunction kind = iota
	isClass
	isInstance
	isModule
	viaImport  // id: of a unit's import, to be resolved
	viaBinding // the same for bindings
	isForeign  // known, and not of this tree
	isTable    // id: of the word under which its unit has what it holds
	isResult   // id: of a function; what comes of a call of it
)

// thing is what a name stands for. id counts functions, groups, modules; unit is that
// of an import or a binding.
type thing struct {
	kind kind
	id   int32
	unit int32
}

// ref is a Ref, compact.
type ref struct {
	path  int32
	class int32
	line  int32
	into  int32 // of calls, 0 for none
	way   uint8 // of ways
}

// given is an Argument, compact.
type given struct{ path, at, into int32 }

// take is a Take, compact.
type take struct {
	runs, rest bool
	into       []int32
}

// ways are the uses by number: there are millions of references.
var ways = [...]Use{Named, Called, Inherited, Handed, Made, Bound}

func (r ref) use() Use { return ways[r.way] }

func wayOf(u Use) uint8 { return uint8(max(0, slices.Index(ways[:], u))) }

// words turns names into numbers.
type words struct {
	sync.Mutex
	ids   map[string]int32
	texts []string
	paths map[string]int32
	split [][]int32
}

// id is the number of a word; the lock is held.
func (w *words) id(s string) int32 {
	if id, ok := w.ids[s]; ok {
		return id
	}
	id := int32(len(w.texts))
	s = strings.Clone(s) // it may be a part of a whole source
	w.ids[s], w.texts = id, append(w.texts, s)
	return id
}

func (w *words) path(parts []string) int32 {
	key := parts[0]
	if len(parts) > 1 {
		key = strings.Join(parts, "\x00")
	}
	if id, ok := w.paths[key]; ok {
		return id
	}
	numbers := make([]int32, len(parts))
	for i, p := range parts {
		numbers[i] = w.id(p)
	}
	id := int32(len(w.split))
	w.paths[strings.Clone(key)], w.split = id, append(w.split, numbers)
	return id
}

func newProject() *project {
	return &project{
		words: words{ids: map[string]int32{}, paths: map[string]int32{}},
		own:   map[place][]thing{}, members: map[place][]thing{}, stars: map[int32][]int32{},
		byModule: map[moduleKey]int32{}, byStem: map[moduleKey]int32{},
		siblings: map[moduleKey][]int32{}, global: map[moduleKey][]int32{},
		memo: map[question]answer{}, imported: map[place][]thing{}, pending: map[place]bool{},
	}
}

// compact takes the references out of what a language said of a file. It may be called
// by several at a time.
func (p *project) compact(u *unit, f *File) {
	p.words.Lock()
	defer p.words.Unlock()
	u.file = f
	// What grew by doubling is held for the whole run otherwise.
	f.Functions, f.Classes = slices.Clone(f.Functions), slices.Clone(f.Classes)
	f.Imports, f.Bindings = slices.Clone(f.Imports), slices.Clone(f.Bindings)
	u.runs, u.takes = make([][]ref, len(f.Functions)), make([][]take, len(f.Functions))
	for i := range f.Functions {
		u.runs[i] = p.refs(f.Functions[i].Runs, false)
		f.Functions[i].Runs = nil
		u.takes[i] = p.taken(f.Functions[i].Takes)
		f.Functions[i].Takes = nil
	}
	u.bases = make([][]ref, len(f.Classes))
	for i := range f.Classes {
		u.bases[i] = p.refs(f.Classes[i].Bases, true)
		f.Classes[i].Bases = nil
	}
	u.loads = p.refs(f.Loads, false)
	f.Loads = nil
	for i := range f.Bindings {
		u.bound = append(u.bound, p.ref(f.Bindings[i].Value))
		f.Bindings[i].Value = Ref{}
	}
	for i := range f.Routes {
		u.handlers = append(u.handlers, p.ref(f.Routes[i].Handler))
		f.Routes[i].Handler = Ref{}
	}
}

func (p *project) ref(r Ref) ref {
	if len(r.Path) == 0 {
		return ref{path: -1}
	}
	return ref{path: p.words.path(r.Path), class: int32(r.Class), line: int32(r.Line), into: p.given(r.Into), way: wayOf(r.Use)}
}

// given is the number of a call, 0 for none.
func (p *project) given(c *Argument) int32 {
	if c == nil {
		return 0
	}
	into := p.given(c.Into)
	p.calls = append(p.calls, given{p.words.path(c.Path), int32(c.At), into})
	return int32(len(p.calls))
}

func (p *project) taken(all []Take) []take {
	var out []take
	for _, t := range all {
		one := take{runs: t.Runs, rest: t.Rest}
		for _, c := range t.Into {
			one.into = append(one.into, p.given(c))
		}
		out = append(out, one)
	}
	return out
}

// refs leaves out what says the same again: the first stands for all.
func (p *project) refs(all []Ref, whole bool) []ref {
	out := make([]ref, 0, len(all))
	type same struct {
		path, class int32
		way         uint8
	}
	seen := map[same]bool{}
	for _, r := range all {
		c := p.ref(r)
		key := same{c.path, c.class, c.way}
		if c.path < 0 || !whole && c.into == 0 && seen[key] {
			continue
		}
		seen[key] = seen[key] || c.into == 0
		out = append(out, c)
	}
	return slices.Clone(out) // what was left out is no longer held
}

// spread are the families in which a class may have parts in several files of a package.
var spread = map[string]bool{"go": true, "rust": true, "csharp": true, "ruby": true}

// family is the word under which languages see each other's files.
func family(language string) string {
	if language == "typescript" {
		return "javascript"
	}
	return language
}

// index makes the tables, when all files were read. The units are in order.
func (p *project) index() {
	for i, u := range p.units {
		u.index = int32(i)
		u.first, u.firstOf = int32(len(p.functions)), int32(len(p.classes))
		p.indexModules(u)
		for j := range u.file.Functions {
			p.functions = append(p.functions, function{unit: u.index, local: int32(j), group: -1})
		}
		for j := range u.file.Classes {
			p.classes = append(p.classes, class{unit: u.index, local: int32(j)})
		}
	}
	groups := map[moduleKey]int32{}
	for _, u := range p.units {
		p.indexClasses(u, groups)
	}
	for _, u := range p.units {
		p.indexNames(u, groups)
	}
	for _, u := range p.units {
		p.indexStars(u)
	}
	for g := range p.groups {
		p.lineage(int32(g))
	}
	for _, u := range p.units {
		p.indexDecorated(u)
	}
	clear(p.memo) // what was asked while classes had no lineage yet
	clear(p.imported)
	for g := range p.groups {
		for _, a := range p.groups[g].lineage[1:] {
			p.groups[a].below = append(p.groups[a].below, int32(g))
		}
	}
}

func (p *project) indexModules(u *unit) {
	for i, name := range u.file.Modules {
		m := p.module(u.family, name)
		if !slices.Contains(p.modules[m].units, u.index) {
			p.modules[m].units = append(p.modules[m].units, u.index)
		}
		if i == 0 {
			key := moduleKey{u.family, name}
			p.siblings[key] = append(p.siblings[key], u.index)
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

func (p *project) indexClasses(u *unit, groups map[moduleKey]int32) {
	for i, c := range u.file.Classes {
		g := p.group(u, c.Name, groups)
		at := u.firstOf + int32(i)
		p.classes[at].group = g
		p.groups[g].parts = append(p.groups[g].parts, at)
	}
}

func (p *project) group(u *unit, name string, groups map[moduleKey]int32) int32 {
	key := groupKey(u, name)
	g, ok := groups[key]
	if !ok {
		g = int32(len(p.groups))
		groups[key] = g
		p.groups = append(p.groups, group{name: name, unit: u.index})
		global := moduleKey{u.family, name}
		p.global[global] = append(p.global[global], g)
	}
	return g
}

// groupKey tells apart classes of one name: by package where their parts may be spread,
// else by file; Ruby's names hold everywhere.
func groupKey(u *unit, name string) moduleKey {
	switch {
	case u.family == "ruby":
		return moduleKey{u.family, "\x00" + name}
	case spread[u.family] && len(u.file.Modules) > 0:
		return moduleKey{u.family + "\x00" + u.file.Modules[0], name}
	}
	return moduleKey{u.family + "\x00\x00" + u.path, name}
}

func (p *project) indexNames(u *unit, groups map[moduleKey]int32) {
	put := func(name string, t thing) {
		key := place{u.index, p.words.id(name)}
		if !slices.Contains(p.own[key], t) {
			p.own[key] = append(p.own[key], t)
		}
	}
	for i, c := range u.file.Classes {
		put(c.Name, thing{kind: isClass, id: p.classes[int(u.firstOf)+i].group})
	}
	for i := range u.file.Functions {
		f, at := &u.file.Functions[i], u.first+int32(i)
		head, last := splitName(f.Name)
		entry := &p.functions[at]
		entry.name = p.words.id(last)
		entry.group = p.memberOf(u, f, head, groups)
		if f.Parent >= 0 {
			p.functions[u.first+int32(f.Parent)].inner = true
		}
		put(f.Name, thing{kind: isFunction, id: at})
		if g := entry.group; g >= 0 {
			key := place{g, entry.name}
			p.members[key] = append(p.members[key], thing{kind: isFunction, id: at})
			p.groups[g].listed = append(p.groups[g].listed, at)
		}
	}
	for i, b := range u.file.Bindings {
		if u.bound[i].path >= 0 {
			put(b.Name, thing{kind: viaBinding, id: int32(i), unit: u.index})
			head, last := splitName(b.Name)
			if last == Decorated {
				continue
			}
			if last == Element {
				put(head, thing{kind: isTable, id: p.words.id(b.Name), unit: u.index})
				continue
			}
			if g, ok := groups[groupKey(u, head)]; ok && head != "" {
				p.groups[g].bound = append(p.groups[g].bound, p.words.id(last))
			}
		}
	}
	for i, im := range u.file.Imports {
		if im.Name != "*" && im.Local != "" && im.Local != "_" {
			put(im.Local, thing{kind: viaImport, id: int32(i), unit: u.index})
		}
	}
}

// indexDecorated puts what is decorated under the names of the functions that do it.
func (p *project) indexDecorated(u *unit) {
	for i, b := range u.file.Bindings {
		head, last := splitName(b.Name)
		if last != Decorated || u.bound[i].path < 0 {
			continue
		}
		path := p.words.path(strings.Split(head, "."))
		for _, t := range p.ask(where{unit: u, function: -1, class: u.bound[i].class, loads: true}, path).things {
			if t.kind != isFunction {
				continue
			}
			key := place{p.functions[t.id].unit, p.words.id(p.of(t.id).Name + "." + Decorated)}
			p.own[key] = append(p.own[key], thing{kind: viaBinding, id: int32(i), unit: u.index})
		}
	}
}

// memberOf is the group of a method, -1 for a function that is none.
func (p *project) memberOf(u *unit, f *Function, head string, groups map[moduleKey]int32) int32 {
	if f.Class >= 0 && f.Class < len(u.file.Classes) {
		return p.classes[int(u.firstOf)+f.Class].group
	}
	if f.Parent >= 0 || head == "" {
		return -1
	}
	if g, ok := groups[groupKey(u, head)]; ok {
		return g
	}
	if spread[u.family] {
		return p.group(u, head, groups)
	}
	return -1
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
	for _, im := range u.file.Imports {
		if im.Name != "*" {
			continue
		}
		for _, t := range p.findModule(u, im.Module) {
			if t.kind == isModule {
				p.stars[u.index] = append(p.stars[u.index], p.modules[t.id].units...)
			}
		}
	}
}

// lineage is a class with those that it inherits from, nearest first.
func (p *project) lineage(g int32) []int32 {
	if p.groups[g].solved {
		return p.groups[g].lineage
	}
	p.groups[g].solved = true
	p.groups[g].lineage = []int32{g}
	var bases []int32
	for _, part := range p.groups[g].parts {
		c := p.classes[part]
		u := p.units[c.unit]
		outer := int32(u.file.Classes[c.local].Parent)
		for _, b := range u.bases[c.local] {
			a := p.ask(where{unit: u, function: -1, class: outer, loads: true}, b.path)
			found := false
			for _, t := range a.things {
				if t.kind != isClass && t.kind != isInstance || t.id == g {
					continue
				}
				found = true
				if b.use() == Made {
					p.groups[g].made = append(p.groups[g].made, t.id)
				} else {
					bases = append(bases, t.id)
				}
			}
			if !found && b.use() != Made {
				parts := p.words.split[b.path]
				p.groups[g].foreign = append(p.groups[g].foreign, p.words.texts[parts[len(parts)-1]])
			}
		}
	}
	line := []int32{g}
	var rest [][]int32
	for _, b := range bases {
		rest = append(rest, p.lineage(b))
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
	p.groups[g].lineage = unique(line)
	return p.groups[g].lineage
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

// of is the language's word about a function.
func (p *project) of(f int32) *Function {
	at := p.functions[f]
	return &p.units[at.unit].file.Functions[at.local]
}
