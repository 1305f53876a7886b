package python

import (
	"bytes"
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
	// unclear are those that are bound to what has no name, once or more.
	unclear map[string]bool
	objects map[string]bool // names for objects of functions, bound already
	finder  bool            // the file imports modules by their names
	plugins []mask.Ref      // what texts of it name that stand in tables
	names   []string        // of the functions around
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
		class: -1, metas: map[int]bool{}, values: map[string]bool{}, murky: map[string]bool{}, unclear: map[string]bool{}, objects: map[string]bool{},
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
	r.plugIn()
}

// plugins is the path of what the texts in a file's tables name. No name of the code is so.
const plugins = "'"

// plugIn puts what texts name where the file imports by name; where it says so nowhere,
// into what loads.
func (r *reader) plugIn() {
	found := false
	replaced := func(refs []mask.Ref) []mask.Ref {
		all := len(refs)
		refs = slices.DeleteFunc(refs, func(ref mask.Ref) bool { return ref.Path[0] == plugins })
		if len(refs) == all {
			return refs
		}
		found = true
		return append(refs, r.plugins...)
	}
	for i := range r.file.Functions {
		r.file.Functions[i].Runs = replaced(r.file.Functions[i].Runs)
	}
	if r.file.Loads = replaced(r.file.Loads); !found {
		r.file.Loads = append(r.file.Loads, r.plugins...)
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
		return neverLoaded(firstOf(n))
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
	r.replacesModule(left, right)
	for right.Kind() == "parenthesized_expression" {
		right = firstOf(right)
	}
	r.target(left)
	stored := r.stores(left, right)
	r.annotation(n.Child("type"))
	bound := r.binding(left, right, n.Child("type"), p)
	switch {
	case stored:
		r.besides(right)
	case bound && p.function < 0 && right.Kind() == "call" && !r.special(r.word(left), p):
		r.call(right, mask.Ran)
	case p.class >= 0 && r.functions == 0 && slices.Contains(unseen, r.word(left)) && right.Kind() == "identifier": // __bool__ = __nonzero__
		r.makes(right)
	case right.Kind() == "assignment": // a = b = c
		r.assignment(right, p)
	case right.Kind() == "lambda" && left.Kind() == "identifier":
		r.lambda(n, left, right, p)
	case right.Is() && p.class >= 0 && r.metas[p.class] && right.Is("identifier", "attribute"):
		r.handed(right) // a metaclass may make objects of what a class holds
	case left.Kind() == "attribute" && isClassName(r.path(right)) && !r.follows(left, right): // it may be made under the new name
		r.given(right)
	case left.Kind() == "attribute" && right.Kind() == "identifier" && (r.ofModule(left) || r.ofOthers(left)): // it stands for the module's own
		r.given(right)
	case r.functions > 0 && left.Kind() == "identifier" && right.Kind() == "identifier" && r.follows(left, right): // each use of one is a use of the other
	case r.functions > 0 && right.Is("identifier", "attribute", "conditional_expression", "boolean_operator") && !r.follows(left, right):
		r.given(right) // it may be called under the new name
	case left.Kind() == "attribute" && right.Is("subscript", "call") && len(r.picked(r.scope, right)) > 0:
		r.given(right)
	case right.Is():
		r.expression(right)
		r.routeTable(left, right)
	}
}
