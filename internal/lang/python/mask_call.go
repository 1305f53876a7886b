package python

import (
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// call reads a call; how says what becomes of what it gives.
func (r *reader) call(n syntax.Node, how mask.Use) {
	r.counts.calls++
	function, arguments := n.Child("function"), n.Child("arguments")
	picked := function.Kind() == "subscript"
	function = r.unsubscripted(function)
	path := r.path(function)
	if picked && len(path) > 1 {
		r.use(append(slices.Clone(path), mask.Element), how, n)
	} else if picked { // of a table of the function, or one that stands here
		for _, one := range r.elements(r.scope, function) {
			r.emit(mask.Ref{Path: one, Use: mask.Called, Class: r.class, Line: n.Line()})
		}
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
	if len(path) == 1 {
		r.ofLanguage(n, path[0])
	}
	r.use(r.attributeOf(n), mask.Named, n) // it may be a property
	r.without(n, path)
	if len(r.names) == 0 || !strings.HasSuffix(r.names[len(r.names)-1], "__new__") { // that runs for a class that is made already
		r.use(r.madeBare(r.scope, n), mask.Called, n)
	}
	r.looksThrough(n, path)
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
		quiet:  len(path) > 0 && inert()[path[len(path)-1]] && path[0] != "property" && !own, // x = property(f): who reads x calls f
		inside: len(path) > 1 && addsTo(path[len(path)-1]),
	})
}

// unsubscripted is Box of Box[int](1), TABLE of TABLE[k][0](1).
func (r *reader) unsubscripted(function syntax.Node) syntax.Node {
	for function.Kind() == "subscript" {
		for s := range function.Children() {
			if s.Field() == "subscript" {
				r.expression(s)
			}
		}
		function = function.Child("value")
		if of := r.path(function.Child("function")); function.Kind() == "call" && len(of) == 1 && of[0] == "globals" && r.functions == 0 && r.quiet == 0 {
			r.everything = function.Line() // globals()[name](…)
		}
	}
	return function
}

// ofLanguage is a call of str, repr and format, alone or by map, of eval and exec.
func (r *reader) ofLanguage(n syntax.Node, name string) {
	all := positional(n)
	switch name {
	case "str", "repr", "format":
		if len(all) > 0 {
			r.text(all[0])
		}
	case "map": // map(str, all)
		if len(all) > 1 && all[0].Kind() == "identifier" && (r.word(all[0]) == "str" || r.word(all[0]) == "repr") {
			r.use([]string{"?", "__" + r.word(all[0]) + "__"}, mask.Called, n)
		}
	case "eval", "exec":
		for _, names := range all[min(1, len(all)):] { // eval(text, globals, TABLE)
			if of := r.path(names); len(of) > 0 {
				r.use(append(slices.Clone(of), mask.Element), mask.Called, n)
			}
		}
		r.evaluated(n.Child("arguments"))
	}
}

// looksThrough is getattr(x, name) for each name of dir(x): it reads all properties.
func (r *reader) looksThrough(n syntax.Node, path []string) {
	all := positional(n)
	if len(path) != 1 || path[0] != "getattr" || len(all) < 2 || all[1].Kind() != "identifier" {
		return
	}
	around := n.Above("for_statement", "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression")
	if around.Kind() != "for_statement" {
		around = around.First("for_in_clause")
	}
	object := r.path(all[0])
	if around.Child("left").Text() != all[1].Text() || !strings.Contains(around.Child("right").Text(), "dir("+all[0].Text()+")") || len(object) == 0 {
		return
	}
	if len(object) == 1 && r.isGiven(all[0]) {
		r.emit(mask.Ref{Path: []string{mask.Parameter, object[0], "*"}, Class: r.class, Line: n.Line()})
		return
	}
	if object[0] != "?" {
		r.use(append(slices.Clone(object), "*"), mask.Named, n)
	}
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
			if !slices.Contains(builtins, m[2]) {
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
		n = firstOf(n)
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
		switch {
		case len(a.path) > 1 && a.path[0] == "sys":
			r.asked(value, importers...)
		case len(a.path) > 1 && a.path[len(a.path)-1] == "addFilter": // of logging, for all that is said from then on
			r.asked(value, "filter")
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
