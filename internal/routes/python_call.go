package routes

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

// callOf is what a call gives.
func (p *python) callOf(n syntax.Node, f *pyFrame) pyValue {
	fn := n.Child("function")
	if fn.Is("identifier") && fn.Text() == "super" && f.class != nil {
		return &pySuper{f.class, f.self}
	}
	c := &pyCall{of: p.eval(fn, f), named: map[string]pyValue{}, module: f.module, line: n.Line()}
	args := n.Child("arguments")
	if args.Is("generator_expression") {
		c.args = []pyValue{p.eval(args, f)}
		return p.apply(c)
	}
	for a := range args.Children() {
		if !a.Named() || a.Is("comment") || len(c.args) >= maxItems {
			continue
		}
		switch a.Kind() {
		case "keyword_argument":
			c.name(a.Child("name").Text(), p.eval(a.Child("value"), f))
		case "list_splat":
			c.args = append(c.args, itemsOf(p.eval(a.First(), f))...)
		case "dictionary_splat":
			splat := p.eval(a.First(), f)
			if s, ok := splat.(*pySent); ok {
				p.splatSent(s, c.of)
			}
			if d, ok := splat.(*pyDictionary); ok {
				for i, k := range d.keys {
					if s, ok := k.(string); ok {
						c.name(s, d.values[i])
					}
				}
			}
		default:
			c.args = append(c.args, p.eval(a, f))
		}
	}
	return p.apply(c)
}

func (c *pyCall) name(k string, v pyValue) {
	if _, ok := c.named[k]; !ok {
		c.names = append(c.names, k)
	}
	c.named[k] = v
}

// apply runs a call of what is of the tree, and keeps any other.
func (p *python) apply(c *pyCall) pyValue {
	switch of := c.of.(type) {
	case *pyFunction:
		return p.runFunction(of, nil, c)
	case *pyBound:
		return p.runFunction(of.function, of.self, c)
	case *pyClass:
		return p.instantiate(of, c)
	case *pyInstance:
		if fn, _ := of.class.own("__call__"); fn != nil {
			if fn, ok := fn.(*pyFunction); ok {
				return p.runFunction(fn, of, c)
			}
		}
	case *pyDeclaration: // app.get("/x")(f)
		if len(c.args) == 1 {
			p.declare(of, c.args[0])
			return c.args[0]
		}
	case *pyExternal:
		return p.callExternal(of, c)
	case *pySent: // request.get_json()
		return of
	case *pyMember:
		return p.callMember(of, c)
	}
	return c
}

// instantiate makes an object of a class of the tree.
func (p *python) instantiate(of *pyClass, c *pyCall) pyValue {
	if r := p.routerOf(of.externals(), c); r != nil {
		r.class = of
		p.runInit(of, r, c)
		return r
	}
	i := &pyInstance{class: of, attrs: map[string]pyValue{}, made: c}
	if p.trace != nil {
		for _, k := range c.names {
			p.assignSent(c.named[k], of, k)
		}
		if of.isForm() {
			p.loadSchema(&pySent{where: "form"}, of)
		}
	}
	if !p.runInit(of, i, c) {
		for k, v := range c.named {
			i.attrs[k] = v
		}
	}
	return i
}

func (p *python) runInit(of *pyClass, self pyValue, c *pyCall) bool {
	v, _ := of.own("__init__")
	fn, ok := v.(*pyFunction)
	if ok {
		p.runFunction(fn, self, c)
	}
	return ok
}

func (p *python) callExternal(of *pyExternal, c *pyCall) pyValue {
	if r := p.routerOf([]pyValue{of}, c); r != nil {
		return r
	}
	if len(c.args) > 0 && p.trace != nil {
		if s, ok := c.args[0].(*pySent); ok {
			return p.callWithSent(of, s, c)
		}
	}
	p.noteExternal(of, c)
	if lastName(of.name) == "DispatcherMiddleware" {
		return p.dispatcher(c)
	}
	switch of.name {
	case "builtins.str":
		if len(c.args) == 1 {
			switch c.args[0].(type) {
			case string:
				return c.args[0]
			}
		}
		return nil
	case "builtins.list", "builtins.tuple", "builtins.set", "builtins.sorted", "builtins.reversed":
		if len(c.args) == 0 {
			return &pySequence{}
		}
		if items, known := p.iterate(c.args[0]); known {
			return &pySequence{items}
		}
		return nil
	case "builtins.dict":
		d := &pyDictionary{}
		for _, k := range c.names {
			d.set(k, c.named[k])
		}
		return d
	case "builtins.getattr":
		return p.getattr(c)
	case "builtins.setattr":
		if name, ok := c.text(1); ok && len(c.args) == 3 {
			p.setMember(c.args[0], name, c.args[2])
		}
		return pyNone{}
	case "builtins.enumerate", "builtins.zip":
		return p.zip(of.name, c)
	case "os.getenv", "os.environ.get", "decouple.config", "environs.Env.str", "starlette.config.Config":
		return p.setting(c)
	case "importlib.import_module", "builtins.__import__", "werkzeug.utils.import_string":
		return p.importByName(c)
	case "pkgutil.iter_modules", "pkgutil.walk_packages", "werkzeug.utils.find_modules":
		p.dynamic = true
		return nil
	case "functools.lru_cache", "functools.cache":
		if len(c.args) == 1 {
			if fn, ok := c.args[0].(*pyFunction); ok {
				return fn
			}
		}
	case "functools.partial":
		if len(c.args) == 1 && len(c.named) == 0 {
			return c.args[0]
		}
	}
	return c
}

// setting is the default of what the environment may say.
func (p *python) setting(c *pyCall) pyValue {
	v, _ := c.arg(1, "default")
	if _, ok := v.(pyNone); ok {
		return nil
	}
	return v
}

func (p *python) importByName(c *pyCall) pyValue {
	name, ok := c.text(0, "name")
	if !ok {
		p.dynamic = true
		return nil
	}
	dots := len(name) - len(strings.TrimLeft(name, "."))
	if m := p.imported(c.module, strings.TrimLeft(name, "."), dots); m != nil {
		return m
	}
	return nil
}

func (p *python) getattr(c *pyCall) pyValue {
	name, ok := c.text(1)
	if !ok {
		return nil
	}
	v := p.attribute(c.args[0], name)
	if m, ok := v.(*pyMember); ok && len(c.args) == 3 && m.of != nil {
		if _, ok := m.of.(*pyRouter); !ok {
			return c.args[2]
		}
	}
	return v
}

func (p *python) zip(name string, c *pyCall) pyValue {
	var columns [][]pyValue
	for _, a := range c.args {
		items, known := p.iterate(a)
		if !known {
			return nil
		}
		columns = append(columns, items)
	}
	if len(columns) == 0 {
		return nil
	}
	out := &pySequence{}
	for i := range columns[0] {
		row := &pySequence{}
		if name == "builtins.enumerate" {
			row.items = append(row.items, int64(i))
		}
		for _, column := range columns {
			if i >= len(column) {
				return out
			}
			row.items = append(row.items, column[i])
		}
		out.items = append(out.items, row)
	}
	return out
}

// callMember calls a method of what is not of the tree: of a router, a text or a list.
func (p *python) callMember(m *pyMember, c *pyCall) pyValue {
	switch of := m.of.(type) {
	case *pyRouter:
		if v, ok := p.onRouter(of, m.name, c); ok {
			return v
		}
	case *pySuper:
		if i, ok := of.self.(*pyInstance); ok && m.name == "__init__" {
			i.super = c
		}
		return pyNone{}
	case string:
		return stringMethod(of, m.name, c)
	case *pySent:
		return p.callSent(of, m.name, c)
	case *pyClass, *pyInstance:
		if p.callSchema(of, m.name, c) {
			return nil
		}
	case *pyCall:
		if m.name == "add_argument" && len(p.parsers[of]) < maxItems {
			p.parsers[of] = append(p.parsers[of], c)
		}
		if p.callSchema(of, m.name, c) {
			return nil
		}
	case *pySequence:
		return sequenceMethod(of, m.name, c)
	case *pyDictionary:
		return dictionaryMethod(of, m.name, c)
	}
	p.noteGiven(m, c)
	p.noteRequest(m, c)
	if v, ok := p.callOfTable(m, c); ok {
		return v
	}
	return c
}

// callWithSent is a call of a function of a package with a part of a request.
func (p *python) callWithSent(of *pyExternal, s *pySent, c *pyCall) pyValue {
	switch lastName(of.name) {
	case "int", "float", "bool", "str", "list", "Decimal":
		p.castSent(s, lastName(of.name))
		return s
	case "dict", "loads", "MultiDict", "ImmutableMultiDict", "EasyDict", "CombinedMultiDict", "escape", "deepcopy", "copy":
		return s
	case "validate":
		if v, ok := c.arg(1, "schema"); ok {
			p.loadSchema(s, v)
		}
	}
	return c
}

// callSchema is schema.load(data) and Model.parse_obj(data), also parser.parse_args(); false
// for any other method.
func (p *python) callSchema(of pyValue, name string, c *pyCall) bool {
	if p.trace == nil {
		return false
	}
	switch name {
	case "load", "loads", "validate", "parse_obj", "model_validate", "model_validate_json", "parse_raw", "from_dict", "validate_python", "model_construct", "construct":
		v, _ := c.arg(0, "data", "obj", "json_data")
		s, ok := v.(*pySent)
		return ok && p.loadSchema(s, of)
	case "parse_args":
		if x, ok := of.(*pyCall); ok && p.parsers[x] != nil {
			p.readParser(x)
			return true
		}
	}
	return false
}

// readParser notes the arguments of a RequestParser.
func (p *python) readParser(of *pyCall) {
	for _, a := range p.parsers[of] {
		f := p.parserField(a)
		where := p.trace.plain
		location, _ := a.text(-1, "location")
		if names := namesOf(a.named["location"]); len(names) > 0 {
			location = names[0]
		}
		switch location {
		case "args", "values":
			where = "query"
			if location == "values" {
				where = p.trace.plain
			}
		case "json":
			where = "json"
		case "form", "files":
			where = "form"
		case "headers":
			if strings.EqualFold(f.Name, "authorization") {
				p.trace.needs("required")
			}
			continue
		}
		n := p.trace.node((&pySent{where: where}).step(f.Name))
		n.field = f
	}
}

// callOfTable is a method of an object that a query of a class gives: its class is known.
func (p *python) callOfTable(m *pyMember, c *pyCall) (pyValue, bool) {
	if p.trace == nil || !slices.ContainsFunc(c.args, isSent) {
		return nil, false
	}
	of := rootClass(m.of)
	if of == nil {
		return nil, false
	}
	v, _ := of.own(m.name)
	fn, ok := v.(*pyFunction)
	if !ok {
		return nil, false
	}
	return p.runFunction(fn, &pyInstance{class: of, attrs: map[string]pyValue{}}, c), true
}

func isSent(v pyValue) bool {
	_, ok := v.(*pySent)
	return ok
}

// rootClass is the class that a chain of calls begins with: User of User.query.get(1), and
// of session.get(User, 1).
func rootClass(v pyValue) *pyClass {
	for range maxBases {
		switch x := v.(type) {
		case *pyClass:
			return x
		case *pyMember:
			v = x.of
		case *pyIndexed:
			v = x.of
		case *pyCall:
			for _, a := range x.args {
				if c, ok := a.(*pyClass); ok && c.isTable() {
					return c
				}
			}
			v = x.of
		default:
			return nil
		}
	}
	return nil
}

// noteExternal notes calls that ask who is calling.
func (p *python) noteExternal(of *pyExternal, c *pyCall) {
	if p.trace == nil {
		return
	}
	switch lastName(of.name) {
	case "verify_jwt_in_request", "verify_fresh_jwt_in_request":
		if optional, _ := c.named["optional"].(bool); optional {
			p.trace.needs("optional")
			return
		}
		p.trace.needs("required")
	case "verify_jwt_in_request_optional":
		p.trace.needs("optional")
	}
}

func stringMethod(s, name string, c *pyCall) pyValue {
	cut, _ := c.text(0)
	switch name {
	case "lower":
		return strings.ToLower(s)
	case "upper":
		return strings.ToUpper(s)
	case "strip", "rstrip", "lstrip":
		if cut == "" {
			cut = " \t\n"
		}
		switch name {
		case "rstrip":
			return strings.TrimRight(s, cut)
		case "lstrip":
			return strings.TrimLeft(s, cut)
		}
		return strings.Trim(s, cut)
	case "replace":
		to, ok := c.text(1)
		if ok && cut != "" && len(s)*(len(to)+1) < maxText {
			return strings.ReplaceAll(s, cut, to)
		}
	case "removeprefix":
		return strings.TrimPrefix(s, cut)
	case "removesuffix":
		return strings.TrimSuffix(s, cut)
	case "startswith":
		return strings.HasPrefix(s, cut)
	case "endswith":
		return strings.HasSuffix(s, cut)
	case "split":
		if cut != "" {
			out := &pySequence{}
			for part := range strings.SplitSeq(s, cut) {
				out.items = append(out.items, part)
			}
			return out
		}
	case "join":
		var parts []string
		if len(c.args) != 1 {
			return nil
		}
		seq, ok := c.args[0].(*pySequence)
		if !ok {
			return nil
		}
		for _, i := range seq.items {
			part, ok := i.(string)
			if !ok {
				return nil
			}
			parts = append(parts, part)
		}
		if out := strings.Join(parts, s); len(out) < maxText {
			return out
		}
	case "format":
		return formatText(s, c)
	}
	return nil
}

// format fills {} and {name}.
func formatText(s string, c *pyCall) pyValue {
	for _, a := range c.args {
		text, ok := a.(string)
		if !ok || !strings.Contains(s, "{}") {
			return nil
		}
		s = strings.Replace(s, "{}", text, 1)
	}
	for _, k := range c.names {
		text, ok := c.named[k].(string)
		if !ok {
			return nil
		}
		if s = strings.ReplaceAll(s, "{"+k+"}", text); len(s) > maxText {
			return nil
		}
	}
	return s
}

func sequenceMethod(s *pySequence, name string, c *pyCall) pyValue {
	if len(s.items) > maxItems {
		return nil
	}
	switch {
	case (name == "append" || name == "add") && len(c.args) == 1:
		s.items = append(s.items, c.args[0])
	case name == "extend" && len(c.args) == 1:
		s.items = append(s.items, itemsOf(c.args[0])...)
	case name == "insert" && len(c.args) == 2:
		s.items = append([]pyValue{c.args[1]}, s.items...)
	case name == "copy":
		return &pySequence{slices.Clone(s.items)}
	}
	return pyNone{}
}

func dictionaryMethod(d *pyDictionary, name string, c *pyCall) pyValue {
	switch name {
	case "get", "pop", "setdefault":
		if len(c.args) == 0 {
			return nil
		}
		if v, ok := d.get(c.args[0]); ok {
			return v
		}
		if len(c.args) > 1 {
			return c.args[1]
		}
		return pyNone{}
	case "keys":
		return &pySequence{slices.Clone(d.keys)}
	case "values":
		return &pySequence{slices.Clone(d.values)}
	case "items":
		out := &pySequence{}
		for i, k := range d.keys {
			out.items = append(out.items, &pySequence{[]pyValue{k, d.values[i]}})
		}
		return out
	case "update":
		for _, k := range c.names {
			d.set(k, c.named[k])
		}
		if len(c.args) == 1 {
			if other, ok := c.args[0].(*pyDictionary); ok {
				for i, k := range other.keys {
					d.set(k, other.values[i])
				}
			}
		}
	}
	return pyNone{}
}

// uniqueText is the one string that attributes of a name are given anywhere in the tree.
func (p *python) uniqueText(name string) (string, bool) {
	if p.strings == nil {
		p.strings = map[string][]string{}
		for _, m := range p.sorted() {
			if m.tree == nil {
				continue
			}
			for n := range m.tree.All() {
				if n.Is("assignment") {
					p.noteText(m, n)
				}
			}
		}
	}
	found := p.strings[name]
	if len(found) != 1 {
		return "", false
	}
	return found[0], true
}

func (p *python) noteText(m *pyModule, n syntax.Node) {
	right := n.Child("right")
	if !right.Is("string", "concatenated_string") {
		return
	}
	name := lastName(n.Child("left").Text())
	if s, ok := p.eval(right, &pyFrame{scope: m.scope, module: m}).(string); ok && !slices.Contains(p.strings[name], s) {
		p.strings[name] = append(p.strings[name], s)
	}
}

// textOf is a value that is a string, or an attribute whose name has one string in the tree.
func (p *python) textOf(v pyValue) (string, bool) {
	switch x := v.(type) {
	case string:
		return x, true
	case *pyMember:
		if _, ok := x.of.(*pyRouter); !ok {
			return p.uniqueText(x.name)
		}
	case *pyInstance:
		s, ok := x.attrs["value"].(string)
		return s, ok
	}
	return "", false
}
