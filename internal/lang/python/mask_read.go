package python

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// maxNesting bounds what is read of an expression or a statement within others: what
// is deeper is hostile.
const maxNesting = 2000

// reader makes a File of a tree in one pass over it, and one more over each function
// for the names that it binds.
type reader struct {
	src   []byte
	tree  *syntax.Tree
	file  *mask.File
	words map[string]string // one string for each name
	runs  []mask.Ref        // of all functions, in source order
	spans [][2]int          // by function, in runs
	scope *scope
	class int // index of the class around, at any depth, -1
	// functions is how many functions are around; quiet says that what is read does
	// not run when the file is loaded.
	functions int
	quiet     int
	keeping   int // within the arguments of a decorator
	nesting   int
	metas     map[int]bool // classes that name a metaclass
	lazy      bool         // annotations are not evaluated
	// values are names of the module and its classes that a literal is assigned to; murky
	// those that something else is assigned to.
	values, murky map[string]bool
	objects       map[string]bool // names for objects of functions, bound already
	finder        bool            // the file imports modules by their names
	names         []string        // of the functions around
	// everything is the line of a call, when the file is loaded, of what it has under a
	// name that is made up; 0 for none.
	everything int
	// loader tells that the function that is read imports modules whose names are made up.
	loader bool
	counts counts
}

// counts are facts about difficulty, summed up; a function's are the difference.
type counts struct{ branches, calls, depth, deepest int }

func newReader(tree *syntax.Tree) *reader {
	return &reader{
		finder: bytes.Contains(tree.Source, []byte("import_module")) || bytes.Contains(tree.Source, []byte("__import__")),
		src:    tree.Source, tree: tree, file: &mask.File{}, words: map[string]string{},
		class: -1, metas: map[int]bool{}, values: map[string]bool{}, murky: map[string]bool{}, objects: map[string]bool{},
	}
}

func (r *reader) read() {
	root := r.tree.Root()
	r.lazy = lazyAnnotations(root)
	r.file.Faults = faults(r.tree)
	r.block(root, spot{function: -1, class: -1})
	r.settle()
	if r.everything > 0 {
		r.callAll()
	}
	for i, s := range r.spans {
		f := &r.file.Functions[i]
		for j := i + 1; j < len(r.spans) && r.spans[j][0] < s[1]; j++ { // what is inside runs when it is called
			if inner := r.spans[j]; inner[0] >= s[0] {
				f.Runs = append(f.Runs, r.runs[s[0]:inner[0]]...)
				s[0] = inner[1]
			}
		}
		f.Runs = append(f.Runs, r.runs[s[0]:s[1]]...)
	}
}

// callAll calls every function and class of the file.
func (r *reader) callAll() {
	call := func(name string) {
		r.file.Loads = append(r.file.Loads, mask.Ref{Path: []string{name}, Use: mask.Called, Class: -1, Line: r.everything})
	}
	for _, f := range r.file.Functions {
		if f.Parent < 0 && f.Class < 0 {
			call(f.Name)
		}
	}
	for _, c := range r.file.Classes {
		if c.Parent < 0 && !c.Late {
			call(c.Name)
		}
	}
}

// lazyAnnotations: from __future__ import annotations.
func lazyAnnotations(root syntax.Node) bool {
	for c := range root.Children() {
		if c.Kind() == "future_import_statement" && strings.Contains(c.Text(), "annotations") {
			return true
		}
	}
	return false
}

// faults are the lines of syntax errors outside of functions; statements of Python 2
// are such errors.
func faults(tree *syntax.Tree) []int {
	var lines []int
	if !tree.Broken() && !hasPython2(tree.Root()) {
		return nil
	}
	outside := func(n syntax.Node) bool { return n.Kind() != "function_definition" }
	for n := range tree.Root().Walk(outside) {
		if n.Kind() == "ERROR" || n.Missing() || n.Is("print_statement", "exec_statement") {
			if line := n.Line(); len(lines) == 0 || lines[len(lines)-1] != line {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// hasPython2 tells statements that the grammar knows and Python 3 does not.
func hasPython2(n syntax.Node) bool {
	for c := range n.Within() {
		if c.Is("print_statement", "exec_statement") {
			return true
		}
	}
	return false
}

// spot is where a statement stands.
type spot struct {
	prefix   string // of qualified names, with its dot
	function int    // index of the function around, -1
	class    int    // index of the class whose body this is, -1
}

func (r *reader) word(n syntax.Node) string {
	if !n.Is() {
		return ""
	}
	b := r.src[n.Start():n.End()]
	if w, ok := r.words[string(b)]; ok {
		return w
	}
	w := string(b)
	r.words[w] = w
	return w
}

// deeper counts nesting; what is too deep is not read.
func (r *reader) deeper() bool {
	r.nesting++
	return r.nesting < maxNesting
}

// block reads the statements of a block.
func (r *reader) block(n syntax.Node, p spot) {
	for s := range n.Children() {
		r.statement(s, p)
	}
}

func (r *reader) statement(n syntax.Node, p spot) {
	defer func() { r.nesting-- }()
	if !r.deeper() {
		return
	}
	switch n.Kind() {
	case "decorated_definition":
		def := n.Child("definition")
		switch def.Kind() {
		case "function_definition":
			r.function(n, def, p)
		case "class_definition":
			r.classDefinition(n, def, p)
		}
	case "function_definition":
		r.function(n, n, p)
	case "class_definition":
		r.classDefinition(n, n, p)
	case "import_statement", "import_from_statement":
		r.imports(n)
	case "if_statement":
		r.branch(n, p)
	case "elif_clause", "except_clause", "except_group_clause", "case_clause", "for_statement", "while_statement":
		r.counts.branches++
		r.inside(n, p)
	case "block":
		r.counts.depth++
		r.counts.deepest = max(r.counts.deepest, r.counts.depth)
		r.block(n, p)
		r.counts.depth--
	case "expression_statement":
		r.expressionStatement(n, p)
	case "with_item":
		r.context(n.Child("value"))
	case "with_clause":
		r.inside(n, p)
	case "with_statement", "try_statement", "match_statement", "else_clause", "finally_clause", "ERROR":
		r.inside(n, p)
	case "return_statement":
		if len(r.names) == 1 && r.names[0] == "__getattr__" { // who asks for it names it
			r.expression(n.First())
			return
		}
		r.returned(n.First())
	case "comment", "global_statement", "nonlocal_statement", "future_import_statement", "case_pattern",
		"pass_statement", "break_statement", "continue_statement":
	default:
		r.expression(n)
	}
}

// inside reads the parts of a compound statement.
func (r *reader) inside(n syntax.Node, p spot) {
	for c := range n.Children() {
		switch {
		case !c.Named():
		case c.Field() == "left" && n.Kind() == "for_statement":
			r.target(c)
			if p.function < 0 {
				r.loopNames(c, p, r.elements(r.scope, n.Child("right")))
			}
		case c.Field() == "right" && n.Kind() == "for_statement":
			r.expression(c)
		case c.Field() == "condition":
			r.condition(c)
		default:
			r.statement(c, p)
		}
	}
}

// context is what a with enters and leaves.
func (r *reader) context(n syntax.Node) {
	r.expression(n)
	if n.Kind() == "as_pattern" {
		n = n.First()
	}
	for _, name := range []string{"__enter__", "__exit__", "__aenter__", "__aexit__"} {
		if path := r.path(n); len(path) > 0 {
			r.use(append(path, name), mask.Called, n)
		}
	}
}

// branch is an if. What only type checkers and only programs run does not run when
// the file is loaded.
func (r *reader) branch(n syntax.Node, p spot) {
	r.counts.branches++
	r.condition(n.Child("condition"))
	never := r.functions == 0 && neverLoaded(n.Child("condition"))
	for c := range n.Children() {
		switch c.Field() {
		case "consequence":
			if never {
				r.quiet++
			}
			r.statement(c, p)
			if never {
				r.quiet--
			}
		case "alternative":
			r.statement(c, p)
		}
	}
}

// neverLoaded tells a condition that does not hold when the file is imported.
func neverLoaded(n syntax.Node) bool {
	switch n.Kind() {
	case "identifier", "attribute":
		return n.Text() == "TYPE_CHECKING" || strings.HasSuffix(n.Text(), ".TYPE_CHECKING")
	case "parenthesized_expression":
		return neverLoaded(n.First())
	case "comparison_operator":
		text := strings.Join(strings.Fields(n.Text()), "")
		return slices.Contains([]string{"__name__=='__main__'", `__name__=="__main__"`, "'__main__'==__name__", `"__main__"==__name__`}, text)
	case "boolean_operator":
		return n.Child("operator").Kind() == "and" && (neverLoaded(n.Child("left")) || neverLoaded(n.Child("right")))
	}
	return false
}

func (r *reader) expressionStatement(n syntax.Node, p spot) {
	for c := range n.Children() {
		if c.Kind() == "assignment" {
			r.assignment(c, p)
			continue
		}
		switch {
		case c.Kind() == "call":
			r.call(c, mask.Ran)
		case c.Named():
			r.expression(c)
		}
	}
	r.routeCall(n)
}

func (r *reader) assignment(n syntax.Node, p spot) {
	left, right := n.Child("left"), n.Child("right")
	r.target(left)
	r.stores(left, right)
	r.annotation(n.Child("type"))
	bound := r.binding(left, right, n.Child("type"), p)
	switch {
	case bound && p.function < 0 && right.Kind() == "call" && !r.special(r.word(left), p):
		r.call(right, mask.Ran)
	case right.Kind() == "assignment": // a = b = c
		r.assignment(right, p)
	case right.Kind() == "lambda" && left.Kind() == "identifier":
		r.lambda(n, left, right, p)
	case right.Is() && p.class >= 0 && r.metas[p.class] && right.Is("identifier", "attribute"):
		r.handed(right) // a metaclass may make objects of what a class holds
	case left.Kind() == "attribute" && isClassName(r.path(right)): // it may be made under the new name
		r.given(right)
	case r.functions > 0 && left.Kind() == "identifier" && right.Kind() == "identifier" && r.follows(left, right): // each use of one is a use of the other
	case r.functions > 0 && right.Is("identifier", "attribute", "conditional_expression", "boolean_operator") && !r.follows(left, right):
		r.given(right) // it may be called under the new name
	case right.Is():
		r.expression(right)
		r.routeTable(left, right)
	}
}

// special tells names of a class whose values the language or a metaclass may call, and
// those that a function has already.
func (r *reader) special(name string, p spot) bool {
	return p.class >= 0 && (isDunder(name) || r.metas[p.class] ||
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
		Broken: whole.Broken() || !ok || whole.Above("ERROR").Is() || hasPython2(def), Wrapped: wrapped,
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

// bodyOf reads a body and tells whether it is a generator's.
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
		if ref.Use != mask.Named && ref.Use != mask.Handed && ref.Use != mask.Returned && len(ref.Path) == 2 && ref.Path[0] == "?" && ref.Line > 0 && !isDunder(ref.Path[1]) && !seen[ref.Path[1]] {
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
		Body: mask.Range{Start: body.Start(), End: body.End()}, Broken: whole.Broken() || whole.Above("ERROR").Is(),
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
		if !isPlain(path) {
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
	}
	return names, wrapped
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
		if to := r.callee(r.path(callee)); to != nil && !isPlain(to) && !ofProperty[to[len(to)-1]] {
			r.emit(mask.Ref{Path: path, Use: mask.Adorned, Class: r.class, Line: callee.Line(), Into: &mask.Argument{Path: to, As: "0", Of: of}})
		}
	}
}

// ofProperty are the decorators that a property brings.
var ofProperty = map[string]bool{"setter": true, "deleter": true, "getter": true}

// isPlain tells a decorator that leaves the function what it is.
func isPlain(path []string) bool {
	return len(path) > 0 && plain[path[len(path)-1]]
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
