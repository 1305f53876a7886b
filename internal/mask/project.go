package mask

import (
	"cmp"
	"slices"
)

// project is what all files of a run say, in tables: names are numbers, functions and
// groups are counted through over all files. No source and no tree is in it.
type project struct {
	words words
	units []*unit

	functions []*function
	classes   []*class
	groups    []group
	members   map[place][]thing // functions that are members, by group and name

	enclosed map[place]int // the words of what stands in functions, by those of both names
	named    map[int]bool  // words by which some unit names something
	stars    map[int][]int // units from which a unit takes every name
	reach    map[int][]int // those, and what they take so themselves
	modules  []module
	byModule map[moduleKey]int
	byStem   map[moduleKey]int   // by path without what languages leave out in imports
	global   map[moduleKey][]int // groups by family and qualified name, where that holds everywhere
	anchors  []anchor
	closed   map[moduleKey]bool    // folders of packages that nobody can import
	mapped   map[moduleKey]*mapped // by family and the folder below which it is said

	calls   []given // of references and parameters; their numbers begin with 1
	callIDs map[given]int

	compiled map[place]bool // names of functions that a compiler runs, by family

	inFile, byLast, makers, madeOf, byClass map[place][]int // of files that are ByName, see indexByName
	classNames                              map[place]bool  // by family

	memo  map[question]answer
	found map[thing][]thing // what imports and bindings stand for
}

// unit is one file with the facts that are kept of it: what a File says, in numbers.
type unit struct {
	language Language
	family   string
	kin      int // the word for the family
	means    Semantics

	index     int
	first     int  // of its functions, among all
	outside   bool // nothing loads it: what it runs is no load of the project
	program   bool // it gives nothing to those who import it
	path      string
	modules   []string // the first is the most usual name
	functions []*function
	classes   []*class
	imports   []imported
	bindings  []binding
	loads     []ref
	routes    []Route // their handlers are in handlers
	handlers  []ref
	repair    func(masked func(function int) bool) []Edit
	stars     func(has func(module, name string) bool)
	faults    []int
	own       map[int][]thing // what its qualified names stand for
}

// function is a Function of a unit, with numbers for what it refers to.
type function struct {
	Function
	unit       *unit
	name, last int  // words: its name, and the last part of that
	group      int  // of which it is a member; -1
	inner      bool // functions are inside it
	runs       []ref
	result     int // the path of a type
	takes      []take
	compiles   []int // words: what it has the compiler run, where it is constant
}

// class is a class of a unit, or a part of one.
type class struct {
	unit   *unit
	local  int // index in the unit
	group  int
	name   int // a word
	parent int
	bases  []ref
	makes  []ref // what runs when one of it is made
	span   Range
	late   bool // it is not made when the file is loaded
}

// group is one class, wherever its parts stand (partial classes, Go's methods).
type group struct {
	name    int // a word
	unit    *unit
	parts   []int // classes; the unit is that of the first
	members []int // functions, in order
	line    []int // its lineage: itself, then those it inherits from, nearest first; empty until it is solved
	solved  bool
	below   []int // groups that inherit from it
	bound   []int // names of its bindings
	foreign []string
}

// ref is a Ref in numbers.
type ref struct {
	path  int // -1 for none
	use   Use
	class int // of the unit; -1
	into  int // of calls, 0 for none
	line  int
}

// imported is an Import in words.
type imported struct{ module, name, local int }

// binding is a Binding in numbers.
type binding struct {
	name int // a word
	ref
}

type module struct {
	name, family string
	units        []int
}

type moduleKey struct{ family, name string }

type anchor struct{ family, prefix, folder string }

// place is a name (a number of words) in a unit, a group or a family.
type place struct{ in, name int }

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
	isResult   // id: of a function; what comes of a call of it
)

// thing is what a name stands for. id counts functions, groups, modules; unit is that
// of an import or a binding.
type thing struct {
	kind kind
	id   int
	unit int
}

// given is an Argument in numbers.
type given struct {
	path, at, into int
}

// take is a Take in numbers.
type take struct {
	runs, rest bool
	into       []int
	puts       []int // words
}

func newProject() *project {
	p := &project{
		words: newWords(), members: map[place][]thing{}, named: map[int]bool{},
		enclosed: map[place]int{}, callIDs: map[given]int{}, stars: map[int][]int{}, reach: map[int][]int{},
		byModule: map[moduleKey]int{}, byStem: map[moduleKey]int{}, global: map[moduleKey][]int{},
		compiled: map[place]bool{}, inFile: map[place][]int{}, byLast: map[place][]int{}, makers: map[place][]int{}, madeOf: map[place][]int{}, byClass: map[place][]int{}, classNames: map[place]bool{},
		mapped: map[moduleKey]*mapped{}, closed: map[moduleKey]bool{}, memo: map[question]answer{}, found: map[thing][]thing{},
	}
	p.words.id("") // first the word of nothing
	return p
}

// begin is a file of a language before anything is known of it.
func (p *project) begin(path string, l Language) *unit {
	of := family(l)
	return &unit{path: path, language: l, family: of, kin: p.words.id(of), means: l.Semantics()}
}

// add takes over what a language said of a file.
func (p *project) add(u *unit, f *File) {
	u.modules, u.repair, u.stars, u.faults, u.program = slices.Clone(f.Modules), f.Repair, f.Stars, f.Faults, f.Program
	for i := range f.Functions {
		u.functions = append(u.functions, p.function(u, &f.Functions[i]))
	}
	for i, c := range f.Classes {
		u.classes = append(u.classes, p.class(u, i, c))
	}
	u.loads = p.distinct(f.Loads)
	for _, im := range f.Imports {
		u.imports = append(u.imports, imported{p.words.id(im.Module), p.words.id(im.Name), p.words.id(im.Local)})
	}
	for _, b := range f.Bindings {
		u.bindings = append(u.bindings, binding{p.words.id(b.Name), p.ref(b.Value)})
	}
	for _, r := range f.Routes {
		u.handlers = append(u.handlers, p.ref(r.Handler))
		u.routes = append(u.routes, r)
	}
	p.compiles(u.kin, f.Compiled)
	p.units = append(p.units, u)
}

func (p *project) function(u *unit, f *Function) *function {
	out := &function{
		Function: *f, unit: u, name: p.words.id(f.Name), group: -1, runs: p.distinct(f.Runs),
		result: p.typed(f.Result), takes: p.taken(f.Takes), compiles: p.words.all(f.Compiles),
	}
	// Those are there in numbers.
	out.Runs, out.Takes, out.Result, out.Compiles = nil, nil, nil, nil
	return out
}

func (p *project) class(u *unit, local int, c Class) *class {
	return &class{
		unit: u, local: local, name: p.words.id(c.Name), parent: c.Parent, bases: p.all(c.Bases), makes: p.distinct(c.Makes),
		span: c.Span, late: c.Late,
	}
}

func (p *project) ref(r Ref) ref {
	if len(r.Path) == 0 {
		return ref{path: -1, use: Named, class: -1}
	}
	return ref{path: p.words.path(r.Path), use: cmp.Or(r.Use, Named), class: r.Class, into: p.given(r.Into), line: r.Line}
}

// typed is the path of a type; unknown for none.
func (p *project) typed(parts []string) int {
	if len(parts) == 0 {
		return unknown
	}
	return p.words.path(parts)
}

// given is the number of a call, 0 for none.
func (p *project) given(c *Argument) int {
	if c == nil {
		return 0
	}
	call := given{path: p.words.path(c.Path), at: c.At, into: p.given(c.Into)}
	id, known := p.callIDs[call]
	if !known {
		p.calls = append(p.calls, call)
		id = len(p.calls)
		p.callIDs[call] = id
	}
	return id
}

func (p *project) taken(all []Take) []take {
	var out []take
	for _, t := range all {
		one := take{runs: t.Runs, rest: t.Rest, puts: p.words.all(t.Puts)}
		for _, c := range t.Into {
			one.into = append(one.into, p.given(c))
		}
		out = append(out, one)
	}
	return out
}

// all are references as they are.
func (p *project) all(all []Ref) []ref {
	var out []ref
	for _, r := range all {
		if c := p.ref(r); c.path >= 0 {
			out = append(out, c)
		}
	}
	return out
}

// distinct leaves out what says the same again: the first stands for all.
func (p *project) distinct(all []Ref) []ref {
	seen := map[ref]bool{}
	return slices.DeleteFunc(p.all(all), func(r ref) bool {
		r.line = 0
		if seen[r] {
			return true
		}
		seen[r] = true
		return false
	})
}
