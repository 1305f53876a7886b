package mask

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/nearest"
)

// Slice restricts what may be masked; the zero Slice is everything. One field is set.
type Slice struct {
	Module   string   `json:"module,omitempty"`   // a path (file or folder) or a name by which files import it
	Names    []string `json:"names,omitempty"`    // Class.method, path::Class.method, and of a Literal path::Class.method:12
	Function string   `json:"function,omitempty"` // the function with all that only it uses
}

// Everything reports whether nothing is left out.
func (s Slice) Everything() bool {
	return s.Module == "" && len(s.Names) == 0 && s.Function == ""
}

// SliceError is a slice that names nothing of the tree.
type SliceError struct{ text string }

func (e *SliceError) Error() string { return e.text }

// pick gives the functions of a slice, nil for everything.
func (p *project) pick(ctx context.Context, s Slice) (map[int]bool, error) {
	switch {
	case s.Module != "":
		return p.pickModule(s.Module)
	case len(s.Names) > 0:
		return p.pickNames(s.Names)
	case s.Function != "":
		found, err := p.pickName(s.Function)
		if err != nil {
			return nil, err
		}
		return p.graph(ctx).only(ctx, found), nil
	}
	return nil, nil
}

func (p *project) pickNames(names []string) (map[int]bool, error) {
	in := map[int]bool{}
	for _, name := range names {
		found, err := p.pickName(name)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			in[f] = true
		}
	}
	return in, nil
}

func (p *project) pickModule(word string) (map[int]bool, error) {
	in := map[int]bool{}
	var known []string
	hit := false
	if strings.Contains(word, "/") { // as a shell completes it
		word = path.Clean(word)
	}
	folder := word + "/"
	for _, u := range p.units {
		known = append(append(known, u.path), u.modules...)
		if u.path == word || strings.HasPrefix(u.path, folder) || slices.ContainsFunc(u.modules, func(m string) bool { return under(m, word) }) {
			hit = true
			for i := range u.functions {
				in[u.first+i] = true
			}
		}
	}
	if !hit {
		return nil, &SliceError{fmt.Sprintf("no module or path %q in this tree%s", word, nearest.Hint(word, known))}
	}
	return in, nil
}

// under reports whether a module is the one that is named or lies in it.
func under(module, word string) bool {
	if module == word {
		return true
	}
	rest, ok := strings.CutPrefix(module, word)
	return ok && word != "" && strings.ContainsAny(rest[:1], "./:\\")
}

// pickName finds what path::Class.method or Class.method names: all its definitions,
// and for a class all its methods.
func (p *project) pickName(word string) ([]int, error) {
	file, name, ok := strings.Cut(word, "::")
	if !ok {
		file, name = "", word
	}
	var found []int
	var known []string
	for _, u := range p.units {
		if file != "" && u.path != file {
			continue
		}
		for i := range u.functions {
			f := u.functions[i].Name
			if f == name || strings.HasPrefix(f, name+".") && u.hasClass(name) {
				found = append(found, u.first+i)
			}
			known = append(known, f)
		}
		for i, l := range u.literals {
			if l.Name == name {
				found = append(found, u.literal(i))
			}
		}
	}
	if len(found) > 0 {
		return found, nil
	}
	if file != "" && len(known) == 0 {
		var paths []string
		for _, u := range p.units {
			paths = append(paths, u.path)
		}
		return nil, &SliceError{fmt.Sprintf("no functions in %q%s", file, nearest.Hint(file, paths))}
	}
	slices.Sort(known)
	return nil, &SliceError{fmt.Sprintf("no function %q in this tree%s", word, nearest.Hint(name, slices.Compact(known)))}
}

// literal is the number of a literal among the functions of a project, which begin with 0.
func (u *unit) literal(i int) int { return -1 - u.firstLiteral - i }

func (u *unit) hasClass(name string) bool {
	return slices.ContainsFunc(u.classes, func(c Class) bool { return c.Name == name })
}
