package javascript

import (
	"cmp"
	_ "embed" // the query
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

//go:embed mask.scm
var query string

// Query is mask.scm. In TypeScript's grammar, decorators stand beside what they are of.
func (Masker) Query(g syntax.Language) string {
	if g == syntax.JavaScript {
		return query + "(method_definition (decorator) @head)"
	}
	return query
}

// reader reads one file.
type reader struct {
	mask.Reader
	typed    bool // TypeScript: types are inferred from bodies
	types    types
	expected []expected
	at       string // the path of the file
	source   []byte
	nameless int               // byte until which functions are code of what is around them
	spots    map[int]spot      // of object literals and assignments, by node
	owners   map[string]bool   // classes and objects: a function that is put on one is a method
	protos   map[string]string // variables that hold X.prototype: X
	names    map[string]int    // how often a name was given to a literal
	exported map[string]bool   // names that others can import
	declared map[string]bool   // names that the file gives to something, anywhere
	around   []around          // by function
	depth    int
}

// around is what a function is to what is inside of it.
type around struct {
	node   int    // its own
	object string // the class of what is called this; "" for none
}

// Read says what a file holds; a typed one is TypeScript's.
func Read(file string, tree *syntax.Tree, typed bool) *mask.File {
	r := &reader{
		typed: typed, at: file, source: tree.Source, spots: map[int]spot{}, owners: map[string]bool{}, protos: map[string]string{},
		names: map[string]int{}, exported: map[string]bool{}, declared: map[string]bool{},
	}
	r.types = newTypes(r)
	r.survey(tree)
	r.Full = true
	r.OnFunction, r.OnClass, r.OnCall, r.OnImport, r.OnOther = r.function, r.class, r.call, r.link, r.mark
	f := r.Reader.Read(tree)
	f.Modules = modules(file)
	r.finish(f)
	return f
}

// survey finds what has to be known beforehand, wherever it stands.
func (r *reader) survey(tree *syntax.Tree) {
	for n := range tree.All() {
		switch n.Kind() {
		case "identifier", "type_identifier":
			named := n.Field() == "name" || n.Field() == "alias" || n.Field() == "pattern"
			if named && !n.Parent().Is("generic_type", "type_query", "interface_declaration") || n.Parent().Is("import_clause", "namespace_import", "import_require_clause", "formal_parameters") {
				r.declared[n.Text()] = true
			}
		case "comment":
			if r.typed {
				r.expecting(n)
			}
		default:
			if r.typed {
				r.types.note(n)
			}
		}
	}
}

// finish settles what could not be known before the end.
func (r *reader) finish(f *mask.File) {
	for i := range f.Functions {
		one := &f.Functions[i]
		head, _, _ := strings.Cut(one.Name, ".")
		one.Public = one.Public && one.Parent < 0 && (r.exported[head] || r.exported[one.Name])
	}
	if len(r.expected) > 0 {
		f.Repair = unexpect(r.expected, f.Functions)
	}
}

// mark is told of code in which no function has a name, and of the value of a field, which is there when an object is made.
func (r *reader) mark(m syntax.Match) {
	switch {
	case m.Is("nameless"):
		r.nameless = max(r.nameless, m.Node.End())
	case m.Is("field") && !m.Node.Parent().Has("static"):
		r.Later(m.Node)
	}
}

// definition is what is known of a function beside its body.
type definition struct {
	name      string // qualified
	construct mask.Construct
	typed     bool // what it is bound to says its type
}

// function is a declaration, a method, or a literal that is bound to a name.
func (r *reader) function(m syntax.Match) (mask.Function, bool) {
	n := m.Node
	d := r.define(n)
	if d.name == "" || n.Start() < r.nameless {
		return mask.Function{}, false
	}
	if d.construct == mask.Lambda {
		r.names[d.name]++
		if times := r.names[d.name]; times > 1 { // arguments of one call, branches
			d.name += "#" + strconv.Itoa(times)
		}
	}
	f := mask.Function{Name: d.name, Construct: d.construct, Line: n.Line(), Span: span(n), Literal: isLiteral(n), Public: public(n), Doc: r.documented(n)}
	if name := n.Child("name"); name.Is() {
		f.Line = name.Line()
	}
	switch d.construct {
	case mask.Overload, mask.Abstract, mask.Bodiless:
	case mask.Hook:
		b := n.Child("body")
		f.Body, f.Public = mask.Range{Start: b.Start() + 1, End: max(b.Start()+1, b.End()-1)}, false
	default:
		r.replace(n, d, &f)
	}
	r.around = append(r.around, around{n.Index(), r.object()})
	return f, true
}

// object is the class of what is called this in a function that is declared here; "" for none.
func (r *reader) object() string {
	switch {
	case r.Member():
		return r.File.Classes[r.Class()].Name
	case r.Function() >= 0:
		return r.around[r.Function()].object
	}
	return ""
}

// define says what a function is; without a name, it is code of what is around it.
func (r *reader) define(n syntax.Node) definition {
	switch n.Kind() {
	case "function_declaration", "generator_function_declaration":
		return definition{r.Qualified(n.Child("name").Text()), mask.Plain, false}
	case "function_signature", "method_signature", "abstract_method_signature":
		return r.signature(n)
	case "class_static_block":
		return definition{r.Qualified("static"), mask.Hook, false}
	case "method_definition":
		return r.method(n)
	}
	return r.literal(n)
}

// method is a member with a body, of a class or of an object literal. Of a computed one, nobody can say the name.
func (r *reader) method(n syntax.Node) definition {
	key, s := keyName(n.Child("name")), spot{name: strings.TrimSuffix(r.Qualified(""), "."), bound: true}
	d := definition{construct: mask.Method}
	switch {
	case n.Has("get"):
		d.construct = mask.Getter
	case n.Has("set"):
		d.construct = mask.Setter
	case key == "constructor" && n.Parent().Is("class_body") && !n.Has("static"):
		d.construct = mask.Constructor
	}
	if n.Parent().Is("object") {
		s = r.spots[n.Parent().Index()]
	}
	switch of := accessors[key]; {
	case !s.bound, s.lent && n.Has("get"):
		return definition{}
	case s.tells == 1 && of != "":
		return definition{s.name, of, false}
	}
	d.name, d.typed = joined(s.name, cmp.Or(key, "[computed]")), s.typed && d.construct != mask.Getter
	return d
}

// accessors are the keys of an object that Object.defineProperty is given.
var accessors = map[string]mask.Construct{"get": mask.Getter, "set": mask.Setter}

// literal is a function without a declaration: it has the name that it is bound to.
func (r *reader) literal(n syntax.Node) definition {
	s := r.spot(n)
	switch {
	case astray(n):
		return definition{}
	case !s.bound:
		if p := dotted(callee(n.Parent().Parent())); n.Parent().Is("arguments") && slices.Contains(waiting, p[len(p)-1]) {
			r.Later(n)
		}
		return definition{}
	case s.accessor != "":
		return definition{s.name, s.accessor, false}
	}
	d := definition{r.named(s.name, n.Child("name").Text()), mask.Lambda, s.typed}
	if r.Function() < 0 && r.owned(d.name) {
		d.construct = mask.Method
	}
	return d
}

// named is the name of a literal: its own where that says more than what it is bound to.
func (r *reader) named(name, own string) string {
	outer, returned := strings.CutSuffix(name, ".return")
	switch {
	case returned && own != "":
		return joined(outer, own)
	case name != "" && name != "default":
		return name
	case own != "":
		r.gives("", own)
		return own
	}
	r.exported["default"] = true
	return "default"
}

// owned reports whether a name is that of a member of a class or an object.
func (r *reader) owned(name string) bool {
	for i, c := range name {
		if c == '.' && r.owners[name[:i]] {
			return true
		}
	}
	return false
}

// class is a class, a namespace, or an object literal that has methods.
func (r *reader) class(m syntax.Match) (mask.Class, bool) {
	n := m.Node
	switch {
	case n.Is("internal_module", "module"):
		return r.namespace(n)
	case n.Is("object"):
		return r.literalObject(n)
	case n.Start() < r.nameless:
		return mask.Class{}, false
	}
	name := r.className(n)
	r.owners[name] = true
	return mask.Class{Name: name, Span: span(n)}, true
}

// span is a definition with the word that exports it.
func span(n syntax.Node) mask.Range {
	if n.Parent().Is("export_statement") {
		n = n.Parent()
	}
	return mask.Range{Start: n.Start(), End: n.End()}
}

// className prefers what others can say: the name of the variable, unless there is none.
func (r *reader) className(n syntax.Node) string {
	own, s := n.Child("name").Text(), spot{}
	if n.Is("class") {
		s = r.spot(n)
	}
	switch {
	case s.name != "" && s.name != "default":
		return s.name
	case own != "" && s.bound:
		r.gives("default", own)
		return r.Qualified(own)
	case own != "":
		return r.Qualified(own)
	case s.bound:
		return "default"
	}
	return r.Qualified("class")
}

// literalObject notes where an object literal stands. What is inside of one without a name, in a function, has no name either.
func (r *reader) literalObject(n syntax.Node) (mask.Class, bool) {
	s := r.objectSpot(n)
	r.spots[n.Index()] = s
	switch {
	case !s.bound && r.Function() >= 0:
		r.nameless = max(r.nameless, n.End())
		return mask.Class{}, false
	case s.bound && s.name == "": // a module in CommonJS
		for c := range n.Children() {
			if c.Is("shorthand_property_identifier") {
				r.exported[c.Text()] = true
			} else if c.Is("pair", "method_definition") {
				r.exports(keyName(c.First()), c.Child("value"))
			}
		}
	}
	if s.name == "" || n.Start() < r.nameless {
		return mask.Class{}, false
	}
	methods := hasMethods(n)
	r.owners[s.name] = r.owners[s.name] || methods || !s.lent
	return mask.Class{Name: s.name}, methods && s.tells == 0
}

// hasMethods reports whether a member of an object literal may be called.
func hasMethods(n syntax.Node) bool {
	for c := range n.Children() {
		if value := unwrapped(c.Child("value")); c.Is("method_definition", "shorthand_property_identifier") || isLiteral(value) || value.Is("identifier", "member_expression", "call_expression", "new_expression") {
			return true
		}
	}
	return false
}
