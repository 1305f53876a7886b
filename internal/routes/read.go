package routes

import (
	"path"
	"regexp"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// Readers are the frameworks that are read. Where two have as many routes, the first wins.
var Readers = []Reader{
	FastAPI,
	Flask,
	Gin,
	Chi,
	NetHTTP,
}

// Known are the frameworks that are known and not read.
var Known = []Unsupported{
	{"Django", "python", []string{"django", "rest_framework", "ninja"}},
	{"Tornado", "python", []string{"tornado"}},
	{"aiohttp", "python", []string{"aiohttp.web"}},
	{"Sanic", "python", []string{"sanic"}},
	{"Quart", "python", []string{"quart"}},
	{"Litestar", "python", []string{"litestar", "starlite"}},
	{"BlackSheep", "python", []string{"blacksheep"}},
	{"Bottle", "python", []string{"bottle"}},
	{"Falcon", "python", []string{"falcon"}},
	{"Pyramid", "python", []string{"pyramid"}},
	{"CherryPy", "python", []string{"cherrypy"}},
	{"Robyn", "python", []string{"robyn"}},
	{"Connexion", "python", []string{"connexion"}},
	{"Eve", "python", []string{"eve"}},
	{"web.py", "python", []string{"web"}},
	{"Starlette", "python", []string{"starlette"}},
	{"gRPC", "python", []string{"grpc"}},
	{"Echo", "go", []string{"github.com/labstack/echo"}},
	{"Fiber", "go", []string{"github.com/gofiber/fiber"}},
	{"gorilla/mux", "go", []string{"github.com/gorilla/mux"}},
	{"httprouter", "go", []string{"github.com/julienschmidt/httprouter"}},
	{"Iris", "go", []string{"github.com/kataras/iris"}},
	{"Beego", "go", []string{"github.com/beego/beego", "github.com/astaxie/beego"}},
	{"Revel", "go", []string{"github.com/revel/revel"}},
	{"gRPC-Gateway", "go", []string{"github.com/grpc-ecosystem/grpc-gateway"}},
	{"go-zero", "go", []string{"github.com/zeromicro/go-zero", "github.com/tal-tech/go-zero"}},
	{"Hertz", "go", []string{"github.com/cloudwego/hertz"}},
	{"Kratos", "go", []string{"github.com/go-kratos/kratos"}},
	{"GoFrame", "go", []string{"github.com/gogf/gf"}},
	{"GoFr", "go", []string{"gofr.dev"}},
	{"Goa", "go", []string{"goa.design/goa", "github.com/goadesign/goa"}},
	{"Huma", "go", []string{"github.com/danielgtaylor/huma"}},
	{"Fuego", "go", []string{"github.com/go-fuego/fuego"}},
	{"Encore", "go", []string{"encore.dev"}},
	{"Buffalo", "go", []string{"github.com/gobuffalo/buffalo"}},
	{"go-restful", "go", []string{"github.com/emicklei/go-restful"}},
	{"ozzo-routing", "go", []string{"github.com/go-ozzo/ozzo-routing", "github.com/qiangxue/fasthttp-routing"}},
	{"fasthttp", "go", []string{"github.com/valyala/fasthttp", "github.com/fasthttp/router"}},
	{"bunrouter", "go", []string{"github.com/uptrace/bunrouter"}},
	{"flow", "go", []string{"github.com/alexedwards/flow"}},
	{"pat", "go", []string{"github.com/bmizerany/pat", "github.com/gorilla/pat"}},
	{"way", "go", []string{"github.com/matryer/way"}},
	{"Macaron", "go", []string{"gopkg.in/macaron.v1"}},
	{"Martini", "go", []string{"github.com/go-martini/martini"}},
	{"Twirp", "go", []string{"github.com/twitchtv/twirp"}},
	{"Connect", "go", []string{"connectrpc.com/connect", "github.com/bufbuild/connect-go"}},
	{"gRPC", "go", []string{"google.golang.org/grpc"}},
}

// Unread says that no reader finds a route in a tree.
type Unread struct {
	Framework string // a known one that its code imports; "" where there is none
}

func (u *Unread) Error() string {
	if u.Framework == "" {
		return "no framework whose routes are read"
	}
	return "the routes of " + u.Framework + " are not read"
}

// Read gives the routes of the framework that declares most of them. An error is an *Unread.
func Read(t lang.Tree, language string) (Table, error) {
	var best Table
	s := newSource(t)
	for _, r := range Readers {
		if r.Language != language {
			continue
		}
		found, unread := r.read(s)
		if len(found) > len(best.Routes) {
			best = Table{Framework: r.Framework, Routes: found, Unread: unread}
		}
	}
	if len(best.Routes) == 0 {
		return Table{}, &Unread{Framework: unsupported(t, language)}
	}
	return best, nil
}

// unsupported names the known framework that most files import; of equals the first.
func unsupported(t lang.Tree, language string) string {
	count := map[string]int{}
	forms := map[string]*lazyregexp.Regexp{}
	for _, u := range Known {
		if u.Language == language {
			forms[u.Framework] = importForm(u)
		}
	}
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
	}
	best := ""
	for _, u := range Known {
		if u.Language == language && count[u.Framework] > count[best] {
			best = u.Framework
		}
	}
	return best
}

var extensions = map[string]string{"python": ".py", "go": ".go"}

// maxSource bounds a file that is read: what is larger was written by a program.
const maxSource = 1 << 20

// importForm matches a line that imports one of the packages of a framework, or one inside of it.
func importForm(u Unsupported) *lazyregexp.Regexp {
	var forms []string
	for _, name := range u.Imports {
		quoted := regexp.QuoteMeta(name)
		if u.Language == "go" {
			forms = append(forms, `^(?:import)?[ \t]*(?:[\w.]+[ \t]+)?["`+"`]"+quoted+`(?:/[^"`+"`]*)?[\"`]")
			continue
		}
		forms = append(forms, `^[ \t]*(?:from|import)[ \t]+`+quoted+`(?:[ \t.,]|$)`)
		if parent, member, ok := cutLast(name); ok {
			forms = append(forms, `^[ \t]*from[ \t]+`+regexp.QuoteMeta(parent)+`[ \t]+import[ \t(]+(?:.*\b)?`+regexp.QuoteMeta(member)+`\b`)
		}
	}
	return lazyregexp.New("(?m)" + strings.Join(forms, "|"))
}

func cutLast(name string) (before, after string, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
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
