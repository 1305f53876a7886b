package php

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// longest is how many links of a chain (a->b->c) are told apart; what is longer comes
// from generators.
const longest = 16

// imports are use declarations: the module is the namespace, the name what is in it.
func (r *reader) imports(n syntax.Node) {
	prefix := n.First("namespace_name").Text()
	for clause := range n.Walk(func(syntax.Node) bool { return true }) {
		if !clause.Is("namespace_use_clause", "namespace_use_group_clause") {
			continue
		}
		whole := joined(prefix, strings.Trim(clause.First("name", "qualified_name", "namespace_name").Text(), `\`))
		local := clause.First("namespace_aliasing_clause").First("name").Text()
		space, name := split(whole)
		if local == "" {
			local = name
		}
		r.File.Imports = append(r.File.Imports, mask.Import{Module: space, Name: name, Local: local})
	}
}

func joined(space, name string) string {
	if space == "" {
		return name
	}
	return space + `\` + name
}

// split parts a whole name into its namespace and the last name.
func split(whole string) (space, name string) {
	whole = strings.Trim(whole, `\`)
	if i := strings.LastIndexByte(whole, '\\'); i >= 0 {
		return whole[:i], whole[i+1:]
	}
	return global, whole
}

// name is a class's or a function's as a path. One that is written with its namespace
// is its own import: nothing else in the file says where it is.
func (r *reader) name(n syntax.Node) []string {
	return r.word(strings.ReplaceAll(n.Text(), " ", ""))
}

func (r *reader) word(text string) []string {
	if !strings.Contains(text, `\`) {
		return []string{text}
	}
	if r.written[text] {
		return []string{text}
	}
	r.written[text] = true
	whole := text
	if head, rest, _ := strings.Cut(text, `\`); head != "" {
		whole = joined(r.namespace, text)
		if strings.EqualFold(head, "namespace") {
			whole = joined(r.namespace, rest)
		}
		for _, i := range r.File.Imports {
			if strings.EqualFold(i.Local, head) {
				whole = joined(strings.Trim(joined(i.Module, i.Name), `\`), rest)
			}
		}
	}
	space, name := split(whole)
	r.File.Imports = append(r.File.Imports, mask.Import{Module: space, Name: name, Local: text})
	return []string{text}
}

// path is what a receiver is: names from the left, "?" for what is no name.
func (r *reader) path(n syntax.Node) []string {
	var names []string
	for range longest {
		switch n.Kind() {
		case "member_access_expression", "nullsafe_member_access_expression", "scoped_property_access_expression":
			name := n.Child("name")
			if !name.Is("name", "variable_name") {
				return unknown(names)
			}
			names = append(names, strings.TrimPrefix(name.Text(), "$"))
			if scope := n.Child("scope"); scope.Is() {
				n = scope
			} else {
				n = n.Child("object")
			}
			continue
		case "parenthesized_expression":
			n = n.First()
			continue
		}
		head := r.head(n)
		if head == nil {
			return unknown(names)
		}
		slices.Reverse(names)
		return append(slices.Clone(head), names...)
	}
	return unknown(names)
}

// unknown is a path whose receiver is no name; names are from the right.
func unknown(names []string) []string {
	if len(names) == 0 {
		return []string{"?"}
	}
	return []string{"?", names[0]}
}

// head is the leftmost part of a path, nil for none.
func (r *reader) head(n syntax.Node) []string {
	switch n.Kind() {
	case "name", "qualified_name":
		return r.name(n)
	case "relative_scope":
		if strings.EqualFold(n.Text(), "parent") {
			return []string{"super"}
		}
		return []string{"self"}
	case "variable_name":
		if n.Text() == "$this" {
			return []string{"this"}
		}
		if of, ok := r.locals[r.Function()][n.Text()]; ok {
			return of.Path
		}
		if r.Function() < 0 {
			return []string{n.Text()}
		}
	case "object_creation_expression":
		if class := r.object(n); class[0] != "?" {
			return class
		}
	}
	return nil
}

// object is the class that new makes one of.
func (r *reader) object(n syntax.Node) []string {
	for c := range n.Children() {
		if c.Is("name", "qualified_name", "relative_scope") {
			return r.head(c)
		}
		if c.Named() && !c.Is("comment") {
			break
		}
	}
	if strings.HasPrefix(strings.ToLower(strings.TrimSpace(n.Text()[len("new"):])), "static") {
		return []string{"self"}
	}
	return []string{"?"}
}

// use writes down what a node calls or names.
func (r *reader) use(n syntax.Node) {
	switch n.Kind() {
	case "function_call_expression":
		if f := n.Child("function"); f.Is("name", "qualified_name") {
			r.called(n, r.name(f))
		}
	case "member_call_expression", "nullsafe_member_call_expression":
		if name := n.Child("name"); name.Is("name") {
			r.called(n, append(r.path(n.Child("object")), name.Text()))
		}
		r.routes.call(r, n)
	case "scoped_call_expression":
		if name := n.Child("name"); name.Is("name") {
			r.called(n, append(r.path(n.Child("scope")), name.Text()))
		}
		r.routes.call(r, n)
	case "class_constant_access_expression":
		r.constant(n)
	case "array_creation_expression":
		if pair := r.callable(n); pair != nil {
			r.Use(n, handed(n.Parent()), pair...)
		}
	case "argument":
		if text := n.First("string", "encapsed_string"); text.Is() {
			r.named(n, text)
		}
	}
}

// called is a call; with "..." for its arguments it names only.
func (r *reader) called(n syntax.Node, path []string) {
	use := mask.Called
	if n.Child("arguments").Has("variadic_placeholder") {
		use = mask.Named
	}
	if len(path) > 2 && path[0] == "?" {
		path = []string{"?", path[len(path)-1]}
	}
	r.Use(n, use, path...)
}

// constant is C::X or C::class.
func (r *reader) constant(n syntax.Node) {
	scope, name := pairOf(n)
	of := r.head(scope)
	if of == nil || !name.Is("name") {
		return
	}
	if !strings.EqualFold(name.Text(), "class") {
		of = append(slices.Clone(of), name.Text())
	}
	r.Use(n, mask.Named, of...)
}

// pairOf gives the two sides of C::X.
func pairOf(n syntax.Node) (scope, name syntax.Node) {
	for c := range n.Children() {
		switch {
		case !c.Named():
		case !scope.Is():
			scope = c
		default:
			name = c
		}
	}
	return scope, name
}

// callable reads [C::class, 'method'], [$this, 'method'] and ['C', 'method'].
func (r *reader) callable(n syntax.Node) []string {
	var parts []syntax.Node
	for c := range n.Children() {
		if !c.Is("array_element_initializer") {
			return nil
		}
		if parts = append(parts, c.First()); len(parts) > 2 || c.Has("=>") {
			return nil
		}
	}
	if len(parts) != 2 {
		return nil
	}
	method := literal(parts[1])
	if !isName.MatchString(method) {
		return nil
	}
	of := parts[0]
	switch {
	case of.Is("class_constant_access_expression"):
		scope, name := pairOf(of)
		if class := r.head(scope); class != nil && strings.EqualFold(name.Text(), "class") {
			return append(slices.Clone(class), method)
		}
	case of.Is("variable_name", "member_access_expression"):
		return append(r.path(of), method)
	case isName.MatchString(literal(of)) && strings.ToUpper(literal(of)) != literal(of): // ['GET', 'HEAD'] is a list
		return append(r.word(literal(of)), method)
	}
	return nil
}

var (
	isName     = lazyregexp.New(`^\\?[A-Za-z_][\w\\]*$`)
	isCallable = lazyregexp.New(`^\\?[A-Za-z_][\w\\]*(::[A-Za-z_]\w*)?$`)
)

// callers are the functions of PHP that call what their argument names.
var callers = lazyregexp.New(`^\\?(spl_autoload_register|register_\w+_function|set_\w+_handler|call_user_func\w*|forward_static_call\w*|array_\w+|u[ak]?sort|iterator_apply|preg_replace_callback\w*|ob_start|header_register_callback)$`)

// handed tells how a callable among arguments is used. A router keeps it for later.
func handed(argument syntax.Node) mask.Use {
	if !argument.Is("argument") || router(argument.Parent().Parent()) {
		return mask.Named
	}
	return mask.Handed
}

// named is a text among arguments that may be the name of a function. It is called
// only where it is known to be one: most texts are not.
func (r *reader) named(argument, text syntax.Node) {
	s := literal(text)
	if !isCallable.MatchString(s) {
		return
	}
	of, method, _ := strings.Cut(s, "::")
	// In a text, a name is always a whole one.
	if strings.Contains(of, `\`) {
		of = `\` + strings.TrimPrefix(of, `\`)
	}
	names := slices.Clone(r.word(of))
	if method != "" {
		names = append(names, method)
	}
	use := mask.Named
	if callers.MatchString(argument.Parent().Parent().Child("function").Text()) {
		use = mask.Handed
	}
	r.Use(text, use, names...)
}

// literal is the text of a string without anything to fill in; "" for others.
func literal(n syntax.Node) string {
	if !n.Is("string", "encapsed_string") || len(n.Text()) < 2 {
		return ""
	}
	for c := range n.Children() {
		if c.Named() && !c.Is("string_content", "escape_sequence") {
			return ""
		}
	}
	text := n.Text()
	return strings.ReplaceAll(text[1:len(text)-1], `\\`, `\`)
}

// parameter keeps the class of a parameter; a promoted one is a property too.
func (r *reader) parameter(n syntax.Node) {
	class := r.typed(n.Child("type"))
	if class == nil || r.Function() < 0 {
		return
	}
	variable := n.Child("name").Text()
	r.local(variable, mask.Ref{Path: class, Use: mask.Named, Class: r.Class()})
	if n.Is("property_promotion_parameter") {
		r.bind(strings.TrimPrefix(variable, "$"), mask.Ref{Path: class, Use: mask.Named, Class: r.Class()})
	}
}

func (r *reader) local(variable string, of mask.Ref) {
	if r.locals[r.Function()] == nil {
		r.locals[r.Function()] = map[string]mask.Ref{}
	}
	r.locals[r.Function()][variable] = of
}

// typed is the class that a type names, nil where it is none or several.
func (r *reader) typed(n syntax.Node) []string {
	if n.Is("optional_type") {
		n = n.First()
	}
	if of := n.First("name", "qualified_name"); n.Is("named_type") && of.Is() {
		switch strings.ToLower(of.Text()) {
		case "self", "static":
			return []string{"self"}
		}
		return r.name(of)
	}
	return nil
}

// bind says what a property of the class around holds; the first to tell is believed.
func (r *reader) bind(property string, value mask.Ref) {
	if r.Class() < 0 {
		return
	}
	name := r.File.Classes[r.Class()].Name + "." + property
	if !slices.ContainsFunc(r.File.Bindings, func(b mask.Binding) bool { return b.Name == name }) {
		r.File.Bindings = append(r.File.Bindings, mask.Binding{Name: name, Value: value})
	}
}

func (r *reader) property(n syntax.Node) {
	class := r.typed(n.Child("type"))
	if class == nil {
		return
	}
	for c := range n.Children() {
		if c.Is("property_element") {
			name := strings.TrimPrefix(c.First("variable_name").Text(), "$")
			r.bind(name, mask.Ref{Path: class, Use: mask.Named, Class: r.Class()})
		}
	}
}

// assignment learns from $x = new C(…) and $this->x = $x.
func (r *reader) assignment(n syntax.Node) {
	left, right := n.Child("left"), n.Child("right")
	var value mask.Ref
	switch right.Kind() {
	case "object_creation_expression":
		if right.Has("class") {
			return
		}
		value = mask.Ref{Path: r.object(right), Use: mask.Called, Class: r.Class()}
	case "variable_name":
		value = r.locals[r.Function()][right.Text()]
	}
	if len(value.Path) == 0 || value.Path[0] == "?" {
		return
	}
	switch {
	case left.Is("variable_name") && r.Function() >= 0:
		r.local(left.Text(), value)
	case left.Is("variable_name"):
		r.File.Bindings = append(r.File.Bindings, mask.Binding{Name: left.Text(), Value: value})
	case left.Is("member_access_expression") && left.Child("object").Text() == "$this" && left.Child("name").Is("name"):
		r.bind(left.Child("name").Text(), value)
	}
}

// included are the files that are included by a path which the file tells: a text, or
// __DIR__ and a text.
func (r *reader) included(file string) {
	for n := range r.tree.All() {
		if !n.Is("require_expression", "require_once_expression", "include_expression", "include_once_expression") {
			continue
		}
		of := n.First()
		for of.Is("parenthesized_expression") {
			of = of.First()
		}
		target := literal(of)
		if of.Is("binary_expression") && strings.EqualFold(of.Child("left").Text(), "__DIR__") {
			target = literal(of.Child("right"))
		}
		if target == "" {
			continue
		}
		target = path.Join(path.Dir(file), target)
		r.File.Imports = append(r.File.Imports, mask.Import{Module: strings.TrimSuffix(target, path.Ext(target)), Name: "*"})
	}
}
