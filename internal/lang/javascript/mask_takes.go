package javascript

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// takes says what a function's own body does with its parameters; nil where a body
// reaches them by number. What functions inside of a constructor do counts too: they may
// be called on the object, by any name.
func (r *reader) takes(fn syntax.Node, p place, constructor bool) []mask.Take {
	body := fn.Child("body")
	uses := map[string]*mask.Take{}
	out := []mask.Take{}
	var names []string
	put := func(n syntax.Node) {
		take := mask.Take{}
		if constructor && n.Has("accessibility_modifier", "readonly", "override_modifier") { // it declares a field
			take.Puts = append(take.Puts, n.Child("pattern").Text())
		}
		switch n.Kind() {
		case "required_parameter", "optional_parameter":
			if n = n.Child("pattern"); n.Is("this") {
				return
			}
		}
		if n.Is("assignment_pattern") {
			n = n.Child("left")
		}
		if n.Is("rest_pattern") {
			n, take.Rest = first(n), true
		}
		take.Runs = !n.Is("identifier")
		out, names = append(out, take), append(names, n.Text())
	}
	if one := fn.Child("parameter"); one.Is() {
		put(one)
	}
	for c := range fn.Child("parameters").Children() {
		if c.Named() && !c.Is("comment") {
			put(c)
		}
	}
	for i := range out {
		uses[names[i]] = &out[i]
	}
	for n := range body.Walk(func(n syntax.Node) bool { return constructor || !deferred(n) }) {
		if !n.Is("identifier", "shorthand_property_identifier") || !n.Named() {
			continue
		}
		if n.Text() == "arguments" {
			return nil
		}
		if take := uses[n.Text()]; take != nil && !take.Runs {
			r.judge(fn, n, take, p)
		}
	}
	return out
}

// deferred tells a function that does not run where it stands.
func deferred(n syntax.Node) bool {
	if !isFunction(n) {
		return false
	}
	parent := n.Parent()
	for parent.Is("parenthesized_expression") {
		parent = parent.Parent()
	}
	return !parent.Is("call_expression", "arguments", "member_expression", "new_expression")
}

// judge reads one place in which a parameter of fn stands.
func (r *reader) judge(fn, n syntax.Node, take *mask.Take, p place) {
	var into *mask.Argument
	var chain []*mask.Argument
	for at := n; ; at = at.Parent() {
		parent := at.Parent()
		switch parent.Kind() {
		case "parenthesized_expression", "non_null_expression", "as_expression", "satisfies_expression":
			continue
		case "arguments":
			call := parent.Parent()
			if one := r.argumentOf(call, at, parent, p); one != nil {
				if one.Path == nil { // known well enough
					return
				}
				chain = append(chain, one)
				at = parent
				continue
			}
		case "return_statement", "expression_statement", "arrow_function":
			if around(n) != fn {
				break
			}
			for i := len(chain) - 1; i >= 0; i-- {
				chain[i].Into = into
				into = chain[i]
			}
			if into != nil {
				take.Into = append(take.Into, into)
			}
			return
		case "assignment_expression", "augmented_assignment_expression":
			if left := parent.Child("left"); left == at && len(chain) == 0 && at.Is("identifier") {
				return
			} else if left.Is("identifier") && left.Text() == n.Text() && len(chain) == 0 {
				return // p = p || …
			} else if name := r.putUnder(left, p); name != "" && left != at {
				take.Puts = append(take.Puts, name)
				continue
			}
		case "object":
			if at.Is("shorthand_property_identifier") {
				take.Puts = append(take.Puts, at.Text())
			}
			continue
		case "pair":
			if name := r.keyName(parent.Child("key")); name != "" && parent.Child("value") == at {
				take.Puts = append(take.Puts, name)
				continue
			}
		case "binary_expression":
			switch {
			case r.isLogic(parent): // its value may be that of the whole
				continue
			case len(chain) == 0:
				return
			}
		case "unary_expression", "if_statement", "while_statement":
			if len(chain) == 0 {
				return
			}
		case "ternary_expression":
			if parent.Child("condition") != at {
				continue
			} else if len(chain) == 0 {
				return
			}
		case "member_expression":
			if parent.Child("object") == at && len(chain) == 0 && !isAsked(parent) {
				return
			}
		}
		take.Runs = true
		return
	}
}

// putUnder is the name by which others read what an assignment gives a value to: of a
// member, of a variable of the module; "" for what is the function's own.
func (r *reader) putUnder(left syntax.Node, p place) string {
	left = unwrapped(left)
	switch left.Kind() {
	case "member_expression":
		return left.Child("property").Text()
	case "subscript_expression":
		if index := left.Child("index"); index.Is("string") {
			return r.keyName(index)
		}
		return mask.Element
	case "identifier":
		if r.resolved([]string{left.Text()}, p) != nil {
			return left.Text()
		}
	}
	return ""
}

// around is the function that a node stands in.
func around(n syntax.Node) syntax.Node {
	for n = n.Parent(); n.Is() && !isFunction(n); n = n.Parent() {
	}
	return n
}

// isAsked tells of p.x whether it is called: p itself may be, by call and apply.
func isAsked(n syntax.Node) bool {
	parent := n.Parent()
	if name := n.Child("property").Text(); parent.Is("call_expression") && parent.Child("function") == n {
		return name != "bind" && name != "toString" && name != "hasOwnProperty"
	}
	return false
}

// isLogic tells an operator that gives one of what stands beside it.
func (r *reader) isLogic(n syntax.Node) bool {
	sign := r.operator(n)
	return sign == "||" || sign == "&&" || sign == "??"
}

// operator is what stands between both sides: signs are no nodes of a tree.
func (r *reader) operator(n syntax.Node) string {
	left, right := n.Child("left"), n.Child("right")
	if !left.Is() || !right.Is() {
		return ""
	}
	between := string(r.source[left.End():right.Start()])
	for c := range n.Children() {
		if c.Is("comment") {
			between = strings.Replace(between, c.Text(), "", 1)
		}
	}
	return strings.TrimSpace(between)
}

// argumentOf is the call that gets an argument; without a path where it is known to
// leave it alone, nil where nothing is known.
func (r *reader) argumentOf(call, arg, args syntax.Node, p place) *mask.Argument {
	fn := call.Child("function")
	if call.Is("new_expression") {
		fn = call.Child("constructor")
	}
	path, _ := r.path(fn)
	if len(path) == 0 {
		return nil
	}
	if momentOf(path) == later {
		return &mask.Argument{}
	}
	if path[0] == "super" && len(path) == 1 && p.class >= 0 {
		if bases := r.file.Classes[p.class].Bases; len(bases) == 1 {
			path = bases[0].Path
		}
	}
	callee := r.resolved(path, p)
	if !isName(callee) || slices.Contains(globals, callee[0]) {
		return nil
	}
	at := 0
	for c := range args.Children() {
		if c == arg {
			return &mask.Argument{Path: callee, At: at}
		}
		if c.Is("spread_element") {
			return nil
		}
		if c.Named() && !c.Is("comment") {
			at++
		}
	}
	return nil
}
