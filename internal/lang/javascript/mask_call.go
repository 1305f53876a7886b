package javascript

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// moment is when a call runs the functions that it is given.
type moment int

const (
	perhaps moment = iota // nobody can tell
	atOnce
	later // or never
)

// What is called by these names, as a method mostly, is known well enough everywhere.
var (
	callsAtOnce = strings.Fields("forEach map filter reduce reduceRight some every sort find findIndex findLast flatMap each replace replaceAll from fromEntries")
	callsLater  = strings.Fields(`on once off addListener addEventListener removeListener prependListener then catch finally
		setTimeout setInterval setImmediate nextTick queueMicrotask requestAnimationFrame
		promisify callbackify deprecate inherits debounce throttle bind
		forwardRef memo lazy observer asyncHandler catchAsync wrapAsync expressAsyncHandler
		freeze seal setPrototypeOf getPrototypeOf create defineProperty defineProperties assign keys entries values isArray
		log warn error push unshift add set has createElement String Boolean Number Symbol
		get post put patch delete del head options all use route subscribe provide register`)
)

func momentOf(path []string) moment {
	switch last := path[len(path)-1]; {
	case slices.Contains(callsAtOnce, last) && len(path) > 1:
		return atOnce
	case slices.Contains(callsLater, last):
		return later
	}
	return perhaps
}

// call reads what is called, and what it is given.
func (r *reader) call(n syntax.Node, p place) {
	if required(n) != "" {
		r.interop(n, p)
		r.path(n)
		return
	}
	fn, args := n.Child("function"), n.Child("arguments")
	if n.Is("new_expression") {
		fn = n.Child("constructor")
	}
	if spot := onTheSpot(fn); spot.Is() {
		r.callOnTheSpot(spot, args, p)
		return
	}
	path, _ := r.path(fn)
	if r.route(n, path, p) {
		return
	}
	if use := unwrapped(fn); use.Is("call_expression", "new_expression", "import") && required(use) == "" {
		r.walk(use, p.busy()) // f(…)(…)
	} else {
		use := mask.Called
		if p.idle && !n.Is("new_expression") {
			use = mask.Bound
		}
		r.use(fn, use, p)
		if through := r.through(fn, "call", "apply"); through.Is() {
			r.use(through, use, p)
		}
	}
	r.element(calledItself(fn), p)
	if !args.Is("arguments") {
		r.walk(args, p.unbound()) // a template
		return
	}
	r.inherits(path, args, p)
	at := 0
	for arg := range args.Children() {
		if !arg.Named() || arg.Is("comment") {
			continue
		}
		if at >= 0 && arg.Is("spread_element") {
			at = -1
		}
		r.argument(arg, path, args, r.argumentPlace(arg, path, at, p))
		if at >= 0 {
			at++
		}
	}
}

// element is one of a table that is called, by a key that is made up.
func (r *reader) element(n syntax.Node, p place) {
	index := n.Child("index")
	if !n.Is("subscript_expression") || !index.Is() || index.Is("string") {
		return
	}
	table, named := r.path(n.Child("object"))
	if !named || table[0] == "this" {
		table = []string{"?"}
	}
	r.add(mask.Ref{Path: append(table, mask.Element), Use: mask.Called, Class: p.class, Line: n.Line()}, p)
}

// calledItself is f for f.call and f.apply, too.
func calledItself(fn syntax.Node) syntax.Node {
	fn = unwrapped(fn)
	if fn.Is("member_expression") {
		switch fn.Child("property").Text() {
		case "call", "apply":
			return unwrapped(fn.Child("object"))
		}
	}
	return fn
}

// argumentPlace is that of the argument of a number, -1 where that is not known. Where
// the value of the call is only held, the name that holds it may hold what it is given.
func (r *reader) argumentPlace(arg syntax.Node, path []string, at int, p place) place {
	in := p.busy()
	switch callee := r.resolved(path, p); {
	case passes(arg.Parent().Parent()):
		in = p
	case at >= 0 && (p.idle || p.into != nil) && !farInto(p.into) && isName(callee):
		in.into, in.holder = &mask.Argument{Path: callee, At: at, Into: p.into}, p.holder
	}
	if ref, ok := r.valueRef(arg, p); ok && in.holder != "" {
		r.bind(in.holder, ref)
	}
	return in
}

// farInto tells of a value that so many calls hand on that nobody wrote it: what the next
// one gets counts as used there and then.
func farInto(a *mask.Argument) bool {
	for n := 0; a != nil; a = a.Into {
		if n++; n > maxLevel {
			return true
		}
	}
	return false
}

// through is f for f.call, where the function's own method is one of these.
func (r *reader) through(fn syntax.Node, methods ...string) syntax.Node {
	fn = unwrapped(fn)
	if fn.Is("member_expression") && slices.Contains(methods, fn.Child("property").Text()) {
		if f := unwrapped(fn.Child("object")); f.Is("identifier", "member_expression") {
			return f
		}
	}
	return syntax.Node{}
}

// isName tells a path of which it is known where it begins.
func isName(path []string) bool {
	return path != nil && path[0] != "?" && path[0] != builtIn && path[0] != "this" && path[0] != "super"
}

// onTheSpot is a function that is called where it is written, by .call and .apply too.
func onTheSpot(fn syntax.Node) syntax.Node {
	if fn = calledItself(fn); isLiteral(fn) {
		return fn
	}
	return syntax.Node{}
}

// callOnTheSpot is how modules are made: what the function declares is as good as the
// file's own, what it returns is what it is bound to. Functions among its arguments
// are the factories of a universal module.
func (r *reader) callOnTheSpot(fn, args syntax.Node, p place) {
	in := p.unbound()
	in.giving, in.result, in.returns = p.bound, p.name, false
	r.spot(fn, in)
	for arg := range args.Children() {
		value := unwrapped(arg)
		if isLiteral(value) && p.function < 0 {
			factory := in
			factory.giving = true
			r.spot(value, factory)
		} else if arg.Named() {
			r.walk(arg, in)
		}
	}
}

// argument is one that a call is given.
func (r *reader) argument(arg syntax.Node, path []string, args syntax.Node, p place) {
	value, when := unwrapped(arg), momentOf(path)
	switch {
	case isLiteral(value):
		r.given(value, path, when, p)
	case value.Is("object"):
		at := r.objectPlace(value, path, args, p)
		at.lent = when != later
		r.object(value, at)
	case value.Is("identifier", "member_expression"):
		r.use(value, map[moment]mask.Use{perhaps: mask.Handed, atOnce: mask.Called, later: mask.Named}[when], p)
	case when == atOnce:
		r.walk(arg, p.unbound())
	default:
		r.walk(arg, p)
	}
}

// given is a function literal among the arguments.
func (r *reader) given(fn syntax.Node, path []string, when moment, p place) {
	own := fn.Child("name")
	at := p
	at.typed = false // its type is what the call asks for
	switch {
	case when == atOnce:
		r.transparent(fn, p)
		return
	case p.plain:
	case len(path) == 1 && path[0] == "define" && p.function < 0:
		module := p.unbound()
		module.giving = true
		r.spot(fn, module)
		return
	case p.bound:
		at.bound = true
	case own.Is() && p.function < 0:
		at.bound, at.name = true, joined(p.prefix, own.Text())
	case when == later && p.function < 0:
		at.collect = newSink() // nothing of it runs now
	}
	at.handed = at.bound && when == perhaps
	r.literal(fn, at)
}

// objectPlace names the methods of an object that a call is given: by what the call is
// bound to, by what they are copied to, by the call itself.
func (r *reader) objectPlace(value syntax.Node, path []string, args syntax.Node, p place) place {
	if p.bound || p.function >= 0 {
		return p.named(p.name).when(p.bound)
	}
	var names []string
	for arg := range args.Children() {
		if arg == value || arg.Holds(value) {
			break
		}
		switch {
		case arg.Is("string") && len(names) > 0:
			names = append(names, r.keyName(arg))
		case arg.Is("identifier", "member_expression") && len(names) == 0:
			names = exportsOf(r.assignedPath(arg))
		}
	}
	if len(names) > 0 && definers[path[len(path)-1]] > nothing {
		return r.definedPlace(names, definers[path[len(path)-1]], args, p)
	}
	if len(names) == 0 {
		names = path
	}
	at := p.named(strings.ReplaceAll(strings.Join(names, "."), ".prototype", ""))
	if owner, ok := strings.CutSuffix(strings.Join(names, "."), ".prototype"); ok {
		at.class = r.classOf(owner, args)
	}
	return at.when(at.name != "")
}

// givesName tells () => a.b: in an object that a call gets, it stands for a.b itself, which
// the call may make a property of something (how compilers write what a module exports).
func givesName(n syntax.Node) bool {
	return n.Is("arrow_function") && !n.Has("async") && !first(n.Child("parameters")).Is() && !n.Child("parameter").Is() &&
		unwrappedParens(n.Child("body")).Is("identifier", "member_expression")
}

// definers are the methods that get objects which say what properties others have.
var definers = map[string]telling{"defineProperty": property, "defineProperties": properties}

// definedPlace names what such an object holds after whose it is. Of what a module exports
// it is the module's own code: who takes the export reads it.
func (r *reader) definedPlace(names []string, tells telling, args syntax.Node, p place) place {
	if names[0] == "exports" || names[0] == "module" {
		p.plain = true
		return p
	}
	at := p.named(strings.Join(names, "."))
	if i := slices.Index(names, "prototype"); i > 0 {
		at.class = r.classOf(strings.Join(names[:i], "."), args)
		at.name = joined(strings.Join(names[:i], "."), names[i+1:]...)
	}
	at.tells = tells
	return at
}

func (p place) when(bound bool) place {
	p.bound = bound
	return p
}

// inherits reads util.inherits(A, B) and Object.setPrototypeOf(A.prototype, B.prototype).
func (r *reader) inherits(path []string, args syntax.Node, p place) {
	if last := path[len(path)-1]; last != "inherits" && last != "setPrototypeOf" {
		return
	}
	var names []string
	for arg := range args.Children() {
		if path, ok := r.path(arg); ok && arg.Named() {
			names = append(names, strings.TrimSuffix(strings.Join(path, "."), ".prototype"))
		}
	}
	if len(names) == 2 && !strings.HasPrefix(names[0], "this") {
		r.base(r.classOf(joined(p.prefix, names[0]), args), strings.Split(names[1], "."), p)
	}
}
