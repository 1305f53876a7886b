package routes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// goFiles is a tree made of an archive.
type goFiles map[string]string

func newGoFiles(archive string) goFiles {
	out := goFiles{}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		out[f.Name] = string(f.Data)
	}
	if _, ok := out["go.mod"]; !ok {
		out["go.mod"] = "module example.com/app\n"
	}
	return out
}

func (t goFiles) Paths() []string {
	var out []string
	for p := range t {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

func (t goFiles) Has(p string) bool { _, ok := t[p]; return ok }

func (t goFiles) Read(p string) ([]byte, error) {
	if s, ok := t[p]; ok {
		return []byte(s), nil
	}
	return nil, errors.New("no such file")
}

func goLines(all []Route) string {
	var b strings.Builder
	for _, r := range all {
		h := r.Handler.Path + "::" + r.Handler.Name
		if r.Handler.Name == "" {
			h = "-"
		}
		if r.Made {
			h += " made"
		}
		fmt.Fprintf(&b, "%s %s %s\n", r.Method, r.Path, h)
	}
	return b.String()
}

var goReaders = map[string]Reader{"gin": Gin, "chi": Chi, "net/http": NetHTTP}

func TestGoRoutes(t *testing.T) {
	t.Parallel()
	const ginHead = "package main\nimport (\n\"github.com/gin-gonic/gin\"\n)\nfunc a(c *gin.Context) {}\nfunc b(c *gin.Context) {}\n"
	const chiHead = "package main\nimport (\n\"net/http\"\n\"github.com/go-chi/chi/v5\"\n)\nfunc a(w http.ResponseWriter, r *http.Request) {}\nfunc b(w http.ResponseWriter, r *http.Request) {}\n"
	const muxHead = "package main\nimport \"net/http\"\nfunc a(w http.ResponseWriter, r *http.Request) {}\nfunc b(w http.ResponseWriter, r *http.Request) {}\n"
	tests := []struct {
		name, framework, archive, want string
	}{
		{"groups", "gin", "-- main.go --\n" + ginHead + `
func main() {
	r := gin.Default()
	r.GET("/", a)
	api := r.Group("/api/")
	v1 := api.Group("v1")
	v1.POST("/x/:id", b)
	v1.Group("/files").GET("/*rest", a)
	v1.PUT("", b)
}`, `GET / main.go::a
PUT /api/v1 main.go::b
GET /api/v1/files/{rest} main.go::a
POST /api/v1/x/{id} main.go::b
`},
		{"group_in_a_package_of_the_tree", "gin", `-- main.go --
package main
import (
	"github.com/gin-gonic/gin"
	"example.com/app/users"
)
func main() { r := gin.New(); users.Register(r.Group("/users")) }
-- users/users.go --
package users
import "github.com/gin-gonic/gin"
func Register(g *gin.RouterGroup) { g.GET("/", List) }
func List(c *gin.Context) {}
`, "GET /users/ users/users.go::List\n"},
		{"methods", "gin", "-- main.go --\n" + ginHead + `
func main() {
	r := gin.New()
	r.Handle("PATCH", "/h", a)
	r.Match([]string{"GET", "POST"}, "/m", a)
	r.Any("/any", a)
	r.GET("/chain", a).POST("/chain", b)
}`, "GET /any main.go::a\nGET /chain main.go::a\nPOST /chain main.go::b\nPATCH /h main.go::a\nGET /m main.go::a\nPOST /m main.go::a\n"},
		{"constants_and_sprintf", "gin", "-- main.go --\n" + strings.Replace(ginHead, "import (", "import (\n\"fmt\"\n", 1) + `
const prefix = "/api"
const version = 2
var full = prefix + "/all"
func path(p string) string { return prefix + p }
func main() {
	r := gin.New()
	r.GET(prefix + "/x", a)
	r.GET(fmt.Sprintf("%s/v%d/y", prefix, 2), a)
	r.GET(full, a)
	r.GET(path("/z"), b)
	r.GET(env(), b)
}
func env() string { return os.Getenv("P") }
`, "GET /api/all main.go::a\nGET /api/v2/y main.go::a\nGET /api/x main.go::a\nGET /api/z main.go::b\n"},
		{"table_of_routes", "gin", "-- main.go --\n" + ginHead + `
type route struct { method, path string; handler gin.HandlerFunc }
func main() {
	r := gin.New()
	routes := []route{{"GET", "/a", a}, {method: "POST", path: "/b", handler: b}}
	for _, x := range routes { r.Handle(x.method, x.path, x.handler) }
	for p, h := range map[string]gin.HandlerFunc{"/c": a} { r.DELETE(p, h) }
}`, "GET /a main.go::a\nPOST /b main.go::b\nDELETE /c main.go::a\n"},
		{"router_in_a_field", "gin", "-- main.go --\n" + ginHead + `
type server struct { router *gin.Engine; h handler }
type handler interface { List(c *gin.Context) }
type impl struct{}
func (i *impl) List(c *gin.Context) {}
func newServer() *server { s := &server{h: &impl{}}; s.router = gin.New(); s.routes(); return s }
func (s *server) routes() { g := s.router.Group("/g"); g.GET("/list", s.h.List); s.router.GET("/own", s.own) }
func (s *server) own(c *gin.Context) {}
func main() { newServer() }
`, "GET /g/list main.go::impl.List\nGET /own main.go::server.own\n"},
		{"interface_without_a_value", "gin", "-- main.go --\n" + ginHead + `
type handler interface { List(c *gin.Context) }
type impl struct{}
func (i *impl) List(c *gin.Context) {}
func Setup(h handler) *gin.Engine { r := gin.New(); r.GET("/list", h.List); return r }
-- mocks/h.go --
package mocks
type H struct{}
func (h *H) List(c int) {}
`, "GET /list main.go::impl.List\n"},
		{"called_by_a_container", "gin", `-- main.go --
package main
import "github.com/gin-gonic/gin"
type Handler struct { Gin *gin.Engine }
func NewHandler() Handler { return Handler{Gin: gin.New()} }
type Routes struct { h Handler; c Controller }
type Controller struct{}
func (c Controller) Get(x *gin.Context) {}
func (r Routes) Setup() { r.h.Gin.Group("/api").GET("/x", r.c.Get) }
`, "GET /api/x main.go::Controller.Get\n"},
		{"given_by_a_container", "gin", "-- main.go --\n" + ginHead + `
func Register(r *gin.Engine) { r.GET("/x", a); more(r.Group("/g")) }
func more(g gin.IRouter) { g.GET("/y", b) }
func main() { container.Invoke(Register) }
`, "GET /g/y main.go::b\nGET /x main.go::a\n"},
		{"given_to_an_unknown_value", "gin", "-- main.go --\n" + ginHead + `
type users struct{}
func (u *users) Register(g *gin.RouterGroup) { g.GET("/x", u.get) }
func (u *users) get(c *gin.Context) {}
func main() { r := gin.New(); container.Users().Register(r.Group("/users")) }
`, "GET /users/x main.go::users.get\n"},
		{"modules_of_an_interface", "gin", "-- main.go --\n" + ginHead + `
type module interface { Register(g *gin.RouterGroup) }
type one struct{}
func (one) Register(g *gin.RouterGroup) { g.GET("/one", a) }
type two struct{}
func (*two) Register(g *gin.RouterGroup) { g.GET("/two", b) }
func run(ms ...module) { r := gin.New(); for _, m := range ms { m.Register(r.Group("/m")) } }
func main() { run(one{}, &two{}) }
`, "GET /m/one main.go::a\nGET /m/two main.go::b\n"},
		{"handlers_that_are_made", "gin", "-- main.go --\n" + ginHead + `
type h struct{}
func (x *h) Get() gin.HandlerFunc { return func(c *gin.Context) {} }
func wrap(f func(c *gin.Context, n int)) gin.HandlerFunc { return func(c *gin.Context) { f(c, 1) } }
func own(c *gin.Context, n int) {}
func main() {
	r := gin.New()
	x := &h{}
	r.GET("/made", x.Get())
	r.GET("/wrapped", wrap(own))
	r.GET("/literal", func(c *gin.Context) { c.JSON(200, 1) })
	r.GET("/relayed", func(c *gin.Context) { a(c) })
	r.GET("/many", b, b, a)
}`, "GET /literal -\nGET /made main.go::h.Get made\nGET /many main.go::a\nGET /relayed main.go::a\nGET /wrapped main.go::own\n"},
		{"left_out", "gin", `-- main.go --
package main
import (
	"net/http"
	"github.com/gin-gonic/gin"
	swaggerFiles "github.com/swaggo/files"
	ginSwagger "github.com/swaggo/gin-swagger"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)
func main() {
	r := gin.New()
	r.Static("/assets", "./assets")
	r.StaticFS("/fs", http.Dir("x"))
	r.GET("/swagger/*any", ginSwagger.WrapHandler(swaggerFiles.Handler))
	r.GET("/metrics", gin.WrapH(promhttp.Handler()))
	r.NoRoute(func(c *gin.Context) {})
}
-- main_test.go --
package main
func x() { gin.New().GET("/test", nil) }
-- examples/x/main.go --
package main
import "github.com/gin-gonic/gin"
func main() { gin.New().GET("/example", nil) }
-- vendor/x/main.go --
package main
import "github.com/gin-gonic/gin"
func main() { gin.New().GET("/vendor", nil) }
-- gen/main.go --
//go:build ignore
package main
import "github.com/gin-gonic/gin"
func main() { gin.New().GET("/ignored", nil) }
`, ""},
		{"mounts", "chi", "-- main.go --\n" + chiHead + `
type api struct { accounts *accounts }
type accounts struct{}
func newAPI() (*api, error) { return &api{accounts: &accounts{}}, nil }
func (x *api) Router() *chi.Mux { r := chi.NewRouter(); r.Mount("/accounts", x.accounts.router()); return r }
func (x *accounts) router() chi.Router {
	r := chi.NewRouter()
	r.Get("/", x.list)
	r.Route("/{id:[0-9]{1,3}}", func(r chi.Router) { r.Use(nil); r.Delete("/", x.del); r.Get("/sub", a) })
	return r
}
func (x *accounts) list(w http.ResponseWriter, r *http.Request) {}
func (x *accounts) del(w http.ResponseWriter, r *http.Request) {}
func New() http.Handler {
	x, err := newAPI()
	if err != nil { return nil }
	r := chi.NewRouter()
	r.Mount("/admin", x.Router())
	return r
}
func main() { http.ListenAndServe(":1", New()) }
`, "GET /admin/accounts main.go::accounts.list\nDELETE /admin/accounts/{id} main.go::accounts.del\nGET /admin/accounts/{id}/sub main.go::a\n"},
		{"inline", "chi", "-- main.go --\n" + chiHead + `
func mw(next http.Handler) http.Handler { return next }
func sub(r chi.Router) { r.Post("/p", b) }
func made() func(chi.Router) { return func(r chi.Router) { r.Get("/m", a) } }
func main() {
	r := chi.NewRouter()
	r.With(mw).Get("/with", a)
	r.Group(func(r chi.Router) { r.Use(mw); r.Get("/group", a) })
	r.Route("/sub", sub)
	r.Route("/made", made())
	r.Method("PUT", "/method", http.HandlerFunc(b))
	r.MethodFunc(http.MethodPatch, "/methodfunc", b)
	r.HandleFunc("GET /pattern/{x}", a)
	r.Get("/all/*", a)
	r.NotFound(a)
}`, "GET /all/{path} main.go::a\nGET /group main.go::a\nGET /made/m main.go::a\nPUT /method main.go::b\nPATCH /methodfunc main.go::b\nGET /pattern/{x} main.go::a\nPOST /sub/p main.go::b\nGET /with main.go::a\n"},
		{"mounted_before_it_is_filled", "chi", "-- main.go --\n" + chiHead + `
func main() { r := chi.NewRouter(); s := chi.NewRouter(); r.Mount("/s", s); s.Get("/x", a) }
`, "GET /s/x main.go::a\n"},
		{"command", "chi", `-- cmd/serve.go --
package cmd
import (
	"net/http"
	"github.com/go-chi/chi/v5"
	"github.com/spf13/cobra"
)
func h(w http.ResponseWriter, r *http.Request) {}
var serve = &cobra.Command{Run: func(cmd *cobra.Command, args []string) { r := chi.NewRouter(); r.Get("/x", h) }}
`, "GET /x cmd/serve.go::h\n"},
		{"alone_and_mounted", "chi", "-- main.go --\n" + chiHead + `
func sub() *chi.Mux { r := chi.NewRouter(); r.Get("/x", a); return r }
func main() { r := chi.NewRouter(); r.Mount("/s", sub()) }
var print = command{run: func() { show(sub()) }}
`, "GET /s/x main.go::a\n"},
		{"own_router_type", "net/http", "-- main.go --\n" + muxHead + `
type router struct { *http.ServeMux; prefix string }
func (r *router) get(p string, f http.HandlerFunc) { r.HandleFunc("GET "+r.prefix+p, f) }
func main() { r := &router{http.NewServeMux(), "/api"}; r.get("/x", a); r.HandleFunc("POST /y", b) }
`, "GET /api/x main.go::a\nPOST /y main.go::b\n"},
		{"patterns", "net/http", "-- main.go --\n" + muxHead + `
type t struct{}
func (t) ServeHTTP(w http.ResponseWriter, r *http.Request) {}
func main() {
	m := http.NewServeMux()
	m.HandleFunc("GET /x/{id}", a)
	m.HandleFunc("POST example.com/y", b)
	m.HandleFunc("GET /", b)
	m.HandleFunc("GET /{$}", a)
	m.HandleFunc("GET /f/{rest...}", a)
	m.Handle("DELETE /t", t{})
	m.Handle("GET /static/", http.StripPrefix("/static/", http.FileServer(http.Dir("."))))
	http.HandleFunc("/plain", b)
}`, "GET / main.go::a\nGET /f/{rest} main.go::a\nGET /plain main.go::b\nDELETE /t main.go::t.ServeHTTP\nGET /x/{id} main.go::a\nPOST /y main.go::b\n"},
		{"methods_that_a_handler_tells_apart", "net/http", "-- main.go --\n" + muxHead + `
func items(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet:
		list(w, r)
	case "POST", "PUT":
		w.WriteHeader(201)
	default:
		http.Error(w, "", 405)
	}
}
func list(w http.ResponseWriter, r *http.Request) {}
func only(w http.ResponseWriter, r *http.Request) { if r.Method != "DELETE" { return } }
func main() { http.HandleFunc("/items", items); http.HandleFunc("/only", only) }
`, "GET /items main.go::list\nPOST /items main.go::items\nPUT /items main.go::items\nDELETE /only main.go::only\n"},
		{"sub_muxes", "net/http", "-- main.go --\n" + muxHead + `
func sub() *http.ServeMux { m := http.NewServeMux(); m.HandleFunc("GET /s", a); return m }
func whole() http.Handler { m := http.NewServeMux(); m.HandleFunc("GET /whole/x", b); return mw(m) }
func mw(next http.Handler) http.Handler { return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(w, r) }) }
func main() {
	m := http.NewServeMux()
	m.Handle("/api/", http.StripPrefix("/api", sub()))
	m.Handle("/whole/", whole())
	http.ListenAndServe("", mw(m))
}`, "GET /api/s main.go::a\nGET /whole/x main.go::b\n"},
		{"chains_of_middlewares", "net/http", "-- main.go --\n" + strings.Replace(muxHead, `import "net/http"`, "import (\n\"net/http\"\n\"github.com/justinas/alice\"\n)\n", 1) + `
func mw(next http.Handler) http.Handler { return next }
type logged struct { next http.Handler }
func (l *logged) ServeHTTP(w http.ResponseWriter, r *http.Request) { l.next.ServeHTTP(w, r) }
type chain []func(http.Handler) http.Handler
func (c chain) then(h http.HandlerFunc) http.Handler { return h }
type own func(w http.ResponseWriter, r *http.Request) error
func (o own) ServeHTTP(w http.ResponseWriter, r *http.Request) { o(w, r) }
func e(w http.ResponseWriter, r *http.Request) error { return nil }
func main() {
	m := http.NewServeMux()
	m.Handle("GET /alice", alice.New(mw).ThenFunc(a))
	m.Handle("GET /chain", chain{mw}.then(b))
	m.Handle("GET /func", mw(http.HandlerFunc(a)))
	m.Handle("GET /own", own(e))
	m.Handle("GET /type", &logged{next: http.HandlerFunc(b)})
}`, "GET /alice main.go::a\nGET /chain main.go::b\nGET /func main.go::a\nGET /own main.go::e\nGET /type main.go::b\n"},
		{"handlers_of_an_own_type", "net/http", "-- main.go --\n" + muxHead + `
type writer struct{ http.ResponseWriter }
type handler func(w writer, r *http.Request)
type app struct { mws []func(handler) handler }
func (x *app) use(m func(handler) handler) { x.mws = append(x.mws, m) }
func (x *app) on(p string, h handler) { for _, m := range x.mws { h = m(h) }; http.HandleFunc(p, adapt(h)) }
func adapt(h handler) http.HandlerFunc { return func(w http.ResponseWriter, r *http.Request) { h(writer{w}, r) } }
func logged(next handler) handler { return func(w writer, r *http.Request) { next(w, r) } }
func get(w writer, r *http.Request) {}
func main() { x := &app{}; x.use(logged); x.on("GET /x", get); x.on("GET /y", logged(get)) }
`, "GET /x main.go::get\nGET /y main.go::get\n"},
		{"generated_server", "chi", `-- api/gen.go --
// Code generated by some tool. DO NOT EDIT.
package api
import (
	"net/http"
	"github.com/go-chi/chi/v5"
)
type ServerInterface interface { GetPet(w http.ResponseWriter, r *http.Request, id string) }
type wrapper struct { Handler ServerInterface }
func (s *wrapper) GetPet(w http.ResponseWriter, r *http.Request) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Handler.GetPet(w, r, chi.URLParam(r, "id")) })
	handler.ServeHTTP(w, r)
}
type Options struct { BaseURL string; BaseRouter chi.Router }
func HandlerFromMux(si ServerInterface, r chi.Router) http.Handler { return HandlerWithOptions(si, Options{BaseRouter: r}) }
func HandlerWithOptions(si ServerInterface, options Options) http.Handler {
	r := options.BaseRouter
	w := wrapper{Handler: si}
	r.Group(func(r chi.Router) { r.Get(options.BaseURL+"/pets/{id}", w.GetPet) })
	return r
}
-- main.go --
package main
import (
	"net/http"
	"github.com/go-chi/chi/v5"
	"example.com/app/api"
)
type server struct{}
func (s *server) GetPet(w http.ResponseWriter, r *http.Request, id string) {}
func main() { r := chi.NewRouter(); api.HandlerFromMux(&server{}, r) }
`, "GET /pets/{id} main.go::server.GetPet\n"},
		{"settings_with_a_default", "gin", "-- main.go --\n" + ginHead + "type config struct { Prefix string `envDefault:\"/v1\"`; Other string }" + `
func load() *config { c := config{}; env.Parse(&c); return &c }
func main() { c := load(); r := gin.New(); r.Group(c.Prefix).GET("/x", a); r.Group(c.Other).GET("/y", a) }
`, "GET /v1/x main.go::a\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _ := goReaders[tt.framework].Read(newGoFiles(tt.archive))
			if d := cmp.Diff(tt.want, goLines(got)); d != "" {
				t.Error(d)
			}
		})
	}
}
