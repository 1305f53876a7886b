package routes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// goField writes a field: name:type/format!>=min<=max[enum]~pattern=example{fields}[items].
func goField(f Field) string {
	s := f.Name
	if f.Type != "" {
		s += ":" + f.Type
	}
	if f.Format != "" {
		s += "/" + f.Format
	}
	if f.Required {
		s += "!"
	}
	if f.Min != nil {
		s += fmt.Sprintf(">=%v", *f.Min)
	}
	if f.Max != nil {
		s += fmt.Sprintf("<=%v", *f.Max)
	}
	if f.Enum != nil {
		s += fmt.Sprint(f.Enum)
	}
	if f.Pattern != "" {
		s += "~" + f.Pattern
	}
	if f.Example != nil {
		s += fmt.Sprintf("=%v", f.Example)
	}
	if f.Fields != nil {
		s += "{" + goFields(f.Fields) + "}"
	}
	if f.Items != nil {
		s += "[" + goField(*f.Items) + "]"
	}
	return s
}

func goFields(all []Field) string {
	out := make([]string, 0, len(all))
	for _, f := range all {
		out = append(out, goField(f))
	}
	return strings.Join(out, " ")
}

// goSent is what a route is sent.
func goSent(r Route) string {
	var out []string
	if len(r.Params) > 0 {
		out = append(out, "params "+goFields(r.Params))
	}
	if len(r.Query) > 0 {
		out = append(out, "query "+goFields(r.Query))
	}
	if r.Body != nil {
		out = append(out, strings.TrimSpace(r.Body.Encoding+" "+r.Body.Type)+" "+goFields(r.Body.Fields))
	}
	return strings.Join(out, "; ")
}

func TestGoBodies(t *testing.T) {
	t.Parallel()
	gin := func(method, path, code string) string {
		return `-- main.go --
package main
import (
	"encoding/json"
	"io"
	"strconv"
	"time"
	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"
	"github.com/google/uuid"
)
func main() { r := gin.New(); r.` + method + `("` + path + `", h) }
` + code
	}
	web := func(pattern, code string) string {
		return `-- main.go --
package main
import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"github.com/go-chi/render"
	validation "github.com/go-ozzo/ozzo-validation/v4"
	"github.com/go-ozzo/ozzo-validation/v4/is"
	"github.com/gorilla/schema"
)
func main() { http.HandleFunc("` + pattern + `", h) }
` + code
	}
	tests := []struct{ name, framework, archive, want string }{
		{"types", "gin", gin("POST", "/", "type T struct {\n"+
			"A string `json:\"a\"`\nB *int `json:\"b,omitempty\"`\nC float64\nD bool `json:\"-\"`\nE []string `json:\"e\"`\nF map[string]int `json:\"f\"`\n"+
			"G time.Time `json:\"g\"`\nH uuid.UUID `json:\"h\"`\nI Kind `json:\"i\"`\nJ int `json:\"j,string\"`\nK []byte `json:\"k\"`\nl string\nM struct{ N int8 `json:\"n\"` } `json:\"m\"`\nO []*U `json:\"o\"`\nP any `json:\"p\"`\nQ *T `json:\"q\"`\n}\n"+
			"type U struct { V string `json:\"v\"` }\ntype Kind string\nconst (\nOne Kind = \"one\"\nTwo Kind = \"two\"\n)\n"+
			"func h(c *gin.Context) { var t T; c.ShouldBindJSON(&t) }"),
			"json T a:string b:integer C:number e:array[:string] f:object g:string/date-time h:string/uuid i:string[one two] j:string k:string m:object{n:integer} o:array[:object{v:string}] p q:object"},
		{"rules_of_tags", "gin", gin("POST", "/", "type T struct {\n"+
			"A string `json:\"a\" binding:\"required,email,max=255\"`\nB int `json:\"b\" binding:\"gte=1,lt=10\"`\nC string `json:\"c\" validate:\"oneof=x y 'z z'\"`\n"+
			"D []string `json:\"d\" binding:\"min=1,dive,required,alphanum\"`\nE string `json:\"e\" binding:\"omitempty,url\"`\nF string `json:\"f\" binding:\"datetime=2006-01-02\"`\n"+
			"G string `json:\"g\" binding:\"len=4,numeric\" example:\"1234\"`\nH string `json:\"h\" binding:\"exists\"`\nI int `json:\"i\" valid:\"Required;Range(1,3)\"`\n}\n"+
			"func h(c *gin.Context) { t := T{}; if err := c.BindJSON(&t); err != nil { return } }"),
			"json T a:string/email!<=255 b:integer>=1<=9 c:string[x y z z] d:array>=1[:string!~^[a-zA-Z0-9]+$] e:string/uri f:string/date g:string>=4<=4~^[-+]?[0-9]+(\\.[0-9]+)?$=1234 h:string! i:integer!>=1<=3"},
		{"embedded", "gin", gin("POST", "/", "type Base struct { ID int `json:\"id\"`; Name string `json:\"name\"` }\ntype T struct { *Base; Named Base `json:\"named\"`; ID string `json:\"id\"` }\n"+
			"func h(c *gin.Context) { t := new(T); c.ShouldBindBodyWith(t, binding.JSON) }"),
			"json T named:object{id:integer name:string} id:string name:string"},
		{"validator_that_binds_itself", "gin", gin("POST", "/", "type V struct { User struct { Name string `json:\"name\" form:\"name\"` } `json:\"user\"`; model int }\n"+
			"func NewV() V { return V{} }\nfunc Bind(c *gin.Context, obj interface{}) error { return c.ShouldBindWith(obj, binding.Default(c.Request.Method, \"\")) }\n"+
			"func (v *V) Bind(c *gin.Context) error { return Bind(c, v) }\nfunc h(c *gin.Context) { v := NewV(); v.Bind(c) }"),
			"json V user:object{name:string}"},
		{"context_in_a_struct", "gin", gin("POST", "/", "type G struct { C *gin.Context }\ntype T struct { A int `json:\"a\"` }\nfunc (g *G) Read(x any) { g.C.ShouldBindJSON(x) }\nfunc h(c *gin.Context) { g := G{C: c}; var t T; g.Read(&t) }"),
			"json T a:integer"},
		{"bytes", "gin", gin("POST", "/", "type T struct { A int `json:\"a\"` }\nfunc h(c *gin.Context) { b, _ := io.ReadAll(c.Request.Body); var t T; json.Unmarshal(b, &t) }"),
			"json T a:integer"},
		{"map", "gin", gin("POST", "/", "func h(c *gin.Context) { var m map[string]interface{}; c.BindJSON(&m); n := m[\"name\"].(string); k := m[\"n\"] }"),
			"json name:string n"},
		{"form", "gin", gin("POST", "/", "type T struct { A string `form:\"a\" binding:\"required\"`; B int }\nfunc h(c *gin.Context) { var t T; c.ShouldBind(&t) }"),
			"form T a:string! B:integer"},
		{"post_form", "gin", gin("POST", "/", "func h(c *gin.Context) { a := c.PostForm(\"a\"); n, _ := strconv.Atoi(c.DefaultPostForm(\"n\", \"1\")) }"),
			"form a:string n:integer"},
		{"query", "gin", gin("GET", "/", "type P struct { Page int `form:\"page,default=1\"`; Sort string `form:\"sort\" binding:\"oneof=asc desc\"` }\n"+
			"func h(c *gin.Context) { q := c.Query(\"q\"); l := c.DefaultQuery(\"limit\", \"20\"); n, err := strconv.Atoi(l); var p P; c.ShouldBindQuery(&p); x, ok := c.GetQuery(\"x\") }"),
			"query q limit:integer=20 page:integer=1 sort:string[asc desc] x"},
		{"bind_of_get", "gin", gin("GET", "/", "type P struct { A int `form:\"a\"` }\nfunc h(c *gin.Context) { var p P; c.ShouldBind(&p) }"), "query a:integer"},
		{"params", "gin", gin("GET", "/:a/:b/:c/:d", "type U struct { D int `uri:\"d\" binding:\"min=1\"` }\nfunc id(c *gin.Context) string { return c.Param(\"b\") }\n"+
			"func h(c *gin.Context) { a, _ := strconv.ParseInt(c.Param(\"a\"), 10, 64); b := id(c); _, err := uuid.Parse(b); x := c.Param(\"c\"); var u U; c.ShouldBindUri(&u) }"),
			"params a:integer! b:string/uuid! c! d:integer!>=1"},
		{"decoder", "net/http", web("POST /", "type T struct { A int `json:\"a\"` }\nfunc h(w http.ResponseWriter, r *http.Request) { r.Body = http.MaxBytesReader(w, r.Body, 10); d := json.NewDecoder(r.Body); d.DisallowUnknownFields(); var t struct { T; B string }; d.Decode(&t) }"),
			"json B:string a:integer"},
		{"helper", "net/http", web("POST /", "type app struct{}\ntype T struct { A int `json:\"a\"` }\nfunc (a *app) read(w http.ResponseWriter, r *http.Request, dst any) error { return json.NewDecoder(r.Body).Decode(dst) }\nvar a app\nfunc h(w http.ResponseWriter, r *http.Request) { var in T; a.read(w, r, &in) }"),
			"json T a:integer"},
		{"generic", "net/http", web("POST /", "type T struct { A int `json:\"a\"` }\nfunc decode[X any](r *http.Request) (X, error) { var v X; err := json.NewDecoder(r.Body).Decode(&v); return v, err }\nfunc h(w http.ResponseWriter, r *http.Request) { t, err := decode[T](r) }"),
			"json T a:integer"},
		{"generic_by_argument", "net/http", web("POST /", "type T struct { A int `json:\"a\"` }\nfunc decode[X any](r *http.Request, v *X) error { return json.NewDecoder(r.Body).Decode(v) }\nfunc h(w http.ResponseWriter, r *http.Request) { var t T; decode(r, &t) }"),
			"json T a:integer"},
		{"generic_in_a_variable", "net/http", web("POST /", "type T struct { A int `json:\"a\"` }\nfunc decode[X any](r *http.Request, to *X) { var v X; json.NewDecoder(r.Body).Decode(&v); *to = v }\nfunc h(w http.ResponseWriter, r *http.Request) { var t T; decode(r, &t) }"),
			"json T a:integer"},
		{"render_and_ozzo", "net/http", web("POST /", "type T struct { Email string; Name string `json:\"name\"`; Kind string `json:\"kind\"` }\nfunc (t *T) Bind(r *http.Request) error { return validation.ValidateStruct(t, validation.Field(&t.Email, validation.Required, is.Email), validation.Field(&t.Name, validation.Length(2, 20)), validation.Field(&t.Kind, validation.In(\"a\", \"b\"))) }\n"+
			"func h(w http.ResponseWriter, r *http.Request) { data := &T{}; if err := render.Bind(r, data); err != nil { return } }"),
			"json T Email:string/email! name:string>=2<=20 kind:string[a b]"},
		{"checks_by_hand", "net/http", web("POST /", "const least = 8\ntype T struct { A string `json:\"a\"`; B string `json:\"b\"`; C string `json:\"c\"`; D struct { E string `json:\"e\"` } `json:\"d\"` }\nfunc (t T) Validate() error { if t.C == \"\" { return nil }; return nil }\nfunc check(t T) bool { return len(t.D.E) > 5 }\n"+
			"func h(w http.ResponseWriter, r *http.Request) { var t T; json.NewDecoder(r.Body).Decode(&t); if t.A == \"\" || len(t.B) < least { return }; check(t) }"),
			"json T a:string! b:string!>=8 c:string! d:object{e:string<=5}"},
		{"values", "net/http", web("GET /{id}", "var dec = schema.NewDecoder()\ntype F struct { Sort string `schema:\"sort\"` }\nfunc h(w http.ResponseWriter, r *http.Request) { q := r.URL.Query(); a := q.Get(\"a\"); n, _ := strconv.Atoi(r.URL.Query().Get(\"n\")); f := r.FormValue(\"f\"); i, _ := strconv.Atoi(r.PathValue(\"id\")); var s F; dec.Decode(&s, r.URL.Query()); b := q[\"b\"] }"),
			"params id:integer!; query a n:integer f sort:string b"},
		{"form_values", "net/http", web("POST /", "func h(w http.ResponseWriter, r *http.Request) { r.ParseForm(); a := r.Form.Get(\"a\"); b := r.PostFormValue(\"b\"); c := r.FormValue(\"c\") }"),
			"form a:string b:string c:string"},
		{"rest_of_the_path", "net/http", web("/items/", "func h(w http.ResponseWriter, r *http.Request) { id, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, \"/items/\")) }"),
			"params id:integer!"},
		{"part_of_the_path", "net/http", web("/items/", "func h(w http.ResponseWriter, r *http.Request) { parts := strings.Split(strings.Trim(r.URL.Path, \"/\"), \"/\"); id, err := strconv.Atoi(parts[1]) }"),
			"params id:integer!"},
		{"path_that_is_compared", "net/http", web("/items/", "func h(w http.ResponseWriter, r *http.Request) { if r.URL.Path != \"/items/\" { return } }"),
			""},
		{"one_method_of_many", "net/http", web("/", "type T struct { A int `json:\"a\"` }\nfunc h(w http.ResponseWriter, r *http.Request) { if r.Method == http.MethodPost { var t T; json.NewDecoder(r.Body).Decode(&t) } else if r.Method == http.MethodGet { q := r.URL.Query().Get(\"q\") } }"),
			"query q"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			all, _ := goReaders[tt.framework].Read(newGoFiles(tt.archive))
			if len(all) == 0 {
				t.Fatal("no route")
			}
			if d := cmp.Diff(tt.want, goSent(all[0])); d != "" {
				t.Error(d)
			}
		})
	}
}
