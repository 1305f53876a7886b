package mask

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is said again is left out, with the line of the first; what a function refers to is
// there in numbers, and what is written of it as it was said.
func TestAdd(t *testing.T) {
	t.Parallel()
	called := func(line int, path ...string) Ref { return Ref{Path: path, Use: Called, Class: -1, Line: line} }
	f := Function{
		Name: "f", Construct: Plain, Parent: -1, Class: -1, Line: 3, Span: Range{10, 90}, Body: Range{20, 80}, Strict: "raise",
		Shape: Shape{Lines: 7},
	}
	said := f
	said.Runs, said.Result = []Ref{called(4, "a", "b"), called(5, "a"), called(6, "a", "b")}, []string{"A"}
	p := newProject()
	u := &unit{family: "python"}
	p.add(u, &File{Functions: []Function{said}, Loads: []Ref{called(1, "f"), called(2, "f"), {Path: []string{"f"}, Class: -1, Line: 3}}})

	got := u.functions[0]
	if diff := cmp.Diff(f, got.Function); diff != "" {
		t.Errorf("what is written of it, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"4 called a b", "5 called a"}, p.lines(got.runs)); diff != "" {
		t.Errorf("what it runs, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1 called f", "3 named f"}, p.lines(u.loads)); diff != "" {
		t.Errorf("what loads, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(p.words.path([]string{"A"}), got.result); diff != "" {
		t.Errorf("the result, -want +got:\n%s", diff)
	}
}

// lines are references as text.
func (p *project) lines(all []ref) []string {
	var out []string
	for _, r := range all {
		text := fmt.Sprint(r.line, " ", r.use)
		for _, word := range p.words.split(r.path) {
			text += " " + p.words.texts[word]
		}
		out = append(out, text)
	}
	return out
}

func TestWords(t *testing.T) {
	t.Parallel()
	w := newWords()
	if _, ok := w.find("a"); ok {
		t.Error("nothing is there, and something is found")
	}
	a, b := w.id("a"), w.id("b")
	if a == b || w.id("a") != a || w.ids["b"] != b || w.texts[b] != "b" {
		t.Errorf("a is %d, b is %d of %q", a, b, w.texts)
	}
	ab, ba := w.path([]string{"a", "b"}), w.path([]string{"b", "a"})
	if ab == ba || w.path([]string{"a", "b"}) != ab || w.join([]int{a}, []int{b}) != ab {
		t.Errorf("a.b is %d, b.a is %d", ab, ba)
	}
	if parts := w.split(ba); !slices.Equal(parts, []int{b, a}) {
		t.Errorf("b.a has the parts %v, want %v", parts, []int{b, a})
	}
}
