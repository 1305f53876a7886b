package mask

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Load is what was seen when the code of a tree was loaded: every module imported, or every program started that runs no
// test, and the tests collected. It is a fact of one environment: what another version of the language, another system or
// another dependency would run is not in it.
type Load struct {
	Ran    []Seen      `json:"ran"`
	Failed []NotLoaded `json:"failed"`
	Units  int         `json:"units"` // modules or programs that were tried
}

// Seen is a place in a function that ran when the code was loaded.
type Seen struct {
	Path string `json:"path"`
	Line int    `json:"line"` // from 1: of the first line of the function, or of code inside of it
	// Name is the function's own name, without what it is a member of; "" where it is not known: then every function around
	// the line ran.
	Name  string `json:"name,omitempty"`
	First string `json:"first,omitempty"` // the place of the first call, PATH:LINE; "" where nobody saw it
	// Tests says that it ran only for a file of tests that was collected: where it is masked, that file alone does not load.
	Tests bool `json:"tests,omitempty"`
}

// NotLoaded is a module or a program that did not load.
type NotLoaded struct {
	Unit    string `json:"unit"`
	Message string `json:"message"`
	Path    string `json:"path,omitempty"`  // of the innermost place in the tree
	Tests   bool   `json:"tests,omitempty"` // it is a file of tests
	Late    bool   `json:"late,omitempty"`  // it was ended after a time: it hangs, or this machine is slow
}

// LoadKind is how a mask knows what runs when the code is loaded.
type LoadKind string

// The kinds, as the manifest has them.
const (
	Observed LoadKind = "observed" // it was loaded, and what ran was seen
	Static   LoadKind = "static"   // nobody looked: a rule by plain names decided
)

// loadKind is that of a run; "" where no file is of a language that is ByName.
func (r *run) loadKind() LoadKind {
	switch {
	case !slices.ContainsFunc(r.project.units, func(u *unit) bool { return u.means.ByName }):
		return ""
	case r.Load != nil:
		return Observed
	}
	return Static
}

// masked is how a masked body names its function when it runs.
const masked = "masked: "

// Blames are the functions, PATH::NAME, whose missing bodies the modules of a starter name that do not load.
func (l Load) Blames() []string {
	var out []string
	for _, f := range l.Failed {
		if _, name, ok := strings.Cut(f.Message, masked); ok {
			name = name[:strings.IndexAny(name+" ", " \n\"'`")] // Go may say more behind it
			if f.Path != "" {
				name = f.Path + "::" + name
			}
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// WithoutTests is l without what files of tests ran for themselves.
func (l Load) WithoutTests() Load {
	l.Ran = slices.DeleteFunc(slices.Clone(l.Ran), func(s Seen) bool { return s.Tests })
	l.Failed = slices.DeleteFunc(slices.Clone(l.Failed), func(f NotLoaded) bool { return f.Tests })
	return l
}

// Lost are the units that load in l, and not in the starter, whose load is given.
func (l Load) Lost(starter Load) []NotLoaded {
	failed := map[string]bool{}
	for _, f := range l.Failed {
		failed[f.Unit] = true
	}
	return slices.DeleteFunc(slices.Clone(starter.Failed), func(f NotLoaded) bool { return failed[f.Unit] })
}

// stays are the functions of languages that are ByName which run when the code is loaded, with the reason of each: those that
// were seen, or those that the rule of plain names finds; and those without which a starter did not load.
func (r *run) stays(ctx context.Context) map[int]string {
	out := map[int]string{}
	if r.Load != nil {
		r.project.seen(r.Load.Ran, out)
	} else {
		r.project.byNames(ctx, r.nativeCalls(ctx), out)
	}
	for _, name := range r.Keep {
		found, err := r.project.pickName(name)
		if _, bare, ok := strings.Cut(name, "::"); err != nil && ok { // the error was raised again in another file
			found, err = r.project.pickName(bare)
		}
		if err != nil { // a function that is in no file of ours
			continue
		}
		for _, f := range found {
			if out[f] == "" {
				out[f] = "the starter did not load without it"
			}
		}
	}
	return out
}

// seen adds the functions that ran.
func (p *project) seen(ran []Seen, out map[int]string) {
	units := map[string]*unit{}
	for _, u := range p.units {
		units[u.path] = u
	}
	for _, at := range ran {
		u := units[path.Clean(at.Path)]
		if u == nil || !u.means.ByName {
			continue
		}
		for i, f := range u.functions {
			if f.ran(at) && out[u.first+i] == "" {
				out[u.first+i] = "ran when the code was loaded" + firstCall(at.First)
			}
		}
	}
}

func firstCall(place string) string {
	if place == "" {
		return ""
	}
	return ", first called at " + place
}

// ran reports whether a place is of the function.
func (f *function) ran(at Seen) bool {
	switch {
	case at.Name == "":
		return f.From <= at.Line && at.Line <= f.To
	case f.Construct == Lambda:
		return f.From <= at.Line && at.Line <= f.To && strings.HasPrefix(at.Name, "<")
	}
	_, last, _ := cutLast("." + f.Name)
	return last == at.Name && f.From <= at.Line && at.Line <= f.Line
}

// byNames adds what the rule of plain names finds: what compiled code calls (native), what the statements of the files call
// that are loaded, and what those functions call in turn. It is the last resort, for a mask without an environment: it follows names alone, so it keeps some
// functions that do not run, and misses what is called by a table, an operator or a computed name.
func (p *project) byNames(ctx context.Context, native []int, out map[int]string) {
	queue := slices.Clone(native)
	for _, f := range native {
		out[f] = fmt.Sprintf("runs when %s:%d is loaded", p.of(f).unit.path, p.of(f).Line)
	}
	take := func(u *unit, refs []ref, from string) {
		for _, r := range refs {
			for _, f := range p.mayCall(u, r) {
				if out[f] == "" {
					out[f] = fmt.Sprintf("runs when %s is loaded", cmp.Or(from, fmt.Sprintf("%s:%d", u.path, r.line)))
					queue = append(queue, f)
				}
			}
		}
	}
	for u := range p.until(ctx) {
		if !u.means.ByName || u.outside {
			continue
		}
		take(u, u.loads, "")
		for _, f := range u.functions {
			if f.Construct == Hook {
				take(u, f.runs, fmt.Sprintf("%s:%d", u.path, f.Line))
			}
		}
	}
	for ; len(queue) > 0 && ctx.Err() == nil; queue = queue[1:] {
		f := p.of(queue[0])
		_, from, _ := strings.Cut(out[queue[0]], "runs when ")
		take(f.unit, f.runs, strings.TrimSuffix(from, " is loaded"))
	}
}

// most is how many functions of other files a call on an object may mean whose class is not known; of a name that more have,
// none is taken.
const most = 4

// mayCall are the functions that a call may mean, by names alone: those of the file, else of its package, else of what it
// imports. What is called on a module from outside of the tree is none of them.
func (p *project) mayCall(u *unit, r ref) []int {
	parts := p.words.split(r.path)
	name := parts[len(parts)-1]
	if u.means.Everywhere {
		return p.anywhere(u, parts)
	}
	if len(parts) > 1 {
		im, imported := u.brings(parts[0])
		if imported && len(p.ofImport(u, im)) == 0 {
			return nil
		}
		if imported {
			return p.goingBy(p.ofImport(u, im), name, true)
		}
		if found := p.goingBy([]*unit{u}, name, true); len(found) > 0 {
			return found
		}
		return p.few(u, name)
	}
	if found := p.goingBy([]*unit{u}, name, false); len(found) > 0 {
		return found
	}
	if im, ok := u.brings(name); ok {
		return p.goingBy(p.ofImport(u, im), cmp.Or(im.name, name), false)
	}
	var around []*unit
	if len(u.modules) > 0 {
		for _, at := range p.modules[p.byModule[moduleKey{u.family, u.modules[0]}]].units {
			around = append(around, p.units[at])
		}
	}
	for _, im := range u.imports {
		if p.words.texts[im.name] == "*" {
			around = append(around, p.ofImport(u, im)...)
		}
	}
	return p.goingBy(around, name, false)
}

// few are the functions of a name anywhere, where they are few.
func (p *project) few(u *unit, name int) []int {
	found := p.byLast[place{u.kin, name}]
	if len(found) > most {
		return nil
	}
	return found
}

// anywhere is mayCall where a name needs no import: the functions of the file, what makes objects of a class of that name,
// the members of the class that stands before it, and else those of the name where they are few. A class that is not of the
// tree, by its capital letter, has none.
func (p *project) anywhere(u *unit, parts []int) []int {
	name := parts[len(parts)-1]
	if len(parts) == 1 {
		if found := p.goingBy([]*unit{u}, name, true); len(found) > 0 {
			return found
		}
		if found := p.madeOf[place{u.kin, name}]; len(found) > 0 {
			return found
		}
		return p.few(u, name)
	}
	owner := parts[len(parts)-2]
	if found := p.byClass[place{owner, name}]; len(found) > 0 {
		return slices.DeleteFunc(slices.Clone(found), func(f int) bool { return p.of(f).unit.kin != u.kin })
	}
	if text := p.words.texts[owner]; text[0] >= 'A' && text[0] <= 'Z' && !p.classNames[place{u.kin, owner}] {
		return nil
	}
	if found := p.goingBy([]*unit{u}, name, true); len(found) > 0 {
		return found
	}
	return p.few(u, name)
}

// brings is the import by which a unit has a name.
func (u *unit) brings(local int) (imported, bool) {
	i := slices.IndexFunc(u.imports, func(im imported) bool { return im.local == local })
	if i < 0 {
		return imported{}, false
	}
	return u.imports[i], true
}

// ofImport are the units that an import leads to: of its module, of a module of its name, and of those below.
func (p *project) ofImport(u *unit, im imported) []*unit {
	module, name := p.words.texts[im.module], p.words.texts[im.name]
	homes := p.findModule(u, module)
	if name != "" && name != "*" {
		homes = append(homes, p.findModule(u, join(module, ".", name))...)
	}
	var out []*unit
	for _, t := range homes {
		if t.kind == isModule {
			for _, at := range p.modules[t.id].units {
				out = append(out, p.units[at])
			}
		}
	}
	return out
}

// goingBy are the functions of some units that go by a name, and what makes objects of the classes that do; members where
// they may be meant.
func (p *project) goingBy(units []*unit, name int, members bool) []int {
	var out []int
	for _, u := range units {
		for _, f := range p.inFile[place{u.index, name}] {
			if members || p.of(f).Class < 0 {
				out = append(out, f)
			}
		}
		out = append(out, p.makers[place{u.index, name}]...)
	}
	return out
}

// indexByName tells where the functions of a unit are found by their names, and the constructors by that of their class.
func (p *project) indexByName(u *unit) {
	for _, c := range u.classes {
		p.classNames[place{u.kin, p.lastWord(c.name)}] = true
	}
	for i, f := range u.functions {
		p.inFile[place{u.index, f.last}] = append(p.inFile[place{u.index, f.last}], u.first+i)
		p.byLast[place{u.kin, f.last}] = append(p.byLast[place{u.kin, f.last}], u.first+i)
		if f.Class < 0 {
			continue
		}
		class := p.lastWord(u.classes[f.Class].name)
		p.byClass[place{class, f.last}] = append(p.byClass[place{class, f.last}], u.first+i)
		if f.Construct != Constructor && p.words.texts[f.last] != "__post_init__" {
			continue
		}
		p.makers[place{u.index, class}] = append(p.makers[place{u.index, class}], u.first+i)
		p.madeOf[place{u.kin, class}] = append(p.madeOf[place{u.kin, class}], u.first+i)
	}
}

// lastWord is the last part of a qualified name.
func (p *project) lastWord(name int) int {
	_, last, _ := cutLast("." + p.words.texts[name])
	return p.words.id(last)
}
