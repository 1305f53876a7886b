package python

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// scope are the names that a function, a lambda or a comprehension binds for itself.
// Those that it takes from elsewhere (global, an import) and definitions inside of it
// are resolved by the engine, and stand here only to stop the search.
type scope struct {
	up    *scope
	names map[string]local
}

// local is what a name of a function means.
type local struct {
	kind localKind
	path []string   // of made: the class; of receiver: self or cls
	any  [][]string // of element: what it may be
	// global tells of outside that it is a name of the module; begins is what a text that
	// it stands for begins with.
	global bool
	begins string
	// again tells a parameter that gets other values, too.
	again bool
}

type localKind int

const (
	opaque   localKind = iota // nothing is known of it
	outside                   // stays as it is written
	made                      // x = C(…), once
	receiver                  // the first parameter of a method
	builtin                   // a literal, **kwargs: nothing of ours
	element                   // one of a table's: for x in (A, B), x = TABLE[k]
	given                     // a parameter that is bound once
	computed                  // x = getattr(self, …)
)

// resolve turns a path of a place into one that holds for the file: nil where it is a
// mere local variable or no name, "?" in the place of one that something is called on.
func (r *reader) resolve(path []string) []string {
	if len(path) == 0 {
		return nil
	}
	for s := r.scope; s != nil; s = s.up {
		l, ok := s.names[path[0]]
		if !ok {
			continue
		}
		switch {
		case l.kind == outside:
			return path
		case l.kind == receiver:
			return append(slices.Clone(l.path), path[1:]...)
		case len(path) == 1, l.kind == builtin:
			return nil
		case l.kind == made:
			return append(slices.Clone(l.path), path[1:]...)
		}
		return append([]string{"?"}, path[1:]...)
	}
	return path
}

// isMade tells a local name that holds an object of a known class.
func (r *reader) isMade(name string) bool {
	for s := r.scope; s != nil; s = s.up {
		if l, ok := s.names[name]; ok {
			return l.kind == made
		}
	}
	return false
}

// functionScope are the names of a function, by one walk over its own code.
func functionScope(r *reader, def syntax.Node, p spot, decorators []string) *scope {
	s := &scope{up: r.scope, names: map[string]local{}}
	first := p.class >= 0 && !slices.Contains(decorators, "staticmethod")
	for c := range def.Child("parameters").Children() {
		name := parameter(c)
		if !name.Is() {
			continue
		}
		l := local{kind: given}
		switch {
		case first:
			l = local{kind: receiver, path: []string{receiverWord(r, def, decorators)}}
		case isBuiltin(r, c):
			l.kind = builtin
		}
		first = false
		s.names[r.word(name)] = l
	}
	if def.Kind() == "function_definition" {
		r.bind(s, def.Child("body"))
	}
	return s
}

// bind notes what the statements below bind in their function.
func (r *reader) bind(s *scope, body syntax.Node) {
	own := func(n syntax.Node) bool {
		return !n.Is("function_definition", "class_definition", "lambda", "list_comprehension", "set_comprehension",
			"dictionary_comprehension", "generator_expression")
	}
	for n := range body.Walk(own) {
		if !n.Named() {
			continue
		}
		switch n.Kind() {
		case "function_definition", "class_definition":
			s.names[r.word(n.Child("name"))] = local{kind: outside}
		case "global_statement", "nonlocal_statement", "import_statement", "import_from_statement":
			r.bindOutside(s, n)
		case "assignment":
			r.bindValue(s, n.Child("left"), n.Child("right"))
		case "augmented_assignment":
			if l, again := s.names[r.word(n.Child("left"))]; again && (l.kind == builtin || l.kind == element) { // TABLE += (f,)
				l.any = append(l.any, r.elements(s, n.Child("right"))...)
				s.names[r.word(n.Child("left"))] = l
				continue
			}
			r.bindTarget(s, n.Child("left"))
		case "for_statement":
			r.bindElement(s, n.Child("left"), r.elements(s, n.Child("right")))
		case "named_expression":
			r.bindValue(s, n.Child("name"), n.Child("value"))
		case "as_pattern_target":
			r.bindTarget(s, n)
		case "as_pattern": // of a case
			r.bindTarget(s, n.Child("alias"))
			r.bindTarget(s, lastOf(n))
		case "case_pattern":
			if d := n.First(); d.Kind() == "dotted_name" && d.First().End() == d.End() {
				r.bindTarget(s, d.First())
			}
		case "splat_pattern":
			r.bindTarget(s, n)
		}
	}
}

// firstOf is the first of the parts of an expression: a comment may stand before it.
func firstOf(n syntax.Node) syntax.Node {
	for c := range n.Children() {
		if c.Named() && c.Kind() != "comment" {
			return c
		}
	}
	return syntax.Node{}
}

// lastOf is the last, with comments left out too.
func lastOf(n syntax.Node) syntax.Node {
	last := syntax.Node{}
	for c := range n.Children() {
		if c.Named() && c.Kind() != "comment" {
			last = c
		}
	}
	return last
}

func (r *reader) bindOutside(s *scope, n syntax.Node) {
	if n.Is("global_statement", "nonlocal_statement") {
		for c := range n.Children() {
			if c.Kind() == "identifier" {
				s.names[r.word(c)] = local{kind: outside, global: n.Kind() == "global_statement"}
			}
		}
		return
	}
	for _, i := range r.importsOf(n) {
		s.names[i.Local] = local{kind: outside, global: s.names[i.Local].global}
	}
}

// bindValue: a name that a call of what looks like a class is assigned to, and nothing
// else, is an object of it.
func (r *reader) bindValue(s *scope, left, right syntax.Node) {
	if pairs := paired(left, right); len(pairs) > 0 {
		for _, pair := range pairs {
			r.bindValue(s, pair[0], pair[1])
		}
		return
	}
	if left.Kind() == "identifier" && right.Kind() == "call" {
		name, path := r.word(left), r.path(right.Child("function"))
		if _, again := s.names[name]; !again && len(path) > 0 && path[0] != "?" && path[0] != name && (isTitle(path[len(path)-1]) || makesOthers(path) || r.isOwnClass(s, path)) {
			s.names[name] = local{kind: made, path: path}
			return
		}
	}
	if of := r.madeBare(s, right); len(of) > 0 && left.Kind() == "identifier" {
		if _, again := s.names[r.word(left)]; !again {
			s.names[r.word(left)] = local{kind: made, path: of}
			return
		}
	}
	if any := r.picked(s, right); left.Is("pattern_list", "tuple_pattern") && right.Is("subscript", "call") && len(any) > 0 {
		r.bindElement(s, left, any)
		return
	}
	if path := r.computed(s, right); len(path) > 0 && left.Kind() == "identifier" {
		if _, again := s.names[r.word(left)]; !again {
			s.names[r.word(left)] = local{kind: computed, path: path}
			return
		}
	}
	if left.Kind() == "identifier" {
		l, again := s.names[r.word(left)]
		if isValue(r, right) && (!again || l.kind == builtin) {
			any := r.elements(s, right)
			of := local{kind: builtin, any: append(l.any, any...)}
			if !again {
				of.begins = r.beginning(right)
			}
			s.names[r.word(left)] = of
			return
		}
		if again && r.isOwnClass(s, []string{r.word(left)}) { // cls = TABLE[k]: it is one of both
			l = local{kind: element, any: [][]string{strings.Split(r.file.Classes[r.class].Name, ".")}}
		}
		if any := r.picked(s, right); len(any) > 0 && (!again || l.kind == element) {
			s.names[r.word(left)] = local{kind: element, any: append(l.any, any...)}
			return
		}
	}
	if right.Kind() == "lambda" && left.Kind() == "identifier" {
		s.names[r.word(left)] = local{kind: outside} // a function of its own
		return
	}
	if _, again := s.names[r.word(left)]; left.Kind() == "identifier" && !again {
		s.names[r.word(left)] = local{begins: r.beginning(right)}
		return
	}
	r.bindTarget(s, left)
}

// madeBare is C of C.__new__(C) and object.__new__(C): an object without its constructor.
func (r *reader) madeBare(s *scope, n syntax.Node) []string {
	path, all := r.path(n.Child("function")), positional(n)
	if n.Kind() != "call" || len(path) < 2 || path[len(path)-1] != "__new__" || path[0] == "super" || len(all) == 0 {
		return nil
	}
	of := r.path(all[0])
	if len(of) == 0 || of[0] == "?" {
		return nil
	}
	if l, ok := s.find(of[0]); ok && l.kind == receiver {
		return append(slices.Clone(l.path), of[1:]...)
	}
	return of
}

// paired are the targets of a, b = x, y, each with what it gets; none where they are not
// told apart.
func paired(left, right syntax.Node) [][2]syntax.Node {
	for right.Kind() == "parenthesized_expression" {
		right = firstOf(right)
	}
	if !left.Is("pattern_list", "tuple_pattern") || !right.Is("tuple", "expression_list") {
		return nil
	}
	parts := func(n syntax.Node) (out []syntax.Node) {
		for c := range n.Children() {
			if c.Is("list_splat", "list_splat_pattern") {
				return nil
			}
			if c.Named() && c.Kind() != "comment" {
				out = append(out, c)
			}
		}
		return out
	}
	targets, values := parts(left), parts(right)
	if len(targets) != len(values) {
		return nil
	}
	out := make([][2]syntax.Node, len(targets))
	for i := range targets {
		out[i] = [2]syntax.Node{targets[i], values[i]}
	}
	return out
}

// isOwnClass tells cls in a method of a class.
func (r *reader) isOwnClass(s *scope, path []string) bool {
	l, ok := s.find(path[0])
	return ok && len(path) == 1 && l.kind == receiver && l.path[0] == "cls" && r.class >= 0
}

// attributeOf is x.name for getattr(x, "name").
func (r *reader) attributeOf(n syntax.Node) []string {
	all := positional(n)
	if !attributed[n.Child("function").Text()] || len(all) < 2 || all[1].Kind() != "string" || all[1].First("interpolation").Is() {
		return nil
	}
	path := r.path(all[0])
	if len(path) == 0 {
		return nil
	}
	return append(path, all[1].First("string_content").Text())
}

// computed is what getattr(x, "visit_" + name) names: x.visit_*. Of what is not known the
// beginning of the name has to be.
func (r *reader) computed(s *scope, n syntax.Node) []string {
	all := positional(n)
	if n.Kind() != "call" || n.Child("function").Text() != "getattr" || len(all) < 2 {
		return nil
	}
	path, prefix := r.path(all[0]), r.beginning(all[1])
	if all[1].Kind() == "string" && !all[1].First("interpolation").Is() {
		return r.attributeOf(n)
	}
	if l, ok := s.find(r.word(all[1])); ok && all[1].Kind() == "identifier" {
		prefix = l.begins
	}
	if len(path) == 0 || prefix == "" && !slices.Contains([]string{"self", "cls"}, path[0]) {
		return nil
	}
	if prefix == "" && len(path) > 1 {
		return nil
	}
	return append(path, prefix+"*")
}

// beginning is what a text that is put together begins with: f"visit_{x}", "visit_" + x,
// "visit_{}".format(x).
func (r *reader) beginning(n syntax.Node) string {
	switch n.Kind() {
	case "string":
		var text strings.Builder
		for c := range n.Children() {
			if c.Kind() == "interpolation" {
				return text.String()
			}
			if c.Kind() == "string_content" {
				text.WriteString(c.Text())
			}
		}
	case "binary_operator":
		if left := n.Child("left"); left.Kind() == "string" {
			return strings.TrimRight(strings.Trim(left.Text(), `"'`), "%s")
		}
	case "call": // "visit_{}".format(x)
		if f := n.Child("function"); f.Kind() == "attribute" && r.word(f.Child("attribute")) == "format" {
			head, _, _ := strings.Cut(f.Child("object").First("string_content").Text(), "{")
			return head
		}
	}
	return ""
}

func (r *reader) bindTarget(s *scope, n syntax.Node) {
	switch n.Kind() {
	case "identifier":
		name := r.word(n)
		if l, ok := s.names[name]; !ok || l.kind != outside {
			s.names[name] = local{again: l.again || l.kind == given}
		}
	case "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "as_pattern_target", "tuple", "list",
		"splat_pattern", "parenthesized_expression", "expression_list":
		for c := range n.Children() {
			r.bindTarget(s, c)
		}
	}
}

// isTitle: names of classes begin with a capital, behind underscores.
func isTitle(name string) bool {
	for len(name) > 0 && name[0] == '_' {
		name = name[1:]
	}
	c, _ := utf8.DecodeRuneInString(name)
	return unicode.IsUpper(c)
}

// path is the dotted name of an expression; "?" stands for what is none. Nil is a
// literal, on which nothing of ours is called.
func (r *reader) path(n syntax.Node) []string {
	switch n.Kind() {
	case "identifier":
		return []string{r.word(n)}
	case "attribute":
		of := r.path(n.Child("object"))
		if of == nil {
			return nil
		}
		return append(of, r.word(n.Child("attribute")))
	case "call":
		of := r.path(n.Child("function"))
		if len(of) == 1 && of[0] == "super" {
			return of
		}
		if len(of) > 0 && of[0] != "?" && isTitle(of[len(of)-1]) { // C(…): an object of it
			return of
		}
	case "subscript": // Box[int].make
		if of := r.path(n.Child("value")); isClassName(of) && !r.values[of[0]] {
			return of
		}
	case "parenthesized_expression":
		return r.path(firstOf(n))
	case "string", "concatenated_string", "integer", "float", "list", "tuple", "dictionary", "set", "none", "true", "false",
		"ellipsis", "list_comprehension", "dictionary_comprehension", "set_comprehension", "generator_expression", "lambda", "":
		return nil
	}
	return []string{"?"}
}

func (r *reader) emit(ref mask.Ref) {
	switch {
	case r.functions > 0:
		r.runs = append(r.runs, ref)
	case r.quiet == 0:
		r.file.Loads = append(r.file.Loads, ref)
	}
}

// use notes one use of a dotted name.
func (r *reader) use(path []string, how mask.Use, at syntax.Node) {
	r.note(path, mask.Ref{Use: how, Class: r.class, Line: at.Line()}, at)
}

// note is use, of what may be an argument.
func (r *reader) note(path []string, ref mask.Ref, at syntax.Node) {
	called := ref.Use == mask.Called || ref.Use == mask.Ran || ref.Use == mask.Applied || ref.Use == mask.Relayed
	if len(path) == 1 && called && r.isMade(path[0]) { // x = C(…); x()
		path = []string{path[0], "__call__"}
	}
	if len(path) == 0 || len(path) == 1 && path[0] == "?" {
		return
	}
	if l, ok := r.scope.find(path[0]); ok && l.kind == made && len(path) == 1 && ref.Use == mask.Returned { // x = C(…); return x
		path, called, ref.Use = l.path, true, mask.Relayed
	}
	if l, ok := r.scope.find(path[0]); ok && l.kind == made && len(path) == 1 && ref.Use == mask.Handed { // x = C(…); f(x)
		path = []string{r.object(l.path)}
	}
	if l, ok := r.scope.find(path[0]); ok && l.kind == given && len(path) == 1 {
		ref.Path = []string{mask.Parameter, path[0]}
		r.emit(ref)
		return
	}
	if l, ok := r.scope.find(path[0]); ok && l.again && len(path) == 1 && called {
		ref.Path = []string{mask.Parameter, path[0]}
		r.emit(ref)
		return
	}
	if l, ok := r.scope.find(path[0]); ok && l.kind == computed && len(path) == 1 && called {
		path = l.path
	}
	if any := r.oneOf(r.scope, path[0]); len(any) > 0 {
		if len(path) == 1 && ref.Use == mask.Named && ref.Into == nil {
			return
		}
		for _, of := range any {
			ref.Path = append(slices.Clone(of), path[1:]...)
			r.emit(ref)
		}
		if len(path) == 1 {
			return
		}
	}
	to := r.resolve(path)
	if called && r.class >= 0 && (slices.Equal(to, []string{"cls"}) || slices.Equal(to, []string{"self", "__class__"})) {
		r.makeOwn(ref.Use, at)
		return
	}
	if slices.Equal(to, []string{"?", "*"}) {
		return // any member of anything: that would be all there is
	}
	if len(to) == 1 && !called && (to[0] == "self" || to[0] == "cls") {
		return // the object itself: nothing is known of what becomes of it
	}
	if len(to) > 0 {
		ref.Path = to
		r.emit(ref)
	}
}

// object is a name for an object of a class that only a function has.
func (r *reader) object(class []string) string {
	name := strings.Join(class, ".") + "()" // no name of the code is so
	if !r.objects[name] {
		r.objects[name] = true
		r.file.Bindings = append(r.file.Bindings, mask.Binding{Name: name, Value: mask.Ref{Path: class, Use: mask.Called, Class: -1}})
	}
	return name
}

// makeOwn is cls(…): an object of the class around it, or of one that inherits from it
// and may have its own constructor.
func (r *reader) makeOwn(how mask.Use, at syntax.Node) {
	r.emit(mask.Ref{Path: strings.Split(r.file.Classes[r.class].Name, "."), Use: how, Class: r.class, Line: at.Line()})
	for _, path := range [][]string{{"cls", "__init__"}, {"cls", "__new__"}} {
		r.emit(mask.Ref{Path: path, Use: mask.Called, Class: r.class, Line: at.Line()})
	}
}

// attributed are functions that ask for an attribute by a name that is a value.
var attributed = map[string]bool{"getattr": true, "hasattr": true}
