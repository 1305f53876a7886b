package routes

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

// namedChildren are the children of a node without its punctuation and keywords.
func namedChildren(n syntax.Node) []syntax.Node {
	var out []syntax.Node
	for c := range n.Children() {
		if c.Named() {
			out = append(out, c)
		}
	}
	return out
}

// operator is the text between the sides of an operation.
func operator(n syntax.Node) string {
	left, right := n.Child("left"), n.Child("right")
	if !left.Is() || !right.Is() {
		return ""
	}
	return strings.TrimSpace(string(n.Tree().Source[left.End():right.Start()]))
}

func (p *python) binary(n syntax.Node, f *pyFrame) pyValue {
	a, b := p.eval(n.Child("left"), f), p.eval(n.Child("right"), f)
	switch operator(n) {
	case "|":
		if x, ok := a.(*pyEither); ok {
			return &pyEither{append(slices.Clone(x.items), b)}
		}
		return &pyEither{[]pyValue{a, b}}
	case "+":
		if p.testing {
			a, b = wild(a, b), wild(b, a)
		}
		return addValues(a, b)
	case "%":
		if s, ok := a.(string); ok {
			return percent(s, b)
		}
	case "*":
		x, ok := a.(int64)
		y, okay := b.(int64)
		if ok && okay && x < 1<<20 && y < 1<<20 {
			return x * y
		}
	case "/":
		if s, ok := b.(string); ok { // Path("a") / "b"
			if r, ok := a.(string); ok {
				return r + "/" + s
			}
		}
	}
	return nil
}

func addValues(a, b pyValue) pyValue {
	switch x := a.(type) {
	case string:
		if y, ok := b.(string); ok && len(x)+len(y) < maxText {
			return x + y
		}
	case int64:
		if y, ok := b.(int64); ok {
			return x + y
		}
	case *pySequence:
		if y, ok := b.(*pySequence); ok && len(x.items)+len(y.items) < maxItems {
			return &pySequence{append(slices.Clone(x.items), y.items...)}
		}
	}
	return nil
}

// percent is "…%s…" % values.
func percent(s string, with pyValue) pyValue {
	values := []pyValue{with}
	if t, ok := with.(*pySequence); ok {
		values = t.items
	}
	for _, v := range values {
		text, ok := v.(string)
		if !ok || !strings.Contains(s, "%s") {
			return nil
		}
		s = strings.Replace(s, "%s", text, 1)
	}
	if strings.Contains(s, "%s") || len(s) > maxText {
		return nil
	}
	return s
}

func (p *python) boolean(n syntax.Node, f *pyFrame) pyValue {
	a := p.eval(n.Child("left"), f)
	is, known := truth(a)
	or := operator(n) == "or"
	if s, ok := a.(*pySent); ok && or {
		if other, ok := p.eval(n.Child("right"), f).(*pySent); ok && other.where == "json" {
			return other // request.form or request.get_json()
		}
		return s
	}
	if !known {
		b := p.eval(n.Child("right"), f)
		if s, ok := b.(string); ok && or { // os.environ.get("X") or "default"
			return s
		}
		return nil
	}
	if is == or {
		return a
	}
	return p.eval(n.Child("right"), f)
}

func (p *python) compare(n syntax.Node, f *pyFrame) pyValue {
	sides := namedChildren(n)
	if len(sides) != 2 {
		return nil
	}
	a, b := p.eval(sides[0], f), p.eval(sides[1], f)
	op := strings.Join(strings.Fields(string(n.Tree().Source[sides[0].End():sides[1].Start()])), " ")
	switch op {
	case "==", "is":
		if isPlain(a) && isPlain(b) {
			return a == b
		}
		if _, ok := b.(pyNone); ok && a != nil {
			if _, known := truth(a); known {
				return false
			}
		}
	case "!=", "is not":
		if isPlain(a) && isPlain(b) {
			return a != b
		}
		if _, ok := b.(pyNone); ok && a != nil {
			if _, known := truth(a); known {
				return true
			}
		}
	case "in", "not in":
		if s, ok := b.(*pySent); ok {
			p.containsSent(a, s, op == "not in")
			return nil
		}
		items, known := p.iterate(b)
		if !known || !isPlain(a) {
			return nil
		}
		for _, i := range items {
			if !isPlain(i) {
				return nil
			}
			if i == a {
				return op == "in"
			}
		}
		return op != "in"
	}
	return nil
}

func (p *python) unary(n syntax.Node, f *pyFrame) pyValue {
	v := p.eval(n.Child("argument"), f)
	if strings.HasPrefix(n.Text(), "-") {
		switch x := v.(type) {
		case int64:
			return -x
		case float64:
			return -x
		}
		return nil
	}
	return v
}

func (p *python) conditional(n syntax.Node, f *pyFrame) pyValue {
	parts := namedChildren(n)
	if len(parts) != 3 {
		return nil
	}
	switch is, known := truth(p.eval(parts[1], f)); {
	case p.trace != nil:
		v := p.eval(parts[2], f)
		if first := p.eval(parts[0], f); first != nil {
			return first
		}
		return v
	case known && is:
		return p.eval(parts[0], f)
	case known:
		return p.eval(parts[2], f)
	}
	if v := p.eval(parts[0], f); v != nil {
		return v
	}
	return p.eval(parts[2], f)
}

// comprehension goes through one loop.
func (p *python) comprehension(n syntax.Node, f *pyFrame) pyValue {
	in := n.First("for_in_clause")
	items, known := p.iterate(p.eval(in.Child("right"), f))
	if !known {
		inner := *f
		inner.scope = newPyScope(f.scope)
		p.bind(in.Child("left"), nil, &inner)
		p.eval(n.Child("body"), &inner)
		return nil
	}
	inner := *f
	inner.scope = newPyScope(f.scope)
	out := &pySequence{}
	for i, item := range items {
		if i >= maxItems {
			break
		}
		p.bind(in.Child("left"), item, &inner)
		if c := n.First("if_clause"); c.Is() {
			if is, known := truth(p.eval(c.First("comparison_operator", "identifier", "call", "not_operator", "boolean_operator", "attribute"), &inner)); known && !is {
				continue
			}
		}
		out.items = append(out.items, p.eval(n.Child("body"), &inner))
	}
	return out
}
