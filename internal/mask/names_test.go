package mask

import (
	"fmt"
	"testing"
)

// Names that hold each other lead to one thing by ways without number.
func TestExpand(t *testing.T) {
	t.Parallel()
	const steps = 12
	f := &File{Modules: []string{"a"}, Functions: []Function{{Name: "x0", Parent: -1, Class: -1}, {Name: "y0", Parent: -1, Class: -1}}}
	for i := 1; i <= steps; i++ {
		for _, name := range []string{"x", "y"} {
			for _, held := range []string{"x", "y"} {
				value := Ref{Path: []string{fmt.Sprint(held, i-1)}, Use: Named, Class: -1}
				f.Bindings = append(f.Bindings, Binding{Name: fmt.Sprint(name, i), Value: value})
			}
		}
	}
	p := newProject()
	p.add(&unit{path: "a.js", family: "javascript"}, f)
	if err := p.index(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found := p.inUnit(0, p.words.id(fmt.Sprint("x", steps)), 0); len(found) != 2 {
		t.Errorf("the last name stands for %d things, not for the 2 functions", len(found))
	}
}
