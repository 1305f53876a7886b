package mask

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/nearest"
)

// Slice restricts what may be masked; the zero Slice is everything. One field is set;
// Returned goes with Names.
type Slice struct {
	Module string   `json:"module,omitempty"` // a path (file or folder) or a name by which files import it
	Names  []string `json:"names,omitempty"`  // Class.method, path::Class.method
	// Returned are those of Names that stay, and of which the function literals that they return
	// are masked: what makes a handler runs where its route is declared.
	Returned []string `json:"returned,omitempty"`
	Function string   `json:"function,omitempty"` // the function with all that only it uses
	Route    string   `json:"route,omitempty"`    // handlers of HTTP routes under this prefix
}

// Everything reports whether nothing is left out.
func (s Slice) Everything() bool {
	return s.Module == "" && len(s.Names) == 0 && s.Function == "" && s.Route == ""
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
	case s.Route != "":
		return p.pickRoute(s.Route)
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
			f := p.words.texts[u.functions[i].name]
			if f == name || strings.HasPrefix(f, name+".") && p.isClassOf(u, name) {
				found = append(found, u.first+i)
			}
			known = append(known, f)
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

func (p *project) isClassOf(u *unit, name string) bool {
	return slices.ContainsFunc(u.classes, func(c *class) bool { return p.words.texts[c.name] == name })
}

// pickRoute gives the handlers of routes under a prefix.
func (p *project) pickRoute(prefix string) (map[int]bool, error) {
	in := map[int]bool{}
	known := map[string]bool{} // with what is above them
	routes := map[string]bool{}
	hit := false
	for _, u := range p.units {
		for i, r := range u.routes {
			routes[r.Path] = true
			for at := "/" + strings.Trim(r.Path, "/"); at != "/"; at = path.Dir(at) {
				known[at] = true
			}
			if !routeUnder(r.Path, prefix) {
				continue
			}
			hit = true
			if r.Function >= 0 {
				in[u.first+r.Function] = true
			}
			for _, f := range p.handle(u, u.handlers[i]) {
				in[f] = true
			}
		}
	}
	if !hit {
		return nil, &SliceError{fmt.Sprintf("no route under %q%s (%d routes in this tree)", prefix, nearest.Hint("/"+strings.Trim(prefix, "/"), slices.Sorted(maps.Keys(known))), len(routes))}
	}
	if len(in) == 0 {
		return nil, &SliceError{fmt.Sprintf("the handlers of the routes under %q are not in this tree", prefix)}
	}
	return in, nil
}

// handle are the functions that a handler of a unit is, or is made of.
func (p *project) handle(u *unit, h ref) []int {
	if h.path < 0 {
		return nil
	}
	if u.means.ByName {
		return p.mayCall(u, h)
	}
	var out []int
	for _, t := range p.ask(where{unit: u, function: -1, class: h.class, loads: true}, h.path).things {
		switch t.kind {
		case isFunction:
			out = append(out, t.id)
		case isClass, isInstance:
			out = append(out, p.groups[t.id].members...)
		}
	}
	return out
}

// routeUnder compares whole segments: /user is not above /users.
func routeUnder(path, prefix string) bool {
	path, prefix = "/"+strings.Trim(path, "/"), "/"+strings.Trim(prefix, "/")
	return prefix == "/" || path == prefix || strings.HasPrefix(path, prefix+"/")
}
