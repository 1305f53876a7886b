package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/schemas"
)

// ask is a case of the toy service.
func ask(id, method, path string, needs ...string) Case {
	return Case{ID: id, Kind: Happy, Needs: needs, Endpoint: schemas.Endpoint{Method: method, Path: path}, Request: Request{Path: path}}
}

// answer is one in JSON.
func answer(status int, body string) Answer {
	return Answer{Status: status, Headers: map[string]string{"content-type": "application/json; charset=utf-8"}, Body: []byte(body)}
}

// replays gives each case the answers of its row, one for each replay.
func replays(cases []Case, rows ...[]Answer) [][]Exchanged {
	out := make([][]Exchanged, len(rows[0]))
	for i, row := range rows {
		for r, a := range row {
			out[r] = append(out[r], Exchanged{Case: cases[i].ID, Answer: a})
		}
	}
	return out
}

// merged gives the cases as JSON, and the report.
func merged(t *testing.T, cases []Case, rows ...[]Answer) ([]Case, Report) {
	t.Helper()
	m, err := Merge(cases, replays(cases, rows...))
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate(Suite{Format: Format, Groups: []*Group{{Name: "g", Cases: m.Cases}}}); err != nil {
		t.Fatalf("what was merged is not valid: %v", err)
	}
	return m.Cases, m.Report
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := schemas.Canonical(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestMergeBodies(t *testing.T) {
	t.Parallel()
	const (
		u1, u2 = "6f1c2a52-7c55-4f0e-9a55-0f1d6a0a0001", "0b9d8c11-1c11-4b6e-8d11-3f1d6a0a0002"
		j1     = "eyJhbGciOiJIUzI1NiJ9.eyJpZCI6MX0.abc_DEF-123"
	)
	for name, c := range map[string]struct {
		bodies []string
		want   string
	}{
		"equal":                 {[]string{`{"a":1,"b":[true,null]}`, `{"b":[true,null],"a":1}`}, `{"equal":{"a":1,"b":[true,null]}}`},
		"integer_differs":       {[]string{`{"n":4}`, `{"n":5}`}, `{"object":{"n":{"type":"integer"}}}`},
		"number":                {[]string{`{"n":4}`, `{"n":4.5}`}, `{"object":{"n":{"type":"number"}}}`},
		"text_differs":          {[]string{`{"n":"ab"}`, `{"n":"cd"}`}, `{"object":{"n":{"type":"string"}}}`},
		"digits_differ":         {[]string{`{"n":"12"}`, `{"n":"13"}`}, `{"object":{"n":{"form":"integer"}}}`},
		"null_is_a_type":        {[]string{`{"n":null,"m":1}`, `{"n":null,"m":2}`}, `{"object":{"m":{"type":"integer"},"n":{"type":"null"}}}`},
		"uuid":                  {[]string{`{"n":"` + u1 + `"}`, `{"n":"` + u2 + `"}`}, `{"object":{"n":{"form":"uuid"}}}`},
		"uuid_by_chance":        {[]string{`{"n":"` + u1 + `"}`, `{"n":"` + u1 + `"}`}, `{"object":{"n":{"form":"uuid"}}}`},
		"time_by_chance":        {[]string{`{"createdAt":"2026-11-26T21:40:00Z"}`, `{"createdAt":"2026-11-26T21:40:00Z"}`}, `{"object":{"createdAt":{"form":"time"}}}`},
		"zero_time":             {[]string{`{"deletedAt":"0001-01-01T00:00:00Z"}`, `{"deletedAt":"0001-01-01T00:00:00Z"}`}, `{"equal":{"deletedAt":"0001-01-01T00:00:00Z"}}`},
		"date_in_text":          {[]string{`{"slug":"post-2026-11-26"}`, `{"slug":"post-2026-11-26"}`}, `{"object":{"slug":{"type":"string"}}}`},
		"epoch_by_chance":       {[]string{`{"exp":1795729200}`, `{"exp":1795729200}`}, `{"object":{"exp":{"type":"integer"}}}`},
		"number_like_epoch":     {[]string{`{"size":1795729200}`, `{"size":1795729200}`}, `{"equal":{"size":1795729200}}`},
		"jwt_by_chance":         {[]string{`{"token":"` + j1 + `"}`, `{"token":"` + j1 + `"}`}, `{"object":{"token":{"form":"jwt"}}}`},
		"token_by_chance":       {[]string{`{"access_token":"0123456789abcdef"}`, `{"access_token":"0123456789abcdef"}`}, `{"object":{"access_token":{"type":"string"}}}`},
		"token_type":            {[]string{`{"token_type":"bearer"}`, `{"token_type":"bearer"}`}, `{"equal":{"token_type":"bearer"}}`},
		"keys_differ":           {[]string{`{"a":{"b":1}}`, `{"a":{"c":1}}`}, `{"object":{"a":{"type":"object"}}}`},
		"lengths_differ":        {[]string{`{"a":[1]}`, `{"a":[1,2]}`}, `{"object":{"a":{"type":"array"}}}`},
		"only_the_order":        {[]string{`["go","py","js"]`, `["js","go","py"]`}, `{"set":[{"equal":"go"},{"equal":"py"},{"equal":"js"}]}`},
		"order_and_times":       {[]string{`[{"a":1,"at":"2026-11-26 10:00:01"},{"a":2,"at":"2026-11-26 10:00:02"}]`, `[{"a":2,"at":"2026-11-26 10:00:04"},{"a":1,"at":"2026-11-26 10:00:03"}]`}, `{"set":[{"object":{"a":{"equal":1},"at":{"form":"time"}}},{"object":{"a":{"equal":2},"at":{"form":"time"}}}]}`},
		"order_and_ids":         {[]string{`[{"a":"x","id":"qwerty"},{"a":"y","id":"asdfgh"}]`, `[{"a":"y","id":"poiuyt"},{"a":"x","id":"lkjhgf"}]`}, `{"set":[{"object":{"a":{"equal":"x"},"id":{"type":"string"}}},{"object":{"a":{"equal":"y"},"id":{"type":"string"}}}]}`},
		"list_in_order":         {[]string{`[{"a":1,"n":7},2]`, `[{"a":1,"n":8},2]`}, `{"list":[{"object":{"a":{"equal":1},"n":{"type":"integer"}}},{"equal":2}]}`},
		"empty_list":            {[]string{`[]`, `[]`}, `{"equal":[]}`},
		"null_or_text":          {[]string{`{"a":{"b":null,"c":1}}`, `{"a":{"b":"x","c":1}}`}, `{"object":{"a":{"type":"object"}}}`},
		"object_or_list":        {[]string{`{"a":{}}`, `{"a":[]}`}, `{"type":"object"}`},
		"whole_is_of_two_types": {[]string{`{"a":1}`, `[1]`}, `null`},
		"short_text":            {[]string{`Hello`, `Hello`}, `{"equal":"Hello"}`},
		"text_that_differs":     {[]string{`Hello 1`, `Hello 2`}, `null`},
		"long_text":             {[]string{strings.Repeat("x", maxText+1), strings.Repeat("x", maxText+1)}, `null`},
		"no_body":               {[]string{``, ``}, `null`},
		"wrong_utf8":            {[]string{"{\"a\":\"\xff\"}", "{\"a\":\"\xff\"}"}, "{\"equal\":\"{\\\"a\\\":\\\"\uFFFD\\\"}\"}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var row []Answer
			for _, b := range c.bodies {
				row = append(row, answer(200, b))
			}
			cases, _ := merged(t, []Case{ask("one", "GET", "/one")}, row)
			if got := text(t, cases[0].Expect.Body); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestMergeDropsByName(t *testing.T) {
	t.Parallel()
	html := Answer{Status: 200, Headers: map[string]string{"content-type": "text/html"}}
	for name, c := range map[string]struct {
		row []Answer
		why string
	}{
		"status_differs": {[]Answer{answer(200, `1`), answer(404, `1`)}, "the status differs: 200 and 404"},
		"type_differs":   {[]Answer{answer(200, `1`), html}, `the media type differs: "application/json" and "text/html"`},
		"server_fault":   {[]Answer{answer(500, `1`), answer(500, `1`)}, "a fault of the server: status 500 in replay 1"},
		"one_fault":      {[]Answer{answer(200, `1`), answer(503, `1`)}, "a fault of the server: status 503 in replay 2"},
		"no_answer":      {[]Answer{answer(200, `1`), {Failed: "reset"}}, "no answer: reset in replay 2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases, report := merged(t, []Case{ask("one", "GET", "/one")}, c.row)
			if cases[0].Expect != nil || report.Judged != 0 {
				t.Errorf("the case is judged: %s", text(t, cases[0].Expect))
			}
			if d := cmp.Diff([]Dropped{{"one", c.why}}, report.Dropped); d != "" {
				t.Error(d)
			}
		})
	}
	two := []Case{ask("one", "GET", "/one"), ask("two", "GET", "/two")}
	runs := replays(two, []Answer{answer(200, `1`), answer(200, `1`)}, []Answer{answer(200, `1`), answer(200, `1`)})
	runs[1] = runs[1][:1]
	m, err := Merge(two, runs)
	if err != nil || m.Cases[1].Expect != nil || m.Report.Dropped[0].Reason != "not asked in every replay" {
		t.Errorf("a case that one replay lacks: %+v, %v", m.Report, err)
	}
	if _, err := Merge(two, nil); err == nil {
		t.Error("no replays, and no error")
	}
}

func TestMergeRefs(t *testing.T) {
	t.Parallel()
	create := ask("create", "POST", "/items")
	get := ask("get_item", "GET", "/items/{id}", "create")
	get.Request.Params = map[string]any{"id": map[string]any{RefKey: "create:body/id"}}
	all := ask("list_items", "GET", "/items")
	row := func(bodies ...string) (out []Answer) {
		for _, b := range bodies {
			out = append(out, answer(200, b))
		}
		return out
	}
	cases, report := merged(t, []Case{create, get, all},
		row(`{"id":"k3f9x2","count":2,"made":"2026-11-26T10:00:00.123456Z"}`, `{"id":"p0q8z7","count":3,"made":"2026-11-26T10:00:02.654321Z"}`),
		row(`{"id":"k3f9x2","count":2,"made":"2026-11-26T10:00:00.123456Z"}`, `{"id":"p0q8z7","count":3,"made":"2026-11-26T10:00:02.654321Z"}`),
		row(`[{"id":"k3f9x2","at":"2026-11-26T10:00:00Z"}]`, `[{"id":"p0q8z7","at":"2026-11-26T10:00:02Z"}]`))
	for i, want := range []string{
		`{"object":{"count":{"type":"integer"},"id":{"type":"string"},"made":{"form":"time"}}}`,
		// The request comes first; a number such as 2 is no reference.
		`{"object":{"count":{"type":"integer"},"id":{"ref":"get_item:request/params/id"},"made":{"ref":"create:body/made"}}}`,
		`{"list":[{"object":{"at":{"form":"time"},"id":{"ref":"create:body/id"}}}]}`,
	} {
		if got := text(t, cases[i].Expect.Body); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", cases[i].ID, got, want)
		}
	}
	if d := cmp.Diff([]string{"create"}, cases[2].Needs); d != "" {
		t.Errorf("a case that is referred to is needed:\n%s", d)
	}
	if d := cmp.Diff(Leaves{Ref: 3, Form: 2, Type: 3}, report.Leaves); d != "" {
		t.Error(d)
	}
}

// A value that the request was written with comes back as it is.
func TestMergeEchoes(t *testing.T) {
	t.Parallel()
	c := ask("create", "POST", "/items")
	c.Request.Encoding = "json"
	c.Request.Body = map[string]any{"due": "2024-03-05", "id": "6f1c2a52-7c55-4f0e-9a55-0f1d6a0a0001"}
	cases, _ := merged(t, []Case{c}, []Answer{
		answer(200, `{"due":"2024-03-05","text":"due on 2024-03-05","id":"6f1c2a52-7c55-4f0e-9a55-0f1d6a0a0001"}`),
		answer(200, `{"due":"2024-03-05","text":"due on 2024-03-05","id":"6f1c2a52-7c55-4f0e-9a55-0f1d6a0a0001"}`)})
	if got := text(t, cases[0].Expect.Body); !strings.HasPrefix(got, `{"equal"`) {
		t.Errorf("got %s", got)
	}
}

func TestMergeLocation(t *testing.T) {
	t.Parallel()
	at := func(locations ...string) (out []Answer) {
		for _, l := range locations {
			out = append(out, Answer{Status: 303, Headers: map[string]string{"location": l}})
		}
		return out
	}
	for name, c := range map[string]struct {
		row  []Answer
		want string
	}{
		"same":     {at("http://127.0.0.1:1/a/5?x=1", "http://127.0.0.1:2/a/5"), `{"equal":"/a/5"}`},
		"relative": {at("/a/5", "/a/5"), `{"equal":"/a/5"}`},
		"uuid": {at("/a/6f1c2a52-7c55-4f0e-9a55-0f1d6a0a0001", "/a/6f1c2a52-7c55-4f0e-9a55-0f1d6a0a0001"),
			`{"list":[{"equal":"a"},{"form":"uuid"}]}`},
		"token": {at("/a/eyJhbGciOiJIUzI1NiJ9.eyJpZCI6MX0.abc", "/a/eyJhbGciOiJIUzI1NiJ9.eyJpZCI6MX0.abc"),
			`{"list":[{"equal":"a"},{"form":"jwt"}]}`},
		"differs":    {at("/a/abc/", "/a/def/"), `{"list":[{"equal":"a"},{"type":"string"},{"equal":""}]}`},
		"lengths":    {at("/a/b", "/a"), `null`},
		"only_once":  {at("/a", ""), `null`},
		"not_a_path": {at("?q", "?q"), `{"equal":""}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cases, _ := merged(t, []Case{ask("one", "POST", "/a")}, c.row)
			if got := text(t, cases[0].Expect.Location); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			// What was recorded is what is expected.
			for _, a := range c.row {
				l := cases[0].Expect.Location
				if ok, why := Match(orAny(l), l.PathOf(a.Headers["location"]), nil); !ok {
					t.Errorf("%s: %s", a.Headers["location"], why)
				}
			}
		})
	}
}

func orAny(m *Matcher) *Matcher {
	if m == nil {
		return &Matcher{Type: kindString}
	}
	return m
}

func TestStatusOnly(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{``: true, `{}`: true, `[]`: true, `null`: true, `""`: true, `{"a":1}`: false, `5`: false} {
		cases, _ := merged(t, []Case{ask("one", "GET", "/one")}, []Answer{answer(200, body), answer(200, body)})
		if got := cases[0].StatusOnly(); got != want {
			t.Errorf("%s: %t", body, got)
		}
	}
	if ask("one", "GET", "/").StatusOnly() {
		t.Error("a step that is not judged says not even a status")
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	answered := func(id string) (Answer, bool) {
		return Answer{Status: 201, Headers: map[string]string{"location": "/x/7?a", "set-cookie": "sid=abc; Path=/"}, Body: []byte(`{"a/b":[{"t":"ü/x"}],"n":5}`)}, id == "made"
	}
	ref := func(place string) map[string]any { return map[string]any{RefKey: "made:" + place} }
	c := ask("one", "POST", "/a/{p}/{q}")
	c.Request = Request{
		Path:     "/a/{p}/{q}",
		Params:   map[string]any{"p": ref("body/a~1b/0/t"), "q": ref("header/Location/last")},
		Query:    map[string]any{"z": []any{json.Number("1"), true}, "a b": "x&y"},
		Headers:  map[string]any{"authorization": map[string]any{RefKey: "made:cookie/sid", FormKey: "Token %s"}},
		Encoding: "form",
		Body:     map[string]any{"n": ref("body/n"), "s": "a b"},
	}
	w, err := Resolve(c, answered)
	if err != nil {
		t.Fatal(err)
	}
	want := Wire{Method: "POST", Target: "/a/%C3%BC%2Fx/7?a+b=x%26y&z=1&z=true", Body: []byte("n=5&s=a+b"), Headers: map[string]string{
		"Accept": "application/json", "Content-Type": "application/x-www-form-urlencoded", "authorization": "Token abc",
	}}
	if d := cmp.Diff(want, w); d != "" {
		t.Error(d)
	}
	c.Request.Params["p"] = map[string]any{RefKey: "made:body/nothing"}
	if _, err := Resolve(c, answered); !errors.As(err, new(*RefError)) {
		t.Errorf("no such place: %v", err)
	}
	for name, p := range map[string]any{"dots": "..", "empty": ""} {
		c.Request.Params["p"] = p
		if _, err := Resolve(c, answered); !errors.As(err, new(*RequestError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	delete(c.Request.Params, "p")
	if _, err := Resolve(c, answered); !errors.As(err, new(*RequestError)) {
		t.Errorf("a parameter without a value: %v", err)
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	var null any
	for name, change := range map[string]func(*Case){
		"the ID is not":                       func(c *Case) { c.ID = "A" },
		"given more than once":                func(c *Case) { c.ID = "first" },
		"not a case before it":                func(c *Case) { c.Needs = []string{"last"} },
		"the kind":                            func(c *Case) { c.Kind = "odd" },
		"does not lead to a case before it":   func(c *Case) { c.Request.Body = []any{map[string]any{RefKey: "last:body"}} },
		"has other keys":                      func(c *Case) { c.Request.Query = map[string]any{"q": map[string]any{RefKey: "first:body", "x": 1}} },
		"is not CASE:PLACE":                   func(c *Case) { c.Expect.Body = &Matcher{Ref: "first:elsewhere"} },
		"the status 500":                      func(c *Case) { c.Expect.Status = 500 },
		"a matcher has 0 fields":              func(c *Case) { c.Expect.Body = &Matcher{} },
		"a matcher has 2 fields":              func(c *Case) { c.Expect.Body = &Matcher{Type: "string", Form: "uuid"} },
		"equal to null":                       func(c *Case) { c.Expect.Body = &Matcher{Equal: &null} },
		"the type":                            func(c *Case) { c.Expect.Body = &Matcher{Type: "text"} },
		"the form":                            func(c *Case) { c.Expect.Body = &Matcher{Set: []*Matcher{{Form: "email"}}} },
		"a matcher is null":                   func(c *Case) { c.Expect.Body = &Matcher{Object: map[string]*Matcher{"a": nil}} },
		"the encoding":                        func(c *Case) { c.Request.Encoding = "xml" },
		"does not begin with a slash":         func(c *Case) { c.Request.Path = "a" },
		"a value is nested too deeply":        func(c *Case) { c.Request.Body = nested(1000) },
		"a matcher is nested too deeply":      func(c *Case) { c.Expect.Body = nestedMatcher(1000) },
		"a reference stands where an object ": func(c *Case) { c.Request.Params = map[string]any{RefKey: "first:body"} },
	} {
		c := ask("second", "GET", "/b")
		c.Expect = &Expect{Status: 200}
		s := Suite{Format: Format, Groups: []*Group{{Name: "g", Cases: []Case{ask("first", "GET", "/a"), c}}}}
		if err := Validate(s); err != nil {
			t.Fatal(err)
		}
		change(&s.Groups[0].Cases[1])
		if err := Validate(s); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func nested(n int) (v any) {
	for range n {
		v = []any{v}
	}
	return v
}

func nestedMatcher(n int) *Matcher {
	m := &Matcher{Type: "string"}
	for range n {
		m = &Matcher{List: []*Matcher{m}}
	}
	return m
}

func TestEncodeIsStable(t *testing.T) {
	t.Parallel()
	big := json.Number("12345678901234567890123")
	var value any = map[string]any{"b": big, "a": nil, "h": "<&>"}
	c := ask("first", "GET", "/a")
	c.Expect = &Expect{Status: 200, Body: &Matcher{Equal: &value}}
	s := Suite{Format: Format, Ready: []string{"/a"}, Groups: []*Group{{Name: "g", Cases: []Case{c}}}}
	one, err := Encode(s)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Decode(one)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Encode(back)
	if err != nil || string(one) != string(two) {
		t.Errorf("%v\n%s\n%s", err, one, two)
	}
	if !strings.Contains(string(one), string(big)) || !strings.Contains(string(one), "<&>") {
		t.Errorf("%s", one)
	}
	for _, bad := range []string{`{}`, `[]`, `{"format":"benchmint-cases/1","x":1}`, string(one) + "{}", ``} {
		if _, err := Decode([]byte(bad)); err == nil {
			t.Errorf("decoded %q", bad)
		}
	}
}

// Deep and hostile answers end in a matcher, not in a crash.
func TestMergeHostile(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	var wide []string
	for i := range 5000 {
		wide = append(wide, fmt.Sprintf(`{"id":%d,"name":"name-%d"}`, i+1000, i))
	}
	for _, body := range []string{deep, "[" + strings.Join(wide, ",") + "]", `{"":{"":""}}`, "{\"a\":1e999}", "nul", "\x00"} {
		merged(t, []Case{ask("one", "GET", "/one"), ask("two", "GET", "/one")}, []Answer{answer(200, body), answer(200, body)}, []Answer{answer(200, body), answer(200, body)})
	}
}
