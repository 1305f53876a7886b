package routes

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Framework is a web framework that a tree may be written with.
type Framework struct {
	Name     string
	Language string // of its code: python, go
	// Imports are the packages that tell it, as the language imports them.
	Imports []string
	// Hooked says that its services tell their routes (package look). Others are known and named.
	Hooked bool
}

// Frameworks are those that are known. Where files import several, the first one here that is hooked is the tree's: what stands on
// another stands before it.
var Frameworks = []Framework{
	{"fastapi", "python", []string{"fastapi"}, true},
	{"flask", "python", []string{"flask", "flask_restx", "flask_restful", "flask_smorest", "apiflask", "apifairy"}, true},
	{"django", "python", []string{"django", "rest_framework", "ninja"}, true},
	{"aiohttp", "python", []string{"aiohttp.web"}, true},
	{"starlette", "python", []string{"starlette"}, true},
	{"gin", "go", []string{"github.com/gin-gonic/gin"}, true},
	{"chi", "go", []string{"github.com/go-chi/chi"}, true},
	{"gorilla/mux", "go", []string{"github.com/gorilla/mux"}, true},
	{"echo", "go", []string{"github.com/labstack/echo"}, true},
	{"fiber", "go", []string{"github.com/gofiber/fiber"}, true},
	{"httprouter", "go", []string{"github.com/julienschmidt/httprouter"}, true},
	{"Tornado", "python", []string{"tornado"}, false},
	{"Sanic", "python", []string{"sanic"}, false},
	{"Quart", "python", []string{"quart"}, false},
	{"Litestar", "python", []string{"litestar", "starlite"}, false},
	{"BlackSheep", "python", []string{"blacksheep"}, false},
	{"Bottle", "python", []string{"bottle"}, false},
	{"Falcon", "python", []string{"falcon"}, false},
	{"Pyramid", "python", []string{"pyramid"}, false},
	{"CherryPy", "python", []string{"cherrypy"}, false},
	{"Robyn", "python", []string{"robyn"}, false},
	{"Connexion", "python", []string{"connexion"}, false},
	{"Eve", "python", []string{"eve"}, false},
	{"web.py", "python", []string{"web"}, false},
	{"gRPC", "python", []string{"grpc"}, false},
	{"Iris", "go", []string{"github.com/kataras/iris"}, false},
	{"Beego", "go", []string{"github.com/beego/beego", "github.com/astaxie/beego"}, false},
	{"Revel", "go", []string{"github.com/revel/revel"}, false},
	{"gRPC-Gateway", "go", []string{"github.com/grpc-ecosystem/grpc-gateway"}, false},
	{"go-zero", "go", []string{"github.com/zeromicro/go-zero", "github.com/tal-tech/go-zero"}, false},
	{"Hertz", "go", []string{"github.com/cloudwego/hertz"}, false},
	{"Kratos", "go", []string{"github.com/go-kratos/kratos"}, false},
	{"GoFrame", "go", []string{"github.com/gogf/gf"}, false},
	{"GoFr", "go", []string{"gofr.dev"}, false},
	{"Goa", "go", []string{"goa.design/goa", "github.com/goadesign/goa"}, false},
	{"Huma", "go", []string{"github.com/danielgtaylor/huma"}, false},
	{"Fuego", "go", []string{"github.com/go-fuego/fuego"}, false},
	{"Encore", "go", []string{"encore.dev"}, false},
	{"Buffalo", "go", []string{"github.com/gobuffalo/buffalo"}, false},
	{"go-restful", "go", []string{"github.com/emicklei/go-restful"}, false},
	{"ozzo-routing", "go", []string{"github.com/go-ozzo/ozzo-routing", "github.com/qiangxue/fasthttp-routing"}, false},
	{"fasthttp", "go", []string{"github.com/valyala/fasthttp", "github.com/fasthttp/router"}, false},
	{"bunrouter", "go", []string{"github.com/uptrace/bunrouter"}, false},
	{"flow", "go", []string{"github.com/alexedwards/flow"}, false},
	{"pat", "go", []string{"github.com/bmizerany/pat", "github.com/gorilla/pat"}, false},
	{"way", "go", []string{"github.com/matryer/way"}, false},
	{"Macaron", "go", []string{"gopkg.in/macaron.v1"}, false},
	{"Martini", "go", []string{"github.com/go-martini/martini"}, false},
	{"Twirp", "go", []string{"github.com/twitchtv/twirp"}, false},
	{"Connect", "go", []string{"connectrpc.com/connect", "github.com/bufbuild/connect-go"}, false},
	{"gRPC", "go", []string{"google.golang.org/grpc"}, false},
	{"net/http", "go", []string{"net/http"}, true}, // the last of Go's: most others stand on it
}

// Imports are the packages that tell a framework; nil of one that is not known.
func Imports(framework string) []string {
	for _, f := range Frameworks {
		if f.Name == framework {
			return f.Imports
		}
	}
	return nil
}

// Tree is the files of a commit.
type Tree interface {
	Paths() []string
	Read(path string) ([]byte, error)
}

// Guess is what a tree says of its service before anything is built.
type Guess struct {
	Framework string // "" where no known one is imported
	Hooked    bool
	// Declared is roughly how many routes are declared, and Groups the names of the groups that their literals show, sorted.
	Declared int
	Groups   []string
}

// declared match a declaration of a route, and give the literal of its path. A prefix counts as one: it names groups.
var declared = map[string]*lazyregexp.Regexp{
	"go":     lazyregexp.New("\\.(?:GET|POST|PUT|PATCH|DELETE|Get|Post|Put|Patch|Delete|Any|All|Handle|HandleFunc|HandlerFunc|Handler|Method|MethodFunc|Path|PathPrefix|Route|Group|Mount)\\(\\s*(?:[\\w.]+,\\s*)?[\"`](?:[A-Z]+ )?(/[^\"`\\s]*)[\"`]"),
	"python": lazyregexp.New(`(?:\.(?:route|get|post|put|patch|delete|api_route|add_url_rule|add_get|add_post|add_put|add_delete|add_route|add_resource|view)|\b(?:re_)?path|\burl|\bRoute|\bMount|\.register)\(\s*(?:[\w.]+,\s*)?(?:["'][A-Z]+["'],\s*)?r?["']\^?(/?[^"'\s]*)["']|(?:\b(?:url_)?prefix\s*=\s*)["'](/[^"'\s]*)["']`),
}

// maxSource bounds a file that is read: what is larger was written by a program.
const maxSource = 1 << 20

// Gate reads which framework the code of a language is written with, and roughly what it declares.
func Gate(t Tree, language string) Guess {
	count := map[string]int{}
	groups := map[string]bool{}
	forms := map[string]*lazyregexp.Regexp{}
	for _, f := range Frameworks {
		if f.Language == language {
			forms[f.Name] = importForm(f)
		}
	}
	var g Guess
	for _, p := range t.Paths() {
		if path.Ext(p) != extensions[language] || aside(p) {
			continue
		}
		source, err := t.Read(p)
		if err != nil || len(source) > maxSource {
			continue
		}
		for name, form := range forms {
			if form.Match(source) {
				count[name]++
			}
		}
		for _, m := range declared[language].FindAllSubmatch(source, -1) {
			g.Declared++
			r := Route{Path: Template(cmp.Or(string(m[1]), string(m[len(m)-1])))}
			if name := r.Group(); name != "" {
				groups[name] = true
			}
		}
	}
	g.Groups = slices.Sorted(maps.Keys(groups))
	g.Framework, g.Hooked = choose(language, count)
	return g
}

// choose is the first hooked framework that is imported, of net/http only where no other is known; else the known one that
// most files import.
func choose(language string, count map[string]int) (name string, hooked bool) {
	best := 0
	for _, f := range Frameworks {
		n := count[f.Name]
		if f.Language != language || n == 0 {
			continue
		}
		if f.Hooked && (f.Name != "net/http" || name == "" || strings.HasPrefix(name, "gRPC")) {
			return f.Name, true
		}
		if n > best && f.Name != "net/http" {
			name, best = f.Name, n
		}
	}
	return name, false
}

var extensions = map[string]string{"python": ".py", "go": ".go"}

// importForm matches a line that imports one of the packages of a framework, or one inside of it.
func importForm(f Framework) *lazyregexp.Regexp {
	var forms []string
	for _, name := range f.Imports {
		quoted := regexp.QuoteMeta(name)
		if f.Language == "go" {
			forms = append(forms, `^(?:import)?[ \t]*(?:[\w.]+[ \t]+)?["`+"`]"+quoted+`(?:/[^"`+"`]*)?[\"`]")
			continue
		}
		forms = append(forms, `^[ \t]*(?:from|import)[ \t]+`+quoted+`(?:[ \t.,]|$)`)
		if parent, member, ok := strings.Cut(name, "."); ok {
			forms = append(forms, `^[ \t]*from[ \t]+`+parent+`[ \t]+import[ \t(]+(?:.*\b)?`+member+`\b`)
		}
	}
	return lazyregexp.New("(?m)" + strings.Join(forms, "|"))
}

// asideFolders hold code that is no part of a service.
var asideFolders = map[string]bool{
	"test": true, "tests": true, "testing": true, "testdata": true, "unittests": true, "spec": true, "specs": true, "e2e": true,
	"integration_tests": true, "functional_tests": true, "unit_tests": true, "_tests": true,
	"example": true, "examples": true, "_examples": true, "sample": true, "samples": true, "demo": true, "demos": true, "docs": true, "doc": true,
	"benchmark": true, "benchmarks": true, "vendor": true, "vendored": true, "_vendor": true, "third_party": true, "node_modules": true,
	"site-packages": true, "venv": true, ".venv": true, "env": true, "virtualenv": true, "dist": true, "build": true, "tests_benchmint": true,
}

// aside reports whether a path is of tests, examples, documentation or code of others.
func aside(p string) bool {
	dir, base := path.Split(p)
	if strings.HasSuffix(base, "_test.go") || base == "conftest.py" || strings.HasSuffix(base, ".py") && (strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py") || base == "tests.py") {
		return true
	}
	for s := range strings.SplitSeq(strings.Trim(dir, "/"), "/") {
		if asideFolders[s] || strings.HasPrefix(s, ".") && s != "." {
			return true
		}
	}
	return false
}
