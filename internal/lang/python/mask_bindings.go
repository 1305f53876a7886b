package python

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// importsOf are the names that a statement brings.
func (r *reader) importsOf(n syntax.Node) []mask.Import {
	var out []mask.Import
	module := r.word(n.Child("module_name"))
	from := n.Kind() == "import_from_statement"
	for c := range n.Children() {
		switch {
		case c.Kind() == "wildcard_import":
			out = append(out, mask.Import{Module: module, Name: "*"})
		case c.Field() != "name":
		case c.Kind() == "aliased_import":
			out = append(out, r.importOf(from, module, c.Child("name"), r.word(c.Child("alias"))))
		default:
			out = append(out, r.importOf(from, module, c, ""))
		}
	}
	return out
}

// importOf: "import a.b" binds a, and makes a.b known.
func (r *reader) importOf(from bool, module string, name syntax.Node, alias string) mask.Import {
	i := mask.Import{Module: module, Name: r.word(name), Local: alias}
	if !from {
		i.Module, i.Name = i.Name, ""
	}
	if alias == "" {
		first := name.First()
		if !first.Is() {
			first = name
		}
		i.Local = r.word(first)
	}
	return i
}

// imports notes what a statement brings. What one in a function brings is a name of the
// function, but for what it declares to be global.
func (r *reader) imports(n syntax.Node) {
	for _, i := range r.importsOf(n) {
		if len(r.names) > 0 && i.Name != "*" && !r.scope.names[i.Local].global {
			i.Local = r.names[len(r.names)-1] + "." + i.Local
		}
		r.file.Imports = append(r.file.Imports, i)
	}
}

// binding notes what a name of a module, of a class or of an object's class holds.
func (r *reader) binding(left, right, annotation syntax.Node, p spot) (bound bool) {
	for _, pair := range paired(left, right) {
		r.binding(pair[0], pair[1], syntax.Node{}, p)
	}
	if left.Is("pattern_list", "tuple_pattern") && right.Kind() == "call" && p.function < 0 && p.class < 0 {
		for c := range left.Children() {
			if r.word(c) == "__getattr__" { // somebody else finds what the module has not
				r.file.Bindings = append(r.file.Bindings, mask.Binding{Name: "__getattr__", Value: mask.Ref{Path: []string{mask.Whoever}, Use: mask.Named, Class: -1}})
			}
		}
	}
	name := ""
	switch {
	case left.Kind() == "identifier" && p.function < 0:
		name = p.prefix + r.word(left)
	case left.Kind() == "attribute": // self.x = C(…)
		if name = r.memberNamed(left); name == "" {
			return false
		}
	default:
		return false
	}
	for right.Kind() == "assignment" { // a = b = c
		right = right.Child("right")
	}
	right = r.unwrapped(right)
	r.table(name, right)
	bound = r.bound(name, right, annotation)
	if right.Is() && !bound && !isValue(r, right) || p.class >= 0 && annotation.Is() && makesField(r.path(right.Child("function"))) {
		r.unclear[name] = true
	}
	return bound
}

// makesField tells field(…) of dataclasses and their like: what the objects have under the
// name comes from elsewhere.
func makesField(path []string) bool {
	return len(path) > 0 && slices.Contains([]string{"field", "Field", "attrib", "ib"}, path[len(path)-1])
}

// bound notes a name with what is known of its value.
func (r *reader) bound(name string, right, annotation syntax.Node) (bound bool) {
	if right.Kind() == "conditional_expression" {
		r.boundEither(name, right)
		return false
	}
	how := mask.Named
	path := r.path(right)
	cast := r.castTo(right)
	switch {
	case cast != nil:
		how, path = mask.Called, cast
	case right.Kind() == "call":
		how, path = mask.Called, r.path(right.Child("function"))
	case !right.Is() && annotation.Is():
		how, path = mask.Called, r.path(annotation.First())
	}
	if len(path) == 0 || path[0] == "?" {
		return false
	}
	path = r.resolve(path)
	bound = len(path) > 0 && path[0] != "?"
	if bound {
		r.file.Bindings = append(r.file.Bindings, mask.Binding{Name: name, Value: mask.Ref{Path: path, Use: how, Class: r.class}})
	}
	if bound && how == mask.Called && len(path) > 1 && makesOthers(path) { // where its module is one of others
		r.file.Bindings = append(r.file.Bindings, mask.Binding{Name: name, Value: mask.Ref{Path: path[:1], Use: how, Class: r.class}})
	}
	return bound
}

// boundEither is one of two functions, classes or objects; of one and nothing that one.
func (r *reader) boundEither(name string, n syntax.Node) {
	var out []mask.Binding
	for _, side := range []syntax.Node{firstOf(n), lastOf(n)} {
		how, of := mask.Named, side
		if side.Kind() == "call" && isClassName(r.path(side.Child("function"))) {
			how, of = mask.Called, side.Child("function")
		}
		switch {
		case r.isKnown(of):
			out = append(out, mask.Binding{Name: name, Value: mask.Ref{Path: r.resolve(r.path(of)), Use: how, Class: r.class}})
		case side.Kind() != "none":
			return
		}
	}
	r.file.Bindings = append(r.file.Bindings, out...)
}

// makesOthers tells what, as one of a module of others, gives an object of theirs: a class,
// and functions that everybody knows.
func makesOthers(path []string) bool {
	return isClassName(path) || slices.Contains([]string{"re.compile", "logging.getLogger"}, strings.Join(path, "."))
}

// castTo is T of cast(T, x), where that is a name.
func (r *reader) castTo(n syntax.Node) []string {
	if r.uncast(n) == n {
		return nil
	}
	of := positional(n)[0]
	if of.Kind() == "string" && !of.First("interpolation").Is() {
		return strings.Split(of.First("string_content").Text(), ".")
	}
	if path := r.path(of); len(path) > 0 && path[0] != "?" {
		return path
	}
	return nil
}

// unwrapped is f of staticmethod(f), and what stands in parentheses.
func (r *reader) unwrapped(n syntax.Node) syntax.Node {
	for n.Kind() == "parenthesized_expression" {
		n = firstOf(n)
	}
	path, all := r.path(n.Child("function")), positional(n)
	if n.Kind() == "call" && len(path) == 1 && (path[0] == "staticmethod" || path[0] == "classmethod") && len(all) == 1 && all[0].Is("identifier", "attribute") {
		return all[0]
	}
	return n
}

// isKnown tells a name that means the same in the whole file.
func (r *reader) isKnown(n syntax.Node) bool {
	path := r.path(n)
	if !n.Is("identifier", "attribute") || len(path) == 0 || path[0] == "?" {
		return false
	}
	path = r.resolve(path)
	return len(path) > 0 && path[0] != "?"
}

// memberNamed is the name in the file of what stands behind self or a class of the file;
// "" where it is something else's.
func (r *reader) memberNamed(n syntax.Node) string {
	path := r.path(n)
	if len(path) != 2 {
		return ""
	}
	switch to := r.resolve(path); {
	case len(to) != 2:
	case to[0] == "self" && r.class >= 0 && r.functions > 0:
		return r.file.Classes[r.class].Name + "." + to[1]
	case slices.ContainsFunc(r.file.Classes, func(c mask.Class) bool { return c.Name == to[0] }):
		return to[0] + "." + to[1]
	}
	return ""
}

// replacesModule is sys.modules[…] = module, or an object, or sys.modules[…].__class__ = C:
// who imports the file has the names of that.
func (r *reader) replacesModule(left, right syntax.Node) {
	if left.Kind() == "attribute" && r.word(left.Child("attribute")) == "__class__" {
		left = left.Child("object")
	}
	if r.functions > 0 || left.Kind() != "subscript" || !r.isModules(left.Child("value")) {
		return
	}
	if right.Kind() == "call" {
		right = right.Child("function")
	}
	if right.Kind() != "identifier" {
		return
	}
	r.hasOf(r.word(right))
	for _, im := range r.file.Imports {
		switch {
		case im.Local != r.word(right):
		case im.Name == "":
			r.file.Imports = append(r.file.Imports, mask.Import{Module: im.Module, Name: "*"})
		case strings.HasSuffix(im.Module, "."):
			r.file.Imports = append(r.file.Imports, mask.Import{Module: im.Module + im.Name, Name: "*"})
		default:
			r.file.Imports = append(r.file.Imports, mask.Import{Module: im.Module + "." + im.Name, Name: "*"})
		}
	}
}

// hasOf gives the module what a class of it has, or that of an object.
func (r *reader) hasOf(name string) {
	for _, b := range r.file.Bindings {
		if b.Name == name && b.Value.Use == mask.Called {
			name = strings.Join(b.Value.Path, ".")
			break
		}
	}
	for _, f := range r.file.Functions {
		if f.Class < 0 || r.file.Classes[f.Class].Name != name {
			continue
		}
		path := strings.Split(f.Name, ".")
		r.file.Bindings = append(r.file.Bindings, mask.Binding{Name: path[len(path)-1], Value: mask.Ref{Path: path, Use: mask.Named, Class: -1}})
	}
}

// isModules tells sys.modules.
func (r *reader) isModules(n syntax.Node) bool {
	path := r.path(n)
	return len(path) > 1 && path[len(path)-1] == "modules" && strings.Trim(path[0], "_") == "sys"
}

// ofModule tells what stands behind the name of a module of the tree.
func (r *reader) ofModule(n syntax.Node) bool {
	path := r.path(n)
	return len(path) == 2 && r.quiet == 0 && strings.ToLower(path[0]) == path[0] && r.ofTree(path[0])
}

// ofOthers tells what stands behind the name of a module that is none of the tree's: they
// call what they find there.
func (r *reader) ofOthers(n syntax.Node) bool {
	path := r.path(n)
	return len(path) > 1 && r.quiet == 0 && !r.ofTree(path[0]) &&
		slices.ContainsFunc(r.file.Imports, func(im mask.Import) bool { return im.Local == path[0] && im.Name == "" })
}
