package routes

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// flaskRequest reads what a route of Flask takes.
func (b *bodies) flaskRequest(route *Route, r pyResolved, a pyAnswer) {
	plain := "json"
	if route.Method == "GET" || route.Method == "HEAD" {
		plain = "query"
	}
	t := newTrace(plain)
	before := b.trace
	b.trace = t
	auth := newTrace(plain)
	for _, d := range a.decorators {
		b.flaskDecorator(d, plain)
		auth.needs(authOf(d))
	}
	if c, ok := optionsOf(r); ok {
		auth.needs(authOf(c))
	}
	for _, g := range r.guards {
		auth.needs(b.guardOf(g))
	}
	b.trace = before
	if fn := a.function; fn != nil {
		b.byAnnotation(t, fn)
		b.addTrace(t, b.traced(fn, nil, plain))
		b.requiredBy(t, fn)
		auth.needs(t.auth)
		if text := fn.node.Text(); sessions.MatchString(text) && refusals.MatchString(text) {
			auth.needs("required")
		}
	}
	route.Auth = auth.auth
	b.placeParts(route, t)
}

func optionsOf(r pyResolved) (*pyCall, bool) {
	if r.options == nil {
		return nil, false
	}
	d, ok := r.options.named["decorators"].(*pySequence)
	if !ok || len(d.items) == 0 {
		return nil, false
	}
	c, ok := d.items[0].(*pyCall)
	return c, ok
}

// placeParts makes the query and the body of a route of what was read.
func (b *bodies) placeParts(route *Route, t *pyTrace) {
	query, form, json := fieldsOf(t.parts["query"]), fieldsOf(t.parts["form"]), fieldsOf(t.parts["json"])
	for _, f := range fieldsOf(t.parts["values"]) {
		if route.Method == "GET" {
			query = merged(query, f)
		} else {
			form = merged(form, f)
		}
	}
	query = slices.DeleteFunc(query, func(f Field) bool {
		return slices.ContainsFunc(route.Params, func(q Field) bool { return q.Name == f.Name })
	})
	route.Query = query
	switch {
	case route.Method == "GET":
	case len(json) > 0:
		route.Body = &Body{Encoding: "json", Fields: json, Type: t.types["json"]}
	case len(form) > 0:
		route.Body = &Body{Encoding: "form", Fields: form, Type: t.types["form"]}
	}
}

// addTrace adds what another run read, where nothing better is known.
func (b *bodies) addTrace(t, other *pyTrace) {
	t.needs(other.auth)
	for where, n := range other.parts {
		if t.parts[where] == nil || where == "query" && !t.parts[where].schema {
			t.parts[where] = n
			t.types[where] = other.types[where]
		}
	}
}

// readers are decorators that read a request by a schema.
var readers = []string{"use_kwargs", "use_args", "arguments", "input", "body", "validate_json", "validate_schema", "expects_json", "use_schema", "json_schema", "validate_body", "request_schema", "validate_with", "parse_with", "accepts", "expect", "doc", "form", "query", "params"}

// flaskDecorator reads a decorator that reads a request.
func (b *bodies) flaskDecorator(d pyValue, plain string) {
	c, ok := d.(*pyCall)
	if !ok {
		return
	}
	name := lastName(nameOf(c.of))
	if m, ok := c.of.(*pyMember); ok {
		name = m.name
	}
	if name == "validate" || name == "accepts" { // flask-pydantic, flask_accepts
		for where, arg := range map[string]string{"json": "body", "query": "query", "form": "form"} {
			if v, ok := c.named[arg]; ok {
				b.loadSchema(&pySent{where: where}, v)
			}
		}
		if v, ok := c.named["schema"]; ok {
			b.loadSchema(&pySent{where: plain}, v)
		}
	}
	if !slices.Contains(readers, name) {
		return
	}
	schema, ok := c.arg(0, "args", "schema", "argmap", "schema_class")
	if !ok {
		return
	}
	if s, ok := schema.(*pySequence); ok && len(s.items) == 1 && name == "expect" {
		schema = s
	}
	if of, ok := schema.(*pyCall); ok && b.parsers[of] != nil {
		b.readParser(of)
		return
	}
	b.loadSchema(&pySent{where: locationOf(c, name, plain)}, schema)
}

// locationOf is where a decorator looks.
func locationOf(c *pyCall, name, plain string) string {
	location, _ := c.text(-1, "location")
	if names := namesOf(c.named["locations"]); len(names) > 0 {
		location = names[0]
	}
	switch location {
	case "json", "json_or_form":
		return "json"
	case "query", "querystring", "view_args":
		return "query"
	case "form", "files", "form_and_files":
		return "form"
	case "headers", "cookies", "path":
		return "header"
	}
	switch name {
	case "query", "params":
		return "query"
	case "form":
		return "form"
	}
	return plain
}

// byAnnotation reads parameters body, query and form of the type of a model (flask-openapi3,
// flask-pydantic).
func (b *bodies) byAnnotation(t *pyTrace, fn *pyFunction) {
	places := map[string]string{"body": "json", "query": "query", "form": "form"}
	before := b.trace
	b.trace = t
	for _, q := range pyParameters(fn.node) {
		if where := places[q.name]; where != "" && q.note.Is() {
			v := b.eval(q.note, &pyFrame{scope: fn.closure, module: fn.module})
			if c, ok := v.(*pyClass); ok && c.isModel() {
				b.loadSchema(&pySent{where: where}, c)
			}
		}
	}
	b.trace = before
}

// requiredBy says that a field is required that a handler takes by name and without a default.
func (b *bodies) requiredBy(t *pyTrace, fn *pyFunction) {
	for _, where := range []string{"json", "form", "query"} {
		n := t.parts[where]
		for n != nil && !n.schema && len(n.below) == 1 { // an envelope
			n = n.below[0]
		}
		if n == nil || !n.schema {
			continue
		}
		for _, q := range pyParameters(fn.node) {
			for i := range n.field.Fields {
				if n.field.Fields[i].Name == q.name && !q.value.Is() && q.star == "" {
					n.field.Fields[i].Required = true
				}
			}
		}
	}
}

var (
	guardNames = lazyregexp.New(`(?i)^(\w+_)?(required|accepted|only)$|^(requires?|check|verify|needs?|has|ensure|validate)_?(auth|login|token|jwt|user|admin|api_?key|permission|role|scope|access)|^(authenticated?|protected|secured?|authori[sz]ed?|authed|require_\w+|with_auth|permission\w*|admin|private)$`)
	guardWords = lazyregexp.New(`(?i)login|auth|token|jwt|user|admin|api_?key|permission|role|scope|session|member|staff|super|owner|access|require_|protected|secure|private`)
	guardBody  = lazyregexp.New(`\b40[13]\b|(?i:unauthori[sz]ed|authorization|is_authenticated|verify_jwt|not_logged|login)`)
	sessions   = lazyregexp.New(`\bnot (?:\w+\.)?session\b|(?:current_user|g\.user)\b`)
	refusals   = lazyregexp.New(`abort\(\s*40[13]`)
	exempts    = lazyregexp.New(`request\.(path|endpoint|url|url_rule|blueprint|full_path|method)`)
)

// authOf is what a decorator asks of who is calling.
func authOf(d pyValue) string {
	name := lastName(nameOf(d))
	if m, ok := d.(*pyMember); ok {
		name = m.name
	}
	lower := strings.ToLower(name)
	var call *pyCall
	if c, ok := d.(*pyCall); ok {
		call = c
		if m, ok := c.of.(*pyMember); ok {
			name = m.name
			lower = strings.ToLower(name)
		}
	}
	named := guardNames.MatchString(name) && guardWords.MatchString(name)
	if strings.Contains(lower, "optional") && guardWords.MatchString(name) {
		return "optional"
	}
	if call != nil && named {
		if v, ok := call.named["optional"].(bool); ok && v {
			return "optional"
		}
		if v, ok := call.arg(0); ok && v == pyValue(false) {
			return "optional"
		}
	}
	if named || slices.ContainsFunc(strings.Split(nameOf(d), "."), func(part string) bool {
		return guardNames.MatchString(part) && guardWords.MatchString(part) && part != "admin" && part != "auth"
	}) {
		return "required"
	}
	if text := textOfGuard(d); text != "" && guardBody.MatchString(text) && guardWords.MatchString(name) {
		return "required"
	}
	return ""
}

// textOfGuard is the source of a decorator of the tree.
func textOfGuard(d pyValue) string {
	switch x := d.(type) {
	case *pyFunction:
		return x.node.Text()
	case *pyBound:
		return x.function.node.Text()
	case *pyCall:
		return textOfGuard(x.of)
	}
	return ""
}

// guardOf is what a function that runs before each request asks.
func (b *bodies) guardOf(v pyValue) string {
	if fn, ok := v.(*pyFunction); ok {
		for _, d := range fn.decorators {
			if auth := authOf(d); auth != "" {
				return auth
			}
		}
		text := fn.node.Text()
		if exempts.MatchString(text) || !guardBody.MatchString(text) {
			return ""
		}
		return "required"
	}
	return authOf(v)
}
