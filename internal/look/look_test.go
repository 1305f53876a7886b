package look_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/routes"
)

func TestRead(t *testing.T) {
	t.Parallel()
	r := look.Read([]byte(`{"fact":"env","name":"PORT","at":"/testbed/main.go:3"}
what the service prints
{"fact":"env","name":"PORT","set":true,"at":"/testbed/main.go:3"}
{"fact":"route","framework":"httprouter","method":"POST","path":"/items","func":"main.create","file":"/testbed/main.go"}
{"fact":"route","framework":"httprouter","method":"POST","path":"/items","func":"router.wrap.func1","file":"/opt/router.go"}
{"fact":"request","method":"POST","path":"/items"}
{"fact":"body","in":"json","type":"main.Item","fields":[{"name":"title","type":"string","required":true}]}
{"fact":"request","method":"GET","path":"/items"}
{"fact":"key","in":"query","name":"limit"}
{"fact":"dial","addr":"db:5432"}
{"fact":"route","method":"GET","path":"` + strings.Repeat("x", 2000) + `"}
{"fact":"env","name":"LA`))
	want := look.Report{
		Env:    []look.Fact{{Fact: "env", Name: "PORT", Set: true, At: "/testbed/main.go:3"}},
		Dials:  []look.Fact{{Fact: "dial", Addr: "db:5432"}},
		Routes: []look.Fact{{Fact: "route", Framework: "httprouter", Method: "POST", Path: "/items", Func: "main.create", File: "/testbed/main.go"}},
		Reads: []look.Fact{
			{Fact: "body", Method: "POST", Path: "/items", In: "json", Type: "main.Item", Fields: []look.Field{{Name: "title", Type: "string", Required: true}}},
			{Fact: "key", Method: "GET", Path: "/items", In: "query", Name: "limit"},
		},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The port of what listens counts, whatever its host.
func TestPorts(t *testing.T) {
	t.Parallel()
	r := look.Read([]byte(`{"fact":"listen","addr":"127.0.0.1:9090"}
{"fact":"listen","addr":"[::]:8080"}
{"fact":"listen","addr":"0.0.0.0:8080"}
{"fact":"listen","addr":"0.0.0.0:0"}
{"fact":"listen","addr":"nowhere"}
{"fact":"listen","addr":"a:99999"}`))
	if diff := cmp.Diff([]int{9090, 8080}, r.Ports()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A service that writes to the file of its hook gets no further than the bounds.
func TestReadFlood(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 30000 {
		fmt.Fprintf(&b, `{"fact":"route","method":"GET","path":"/flood/%d"}`+"\n", i)
		fmt.Fprintf(&b, `{"fact":"env","name":"FLOOD_%d"}`+"\n", i)
	}
	deep := strings.Repeat(`{"name":"a","fields":[`, 50) + strings.Repeat(`]}`, 50)
	b.WriteString(`{"fact":"body","in":"json","fields":[` + deep + "]}\n")
	r := look.Read([]byte(b.String()))
	if len(r.Routes) != 2000 || len(r.Env) != 1000 || len(r.Reads) != 0 || !r.Cut {
		t.Errorf("%d routes, %d variables, %d bodies, cut %t", len(r.Routes), len(r.Env), len(r.Reads), r.Cut)
	}
}

func TestTable(t *testing.T) {
	t.Parallel()
	r := look.Report{Routes: []look.Fact{
		{Framework: "flask", Method: "GET", Path: "/users/<int:id>", Func: "one"},
		{Framework: "flask", Method: "HEAD", Path: "/users/<int:id>", Func: "one"},
		{Framework: "flask", Method: "GET", Path: "/docs", Doc: true},
		{Framework: "net/http", Path: "/tasks/", Func: "main.tasks"},
		{Framework: "flask", Method: "post", Path: "/users", Func: "add", Takes: []look.Fact{{Fact: "body", In: "json", Fields: []look.Field{{Name: "mail"}}}, {Fact: "key", In: "query", Name: "dry"}}},
	}}
	got := r.Table(func(f look.Fact) look.Answering {
		return look.Answering{Function: routes.Function{Path: "app.py", Name: f.Func}}
	})
	want := routes.Table{Framework: "flask", Routes: []routes.Route{
		{Path: "/tasks/{id}", Params: []look.Field{{Name: "id"}}, Handler: routes.Function{Path: "app.py", Name: "main.tasks"}},
		{
			Method: "POST", Path: "/users", Handler: routes.Function{Path: "app.py", Name: "add"}, Query: []look.Field{{Name: "dry"}},
			Body: &routes.Body{Encoding: "json", Fields: []look.Field{{Name: "mail"}}},
		},
		{Method: "GET", Path: "/users/{id}", Params: []look.Field{{Name: "id", Type: "integer"}}, Handler: routes.Function{Path: "app.py", Name: "one"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTake(t *testing.T) {
	t.Parallel()
	body := func(in string, names ...string) look.Fact {
		f := look.Fact{Fact: "body", In: in}
		for _, n := range names {
			f.Fields = append(f.Fields, look.Field{Name: n})
		}
		return f
	}
	key := func(in, name string) look.Fact { return look.Fact{Fact: "key", In: in, Name: name} }
	for name, c := range map[string]struct {
		method string
		facts  []look.Fact
		want   string
	}{
		"a_body":                {"POST", []look.Fact{body("json", "a", "b")}, "json [a b] query [] true"},
		"keys_one_by_one":       {"POST", []look.Fact{key("json", "a"), key("json", "b"), key("json", "a")}, "json [a b] query [] false"},
		"a_mapping_then_a_form": {"POST", []look.Fact{body("json"), key("form", "a")}, "form [a] query [] true"},
		"keys_in_an_object":     {"POST", []look.Fact{key("json", "user"), key("json", "user.mail"), key("json", "user.name")}, "json [user[mail name]] query [] true"},
		"a_body_stays":          {"POST", []look.Fact{body("json", "a"), key("form", "x")}, "json [a] query [] false"},
		"query_then_body":       {"POST", []look.Fact{key("query", "a"), key("query", "b"), body("json", "a")}, "json [a] query [b] true"},
		"body_then_query":       {"PUT", []look.Fact{body("json", "a"), key("query", "a")}, "json [a] query [] false"},
		"a_removal":             {"DELETE", []look.Fact{key("query", "a"), key("form", "a")}, "form [a] query [a] true"},
		"a_read_has_no_body":    {"GET", []look.Fact{body("json", "a"), key("query", "q")}, " [] query [q] true"},
	} {
		r := routes.Route{Method: c.method}
		news := false
		for _, f := range c.facts {
			news = look.Take(&r, f)
		}
		names := func(all []look.Field) (out []string) {
			for _, f := range all {
				name := f.Name
				if len(f.Fields) > 0 {
					var inner []string
					for _, x := range f.Fields {
						inner = append(inner, x.Name)
					}
					name += fmt.Sprint(inner)
				}
				out = append(out, name)
			}
			return out
		}
		var b routes.Body
		if r.Body != nil {
			b = *r.Body
		}
		if got := fmt.Sprintf("%s %v query %v %t", b.Encoding, names(b.Fields), names(r.Query), news); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// TestBehind: one function without a name stands in front of two routes, and a helper runs behind both. The handler of each is what
// ran for its path alone; a route whose handler is known keeps it.
func TestBehind(t *testing.T) {
	t.Parallel()
	answering := func(f look.Fact) look.Answering {
		return look.Answering{Function: routes.Function{Path: f.File, Name: f.Func}}
	}
	stack := func(names ...string) (out []routes.Frame) { // innermost first
		for _, n := range names {
			out = append(out, routes.Frame{Func: n, File: "api.go"})
		}
		return out
	}
	one := func(path, handler string, names ...string) routes.Route {
		return routes.Route{Path: path, Handler: routes.Function{Path: "api.go", Name: handler}, Stack: stack(names...)}
	}
	table := routes.Table{Routes: []routes.Route{
		one("/notes", "serve:7", "write", "listNotes", "serve:7"),
		one("/users", "serve:7", "write", "listUsers", "serve:7"),
		one("/told", "told", "write", "other", "told"),
		one("/alone", "serve:9", "write", "listAlone", "serve:9"),
		one("/unnamed", "", "write", "unnamed", "told"),
		one("/silent", "serve:7"),
	}}
	look.Behind(&table, answering)
	var got []string
	for _, r := range table.Routes {
		got = append(got, r.Path+" "+r.Handler.Name)
	}
	want := "/notes listNotes, /users listUsers, /told told, /alone serve:9, /unnamed unnamed, /silent serve:7"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

func TestInTree(t *testing.T) {
	t.Parallel()
	for abs, want := range map[string]string{"/testbed/a/b.py": "a/b.py", "/testbed/../etc/passwd": "", "/testbed": "", "/opt/env/x.py": "", "a.py": ""} {
		if got, ok := look.InTree(abs, ""); got != want || ok != (want != "") {
			t.Errorf("%s: got %q", abs, got)
		}
	}
}
