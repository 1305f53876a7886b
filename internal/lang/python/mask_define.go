package python

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// special tells names whose values the language or a metaclass may call, and those of a
// class that a function has already.
func (r *reader) special(name string, p spot) bool {
	return isDunder(name) || p.class >= 0 && (r.metas[p.class] ||
		slices.ContainsFunc(r.file.Functions, func(f mask.Function) bool { return f.Name == p.prefix+name }))
}

// function reads a definition; whole has its decorators.
func (r *reader) function(whole, def syntax.Node, p spot) {
	name := r.word(def.Child("name"))
	decorators, wrapped := r.decorators(whole)
	r.adorned(whole, name, p)
	if p.function < 0 {
		r.decorated(p.prefix+name, decorators)
	}
	l, ok := lay(def)
	f := mask.Function{
		Name: p.prefix + name, Public: p.function < 0 && isPublic(p.prefix+name), Doc: l.doc.Is(), Parent: p.function, Class: p.class,
		Line: lineOf(def), Span: mask.Range{Start: whole.Start(), End: whole.End()},
		Broken: !ok || isUnread(whole) || hasPython2(def), Wrapped: wrapped,
		Single: p.class >= 0 && (slices.Contains(decorators, "classmethod") || slices.Contains(decorators, "staticmethod")),
	}
	if len(l.statements) > 0 {
		f.Body = l.cut
		f.Span.End = max(f.Span.End, l.cut.End)
	}
	r.defaults(def.Child("parameters"))
	r.annotation(def.Child("return_type"))
	given := r.byDefault(def.Child("parameters"))
	i := r.begin(f)
	before := r.enter(def, p, decorators)
	r.file.Functions[i].Parameters = r.parameters(def)
	for _, path := range given {
		r.emit(mask.Ref{Path: path, Use: mask.Handed, Class: r.class})
	}
	if len(wrapped) == 0 { // what takes its place may take others
		r.file.Functions[i].Arguments = taken(def.Child("parameters"), p.class >= 0)
	}
	r.names = append(r.names, p.prefix+name)
	generator := r.bodyOf(def, spot{prefix: p.prefix + name + ".", function: i, class: -1})
	r.names = r.names[:len(r.names)-1]
	r.leave(before)
	made := &r.file.Functions[i]
	made.Construct = r.construct(candidate{def: def, name: name, decorators: decorators, layout: l, generator: generator, place: p})
	made.Strict = strict(made.Name, l, generator)
	made.Shape = r.shape(before.counts, l.cut)
	r.routeDecorators(whole, i)
}

// lineOf is the line of a definition's name.
func lineOf(def syntax.Node) int {
	if name := def.Child("name"); name.Is() {
		return name.Line()
	}
	return def.Line()
}

// strict is what stands in the body: a failure, and behind it, in a generator, what
// keeps it one.
func strict(name string, l layout, generator bool) string {
	text := []string{fmt.Sprintf("raise NotImplementedError(\"masked: %s\")", name)}
	if generator {
		text = append(text, "yield")
	}
	return l.text(text...)
}

// begin adds a function whose body is read next.
func (r *reader) begin(f mask.Function) int {
	r.file.Functions = append(r.file.Functions, f)
	r.spans = append(r.spans, [2]int{len(r.runs), len(r.runs)})
	return len(r.file.Functions) - 1
}

// bodyOf reads a body and reports whether it is a generator's.
func (r *reader) bodyOf(def syntax.Node, p spot) (generator bool) {
	body := def.Child("body")
	outer := r.loader
	r.loader = false
	r.block(body, p)
	if r.loader {
		r.anywhere(p.function)
	}
	r.loader = outer
	if inside := r.file.Functions[p.function+1:]; len(inside) > 0 {
		all, named := r.has(body, r.givesAway), r.namedIn(body)
		for _, f := range inside {
			if f.Parent == p.function && (all || f.Construct != mask.Lambda && f.Class < 0 && len(f.Wrapped) == 0 && !named[strings.TrimPrefix(f.Name, p.prefix)]) {
				r.emit(mask.Ref{Path: []string{strings.TrimPrefix(f.Name, p.prefix)}, Use: mask.Handed, Class: r.class})
			}
		}
	}
	r.spans[p.function][1] = len(r.runs)
	return r.has(body, func(n syntax.Node) bool { return n.Kind() == "yield" })
}

// has looks at a function's own code only.
func (r *reader) has(body syntax.Node, what func(syntax.Node) bool) bool {
	own := func(n syntax.Node) bool { return !n.Is("function_definition", "lambda", "class_definition") }
	for n := range body.Walk(own) {
		if n.Named() && what(n) {
			return true
		}
	}
	return false
}

// anywhere notes what a function that imports modules calls on what it does not know.
func (r *reader) anywhere(function int) {
	seen := map[string]bool{}
	for _, ref := range r.runs[r.spans[function][0]:] {
		if ref.Use != mask.Named && ref.Use != mask.Returned && len(ref.Path) == 2 && ref.Path[0] == "?" && ref.Line > 0 && !isDunder(ref.Path[1]) && !seen[ref.Path[1]] {
			seen[ref.Path[1]] = true
			ref.Path, ref.Into = []string{mask.Anywhere, ref.Path[1]}, nil
			r.emit(ref)
		}
	}
}

// namedIn are the names that a function's code uses, that of functions inside of it too.
// A function inside that none of it names is found by those that look at frames.
func (r *reader) namedIn(body syntax.Node) map[string]bool {
	out := map[string]bool{}
	for n := range body.Within() {
		if n.Kind() == "identifier" && (n.Field() != "name" || n.Parent().Kind() != "function_definition") {
			out[r.word(n)] = true
		}
	}
	return out
}

// givesAway tells locals() and vars(): who has what they give has all that is defined
// in the function.
func (r *reader) givesAway(n syntax.Node) bool {
	of := r.path(n.Child("function"))
	return n.Kind() == "call" && len(of) == 1 && (of[0] == "locals" || of[0] == "vars") && len(positional(n)) == 0
}

// isUnread reports whether a definition, its surroundings, or what it begins with may be other
// than the tree says.
func isUnread(whole syntax.Node) bool {
	return whole.Broken() || whole.Above("ERROR").Is() || whole.BehindError()
}

// lambda reads a function by another notation.
func (r *reader) lambda(whole, left, n syntax.Node, p spot) {
	name, body := r.word(left), n.Child("body")
	if !body.Is() {
		return // broken
	}
	r.defaults(n.Child("parameters"))
	i := r.begin(mask.Function{
		Name: p.prefix + name, Construct: mask.Lambda, Literal: true, Public: p.function < 0 && isPublic(p.prefix+name), Parent: p.function, Class: p.class,
		Line: left.Line(), Span: mask.Range{Start: whole.Start(), End: whole.End()},
		Body: mask.Range{Start: body.Start(), End: body.End()}, Broken: isUnread(whole),
		Strict: fmt.Sprintf("(_ for _ in ()).throw(NotImplementedError(\"masked: %s\"))", p.prefix+name),
	})
	before := r.enter(n, p, nil)
	r.file.Functions[i].Parameters = r.parameters(n)
	r.returned(body)
	r.spans[i][1] = len(r.runs)
	r.leave(before)
	f := &r.file.Functions[i]
	if body.Is("none", "true", "false", "integer", "float", "ellipsis") {
		f.Construct = mask.Trivial
	}
	f.Shape = r.shape(before.counts, f.Body)
}

// outer is what enter changes.
type outer struct {
	scope  *scope
	counts counts
}

// enter opens the scope of a function.
func (r *reader) enter(def syntax.Node, p spot, decorators []string) outer {
	before := outer{r.scope, r.counts}
	r.scope = functionScope(r, def, p, decorators)
	r.functions++
	r.counts.depth, r.counts.deepest = 0, 0
	return before
}

func (r *reader) leave(before outer) {
	r.functions--
	r.scope = before.scope
}

func (r *reader) shape(before counts, body mask.Range) mask.Shape {
	s := mask.Shape{
		Lines: codeLines(r.src[body.Start:body.End]), Branches: r.counts.branches - before.branches,
		Calls: r.counts.calls - before.calls, Depth: r.counts.deepest,
	}
	// A function inside is a block more of the one around it.
	r.counts.depth, r.counts.deepest = before.depth, max(before.deepest, before.depth+1+s.Depth)
	return s
}

// codeLines counts lines that are neither blank nor a comment alone.
func codeLines(body []byte) int {
	n := 0
	for line := range bytes.SplitSeq(body, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			n++
		}
	}
	return n
}

// decorators reads what stands before a definition and gives the dotted names, without
// arguments, and those of which something else may take the place of a function.
func (r *reader) decorators(whole syntax.Node) (names []string, wrapped []mask.Ref) {
	if whole.Kind() != "decorated_definition" {
		return nil, nil
	}
	how, applied := mask.Called, mask.Called // what becomes of a class is not followed
	if whole.Child("definition").Kind() == "function_definition" {
		how, applied = mask.Ran, mask.Applied
	}
	for c := range whole.Children() {
		if c.Kind() != "decorator" {
			continue
		}
		e := c.First()
		if e.Kind() == "comment" {
			continue
		}
		callee := e
		if e.Kind() == "call" {
			callee = e.Child("function")
		}
		path := r.path(callee)
		names = append(names, strings.Join(path, "."))
		if last := path[max(0, len(path)-1):]; len(path) > 1 && ofProperty[last[0]] {
			r.emit(mask.Ref{Path: []string{"?", last[0]}, Use: mask.Called, Class: r.class, Line: e.Line()}) // of a property of ours, if any
			continue
		}
		r.dispatched(whole, path)
		if !r.isPlain(path) {
			to := r.resolve(path)
			if len(to) == 0 {
				to = []string{"?"}
			}
			wrapped = append(wrapped, mask.Ref{Path: to, Use: how, Class: r.class})
		}
		if e.Kind() == "call" {
			r.keeping++ // a decorator stores what it is given
			r.call(e, applied)
			r.keeping--
			if len(path) == 1 || isClassName(path) { // what C(…) made is called
				r.use(append(slices.Clone(path), "__call__"), mask.Called, e)
			}
			continue
		}
		if len(path) == 0 {
			r.expression(e)
			continue
		}
		r.use(path, how, e)
		r.receiver(e) // @C(x).m
	}
	return names, wrapped
}

// dispatched is one of several functions that are called by the name of the first:
// @f.register.
func (r *reader) dispatched(whole syntax.Node, path []string) {
	name := r.word(whole.Child("definition").Child("name"))
	if len(path) != 2 || path[1] != "register" || r.functions > 0 || name == "" ||
		!slices.ContainsFunc(r.file.Functions, func(f mask.Function) bool { return f.Name == path[0] || strings.HasSuffix(f.Name, "."+path[0]) }) {
		return
	}
	prefix := ""
	if r.class >= 0 {
		prefix = r.file.Classes[r.class].Name + "."
	}
	r.file.Bindings = append(r.file.Bindings, mask.Binding{
		Name: prefix + path[0], Value: mask.Ref{Path: strings.Split(prefix+name, "."), Use: mask.Named, Class: r.class},
	})
}

// adorned is a definition that goes to its decorators.
func (r *reader) adorned(whole syntax.Node, name string, p spot) {
	if whole.Kind() != "decorated_definition" || p.function >= 0 && p.class >= 0 {
		return
	}
	path := []string{name}
	if p.function < 0 {
		path = strings.Split(p.prefix+name, ".")
	}
	for c := range whole.Children() {
		callee := c.First()
		if c.Kind() != "decorator" || callee.Kind() == "comment" {
			continue
		}
		of := callee.Kind() == "call"
		if of {
			callee = callee.Child("function")
		}
		if to := r.callee(r.path(callee)); to != nil && !r.isPlain(to) && !ofProperty[to[len(to)-1]] {
			r.emit(mask.Ref{Path: path, Use: mask.Adorned, Class: r.class, Line: callee.Line(), Into: &mask.Argument{Path: to, As: "0", Of: of}})
		}
	}
}

// ofProperty are the decorators that a property brings.
var ofProperty = map[string]bool{"setter": true, "deleter": true, "getter": true}

// isPlain tells a decorator that leaves the function what it is: a well-known one that is
// none of the tree's.
func (r *reader) isPlain(path []string) bool {
	return len(path) > 0 && plain[path[len(path)-1]] && !r.ofTree(path[0])
}

// ofTree tells a name that a file defines, or takes from its own package.
func (r *reader) ofTree(name string) bool {
	own, _, _ := strings.Cut(r.file.Modules[0], ".")
	return slices.ContainsFunc(r.file.Functions, func(f mask.Function) bool { return f.Name == name }) ||
		slices.ContainsFunc(r.file.Imports, func(im mask.Import) bool {
			from, _, _ := strings.Cut(im.Module, ".")
			return im.Local == name && (from == "" || from == own)
		})
}

var plain = map[string]bool{
	"property": true, "classmethod": true, "staticmethod": true, "cached_property": true, "wraps": true, "contextmanager": true,
	"asynccontextmanager": true, "lru_cache": true, "overload": true, "abstractmethod": true, "final": true, "override": true,
}

// classDefinition reads a class; whole has its decorators.
func (r *reader) classDefinition(whole, def syntax.Node, p spot) {
	name := p.prefix + r.word(def.Child("name"))
	decorators, _ := r.decorators(whole)
	r.adorned(whole, r.word(def.Child("name")), p)
	if p.function < 0 {
		r.decorated(name, decorators)
	}
	i := len(r.file.Classes)
	r.file.Classes = append(r.file.Classes, mask.Class{
		Name: name, Parent: p.class, Span: mask.Range{Start: whole.Start(), End: whole.End()}, Bases: r.bases(def.Child("superclasses")),
		Late: p.function >= 0 || r.quiet > 0,
	})
	r.metas[i] = keywordOf(def.Child("superclasses"), "metaclass").Is()
	class := r.class
	r.class = i
	r.block(def.Child("body"), spot{prefix: name + ".", function: p.function, class: i})
	r.class = class
}

// bases reads what a class is made of, the metaclass included.
func (r *reader) bases(n syntax.Node) []mask.Ref {
	var out []mask.Ref
	for c := range n.Children() {
		value, use := c, mask.Inherited
		if c.Kind() == "keyword_argument" {
			value, use = c.Child("value"), mask.Made
			if c.Child("name").Text() != "metaclass" {
				r.expression(value)
				continue
			}
		}
		if value.Kind() == "subscript" { // Generic[T]
			for s := range value.Children() {
				if s.Field() == "subscript" {
					r.expression(s)
				}
			}
			value = value.Child("value")
		}
		path := r.path(value)
		if len(path) == 0 || path[0] == "?" {
			r.expression(value)
			continue
		}
		if path = r.resolve(path); path != nil {
			ref := mask.Ref{Path: path, Use: use, Class: r.class, Line: value.Line()}
			out = append(out, ref)
			r.emit(ref)
		}
	}
	return out
}

func isEnum(bases []mask.Ref) bool {
	return slices.ContainsFunc(bases, func(b mask.Ref) bool {
		last := b.Path[len(b.Path)-1]
		return strings.HasSuffix(last, "Enum") || strings.HasSuffix(last, "Flag")
	})
}
