package routes

import (
	"slices"

	"github.com/benchmint/benchmint/internal/syntax"
)

// frame is where a statement stands.
type pyFrame struct {
	scope    *pyScope
	module   *pyModule
	prefix   string   // of the names of functions in it: "Class."
	class    *pyClass // whose body it is, or whose method
	function *pyFunction
	self     pyValue
	// unsure says that the statement may not be reached.
	unsure   int
	returned []pyValue
}

// spend counts a step, and reports whether there are any left.
func (p *python) spend() bool {
	p.steps++
	return p.steps < maxSteps
}

// block executes statements and reports whether the rest behind them is not reached.
func (p *python) block(n syntax.Node, f *pyFrame) (done bool) {
	if p.depth > maxDepth {
		return false
	}
	p.depth++
	defer func() { p.depth-- }()
	for s := range n.Children() {
		if s.Named() && p.statement(s, f) {
			return true
		}
	}
	return false
}

func (p *python) statement(n syntax.Node, f *pyFrame) (done bool) {
	if !p.spend() {
		return true
	}
	switch n.Kind() {
	case "expression_statement":
		for c := range n.Children() {
			p.expression(c, f)
		}
	case "import_statement":
		p.importStatement(n, f)
	case "import_from_statement":
		p.fromStatement(n, f)
	case "decorated_definition":
		p.define(n, f)
	case "function_definition", "class_definition":
		p.define(n, f)
	case "if_statement":
		return p.ifStatement(n, f)
	case "for_statement":
		p.forStatement(n, f)
	case "while_statement":
		p.maybe(n.Child("body"), f)
	case "try_statement":
		return p.tryStatement(n, f)
	case "with_statement":
		return p.withStatement(n, f)
	case "match_statement":
		p.matchStatement(n, f)
	case "return_statement":
		if v := n.First(); v.Is() {
			f.returned = append(f.returned, p.eval(v, f))
		}
		return f.unsure == 0 && p.trace == nil
	case "raise_statement":
		return f.unsure == 0 && f.function != nil && p.trace == nil
	case "block":
		return p.block(n, f)
	case "assert_statement", "delete_statement":
		for c := range n.Children() {
			if c.Named() {
				p.eval(c, f)
			}
		}
	case "type_alias_statement":
		p.aliasStatement(n, f)
	}
	return false
}

func (p *python) expression(n syntax.Node, f *pyFrame) {
	switch n.Kind() {
	case "assignment":
		p.assign(n, f)
	case "augmented_assignment":
		p.augment(n, f)
	case "comment":
	default:
		p.eval(n, f)
	}
}

func (p *python) assign(n syntax.Node, f *pyFrame) {
	right := n.Child("right")
	if !right.Is() {
		return
	}
	if right.Is("assignment") { // a = b = c
		p.assign(right, f)
		right = right.Child("left")
	}
	v := p.eval(right, f)
	if fn, ok := v.(*pyFunction); ok && fn.node.Is("lambda") && fn.name == "" && n.Child("left").Is("identifier") {
		fn.name = f.prefix + n.Child("left").Text()
	}
	p.bind(n.Child("left"), v, f)
}

// bind gives a pattern a value.
func (p *python) bind(left syntax.Node, v pyValue, f *pyFrame) {
	switch left.Kind() {
	case "identifier":
		f.scope.set(left.Text(), v)
	case "attribute":
		p.setMember(p.eval(left.Child("object"), f), left.Child("attribute").Text(), v)
	case "subscript":
		if d, ok := p.eval(left.Child("value"), f).(*pyDictionary); ok {
			d.set(p.eval(left.Child("subscript"), f), v)
		}
	case "pattern_list", "tuple_pattern", "list_pattern", "expression_list", "tuple":
		items := itemsOf(v)
		i := 0
		for c := range left.Children() {
			if !c.Named() {
				continue
			}
			var item pyValue
			if i < len(items) {
				item = items[i]
			}
			p.bind(c, item, f)
			i++
		}
	}
}

func (p *python) setMember(of pyValue, name string, v pyValue) {
	switch x := of.(type) {
	case *pyInstance:
		x.attrs[name] = v
		p.assignSent(v, x.class, name)
	case *pyRouter:
		x.attrs[name] = v
		if s, ok := v.(string); ok && (name == "prefix" || name == "url_prefix") {
			x.prefix, x.has = s, true
		}
	case *pyModule:
		x.scope.set(name, v)
	case *pyClass:
		x.scope.set(name, v)
	}
}

// aliasStatement is type X = Y.
func (p *python) aliasStatement(n syntax.Node, f *pyFrame) {
	var sides []syntax.Node
	for c := range n.Children() {
		if c.Named() {
			sides = append(sides, c)
		}
	}
	if len(sides) == 2 && sides[0].First("identifier").Is() {
		f.scope.set(sides[0].First().Text(), p.eval(sides[1], f))
	}
}

func (p *python) augment(n syntax.Node, f *pyFrame) {
	left, right := n.Child("left"), p.eval(n.Child("right"), f)
	before := p.eval(left, f)
	switch x := before.(type) {
	case *pySequence:
		x.items = append(x.items, itemsOf(right)...)
	case string:
		if s, ok := right.(string); ok && len(x)+len(s) < maxText {
			p.bind(left, x+s, f)
		} else {
			p.bind(left, nil, f)
		}
	default:
		p.bind(left, nil, f)
	}
}

// itemsOf are those of a list, or the keys of a dictionary.
func itemsOf(v pyValue) []pyValue {
	switch x := v.(type) {
	case *pySequence:
		return x.items
	case *pyDictionary:
		return x.keys
	case *pyClass: // an Enum
		return nil
	}
	return nil
}

// maybe executes what may not be reached.
func (p *python) maybe(n syntax.Node, f *pyFrame) {
	f.unsure++
	p.block(n, f)
	f.unsure--
}

func (p *python) ifStatement(n syntax.Node, f *pyFrame) (done bool) {
	type way struct{ condition, body syntax.Node }
	ways := []way{{n.Child("condition"), n.Child("consequence")}}
	for c := range n.Children() {
		switch c.Kind() {
		case "elif_clause":
			ways = append(ways, way{c.Child("condition"), c.Child("consequence")})
		case "else_clause":
			ways = append(ways, way{body: c.Child("body")})
		}
	}
	unknown := false
	for _, w := range ways {
		is, known := true, true
		if w.condition.Is() {
			is, known = truth(p.eval(w.condition, f))
			if w.condition.Text() == "TYPE_CHECKING" {
				is, known = true, true
			}
		}
		switch {
		case known && p.trace != nil && w.condition.Is():
			unknown = unknown || !is
			p.maybe(w.body, f)
		case known && is && !unknown:
			return p.block(w.body, f)
		case known && is:
			p.maybe(w.body, f)
			return false
		case !known:
			unknown = true
			p.maybe(w.body, f)
		}
	}
	return false
}

// truth reports whether a value counts as true, and whether that is known.
func truth(v pyValue) (is, known bool) {
	switch x := v.(type) {
	case nil:
		return false, false
	case bool:
		return x, true
	case pyNone:
		return false, true
	case string:
		return x != "", true
	case int64:
		return x != 0, true
	case float64:
		return x != 0, true
	case *pySequence:
		return len(x.items) > 0, true
	case *pyDictionary:
		return len(x.keys) > 0, true
	case *pyFunction, *pyClass, *pyRouter, *pyModule, *pyInstance:
		return true, true
	}
	return false, false
}

func (p *python) forStatement(n syntax.Node, f *pyFrame) {
	over := p.eval(n.Child("right"), f)
	body := n.Child("body")
	items, known := p.iterate(over)
	if !known {
		p.bind(n.Child("left"), nil, f)
		p.maybe(body, f)
		return
	}
	f.unsure++
	for i, item := range items {
		if i >= maxItems {
			break
		}
		p.bind(n.Child("left"), item, f)
		p.block(body, f)
	}
	f.unsure--
}

// iterate are the values that a loop goes through.
func (p *python) iterate(v pyValue) (items []pyValue, known bool) {
	switch x := v.(type) {
	case *pySequence:
		return slices.Clone(x.items), true
	case *pySent:
		if p.trace != nil && len(x.path) < maxBases && len(x.path) > 0 {
			return []pyValue{x.step(item)}, true
		}
	case *pyDictionary:
		return slices.Clone(x.keys), true
	case *pyClass:
		if x.isEnum() {
			return p.membersOf(x), true
		}
	}
	return nil, false
}

func (p *python) tryStatement(n syntax.Node, f *pyFrame) (done bool) {
	done = p.block(n.Child("body"), f)
	for c := range n.Children() {
		switch c.Kind() {
		case "except_clause", "except_group_clause":
			// What it binds stands for what could not be had; names that are there stay.
			before := f.scope
			f.scope = newPyScope(before)
			p.maybe(c.First("block"), f)
			for k, v := range f.scope.vars {
				if before.vars[k] == nil {
					before.vars[k] = v
				}
			}
			f.scope = before
		case "else_clause":
			done = p.block(c.Child("body"), f) || done
		case "finally_clause":
			done = p.block(c.First("block"), f) || done
		}
	}
	return done
}

func (p *python) withStatement(n syntax.Node, f *pyFrame) (done bool) {
	for item := range n.First("with_clause").Children() {
		v := item.Child("value")
		if v.Is("as_pattern") {
			p.bind(v.Child("alias").First(), p.eval(v.First(), f), f)
		} else if v.Is() {
			p.eval(v, f)
		}
	}
	return p.block(n.Child("body"), f)
}

func (p *python) matchStatement(n syntax.Node, f *pyFrame) {
	for c := range n.Child("body").Children() {
		if c.Is("case_clause") {
			p.maybe(c.Child("consequence"), f)
		}
	}
}

// define binds a function or a class, and applies its decorators.
func (p *python) define(whole syntax.Node, f *pyFrame) {
	def := whole
	var decorators []syntax.Node
	if whole.Is("decorated_definition") {
		def = whole.Child("definition")
		for c := range whole.Children() {
			if c.Is("decorator") {
				decorators = append(decorators, c)
			}
		}
	}
	name := def.Child("name").Text()
	var made pyValue
	switch def.Kind() {
	case "function_definition":
		closure := f.scope
		if f.class != nil && closure == f.class.scope {
			closure = closure.parent
		}
		made = &pyFunction{node: def, module: f.module, name: f.prefix + name, closure: closure, class: classBody(f)}
	case "class_definition":
		made = p.classOf(def, f)
	default:
		return
	}
	// A property of the class that is set again, @x.setter, keeps its getter.
	f.scope.set(name, made)
	slices.Reverse(decorators)
	for _, d := range decorators {
		if v := p.eval(d.First(), f); v != nil {
			p.decorate(v, made, d.Line())
		}
	}
	f.scope.set(name, made)
}

// classBody is the class in whose body a statement stands.
func classBody(f *pyFrame) *pyClass {
	if f.class != nil && f.scope == f.class.scope {
		return f.class
	}
	return nil
}

func (p *python) classOf(def syntax.Node, f *pyFrame) *pyClass {
	name := def.Child("name").Text()
	outer := f.scope
	if f.class != nil && outer == f.class.scope {
		outer = outer.parent
	}
	c := &pyClass{node: def, module: f.module, name: f.prefix + name, scope: newPyScope(outer)}
	for b := range def.Child("superclasses").Children() {
		if b.Named() && !b.Is("keyword_argument", "comment") {
			c.bases = append(c.bases, p.eval(b, f))
		}
	}
	p.block(def.Child("body"), &pyFrame{scope: c.scope, module: f.module, prefix: c.name + ".", class: c, unsure: f.unsure})
	return c
}

// decorate notes a decorator, and runs it where it is of the tree: it may declare a route.
func (p *python) decorate(d, what pyValue, line int) {
	if r, ok := d.(*pyDeclaration); ok {
		p.declare(r, what)
		return
	}
	switch x := what.(type) {
	case *pyFunction:
		x.decorators = append(x.decorators, d)
		if of, ok := d.(*pyFunction); ok {
			p.runFunction(of, nil, &pyCall{of: of, args: []pyValue{x}, module: x.module, line: line})
		}
		if of, ok := d.(*pyBound); ok {
			p.runFunction(of.function, of.self, &pyCall{of: of, args: []pyValue{x}, module: x.module, line: line})
		}
		p.noteHook(d, x)
	case *pyClass:
		x.decorators = append(x.decorators, d)
		if of, ok := d.(*pyFunction); ok {
			p.runFunction(of, nil, &pyCall{of: of, args: []pyValue{x}, module: x.module, line: line})
		}
	}
}

// parameter is one of a function.
type pyParameter struct {
	name        string
	star        string
	note, value syntax.Node
}

// parameters are those of a definition or a lambda.
func pyParameters(def syntax.Node) []pyParameter {
	var out []pyParameter
	for c := range def.Child("parameters").Children() {
		switch c.Kind() {
		case "identifier":
			out = append(out, pyParameter{name: c.Text()})
		case "default_parameter", "typed_default_parameter":
			out = append(out, pyParameter{name: c.Child("name").Text(), note: c.Child("type"), value: c.Child("value")})
		case "typed_parameter":
			inner := c.First()
			q := pyParameter{name: inner.Text(), note: c.Child("type")}
			if inner.Is("list_splat_pattern", "dictionary_splat_pattern") {
				q.name, q.star = starred(inner)
			}
			out = append(out, q)
		case "list_splat_pattern", "dictionary_splat_pattern":
			name, star := starred(c)
			out = append(out, pyParameter{name: name, star: star})
		case "keyword_separator":
			out = append(out, pyParameter{star: "*"})
		}
	}
	return out
}

func starred(n syntax.Node) (name, star string) {
	if n.Is("dictionary_splat_pattern") {
		return n.First("identifier").Text(), "**"
	}
	return n.First("identifier").Text(), "*"
}

// runFunction executes a function of the tree with what a call gives it.
func (p *python) runFunction(fn *pyFunction, self pyValue, c *pyCall) pyValue {
	if p.calls >= maxCalls || fn.ran >= maxRuns || !p.spend() {
		return nil
	}
	p.calls++
	fn.ran++
	defer func() { p.calls-- }()
	f := &pyFrame{scope: newPyScope(fn.closure), module: fn.module, prefix: fn.name + ".", function: fn, class: fn.class, self: self}
	p.bindParameters(fn, self, c, f)
	if fn.node.Is("lambda") {
		return p.eval(fn.node.Child("body"), f)
	}
	p.block(fn.node.Child("body"), f)
	var result pyValue = pyNone{}
	for i, v := range f.returned {
		if _, empty := v.(pyNone); i == 0 || !empty && v != nil {
			result = v
		}
	}
	p.noteWraps(result, c)
	return result
}

// noteWraps ties a function inside of a decorator to the one that it stands for.
func (p *python) noteWraps(result pyValue, c *pyCall) {
	inner, ok := result.(*pyFunction)
	if !ok || inner.wraps != nil {
		return
	}
	for _, d := range inner.decorators {
		if w, ok := d.(*pyCall); ok && lastName(nameOf(w.of)) == "wraps" && len(w.args) == 1 {
			inner.wraps = &pyCall{of: c.of, args: []pyValue{w.args[0]}, module: c.module, line: c.line}
		}
	}
}

func (p *python) bindParameters(fn *pyFunction, self pyValue, c *pyCall, f *pyFrame) {
	args := c.args
	all := pyParameters(fn.node)
	if self != nil && fn.class != nil && !fn.isStatic() && len(all) > 0 {
		args = append([]pyValue{self}, args...)
	}
	outer := &pyFrame{scope: fn.closure, module: fn.module}
	taken := map[string]bool{}
	only := false // by keyword
	for _, q := range all {
		var v pyValue
		named, has := c.named[q.name]
		switch {
		case q.star == "*" && q.name == "":
			only = true
			continue
		case q.star == "*":
			v, args, only = &pySequence{args}, nil, true
		case q.star == "**":
			d := &pyDictionary{}
			for _, k := range c.names {
				if !taken[k] {
					d.set(k, c.named[k])
				}
			}
			v = d
		case has:
			v = named
			taken[q.name] = true
		case !only && len(args) > 0:
			v, args = args[0], args[1:]
		case q.value.Is():
			v = p.eval(q.value, outer)
		}
		f.scope.set(q.name, v)
	}
}

func (fn *pyFunction) isStatic() bool { return fn.decoratedBy("staticmethod") }

// decoratedBy reports whether a function has a decorator of one of some last names.
func (fn *pyFunction) decoratedBy(names ...string) bool {
	return slices.ContainsFunc(fn.decorators, func(d pyValue) bool { return slices.Contains(names, lastName(nameOf(d))) })
}
