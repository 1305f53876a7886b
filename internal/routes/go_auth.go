package routes

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

const (
	authRequired = "required"
	authOptional = "optional"
	goAuthSteps  = 6000
	goAuthDepth  = 4 // of calls that are followed in search of who reads a token
)

// credentials is what code in front of a handler does with who is calling.
type credentials struct {
	reads   bool // looks for a token
	rejects bool // answers 401
	stops   bool // answers something and does not go on
}

func (c credentials) or(d credentials) credentials {
	return credentials{reads: c.reads || d.reads, rejects: c.rejects || d.rejects, stops: c.stops || d.stops}
}

// authOf says whether a route asks who is calling, by its middlewares and its handler.
func (in *interpreter) authOf(f *function, mws []any) string {
	var all credentials
	for _, m := range mws {
		c := in.assess(m, 0)
		if c.reads && c.stops {
			c.rejects = true
		}
		all = all.or(c)
	}
	if all.rejects {
		return authRequired
	}
	if f != nil {
		c := in.scan(f, nil)
		if c.reads && c.rejects {
			return authRequired
		}
		all.reads = all.reads || c.reads
	}
	if all.reads {
		return authOptional
	}
	return ""
}

var (
	tokenNames  = lazyregexp.New(`(?i)^(authorization|(x-)?(api|auth|access)?[-_]?(key|token)|x-user-id|jwt|bearer)$`)
	cookieNames = lazyregexp.New(`(?i)token|sess|auth|jwt|sid$`)
	unauthNames = lazyregexp.New(`(?i)unauth(ori[sz]ed|enticated)`)
	guestNames  = lazyregexp.New(`(?i)(not|no|un|anon|without|skip|guest)[a-z]{0,4}_?auth|guest`)
	authNames   = lazyregexp.New(`(?i)jwt|o?auth(z|n|oriz|entic|$|[^o])`)
)

// assess is what a middleware does.
func (in *interpreter) assess(v any, depth int) credentials {
	switch v.(type) {
	case *made, *function, *wrapped, *list, *external:
	default:
		return credentials{}
	}
	if depth > 6 {
		return credentials{}
	}
	if c, ok := in.assessed[v]; ok {
		return c
	}
	c := in.assessAnew(v, depth)
	in.assessed[v] = c
	return c
}

func (in *interpreter) assessAnew(v any, depth int) credentials {
	switch m := v.(type) {
	case *made:
		c := in.scan(m.by, m.args).named(m.by)
		if m.lit != nil && !inside(m.lit.lit, m.by) {
			c = c.or(in.assess(m.lit, depth+1).named(m.by))
		}
		for _, a := range m.args {
			if shapeOf(a) == "middleware" {
				c = c.or(in.assess(a, depth+1))
			}
		}
		return c
	case *function:
		return in.scan(m, nil).named(m)
	case *wrapped:
		c := in.assess(m.inner, depth+1)
		for _, w := range m.mws {
			c = c.or(in.assess(w, depth+1))
		}
		return c
	case *list:
		var c credentials
		for _, i := range m.items {
			c = c.or(in.assess(i, depth+1))
		}
		return c
	case *external:
		return externalCredentials(m.path, m.name)
	}
	return credentials{}
}

// named adds what the name of a function tells: one that is called for authentication, and
// answers by itself, rejects.
func (c credentials) named(f *function) credentials {
	if f.fn != nil && c.stops && authNames.MatchString(f.fn.name) && !guestNames.MatchString(f.fn.name) {
		c.rejects = true
	}
	return c
}

// inside reports whether a literal stands in the body of a function.
func inside(lit *ast.FuncLit, f *function) bool {
	return f.fn != nil && f.fn.decl.Pos() <= lit.Pos() && lit.End() <= f.fn.decl.End()
}

// externalCredentials is what a middleware of another package does, by its name.
func externalCredentials(p, name string) credentials {
	switch last := name[strings.LastIndexByte(name, '.')+1:]; {
	case strings.Contains(p, "go-chi/jwtauth"):
		return credentials{reads: true, rejects: last == "Authenticator"}
	case strings.Contains(last, "BasicAuth"), strings.Contains(p, "gin-jwt"):
		return credentials{reads: true, rejects: true}
	case authNames.MatchString(last), authNames.MatchString(pathBase(p)):
		return credentials{reads: true, rejects: true}
	}
	return credentials{}
}

// authScan looks for signs of authentication in a function and those that it calls.
type authScan struct {
	h     *handlerReader
	found credentials
	steps int
	over  bool // the handler ran before: what comes now is said of its answer
	stack []*goFunc
}

func (in *interpreter) scan(f *function, args []any) credentials {
	s := &authScan{h: &handlerReader{in: in, route: &Route{}}}
	p := goContext{file: f.file, sc: f.scope.inner(), args: f.args}
	if f.fn != nil {
		s.stack = append(s.stack, f.fn)
	}
	s.walk(s.h.enter(f, args, p), p)
	return s.found
}

func (s *authScan) walk(n ast.Node, p goContext) {
	if n == nil || n == (*ast.BlockStmt)(nil) {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if s.steps++; s.steps > goAuthSteps || n == nil || s.over {
			return false
		}
		switch x := n.(type) {
		case *ast.FuncLit:
			p.setParameters(signature{typ: x.Type, file: p.file, sc: p.sc, args: p.args})
		case *ast.AssignStmt:
			s.h.assign(x, p)
		case *ast.DeclStmt:
			s.h.declare(x, p)
		case *ast.IfStmt:
			if v, ok := s.constant(x.Cond, p); ok {
				if v {
					s.walk(x.Body, p)
				} else if x.Else != nil {
					s.walk(x.Else, p)
				}
				return false
			}
		case *ast.CompositeLit:
			if _, isList := x.Type.(*ast.ArrayType); isList {
				return false // names of headers that are allowed
			}
		case *ast.BasicLit:
			s.literal(x)
		case *ast.Ident:
			s.name(x, p)
		case *ast.SelectorExpr:
			s.selector(x, p)
		case *ast.CallExpr:
			return s.call(x, p)
		}
		return true
	})
}

// constant is the value of a condition that the arguments of a middleware tell.
func (s *authScan) constant(e ast.Expr, p goContext) (v, ok bool) {
	switch x := e.(type) {
	case *ast.Ident:
		v, ok = s.h.fact(x, p).value.(bool)
		return v, ok
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			v, ok = s.constant(x.X, p)
			return !v, ok
		}
	case *ast.ParenExpr:
		return s.constant(x.X, p)
	}
	return false, false
}

func (s *authScan) literal(x *ast.BasicLit) {
	switch v := literal(x).(type) {
	case string:
		if strings.EqualFold(v, "authorization") {
			s.found.reads = true
		}
	case int64:
		if v == 401 {
			s.rejected()
		}
	}
}

// rejected notes a 401. One that is far from the middleware is what a helper can answer at all.
func (s *authScan) rejected() {
	if len(s.stack) <= 2 {
		s.found.rejects = true
	}
}

// name follows variables and constants of the tree.
func (s *authScan) name(x *ast.Ident, p goContext) {
	if p.sc.has(x.Name) {
		return
	}
	s.global(p.file.pkg, x.Name)
}

func (s *authScan) global(pkg *goPackage, name string) {
	if unauthNames.MatchString(name) {
		s.rejected()
	}
	v := pkg.values[name]
	if v == nil || v.value == nil || len(s.stack) > goAuthDepth {
		return
	}
	if _, isLit := v.value.(*ast.FuncLit); isLit {
		return
	}
	s.stack = append(s.stack, nil)
	s.walk(v.value, goContext{file: v.file, sc: (*scope)(nil).inner()})
	s.stack = s.stack[:len(s.stack)-1]
}

func (s *authScan) selector(x *ast.SelectorExpr, p goContext) {
	pkg, name, ok := p.file.qualified(x, p.sc)
	if !ok {
		return
	}
	switch {
	case pkg == "net/http" && name == "StatusUnauthorized":
		s.rejected()
	case pkg == "net/http":
	case s.h.in.src.local(pkg) != nil:
		s.global(s.h.in.src.local(pkg), name)
	case strings.Contains(pkg, "go-chi/jwtauth"):
		s.found = s.found.or(credentials{reads: true, rejects: name == "Authenticator"})
	case strings.Contains(pkg, "jwt") && strings.HasSuffix(name, "Extractor"), name == "ParseFromRequest":
		s.found.reads = true
	}
}

// call looks at a call and follows it. It reports whether its parts are to be walked.
func (s *authScan) call(x *ast.CallExpr, p goContext) bool {
	name := ""
	if sel, ok := x.Fun.(*ast.SelectorExpr); ok {
		name = sel.Sel.Name
	}
	first := ""
	if len(x.Args) > 0 {
		first = s.h.text(x.Args[0], p)
	}
	switch name {
	case "Set", "Add", "Del", "Header", "WithHeader", "SetHeader":
		if strings.EqualFold(first, "authorization") && len(x.Args) != 1 {
			return false // of a request that it makes itself
		}
		if len(x.Args) == 2 && name != "Set" {
			return false
		}
	case "Get", "GetHeader", "Values", "Query", "GetQuery", "FormValue", "DefaultQuery", "PostForm":
		if tokenNames.MatchString(first) {
			s.found.reads = true
		}
	case "Cookie":
		if cookieNames.MatchString(first) {
			s.found.reads = true
		}
	case "BasicAuth":
		s.found.reads = true
	case "Abort", "AbortWithStatus", "AbortWithStatusJSON", "AbortWithError", "WriteHeader":
		s.stops()
	case "Next":
		if sel, ok := x.Fun.(*ast.SelectorExpr); ok && isGinContext(s.h.fact(sel.X, p).typ.name()) && s.found == (credentials{}) && len(s.stack) < 2 {
			s.over = true
		}
	case "Error", "Redirect":
		if pkg, _, ok := p.file.qualified(x.Fun, p.sc); ok && pkg == "net/http" {
			s.stops()
		}
	}
	s.follow(x, p)
	return true
}

func (s *authScan) stops() { s.found.stops = true }

func (s *authScan) follow(x *ast.CallExpr, p goContext) {
	fn, _, _ := s.h.callee(x, p)
	if fn == nil || fn.decl.Body == nil || slices.Contains(s.stack, fn) || len(s.stack) > goAuthDepth {
		return
	}
	if unauthNames.MatchString(fn.name) {
		s.rejected()
	}
	inner := s.h.enterReading(fn, x, p)
	s.stack = append(s.stack, fn)
	s.walk(fn.decl.Body, inner)
	s.stack = s.stack[:len(s.stack)-1]
}
