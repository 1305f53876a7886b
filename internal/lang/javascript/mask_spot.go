package javascript

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// spot is what a function, a class or an object literal is bound to.
type spot struct {
	name     string // qualified; "" for the module itself
	bound    bool
	typed    bool           // it says its type
	accessor mask.Construct // a function there is the getter or the setter of the name
	tells    int            // an object there says what property the name is (Object.defineProperty), or 2: what those in it are
	lent     bool           // an object there is given to a call, which may read it
}

// deepest is how far out the name of a literal is looked for: nobody writes what nests deeper.
const deepest = 200

// spot is that of an expression, by what stands around it.
func (r *reader) spot(n syntax.Node) spot {
	if r.depth++; r.depth > deepest {
		r.depth--
		return spot{}
	}
	defer func() { r.depth-- }()
	typed := true
	for range deepest {
		up := n.Parent()
		kind := up.Kind()
		if unwrapped(n).Is("call_expression", "new_expression") && n.Field() == "function" { // f(…)(…)
			kind = "parenthesized_expression"
		}
		switch kind {
		case "parenthesized_expression", "non_null_expression", "ternary_expression", "binary_expression", "await_expression", "sequence_expression":
			n = up
		case "as_expression", "satisfies_expression", "type_assertion": // what gives never is like no type with overloads
			n, typed = up, false
		default:
			s := r.binding(n, up)
			s.typed = s.typed && typed
			return s
		}
	}
	return spot{}
}

// binding is what a node that holds an expression binds it to.
func (r *reader) binding(n, up syntax.Node) spot {
	switch field := n.Field(); up.Kind() {
	case "variable_declarator":
		if name := up.Child("name"); name.Is("identifier") && field == "value" {
			return spot{name: r.Qualified(name.Text()), bound: true, typed: up.Child("type").Is()}
		}
	case "field_definition", "public_field_definition":
		if key := keyName(up.First("property_identifier", "private_property_identifier", "computed_property_name", "string", "number")); key != "" && field == "value" {
			return spot{name: r.Qualified(key), bound: true, typed: up.Child("type").Is()}
		}
	case "assignment_expression":
		return r.assigned(up)
	case "pair":
		return r.pair(n, up)
	case "export_statement":
		return spot{name: "default", bound: field == "value"}
	case "return_statement", "arrow_function":
		return r.returned(n, up)
	case "arguments":
		return r.argument(n, up.Parent())
	}
	return spot{}
}

// assigned is what an assignment gives a value to. Of var app = module.exports = …, its own name says more.
func (r *reader) assigned(n syntax.Node) spot {
	if s, ok := r.spots[n.Index()]; ok {
		return s
	}
	name, exported := r.target(n.Child("left"))
	s := spot{name: name, bound: name != "" || exported}
	if exported {
		if outer := r.spot(n); outer.name != "" {
			s.name = outer.name
		}
	}
	r.spots[n.Index()] = s
	return s
}

// pair is a member of an object literal.
func (r *reader) pair(n, up syntax.Node) spot {
	s, key := r.spots[up.Parent().Index()], keyName(up.Child("key"))
	switch {
	case !s.bound, key == "", n.Field() != "value", s.lent && givesName(unwrapped(n)):
		return spot{}
	case s.tells == 1 && accessors[key] != "" && isLiteral(unwrapped(n)):
		return spot{name: s.name, bound: true, accessor: accessors[key]}
	}
	return spot{name: joined(s.name, key), bound: true, typed: s.typed, tells: max(0, s.tells-1)}
}

// givesName reports whether an expression is () => a.b: in an object that a call gets, it stands for a.b itself, which the call may
// make a property of something (how compilers write what a module exports).
func givesName(n syntax.Node) bool {
	return n.Is("arrow_function") && !n.Has("async") && !first(n.Child("parameters")).Is() && !n.Child("parameter").Is() &&
		unwrapped(n.Child("body")).Is("identifier", "member_expression")
}

// returned is what a function gives: of one that is called where it stands, what that is bound to.
func (r *reader) returned(n, up syntax.Node) spot {
	fn, value := up, up.Child("body")
	if up.Is("return_statement") {
		fn, value = up.Above("function_declaration", "generator_function_declaration", "function_expression", "generator_function", "arrow_function", "method_definition"), first(up)
	} else if n.Field() != "body" {
		return spot{}
	}
	if s := r.made(fn); s.bound {
		return s
	}
	if up.Is("arrow_function") && (r.Function() < 0 || r.around[r.Function()].node != up.Index()) {
		return spot{}
	}
	if one := unwrapped(value); r.Function() >= 0 && (isLiteral(one) || one.Is("object", "class") || passes(one)) {
		return spot{name: r.Qualified("return"), bound: true}
	}
	return spot{}
}

// made is what the value of a function literal is bound to that is called where it stands, or that makes a module: the factory of a
// universal module, and define's.
func (r *reader) made(fn syntax.Node) spot {
	call := fn.Parent()
	for call.Is("parenthesized_expression", "member_expression") { // .call and .apply
		call = call.Parent()
	}
	factory := call.Is("arguments")
	if factory {
		call = call.Parent()
	}
	switch {
	case !isLiteral(fn), factory && r.Function() >= 0:
	case factory && callee(call).Text() == "define":
		return spot{bound: true}
	case onTheSpot(call):
		s := r.spot(call)
		return spot{name: s.name, bound: s.bound || factory}
	}
	return spot{}
}

// argument is what a call's argument is bound to: what holds what the call gives.
func (r *reader) argument(n, call syntax.Node) spot {
	p := dotted(callee(call))
	own, literal := n.Child("name").Text(), isLiteral(unwrapped(n))
	switch where, handler := route(call, p); {
	case where != "" && n == handler:
		return spot{name: r.Qualified(where), bound: true}
	case onTheSpot(call), callsAtOnce(p) && !unwrapped(n).Is("object"), literal && r.Function() < 0 && p[0] == "define" && len(p) == 1:
		return spot{}
	case where == "":
		if s := r.spot(call); s.bound {
			return spot{name: s.name, bound: true}
		}
	}
	if names, keyed := namedBefore(call, n); own == "" && keyed { // defineGetter(object, "name", function () {…})
		own = joined("", names...)
	}
	return spot{name: r.Qualified(own), bound: literal && own != "" && r.Function() < 0}
}

// objectSpot is that of an object literal. One that a call gets goes by what it is copied to, or by the call.
func (r *reader) objectSpot(n syntax.Node) spot {
	arg := n
	for arg.Parent().Is("parenthesized_expression", "as_expression", "satisfies_expression") {
		arg = arg.Parent()
	}
	call := arg.Parent().Parent()
	if !arg.Parent().Is("arguments") || onTheSpot(call) {
		return r.spot(n)
	}
	p := dotted(callee(call))
	s := r.argument(arg, call)
	if !s.bound && r.Function() < 0 {
		s = r.copied(n, call, p)
	}
	s.lent = p[0] != "Object"
	return s
}

// definers are the methods that get objects which say what properties others have: of one, or by their names.
var definers = map[string]int{"defineProperty": 1, "defineProperties": 2}

// namedBefore is what the arguments before one name: an object, and strings behind it, if any.
func namedBefore(call, n syntax.Node) (names []string, keyed bool) {
	for arg := range call.Child("arguments").Children() {
		switch {
		case arg.Start() >= n.Start(), arg.Holds(n):
		case arg.Is("string") && len(names) > 0:
			names, keyed = append(names, keyName(arg)), true
		case arg.Is("identifier", "member_expression") && len(names) == 0:
			names = exportsOf(assignable(arg))
		}
	}
	return names, keyed
}

// copied is named by the arguments before the object. Of what a module exports it is the module's own code: who takes the export
// reads it.
func (r *reader) copied(n, call syntax.Node, p []string) spot {
	names, _ := namedBefore(call, n)
	tells := definers[p[len(p)-1]]
	switch {
	case len(names) == 0:
		names, tells = p, 0
	case tells > 0 && (names[0] == "exports" || names[0] == "module"):
		r.nameless = max(r.nameless, n.End())
		return spot{}
	}
	if i := slices.Index(names, "prototype"); i > 0 {
		r.owners[strings.Join(names[:i], ".")] = true
		names = slices.Delete(slices.Clone(names), i, i+1)
	}
	name := joined("", names...)
	return spot{name: name, bound: name != "", tells: tells}
}

// target is what an assignment gives a value to, qualified: exported with "" is the module itself, else nothing that has a name.
func (r *reader) target(left syntax.Node) (name string, exported bool) {
	p := assignable(left)
	if p == nil {
		return "", false
	}
	if of, ok := r.protos[p[0]]; ok && len(p) > 1 {
		p = append([]string{of, "prototype"}, p[1:]...)
	}
	switch own := exportsOf(p); {
	case p[0] == "this" && len(p) > 1:
		return r.member(strings.Join(p[1:], "."))
	case p[0] == "exports" && len(p) == 1, p[0] == "module" && len(p) == 2 && p[1] == "exports":
		return "", true
	case len(own) < len(p):
		return strings.Join(own, "."), true
	}
	if i := slices.Index(p, "prototype"); i > 0 {
		owner := exportsOf(p[:i])
		r.owners[r.Qualified(strings.Join(owner, "."))] = true
		p = append(slices.Clone(owner), p[i+1:]...)
	}
	return r.Qualified(strings.Join(p, ".")), false
}

// member is this.x = …: of the class, of a function that makes objects, or in CommonJS of the module.
func (r *reader) member(name string) (full string, exported bool) {
	switch of := r.object(); {
	case of != "":
		return joined(of, name), false
	case r.Function() >= 0:
		return r.Qualified(name), false
	}
	return name, true
}

var verbs = strings.Fields("get post put patch delete head options all")

// route reads app.get("/x", …, handler), as express, koa's routers, fastify and hono have it, and app.route("/x").get(handler): the
// handler has the name of the route.
func route(call syntax.Node, p []string) (name string, handler syntax.Node) {
	verb, args := p[len(p)-1], call.Child("arguments")
	if len(p) < 2 || !slices.Contains(verbs, verb) {
		return "", handler
	}
	place := first(args)
	where := chained(unwrapped(callee(call)).Child("object"))
	if where == "" {
		where = text(place)
	} else {
		place = syntax.Node{}
	}
	for handler = range args.Children() {
	}
	switch {
	case !strings.HasPrefix(where, "/"), !handler.Is(), handler == place:
		return "", handler
	case verb == "all":
		return where, handler
	}
	return strings.ToUpper(verb) + " " + where, handler
}

// chained is the path of app.route("/x").get(…)…, "" for any other call.
func chained(n syntax.Node) string {
	for n.Is("call_expression") {
		fn := n.Child("function")
		if !fn.Is("member_expression") {
			return ""
		}
		if fn.Child("property").Text() == "route" {
			return text(first(n.Child("arguments")))
		}
		n = fn.Child("object")
	}
	return ""
}

// text is what stands in a string.
func text(n syntax.Node) string {
	if !n.Is("string") {
		return ""
	}
	return strings.Trim(n.Text(), `"'`)
}
