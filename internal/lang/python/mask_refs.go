package python

import (
	"slices"
	"strconv"
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
		r.condition(n.First())
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

// call reads a call; how says what becomes of what it gives.
func (r *reader) call(n syntax.Node, how mask.Use) {
	r.counts.calls++
	function, arguments := n.Child("function"), n.Child("arguments")
	picked := function.Kind() == "subscript"
	for function.Kind() == "subscript" { // Box[int](1), TABLE[k][0](1)
		for s := range function.Children() {
			if s.Field() == "subscript" {
				r.expression(s)
			}
		}
		function = function.Child("value")
		if of := r.path(function.Child("function")); function.Kind() == "call" && len(of) == 1 && of[0] == "globals" && r.functions == 0 && r.quiet == 0 {
			r.everything = n.Line() // globals()[name](…)
		}
	}
	path := r.path(function)
	if picked && len(path) > 1 {
		r.use(append(slices.Clone(path), mask.Element), how, n)
	}
	if len(path) > 0 && loads.MatchString(path[len(path)-1]) {
		r.emit(mask.Ref{Path: []string{plugins}})
	}
	if all := positional(n); len(path) > 0 && len(all) > 0 && all[0].Kind() != "string" && loads.MatchString(path[len(path)-1]) {
		r.loader = true
	}
	if function.Kind() == "call" { // TABLE.get(k)(…)
		r.use(r.attributeOf(function), how, n)
		r.use(r.computed(r.scope, function), how, n)
		for _, one := range r.picked(r.scope, function) {
			r.emit(mask.Ref{Path: one, Use: mask.Called, Class: r.class, Line: n.Line()})
		}
	}
	if all := positional(n); len(path) == 1 && len(all) > 0 && (path[0] == "str" || path[0] == "repr" || path[0] == "format") {
		r.text(all[0])
	}
	if all := positional(n); len(path) == 1 && (path[0] == "eval" || path[0] == "exec") && len(all) > 1 { // eval(text, globals, TABLE)
		for _, names := range all[1:] {
			if of := r.path(names); len(of) > 0 {
				r.use(append(slices.Clone(of), mask.Element), mask.Called, n)
			}
		}
	}
	r.use(r.attributeOf(n), mask.Named, n) // it may be a property
	r.without(n, path)
	if len(path) == 1 && (path[0] == "eval" || path[0] == "exec") {
		r.evaluated(arguments)
	}
	r.unnamed(behind(path), n)
	switch function.Kind() {
	case "identifier":
		if path[0] != "super" {
			r.use(path, how, function)
		}
	case "attribute":
		r.note(path, mask.Ref{Use: how, Class: r.class, Line: function.Line(), Into: counted(n)}, function)
		r.receiver(function)
	default:
		r.eitherCalled(function, how)
		r.expression(function)
	}
	if arguments.Kind() != "argument_list" { // f(x for x in y)
		r.expression(arguments)
		return
	}
	if all := positional(n); function.Kind() == "attribute" && keeps[r.word(function.Child("attribute"))] && len(all) > 0 { // TABLE.append(x)
		if r.puts(function.Child("object"), all[len(all)-1]) {
			for _, of := range all {
				r.besides(of)
			}
			return
		}
	}
	if all := positional(n); len(all) == 3 && len(path) == 1 && path[0] == "type" { // a class that is made
		for _, of := range r.elements(r.scope, all[1]) {
			r.emit(mask.Ref{Path: of, Use: mask.Handed, Class: r.class, Line: n.Line()})
		}
	}
	own := len(path) == 2 && (path[0] == "self" || path[0] == "cls") // a method of ours
	r.arguments(arguments, argument{
		path: path, to: r.callee(path), looked: looksAt(path),
		quiet:  len(path) > 0 && inert[path[len(path)-1]] && path[0] != "property" && !own, // x = property(f): who reads x calls f
		inside: len(path) > 1 && addsTo(path[len(path)-1]),
	})
}

// calledInText are the names of what a text calls.
var calledInText = lazyregexp.New(`(^|[^\w.])([A-Za-z_]\w*)\(`)

// evaluated is a text that is run here: what it calls by a bare name.
func (r *reader) evaluated(n syntax.Node) {
	const longest = 2000
	for c := range n.Within() {
		if c.Kind() != "string_content" || c.End()-c.Start() > longest {
			continue
		}
		for _, m := range calledInText.FindAllStringSubmatch(c.Text(), -1) {
			if !builtins[m[2]] {
				r.use([]string{m[2]}, mask.Called, c)
			}
		}
	}
}

// without is what getattr gives where there is nothing of the name.
func (r *reader) without(n syntax.Node, path []string) {
	all := positional(n)
	if len(all) == 3 && len(path) == 1 && path[0] == "getattr" && all[2].Is("identifier", "attribute") {
		r.given(all[2])
	}
}

// eitherCalled is (f or g)(…), (f if x else g)(…).
func (r *reader) eitherCalled(n syntax.Node, how mask.Use) {
	for n.Kind() == "parenthesized_expression" {
		n = n.First()
	}
	if !n.Is("boolean_operator", "conditional_expression") {
		return
	}
	for c := range n.Children() {
		switch {
		case c.Is("identifier", "attribute"):
			r.use(r.path(c), how, c)
		case c.Named():
			r.eitherCalled(c, how)
		}
	}
}

// counted says how many arguments a call has; nil where there may be any number.
func counted(n syntax.Node) *mask.Argument {
	placed, named := 0, 0
	if n.Child("arguments").Kind() != "argument_list" {
		placed = 1 // f(x for x in y)
	}
	for c := range n.Child("arguments").Children() {
		switch {
		case placed == 1 && n.Child("arguments").Kind() != "argument_list":
		case c.Is("list_splat", "dictionary_splat", "ERROR"):
			return nil
		case c.Kind() == "keyword_argument":
			named++
		case c.Named() && c.Kind() != "comment":
			placed++
		}
	}
	if at := mask.Number(placed, named); at >= 0 {
		return &mask.Argument{Path: []string{mask.Counted}, At: at}
	}
	return nil
}

// argument is one of a call.
type argument struct {
	path, to []string // what is called, as it is written and as the engine finds it
	as       string
	looked   bool // only asked what it is
	quiet    bool // not called by what others have under the name
	inside   bool // kept for later: of a display, of what is added to something
}

// into is the call that gets it, nil where that may be anybody's.
func (a argument) into() *mask.Argument {
	if len(a.to) == 0 {
		return nil
	}
	return &mask.Argument{Path: a.to, As: a.as}
}

// callee is the path of what is called where it may be a function of ours.
func (r *reader) callee(path []string) []string {
	if len(path) == 0 || path[0] == "?" || len(r.oneOf(r.scope, path[0])) > 0 {
		return nil
	}
	if to := r.resolve(path); len(to) > 0 && to[0] != "?" {
		return to
	}
	return nil
}

func (r *reader) arguments(n syntax.Node, a argument) {
	number := 0
	for c := range n.Children() {
		if !c.Named() || c.Kind() == "comment" {
			continue
		}
		value := c
		switch c.Kind() {
		case "keyword_argument":
			value, a.as = c.Child("value"), r.word(c.Child("name"))
		case "list_splat":
			number = -1 << 20
			fallthrough
		default:
			if a.as = "*"; number >= 0 {
				a.as = strconv.Itoa(number)
			}
			number++
		}
		if len(a.path) > 1 && a.path[0] == "sys" {
			r.asked(value)
		}
		if len(a.path) == 1 && r.isGivenName(a.path[0]) && r.isGiven(value) { // who is given may call it
			r.emit(mask.Ref{Path: []string{mask.Parameter, r.word(value)}, Use: mask.Called, Class: r.class, Line: value.Line()})
		}
		if !a.looked || !r.isGiven(value) {
			r.argument(value, a)
		}
	}
}

// argument reads the value of one.
func (r *reader) argument(n syntax.Node, a argument) {
	if r.functions == 0 && r.class >= 0 && (a.as == "factory" || a.as == "default_factory" || len(a.path) > 0 && a.path[len(a.path)-1] == "Factory") {
		r.makes(n)
		return
	}
	switch n.Kind() {
	case "identifier", "attribute":
		if l, ok := r.scope.find(r.word(n)); ok && l.kind == builtin && !a.quiet && !a.looked { // a table of the function
			for _, of := range l.any {
				r.emit(mask.Ref{Path: of, Use: mask.Handed, Class: r.class, Line: n.Line()})
			}
		}
		how := mask.Handed
		if a.quiet || (r.keeping > 0 || a.inside) && !isClassName(r.path(n)) { // a decorator makes objects of classes
			how = mask.Named
		}
		r.note(r.path(n), mask.Ref{Use: how, Class: r.class, Line: n.Line(), Into: a.into()}, n)
		r.receiver(n)
	case "lambda":
		if a.quiet || r.keeping > 0 {
			r.stored(n)
		} else {
			r.literal(n)
		}
	case "list", "tuple", "set", "dictionary", "pair", "conditional_expression", "boolean_operator", "parenthesized_expression":
		if a.quiet || r.keeping > 0 || r.functions == 0 {
			r.expression(n)
			return
		}
		if n.Kind() == "conditional_expression" {
			r.either(n, func(n syntax.Node) { r.argument(n, a) })
			return
		}
		if n.Kind() == "boolean_operator" {
			r.counts.branches++
		}
		if n.Is("list", "tuple", "set", "dictionary") {
			a.inside, a.to = true, nil // a table of functions is kept for later, as any other
		}
		for c := range n.Children() {
			if c.Named() {
				r.argument(c, a)
			}
		}
	default:
		r.expression(n)
		if n.Is("subscript", "call") && !a.looked && !a.quiet { // f(TABLE[k])
			for _, one := range r.picked(r.scope, n) {
				r.emit(mask.Ref{Path: one, Use: mask.Handed, Class: r.class, Line: n.Line(), Into: a.into()})
			}
		}
		if made := r.path(n.Child("function")); n.Kind() == "call" && (isClassName(made) || len(made) == 1 && slices.Equal(r.resolve(made), []string{"cls"})) { // f(C()): who has the object may call it
			r.use(append(slices.Clone(made), "__call__"), mask.Called, n)
		}
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
