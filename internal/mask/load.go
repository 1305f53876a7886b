package mask

import (
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

// loadKind is that of a run; "" where no file was read.
func (r *run) loadKind() LoadKind {
	switch {
	case len(r.project.units) == 0:
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

// stays are the functions which run when the code is loaded, with the reason of each: those that were seen, or those that
// the rule of plain names finds where nobody looked; and those without which a starter did not load.
func (r *run) stays(ctx context.Context) map[int]string {
	out := map[int]string{}
	observed := r.observed()
	if r.Load != nil {
		r.project.seen(r.Load.Ran, out)
	}
	r.project.byNames(ctx, r.nativeCalls(ctx), func(u *unit) bool { return observed[u.family] }, out)
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

// observed are the families of languages whose load was seen: of one language that, else those of which something ran.
func (r *run) observed() map[string]bool {
	out := map[string]bool{}
	if r.Load == nil {
		return out
	}
	for _, l := range r.Languages {
		out[family(l)] = len(r.Languages) == 1 || slices.ContainsFunc(r.Load.Ran, func(at Seen) bool { return l.Grammar(at.Path) != "" })
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
		if u == nil {
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
	return f.last == at.Name && f.From <= at.Line && at.Line <= f.Line
}

// byNames adds what the rule of plain names finds in the units of which nobody saw what runs: what compiled code calls
// (native), what the statements of the files call that are loaded, and what those functions call in turn. It is the last
// resort, for a mask without an environment: it follows names alone, so it keeps some functions that do not run, and misses
// what is called by a table, an operator or a computed name.
func (p *project) byNames(ctx context.Context, native []int, seen func(*unit) bool, out map[int]string) {
	l := &loading{project: p, seen: seen, out: out, known: map[key]bool{}}
	for _, f := range native {
		l.take(f, fmt.Sprintf("%s:%d", p.of(f).unit.path, p.of(f).Line))
	}
	for u := range p.until(ctx) {
		if u.outside || seen(u) {
			continue
		}
		for _, r := range u.loads {
			l.call(u, r, fmt.Sprintf("%s:%d", u.path, r.Line), true)
		}
		for _, f := range u.functions {
			if f.Construct == Hook {
				l.calls(u, f, fmt.Sprintf("%s:%d", u.path, f.Line))
			}
		}
	}
	for ; len(l.queue) > 0 && ctx.Err() == nil; l.queue = l.queue[1:] {
		f, from := p.of(l.queue[0]), strings.TrimSuffix(strings.TrimPrefix(out[l.queue[0]], "runs when "), " is loaded")
		l.calls(f.unit, f, from)
	}
}

// loading is the rule of plain names at work.
type loading struct {
	*project
	seen    func(*unit) bool
	out     map[int]string
	queue   []int
	made    []key        // classes of which something makes an object, in order
	waiting []key        // names that are called on objects: of the classes that are made
	known   map[key]bool // both; a name that is called is known with a dot before it
}

func (l *loading) take(f int, from string) {
	if l.out[f] == "" && !l.seen(l.of(f).unit) {
		l.out[f] = "runs when " + from + " is loaded"
		l.queue = append(l.queue, f)
	}
}

func (l *loading) calls(u *unit, f *function, from string) {
	for _, r := range f.Runs {
		l.call(u, r, from, false)
	}
}

// call follows one call. One that stands in no function may be of the class around it, which has no objects yet.
func (l *loading) call(u *unit, r Ref, from string, first bool) {
	name := r.Path[len(r.Path)-1]
	at := key{u.family, name}
	if len(r.Path) == 1 && l.classes[at] {
		l.make(at, from)
	}
	if l.onObject(u, r.Path) {
		if asked := (key{u.family, "." + name}); !l.known[asked] {
			l.known[asked], l.waiting = true, append(l.waiting, at)
			for _, class := range l.made {
				l.member(class, at, from)
			}
		}
		return
	}
	found := l.mayCall(u, r.Path)
	switch {
	case u.means.Everywhere && first && len(r.Path) == 1:
		found = slices.DeleteFunc(slices.Clone(found), func(f int) bool {
			return l.of(f).unit != u && l.of(f).Class >= 0 && !l.of(f).Single && l.of(f).Construct != Constructor
		})
	case len(found) == 0 && first && r.Class >= 0 && len(r.Path) == 1: // in the body of a class its members have bare names
		found = u.byLast[name]
	}
	for _, f := range found {
		l.take(f, from)
	}
}

// make notes that there is an object of a class.
func (l *loading) make(class key, from string) {
	if l.known[class] {
		return
	}
	l.known[class], l.made = true, append(l.made, class)
	for _, name := range l.waiting {
		l.member(class, name, from)
	}
}

// member takes a method of a class of which there is an object.
func (l *loading) member(class, name key, from string) {
	if class.family != name.family {
		return
	}
	for _, f := range l.members[place{class.family, class.name, name.name}] {
		l.take(f, from)
	}
}
