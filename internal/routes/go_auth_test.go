package routes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGoAuth(t *testing.T) {
	t.Parallel()
	const head = `-- main.go --
package main
import (
	"net/http"
	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/jwtauth/v5"
	"github.com/go-chi/cors"
)
const header = "Authorization"
func x(c *gin.Context) {}
func y(w http.ResponseWriter, r *http.Request) {}
`
	tests := []struct{ name, framework, code, want string }{
		{"by_an_argument", "gin", `
func auth(stop bool) gin.HandlerFunc { return func(c *gin.Context) {
	if c.GetHeader(header) == "" { if stop { c.AbortWithStatus(http.StatusUnauthorized) }; return }
} }
func main() {
	r := gin.New()
	g := r.Group("/g")
	g.GET("/before", x)
	g.Use(auth(false))
	g.GET("/optional", x)
	g.Use(auth(true))
	g.GET("/required", x)
	r.GET("/none", x)
	r.GET("/own", auth(true), x)
}`, "/g/before , /g/optional optional, /g/required required, /none , /own required"},
		{"through_functions", "chi", `
func token(r *http.Request) string { return r.Header.Get("authorization") }
func deny(w http.ResponseWriter) { http.Error(w, "", 401) }
func auth(next http.Handler) http.Handler { return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { if token(r) == "" { deny(w); return }; next.ServeHTTP(w, r) }) }
func main() { r := chi.NewRouter(); r.Get("/a", y); r.With(auth).Get("/b", y); r.Group(func(r chi.Router) { r.Use(auth); r.Mount("/c", sub()) }) }
func sub() http.Handler { r := chi.NewRouter(); r.Get("/d", y); return r }
`, "/a , /b required, /c/d required"},
		{"jwtauth", "chi", `
func main() { r := chi.NewRouter(); r.Use(jwtauth.Verifier(nil)); r.Get("/a", y); r.With(jwtauth.Authenticator).Get("/b", y) }
`, "/a optional, /b required"},
		{"basic", "gin", `
func main() { r := gin.New(); r.Group("/admin", gin.BasicAuth(gin.Accounts{"a": "b"})).GET("/x", x) }
`, "/admin/x required"},
		{"not_by_cors_or_errors", "gin", `
func allow() gin.HandlerFunc { return func(c *gin.Context) { for _, h := range []string{"Authorization"} { c.Header("Access-Control-Allow-Headers", h) }; if c.Request.Method == "OPTIONS" { c.AbortWithStatus(204); return }; c.Next() } }
func errors(c *gin.Context) { c.Next(); if len(c.Errors) > 0 { c.JSON(401, nil) } }
func main() { r := gin.New(); r.Use(allow(), errors, x); r.GET("/x", x) }
`, "/x "},
		{"by_its_name", "chi", `
func RequireAuth(next http.Handler) http.Handler { return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", 302) }) }
func GuestOnlyAuth(next http.Handler) http.Handler { return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", 302) }) }
func main() { r := chi.NewRouter(); r.With(RequireAuth).Get("/a", y); r.With(GuestOnlyAuth).Get("/b", y) }
`, "/a required, /b "},
		{"in_the_handler", "net/http", `
func user(r *http.Request) (int, error) { return len(r.Header.Get("Authorization")), nil }
func me(w http.ResponseWriter, r *http.Request) { if _, err := user(r); err != nil { w.WriteHeader(http.StatusUnauthorized) } }
func login(w http.ResponseWriter, r *http.Request) { http.Error(w, "wrong password", http.StatusUnauthorized) }
func call(w http.ResponseWriter, r *http.Request) { req, _ := http.NewRequest("GET", "", nil); req.Header.Set("Authorization", "x"); w.WriteHeader(401) }
func main() { http.HandleFunc("GET /me", me); http.HandleFunc("POST /login", login); http.HandleFunc("GET /call", call) }
`, "/call , /login , /me required"},
		{"around_a_mux", "net/http", `
func auth(next http.Handler) http.Handler { return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { if r.Header.Get("Authorization") == "" { w.WriteHeader(401); return }; next.ServeHTTP(w, r) }) }
func main() { m := http.NewServeMux(); m.HandleFunc("GET /a", y); m.HandleFunc("GET /b", auth(y)); s := &http.Server{Handler: auth(m)}; s.ListenAndServe() }
`, "/a required, /b required"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			all, _ := goReaders[tt.framework].Read(newGoFiles(head + tt.code))
			var got []string
			for _, r := range all {
				got = append(got, r.Path+" "+r.Auth)
			}
			if d := cmp.Diff(tt.want, strings.Join(got, ", ")); d != "" {
				t.Error(d)
			}
		})
	}
}
