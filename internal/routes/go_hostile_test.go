package routes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGoHostile holds that no source makes a reader panic or read without end. What is well
// formed beside it is still read.
func TestGoHostile(t *testing.T) {
	t.Parallel()
	const head = "package main\nimport (\n\"net/http\"\n\"github.com/gin-gonic/gin\"\n)\nfunc a(c *gin.Context) {}\n"
	const main = "func main() { r := gin.New(); r.GET(\"/a\", a); bad(r) }\n"
	nest := func(open, inner, close string, n int) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(close, n)
	}
	var wide strings.Builder
	for i := range 60 {
		fmt.Fprintf(&wide, "func f%d(r *gin.Engine) { f%d(r); f%d(r); r.GET(\"/f%d\", a) }\n", i, i+1, i+1, i)
	}
	wide.WriteString("func f60(r *gin.Engine) {}\n")
	var chain strings.Builder
	for i := range 200 {
		fmt.Fprintf(&chain, "func (t *T) m%d(c *gin.Context) *T { return t.m%d(c).m%d(c).m%d(c) }\n", i, i+1, i+1, i+1)
	}
	tests := []struct{ name, code string }{
		{"function_that_calls_itself", "func bad(r *gin.Engine) { bad(r); bad(r) }"},
		{"functions_that_call_each_other", "func bad(r *gin.Engine) { other(r.Group(\"/x\")) }\nfunc other(r *gin.RouterGroup) { bad(nil); other(r.Group(\"/y\")); r.Group(\"/z\") }"},
		{"calls_that_double", wide.String() + "func bad(r *gin.Engine) { f0(r) }"},
		{"chains_that_triple", "type T struct{}\n" + chain.String() + "func bad(r *gin.Engine) { t := &T{}; r.GET(\"/t\", t.h) }\nfunc (t *T) h(c *gin.Context) { t.m0(c).m0(c) }"},
		{"long_sum", "var s = \"/\"" + strings.Repeat(" + \"x\"", 20000) + "\nfunc bad(r *gin.Engine) { r.GET(s, a) }"},
		{"deep_parentheses", "func bad(r *gin.Engine) { r.GET(" + nest("(", "\"/x\"", ")", 50000) + ", a) }"},
		{"deep_literals", "func bad(r *gin.Engine) { " + nest("func() { ", "r.GET(\"/x\", a)", " }()", 3000) + " }"},
		{"deep_blocks", "func bad(r *gin.Engine) { " + nest("if x { ", "r.GET(\"/x\", a)", " }", 3000) + " }"},
		{"deep_selectors", "func bad(r *gin.Engine) { x" + strings.Repeat(".y()", 20000) + " }"},
		{"deep_types", "type T struct { F " + nest("[]", "int", "", 20000) + " }\nfunc bad(r *gin.Engine) { r.POST(\"/p\", h) }\nfunc h(c *gin.Context) { var t T; c.BindJSON(&t) }"},
		{"types_without_end", "type A B\ntype B A\ntype S struct { *S; A; Next *S `json:\"next\"`; All []S }\ntype I interface { I; J }\ntype J interface { I }\ntype G[T any] struct { X *G[G[T]] `json:\"x\"` }\nfunc bad(r *gin.Engine) { r.POST(\"/p\", h); var i I; i.Do(r) }\nfunc h(c *gin.Context) { var s S; c.BindJSON(&s); var g G[int]; c.BindJSON(&g); var x A; c.BindJSON(&x) }"},
		{"variables_without_end", "var x = y\nvar y = x\nvar e = f()\nfunc f() *gin.Engine { return e }\nfunc bad(r *gin.Engine) { x.GET(\"/\", a); e.GET(y, a) }"},
		{"router_in_itself", "func bad(r *gin.Engine) { m := http.NewServeMux(); n := http.NewServeMux(); m.Handle(\"/\", n); n.Handle(\"/\", m); m.Handle(\"/m\", m) }"},
		{"many_mounts", "func bad(r *gin.Engine) { m := http.NewServeMux(); " + strings.Repeat("{ n := http.NewServeMux(); n.Handle(\"/\", m); n.Handle(\"/y\", m); m = n }\n", 60) + " }"},
		{"closure_of_itself", "func bad(r *gin.Engine) { var f func(r *gin.RouterGroup); f = func(g *gin.RouterGroup) { f(g.Group(\"/x\")); f(g) }; f(r.Group(\"/\")) }"},
		{"middleware_of_itself", "func mw(h gin.HandlerFunc) gin.HandlerFunc { return mw(mw(h)) }\nfunc bad(r *gin.Engine) { h := a; for i := 0; i < 9; i++ { h = mw(h) }; r.GET(\"/x\", mw(h)) }"},
		{"odd_declarations", "func () x() {}\nfunc (a, b T) y() {}\nfunc (*[]int) z()\ntype T\nvar\nfunc bad(r *gin.Engine) { r.GET(); r.GET(\"/x\"); r.Group(); r.Handle(\"x\"); r.Use(); r.Match(1, 2, 3); http.Handle(); http.StripPrefix(1) }"},
		{"names_that_hide", "func bad(gin *gin.Engine) { http := gin; gin.GET(\"/x\", a); http.GET(\"/y\", a); append := 1; append(1) }"},
		{"not_go", "\x00\xff func {{{{ \"\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			files := goFiles{"go.mod": "module example.com/app", "main.go": head + main, "bad.go": head[:strings.Index(head, "func a")] + tt.code}
			all, _ := Gin.Read(files)
			if !strings.Contains(goLines(all), "GET /a main.go::a\n") {
				t.Errorf("the route beside is not read: %s", goLines(all))
			}
			Chi.Read(files)
			NetHTTP.Read(files)
		})
	}
	t.Run("files", func(t *testing.T) {
		t.Parallel()
		files := goFiles{
			"go.mod": "module\nmodule \"\nmodule example.com/app // x", "main.go": head + "func main() { gin.New().GET(\"/a\", a) }",
			"large.go": "package main\nvar x = `" + strings.Repeat("x", goFileBytes) + "`\nfunc init() { gin.New().GET(\"/large\", nil) }",
			"empty.go": "", "half.go": "package main\nfunc half() { gin.New().GET(\"/half\"", "..go": "package x", "a/..go": "package",
		}
		all, _ := Gin.Read(files)
		if d := cmp.Diff("GET /a main.go::a\n", goLines(all)); d != "" {
			t.Error(d)
		}
	})
}

// TestGoTwice holds that a tree reads the same every time.
func TestGoTwice(t *testing.T) {
	t.Parallel()
	files := newGoFiles(`-- main.go --
package main
import (
	"net/http"
	"github.com/gin-gonic/gin"
)
type T struct { A int ` + "`json:\"a\"`" + ` }
type m interface { R(g gin.IRouter) }
func h(c *gin.Context) { var t T; c.Bind(&t); c.Query("x"); c.Query("y") }
func main() { r := gin.New(); for p, f := range map[string]gin.HandlerFunc{"/b": h, "/c": h} { r.POST(p, f) }; run(nil, r) }
func run(all []m, r *gin.Engine) { for _, x := range all { x.R(r.Group("/m")) } }
-- a/a.go --
package a
type A struct{}
func (A) R(g gin.IRouter) { g.GET("/a", H); g.GET(x, H) }
-- b/b.go --
package b
import "github.com/gin-gonic/gin"
type B struct{}
func (B) R(g gin.IRouter) { g.GET("/b", H); g.GET(x, H) }
func Again(r *gin.Engine) { r.GET("/again", H) }
func H(c *gin.Context) {}
`)
	first, unread := Gin.Read(files)
	if len(first) < 4 || len(unread) == 0 {
		t.Fatalf("%d routes, %q", len(first), unread)
	}
	for range 20 {
		again, u := Gin.Read(files)
		if d := cmp.Diff(first, again); d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff(unread, u); d != "" {
			t.Fatal(d)
		}
	}
}

func TestGoUnsupported(t *testing.T) {
	t.Parallel()
	_, err := Read(newGoFiles("-- main.go --\npackage main\nimport (\n\t\"net/http\"\n\t\"github.com/gorilla/mux\"\n)\nfunc main() { r := mux.NewRouter(); r.HandleFunc(\"/x\", nil); http.Handle(\"/\", r) }\n"), "go")
	if u, ok := err.(*Unread); !ok || u.Framework != "gorilla/mux" { //nolint:errorlint // the value itself
		t.Errorf("got %v", err)
	}
}
