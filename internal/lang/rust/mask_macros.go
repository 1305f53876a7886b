package rust

import (
	"slices"
	"strings"

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
			i = r.head(tokens, i, w)
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

// head reads a function from its fn on, and gives the last of its tokens. Only what
// can be nothing else is one: a name, parameters in parentheses, and braces right behind
// those, or behind the result and conditions.
func (r *reader) head(tokens []syntax.Node, fn int, w *rule) int {
	if fn+2 >= len(tokens) || !tokens[fn+1].Is("identifier", "metavariable") {
		return fn
	}
	angles, parameters, arrow, behind := 0, -1, false, false
	for i := fn + 2; i < len(tokens); i++ {
		t := tokens[i]
		gap := between(tokens[i-1], t)
		arrow = arrow || parameters >= 0 && strings.Contains(gap, "->")
		gap = arrows.Replace(gap)
		if strings.Contains(gap, ";") || angles == 0 && (strings.ContainsAny(gap, "=#!") || parameters < 0 && strings.HasPrefix(gap, ":")) {
			return fn
		}
		angles += strings.Count(gap, "<") - strings.Count(gap, ">")
		switch {
		case t.Is("line_comment", "block_comment") || angles > 0:
			continue
		case parameters < 0 && !opens(t, '('), ends[t.Kind()]:
			return fn
		case parameters < 0:
			parameters = i
			continue
		case !behind && !arrow && !opens(t, '{') && !t.Is("where"):
			return fn // it may be the body, in a variable
		case opens(t, '{'):
			r.body(tokens[:fn], tokens[fn:parameters], tokens[parameters+1:i+1], w)
			return i
		}
		behind = true
	}
	return fn
}

var (
	// arrows are no angles, and what never returns is no call of a macro.
	arrows = strings.NewReplacer("-> !", "", "->", "", "=>", "")
	// ends are words with which the next item begins.
	ends = map[string]bool{"fn": true, "struct": true, "enum": true, "union": true, "trait": true, "mod": true, "use": true, "type": true, "static": true, "pub": true}
)

func opens(n syntax.Node, c byte) bool {
	return n.Is("token_tree") && n.Tree().Source[n.Start()] == c
}

// body adds a function: what stands before it, its head, and what is behind its
// parameters, the body last.
func (r *reader) body(front, head, behind []syntax.Node, w *rule) {
	name, body := head[1], behind[len(behind)-1]
	f := mask.Function{
		Name: w.name + "." + name.Text(), Construct: mask.Plain, Line: name.Line(),
		Span: mask.Range{Start: head[0].Start(), End: body.End()}, Broken: inError(w.macro),
	}
	b, modifiers := w.front(front)
	f.Public = modifiers["pub"] && !modifiers["restricted"]
	switch special := r.marked(w.macro, b); {
	case special != "":
		f.Construct = special
	case name.Text() == "drop":
		f.Construct = mask.Destructor
	case slices.ContainsFunc(behind[:len(behind)-1], func(t syntax.Node) bool { return t.Is("impl") || within(t, "impl") }):
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

func within(n syntax.Node, kind string) bool {
	for t := range n.Within() {
		if t.Is(kind) {
			return true
		}
	}
	return false
}
