package routes

import (
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// fastInput is what the functions of a route of FastAPI take.
type fastInput struct {
	route  *Route
	bodies []fastBody
	form   []Field
	kind   string // of the form: form, multipart
	types  string // the model of the form
	seen   map[*pyFunction]bool
	auth   string
}

// fastBody is one parameter that is of the body.
type fastBody struct {
	field Field
	model string
	embed bool
}

// markers say where a parameter is taken from.
var markers = []string{"Depends", "Security", "Body", "Query", "Path", "Header", "Cookie", "Form", "File", "FromDishka", "Inject"}

// unsent are types of parameters that are not sent.
var unsent = []string{"Request", "Response", "WebSocket", "BackgroundTasks", "HTTPConnection", "SecurityScopes", "JSONResponse", "StreamingResponse"}

// fastRequest reads what a route takes.
func (b *bodies) fastRequest(route *Route, r pyResolved, a pyAnswer) {
	in := &fastInput{route: route, seen: map[*pyFunction]bool{}}
	guards := slices.Clone(r.guards)
	if r.options != nil {
		guards = append(guards, itemsOf(r.options.named["dependencies"])...)
	}
	for _, g := range guards {
		if c, ok := g.(*pyCall); ok {
			v, _ := c.arg(0, "dependency")
			b.dependency(in, v, 0)
		}
	}
	if a.function != nil {
		b.takes(in, a.function, 0)
		if c := a.function.class; c != nil { // a view of fastapi-utils: its attributes are dependencies
			b.attributes(in, c)
		}
		b.usesRequest(in, a.function)
	}
	if r.router() == madeRouter {
		b.usersRequest(route, r)
	}
	route.Auth = in.auth
	b.fastBody(in)
}

// attributes reads those of a view that say where they are taken from.
func (b *bodies) attributes(in *fastInput, c *pyClass) {
	for _, a := range c.line() {
		for _, n := range annotated(a) {
			t, value := b.eval(n.Child("type"), a.frame()), b.eval(n.Child("right"), a.frame())
			if marker, _ := markerOf(t, value); marker != nil {
				b.takesOne(in, t, value, n.Child("left").Text(), 1)
			}
		}
	}
}

// fastBody puts the parameters of a body together.
func (b *bodies) fastBody(in *fastInput) {
	switch {
	case len(in.form) > 0:
		in.route.Body = &Body{Encoding: in.kind, Fields: in.form, Type: in.types}
	case len(in.bodies) == 1 && !in.bodies[0].embed:
		one := in.bodies[0]
		body := &Body{Encoding: "json", Type: one.model, Fields: one.field.Fields}
		if one.field.Type != "object" && one.field.Type != "" {
			one.field.Name = ""
			body.Fields = []Field{one.field}
		}
		in.route.Body = body
	case len(in.bodies) > 0:
		body := &Body{Encoding: "json"}
		for _, one := range in.bodies {
			body.Fields = replaced(body.Fields, one.field)
		}
		in.route.Body = body
	}
}

// takes reads the parameters of a function.
func (b *bodies) takes(in *fastInput, fn *pyFunction, depth int) {
	if in.seen[fn] || depth > maxBases {
		return
	}
	in.seen[fn] = true
	before := b.home
	b.home = fn.module
	defer func() { b.home = before }()
	f := &pyFrame{scope: fn.closure, module: fn.module}
	for i, q := range pyParameters(fn.node) {
		if q.star != "" || i == 0 && fn.class != nil && !fn.isStatic() && (q.name == "self" || q.name == "cls") {
			continue
		}
		b.takesOne(in, b.quoted(b.eval(q.note, f)), b.eval(q.value, f), q.name, depth)
		if !q.note.Is() && !q.value.Is() && depth > 0 {
			continue
		}
	}
}

// takesOne reads one parameter: its type, its default and its name.
func (b *bodies) takesOne(in *fastInput, t, value pyValue, name string, depth int) {
	marker, base := markerOf(t, value)
	if marker == nil && b.isPathParam(in, name) {
		b.pathParam(in, name, t, nil)
		return
	}
	kind := ""
	if marker != nil {
		kind = lastName(nameOf(marker.of))
	}
	f := b.typeField(t, 0)
	f.Name = name
	if marker != nil {
		constrain(&f, marker)
		if alias, ok := marker.text(-1, "alias", "validation_alias"); ok {
			f.Name = alias
		}
	}
	b.optionalOf(&f, value, marker)
	switch kind {
	case "Depends", "Security":
		v, ok := marker.arg(0, "dependency")
		if !ok {
			v = base
		}
		b.dependency(in, v, depth+1)
	case "Path":
		b.pathParam(in, name, t, marker)
	case "Query":
		b.query(in, f, base)
	case "Header":
		b.header(in, f, name)
	case "Cookie", "FromDishka", "Inject":
	case "Form", "File":
		b.formParam(in, f, base, kind)
	case "Body":
		embed, _ := marker.named["embed"].(bool)
		in.bodies = append(in.bodies, fastBody{f, modelName(base), embed})
	default:
		b.unmarked(in, f, base, value)
	}
}

// unmarked is a parameter that its type places.
func (b *bodies) unmarked(in *fastInput, f Field, base, value pyValue) {
	name := lastName(nameOf(base))
	c, isClass := base.(*pyClass)
	switch {
	case slices.Contains(unsent, name) || isClass && c.inherits(unsent...):
	case name == "UploadFile" || name == "bytes" && isOf(base, "builtins") || f.Items != nil && lastName(nameOf(itemOf(base))) == "UploadFile":
		b.formParam(in, f, base, "File")
	case f.Type == "object" || f.Type == "array":
		in.bodies = append(in.bodies, fastBody{f, modelName(base), false})
	case f.Type == "" && isUpper(name) && base != nil && name != "Any" && value == nil:
		in.bodies = append(in.bodies, fastBody{f, modelName(base), false})
	default:
		if _, isCall := value.(*pyCall); isCall && f.Type == "" {
			return // what another package gives
		}
		b.query(in, f, base)
	}
}

func isOf(v pyValue, module string) bool {
	e, ok := v.(*pyExternal)
	return ok && strings.HasPrefix(e.name, module+".")
}

func isUpper(name string) bool { return name != "" && name[0] >= 'A' && name[0] <= 'Z' }

// itemOf is the type in list[X].
func itemOf(v pyValue) pyValue {
	if i, ok := v.(*pyIndexed); ok && len(i.items) > 0 {
		return i.items[0]
	}
	return nil
}

// markerOf is what says where a parameter is taken from, nil for none, and its type alone.
func markerOf(t, value pyValue) (*pyCall, pyValue) {
	base := t
	var marker *pyCall
	if i, ok := t.(*pyIndexed); ok && lastName(nameOf(i.of)) == "Annotated" && len(i.items) > 0 {
		base = i.items[0]
		for _, m := range i.items[1:] {
			if c, ok := m.(*pyCall); ok && slices.Contains(markers, lastName(nameOf(c.of))) {
				marker = c
			}
		}
		if inner, base2 := markerOf(base, nil); inner != nil && marker == nil {
			marker, base = inner, base2
		}
	}
	if c, ok := value.(*pyCall); ok && slices.Contains(markers, lastName(nameOf(c.of))) {
		marker = c
	}
	if e, ok := base.(*pyEither); ok { // X | None
		for _, i := range e.items {
			if _, empty := i.(pyNone); !empty {
				return marker, i
			}
		}
	}
	if i, ok := base.(*pyIndexed); ok && lastName(nameOf(i.of)) == "Optional" && len(i.items) == 1 {
		return marker, i.items[0]
	}
	return marker, base
}

// optionalOf says whether a parameter has to be sent.
func (b *bodies) optionalOf(f *Field, value pyValue, marker *pyCall) {
	otherwise, has := value, value != nil
	if marker != nil {
		if value == pyValue(marker) {
			otherwise, has = marker.arg(0, "default")
		}
		if _, ok := marker.named["default_factory"]; ok {
			has = true
		}
	}
	f.Required = !has || isEllipsis(otherwise)
	if has {
		setExample(f, otherwise)
	}
}

func modelName(v pyValue) string {
	if c, ok := v.(*pyClass); ok {
		return c.name
	}
	if i, ok := v.(*pyIndexed); ok {
		if c, ok := i.of.(*pyClass); ok {
			return c.name
		}
	}
	return ""
}

func (b *bodies) isPathParam(in *fastInput, name string) bool {
	return slices.ContainsFunc(in.route.Params, func(f Field) bool { return f.Name == name })
}

// pathParam takes the type of a parameter of the path.
func (b *bodies) pathParam(in *fastInput, name string, t pyValue, marker *pyCall) {
	if marker != nil {
		if alias, ok := marker.text(-1, "alias"); ok {
			name = alias
		}
	}
	for i := range in.route.Params {
		if in.route.Params[i].Name != name {
			continue
		}
		f := b.typeField(t, 0)
		if f.Type == "" {
			return
		}
		if marker != nil {
			constrain(&f, marker)
		}
		f.Name, f.Required = name, true
		in.route.Params[i] = f
	}
}

// query notes a parameter of the query: of a model, its fields.
func (b *bodies) query(in *fastInput, f Field, base pyValue) {
	if c, ok := base.(*pyClass); ok && c.isModel() {
		for _, inner := range f.Fields {
			in.route.Query = replaced(in.route.Query, inner)
		}
		return
	}
	in.route.Query = replaced(in.route.Query, f)
}

// header notes one that says who is calling.
func (b *bodies) header(in *fastInput, f Field, name string) {
	if !asksWho.MatchString(strings.ReplaceAll(name, "-", "_")) && !asksWho.MatchString(strings.ReplaceAll(f.Name, "-", "_")) {
		return
	}
	if f.Required {
		in.needs("required")
	} else {
		in.needs("optional")
	}
}

var asksWho = lazyregexp.New(`(?i)^(authorization|x_?token|x_?api_?key|api_?key|token|access_token|x_?auth.*)$`)

func (in *fastInput) needs(auth string) {
	if in.auth != "required" && auth != "" {
		in.auth = auth
	}
}

func (b *bodies) formParam(in *fastInput, f Field, base pyValue, kind string) {
	if in.kind != "multipart" {
		in.kind = "form"
	}
	if kind == "File" {
		in.kind = "multipart"
		f.Type, f.Format = "string", "binary"
	}
	if c, ok := base.(*pyClass); ok && c.isModel() {
		in.form, in.types = append(in.form, f.Fields...), c.name
		return
	}
	in.form = replaced(in.form, f)
}

// security are the classes that find who is calling.
var security = []string{"OAuth2PasswordBearer", "OAuth2AuthorizationCodeBearer", "HTTPBearer", "HTTPBasic", "HTTPDigest", "APIKeyHeader", "APIKeyCookie", "APIKeyQuery", "OpenIdConnect", "OAuth2", "OAuth2PasswordBearerWithCookie", "LoginManager", "JWTBearer", "SecurityBase"}

// dependency reads what a dependency takes, and what its own take.
func (b *bodies) dependency(in *fastInput, v pyValue, depth int) {
	if depth > maxBases {
		return
	}
	switch x := v.(type) {
	case *pyFunction:
		b.ofFunction(in, x, depth)
	case *pyBound:
		b.ofFunction(in, x.function, depth)
	case *pyClass:
		b.ofClassDependency(in, x, depth)
	case *pyInstance:
		b.ofInstanceDependency(in, x, depth)
	case *pyExternal:
		b.ofExternal(in, lastName(x.name), nil)
	case *pyMember:
		b.ofExternal(in, x.name, nil)
	case *pyCall:
		b.ofExternal(in, lastName(nameOf(x.of)), x)
	}
}

var refuses = lazyregexp.New(`\b40[13]\b|UNAUTHORIZED|FORBIDDEN|Unauthori|Credentials|Forbidden|NotAuthenticated|credentials_exception`)

// ofFunction reads a function that a route depends on. One that refuses a request without what
// is optional to its own dependencies requires it.
func (b *bodies) ofFunction(in *fastInput, fn *pyFunction, depth int) {
	inner := &fastInput{route: in.route, bodies: in.bodies, form: in.form, kind: in.kind, types: in.types, seen: in.seen}
	if !in.seen[fn] {
		b.takes(inner, fn, depth)
		b.usesRequest(inner, fn)
	}
	text := fn.node.Text()
	if inner.auth == "optional" && !strings.Contains(strings.ToLower(fn.name), "optional") && strings.Contains(text, "raise") && refuses.MatchString(text) {
		inner.auth = "required"
	}
	if inner.auth == "required" && strings.Contains(strings.ToLower(fn.name), "optional") {
		inner.auth = "optional"
	}
	in.needs(inner.auth)
	in.bodies, in.form, in.kind, in.types = inner.bodies, inner.form, inner.kind, inner.types
}

func (b *bodies) ofClassDependency(in *fastInput, c *pyClass, depth int) {
	for _, e := range c.externals() {
		if name := lastName(nameOf(e)); name == "OAuth2PasswordRequestForm" || name == "OAuth2PasswordRequestFormStrict" {
			b.ofExternal(in, name, nil)
			return
		}
	}
	if v, _ := c.own("__init__"); v != nil {
		if fn, ok := v.(*pyFunction); ok {
			b.takes(in, fn, depth)
		}
		return
	}
	if !c.isModel() {
		return
	}
	camel := b.isCamel(c)
	for _, a := range c.line() {
		for _, n := range annotated(a) {
			name, t := n.Child("left").Text(), b.eval(n.Child("type"), a.frame())
			if strings.HasPrefix(name, "_") || name == "model_config" || lastName(nameOf(t)) == "ClassVar" {
				continue
			}
			if camel {
				name = camelCase(name)
			}
			b.takesOne(in, t, b.eval(n.Child("right"), a.frame()), name, depth+1)
		}
	}
}

func (b *bodies) ofInstanceDependency(in *fastInput, x *pyInstance, depth int) {
	for _, e := range x.class.externals() {
		name := lastName(nameOf(e))
		if !slices.Contains(security, name) {
			continue
		}
		for _, c := range []*pyCall{x.super, x.made} {
			if c == nil {
				continue
			}
			if v, ok := c.named["auto_error"].(bool); ok && !v {
				b.ofExternal(in, name, c)
				if fn, _ := x.class.own("__call__"); fn != nil {
					if fn, ok := fn.(*pyFunction); ok && refuses.MatchString(fn.node.Text()) {
						in.needs("required")
					}
				}
				return
			}
		}
		in.needs("required")
		return
	}
	if v, _ := x.class.own("__call__"); v != nil {
		if fn, ok := v.(*pyFunction); ok {
			b.ofFunction(in, fn, depth)
		}
	}
}

// ofExternal is a dependency of a package.
func (b *bodies) ofExternal(in *fastInput, name string, c *pyCall) {
	optional := false
	if c != nil {
		if v, ok := c.named["auto_error"].(bool); ok && !v {
			optional = true
		}
		if v, _ := c.named["optional"].(bool); v {
			optional = true
		}
	}
	switch {
	case strings.HasPrefix(name, "OAuth2PasswordRequestForm"):
		if in.kind == "" {
			in.kind = "form"
		}
		in.types = name
		for _, f := range []Field{
			{Name: "username", Type: "string", Required: true}, {Name: "password", Type: "string", Format: "password", Required: true},
			{Name: "grant_type", Type: "string", Required: strings.HasSuffix(name, "Strict"), Example: "password", Pattern: "^password$"},
		} {
			in.form = replaced(in.form, f)
		}
	case slices.Contains(security, name) || name == "current_user" || strings.HasPrefix(name, "jwt_required"):
		if optional {
			in.needs("optional")
		} else {
			in.needs("required")
		}
	}
}

// usesRequest runs a function that takes the whole request, for what it reads of it.
func (b *bodies) usesRequest(in *fastInput, fn *pyFunction) {
	given := map[string]pyValue{}
	f := &pyFrame{scope: fn.closure, module: fn.module}
	for _, q := range pyParameters(fn.node) {
		if q.note.Is() && lastName(nameOf(b.eval(q.note, f))) == "Request" {
			given[q.name] = &pyExternal{"flask.request"}
		}
	}
	if len(given) == 0 {
		return
	}
	t := b.traced(fn, given, "json")
	in.needs(t.auth)
	if all := fieldsOf(t.parts["json"]); len(all) > 0 && len(in.bodies) == 0 {
		in.bodies = append(in.bodies, fastBody{Field{Type: "object", Fields: all}, t.types["json"], false})
	}
	if all := fieldsOf(t.parts["form"]); len(all) > 0 && len(in.form) == 0 {
		in.form, in.kind, in.types = all, "form", t.types["form"]
	}
	for _, q := range fieldsOf(t.parts["query"]) {
		in.route.Query = merged(in.route.Query, q)
	}
}

// traced runs a function once for what it reads of a request.
func (b *bodies) traced(fn *pyFunction, given map[string]pyValue, plain string) *pyTrace {
	if t := b.traces[fn][plain]; t != nil {
		return t
	}
	t := newTrace(plain)
	if b.traces[fn] == nil {
		b.traces[fn] = map[string]*pyTrace{}
	}
	b.traces[fn][plain] = t
	before := b.trace
	b.trace = t
	b.runHandler(fn, given)
	b.trace = before
	return t
}

// usersRequest is what the routes of fastapi-users take.
func (b *bodies) usersRequest(route *Route, r pyResolved) {
	email := Field{Name: "email", Type: "string", Format: "email", Required: true}
	password := Field{Name: "password", Type: "string", Format: "password", Required: true}
	token := Field{Name: "token", Type: "string", Required: true}
	username := Field{Name: "username", Type: "string", Format: "email", Required: true}
	switch r.pyDeclared.path {
	case "/login":
		route.Body = &Body{Encoding: "form", Fields: []Field{username, password}}
	case "/register":
		route.Body = &Body{Encoding: "json", Fields: []Field{email, password}}
		if n := len(r.options.args); n > 0 {
			if all, name, ok := b.schemaFields(r.options.args[n-1], 0); ok {
				body := []Field{email, password}
				for _, f := range all {
					body = replaced(body, f)
				}
				route.Body = &Body{Encoding: "json", Fields: body, Type: name}
			}
		}
	case "/forgot-password", "/request-verify-token":
		route.Body = &Body{Encoding: "json", Fields: []Field{email}}
	case "/reset-password":
		route.Body = &Body{Encoding: "json", Fields: []Field{token, password}}
	case "/verify":
		route.Body = &Body{Encoding: "json", Fields: []Field{token}}
	}
}
