package rust

import (
	"cmp"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// rule is one of a macro, with the functions whose text stands whole in what it writes, up to the variables in it.
type rule struct {
	macro  syntax.Node
	name   string         // of the macro
	depths map[string]int // of the variables, in repetitions
	vis    map[string]bool
	bodies []syntax.Node // of the functions found
	found  []mask.Function
	nested int
}

// macro reads the rules of a macro_rules. What is on the left is matched and not written.
func (r *reader) macro(n syntax.Node) {
	for of := range n.Children() {
		if !of.Is("macro_rule") {
			continue
		}
		w := &rule{macro: n, name: n.Child("name").Text(), depths: map[string]int{}, vis: map[string]bool{}}
		w.bind(of.Child("left"))
		r.tree(of.Child("right"), w, 0)
		for i, f := range w.found {
			r.written[w.bodies[i].Index()] = f
		}
	}
}

// bind notes the variables of a left side.
func (w *rule) bind(left syntax.Node) {
	for n := range left.Within() {
		if !n.Is("token_binding_pattern") {
			continue
		}
		depth := 0
		for up := n.Parent(); left.Holds(up); up = up.Parent() {
			if up.Is("token_repetition_pattern") {
				depth++
			}
		}
		name := n.Child("name").Text()
		w.depths[name], w.vis[name] = depth, n.Child("type").Text() == "vis"
	}
}

// tree looks for functions among tokens. A repetition needs a variable that repeats: the
// functions in it stay where their bodies have all of those.
func (r *reader) tree(n syntax.Node, w *rule, depth int) {
	if w.nested > deepest {
		return
	}
	w.nested++
	defer func() { w.nested-- }()
	found := len(w.found)
	if n.Is("token_repetition") {
		depth++
	}
	tokens := slices.Collect(n.Children())
	for i := 0; i < len(tokens); i++ {
		switch {
		case tokens[i].Is("fn"):
			i = r.functionOf(tokens, i, w)
		case tokens[i].Is("identifier") && tokens[i].Text() == "macro_rules":
			i += 2 // a macro that the macro writes: its left sides look like code
		case tokens[i].Is("token_tree") && i > 0 && strings.TrimSpace(between(tokens[i-1], tokens[i])) == "!":
			// What is given to a macro is what that makes of it.
		case tokens[i].Is("token_tree", "token_repetition"):
			r.tree(tokens[i], w, depth)
		}
	}
	if n.Is("token_repetition") && !w.repeats(n, w.bodies[found:], depth) {
		w.found, w.bodies = w.found[:found], w.bodies[:found]
	}
}

// repeats reports whether a variable that repeats stands outside of the bodies.
func (w *rule) repeats(n syntax.Node, bodies []syntax.Node, depth int) bool {
	for v := range n.Within() {
		if v.Is("metavariable") && w.depths[v.Text()] >= depth && !slices.ContainsFunc(bodies, func(b syntax.Node) bool { return b.Holds(v) }) {
			return true
		}
	}
	return false
}

// between is what stands between two nodes.
func between(a, b syntax.Node) string { return string(a.Tree().Source[a.End():b.Start()]) }

// head is the text of a function from its fn to the brace of its body, without what is in brackets and in angles, and where
// among the tokens its parameters and its body are.
func head(tokens []syntax.Node) (text string, parameters, body int) {
	var b strings.Builder
	for i, angles := 0, 0; i < len(tokens); i++ {
		t, gap := tokens[i], ""
		if i > 0 {
			gap = between(tokens[i-1], t)
		}
		for at, c := range gap {
			switch {
			case c == '<':
				angles++
			case c == '>' && (at == 0 || gap[at-1] != '-'):
				angles--
			case c == ';':
				return "", 0, 0
			case angles <= 0:
				b.WriteRune(c)
			}
		}
		switch {
		case angles > 0 || t.Is("line_comment", "block_comment"):
			b.WriteByte(' ')
		case opens(t, '{'):
			return b.String(), parameters, i
		case i > 0 && t.Is(another...):
			return "", 0, 0
		case opens(t, '('):
			parameters = cmp.Or(parameters, i)
			b.WriteString("()")
		case t.Is("token_tree"):
			b.WriteString("[]")
		default:
			b.WriteString(" " + t.Text() + " ")
		}
	}
	return "", 0, 0
}

var (
	// heads are those of what can be nothing else than a function: a name, parameters, and the body right behind those, or
	// behind a result and conditions.
	heads = lazyregexp.New(`^ fn +(?:r#)?\$?\w+\s*\(\)\s*(?:->\s*!?[^=#!;]*)?(?:where\b[^=#!;]*)?$`)
	// another are words with which the next item begins: the body was in a variable.
	another = []string{"fn", "struct", "enum", "union", "trait", "mod", "use", "type", "static", "pub"}
	opaques = lazyregexp.New(`\bimpl\b`)
)

func opens(n syntax.Node, c byte) bool {
	return n.Is("token_tree") && n.Tree().Source[n.Start()] == c
}

// functionOf reads the function that begins with the token fn, and gives the last of its tokens.
func (r *reader) functionOf(tokens []syntax.Node, fn int, w *rule) int {
	text, parameters, last := head(tokens[fn:])
	if !heads.MatchString(text) {
		return fn
	}
	name, body := tokens[fn+1], tokens[fn+last]
	f := mask.Function{
		Name: w.name + "." + name.Text(), Construct: mask.Plain, Line: name.Line(),
		Span: mask.Range{Start: tokens[fn].Start(), End: body.End()}, Broken: inError(w.macro),
	}
	b, modifiers := w.front(tokens[:fn])
	f.Public = modifiers["pub"] && !modifiers["restricted"]
	switch special := r.marked(w.macro, b); {
	case special != "":
		f.Construct = special
	case name.Text() == "drop":
		f.Construct = mask.Destructor
	case opaques.MatchString(between(tokens[fn+parameters], body)):
		f.Construct = mask.Opaque
	case trivial(body):
		f.Construct = mask.Trivial
	case modifiers["const"]:
		f.Construct = mask.Constant
	case modifiers["async"]:
		f.Construct = mask.Async
	}
	fill(&f, r.Qualified(f.Name), body)
	w.found, w.bodies = append(w.found, f), append(w.bodies, body)
	return fn + last
}

// front reads attributes and modifiers, from the function on. A variable that is no
// visibility may hold the word const.
func (w *rule) front(tokens []syntax.Node) (before, map[string]bool) {
	var b before
	modifiers := map[string]bool{}
	for _, t := range slices.Backward(tokens) {
		switch {
		case opens(t, '['):
			b.attributes = append(b.attributes, strings.Trim(t.Text(), "[] \t"))
		case opens(t, '('): // of pub
			modifiers["restricted"] = true
		case t.Is("const", "async", "unsafe", "extern", "default", "pub"):
			modifiers[t.Kind()] = true
		case t.Is("metavariable") && !w.vis[t.Text()], t.Is("token_repetition") && !strings.HasPrefix(t.Text(), "$(#"):
			modifiers["const"] = true
		case !t.Is("metavariable", "token_repetition", "line_comment", "block_comment", "string_literal"):
			return b, modifiers
		}
	}
	return b, modifiers
}
