package rust

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// code reads what runs: which names it calls and takes.
func (r *maskReader) code(n syntax.Node, at around) {
	switch n.Kind() {
	case "call_expression":
		r.call(n, at)
		return
	case "struct_expression":
		r.note(r.absolute(typeName(n.Child("name")), at), mask.Called, n, at)
	case "scoped_identifier":
		r.note(r.pathOf(n, at), mask.Named, n, at)
		return
	case "identifier":
		if n.Field() != "name" && !r.local(n) {
			r.note(r.pathOf(n, at), mask.Named, n, at)
		}
		return
	case "lifetime", "label":
		return
	}
	r.walk(n, at)
}

func (r *maskReader) local(n syntax.Node) bool {
	_, ok := r.locals[n.Text()]
	return ok
}

func (r *maskReader) call(n syntax.Node, at around) {
	of := n.Child("function")
	if of.Is("generic_function") {
		of = of.Child("function")
	}
	if !(of.Is("identifier") && r.local(of)) {
		r.note(r.pathOf(of, at), mask.Called, n, at)
	}
	if of.Is("field_expression") {
		r.walk(of, at)
	} else if !of.Is("identifier", "scoped_identifier") {
		r.code(of, at)
	}
	for a := range n.Child("arguments").Children() {
		switch {
		case a.Is("identifier") && !r.local(a), a.Is("scoped_identifier"):
			r.note(r.pathOf(a, at), mask.Handed, a, at)
		default:
			r.item(a, at, before{})
		}
	}
}

// tokens finds calls among what a macro is given: a name right before parentheses.
func (r *maskReader) tokens(n syntax.Node, at around) {
	var name syntax.Node
	for t := range n.Within() {
		if t.Is("token_tree") && name.Is() && name.End() == t.Start() && r.source[t.Start()] == '(' && !r.local(name) {
			p := []string{name.Text()}
			if i := name.Start(); i > 0 && r.source[i-1] == '.' {
				p = []string{"?", p[0]}
			}
			r.note(p, mask.Called, name, at)
		}
		name = syntax.Node{}
		if t.Is("identifier") {
			name = t
		}
	}
}

// pathOf is the dotted name of what is called or named. Self and self are the type
// around; locals stand for their types where those are plain.
func (r *maskReader) pathOf(n syntax.Node, at around) []string {
	switch n.Kind() {
	case "identifier":
		if of, ok := r.locals[n.Text()]; ok && of != nil {
			return r.absolute(of, at)
		} else if ok {
			return []string{"?"}
		}
		return []string{n.Text()}
	case "self":
		return r.absolute([]string{"Self"}, at)
	case "scoped_identifier":
		var p []string
		for range 16 {
			name := n.Child("name")
			p = append(p, name.Text())
			head := n.Child("path")
			switch head.Kind() {
			case "scoped_identifier":
				n = head
				continue
			case "identifier", "self", "super", "crate", "metavariable":
				p = append(p, head.Text())
			case "generic_type", "bracketed_type", "scoped_type_identifier":
				t := head
				if t.Is("bracketed_type") {
					t = t.First()
				}
				if t.Is("qualified_type") {
					t = t.Child("type")
				}
				of := typeName(t)
				slices.Reverse(of)
				p = append(p, of...)
			}
			slices.Reverse(p)
			return r.absolute(p, at)
		}
	case "field_expression":
		fields := []string{n.Child("field").Text()}
		head := n.Child("value")
		for range 8 {
			if !head.Is("field_expression") {
				break
			}
			fields = append(fields, head.Child("field").Text())
			head = head.Child("value")
		}
		p := []string{"?"}
		if head.Is("identifier", "self") {
			p = r.pathOf(head, at)
		} else if t := r.typeOf(head); t != nil {
			p = r.absolute(t, at)
		}
		slices.Reverse(fields)
		return append(slices.Clip(p), fields...)
	}
	return nil
}

// absolute replaces the words that mean something by their place. Modules above are
// names that imports of this file bring (see use), or paths from the crate.
func (r *maskReader) absolute(p []string, at around) []string {
	if len(p) == 0 {
		return nil
	}
	switch p[0] {
	case "Self":
		if at.class >= 0 {
			return append(strings.Split(r.file.Classes[at.class].Name, "."), p[1:]...)
		}
	case "crate", "super", "self":
		if len(p) > 1 {
			return r.fromCrate(p)
		}
	}
	return p
}

// fromCrate spells a path that begins with crate, self or super from the crate's name.
func (r *maskReader) fromCrate(p []string) []string {
	at := slices.Clone(r.module)
	for len(p) > 0 {
		switch p[0] {
		case "crate":
			at = at[:1]
		case "self":
		case "super":
			at = at[:max(1, len(at)-1)]
		default:
			return append(at, p...)
		}
		p = p[1:]
	}
	return at
}

// typeOf is the type of an expression where it is written: Foo::new(…), Foo { … }.
func (r *maskReader) typeOf(n syntax.Node) []string {
	switch n.Kind() {
	case "struct_expression":
		return typeName(n.Child("name"))
	case "call_expression":
		of := n.Child("function")
		if of.Is("scoped_identifier") {
			if t := typeName(of.Child("path")); t != nil && t[len(t)-1] != "" && t[len(t)-1][0] >= 'A' && t[len(t)-1][0] <= 'Z' {
				return t
			}
		}
	case "reference_expression":
		return r.typeOf(n.Child("value"))
	}
	return nil
}

// localsOf are the names that a function binds anywhere, with their types where plain.
// Scopes do not matter here: no decision of the compiler hangs on them.
func (r *maskReader) localsOf(n syntax.Node) map[string][]string {
	out := map[string][]string{}
	for c := range n.Within() {
		switch {
		case c.Is("parameter", "let_declaration"):
			pattern := c.Child("pattern")
			if !pattern.Is("identifier") {
				continue
			}
			t := typeName(c.Child("type"))
			if t == nil && c.Is("let_declaration") {
				t = r.typeOf(c.Child("value"))
			}
			out[pattern.Text()] = t
		case c.Field() == "pattern", c.Is("closure_parameters"):
			if c.Is("identifier") {
				if _, ok := out[c.Text()]; !ok {
					out[c.Text()] = nil
				}
			}
			for id := range c.Children() {
				if id.Is("identifier") && id.Field() != "type" {
					out[id.Text()] = nil
				}
			}
		}
	}
	return out
}

// note adds what a function runs, once each. Nothing runs when a crate is loaded: values
// of constants and statics are made by the compiler, of functions that are const.
func (r *maskReader) note(p []string, use mask.Use, n syntax.Node, at around) {
	if r.owner < 0 || len(p) == 0 || p[0] == "" || len(p) == 1 && (p[0] == "?" || p[0] == "Some" || p[0] == "Ok" || p[0] == "Err" || p[0] == "None") {
		return
	}
	key := string(use) + strings.Join(p, ".")
	if r.seen[key] {
		return
	}
	r.seen[key] = true
	ref := mask.Ref{Path: p, Use: use, Class: at.class, Line: n.Line()}
	f := &r.file.Functions[r.owner]
	f.Runs = append(f.Runs, ref)
}

// use notes what a use declaration takes; base is what its braces stand behind.
func (r *maskReader) use(n syntax.Node, base []string) {
	if r.depth > deepest {
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	words := func(n syntax.Node) []string {
		if !n.Is() {
			return slices.Clone(base)
		}
		return append(slices.Clone(base), strings.Split(strings.Join(strings.Fields(n.Text()), ""), "::")...)
	}
	switch n.Kind() {
	case "scoped_use_list":
		r.use(n.Child("list"), words(n.Child("path")))
	case "use_list":
		for c := range n.Children() {
			if c.Named() || c.Is("self", "crate", "super") {
				r.use(c, base)
			}
		}
	case "use_wildcard":
		r.take(append(words(n.First()), "*"), "")
	case "use_as_clause":
		r.take(words(n.Child("path")), n.Child("alias").Text())
	case "self", "crate", "super":
		if len(base) > 0 && n.Is("self") {
			r.take(slices.Clone(base), "")
			return
		}
		r.take(words(n), "")
	case "identifier", "scoped_identifier":
		r.take(words(n), "")
	}
}

func (r *maskReader) take(p []string, local string) {
	if len(p) > 1 && p[0] == "" { // ::std
		p = p[1:]
	}
	if p[0] == "crate" || p[0] == "self" || p[0] == "super" {
		p = r.fromCrate(p)
	}
	name := p[len(p)-1]
	switch {
	case name == "*":
		r.file.Imports = append(r.file.Imports, mask.Import{Module: strings.Join(p[:len(p)-1], "::"), Name: "*"})
	case len(p) == 1:
		if local == "" {
			local = name
		}
		r.file.Imports = append(r.file.Imports, mask.Import{Module: name, Local: local})
	default:
		if local == "" {
			local = name
		}
		r.file.Imports = append(r.file.Imports, mask.Import{Module: strings.Join(p[:len(p)-1], "::"), Name: name, Local: local})
	}
}
