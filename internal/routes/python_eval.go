package routes

import (
	"slices"
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
		for c := range n.Children() {
			if c.Named() {
				items = append(items, p.eval(c, f))
			}
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

// attribute is a member of a value.
func (p *python) attribute(of pyValue, name string) pyValue {
	switch x := of.(type) {
	case *pyModule:
		v, ok := p.inModule(x, name)
		if !ok && x.begun {
			return p.force(&pyLater{x, name})
		}
		return v
	case *pyExternal:
		if x.name == "flask.request" {
			if v, ok := p.ofRequest(name); ok {
				return v
			}
		}
		return &pyExternal{x.name + "." + name}
	case *pySent:
		switch name {
		case "json", "form", "data", "get_json", "values":
			return x
		}
		return &pyMember{x, name}
	case *pyClass:
		return p.ofClass(x, name)
	case *pyInstance:
		return p.ofInstance(x, name)
	case *pyRouter:
		return p.ofRouter(x, name)
	case *pySuper:
		return p.ofSuper(x, name)
	case nil:
		return &pyMember{nil, name}
	case *pyEither, pyNone:
		return nil
	}
	return &pyMember{of, name}
}

func (p *python) ofClass(c *pyClass, name string) pyValue {
	v, owner := c.own(name)
	switch x := p.force(v).(type) {
	case nil:
	case *pyFunction:
		if x.decoratedBy("classmethod") {
			return &pyBound{x, c}
		}
		return x
	default:
		if owner.isEnum() {
			return &pyInstance{class: owner, attrs: map[string]pyValue{"value": x, "name": name}}
		}
		return x
	}
	if name == "__name__" {
		return lastName(c.name)
	}
	return &pyMember{c, name}
}

func (c *pyClass) isEnum() bool {
	return c.inherits("Enum", "StrEnum", "IntEnum", "Flag", "IntFlag")
}

// membersOf are those of an Enum.
func (p *python) membersOf(c *pyClass) []pyValue {
	var out []pyValue
	for s := range c.node.Child("body").Children() {
		a := s.First("assignment")
		if left := a.Child("left"); left.Is("identifier") && !strings.HasPrefix(left.Text(), "_") {
			out = append(out, &pyInstance{class: c, attrs: map[string]pyValue{"value": c.scope.vars[left.Text()], "name": left.Text()}})
		}
	}
	return out
}

func (p *python) ofInstance(i *pyInstance, name string) pyValue {
	if v, ok := i.attrs[name]; ok {
		return p.force(v)
	}
	v, _ := i.class.own(name)
	switch x := p.force(v).(type) {
	case nil:
		return &pyMember{i, name}
	case *pyFunction:
		if x.decoratedBy("property", "cached_property", "computed_field", "hybrid_property") {
			return p.runFunction(x, i, &pyCall{of: x, module: x.module})
		}
		return &pyBound{x, i}
	case *pyCall:
		// A field of settings that says how its value is found: Field("/api", env=…).
		if d, ok := defaultOf(x); ok {
			return d
		}
		return x
	default:
		return x
	}
}

// defaultOf is the default of a field.
func defaultOf(c *pyCall) (pyValue, bool) {
	if lastName(nameOf(c.of)) != "Field" {
		return nil, false
	}
	return c.arg(0, "default")
}

func (p *python) ofSuper(s *pySuper, name string) pyValue {
	for _, a := range s.class.line()[1:] {
		if fn, ok := a.scope.vars[name].(*pyFunction); ok {
			return &pyBound{fn, s.self}
		}
	}
	if r, ok := s.self.(*pyRouter); ok {
		return &pyMember{r, name}
	}
	return &pyMember{s, name}
}

func (p *python) subscript(n syntax.Node, f *pyFrame) pyValue {
	of := p.eval(n.Child("value"), f)
	var keys []pyValue
	for c := range n.Children() {
		if c.Field() == "subscript" {
			keys = append(keys, p.eval(c, f))
		}
	}
	return p.index(of, keys)
}

func (p *python) index(of pyValue, keys []pyValue) pyValue {
	switch x := of.(type) {
	case *pyDictionary:
		if len(keys) == 1 {
			v, _ := x.get(keys[0])
			return v
		}
	case *pySequence:
		if i, ok := keys[0].(int64); ok && len(keys) == 1 {
			if i < 0 {
				i += int64(len(x.items))
			}
			if i >= 0 && i < int64(len(x.items)) {
				return x.items[i]
			}
		}
	case *pySent:
		return p.indexSent(x, keys)
	case *pyExternal, *pyClass, *pyMember, *pyCall, *pyIndexed:
		return &pyIndexed{of, keys}
	case *pyRouter:
		return p.index(&pyMember{x, "[]"}, keys)
	}
	return nil
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
	var sides []syntax.Node
	for c := range n.Children() {
		if c.Named() {
			sides = append(sides, c)
		}
	}
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
	var parts []syntax.Node
	for c := range n.Children() {
		if c.Named() {
			parts = append(parts, c)
		}
	}
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
