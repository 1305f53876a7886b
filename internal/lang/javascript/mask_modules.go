package javascript

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

func (r *reader) export(name string) { r.exported[name] = true }

// bind says what a name of the module holds.
func (r *reader) bind(name string, value mask.Ref) {
	if value.Path = exportsOf(value.Path); name == strings.Join(value.Path, ".") {
		return
	}
	same := func(b mask.Binding) bool { return b.Name == name && key(b.Value) == key(value) }
	if last := r.file.Bindings[max(0, len(r.file.Bindings)-8):]; !slices.ContainsFunc(last, same) {
		r.file.Bindings = append(r.file.Bindings, mask.Binding{Name: name, Value: value})
	}
}

func (r *reader) imported(one mask.Import) {
	if _, ok := r.taken[one]; !ok {
		r.taken[one] = struct{}{}
		r.file.Imports = append(r.file.Imports, one)
	}
}

// whole is a module that has one name: in CommonJS it may be a function and what hangs
// on it, and an import of its default is of the whole.
func (r *reader) whole(from, local string) {
	r.imported(mask.Import{Module: from, Name: "default", Local: local})
	r.imported(mask.Import{Module: from, Local: local})
}

// imports are those of import statements. Those of types alone count as well: names of
// types tell what a parameter's methods are.
func (r *reader) imports(n syntax.Node) {
	source := n.Child("source")
	if clause := n.First("import_require_clause"); clause.Is() {
		r.whole(r.moduleOf(clause.Child("source")), clause.First("identifier").Text())
		return
	}
	from := r.moduleOf(source)
	clause := n.First("import_clause")
	if !clause.Is() {
		r.imported(mask.Import{Module: from})
		return
	}
	for c := range clause.Children() {
		switch c.Kind() {
		case "identifier":
			r.whole(from, c.Text())
		case "namespace_import":
			r.imported(mask.Import{Module: from, Local: c.First("identifier").Text()})
		case "named_imports":
			for one := range c.Children() {
				if one.Is("import_specifier") {
					name, local := r.specifier(one)
					r.imported(mask.Import{Module: from, Name: name, Local: local})
				}
			}
		}
	}
}

func (r *reader) moduleOf(source syntax.Node) string {
	return module(r.at, strings.Trim(source.Text(), `"'`))
}

// specifier is "a as b", or "a" as itself.
func (r *reader) specifier(n syntax.Node) (name, local string) {
	name = r.keyName(n.Child("name"))
	if alias := n.Child("alias"); alias.Is() {
		return name, r.keyName(alias)
	}
	return name, name
}

// alias is TypeScript's import A = B.C.
func (r *reader) alias(n syntax.Node) {
	var names []string
	for c := range n.Children() {
		if c.Is("identifier", "nested_identifier") {
			names = append(names, oneLine(c.Text()))
		}
	}
	if len(names) == 2 {
		r.bind(names[0], mask.Ref{Path: strings.Split(names[1], "."), Use: mask.Named, Class: -1})
	}
}

// exports are those of export statements.
func (r *reader) exports(n syntax.Node, p place) {
	for c := range n.Children() {
		if c.Is("decorator") {
			r.walk(c, p)
		}
	}
	p = p.unbound()
	if source := n.Child("source"); source.Is() {
		r.exportsFrom(n, r.moduleOf(source))
		return
	}
	if clause := n.First("export_clause"); clause.Is() {
		for one := range clause.Children() {
			if one.Is("export_specifier") {
				name, as := r.specifier(one)
				r.export(name)
				r.bind(as, mask.Ref{Path: []string{name}, Use: mask.Named, Class: -1})
			}
		}
		return
	}
	if declaration := n.Child("declaration"); declaration.Is() {
		r.exportNames(declaration, n.Has("default"), p)
		r.walk(declaration, p)
		return
	}
	value := n.Child("value")
	if !value.Is() {
		value = n.First("identifier", "member_expression") // export = x
	}
	r.export("default")
	for _, ref := range r.valueRefs(value, p) {
		r.bind("default", ref)
		r.export(ref.Path[0])
	}
	r.walk(value, p.named("default").held("default"))
}

func (r *reader) exportsFrom(n syntax.Node, from string) {
	if space := n.First("namespace_export"); space.Is() {
		r.imported(mask.Import{Module: from, Local: space.First("identifier", "string").Text()})
		return
	}
	clause := n.First("export_clause")
	if !clause.Is() {
		r.imported(mask.Import{Module: from, Name: "*"})
		return
	}
	for one := range clause.Children() {
		if one.Is("export_specifier") {
			name, as := r.specifier(one)
			r.imported(mask.Import{Module: from, Name: name, Local: as})
		}
	}
}

// exportNames are those of a declaration that is exported.
func (r *reader) exportNames(n syntax.Node, byDefault bool, p place) {
	if name := n.Child("name"); name.Is() {
		r.export(joined(p.prefix, name.Text()))
		if byDefault {
			r.export("default")
			r.bind("default", mask.Ref{Path: []string{name.Text()}, Use: mask.Named, Class: -1})
		}
		return
	}
	for c := range n.Children() {
		if c.Is("variable_declarator") {
			for name := range c.Child("name").Within() {
				if name.Is("identifier", "shorthand_property_identifier_pattern") {
					r.export(joined(p.prefix, name.Text()))
				}
			}
		}
	}
}

// required reads "const a = require(…)" and "const { a, b: c } = require(…)" as imports.
func (r *reader) required(name, value syntax.Node, p place) bool {
	value = unwrapped(value)
	member := ""
	if value.Is("member_expression") && required(value.Child("object")) != "" {
		member, value = value.Child("property").Text(), unwrapped(value.Child("object"))
	}
	specifier := required(value)
	if specifier == "" {
		return false
	}
	r.interop(value, p)
	from := module(r.at, specifier)
	if name.Is("identifier") {
		if member == "" {
			r.whole(from, name.Text())
		} else {
			r.imported(mask.Import{Module: from, Name: member, Local: name.Text()})
		}
		return true
	}
	for c := range name.Children() {
		switch c.Kind() {
		case "shorthand_property_identifier_pattern":
			r.imported(mask.Import{Module: from, Name: joined(member, c.Text()), Local: c.Text()})
		case "pair_pattern":
			if local := c.Child("value"); local.Is("identifier") {
				r.imported(mask.Import{Module: from, Name: joined(member, r.keyName(c.Child("key"))), Local: local.Text()})
			}
		}
	}
	return true
}

// interop notes the function around a require, which runs.
func (r *reader) interop(call syntax.Node, p place) {
	if fn := call.Child("function"); fn.Is("identifier") && fn.Text() != "require" {
		r.use(fn, mask.Called, p)
	}
}

// valueRef is what an expression holds, where that is plain: new C(…), f(…), a name; of
// a = b.c = …, what b.c gets, or b.c where that has its name from there, and b is an object
// of the file. Other names that get each other are not followed: in code that was made
// small each is every other.
func (r *reader) valueRef(value syntax.Node, p place) (mask.Ref, bool) {
	value, name := r.chainOf(unwrapped(value), p)
	if name != "" && (isLiteral(value) || value.Is("class", "object")) {
		return mask.Ref{Path: strings.Split(name, "."), Use: mask.Named, Class: p.class}, true
	}
	of, use := value, mask.Named
	switch value.Kind() {
	case "new_expression":
		of, use = value.Child("constructor"), mask.Called
	case "call_expression":
		if required(value) == "" {
			of, use = value.Child("function"), mask.Called
		}
		if bound := r.through(of, "bind"); bound.Is() {
			of, use = bound, mask.Named
		}
	}
	path, ok := r.path(of)
	if !ok {
		return mask.Ref{}, false
	}
	if path = r.resolved(path, p); path == nil || path[0] == "?" || path[0] == "this" || path[0] == "super" {
		return mask.Ref{}, false
	}
	return mask.Ref{Path: path, Use: use, Class: p.class}, true
}

// valueRefs are what an expression may hold: of a choice, what it gives on either side.
func (r *reader) valueRefs(value syntax.Node, p place) []mask.Ref {
	all := []syntax.Node{value}
	if end, name := r.chainOf(unwrapped(value), p); name == "" {
		all = r.choices(end)
	}
	var out []mask.Ref
	for _, one := range all {
		if ref, ok := r.valueRef(one, p); ok {
			out = append(out, ref)
		}
	}
	return out
}

// either takes what a variable of a function may hold, and is called by its name, for called.
func (r *reader) either(value syntax.Node, p place) {
	for _, ref := range r.valueRefs(value, p) {
		if ref.Use == mask.Named {
			ref.Use, ref.Line = mask.Called, value.Line()
			r.add(ref, p)
		}
	}
}

// choices are the expressions of which one is the value: of a ?: b, a || b, a && b and
// a ?? b, however many. The condition of the first is none.
func (r *reader) choices(value syntax.Node) []syntax.Node {
	var out []syntax.Node
	for left := []syntax.Node{value}; len(left) > 0; {
		one := unwrapped(left[len(left)-1])
		left = left[:len(left)-1]
		switch {
		case one.Is("ternary_expression"):
			left = append(left, one.Child("alternative"), one.Child("consequence"))
		case one.Is("binary_expression") && r.isLogic(one):
			left = append(left, one.Child("right"), one.Child("left"))
		default:
			out = append(out, one)
		}
	}
	return out
}

// chain is what a row of assignments ends with.
type chain struct {
	value syntax.Node
	name  string // the last one that is a member of an object of the file
}

// chainOf reads a row of assignments to members once, however long: what is assigned to
// one of them is said of all further in.
func (r *reader) chainOf(value syntax.Node, p place) (syntax.Node, string) {
	var row []syntax.Node
	end := chain{value: value}
	for end.value.Is("assignment_expression") && !end.value.Child("left").Is("identifier") {
		if known, ok := r.chains[end.value.Start()]; ok {
			end = known
			break
		}
		row = append(row, end.value)
		end.value = unwrapped(end.value.Child("right"))
	}
	for _, one := range slices.Backward(row) {
		if end.name == "" {
			t := r.target(one.Child("left"), p)
			if dot := strings.LastIndexByte(t.name, '.'); dot > 0 && r.objects[t.name[:dot]] {
				end.name = t.name
			}
		}
		r.chains[one.Start()] = end
	}
	return end.value, end.name
}

// binding notes what a variable holds: for all to see in a module, in a function for
// what comes after in it.
func (r *reader) binding(name string, declarator syntax.Node, p place) {
	value := declarator.Child("value")
	if !p.deep {
		refs := r.valueRefs(value, p)
		for _, ref := range refs {
			r.bind(joined(p.prefix, name), ref)
		}
		if len(refs) == 0 {
			r.typedName(joined(p.prefix, name), declarator, p)
		}
		return
	}
	if p.scope == nil || p.scope.names[name].itself {
		return
	}
	ref, ok := r.valueRef(value, p)
	if r.callees[name] && !ok {
		r.either(value, p)
	}
	switch {
	case unwrapped(value).Is("this"):
		p.scope.names[name] = holding{path: []string{"this"}}
	case ok && ref.Use == mask.Named:
		p.scope.names[name] = holding{path: ref.Path}
	case ok && unwrapped(value).Is("new_expression"):
		p.scope.names[name] = holding{path: ref.Path, instance: true}
	default:
		if of := typeOf(declarator); of != nil {
			p.scope.names[name] = holding{path: of, instance: true}
		}
	}
}

// typedName binds a name to the class that it is declared with.
func (r *reader) typedName(name string, n syntax.Node, p place) {
	if of := typeOf(n); of != nil && (!p.deep || p.class >= 0) {
		r.bind(name, mask.Ref{Path: of, Use: mask.Called, Class: p.class})
	}
}

// typeOf is the plain name in a declaration's type, nil for any other type.
func typeOf(n syntax.Node) []string {
	t := n.Child("type").First("type_identifier", "nested_type_identifier", "generic_type")
	if t.Is("generic_type") {
		t = t.Child("name")
	}
	if !t.Is() {
		return nil
	}
	return strings.Split(oneLine(t.Text()), ".")
}

// objectBinding is a member of an object literal that is a plain name.
func (r *reader) objectBinding(prefix, name string, value syntax.Node, p place) {
	if p.deep {
		return
	}
	if value.Is("shorthand_property_identifier") {
		r.bind(joined(prefix, name), mask.Ref{Path: []string{value.Text()}, Use: mask.Named, Class: -1})
		return
	}
	for _, ref := range r.valueRefs(value, p) {
		if prefix == "" {
			r.export(ref.Path[0])
		}
		r.bind(joined(prefix, name), ref)
	}
}

// target is what an assignment gives a value to.
type target struct {
	name    string // qualified; "" for the module itself, or where exports is false for nothing that has a name
	exports bool
	class   int // whose member it is, -1
}

func (r *reader) target(left syntax.Node, p place) target {
	t := target{class: -1}
	path := r.assignedPath(left)
	switch {
	case path == nil:
		return t
	case path[0] == "exports" || path[0] == "module" && len(path) > 1 && path[1] == "exports":
		rest := path[1:]
		if path[0] == "module" {
			rest = path[2:]
		}
		t.exports, t.name = true, strings.Join(rest, ".")
		return t
	case path[0] == "this" && len(path) > 1:
		return r.ownMember(path[1:], p)
	case len(path) == 1:
		t.name = joined(p.prefix, path[0])
		return t
	}
	if of, ok := r.protos[path[0]]; ok {
		path = append([]string{of, "prototype"}, path[1:]...)
	}
	if at := slices.Index(path, "prototype"); at > 0 {
		owner := strings.Join(exportsOf(path[:at]), ".")
		t.class = r.classOf(joined(p.prefix, owner), left)
		t.name = joined(p.prefix, owner, strings.Join(path[at+1:], "."))
		return t
	}
	t.name = joined(p.prefix, strings.Join(path, "."))
	if owner := joined(p.prefix, path[:len(path)-1]...); r.objects[owner] {
		t.class = r.classOf(owner, left)
	} else if i, ok := r.classes[joined(p.prefix, path[0])]; ok {
		t.class = i
	}
	return t
}

// ownMember is this.x = …: of the class, of a function that makes objects, or in
// CommonJS of the module.
func (r *reader) ownMember(path []string, p place) target {
	switch {
	case p.class >= 0:
		return target{name: joined(r.file.Classes[p.class].Name, path...), class: p.class}
	case p.function >= 0:
		return target{name: joined(p.prefix, path...), class: -1}
	}
	return target{name: joined("", path...), class: -1, exports: true}
}

// assignedPath is a dotted name with members by variable in brackets; nil for what is
// no name.
func (r *reader) assignedPath(n syntax.Node) []string {
	if r.depth++; r.depth > maxDepth {
		r.depth--
		return nil
	}
	defer func() { r.depth-- }()
	n = unwrapped(n)
	switch n.Kind() {
	case "identifier", "this":
		return []string{n.Text()}
	case "member_expression":
		if outer := r.assignedPath(n.Child("object")); outer != nil {
			return append(outer, n.Child("property").Text())
		}
	case "subscript_expression":
		outer, index := r.assignedPath(n.Child("object")), n.Child("index")
		switch {
		case outer == nil:
		case index.Is("string"):
			return append(outer, r.keyName(index))
		case index.Is("identifier", "member_expression"):
			return append(outer, "["+oneLine(index.Text())+"]")
		}
	}
	return nil
}

// assigned notes what an assignment says of names: exports, bases, what they hold.
func (r *reader) assigned(t target, n syntax.Node, p place) {
	value := n.Child("right")
	name := t.name
	if t.exports {
		if name == "" {
			name = "default"
		}
		r.export(name)
		if p.bound && p.name != "" {
			r.export(p.name)
			r.bind(name, mask.Ref{Path: strings.Split(p.name, "."), Use: mask.Named, Class: -1})
		}
	}
	if t.class >= 0 && strings.HasSuffix(n.Child("left").Text(), ".prototype") {
		if path := r.assignedPath(prototypeMaker(value)); path != nil {
			r.base(t.class, path, p)
		}
		return
	}
	for _, ref := range r.valueRefs(value, p) {
		if t.exports {
			r.export(ref.Path[0])
		}
		if !p.deep || p.class >= 0 && n.Child("left").Child("object").Is("this") {
			r.bind(name, ref)
		}
	}
}

// makesObject tells {…}, Object.create(…), a || {…}, and a = b = {…}, of which each is read
// once.
func (r *reader) makesObject(value syntax.Node) bool {
	var row []int
	for value = unwrapped(value); value.Is("assignment_expression"); {
		if made, ok := r.made[value.Start()]; ok {
			return made
		}
		row = append(row, value.Start())
		value = unwrapped(value.Child("right"))
	}
	made := slices.ContainsFunc(r.choices(value), func(one syntax.Node) bool {
		return one.Is("object") || one.Is("call_expression") && one.Child("function").Text() == "Object.create"
	})
	for _, at := range row {
		r.made[at] = made
	}
	return made
}

// prototypeMaker is B in Object.create(B.prototype) and new B().
func prototypeMaker(value syntax.Node) syntax.Node {
	switch value.Kind() {
	case "new_expression":
		return value.Child("constructor")
	case "call_expression":
		if strings.HasSuffix(value.Child("function").Text(), "create") {
			if arg := first(value.Child("arguments")); arg.Is("member_expression") && arg.Child("property").Text() == "prototype" {
				return arg.Child("object")
			}
		}
	}
	return syntax.Node{}
}

func (r *reader) base(class int, path []string, p place) {
	if path = r.resolved(path, p); path != nil {
		c := &r.file.Classes[class]
		c.Bases = append(c.Bases, mask.Ref{Path: path, Use: mask.Inherited, Class: p.class})
	}
}

// prototypeOf is X for an expression X.prototype.
func prototypeOf(n syntax.Node) (string, bool) {
	if n.Is("member_expression") && n.Child("property").Text() == "prototype" && n.Child("object").Is("identifier") {
		return n.Child("object").Text(), true
	}
	return "", false
}
