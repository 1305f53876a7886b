package python

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// inert take functions and classes without calling them.
var inert = map[string]bool{
	"property": true, "classmethod": true, "staticmethod": true, "cached_property": true,
	"wraps": true, "update_wrapper": true, "isinstance": true, "issubclass": true, "getattr": true, "setattr": true,
	"hasattr": true, "super": true, "type": true, "id": true, "callable": true, "print": true, "repr": true,
	"cast": true, "TypeVar": true, "NewType": true, "contextmanager": true, "asynccontextmanager": true, "lru_cache": true,
	"singledispatch": true, "overload": true, "namedtuple": true, "append": true, "add": true, "register": true, "tuple": true,
	"suppress": true, "Depends": true, "add_argument": true,
	// Routers keep their handlers for later.
	"add_url_rule": true, "add_api_route": true, "add_route": true, "add_get": true, "add_post": true, "path": true,
	"re_path": true, "url": true, "Route": true, "connect": true, "include_router": true, "register_blueprint": true,
}

// keeps are methods of containers that put something in.
var keeps = map[string]bool{"append": true, "add": true, "appendleft": true, "insert": true, "setdefault": true, "extend": true, "update": true}

// expression reads what an expression calls and names.
func (r *reader) expression(n syntax.Node) {
	defer func() { r.nesting-- }()
	if !r.deeper() || !n.Is() || !n.Named() {
		return
	}
	switch n.Kind() {
	case "identifier":
		r.use(r.path(n), mask.Named, n)
	case "attribute":
		r.attribute(n, mask.Named)
	case "call":
		r.call(n)
	case "lambda":
		r.stored(n)
	case "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression":
		r.comprehension(n)
	case "keyword_argument":
		r.expression(n.Child("value"))
	case "named_expression":
		r.expression(n.Child("value"))
	case "conditional_expression", "boolean_operator":
		r.counts.branches++
		r.children(n)
	case "as_pattern":
		r.expression(n.First())
	case "type", "typed_parameter":
		r.annotation(n)
	case "string_content":
		r.spelled(n)
	case "comment", "integer", "float", "true", "false", "none":
	case "binary_operator":
		r.operands(n)
	case "comparison_operator", "unary_operator", "augmented_assignment":
		r.operators(n)
		r.children(n)
	case "interpolation":
		r.text(n.Child("expression"))
		r.children(n)
	default:
		r.children(n)
	}
}

// dottedName is a text that may name a function of a module: pkg.mod.f, pkg.mod:f.
var dottedName = lazyregexp.New(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+(:[A-Za-z_]\w*)?$`)

// spelled is a text that names a function of this package: who has it may import and
// call it. Texts that name classes are settings, most of them: made when they are needed.
func (r *reader) spelled(n syntax.Node) {
	const longest = 200
	if n.End()-n.Start() > longest {
		return
	}
	text := n.Text()
	root, _, more := strings.Cut(text, ".")
	if !more || !slices.ContainsFunc(r.file.Modules, func(m string) bool { return m == root || strings.HasPrefix(m, root+".") }) || dottedName.FindStringSubmatch(text) == nil {
		return
	}
	cut := strings.LastIndexAny(text, ".:")
	if isClassName([]string{text[cut+1:]}) {
		return
	}
	local := "'" + text + "'" // no name of the code is so
	r.file.Imports = append(r.file.Imports, mask.Import{Module: text[:cut], Name: text[cut+1:], Local: local})
	r.emit(mask.Ref{Path: []string{local}, Use: mask.Handed, Class: r.class, Line: n.Line()})
}

func (r *reader) children(n syntax.Node) {
	for c := range n.Children() {
		if c.Named() {
			r.expression(c)
		}
	}
}

// operands reads a chain a + b + c from its right end: a long one nests on the left.
func (r *reader) operands(n syntax.Node) {
	var rights []syntax.Node
	for n.Kind() == "binary_operator" {
		r.operators(n)
		rights = append(rights, n.Child("right"))
		n = n.Child("left")
	}
	r.expression(n)
	for i := len(rights) - 1; i >= 0; i-- {
		r.expression(rights[i])
	}
}

// attribute reads x.y.z as one name, and what a receiver that is none calls.
func (r *reader) attribute(n syntax.Node, how mask.Use) {
	r.use(r.path(n), how, n)
	of := n.Child("object")
	for of.Kind() == "attribute" {
		of = of.Child("object")
	}
	if of.Kind() != "identifier" {
		r.expression(of)
	}
}

func (r *reader) call(n syntax.Node) {
	r.counts.calls++
	function, arguments := n.Child("function"), n.Child("arguments")
	if function.Kind() == "subscript" { // Box[int](1)
		for s := range function.Children() {
			if s.Field() == "subscript" {
				r.expression(s)
			}
		}
		function = function.Child("value")
	}
	path := r.path(function)
	if function.Kind() == "call" { // TABLE.get(k)(…)
		for _, one := range r.picked(r.scope, function) {
			r.emit(mask.Ref{Path: one, Use: mask.Called, Class: r.class, Line: n.Line()})
		}
	}
	if all := positional(n); len(path) == 1 && len(all) > 0 && (path[0] == "str" || path[0] == "repr" || path[0] == "format") {
		r.text(all[0])
	}
	r.unnamed(behind(path), n)
	switch function.Kind() {
	case "identifier":
		if path[0] != "super" {
			r.use(path, mask.Called, function)
		}
	case "attribute":
		r.attribute(function, mask.Called)
	default:
		r.expression(function)
	}
	if arguments.Kind() != "argument_list" { // f(x for x in y)
		r.expression(arguments)
		return
	}
	if all := positional(n); function.Kind() == "attribute" && keeps[r.word(function.Child("attribute"))] && len(all) > 0 { // TABLE.append(x)
		r.puts(function.Child("object"), all[len(all)-1])
	}
	own := len(path) == 2 && (path[0] == "self" || path[0] == "cls")                    // a method of ours
	quiet := len(path) > 0 && inert[path[len(path)-1]] && path[0] != "property" && !own // x = property(f): who reads x calls f
	for c := range arguments.Children() {
		value := c
		if c.Kind() == "keyword_argument" {
			value = c.Child("value")
		}
		if len(path) > 1 && path[0] == "sys" {
			r.asked(value)
		}
		stored := r.keeping > 0 && !isClassName(r.path(value)) // a decorator makes objects of classes
		if !quiet && !stored && value.Is("identifier", "attribute", "lambda") {
			r.handed(value)
			continue
		}
		r.expression(c)
		if made := r.path(value.Child("function")); value.Kind() == "call" && isClassName(made) { // f(C()): who has the object may call it
			r.use(append(slices.Clone(made), "__call__"), mask.Called, value)
		}
	}
}

// asked is an object that the interpreter gets, for sys.meta_path or sys.path_hooks.
func (r *reader) asked(n syntax.Node) {
	path := r.path(n)
	if n.Kind() == "call" {
		path = r.path(n.Child("function"))
	}
	if len(path) == 0 || path[0] == "?" {
		return
	}
	for _, name := range importers {
		r.use(append(slices.Clone(path), name), mask.Called, n)
	}
}

var importers = []string{"find_spec", "find_module", "find_loader", "load_module", "create_module", "exec_module", "invalidate_caches"}

// isClassName goes by the form of a name: Option, click.Option.
func isClassName(path []string) bool {
	if len(path) == 0 {
		return false
	}
	last := strings.TrimLeft(path[len(path)-1], "_")
	return last != "" && last[0] >= 'A' && last[0] <= 'Z' && strings.ToUpper(last) != last
}

// text is what becomes one: of an object that is known.
func (r *reader) text(n syntax.Node) {
	path := r.path(n)
	if len(path) == 0 || path[0] == "?" {
		return
	}
	if to := r.resolve(append(slices.Clone(path), "__str__")); len(to) == 0 || to[0] == "?" {
		return
	}
	for _, name := range []string{"__str__", "__repr__", "__format__"} {
		r.use(append(slices.Clone(path), name), mask.Called, n)
	}
}

// handed is an argument: who is called may call it.
func (r *reader) handed(n syntax.Node) {
	switch n.Kind() {
	case "lambda":
		r.literal(n)
	case "attribute":
		r.attribute(n, mask.Handed)
	default:
		r.use(r.path(n), mask.Handed, n)
	}
}

// given is a value that goes under another name from here on.
func (r *reader) given(n syntax.Node) {
	switch n.Kind() {
	case "identifier", "attribute":
		r.handed(n)
	case "conditional_expression", "expression_list", "tuple":
		if n.Kind() == "conditional_expression" {
			r.counts.branches++
		}
		for c := range n.Children() {
			if c.Named() {
				r.given(c)
			}
		}
	default:
		r.expression(n)
	}
}

// stored is a lambda in a table: nothing calls it while the file is loaded.
func (r *reader) stored(n syntax.Node) {
	r.quiet++
	r.literal(n)
	r.quiet--
}

// literal is a lambda that no name is bound to: code of what is around it.
func (r *reader) literal(n syntax.Node) {
	r.defaults(n.Child("parameters"))
	before := r.scope
	s := &scope{up: r.scope, names: map[string]local{}}
	for c := range n.Child("parameters").Children() {
		if name := parameter(c); name.Is() {
			s.names[r.word(name)] = local{}
		}
	}
	r.scope = s
	r.expression(n.Child("body"))
	r.scope = before
}

func (r *reader) comprehension(n syntax.Node) {
	before := r.scope
	r.scope = &scope{up: r.scope, names: map[string]local{}}
	for c := range n.Children() {
		if c.Kind() == "for_in_clause" {
			r.counts.branches++
			r.bindElement(r.scope, c.Child("left"), r.elements(r.scope, c.Child("right")))
		}
	}
	for c := range n.Children() {
		if c.Kind() != "for_in_clause" {
			r.expression(c)
			continue
		}
		for part := range c.Children() {
			if part.Field() == "right" {
				r.expression(part)
			}
		}
	}
	r.scope = before
}

// target reads what is assigned to: an attribute may be a property, and the rest of it
// is read.
func (r *reader) target(n syntax.Node) {
	switch n.Kind() {
	case "identifier", "":
	case "attribute":
		r.attribute(n, mask.Named)
	case "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern":
		for c := range n.Children() {
			r.target(c)
		}
	default:
		r.children(n)
	}
}

// defaults reads the values and annotations of parameters, which belong to the place
// of the definition.
func (r *reader) defaults(parameters syntax.Node) {
	for c := range parameters.Children() {
		r.expression(c.Child("value"))
		r.annotation(c.Child("type"))
	}
}

// byDefault are the names that stand as values of parameters: the function may call them.
func (r *reader) byDefault(parameters syntax.Node) [][]string {
	var out [][]string
	for c := range parameters.Children() {
		if value := c.Child("value"); value.Is("identifier", "attribute") {
			if path := r.path(value); len(path) > 0 && path[0] != "?" {
				if path = r.resolve(path); len(path) > 0 && path[0] != "?" {
					out = append(out, path)
				}
			}
		}
	}
	return out
}

// annotation: names in it call nothing; calls do, where it is evaluated.
func (r *reader) annotation(n syntax.Node) {
	if r.lazy || !n.Is() {
		return
	}
	outer := func(n syntax.Node) bool { return n.Kind() != "call" }
	for c := range n.Walk(outer) {
		if c.Kind() == "call" {
			r.expression(c)
		}
	}
}
