package mask

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// some is a file of functions that each refer to names of their own, and to others' before.
func some(functions, each int) *File {
	f := &File{Modules: []string{"a"}}
	for i := range functions {
		one := Function{
			Name: fmt.Sprint("f", i), Construct: Plain, Parent: -1, Class: -1, Line: i + 1,
			Span: Range{100 * i, 100*i + 90}, Body: Range{100*i + 20, 100*i + 80}, Strict: fmt.Sprintf("raise NotImplementedError('f%d')", i),
			Shape: Shape{Lines: 7, Branches: 3, Calls: each, Depth: 2}, Parameters: []string{"x", "y"}, Results: [][]string{{"A"}, nil},
			Wrapped: []Ref{{Path: []string{"w"}, Use: Called, Class: -1}},
		}
		for j := range each {
			one.Runs = append(one.Runs, Ref{Path: []string{"self", fmt.Sprint("m", i+j)}, Use: Called, Class: i % 3})
		}
		one.Runs = append(one.Runs, one.Runs...) // said again
		f.Functions = append(f.Functions, one)
		f.Loads = append(f.Loads, Ref{Path: []string{one.Name}, Use: Called, Class: -1, Line: 100_000 + i})
	}
	return f
}

func read(p *project, f *File) *unit {
	u := &unit{path: "a.py", tongue: &tongue{family: "python"}}
	p.compact(u, f)
	return u
}

// What a file says is there again when it is asked for.
func TestFacts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		functions int
		room      int64
		small     bool
	}{{300, roomOfShelf, true}, {300, 0, true}, {1000, roomOfShelf, false}} {
		p, f := newProject(), some(c.functions, 20)
		p.shelf.room = c.room
		u := read(p, f)
		if is := len(u.functions.small) > 0; is != c.small || (p.shelf.file != nil) != (c.room == 0) {
			t.Fatalf("%+v: small %t, in a file %t", c, is, p.shelf.file != nil)
		}
		testFacts(t, p, u, f)
		if err := errors.Join(p.shelf.err, p.shelf.close()); err != nil {
			t.Error(err)
		}
	}
}

func testFacts(t *testing.T, p *project, u *unit, f *File) {
	t.Helper()
	for i, of := range p.wide(u) {
		want := f.Functions[i]
		want.Runs, want.Parameters, want.Wrapped, want.Results = nil, nil, nil, nil
		if diff := cmp.Diff(want, of); diff != "" {
			t.Fatal(diff)
		}
		var runs []Ref
		for r := range u.ran(int32(i)) {
			runs = append(runs, p.said(r))
		}
		if diff := cmp.Diff(f.Functions[i].Runs[:20], runs); diff != "" {
			t.Fatal(diff)
		}
		wrapped := slices.Collect(u.refs.of(u.functions.at(i).refs.second()))
		if len(wrapped) != 1 || p.said(wrapped[0]).Path[0] != "w" {
			t.Fatalf("f%d is wrapped in %v", i, wrapped)
		}
		if said := u.functions.at(i).said; len(u.said[said.start:said.middle]) != 2 || len(u.said[said.middle:said.end]) != 2 || u.said[said.end-1] != unknown {
			t.Fatalf("f%d takes and gives %v of %v", i, said, u.said)
		}
	}
	var loads []Ref
	for r, line := range u.refs.lines(u.loads) {
		one := p.said(r)
		one.Line = int(line)
		loads = append(loads, one)
	}
	if diff := cmp.Diff(f.Loads, loads); diff != "" {
		t.Error(diff)
	}
}

// said is a reference as it was given.
func (p *project) said(r ref) Ref {
	out := Ref{Use: r.use(), Class: int(r.class())}
	for _, word := range p.words.split(r.path) {
		out.Path = append(out.Path, p.words.texts[word])
	}
	return out
}

// The facts of ten thousand files are held at once: what is kept of a file, its words left
// out, is to be little. The bounds are what it takes.
func TestRoomOfFacts(t *testing.T) {
	t.Parallel()
	const functions, each = 300, 20
	u := read(newProject(), some(functions, each))
	if n := int(u.refs.size) / (functions * (each + 2)); n > 6 {
		t.Errorf("a reference takes %d bytes", n)
	}
	if n := int(unsafe.Sizeof(small{})) + int(u.shown.size)/functions; n > 60 {
		t.Errorf("a function takes %d bytes", n)
	}
	if n := unsafe.Sizeof(unit{}); n > 352 {
		t.Errorf("a file takes %d bytes before anything is said of it", n)
	}
	if n := cap(u.said); n > 5*functions {
		t.Errorf("what is said of %d functions has room for %d", 4*functions, n)
	}
}

// Of what only the decision needs nothing is left for the writing.
func TestForget(t *testing.T) {
	t.Parallel()
	p := newProject()
	u := read(p, some(3, 3))
	p.units = []*unit{u}
	if err := p.index(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := p.wide(u)
	p.forget()
	if u.refs.size > 0 || u.said != nil || u.own != nil || u.bindings != nil || p.groups != nil || u.modules != nil || u.classes != nil || p.words.parts != nil {
		t.Error("facts are left that nobody asks for any more")
	}
	if diff := cmp.Diff(before, p.wide(u)); diff != "" {
		t.Error(diff)
	}
}
