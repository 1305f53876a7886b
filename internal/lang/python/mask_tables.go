package python

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// builtins give something of the language's own, as annotations or when they are called.
var builtins = strings.Fields(`str int float bool bytes complex bytearray list dict
	tuple set frozenset len repr sorted range isinstance
	hash id chr ord hex format enumerate zip`)

// containers are those of the standard library that begin empty.
var containers = map[string]bool{
	"defaultdict": true, "OrderedDict": true, "deque": true, "WeakKeyDictionary": true, "WeakValueDictionary": true, "WeakSet": true,
}

// isBuiltin tells a parameter that is none of ours: *args, **kwargs, or by its annotation.
func isBuiltin(r *reader, parameter syntax.Node) bool {
	if parameter.Is("list_splat_pattern", "dictionary_splat_pattern") {
		return true
	}
	if parameter.Kind() == "typed_parameter" && parameter.First().Is("list_splat_pattern", "dictionary_splat_pattern") {
		return true
	}
	return plainType(r, parameter.Child("type").First())
}

// plainType is str, list[…], str | None, Optional[str].
func plainType(r *reader, n syntax.Node) bool {
	switch n.Kind() {
	case "identifier":
		return slices.Contains(builtins, r.word(n))
	case "none":
		return true
	case "generic_type":
		name := r.word(n.First())
		if name != "Optional" && name != "Union" {
			return slices.Contains(builtins, strings.ToLower(name))
		}
		for c := range lastOf(n).Children() {
			if c.Named() && !plainType(r, c.First()) {
				return false
			}
		}
		return true
	case "binary_operator", "union_type":
		for c := range n.Children() {
			if c.Named() && !plainType(r, c) {
				return false
			}
		}
		return true
	}
	return false
}

// isValue tells an expression that gives nothing of ours.
func isValue(r *reader, n syntax.Node) bool {
	switch n.Kind() {
	case "string", "concatenated_string", "integer", "float", "list", "tuple", "dictionary", "set", "none", "true", "false", "expression_list",
		"list_comprehension", "dictionary_comprehension", "set_comprehension", "generator_expression", "not_operator":
		return true
	case "call":
		path := r.path(n.Child("function"))
		return len(path) == 1 && slices.Contains(builtins, path[0]) || len(path) > 0 && containers[path[len(path)-1]] && !r.ofTree(path[0])
	}
	return false
}

// elements are the paths of what an expression may hold when it is gone through.
func (r *reader) elements(s *scope, n syntax.Node) [][]string {
	switch n.Kind() {
	case "identifier", "attribute":
		path := r.path(n)
		if len(path) == 0 || path[0] == "?" {
			return nil
		}
		if l, ok := s.find(path[0]); ok && l.kind == given && len(path) == 1 {
			return [][]string{{mask.Parameter, path[0], mask.Element}}
		} else if ok && l.kind == element && len(path) == 1 { // another name for a table, or one of its own
			out := slices.Clone(l.any)
			for _, of := range l.any {
				if of[len(of)-1] != mask.Element {
					out = append(out, append(slices.Clone(of), mask.Element))
				}
			}
			return out
		} else if ok && len(path) > 1 && (l.kind == given || l.kind == opaque) {
			return [][]string{append(append([]string{"?"}, path[1:]...), mask.Element)}
		} else if ok && l.kind != outside && l.kind != receiver {
			return l.any
		} else if ok && l.kind == receiver {
			path = append(slices.Clone(l.path), path[1:]...)
		}
		return [][]string{append(slices.Clone(path), mask.Element)}
	case "subscript": // one of a table's own tables, which hold what it holds
		return r.elements(s, n.Child("value"))
	case "call": // enumerate(TABLE), TABLE.items()
		var out [][]string
		if f := n.Child("function"); f.Kind() == "attribute" && (views[r.word(f.Child("attribute"))] || r.isPick(n)) {
			out = r.elements(s, f.Child("object"))
		}
		for _, a := range positional(n) {
			out = append(out, r.elements(s, a)...)
		}
		return out
	case "lambda": // defaultdict(lambda: f)
		if !n.Child("parameters").Is() {
			return r.listed(s, n.Child("body"))
		}
	case "list", "tuple", "set", "dictionary", "pair", "expression_list", "list_splat", "dictionary_splat", "parenthesized_expression":
		var out [][]string
		for c := range n.Children() {
			if !c.Named() {
				continue
			}
			if n.Is("list_splat", "dictionary_splat", "parenthesized_expression") {
				out = append(out, r.elements(s, c)...)
			} else {
				out = append(out, r.listed(s, c)...)
			}
		}
		return out
	case "binary_operator", "boolean_operator", "conditional_expression":
		var out [][]string
		for c := range n.Children() {
			if c.Named() {
				out = append(out, r.elements(s, c)...)
			}
		}
		return out
	}
	return nil
}

// listed is what one expression of a display may be.
func (r *reader) listed(s *scope, n syntax.Node) [][]string {
	switch n.Kind() {
	case "identifier", "attribute":
		return r.element(s, n)
	case "call": // which gives an object
		return nil
	case "lambda": // who calls it calls what it does
		return r.calledIn(s, n)
	case "boolean_operator", "conditional_expression", "parenthesized_expression":
		var out [][]string
		for c := range n.Children() {
			if c.Named() {
				out = append(out, r.listed(s, c)...)
			}
		}
		return out
	}
	return r.elements(s, n)
}

// calledIn are the names that a lambda calls, or hands to a call.
func (r *reader) calledIn(s *scope, n syntax.Node) [][]string {
	own := map[string]bool{}
	for c := range n.Child("parameters").Children() {
		if name := parameter(c); name.Is() {
			own[r.word(name)] = true
		}
	}
	var out [][]string
	take := func(n syntax.Node) {
		switch path := r.path(n); {
		case len(path) == 0:
		case !own[path[0]]:
			out = append(out, r.element(s, n)...)
		case len(path) > 1: // of what who calls it gives
			out = append(out, append([]string{"?"}, path[1:]...))
		}
	}
	for c := range n.Child("body").Walk(func(n syntax.Node) bool { return !n.Is("lambda") }) {
		if !c.Is("call") {
			continue
		}
		take(c.Child("function"))
		for _, a := range positional(c) {
			if a.Is("identifier", "attribute") {
				take(a)
			}
		}
	}
	return out
}

// element is a name that stands in a display.
func (r *reader) element(s *scope, n syntax.Node) [][]string {
	path := r.path(n)
	if len(path) == 0 || path[0] == "?" {
		return nil
	}
	l, ok := s.find(path[0])
	switch {
	case !ok || l.kind == outside:
		return [][]string{path}
	case l.kind == element && len(path) == 1:
		return l.any
	case l.kind == receiver && len(path) > 1:
		return [][]string{append(slices.Clone(l.path), path[1:]...)}
	}
	return nil
}

// follows tells an assignment in a function after which the name is known to stand for
// what is assigned.
func (r *reader) follows(left, right syntax.Node) bool {
	switch left.Kind() {
	case "identifier":
		l, ok := r.scope.find(r.word(left))
		return ok && l.kind == element
	case "attribute":
		return r.memberNamed(left) != "" && r.isKnown(right)
	}
	return false
}

// views are methods of containers that give what they hold.
var views = map[string]bool{"items": true, "values": true, "keys": true, "copy": true}

// picked is what TABLE[k], TABLE.get(k) may be; a name that another stands for.
func (r *reader) picked(s *scope, n syntax.Node) [][]string {
	switch n.Kind() {
	case "identifier", "attribute":
		return r.element(s, n)
	case "conditional_expression":
		var out [][]string
		for _, side := range []syntax.Node{firstOf(n), lastOf(n)} {
			one := r.picked(s, side)
			if len(one) == 0 && !isValue(r, side) {
				return nil
			}
			out = append(out, one...)
		}
		return out
	case "subscript":
		return r.elements(s, n.Child("value"))
	case "call":
		if r.isPick(n) {
			return r.elements(s, n.Child("function").Child("object"))
		}
		if path := r.path(n.Child("function")); len(path) == 1 && path[0] == "next" {
			return r.elements(s, n)
		}
	}
	return nil
}

// isPick tells TABLE.get(k), and what else gives one of a table.
func (r *reader) isPick(call syntax.Node) bool {
	f := call.Child("function")
	return f.Kind() == "attribute" && picks[r.word(f.Child("attribute"))]
}

var picks = map[string]bool{"get": true, "pop": true, "popitem": true, "popleft": true, "setdefault": true}

// find is the nearest meaning of a local name.
func (s *scope) find(name string) (local, bool) {
	for ; s != nil; s = s.up {
		if l, ok := s.names[name]; ok {
			return l, true
		}
	}
	return local{}, false
}

// oneOf is what a local name may be that holds an element of a table.
func (r *reader) oneOf(s *scope, name string) [][]string {
	if l, ok := s.find(name); ok && l.kind == element {
		return l.any
	}
	return nil
}

// bindElement binds the targets of a loop to what is gone through.
func (r *reader) bindElement(s *scope, n syntax.Node, any [][]string) {
	if len(any) == 0 {
		r.bindTarget(s, n)
		return
	}
	switch n.Kind() {
	case "identifier":
		switch l, again := s.names[r.word(n)]; {
		case !again || l.kind == element:
			s.names[r.word(n)] = local{kind: element, any: append(l.any, any...)}
		case l.kind == given:
			s.names[r.word(n)] = local{}
		}
	case "pattern_list", "tuple_pattern", "list_pattern":
		for c := range n.Children() {
			r.bindElement(s, c, any)
		}
	default:
		r.bindTarget(s, n)
	}
}

// table notes what is held by what a name stands for, and that it is no object of ours.
func (r *reader) table(name string, right syntax.Node) {
	switch {
	case !right.Is() || right.Is("none", "true", "false", "integer", "float", "not_operator"):
	case isValue(r, right):
		r.values[name] = true
		r.holds(name, right)
	default:
		r.murky[name] = true
		for _, of := range positional(right) { // f({…}): it may hold what that does
			if of.Is("dictionary", "list", "tuple", "set") {
				r.holds(name, of)
			}
		}
	}
}

// holds adds to what a table holds.
func (r *reader) holds(name string, right syntax.Node) {
	for _, path := range r.elements(r.scope, right) {
		if path[0] == mask.Parameter {
			continue
		}
		r.file.Bindings = append(r.file.Bindings, mask.Binding{Name: name + "." + mask.Element, Value: mask.Ref{Path: path, Use: mask.Named, Class: r.class}})
	}
}

// stores is TABLE[k] = x. It tells what puts tells.
func (r *reader) stores(left, right syntax.Node) bool {
	if left.Kind() != "subscript" {
		return false
	}
	if l, ok := r.scope.find(r.word(right)); ok && l.kind == computed { // x = getattr(self, …)
		r.use([]string{r.word(right)}, mask.Called, right)
	}
	return r.puts(left.Child("value"), right)
}

// puts is what goes into a table: a name; what a function is called with or decorates,
// where the name is its parameter. It reports whether parameters go there, and the table is
// one of the language's.
func (r *reader) puts(table, n syntax.Node) bool {
	name := r.tableNamed(table)
	if name == "" {
		return false
	}
	all := r.elements(r.scope, n)
	if n.Is("identifier", "attribute") {
		all = r.element(r.scope, n)
	}
	if l, ok := r.scope.find(r.word(n)); ok && n.Kind() == "identifier" && (l.kind == opaque || l.kind == given) && len(r.names) > 0 {
		all = append(all, append(strings.Split(r.names[0], "."), mask.Decorated))
	}
	given := r.givenIn(n)
	for _, path := range append(all, given...) {
		if path[0] == mask.Parameter && path[len(path)-1] == mask.Element {
			continue
		}
		r.file.Bindings = append(r.file.Bindings, mask.Binding{Name: name + "." + mask.Element, Value: mask.Ref{Path: path, Use: mask.Named, Class: r.class}})
	}
	return len(given) > 0 && r.values[name] && !r.murky[name]
}

// tableNamed is the name in the file of a table, or of one of its own tables; "" where it
// has none.
func (r *reader) tableNamed(n syntax.Node) string {
	for n.Kind() == "subscript" || n.Kind() == "call" && r.isPick(n) {
		if n.Kind() == "subscript" {
			n = n.Child("value")
		} else {
			n = n.Child("function").Child("object")
		}
	}
	path := r.path(n)
	if len(path) == 0 || path[0] == "?" || n.Kind() == "call" { // super(), C(): an object that has none
		return ""
	}
	switch path = r.resolve(path); {
	case len(path) == 1 && path[0] != "?":
		return path[0]
	case len(path) == 2 && (path[0] == "self" || path[0] == "cls") && r.class >= 0:
		return r.file.Classes[r.class].Name + "." + path[1]
	case len(path) == 2 && path[0] != "?" && path[0] != "self" && path[0] != "cls" && path[0] != "super": // of a module, of a class
		return strings.Join(path, ".")
	}
	return ""
}

// givenIn are the parameters in a display, or the one that n is.
func (r *reader) givenIn(n syntax.Node) [][]string {
	var out [][]string
	switch {
	case n.Is("tuple", "list", "set", "dictionary", "pair", "expression_list", "parenthesized_expression"):
		for c := range n.Children() {
			out = append(out, r.givenIn(c)...)
		}
	case r.isGiven(n):
		for i := len(r.names) - 1; i >= 0; i-- { // of the nearest that has it
			out = append(out, []string{mask.Parameter, r.word(n), r.names[i]})
		}
	}
	return out
}

// besides reads of a display that was put into a table what is no parameter.
func (r *reader) besides(n syntax.Node) {
	switch {
	case n.Is("tuple", "list", "set", "dictionary", "pair", "expression_list", "parenthesized_expression"):
		for c := range n.Children() {
			r.besides(c)
		}
	case !r.isGiven(n):
		r.expression(n)
	}
}

// decorated notes for each decorator that has a name what it decorates.
func (r *reader) decorated(name string, decorators []string) {
	for _, d := range decorators {
		if d != "" && !strings.Contains(d, "?") && !plain[d[strings.LastIndexByte(d, '.')+1:]] {
			r.file.Bindings = append(r.file.Bindings, mask.Binding{
				Name: d + "." + mask.Decorated, Value: mask.Ref{Path: strings.Split(name, "."), Use: mask.Named, Class: r.class},
			})
		}
	}
}

// settle says of the names that hold literals only that they do.
func (r *reader) settle() {
	names := make([]string, 0, len(r.values))
	for name := range r.values {
		if !r.murky[name] {
			names = append(names, name)
		}
	}
	for _, b := range r.file.Bindings {
		if r.unclear[b.Name] {
			delete(r.unclear, b.Name)
			r.file.Bindings = append(r.file.Bindings, mask.Binding{Name: b.Name, Value: mask.Ref{Path: []string{mask.Whoever}, Use: mask.Named, Class: -1}})
		}
	}
	slices.Sort(names)
	for _, name := range names {
		r.file.Bindings = append(r.file.Bindings, mask.Binding{Name: name, Value: mask.Ref{Path: []string{mask.Element}, Use: mask.Named, Class: -1}})
	}
}

// loopNames binds the names of a module's or a class's loop.
func (r *reader) loopNames(left syntax.Node, p spot, any [][]string) {
	switch left.Kind() {
	case "identifier":
		for _, path := range any {
			r.file.Bindings = append(r.file.Bindings, mask.Binding{Name: p.prefix + r.word(left), Value: mask.Ref{Path: path, Use: mask.Named, Class: r.class}})
		}
	case "pattern_list", "tuple_pattern", "list_pattern":
		for c := range left.Children() {
			r.loopNames(c, p, any)
		}
	}
}
