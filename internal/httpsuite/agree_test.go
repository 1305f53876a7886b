package httpsuite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/schemas"
)

// asked is what both implementations are asked.
type asked struct {
	Matcher *contract.Matcher `json:"matcher"`
	Value   any               `json:"value"`
}

type sent struct {
	Case contract.Case     `json:"case"`
	Body string            `json:"answer"` // of the case "before"
	Head map[string]string `json:"head"`
}

// agreement asks the published code: a line of JSON for each question.
const agreement = `
import json, sys
sys.path.insert(0, sys.argv[1])
import benchmint_cases as b
from benchmint_service import Answer
questions = json.load(sys.stdin)
refs = questions["refs"]
def lookup(ref):
    if ref not in refs: raise b.Missing(ref)
    return refs[ref]
for q in questions["match"] or []:
    print(json.dumps(not b.mismatch(q["matcher"], q["value"], lookup)))
for q in questions["send"] or []:
    s = b.Scenario({"cases": []})
    s.answers["before"] = Answer(200, q["head"], q["answer"].encode())
    try:
        request = s.fill(q["case"]["request"])
        method, target, headers, body = b.wire(q["case"], request)
        headers = dict({"Accept": "application/json"}, **headers) if "accept" not in {h.lower() for h in headers} else headers
        print(json.dumps([method, target, sorted(headers.items()), (body or b"").decode()]))
    except (b.Missing, KeyError):
        print(json.dumps(None))
`

// askPython gives one line of answer to each question.
func askPython(t *testing.T, questions any) [][]byte {
	t.Helper()
	dir := written(t, contract.Suite{Format: contract.Format})
	in, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), interpreter(t), "-B", "-c", agreement, filepath.Join(dir, schemas.SuiteFolder))
	c.Stdin = bytes.NewReader(in)
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, complaint.Bytes())
	}
	return bytes.Split(bytes.TrimSpace(out), []byte("\n"))
}

var (
	numbers = []json.Number{"0", "-0", "1", "1.0", "1e0", "1000", "1e3", "-7", "2.5", "9007199254740993", "9007199254740992.0", "123456789012345678901234567890"}
	texts   = []string{
		"", "a", "ü", "12", "-3", "6f1c2a52-7c55-4f0e-9a55-0f1d6a0a0001", "2026-11-26", "2026-11-26T10:00:00Z", "2026-11-26 10:00:00.5+00:00",
		"Thu, 26 Nov 2026 21:44:06 GMT", "eyJhbGciOiJIUzI1NiJ9.eyJpZCI6MX0.abc", "2026-11-26\n", "12\n", "1٣",
	}
	references = map[string]any{"one:body/a": json.Number("1000"), "one:body/b": "a", "two:request/body": map[string]any{"a": []any{true}}}
	kindNames  = []string{"string", "integer", "number", "boolean", "array", "object", "null"}
	formNames  = []string{"uuid", "time", "jwt", "integer"}
	keys       = []string{"a", "b", "a/b", "ü~"}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func randomValue(r *rand.Rand, depth int) any {
	n := 8
	if depth == 0 {
		n = 5
	}
	switch r.IntN(n) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2, 3:
		return pick(r, numbers)
	case 4:
		return pick(r, texts)
	case 5, 6:
		out := []any{}
		for range r.IntN(4) {
			out = append(out, randomValue(r, depth-1))
		}
		return out
	}
	out := map[string]any{}
	for range r.IntN(4) {
		out[pick(r, keys)] = randomValue(r, depth-1)
	}
	return out
}

// matcherFor is a matcher that often fits a value.
func matcherFor(r *rand.Rand, v any) *contract.Matcher {
	switch r.IntN(10) {
	case 0:
		return &contract.Matcher{Type: pick(r, kindNames)}
	case 1:
		return &contract.Matcher{Form: pick(r, formNames)}
	case 2:
		return &contract.Matcher{Ref: pick(r, []string{"one:body/a", "one:body/b", "two:request/body", "three:body"})}
	case 3:
		v = randomValue(r, 1)
	}
	switch x := v.(type) {
	case nil:
		return &contract.Matcher{Type: "null"}
	case map[string]any:
		if len(x) > 0 && r.IntN(3) > 0 {
			out := map[string]*contract.Matcher{}
			for k, e := range x {
				if r.IntN(10) > 0 || len(x) == 1 {
					out[k] = matcherFor(r, e)
				}
			}
			if r.IntN(10) == 0 {
				out[pick(r, keys)] = &contract.Matcher{Type: "null"}
			}
			if len(out) == 0 {
				return &contract.Matcher{Type: "object"}
			}
			return &contract.Matcher{Object: out}
		}
	case []any:
		var out []*contract.Matcher
		for _, e := range x {
			out = append(out, matcherFor(r, e))
		}
		switch {
		case len(out) > 0 && r.IntN(3) == 0:
			return &contract.Matcher{List: out}
		case len(out) > 0 && r.IntN(2) == 0:
			r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
			return &contract.Matcher{Set: out}
		}
	case json.Number:
		if r.IntN(3) == 0 {
			v = any(pick(r, numbers))
		}
	}
	return &contract.Matcher{Equal: &v}
}

// The matchers mean the same in the two languages.
func TestMatchersAgree(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var questions []asked
	for range 4000 {
		v := randomValue(r, 3)
		questions = append(questions, asked{matcherFor(r, v), v})
	}
	lines := askPython(t, map[string]any{"refs": references, "match": questions, "send": nil})
	fits := 0
	for i, q := range questions {
		ok, why := contract.Match(q.Matcher, q.Value, func(ref string) (any, error) {
			if v, ok := references[ref]; ok {
				return v, nil
			}
			return nil, &contract.RefError{Ref: ref, Why: "nothing"}
		})
		if ok {
			fits++
		}
		if got := string(lines[i]); got != fmt.Sprint(ok) {
			m, _ := schemas.Canonical(q)
			t.Errorf("Go says %t (%s), Python %s: %s", ok, why, got, m)
		}
	}
	if fits < len(questions)/10 || fits > len(questions)*9/10 {
		t.Errorf("%d of %d fit: the questions say little", fits, len(questions))
	}
}

// A request is sent by the suite as it was when it was recorded.
func TestRequestsAgree(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	places := []string{"before:body/a", "before:body/a~1b/0", "before:body", "before:header/Location", "before:header/location/last", "before:cookie/sid", "before:body/none", "none:body"}
	scalar := func() any {
		if r.IntN(3) == 0 {
			out := map[string]any{contract.RefKey: pick(r, places)}
			if r.IntN(2) == 0 {
				out[contract.FormKey] = "Token %s!"
			}
			return out
		}
		return pick(r, []any{"a b&c=d/é?", "~x_-.*'()", json.Number("5"), true, nil, "..", "+%20"})
	}
	var questions []sent
	for range 1000 {
		c := step("now", "PUT", "/a/{p}/b{q}/")
		c.Request.Params = map[string]any{"p": scalar(), "q": scalar()}
		c.Request.Query = map[string]any{"q q": scalar(), "l": []any{scalar(), scalar()}}
		c.Request.Headers = map[string]any{"X-Some": scalar()}
		c.Request.Encoding = pick(r, []string{"", "json", "form", "raw"})
		switch c.Request.Encoding {
		case "json":
			c.Request.Body = map[string]any{"z": randomValue(r, 2), "a": scalar()}
		case "form":
			c.Request.Body = map[string]any{"z": scalar(), "a": scalar()}
		case "raw":
			c.Request.Body = scalar()
		}
		questions = append(questions, sent{
			Case: c, Body: pick(r, []string{`{"a":"x/y ü","a/b":[7]}`, `{"a":{"b":[1,true]}}`, `text`, ``}),
			Head: pick(r, []map[string]string{{"location": "http://h:1/x/y%20z/?q", "set-cookie": "o=1\nsid=v=w; Path=/"}, {"location": "/"}, {}}),
		})
	}
	lines := askPython(t, map[string]any{"refs": nil, "match": nil, "send": questions})
	resolved := 0
	for i, q := range questions {
		w, err := contract.Resolve(q.Case, func(id string) (contract.Answer, bool) {
			return contract.Answer{Headers: q.Head, Body: []byte(q.Body)}, id == "before"
		})
		got := any(nil)
		if err == nil {
			resolved++
			heads := []any{}
			for _, k := range sortedKeys(w.Headers) {
				heads = append(heads, []any{k, w.Headers[k]})
			}
			got = []any{w.Method, w.Target, heads, string(w.Body)}
		}
		text, _ := schemas.Canonical(got)
		var a, b any
		if json.Unmarshal(text, &a) != nil || json.Unmarshal(lines[i], &b) != nil || !equalRequests(a, b) {
			t.Errorf("%+v\nGo %s (%v)\nPy %s", q.Case.Request, text, err, lines[i])
		}
	}
	if resolved < 100 {
		t.Errorf("only %d requests could be sent", resolved)
	}
}

// equalRequests compares JSON bodies by what they say.
func equalRequests(a, b any) bool {
	x, ok1 := a.([]any)
	y, ok2 := b.([]any)
	if !ok1 || !ok2 {
		return a == nil && b == nil
	}
	for i := range 3 {
		if fmt.Sprint(x[i]) != fmt.Sprint(y[i]) {
			return false
		}
	}
	var left, right any
	if json.Unmarshal([]byte(x[3].(string)), &left) == nil && json.Unmarshal([]byte(y[3].(string)), &right) == nil {
		return reflect.DeepEqual(left, right) // -0 is 0
	}
	return x[3] == y[3]
}
