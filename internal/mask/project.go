package mask

import (
	"iter"
	"slices"
	"strings"
)

// project is what all files of a run say, in tables: names are numbers, functions and
// classes are counted through over all files. No source and no tree is in it.
type project struct {
	words words
	shelf shelf
	units []*unit
	none  further
	// tongues are by the name of the language.
	tongues map[string]*tongue

	homes   []int32 // the units of all functions, in their order
	classes []class
	families

	enclosed  map[place]int32   // the words of what stands in functions, by those of both names
	decorated map[place][]thing // what a unit's function decorates, elsewhere too
	named     []bool            // of words: some unit names something so
	stars     map[int32][]int32 // units from which a unit takes every name
	reach     map[int32][]int32 // those, and what they take so themselves
	modules   []module
	byModule  map[moduleKey]int32
	byStem    map[moduleKey]int32   // by path without what languages leave out in imports
	global    map[moduleKey][]int32 // groups by family and qualified name, where that holds everywhere
	anchors   []anchor
	closed    map[moduleKey]bool    // folders of packages that nobody can import
	mapped    map[moduleKey]*mapped // by family and the folder below which it is said

	calls   []given // of references and parameters; their numbers begin with 1
	callIDs map[given]int32

	compiled map[place]bool    // names of functions that a compiler runs, by family
	aliases  map[int32]bool    // names of types that are others, too
	opened   map[int32]bool    // words of types that may be others
	callable map[place][]int32 // names of fields that may be functions, with the types of those

	memo  map[question]answer
	found lists // what imports and bindings stand for
}

// unit is one file with the facts that are kept of it. It is what a File says, compact:
// there may be ten thousand of them.
type unit struct {
	*tongue
	*further
	index     int32
	first     int32 // of its functions, among all
	firstOf   int32 // of its classes, among all
	read      bool  // the facts are there
	outside   bool  // nothing loads it: what it runs is no load of the project
	path      string
	modules   []string // the first is the most usual name
	functions functions
	classes   []classOf
	imports   []imported
	bindings  []binding
	loads     span    // of refs, with the lines
	said      []int32 // of functions: words of parameters, paths of the types of results
	refs      kept    // of loads, functions and classes, which say from where to where
	shown     kept    // of functions, one after another: what is only written
	own       table   // what its qualified names stand for
	resolved  []int32 // of found, by import and binding behind those; 0 for what was not asked for yet
}

// tongue is what units of one language have in common.
type tongue struct {
	language Language
	family   string
	means    Semantics
	kin      int32 // the word for the family
}

// further is what most files have nothing of, and those share one.
type further struct {
	program   bool    // it gives nothing to those who import it
	routes    []Route // their handlers are in handlers
	handlers  []ref
	takes     [][]take          // of functions
	compiles  map[int32][]int32 // words: what functions have the compiler run, where they are constant
	values    []value
	callables []callable
	makes     map[int32][]int32 // of functions, values
	repair    func(masked func(function int) bool) []Edit
	stars     func(has func(module, name string) bool)
	faults    []int
}

func (f *further) isEmpty() bool {
	return !f.program && f.repair == nil && f.takes == nil && len(f.compiles)+len(f.makes)+len(f.routes)+len(f.values)+len(f.callables)+len(f.faults) == 0
}

// span is a Range, compact.
type span struct{ start, end int32 }

func spanOf(r Range) span { return span{int32(r.Start), int32(r.End)} }

func (s span) wide() Range { return Range{int(s.start), int(s.end)} }

// two are spans, one behind the other.
type two struct{ start, middle, end int32 }

func (t two) first() span { return span{t.start, t.middle} }

func (t two) second() span { return span{t.middle, t.end} }

// classOf is a class of a unit.
type classOf struct {
	name   int32 // a word
	parent int32
	bases  span // of refs
	makes  span // of refs: what runs when one of it is made
	span   span
	late   bool    // it is not made when the file is loaded
	wants  []int32 // methods of an interface

	signature int32 // of functions
	solid     bool  // no function is of it
}

// imported is an Import in words.
type imported struct{ module, name, local int32 }

type binding struct {
	name int32 // a word
	ref
}

type class struct{ unit, local, group int32 }

type module struct {
	name, family string
	units        []int32
}

type moduleKey struct{ family, name string }

type anchor struct{ family, prefix, folder string }

// place is a name (a number of words) in a unit, a group or a family.
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
	isSlot     // id: of a function; unit: the word of a parameter, or result
	isMember   // of what is not known: id is its word
	isType     // one without a name: id is its path, see Each; unit: where it is written
	isAnyone   // not known, beside what is
)

// thing is what a name stands for. id counts functions, groups, modules; unit is that
// of an import or a binding.
type thing struct {
	kind kind
	id   int32
	unit int32
}

// given is an Argument, compact.
type given struct {
	path, at, as, into int32
	of                 bool
}

// take is a Take, compact.
type take struct {
	runs, rest bool
	into       []int32
	puts       []int32 // words
}

func newProject() *project {
	p := &project{
		words:    newWords(),
		shelf:    shelf{room: roomOfShelf},
		tongues:  map[string]*tongue{},
		enclosed: map[place]int32{}, decorated: map[place][]thing{}, callIDs: map[given]int32{}, stars: map[int32][]int32{}, reach: map[int32][]int32{},
		byModule: map[moduleKey]int32{}, byStem: map[moduleKey]int32{},
		global:   map[moduleKey][]int32{},
		compiled: map[place]bool{}, callable: map[place][]int32{}, aliases: map[int32]bool{}, opened: map[int32]bool{},
		mapped: map[moduleKey]*mapped{}, closed: map[moduleKey]bool{}, memo: map[question]answer{},
	}
	// First the word of nothing, and those of which every function has one.
	p.words.id("")
	for _, policy := range Policies {
		p.words.id(string(policy.Construct))
	}
	return p
}

// compact takes over what a language said of a file. It may be called by several at a
// time. What is held for the whole run is of the size that it has, and no text is in it
// but those of words: one may be a part of a whole source.
func (p *project) compact(u *unit, f *File) {
	p.words.Lock()
	defer p.words.Unlock()
	u.further = &further{}
	for _, name := range f.Modules {
		u.modules = append(u.modules, p.words.texts[p.words.id(name)])
	}
	var all refs
	shown := p.compactFunctions(u, f, &all)
	p.compactClasses(u, f, &all)
	for i, v := range f.Values {
		u.values = append(u.values, value{int32(v.Function), int32(v.Within), int32(v.Takes), p.given(v.Into), p.typed(v.Signature), p.distinct(&all, v.Runs)})
		if u.makes == nil {
			u.makes = map[int32][]int32{}
		}
		u.makes[int32(v.Function)] = append(u.makes[int32(v.Function)], int32(i))
	}
	u.loads = p.loaded(&all, f.Loads)
	u.refs, u.shown, u.said = p.shelf.put(all.packed), p.shelf.put(shown), slices.Clone(u.said)
	u.imports = make([]imported, len(f.Imports))
	for i, im := range f.Imports {
		u.imports[i] = imported{p.words.id(im.Module), p.words.id(im.Name), p.words.id(im.Local)}
	}
	u.bindings = make([]binding, len(f.Bindings))
	for i, b := range f.Bindings {
		u.bindings[i] = binding{p.words.id(b.Name), p.ref(b.Value)}
	}
	for _, r := range f.Routes {
		u.handlers = append(u.handlers, p.ref(r.Handler))
		r.Handler = Ref{}
		u.routes = append(u.routes, r)
	}
	p.compile(u, f)
	for _, c := range f.Callable {
		u.callables = append(u.callables, callable{p.words.id(c.Name), p.typed(c.Type)})
	}
	u.repair, u.stars, u.faults, u.program, u.read = f.Repair, f.Stars, f.Faults, f.Program, true
	if u.isEmpty() {
		u.further = &p.none
	}
}

// begin is a file of a language before anything is known of it. It is for one at a time.
func (p *project) begin(path string, l Language) *unit {
	of := p.tongues[l.Name()]
	if of == nil {
		of = &tongue{language: l, family: family(l), means: l.Semantics()}
		of.kin = p.words.id(of.family)
		p.tongues[l.Name()] = of
	}
	return &unit{path: path, tongue: of, further: &p.none}
}

// compactFunctions adds what the functions of a file refer to, and gives what is shown of
// them, one after another.
func (p *project) compactFunctions(u *unit, f *File, out *refs) (shown packed) {
	all := make([]function, len(f.Functions))
	for i := range f.Functions {
		all[i] = p.function(&f.Functions[i])
		p.show(&shown, &f.Functions[i])
		runs, wrapped := p.distinct(out, f.Functions[i].Runs), p.all(out, f.Functions[i].Wrapped)
		all[i].refs = two{runs.start, wrapped.start, wrapped.end}
		said := &all[i].said
		said.start = int32(len(u.said))
		for _, name := range f.Functions[i].Parameters {
			u.said = append(u.said, p.words.id(name))
		}
		said.middle = int32(len(u.said))
		for _, of := range f.Functions[i].Results {
			u.said = append(u.said, p.typed(of))
		}
		said.end = int32(len(u.said))
		if taken := p.taken(f.Functions[i].Takes); taken != nil {
			if u.takes == nil {
				u.takes = make([][]take, len(f.Functions))
			}
			u.takes[i] = taken
		}
	}
	u.functions = functionsOf(all)
	return shown
}

// compactClasses adds what the classes of a file refer to.
func (p *project) compactClasses(u *unit, f *File, out *refs) {
	u.classes = make([]classOf, len(f.Classes))
	for i, c := range f.Classes {
		k := classOf{name: p.words.id(c.Name), parent: int32(c.Parent), span: spanOf(c.Span), late: c.Late}
		for _, name := range c.Wants {
			k.wants = append(k.wants, p.words.id(name))
		}
		k.signature, k.solid = p.typed(c.Signature), c.Solid
		if c.Alias {
			p.aliases[k.name] = true
		}
		k.bases, k.makes = p.all(out, c.Bases), p.distinct(out, c.Makes)
		u.classes[i] = k
	}
}

func (p *project) function(f *Function) function {
	return function{
		name: p.words.id(f.Name), group: -1, parent: int32(f.Parent), class: int32(f.Class), line: int32(f.Line),
		span: spanOf(f.Span), construct: p.words.id(string(f.Construct)), takes: int32(f.Arguments), into: p.given(f.Into), signature: p.typed(f.Signature),
		flags: flags{public: f.Public, doc: f.Doc, broken: f.Broken, single: f.Single},
	}
}

// show adds what nobody asks for before the function is written. Its text has a zero byte
// for the name.
func (p *project) show(out *packed, f *Function) {
	strict := p.words.id(strings.ReplaceAll(f.Strict, f.Name, "\x00"))
	for _, n := range []int{f.Body.Start, f.Body.End, int(strict), f.Shape.Lines, f.Shape.Branches, f.Shape.Calls, f.Shape.Depth} {
		out.add(int32(n))
	}
}

// wide are the functions of a file as the language said them, but for what they run and
// their callers.
func (p *project) wide(u *unit) []Function {
	out := make([]Function, u.functions.len())
	text, err := u.shown.read()
	if err != nil {
		panic(err) // the guard around makes it the failure of this file
	}
	rest := packed(text)
	next := func() int { return int(rest.take()) }
	for i := range out {
		f := u.functions.at(i)
		name := p.words.texts[f.name]
		out[i] = Function{
			Name: name, Construct: Construct(p.words.texts[f.construct]), Public: f.public, Doc: f.doc, Broken: f.broken,
			Parent: int(f.parent), Class: int(f.class), Line: int(f.line), Span: f.span.wide(), Body: Range{next(), next()},
			Strict: strings.ReplaceAll(p.words.texts[next()], "\x00", name),
			Shape:  Shape{Lines: next(), Branches: next(), Calls: next(), Depth: next()},
		}
	}
	return out
}

func (p *project) ref(r Ref) ref {
	if len(r.Path) == 0 {
		return refOf(-1, -1, Named)
	}
	out := refOf(p.words.path(r.Path), r.Class, r.Use)
	out.into = p.given(r.Into)
	return out
}

// typed is the path of a type, or a Signature; unknown for none.
func (p *project) typed(parts []string) int32 {
	if len(parts) == 0 {
		return unknown
	}
	return p.words.path(parts)
}

// given is the number of a call, 0 for none.
func (p *project) given(c *Argument) int32 {
	if c == nil {
		return 0
	}
	call := given{path: p.words.path(c.Path), at: int32(c.At), as: -1, into: p.given(c.Into), of: c.Of}
	if c.As != "" {
		call.as = p.words.id(c.As)
	}
	id, known := p.callIDs[call]
	if !known {
		p.calls = append(p.calls, call)
		id = int32(len(p.calls))
		p.callIDs[call] = id
	}
	return id
}

func (p *project) taken(all []Take) []take {
	var out []take
	for _, t := range all {
		one := take{runs: t.Runs, rest: t.Rest}
		for _, c := range t.Into {
			one.into = append(one.into, p.given(c))
		}
		for _, name := range t.Puts {
			one.puts = append(one.puts, p.words.id(name))
		}
		out = append(out, one)
	}
	return out
}

// all adds references as they are, and says where they stand.
func (p *project) all(out *refs, all []Ref) span {
	from := len(out.packed)
	for _, r := range all {
		if c := p.ref(r); c.path >= 0 {
			out.put(c)
		}
	}
	return span{int32(from), int32(len(out.packed))}
}

// distinct leaves out what says the same again: the first stands for all.
func (p *project) distinct(out *refs, all []Ref) span {
	from := len(out.packed)
	for c := range p.once(all) {
		out.put(c)
	}
	return span{int32(from), int32(len(out.packed))}
}

// loaded is distinct with the lines.
func (p *project) loaded(out *refs, all []Ref) span {
	from := len(out.packed)
	for c, line := range p.once(all) {
		out.put(c)
		out.add(int32(line))
	}
	return span{int32(from), int32(len(out.packed))}
}

// once gives those that are different, with the line of the first.
func (p *project) once(all []Ref) iter.Seq2[ref, int] {
	return func(yield func(ref, int) bool) {
		seen := map[ref]bool{} // far fewer than all, where there are many
		for _, r := range all {
			c := p.ref(r)
			if c.path < 0 || seen[c] {
				continue
			}
			seen[c] = true
			if !yield(c, r.Line) {
				return
			}
		}
	}
}
