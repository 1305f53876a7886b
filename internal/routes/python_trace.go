package routes

import (
	"slices"
	"strings"
)

// pySent is a part of a request: what a handler reads of it is noted.
type pySent struct {
	where string // json, form, query, header
	path  []string
}

// item is the step of a path into a list.
const item = "[]"

// sentNode is a part of a request that a handler reads.
type sentNode struct {
	field    Field
	below    []*sentNode
	items    *sentNode
	optional bool // it is looked for before it is read
	needed   bool // a request without it is refused
	schema   bool // its fields are those of a schema
}

// pyTrace is what the run of a handler reads of a request.
type pyTrace struct {
	parts map[string]*sentNode // by where
	types map[string]string    // names of schemas, by where
	auth  string
	plain string // where a parser looks that does not say it: json, query
}

func newTrace(plain string) *pyTrace {
	return &pyTrace{parts: map[string]*sentNode{}, types: map[string]string{}, plain: plain}
}

// node is the part at a path, made where it is not there.
func (t *pyTrace) node(s *pySent) *sentNode {
	n := t.parts[s.where]
	if n == nil {
		n = &sentNode{}
		t.parts[s.where] = n
	}
	for _, step := range s.path {
		if step == item {
			if n.items == nil {
				n.items = &sentNode{}
			}
			n = n.items
			continue
		}
		i := slices.IndexFunc(n.below, func(b *sentNode) bool { return b.field.Name == step })
		if i < 0 {
			if len(n.below) >= maxItems {
				return &sentNode{}
			}
			i = len(n.below)
			n.below = append(n.below, &sentNode{field: Field{Name: step}})
		}
		n = n.below[i]
	}
	return n
}

// fieldOf makes a field of what was read.
func (n *sentNode) fieldOf() Field {
	f := n.field
	if len(n.below) > 0 {
		f.Type = "object"
		for _, b := range n.below {
			f.Fields = merged(f.Fields, b.fieldOf())
		}
	}
	if n.items != nil && len(n.below) == 0 {
		inner := n.items.fieldOf()
		inner.Required = true
		f.Type, f.Items = "array", &inner
	}
	if n.optional || n.needed {
		f.Required = n.needed
	}
	return f
}

// merged adds a field to others, once.
func merged(all []Field, f Field) []Field {
	for i := range all {
		if all[i].Name != f.Name {
			continue
		}
		if all[i].Type == "" {
			f.Required = f.Required || all[i].Required
			all[i] = f
		}
		return all
	}
	return append(all, f)
}

// step is a part of a part.
func (s *pySent) step(name string) *pySent {
	return &pySent{s.where, append(slices.Clone(s.path), name)}
}

// sentBy is the part of a request that an attribute of Flask's request is.
func sentBy(name string) *pySent {
	switch name {
	case "json", "get_json", "data", "get_data":
		return &pySent{where: "json"}
	case "form":
		return &pySent{where: "form"}
	case "values":
		return &pySent{where: "values"}
	case "args", "query_params":
		return &pySent{where: "query"}
	case "headers":
		return &pySent{where: "header"}
	}
	return nil
}

// ofRequest is an attribute of a request; false where it is none that is followed.
func (p *python) ofRequest(name string) (pyValue, bool) {
	if p.trace == nil {
		return nil, false
	}
	if name == "authorization" {
		p.trace.needs("required")
		return nil, true
	}
	if s := sentBy(name); s != nil {
		return s, true
	}
	return nil, false
}

// needs notes that who is calling is asked for.
func (t *pyTrace) needs(auth string) {
	if t.auth != "required" && auth != "" {
		t.auth = auth
	}
}

// indexSent is data["x"] or data[0].
func (p *python) indexSent(s *pySent, keys []pyValue) pyValue {
	if len(keys) != 1 || p.trace == nil || len(s.path) > maxBases {
		return nil
	}
	switch k := keys[0].(type) {
	case string:
		if s.where == "header" {
			if strings.EqualFold(k, "authorization") {
				p.trace.needs("required")
			}
			return nil
		}
		inner := s.step(k)
		p.trace.node(inner).field.Required = true
		return inner
	case int64:
		return s.step(item)
	}
	return nil
}

// callSent is a method of a part of a request.
func (p *python) callSent(s *pySent, name string, c *pyCall) pyValue {
	if p.trace == nil {
		return nil
	}
	switch name {
	case "get", "pop", "getlist", "setdefault":
		return p.getSent(s, name, c)
	case "to_dict", "copy", "dict", "json", "form", "body", "decode":
		return s
	case "strip", "lower", "upper", "split", "encode", "replace", "lstrip", "rstrip", "startswith", "title":
		if n := p.trace.node(s); len(s.path) > 0 && n.field.Type == "" {
			n.field.Type = "string"
		}
		if name == "split" || name == "startswith" {
			return nil
		}
		return s
	}
	return nil
}

func (p *python) getSent(s *pySent, name string, c *pyCall) pyValue {
	key, ok := c.text(0, "key")
	if !ok || len(s.path) > maxBases {
		return nil
	}
	if s.where == "header" {
		if strings.EqualFold(key, "authorization") {
			p.trace.needs("required")
		}
		return nil
	}
	inner := s.step(key)
	n := p.trace.node(inner)
	otherwise, has := c.arg(1, "default")
	if _, empty := otherwise.(pyNone); !has || empty {
		n.field.Required = s.where != "query"
	} else {
		n.optional = true
		setExample(&n.field, otherwise)
	}
	if of, ok := c.named["type"]; ok {
		if f := p.typeField(of, 0); f.Type != "" {
			n.field.Type = f.Type
		}
	}
	if name == "getlist" {
		return &pySequence{[]pyValue{inner.step(item)}}
	}
	return inner
}

// setExample takes a plain value as the example of a field, and its type where none is known.
func setExample(f *Field, v pyValue) {
	plain, ok := plainOf(v, 0)
	if !ok {
		return
	}
	if f.Type == "" {
		f.Type = typeOfPlain(plain)
	}
	if plain != "" && plain != nil {
		f.Example = plain
	}
}

func typeOfPlain(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case int64:
		return "integer"
	case float64:
		return "number"
	case bool:
		return "boolean"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return ""
}

// plainOf is a value as JSON has it.
func plainOf(v pyValue, depth int) (any, bool) {
	if depth > maxBases {
		return nil, false
	}
	switch x := v.(type) {
	case string, int64, float64, bool:
		return x, true
	case pyNone:
		return nil, true
	case *pySequence:
		out := []any{}
		for _, i := range x.items {
			if plain, ok := plainOf(i, depth+1); ok {
				out = append(out, plain)
			}
		}
		return out, len(out) == len(x.items)
	case *pyDictionary:
		out := map[string]any{}
		for i, k := range x.keys {
			name, ok := k.(string)
			plain, known := plainOf(x.values[i], depth+1)
			if !ok || !known {
				return nil, false
			}
			out[name] = plain
		}
		return out, true
	case *pyInstance:
		if x.class.isEnum() {
			return plainOf(x.attrs["value"], depth+1)
		}
	}
	return nil, false
}

// containsSent is "x" in data.
func (p *python) containsSent(key pyValue, s *pySent, not bool) {
	k, ok := key.(string)
	if !ok || p.trace == nil || s.where == "header" {
		return
	}
	n := p.trace.node(s.step(k))
	if not {
		n.needed = true
	} else {
		n.optional = true
	}
}

// castSent is int(data["x"]).
func (p *python) castSent(s *pySent, name string) {
	if p.trace == nil || len(s.path) == 0 {
		return
	}
	types := map[string]string{"int": "integer", "float": "number", "bool": "boolean", "str": "string", "list": "array", "Decimal": "number"}
	if n := p.trace.node(s); n.field.Type == "" {
		n.field.Type = types[name]
	}
}

// loadSchema notes that a part of a request is read by a schema.
func (p *python) loadSchema(s *pySent, schema pyValue) bool {
	all, name, ok := p.schemaFields(schema, 0)
	if !ok || p.trace == nil || s.where == "header" {
		return false
	}
	s = p.envelope(schema, s)
	n := p.trace.node(s)
	if !n.schema {
		n.schema = true
		if isMany(schema) {
			n.items = &sentNode{field: Field{Type: "object", Fields: all, Required: true}}
		} else {
			n.field.Fields = append(n.field.Fields, all...)
			n.field.Type = "object"
		}
	}
	n.field.Required = true
	if p.trace.types[s.where] == "" {
		p.trace.types[s.where] = name
	}
	return true
}

// envelope runs what a schema does before it reads: it may read a part only.
func (p *python) envelope(schema pyValue, s *pySent) *pySent {
	of, self := classOfSchema(schema)
	if of == nil {
		return s
	}
	for _, c := range of.line() {
		for _, name := range sortedNames(c.scope.vars) {
			fn, ok := c.scope.vars[name].(*pyFunction)
			if !ok || !fn.decoratedBy("pre_load") {
				continue
			}
			result := p.runFunction(fn, self, &pyCall{of: fn, args: []pyValue{s}, module: fn.module})
			inner, ok := result.(*pySent)
			if ok && inner.where == s.where && len(inner.path) > len(s.path) {
				n := p.trace.node(s)
				n.below = slices.DeleteFunc(n.below, func(b *sentNode) bool { return b.field.Name != inner.path[len(s.path)] })
				p.trace.node(inner).below = nil
				return inner
			}
		}
	}
	return s
}

func classOfSchema(v pyValue) (*pyClass, pyValue) {
	switch x := v.(type) {
	case *pyClass:
		return x, &pyInstance{class: x, attrs: map[string]pyValue{}}
	case *pyInstance:
		return x.class, x
	}
	return nil, nil
}

// isMany reports whether a schema is of a list.
func isMany(v pyValue) bool {
	switch x := v.(type) {
	case *pyInstance:
		if x.made != nil {
			many, _ := x.made.named["many"].(bool)
			return many
		}
	case *pySequence:
		return true
	}
	return false
}

// splatSent is Model(**data): the fields of the class are those of the part.
func (p *python) splatSent(s *pySent, of pyValue) {
	if c, ok := of.(*pyClass); ok && p.trace != nil {
		if c.isModel() || c.isTable() {
			p.loadSchema(s, c)
		}
	}
}

// assignSent is user.email = data["email"], and User(email=data["email"]): the type of a
// column is that of what is sent.
func (p *python) assignSent(v pyValue, c *pyClass, name string) {
	s, ok := v.(*pySent)
	if !ok || p.trace == nil || len(s.path) == 0 || !c.isTable() && !c.isModel() {
		return
	}
	n := p.trace.node(s)
	if n.field.Type != "" || len(n.below) > 0 {
		return
	}
	all, _, _ := p.schemaFields(c, 1)
	if i := slices.IndexFunc(all, func(f Field) bool { return f.Name == name }); i >= 0 {
		f := all[i]
		f.Name, f.Required = n.field.Name, n.field.Required
		n.field = f
	}
}

// runHandler runs a function for what it reads of a request.
func (p *python) runHandler(fn *pyFunction, given map[string]pyValue) {
	if p.handled > maxHandled {
		return
	}
	before, dynamic := p.steps, p.dynamic
	p.steps = maxSteps - maxHandler
	defer func() {
		p.handled += p.steps - (maxSteps - maxHandler)
		p.steps, p.dynamic = before, dynamic
	}()
	c := &pyCall{of: fn, named: given, module: fn.module, line: fn.node.Line()}
	var self pyValue
	if fn.class != nil {
		self = &pyInstance{class: fn.class, attrs: map[string]pyValue{}}
	}
	fn.ran = 0
	p.runFunction(fn, self, c)
}
