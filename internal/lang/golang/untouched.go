package golang

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
)

// Untouched compares, in both trees, the source of a test and of all test code
// that it may run. Names are resolved by go/types and not by their spelling. The
// checker sees the package with its tests, and the packages of helpers that lead
// to a change; all other imports are empty, and what it cannot resolve is no error.
//
// A test may run what it refers to, directly or through others, in files that
// changed or not. A method counts where
//   - it is selected: called, or taken as a value, also by way of embedding;
//   - a value of its type leaves the checked code: it is converted to an interface,
//     instantiates a type parameter, or is handed to code that is not checked.
//     Whoever has it then may call every method of it;
//   - a method of its name is selected from a value of unknown type, by code that
//     also refers to the type. A value of a type to which nothing refers cannot be
//     there, so String of a bytes.Buffer is not String of a helper.
//
// Code of the project itself is the same in both trees and not looked into: it
// cannot refer to test code, and what it is given has left the checked code.
//
// For every test of a package count TestMain and init functions and variables named
// _ whose value makes a call, of its test files and of the helper packages that they
// import. A variable with a name counts for those that refer to it; one that loses or
// gets its name is still evaluated, and nothing changes for the others.
//
// Comments and layout do not count, but for directives and the output of examples. A
// subtest stands with its whole function; a method of a test suite with itself and
// the suite's own helpers. For changed data files see dataFor.
func (Language) Untouched(base, start lang.Tree, changed []string) func(lang.Test) bool {
	before, after := newTestCode(base, changed), newTestCode(start, changed)
	data := changedData(base, start, changed)
	return func(t lang.Test) bool {
		_, name, ok := strings.Cut(t.ID, idSeparator)
		if !ok {
			return false
		}
		levels := strings.Split(name, "/")
		was, found := before.reach(t.Unit, levels)
		is, foundAfter := after.reach(t.Unit, levels)
		was.drop(is.values)
		is.drop(was.values)
		if !found || !foundAfter || !was.same(is) {
			return false
		}
		dir, _ := after.layout.dir(t.Unit)
		return !data.touches(dir, levels, is.literals)
	}
}

// reached is the test code that a test may run.
type reached struct {
	texts    map[string][]string // by folder and qualified name
	literals map[string]bool     // strings in it
	nameless map[string]string   // values of variables named _ that run before any test, by key
	values   map[string]bool     // of all variables of the package's test code
}

// drop leaves out nameless variables whose value the other tree evaluates as well.
func (r reached) drop(values map[string]bool) {
	for key, value := range r.nameless {
		if values[value] {
			delete(r.texts, key)
		}
	}
}

func (r reached) same(other reached) bool {
	if len(r.texts) != len(other.texts) {
		return false
	}
	for key, texts := range r.texts {
		if !slices.Equal(texts, other.texts[key]) {
			return false
		}
	}
	return true
}

// reach follows a test through the test code of one tree; false where it cannot be
// found or its package cannot be read.
func (c *testCode) reach(unit string, levels []string) (reached, bool) {
	u := c.unit(unit)
	if u == nil {
		return reached{}, false
	}
	w := walk{seen: map[*declaration]bool{}, left: map[*declaration]bool{}, unknown: map[string]bool{}, levels: levels}
	for _, p := range u.packages {
		w.queue = append(w.queue, p.functions[levels[0]]...)
	}
	if len(w.queue) == 0 {
		return reached{}, false
	}
	w.queue = append(w.queue, u.always...)
	for len(w.queue) > 0 {
		d := w.queue[0]
		w.queue = w.queue[1:]
		w.visit(d)
	}
	out := reached{texts: map[string][]string{}, literals: map[string]bool{}, nameless: map[string]string{}, values: u.values}
	for d := range w.seen {
		key := d.key
		if d.name == "_" {
			value := d.value()
			key += value
			out.nameless[key] = value
		}
		out.texts[key] = append(out.texts[key], d.text())
		for _, l := range d.facts().literals {
			out.literals[l] = true
		}
	}
	for _, texts := range out.texts {
		slices.Sort(texts)
	}
	return out, true
}

// walk is one test's way through declarations.
type walk struct {
	levels  []string
	queue   []*declaration
	seen    map[*declaration]bool
	left    map[*declaration]bool // types whose values left the checked code
	types   []*declaration        // that were seen
	unknown map[string]bool       // names selected from values of unknown type
}

func (w *walk) visit(d *declaration) {
	if w.seen[d] {
		return
	}
	w.seen[d] = true
	f := d.facts()
	w.queue = append(w.queue, f.uses...)
	for _, t := range f.leaves {
		if !w.left[t] {
			w.left[t] = true
			w.queue = append(w.queue, t)
			w.queue = append(w.queue, w.callable(t)...)
		}
	}
	if len(d.methods) > 0 {
		w.types = append(w.types, d)
		w.selected(d, w.unknown)
	}
	fresh := map[string]bool{}
	for _, name := range f.unknown {
		if !w.unknown[name] {
			w.unknown[name], fresh[name] = true, true
		}
	}
	if len(fresh) > 0 {
		for _, t := range w.types {
			w.selected(t, fresh)
		}
	}
}

func (w *walk) selected(t *declaration, names map[string]bool) {
	for _, m := range t.methods {
		if names[m.name] {
			w.queue = append(w.queue, m)
		}
	}
}

// callable are the methods that whoever has a value of a type may call. The tests
// of a suite are tests of their own: TestSuite/TestOne does not run TestTwo.
func (w *walk) callable(t *declaration) []*declaration {
	suite := len(w.levels) > 1 && slices.ContainsFunc(t.methods, func(m *declaration) bool { return m.name == w.levels[1] })
	var out []*declaration
	for _, m := range t.methods {
		if !suite || !strings.HasPrefix(m.name, "Test") || m.name == w.levels[1] {
			out = append(out, m)
		}
	}
	return out
}
