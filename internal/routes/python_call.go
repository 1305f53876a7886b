package routes

import (
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
