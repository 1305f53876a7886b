package routes

import (
	"slices"
	"strings"
)

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
