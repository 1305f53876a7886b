package routes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

// value is what an expression of Python is known to be: nil where nothing is known, a string,
// int64, float64 or bool, or one of the types below. What comes from code outside of the tree
// stays as it is written: a call of an external, a member of one.
type pyValue any

type (
	pyNone struct{}
	// sequence is a list, tuple or set.
	pySequence struct{ items []pyValue }
	// dictionary keeps the order of its source.
	pyDictionary struct{ keys, values []pyValue }
	// module is a file, or a folder without __init__.py.
	pyModule struct {
		path, dir string // path is "" for a folder
		scope     *pyScope
		tree      *syntax.Tree
		begun     bool
	}
	// later is a name of a module that is executed further on.
	pyLater struct {
		module *pyModule
		name   string
	}
	pyFunction struct {
		node       syntax.Node
		module     *pyModule
		name       string // as masks name it: Class.method, outer.inner; "" for a lambda
		class      *pyClass
		closure    *pyScope
		decorators []pyValue // the innermost first
		wraps      pyValue   // what functools.wraps is given, where it is one
		ran        int
	}
	pyClass struct {
		node       syntax.Node
		module     *pyModule
		name       string // as masks name it
		scope      *pyScope
		bases      []pyValue
		decorators []pyValue
	}
	pyInstance struct {
		class *pyClass
		attrs map[string]pyValue
		super *pyCall // of the constructor of an external base
		made  *pyCall
	}
	pyBound struct {
		function *pyFunction
		self     pyValue
	}
	// superOf is super() in a method.
	pySuper struct {
		class *pyClass
		self  pyValue
	}
	// external is a name of a package that is not in the tree: flask.Flask.
	pyExternal struct{ name string }
	// call is one that is not run.
	pyCall struct {
		of     pyValue
		args   []pyValue
		names  []string
		named  map[string]pyValue
		module *pyModule
		line   int
	}
	pyMember struct {
		of   pyValue
		name string
	}
	pyIndexed struct {
		of    pyValue
		items []pyValue
	}
	// either is a | b.
	pyEither struct{ items []pyValue }
)

func (c *pyCall) at() string { return fmt.Sprintf("%s:%d", c.module.path, c.line) }

// arg is an argument by name or, where n is not negative, by place.
func (c *pyCall) arg(n int, names ...string) (pyValue, bool) {
	for _, name := range names {
		if v, ok := c.named[name]; ok {
			return v, true
		}
	}
	if n >= 0 && n < len(c.args) {
		return c.args[n], true
	}
	return nil, false
}

// text is an argument that is a string.
func (c *pyCall) text(n int, names ...string) (string, bool) {
	v, _ := c.arg(n, names...)
	s, ok := v.(string)
	return s, ok
}

// scope holds names. Those of a class are not seen from its methods.
type pyScope struct {
	vars   map[string]pyValue
	parent *pyScope
}

func newPyScope(parent *pyScope) *pyScope {
	return &pyScope{vars: map[string]pyValue{}, parent: parent}
}

func (s *pyScope) set(name string, v pyValue) { s.vars[name] = v }

func (s *pyScope) find(name string) (pyValue, bool) {
	for depth := 0; s != nil && depth < maxDepth; s, depth = s.parent, depth+1 {
		if v, ok := s.vars[name]; ok {
			return v, true
		}
	}
	return nil, false
}

func (d *pyDictionary) get(key pyValue) (pyValue, bool) {
	for i, k := range d.keys {
		if isPlain(k) && isPlain(key) && k == key {
			return d.values[i], true
		}
	}
	return nil, false
}

func (d *pyDictionary) set(key, v pyValue) {
	for i, k := range d.keys {
		if isPlain(k) && isPlain(key) && k == key {
			d.values[i] = v
			return
		}
	}
	if len(d.keys) < maxItems {
		d.keys, d.values = append(d.keys, key), append(d.values, v)
	}
}

// isPlain reports whether a value can be compared with ==.
func isPlain(v pyValue) bool {
	switch v.(type) {
	case string, int64, float64, bool, pyNone:
		return true
	}
	return false
}

// nameOf is the dotted name of what an external value is, without its calls and indexes:
// fields.Str of fields.Str(required=True); "" where it is of the tree or not known.
func nameOf(v pyValue) string {
	for range maxDepth {
		switch x := v.(type) {
		case *pyExternal:
			return x.name
		case *pyMember:
			if of := nameOf(x.of); of != "" {
				return of + "." + x.name
			}
			return x.name
		case *pyCall:
			v = x.of
		case *pyIndexed:
			v = x.of
		case *pyFunction:
			return x.name
		case *pyClass:
			return x.name
		case *pyInstance:
			return x.class.name
		case *pyBound:
			v = x.function
		default:
			return ""
		}
	}
	return ""
}

// last is the part of a dotted name behind its last dot.
func lastName(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// line is the classes that a class inherits from, itself first: nearest first, each once. It
// is near enough to the order of Python.
func (c *pyClass) line() []*pyClass {
	var out []*pyClass
	seen := map[*pyClass]bool{}
	var visit func(c *pyClass, depth int)
	visit = func(c *pyClass, depth int) {
		if seen[c] || depth > maxBases || len(out) > maxItems {
			return
		}
		seen[c] = true
		out = append(out, c)
		for _, b := range c.bases {
			if i, ok := b.(*pyIndexed); ok { // Generic[T]
				b = i.of
			}
			if base, ok := b.(*pyClass); ok {
				visit(base, depth+1)
			}
		}
	}
	visit(c, 0)
	return out
}

// externals are the classes outside of the tree that a class inherits from.
func (c *pyClass) externals() []pyValue {
	var out []pyValue
	for _, a := range c.line() {
		for _, b := range a.bases {
			if i, ok := b.(*pyIndexed); ok {
				b = i.of
			}
			if _, ok := b.(*pyClass); !ok && b != nil {
				out = append(out, b)
			}
		}
	}
	return out
}

// inherits reports whether a class has a base outside of the tree with one of some last names.
func (c *pyClass) inherits(names ...string) bool {
	return slices.ContainsFunc(c.externals(), func(b pyValue) bool { return slices.Contains(names, lastName(nameOf(b))) })
}

// own is a name in the body of a class or of one that it inherits from.
func (c *pyClass) own(name string) (pyValue, *pyClass) {
	for _, a := range c.line() {
		if v, ok := a.scope.vars[name]; ok {
			return v, a
		}
	}
	return nil, nil
}
