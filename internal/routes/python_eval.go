package routes

import (
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

// eval is what an expression is known to be.
func (p *python) eval(n syntax.Node, f *pyFrame) pyValue {
	if !n.Is() || p.depth > maxDepth || !p.spend() {
		return nil
	}
	p.depth++
	defer func() { p.depth-- }()
	switch n.Kind() {
	case "identifier":
		return p.name(n.Text(), f)
	case "string":
		return p.stringOf(n, f)
	case "concatenated_string":
		return p.concatenated(n, f)
	case "integer", "float":
		return numberOf(n.Text())
	case "true":
		return true
	case "false":
		return false
	case "none":
		return pyNone{}
	case "ellipsis":
		return &pyExternal{"builtins.Ellipsis"}
	case "parenthesized_expression", "type", "await", "expression_statement", "interpolation":
		return p.eval(n.First(), f)
	case "list", "tuple", "set", "expression_list":
		return &pySequence{p.items(n, f)}
	case "dictionary":
		return p.dictionary(n, f)
	case "attribute":
		return p.attribute(p.eval(n.Child("object"), f), n.Child("attribute").Text())
	case "call":
		return p.callOf(n, f)
	case "subscript":
		return p.subscript(n, f)
	case "generic_type":
		return p.generic(n, f)
	case "union_type":
		var items []pyValue
		for _, c := range namedChildren(n) {
			items = append(items, p.eval(c, f))
		}
		return &pyEither{items}
	case "member_type":
		return p.memberType(n, f)
	case "binary_operator":
		return p.binary(n, f)
	case "boolean_operator":
		return p.boolean(n, f)
	case "comparison_operator":
		return p.compare(n, f)
	case "not_operator":
		if is, known := truth(p.eval(n.Child("argument"), f)); known {
			return !is
		}
	case "unary_operator":
		return p.unary(n, f)
	case "conditional_expression":
		return p.conditional(n, f)
	case "lambda":
		return &pyFunction{node: n, module: f.module, closure: f.scope}
	case "list_comprehension", "generator_expression", "set_comprehension":
		return p.comprehension(n, f)
	case "named_expression":
		v := p.eval(n.Child("value"), f)
		f.scope.set(n.Child("name").Text(), v)
		return v
	}
	return nil
}

func (p *python) name(word string, f *pyFrame) pyValue {
	if v, ok := f.scope.find(word); ok {
		return p.force(v)
	}
	if v, ok := f.module.scope.vars[word]; ok {
		return p.force(v)
	}
	if pyBuiltins[word] {
		return &pyExternal{"builtins." + word}
	}
	if word == "__path__" || word == "__file__" {
		return f.module.path
	}
	return nil
}

var pyBuiltins = wordSet("str int float bool bytes list dict tuple set frozenset object type property staticmethod classmethod super getattr setattr hasattr isinstance len zip enumerate sorted reversed range map filter print any all vars globals locals __import__ Exception ValueError")

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

func numberOf(text string) pyValue {
	text = strings.ReplaceAll(text, "_", "")
	if i, err := strconv.ParseInt(text, 0, 64); err == nil {
		return i
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return x
	}
	return nil
}

// stringOf is a literal; one with values in it is known where they are.
func (p *python) stringOf(n syntax.Node, f *pyFrame) pyValue {
	start := strings.ToLower(n.First("string_start").Text())
	if strings.Contains(start, "b") {
		return nil
	}
	var out strings.Builder
	for c := range n.Children() {
		switch c.Kind() {
		case "string_content":
			text := c.Text()
			if !strings.Contains(start, "r") {
				text = unescape(text)
			}
			out.WriteString(text)
		case "interpolation":
			switch v := p.eval(c.Child("expression"), f).(type) {
			case string:
				out.WriteString(v)
			case int64:
				out.WriteString(strconv.FormatInt(v, 10))
			default:
				text, ok := p.textOf(v)
				switch {
				case ok:
					out.WriteString(text)
				case p.testing:
					out.WriteString(anyText)
				default:
					return nil
				}
			}
		}
		if out.Len() > maxText {
			return nil
		}
	}
	return out.String()
}

// unescape reads the escapes that texts of paths, values and patterns have.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "\r", `\"`, `"`, `\'`, `'`, "\\\n", "").Replace(s)
}

func (p *python) concatenated(n syntax.Node, f *pyFrame) pyValue {
	var out strings.Builder
	for c := range n.Children() {
		if !c.Is("string") {
			continue
		}
		s, ok := p.stringOf(c, f).(string)
		if !ok || out.Len() > maxText {
			return nil
		}
		out.WriteString(s)
	}
	return out.String()
}

func (p *python) items(n syntax.Node, f *pyFrame) []pyValue {
	var out []pyValue
	for c := range n.Children() {
		if !c.Named() || c.Is("comment") || len(out) >= maxItems {
			continue
		}
		if c.Is("list_splat") {
			out = append(out, itemsOf(p.eval(c.First(), f))...)
			continue
		}
		out = append(out, p.eval(c, f))
	}
	return out
}

func (p *python) dictionary(n syntax.Node, f *pyFrame) pyValue {
	d := &pyDictionary{}
	for c := range n.Children() {
		switch c.Kind() {
		case "pair":
			d.set(p.eval(c.Child("key"), f), p.eval(c.Child("value"), f))
		case "dictionary_splat":
			if other, ok := p.eval(c.First(), f).(*pyDictionary); ok {
				for i, k := range other.keys {
					d.set(k, other.values[i])
				}
			}
		}
	}
	return d
}

// generic is an annotation list[X].
func (p *python) generic(n syntax.Node, f *pyFrame) pyValue {
	var of pyValue
	var keys []pyValue
	for c := range n.Children() {
		if c.Is("type_parameter") {
			for k := range c.Children() {
				if k.Named() {
					keys = append(keys, p.eval(k, f))
				}
			}
		} else if c.Named() && of == nil {
			of = p.eval(c, f)
		}
	}
	return &pyIndexed{of, keys}
}

func (p *python) memberType(n syntax.Node, f *pyFrame) pyValue {
	var of pyValue
	name := ""
	for c := range n.Children() {
		if !c.Named() {
			continue
		}
		if of == nil {
			of = p.eval(c, f)
		} else {
			name = c.Text()
		}
	}
	return p.attribute(of, name)
}
