package routes

import (
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

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
