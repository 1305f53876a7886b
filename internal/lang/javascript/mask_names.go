package javascript

import (
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// sink takes references, each once.
type sink struct {
	refs []mask.Ref
	seen map[string]struct{}
}

func newSink() *sink { return &sink{seen: map[string]struct{}{}} }

func key(ref mask.Ref) string {
	k := strings.Join(ref.Path, ".") + " " + string(ref.Use)
	for a := ref.Into; a != nil; a = a.Into {
		k += " " + strings.Join(a.Path, ".") + strconv.Itoa(a.At)
	}
	return k
}

func (s *sink) add(ref mask.Ref) {
	k := key(ref)
	if ref.Path[0] == "this" || ref.Path[0] == "super" {
		k += " " + string(rune(ref.Class+1))
	}
	if _, ok := s.seen[k]; !ok {
		s.seen[k] = struct{}{}
		s.refs = append(s.refs, ref)
	}
}

// add notes a reference where it runs.
func (r *reader) add(ref mask.Ref, p place) {
	if ref.Path = r.resolved(ref.Path, p); ref.Path == nil || ref.Path[0] == builtIn || len(ref.Path) == 1 && ref.Path[0] == "this" || slices.Contains(globals, ref.Path[0]) && !r.declared[ref.Path[0]] {
		return
	}
	switch {
	case p.collect != nil:
		p.collect.add(ref)
	case p.function < 0:
		r.loads.add(ref)
	default:
		ref.Line = 0
		r.sinks[p.function].add(ref)
	}
}

// builtIn is the receiver of a method that no project wrote.
const builtIn = ""

// globals are what the language and its runtimes have by themselves: of theirs, a
// method is never the project's of the same name.
var globals = strings.Fields(`console Object Array Math JSON Promise Reflect Symbol String Number Boolean Date RegExp Map Set WeakMap WeakSet
	Buffer process Intl Atomics Proxy BigInt Uint8Array Uint16Array Uint32Array Int8Array Int16Array Int32Array Float32Array Float64Array
	ArrayBuffer DataView URL URLSearchParams window document navigator globalThis global performance crypto define
	parseInt parseFloat isNaN isFinite setTimeout setInterval setImmediate clearTimeout clearInterval queueMicrotask
	TypeError RangeError SyntaxError ReferenceError EvalError Error undefined NaN Infinity arguments require __dirname __filename`)

// scope is the names that one function declares: what it holds is its own, whatever
// the module calls by the same name.
type scope struct {
	outer *scope
	names map[string]holding
}

// holding is what a name stands for; nobody can tell of the zero one.
type holding struct {
	itself   bool     // a function or class, or what is required: as it is written
	path     []string // another name
	instance bool     // the path is of its class
}

func newScope(fn syntax.Node, outer *scope, variables bool) *scope {
	s := &scope{outer: outer, names: map[string]holding{}}
	if one := fn.Child("parameter"); one.Is() {
		s.names[one.Text()] = holding{}
	}
	list := fn.Child("parameters")
	for n := range list.Walk(func(n syntax.Node) bool {
		return !isFunction(n) && n.Field() != "type" && n.Field() != "right" && n.Field() != "value"
	}) {
		if n.Is("identifier", "shorthand_property_identifier_pattern") && n.Field() != "right" && n.Field() != "value" {
			s.names[n.Text()] = holding{}
			if of := typeOf(n.Parent()); of != nil && n.Field() == "pattern" {
				s.names[n.Text()] = holding{path: of, instance: true}
			}
		}
	}
	if variables {
		s.variables(fn.Child("body"))
	}
	return s
}

func (s *scope) variables(body syntax.Node) {
	for n := range body.Walk(func(n syntax.Node) bool { return n == body || !isFunction(n) && !n.Is("class_body") }) {
		switch n.Kind() {
		case "function_declaration", "generator_function_declaration", "class_declaration":
			s.names[n.Child("name").Text()] = holding{itself: true}
		case "catch_clause":
			s.names[n.Child("parameter").Text()] = holding{}
		case "for_in_statement":
			if left := n.Child("left"); left.Is("identifier") && n.Child("kind").Is() {
				s.names[left.Text()] = holding{}
			}
		case "variable_declarator":
			s.declared(n.Child("name"), unwrapped(n.Child("value")))
		}
	}
}

func (s *scope) declared(name, value syntax.Node) {
	var holds holding
	if isLiteral(value) || value.Is("class") && value.Named() || required(value) != "" {
		holds.itself = true
	}
	for n := range name.Walk(func(n syntax.Node) bool { return n.Field() != "right" }) {
		if n.Is("identifier", "shorthand_property_identifier_pattern") && n.Field() != "right" {
			s.names[n.Text()] = holds
		}
	}
}

// resolved is a path with the names of the functions around taken for what they hold;
// nil for one of which nothing can be told.
func (r *reader) resolved(path []string, p place) []string {
	for s := p.scope; s != nil; s = s.outer {
		holds, ok := s.names[path[0]]
		switch {
		case !ok:
			continue
		case holds.itself:
			return path
		case holds.path != nil && (len(path) > 1 || !holds.instance):
			return append(slices.Clone(holds.path), path[1:]...)
		case len(path) == 1:
			return nil
		}
		return unknown(path)
	}
	if path = exportsOf(path); len(path) == 1 && path[0] == "?" {
		return nil
	}
	if path[0] == "?" {
		return unknown(path)
	}
	return r.memberOf(path)
}

// memberOf is a path to a member without the prototype that it lies on.
func (r *reader) memberOf(path []string) []string {
	if of, ok := r.protos[path[0]]; ok && len(path) > 1 {
		return append([]string{of}, path[1:]...)
	}
	if i := slices.Index(path, "prototype"); i > 0 && i < len(path)-1 {
		return slices.Delete(slices.Clone(path), i, i+1)
	}
	return path
}

// unknown is a path of which it is not known where it begins. Its last names are enough:
// what is called, and what it is called on (x.f.bind).
func unknown(path []string) []string {
	return append([]string{"?"}, path[max(1, len(path)-2):]...)
}

// exportsOf is a path without what a CommonJS module calls itself.
func exportsOf(path []string) []string {
	switch {
	case len(path) > 1 && path[0] == "exports":
		return path[1:]
	case len(path) > 1 && path[0] == "module" && path[1] == "exports":
		if len(path) == 2 {
			return []string{"default"}
		}
		return path[2:]
	}
	return path
}

// path is a dotted name; not ok where the first part is no name.
func (r *reader) path(n syntax.Node) ([]string, bool) {
	if r.depth++; r.depth > maxDepth {
		r.depth--
		return []string{"?"}, false
	}
	defer func() { r.depth-- }()
	n = unwrapped(n)
	switch n.Kind() {
	case "identifier", "this", "super", "type_identifier":
		if !n.Named() {
			return nil, false
		}
		return []string{n.Text()}, true
	case "member_expression":
		outer, ok := r.path(n.Child("object"))
		return append(outer, n.Child("property").Text()), ok
	case "nested_identifier", "nested_type_identifier":
		return strings.Split(oneLine(n.Text()), "."), true
	case "subscript_expression":
		if index := n.Child("index"); index.Is("string") {
			outer, ok := r.path(n.Child("object"))
			return append(outer, r.keyName(index)), ok
		}
	case "call_expression":
		if specifier := required(n); specifier != "" {
			local := "require(" + specifier + ")"
			r.whole(module(r.at, specifier), local)
			return []string{local}, true
		}
	case "string", "template_string", "regex", "array", "number", "object":
		return []string{builtIn}, false
	case "new_expression":
		if made, ok := r.path(n.Child("constructor")); ok {
			return made, false
		}
	}
	return []string{"?"}, false
}

// required is the module that a call of require or import() is given, "" for any other
// expression.
func required(n syntax.Node) string {
	if n.Is("await_expression") {
		n = first(n)
	}
	if !n.Is("call_expression") {
		return ""
	}
	if inner := first(n.Child("arguments")); inner.Is("call_expression") && strings.Contains(n.Child("function").Text(), "interopRequire") {
		n = inner // what compilers to CommonJS write
	}
	if fn := n.Child("function"); !fn.Is("import") && !(fn.Is("identifier") && fn.Text() == "require") {
		return ""
	}
	switch arg := first(n.Child("arguments")); arg.Kind() {
	case "string":
		return strings.Trim(arg.Text(), `"'`)
	case "number":
		return itself
	}
	return ""
}

// itself is the module of a bundle, where modules go by numbers: any of those in the file.
const itself = "#"

// use notes a name, and what has to be run to come by it.
func (r *reader) use(n syntax.Node, use mask.Use, p place) {
	if !n.Is() {
		return
	}
	into := p.into
	p = p.unbound()
	path, named := r.path(n)
	r.add(mask.Ref{Path: path, Use: use, Class: p.class, Line: n.Line(), Into: into}, p)
	if named {
		return
	}
	for n.Is("member_expression", "subscript_expression", "parenthesized_expression", "non_null_expression", "as_expression", "satisfies_expression") {
		if n.Is("subscript_expression") {
			r.walk(n.Child("index"), p)
		}
		inner := n.Child("object")
		if !inner.Is() {
			inner = first(n)
		}
		n = inner
	}
	if n.Is() && !n.Is("identifier", "this", "super") {
		r.walk(n, p)
	}
}

// decorator is called with what it stands before.
func (r *reader) decorator(n syntax.Node, p place) {
	value := first(n)
	if value.Is("identifier", "member_expression") {
		r.use(value, mask.Called, p)
		return
	}
	r.walk(value, p.unbound())
}

// markup makes what it names.
func (r *reader) markup(n syntax.Node, p place) {
	p = p.unbound()
	name := n.Child("name")
	if text := name.Text(); text != "" && (strings.Contains(text, ".") || text[0] < 'a' || text[0] > 'z') {
		r.add(mask.Ref{Path: strings.Split(oneLine(text), "."), Use: mask.Called, Class: p.class, Line: n.Line()}, p)
	}
	for c := range n.Children() {
		if c.Named() && c != name {
			r.walk(c, p)
		}
	}
}
