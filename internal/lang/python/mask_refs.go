package python

import (
	"slices"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// inert take functions and classes without calling them.
var inert = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
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
})

// addsTo tells a method that puts something somewhere, by its name.
func addsTo(name string) bool {
	return strings.HasPrefix(name, "add_") || strings.HasPrefix(name, "register_")
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
		r.call(n, mask.Called)
	case "lambda":
		r.stored(n)
	case "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression":
		r.comprehension(n)
	case "keyword_argument":
		r.expression(n.Child("value"))
	case "named_expression":
		r.expression(n.Child("value"))
	case "conditional_expression":
		r.either(n, r.expression)
	case "boolean_operator":
		r.counts.branches++
		r.children(n)
	case "not_operator":
		r.condition(n.Child("argument"))
	case "as_pattern":
		r.expression(n.First())
	case "type", "typed_parameter":
		r.annotation(n)
	case "string_content":
		r.spelled(n)
	case "comment", "integer", "float", "true", "false", "none":
	case "binary_operator":
		r.operands(n)
	case "comparison_operator":
		r.operators(n)
		for c := range n.Children() {
			r.condition(c)
		}
	case "unary_operator", "augmented_assignment":
		r.operators(n)
		r.children(n)
	case "subscript":
		if r.isModules(n.Child("value")) && n.Child("subscript").Kind() == "identifier" && r.word(n.Child("subscript")) != "__name__" {
			r.loader = true
		}
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

// finds are functions that may look for what a text names.
var finds = lazyregexp.New(`(?i)import|load|symbol|resolve|locate|lookup|find|by_?name|entry|plugin|register|call`)

// spelled is a text that names a function of this package, for a call that may import and
// call it, or in a file that imports by name: a table of plugins, for what imports there. Texts that name classes are settings, most of them: made when they are needed.
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
	call := n.Above("call", "block")
	table := false
	if path := r.path(call.Child("function")); len(path) == 0 || !finds.MatchString(path[len(path)-1]) {
		if table = true; !r.finder {
			return
		}
	}
	cut := strings.LastIndexAny(text, ".:")
	if isClassName([]string{text[cut+1:]}) {
		return
	}
	local := "'" + text + "'" // no name of the code is so
	r.file.Imports = append(r.file.Imports, mask.Import{Module: text[:cut], Name: text[cut+1:], Local: local})
	ref := mask.Ref{Path: []string{local}, Use: mask.Handed, Class: r.class, Line: n.Line()}
	if table && r.functions == 0 && r.quiet == 0 {
		r.plugins = append(r.plugins, ref)
		return
	}
	r.emit(ref)
}

// loads tells functions that import a module by its name or file.
var loads = lazyregexp.New(`^(__import__|import_module|load_module(_from_\w+)?)$`)

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
	r.receiver(n)
}

// receiver reads what the names of an attribute begin with.
func (r *reader) receiver(n syntax.Node) {
	for n.Kind() == "attribute" {
		n = n.Child("object")
	}
	if n.Kind() != "identifier" {
		r.expression(n)
	}
}

// condition is what is only asked whether it holds, or compared.
func (r *reader) condition(n syntax.Node) {
	switch {
	case r.isGiven(n):
	case n.Kind() == "boolean_operator":
		r.counts.branches++
		for c := range n.Children() {
			r.condition(c)
		}
	case n.Kind() == "parenthesized_expression":
		r.condition(firstOf(n))
	default:
		r.expression(n)
	}
}

// either is a conditional expression: one of two values, by what stands between them.
func (r *reader) either(n syntax.Node, value func(syntax.Node)) {
	r.counts.branches++
	at := 0
	for c := range n.Children() {
		if !c.Named() || c.Kind() == "comment" {
			continue
		}
		if at == 1 {
			r.condition(c)
		} else {
			value(c)
		}
		at++
	}
}

// makes is what a field gets its value from, when an object is made.
func (r *reader) makes(n syntax.Node) {
	loads := r.file.Loads
	r.file.Loads = nil
	r.handed(n)
	of := &r.file.Classes[r.class]
	of.Makes = append(of.Makes, r.file.Loads...)
	r.file.Loads = loads
}

// looksAt tells functions that ask what something is, and no more.
func looksAt(path []string) bool {
	return len(path) == 1 && lookers[path[0]] || len(path) > 1 && path[0] == "inspect" ||
		len(path) > 0 && (path[len(path)-1] == "wraps" || path[len(path)-1] == "update_wrapper")
}

var lookers = map[string]bool{
	"isinstance": true, "issubclass": true, "callable": true, "type": true, "id": true, "repr": true, "print": true, "hasattr": true,
	"getattr": true, "len": true, "str": true, "bool": true,
}

// asked is an object that others get, who call it by names: the interpreter those of
// importers, for sys.meta_path and sys.path_hooks.
func (r *reader) asked(n syntax.Node, names ...string) {
	path := r.path(n)
	if n.Kind() == "call" {
		path = r.path(n.Child("function"))
	}
	if len(path) == 0 || path[0] == "?" {
		return
	}
	for _, name := range names {
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
					if len(path) == 1 && r.values[path[0]] { // a table
						out = append(out, append(slices.Clone(path), mask.Element))
					}
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
