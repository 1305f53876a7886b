package mask

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
)

// project is what all files of a run say, with the tables by which names are found. Functions are counted through over all
// files. No source and no tree is in it.
type project struct {
	units     []*unit
	functions []*function

	byModule map[key][]*unit // by the names under which files are imported
	byStem   map[key][]*unit // by path, without what imports leave out
	anchors  []anchor
	compiled map[key]bool // names of functions that a compiler runs
	literals int          // of all units

	byLast  map[key][]int   // functions by the last part of their names
	makers  map[key][]int   // constructors by the names of their classes
	members map[place][]int // methods by the names of their classes and their own
	classes map[key]bool    // the names of classes
}

// unit is one file with the facts that are kept of it.
type unit struct {
	language Language
	family   string
	means    Semantics

	first        int  // of its functions, among all
	outside      bool // nothing loads it: what it runs is no load of the project
	path         string
	modules      []string // the first is the most usual name
	functions    []*function
	firstLiteral int // of its literals, among all
	literals     []Literal
	classes      []Class
	imports      []Import
	loads        []Ref
	repair       func(masked func(function int) bool) []Edit
	stars        func(has func(module, name string) bool)
	faults       []int

	byLast map[string][]int // its functions, among all, by the last part of their names
	makers map[string][]int // its constructors, by the names of their classes
}

// function is a Function of a unit.
type function struct {
	Function
	unit *unit
	last string // of its name
}

// key is a name in a family of languages.
type key struct{ family, name string }

// place is the name of a member, with that of its class.
type place struct{ family, class, name string }

type anchor struct{ family, prefix, folder string }

func newProject() *project {
	return &project{
		byModule: map[key][]*unit{}, byStem: map[key][]*unit{}, compiled: map[key]bool{},
		byLast: map[key][]int{}, makers: map[key][]int{}, members: map[place][]int{}, classes: map[key]bool{},
	}
}

// begin is a file of a language before anything is known of it.
func (p *project) begin(path string, l Language) *unit {
	return &unit{path: path, language: l, family: family(l), means: l.Semantics(), byLast: map[string][]int{}, makers: map[string][]int{}}
}

// add takes over what a language said of a file.
func (p *project) add(u *unit, f *File) {
	u.modules, u.repair, u.stars, u.faults = slices.Clone(f.Modules), f.Repair, f.Stars, f.Faults
	u.classes, u.imports, u.loads = f.Classes, f.Imports, distinct(f.Loads)
	for _, one := range f.Functions {
		one.Runs = distinct(one.Runs)
		u.functions = append(u.functions, &function{Function: one, unit: u, last: lastPart(one.Name)})
	}
	u.firstLiteral, u.literals = p.literals, f.Literals
	p.literals += len(f.Literals)
	p.compiles(u.family, f.Compiled)
	p.units = append(p.units, u)
}

// distinct leaves out what says the same again: the first stands for all.
func distinct(all []Ref) []Ref {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(all), func(r Ref) bool {
		name := strings.Join(r.Path, ".")
		again := seen[name]
		seen[name] = true
		return again || len(r.Path) == 0
	})
}

// of is a function by its number.
func (p *project) of(f int) *function { return p.functions[f] }

// until gives the units as long as ctx holds.
func (p *project) until(ctx context.Context) iter.Seq[*unit] {
	return func(yield func(*unit) bool) {
		for _, u := range p.units {
			if ctx.Err() != nil || !yield(u) {
				return
			}
		}
	}
}

// index makes the tables, when all files were read. The units are in order.
func (p *project) index(ctx context.Context) error {
	for u := range p.until(ctx) {
		u.first = len(p.functions)
		p.functions = append(p.functions, u.functions...)
		for _, name := range u.modules {
			enter(p.byModule, key{u.family, name}, u)
		}
		for _, stem := range stems(u.path) {
			enter(p.byStem, key{u.family, stem}, u)
		}
		for _, c := range u.classes {
			p.classes[key{u.family, lastPart(c.Name)}] = true
		}
		for i, f := range u.functions {
			p.indexFunction(u, f, u.first+i)
		}
	}
	return ctx.Err()
}

func enter(table map[key][]*unit, at key, u *unit) {
	if !slices.Contains(table[at], u) {
		table[at] = append(table[at], u)
	}
}

// indexFunction tells where a function is found by its name, and a constructor by that of its class.
func (p *project) indexFunction(u *unit, f *function, at int) {
	u.byLast[f.last] = append(u.byLast[f.last], at)
	p.byLast[key{u.family, f.last}] = append(p.byLast[key{u.family, f.last}], at)
	head, _ := splitName(f.Name)
	if head == "" {
		return
	}
	class := lastPart(head)
	if f.Parent < 0 || f.Class >= 0 {
		p.members[place{u.family, class, f.last}] = append(p.members[place{u.family, class, f.last}], at)
	}
	empty := f.Construct == Trivial && (f.last == "<init>" || f.last == class) // it may call another
	if f.Class >= 0 && (f.Construct == Constructor || empty || f.last == "__post_init__") {
		u.makers[class] = append(u.makers[class], at)
		p.makers[key{u.family, class}] = append(p.makers[key{u.family, class}], at)
	}
}

// lastPart is the last part of a qualified name.
func lastPart(name string) string {
	_, last := splitName(name)
	return last
}

// splitName takes the last part off a qualified name.
func splitName(name string) (head, last string) {
	if i := strings.LastIndexByte(name, '.'); i > 0 && i < len(name)-1 {
		return name[:i], name[i+1:]
	}
	return "", name
}

// separators stand between the parts of a module's name, by language.
var separators = []string{"::", "\\", "/", "."}

// outer is a module's name without its last part; "" for one of a single part.
func outer(name string) string {
	for _, sep := range separators {
		if i := strings.LastIndex(name, sep); i >= 0 {
			return name[:i]
		}
	}
	return ""
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
	if i := strings.LastIndexByte(stem, '/'); i >= 0 && slices.Contains([]string{"__init__", "index", "mod"}, stem[i+1:]) {
		out = append(out, stem[:i])
	}
	return out
}

// tellStars tells those that ask which modules declare what they use.
func (p *project) tellStars() {
	for _, u := range p.units {
		if u.stars != nil {
			u.stars(func(module, name string) bool { return p.declares(u, module, name) })
		}
	}
}

// declares reports whether a function or a class of a module has this name.
func (p *project) declares(u *unit, module, name string) bool {
	homes := p.findModule(u, module)
	if module == "" && len(u.modules) > 0 {
		homes = p.byModule[key{u.family, u.modules[0]}]
	}
	return slices.ContainsFunc(homes, func(home *unit) bool {
		return home != u && (len(home.byLast[name]) > 0 || slices.ContainsFunc(home.classes, func(c Class) bool { return c.Name == name }))
	})
}

// family is the word under which a language's files see each other.
func family(l Language) string { return cmp.Or(l.Semantics().Family, l.Name()) }
