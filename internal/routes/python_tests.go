package routes

import (
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/syntax"
)

// anyText stands in a text for what is not known.
const anyText = "\x00"

// maxTests bounds the steps of the tests of a tree.
const maxTests = 3_000_000

// pyRequest is one that a test sends.
type pyRequest struct {
	method, url string
	endpoint    string // of url_for
	body        *pyDictionary
	form        bool
	query       *pyDictionary
}

// wild is a placeholder for what is not known beside a text.
func wild(v, beside pyValue) pyValue {
	if _, ok := beside.(string); ok {
		if _, ok := v.(string); !ok {
			return anyText
		}
	}
	return v
}

// examples are the requests of the tests of a tree.
type examples struct {
	*python
	requests []pyRequest
	of       map[string]string // names of endpoints, by the place of the declaration
}

// newExamples runs the tests of a tree for what they send: calls of a client with a literal.
func newExamples(p *python, all []pyResolved) *examples {
	e := &examples{python: p, of: map[string]string{}}
	if len(all) == 0 {
		return e
	}
	for _, r := range all {
		name := r.endpoint
		if name == "" {
			name = lastName(nameOf(r.handler))
		}
		e.of[r.at] = strings.Join(append(slices.Clone(r.names), name), ".")
	}
	p.runTests()
	e.requests = p.tests
	return e
}

// runTests executes the functions of test files, with what their fixtures give.
func (p *python) runTests() {
	var files []*pyModule
	for _, at := range p.tree.Paths() {
		if path.Ext(at) != ".py" || !isTestOf(at) || len(files) >= maxModules || p.modules[at] != nil {
			continue
		}
		m := &pyModule{path: at, dir: path.Dir(at), scope: newPyScope(nil)}
		p.modules[at] = m
		for dir := m.dir; !p.folders[dir]; dir = path.Dir(dir) {
			p.folders[dir] = true
		}
		files = append(files, m)
	}
	p.where = map[string]string{}
	before, unread, dynamic := p.steps, p.unread, p.dynamic
	p.steps, p.testing = maxSteps-maxTests, true
	defer func() { p.steps, p.unread, p.dynamic, p.testing = before, unread, dynamic, false }()
	for _, m := range files {
		p.parse(m)
	}
	for _, m := range files {
		p.execute(m)
	}
	for _, m := range files {
		p.runTestsOf(m)
	}
}

// isTestOf reports whether a path is of the tests of a tree, and not of code of others.
func isTestOf(at string) bool {
	if !aside(at) || isForeign(at) {
		return false
	}
	for s := range strings.SplitSeq(at, "/") {
		switch s {
		case "env", "vendor", "docs", "doc", "examples":
			return false
		}
	}
	return true
}

func (p *python) runTestsOf(m *pyModule) {
	if m.tree == nil {
		return
	}
	for _, name := range sourceOrder(m) {
		switch v := m.scope.vars[name].(type) {
		case *pyFunction:
			if strings.HasPrefix(name, "test") && v.module == m {
				p.runTest(v, nil)
			}
		case *pyClass:
			if v.module == m {
				p.runTestClass(v)
			}
		}
	}
}

// sourceOrder are the names of the functions and classes of a module in order.
func sourceOrder(m *pyModule) []string {
	var out []string
	for n := range m.tree.Root().Children() {
		out = append(out, nameOfDefinition(n)...)
	}
	return out
}

func nameOfDefinition(n syntax.Node) []string {
	if n.Is("decorated_definition") {
		n = n.Child("definition")
	}
	if n.Is("function_definition", "class_definition") {
		return []string{n.Child("name").Text()}
	}
	return nil
}

func (p *python) runTestClass(c *pyClass) {
	self := &pyInstance{class: c, attrs: map[string]pyValue{}}
	for _, name := range []string{"setUpClass", "setUp", "setup_method", "asyncSetUp"} {
		if v, _ := c.own(name); v != nil {
			if fn, ok := v.(*pyFunction); ok {
				p.runTest(fn, self)
			}
		}
	}
	for s := range c.node.Child("body").Children() {
		for _, name := range nameOfDefinition(s) {
			if fn, ok := c.scope.vars[name].(*pyFunction); ok && strings.HasPrefix(name, "test") {
				p.runTest(fn, self)
			}
		}
	}
}

// runTest runs one test. A parameter is what the fixture of its name gives.
func (p *python) runTest(fn *pyFunction, self pyValue) {
	c := &pyCall{of: fn, named: map[string]pyValue{}, module: fn.module, line: fn.node.Line()}
	for _, q := range pyParameters(fn.node) {
		if f := p.fixture(fn.module, q.name); f != nil && q.star == "" {
			c.named[q.name] = p.runFunction(f, nil, &pyCall{of: f, named: map[string]pyValue{}, module: f.module})
		}
	}
	p.runFunction(fn, self, c)
}

// fixture is that of a name in a module, or in the conftest.py of a folder above.
func (p *python) fixture(m *pyModule, name string) *pyFunction {
	is := func(m *pyModule) *pyFunction {
		if m == nil {
			return nil
		}
		fn, ok := m.scope.vars[name].(*pyFunction)
		if ok && fn.decoratedBy("fixture") {
			return fn
		}
		return nil
	}
	if fn := is(m); fn != nil {
		return fn
	}
	for dir := m.dir; ; dir = path.Dir(dir) {
		if fn := is(p.modules[path.Join(dir, "conftest.py")]); fn != nil {
			return fn
		}
		if dir == "." || dir == "/" {
			return nil
		}
	}
}

// noteRequest notes what a client of a test sends.
func (p *python) noteRequest(m *pyMember, c *pyCall) {
	if !p.testing || len(p.tests) >= maxRoutes {
		return
	}
	method, isJSON := strings.CutSuffix(m.name, "_json")
	method = strings.ToUpper(method)
	place := 0
	if m.name == "request" || m.name == "open" {
		if s, ok := c.text(0, "method"); ok {
			method, place = strings.ToUpper(s), 1
		}
	}
	if !slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, method) {
		return
	}
	r := pyRequest{method: method}
	to, _ := c.arg(place, "url", "path")
	switch x := to.(type) {
	case string:
		r.url = x
	case *pyCall:
		if name := lastName(nameOf(x.of)); name == "url_for" || name == "url_path_for" {
			r.endpoint, _ = x.text(0, "endpoint", "name")
		}
	}
	if r.url == "" && r.endpoint == "" {
		return
	}
	r.body, r.form = sentOf(c, place, isJSON)
	r.query, _ = mustDictionary(c.arg(-1, "params", "query_string"))
	if r.body != nil || r.query != nil {
		p.tests = append(p.tests, r)
	}
}

func mustDictionary(v pyValue, _ bool) (*pyDictionary, bool) {
	d, ok := v.(*pyDictionary)
	return d, ok
}

// sentOf is the body of a call of a client.
func sentOf(c *pyCall, place int, isJSON bool) (d *pyDictionary, form bool) {
	if v, ok := c.named["json"]; ok {
		d, _ = v.(*pyDictionary)
		return d, false
	}
	n := place + 1
	if isJSON {
		v, _ := c.arg(n, "params")
		d, _ = v.(*pyDictionary)
		return d, false
	}
	v, ok := c.arg(-1, "data", "content")
	if !ok {
		v, _ = c.arg(n)
	}
	switch x := v.(type) {
	case *pyDictionary:
		return x, true
	case *pyCall: // json.dumps({…})
		if lastName(nameOf(x.of)) == "dumps" && len(x.args) > 0 {
			d, _ = x.args[0].(*pyDictionary)
		}
	}
	return d, false
}

// apply gives the fields of a route the values that tests send, and its body the fields where
// nothing else tells them.
func (e *examples) apply(route *Route) {
	best := -1
	most := 0
	for i, r := range e.requests {
		if r.method != route.Method || r.body == nil || !e.isOf(r, route) {
			continue
		}
		if n := countLeaves(r.body, 0); n > most {
			best, most = i, n
		}
	}
	if best < 0 {
		return
	}
	r := e.requests[best]
	if route.Body == nil || len(route.Body.Fields) == 0 {
		if route.Body != nil && route.Body.Type != "" {
			return
		}
		encoding := "json"
		if r.form {
			encoding = "form"
		}
		route.Body = &Body{Encoding: encoding, Fields: literalFields(r.body, 0)}
		return
	}
	applyExamples(route.Body.Fields, r.body)
}

// isOf reports whether a request of a test is of a route.
func (e *examples) isOf(r pyRequest, route *Route) bool {
	if r.endpoint != "" {
		name := e.of[route.At]
		return name == r.endpoint || route.Handler.Name != "" && lastName(route.Handler.Name) == r.endpoint
	}
	url, _, _ := strings.Cut(r.url, "?")
	if _, rest, ok := strings.Cut(url, "://"); ok {
		_, rest, _ = strings.Cut(rest, "/")
		url = "/" + rest
	}
	got, want := strings.Split(strings.Trim(url, "/"), "/"), strings.Split(strings.Trim(route.Path, "/"), "/")
	if len(got) != len(want) && len(got) > 0 && strings.HasPrefix(got[0], anyText) && len(got) < len(want) {
		want = want[len(want)-len(got)+1:] // a base that is not known
		got = got[1:]
	}
	if len(got) != len(want) || len(got) == 0 {
		return false
	}
	for i := range got {
		if got[i] != want[i] && !strings.HasPrefix(want[i], "{") {
			return false
		}
		if strings.HasPrefix(want[i], "{") && got[i] == "" {
			return false
		}
	}
	return true
}

// countLeaves counts the values of an object that are known.
func countLeaves(d *pyDictionary, depth int) int {
	n := 0
	for _, v := range d.values {
		if inner, ok := v.(*pyDictionary); ok && depth < maxNested {
			n += countLeaves(inner, depth+1)
			continue
		}
		if _, ok := plainOf(v, 0); ok {
			n += 2
		} else {
			n++
		}
	}
	return n
}

// literalFields are the fields of an object that a test sends.
func literalFields(d *pyDictionary, depth int) []Field {
	var out []Field
	for i, k := range d.keys {
		name, ok := k.(string)
		if !ok || depth > maxNested {
			continue
		}
		f := Field{Name: name, Required: true}
		switch v := d.values[i].(type) {
		case *pyDictionary:
			f.Type, f.Fields = "object", literalFields(v, depth+1)
		default:
			setExample(&f, v)
			if s, ok := f.Example.([]any); ok && len(s) > 0 {
				f.Items = &Field{Type: typeOfPlain(s[0]), Required: true}
			}
		}
		out = append(out, f)
	}
	return out
}
