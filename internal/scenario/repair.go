package scenario

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/routes"
)

// repair is one member that an answer says is missing or wrong.
type repair struct {
	path  []string // in the body; one name where inQuery
	query bool
	hint  string // what the answer says of it
}

const maxRepairs = 12

// repairs are what an answer asks for. It knows the forms of FastAPI (detail and loc), of
// marshmallow and Django (an object of lists of messages), of JSON:API (source and pointer), of Go's validator and of
// plain sentences.
func repairs(a contract.Answer, body any) []repair {
	if a.Status != 400 && a.Status != 422 && a.Status != 409 {
		return nil
	}
	v, ok := a.Parsed()
	if !ok {
		return clean(sentences(string(a.Body[:min(len(a.Body), 4096)])), body)
	}
	out := located(v)
	if len(out) == 0 {
		out = messages(v, nil, 0)
	}
	return clean(out, body)
}

// clean puts each repair where the body wants it, each once.
func clean(all []repair, body any) []repair {
	var out []repair
	seen := map[string]bool{}
	for _, r := range all {
		if len(r.path) == 0 || len(out) >= maxRepairs {
			continue
		}
		if !r.query {
			r.path = aligned(r.path, body)
			if _, list := at(body, r.path).([]any); list && strings.Contains(r.hint, "does not exist") {
				r.hint = noneOfThese
			}
		}
		key := strings.Join(r.path, "/")
		if !seen[key] {
			seen[key] = true
			out = append(out, r)
		}
	}
	return out
}

// located reads lists of objects with a loc or a pointer.
func located(v any) []repair {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	var out []repair
	for _, key := range [...]string{"detail", "errors", "error", "details"} {
		list, ok := m[key].([]any)
		if !ok {
			continue
		}
		for _, e := range list[:min(len(list), maxRepairs)] {
			if one, ok := e.(map[string]any); ok {
				out = append(out, locate(one)...)
			}
		}
	}
	return out
}

func locate(m map[string]any) []repair {
	hint := contract.Text(m["type"]) + " " + contract.Text(m["msg"]) + " " + contract.Text(m["message"]) + " " + contract.Text(m["detail"])
	if ctx, ok := m["ctx"]; ok {
		hint += " " + contract.Text(ctx)
	}
	if loc, ok := m["loc"].([]any); ok && len(loc) > 1 {
		where := contract.Text(loc[0])
		var path []string
		for _, p := range loc[1:min(len(loc), maxNested)] {
			path = append(path, contract.Text(p))
		}
		switch where {
		case "body":
			return []repair{{path: path, hint: hint}}
		case "query":
			return []repair{{path: path[:1], query: true, hint: hint}}
		}
		return nil
	}
	if src, ok := m["source"].(map[string]any); ok {
		if p := strings.Trim(contract.Text(src["pointer"]), "/"); p != "" {
			return []repair{{path: strings.Split(p, "/"), hint: hint}}
		}
	}
	for _, key := range [...]string{"field", "param", "path", "name", "property"} {
		if p, ok := m[key].(string); ok && nameForm.MatchString(p) {
			return []repair{{path: strings.Split(p, "."), hint: hint}}
		}
	}
	return nil
}

var (
	nameForm  = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_.\[\]]{0,60}$`)
	complaint = lazyregexp.New(`(?i)missing|required|must|is not|positive|blank|empty|not null|cannot be null|can.t be|invalid|not a valid|too short|should be|expected|at least`)
	// envelope are keys that complaints are wrapped in, and about keys that say something of a whole answer.
	envelope   = lazyregexp.New(`(?i)^(errors?|details?|messages?|msg|json|validation_?errors?|non_field_errors|_schema|query|form|fields)$`)
	about      = lazyregexp.New(`(?i)^(type|status|code|title|path|timestamp|success|ok|instance|fields?)$`)
	goField    = lazyregexp.New(`Key: '([A-Za-z0-9_.\[\]]+)' Error:[^\n]{0,80}on the '([a-z_0-9]+)' tag`)
	plainNames = []*lazyregexp.Regexp{
		lazyregexp.New(`(?i)(?:missing|required|no|provide|need|needs)(?: a| an| the| your| value for)?(?: required)?(?: (?:field|fields|param|params|parameter|parameters|property|key|keys|value|argument|arguments|data|body))?s?(?: (?:is|are))?:? ['"` + "`" + `]?([A-Za-z_][A-Za-z0-9_]{1,40})['"` + "`" + `]?`),
		lazyregexp.New(`(?i)(?:field |parameter |property |the )?['"` + "`" + `]?\b([A-Za-z_][A-Za-z0-9_]{1,40})['"` + "`" + `]?(?: field)? (?:is|are|was|must|cannot|can't|can not|may not|should|field required|field is)(?: a| an)? ?(?:missing|required|mandatory|not|be|blank|empty|non)`),
	}
	// "username, email and password are required"
	namesTogether = lazyregexp.New(`(?i)((?:['"` + "`" + `]?[A-Za-z_]\w{1,40}['"` + "`" + `]?(?:, ?(?:and |or )?| and | or |/))+['"` + "`" + `]?[A-Za-z_]\w{1,40}['"` + "`" + `]?) (?:fields? )?(?:are|is|must be|can ?not be)(?: both)? (?:required|missing|mandatory|provided|specified|given|blank|empty|included)`)
	wordForm      = lazyregexp.New(`[A-Za-z_]\w+`)
	noName        = lazyregexp.New(`(?i)^(is|are|be|a|an|the|field|fields|data|for|this|that|it|value|values|request|body|json|input|parameter|parameters|param|required|missing|invalid|not|must|and|or|in|to|of|error|content|header|authorization|token|key|keys|property|argument|found|such|permission|access|valid|payload|you|your|have|with|from)$`)
)

// messages reads objects whose keys are fields and whose values are complaints.
func messages(v any, path []string, depth int) []repair {
	if depth > maxNested {
		return nil
	}
	switch t := v.(type) {
	case map[string]any:
		var out []repair
		for _, k := range slices.Sorted(maps.Keys(t)) {
			next := path
			_, isText := t[k].(string)
			if !envelope.MatchString(k) && nameForm.MatchString(k) && !(isText && about.MatchString(k)) {
				next = append(slices.Clone(path), k)
			}
			out = append(out, messages(t[k], next, depth+1)...)
			if len(out) > maxRepairs {
				break
			}
		}
		return out
	case []any:
		var out []repair
		for _, e := range t[:min(len(t), maxRepairs)] {
			out = append(out, messages(e, path, depth+1)...)
		}
		return out
	case string:
		if found := goFields(t); len(found) > 0 {
			return found
		}
		if len(path) > 0 && (complaint.MatchString(t) || strings.HasPrefix(t, "{key:")) {
			return []repair{{path: path, hint: t}}
		}
		return sentences(t)
	}
	return nil
}

// goFields reads what Go's validator says: Key: 'Article.Title' Error:… on the 'required' tag.
func goFields(s string) []repair {
	var out []repair
	for _, m := range goField.FindAllStringSubmatch(s, maxRepairs) {
		parts := strings.Split(m[1], ".")
		if len(parts) > 1 {
			parts = parts[1:] // the type of the body
		}
		out = append(out, repair{path: parts, hint: m[2]})
	}
	return out
}

// sentences reads the names in plain text.
func sentences(s string) []repair {
	if !complaint.MatchString(s) {
		return nil
	}
	if found := goFields(s); len(found) > 0 {
		return found
	}
	var out []repair
	for _, m := range namesTogether.FindAllStringSubmatch(s, maxRepairs) {
		for _, name := range wordForm.FindAllString(m[1], maxRepairs) {
			if !noName.MatchString(name) {
				out = append(out, repair{path: []string{name}, hint: s})
			}
		}
	}
	for _, re := range plainNames {
		for _, m := range re.FindAllStringSubmatch(s, maxRepairs) {
			if !noName.MatchString(m[1]) {
				out = append(out, repair{path: []string{m[1]}, hint: s})
			}
		}
	}
	return out
}

// aligned is a path with the names that a body has for the same: another case, and inside of
// the one object that it is wrapped in.
func aligned(path []string, body any) []string {
	m, ok := body.(map[string]any)
	if !ok {
		return path
	}
	if len(m) == 1 {
		for k, v := range m {
			if inner, ok := v.(map[string]any); ok && plain(k) != plain(path[0]) {
				if _, ref, isRef := contract.AsRef(inner); !isRef && ref == "" {
					return append([]string{k}, aligned(path, inner)...)
				}
			}
		}
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if plain(k) == plain(path[0]) {
			if len(path) == 1 {
				return []string{k}
			}
			return append([]string{k}, aligned(path[1:], m[k])...)
		}
	}
	return path
}

// noneOfThese is the hint for a list that names what does not exist.
const noneOfThese = "valid list"

// at is the value at a path in a body, nil where there is none.
func at(body any, path []string) any {
	for _, k := range path {
		m, ok := body.(map[string]any)
		if !ok {
			return nil
		}
		body = m[k]
	}
	return body
}

// news reports whether one of the repairs is not made yet.
func (f form) news(all []repair) bool {
	return slices.ContainsFunc(all, func(r repair) bool {
		if r.query {
			_, ok := f.query[r.path[len(r.path)-1]]
			return !ok
		}
		return !slices.ContainsFunc(f.sets, func(s set) bool { return slices.Equal(s.path, r.path) })
	})
}

// repair is f with what an answer asked for.
func (f form) repair(all []repair) form {
	f.sets = slices.Clone(f.sets)
	for _, r := range all {
		name := r.path[len(r.path)-1]
		v := hinted(name, r.hint)
		if r.query {
			f.query = maps.Clone(f.query)
			setKey(&f.query, name, v)
			continue
		}
		f.sets = append(f.sets, set{r.path, v})
	}
	return f
}

var enumHint = lazyregexp.New(`(?i)(?:one of|permitted|expected|input should be)[^'"\[]{0,40}['"\[]\s*'?([A-Za-z0-9_-]+)`)

// hinted is a value for a field by what an answer says of it.
func hinted(name, hint string) any {
	h := strings.ToLower(hint)
	field := routes.Field{Name: name}
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(h, w) })
	}
	switch {
	case has("valid list", "valid array", "list_type", "not a list", "be an array", "be a list"):
		return []any{}
	case has("valid dictionary", "dict_type", "model_type", "valid object", "be an object", "not a dict"):
		return map[string]any{}
	case has("int_parsing", "int_type", "integer", "expected pk", "valid number", "a number", "positive", "whole number", "float", "numeric", "decimal"):
		return json.Number("1")
	case has("bool"):
		return true
	case has("uuid"):
		field.Format = "uuid"
	case has("datetime"):
		field.Format = "date-time"
	case has("date_", "valid date"):
		field.Format = "date"
	case has("url", "uri"):
		field.Format = "uri"
	case has("string_type", "valid string", "be a string"):
		field.Type = "string"
	}
	if m := enumHint.FindStringSubmatch(hint); m != nil {
		return m[1]
	}
	return asIdentity{name, sample(field, false)}
}

// asIdentity is a value that is the identity's where its name says so: the form does not know
// yet whose request it becomes.
type asIdentity struct {
	name  string
	other any
}
