package scenario

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/routes"
)

// Bounds on what is looked at in one answer.
const (
	maxLeaves = 400
	maxItems  = 3 // of a list
	maxNested = 8
)

// leaf is one string or number of a JSON value.
type leaf struct {
	path  []string
	key   string // plain
	noun  string // of the object that it is in; "" at the top
	value any
}

// leaves are those of a JSON value, the shallowest first, and else in the order of their keys.
func leaves(v any) []leaf {
	var out []leaf
	var walk func(v any, path []string, in string)
	walk = func(v any, path []string, in string) {
		if len(out) >= maxLeaves || len(path) > maxNested {
			return
		}
		switch t := v.(type) {
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(t)) {
				inner := in
				if nested(t[k]) && !wrapper(k) {
					inner = noun(k)
				}
				walk(t[k], append(slices.Clone(path), k), inner)
			}
		case []any:
			for i, e := range t[:min(len(t), maxItems)] {
				walk(e, append(slices.Clone(path), strconv.Itoa(i)), in)
			}
		case nil, bool:
		default:
			l := leaf{path: path, noun: in, value: v}
			for _, p := range slices.Backward(path) {
				if !digits.MatchString(p) {
					l.key = plain(p)
					break
				}
			}
			out = append(out, l)
		}
	}
	walk(v, nil, "")
	slices.SortStableFunc(out, func(a, b leaf) int { return cmp.Compare(len(a.path), len(b.path)) })
	return out
}

func nested(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// wrapper reports whether a key is one that answers are wrapped in, whatever they are about.
func wrapper(k string) bool {
	switch plain(k) {
	case "data", "result", "results", "item", "items", "attributes", "response", "payload", "object", "objects", "records", "rows", "content", "embedded", "meta", "links":
		return true
	}
	return false
}

// place is the path of a leaf as a reference has it.
func (l leaf) place() string { return contract.Place("body", l.path...) }

// known is a value that was seen, and how a request says it.
type known struct {
	leaf
	expr   any    // a reference, or a literal
	from   string // ID of the case
	nouns  []string
	write  bool // of an answer to POST, PUT or PATCH
	sent   bool // in a request
	own    bool // of an answer about who is calling
	second bool // of the second identity
	at     int  // number of the case
}

// learn keeps the values of an exchange that worked.
func (s *session) learn(r *route, c contract.Case, a contract.Answer, second bool) {
	base := known{from: c.ID, nouns: r.nouns(), write: r.Method != "GET", own: r.own && !isRegister(r) && !isLogin(r), second: second, at: len(s.cases)}
	if v, ok := a.Parsed(); ok {
		for _, l := range leaves(v) {
			k := base
			k.leaf, k.expr = l, reference(c.ID, l.place())
			s.pool = append(s.pool, k)
		}
	}
	if v, ok := a.At("header/Location/last"); ok && r.Method == "POST" {
		k := base
		k.leaf, k.expr = leaf{path: []string{"Location"}, key: "id", value: v}, reference(c.ID, "header/Location/last")
		k.nouns = base.nouns[:1]
		s.pool = append(s.pool, k)
	}
	if r.Method == "GET" || r.Method == "DELETE" {
		return
	}
	for _, l := range requestLeaves(c.Request.Body) {
		k := base
		k.leaf, k.expr, k.sent = l, l.value, true
		s.pool = append(s.pool, k)
	}
}

// requestLeaves are the literals of a body.
func requestLeaves(body any) []leaf {
	return slices.DeleteFunc(leaves(body), func(l leaf) bool { return l.key == contract.RefKey || l.key == contract.FormKey })
}

func reference(id, place string) any { return map[string]any{contract.RefKey: id + ":" + place} }

// want is what a parameter, or a field that refers to something, asks for.
type want struct {
	noun   string // of the thing
	field  string // of it: id, slug, username
	name   string // plain, as it is written
	spec   routes.Field
	second bool
}

// wantOf is what a path parameter asks for.
func (r *route) wantOf(name string) want {
	w := want{noun: r.before(name), name: plain(name)}
	for _, p := range r.Params {
		if p.Name == name {
			w.spec = p
		}
	}
	w.field = w.name
	switch {
	case w.name == "id" || w.name == "pk" || w.name == "uid" || w.name == w.noun:
		w.field = "id"
	case w.noun != "" && strings.HasPrefix(w.name, w.noun):
		w.field = strings.TrimPrefix(w.name, w.noun)
	case strings.HasSuffix(w.name, "id"):
		w.field = "id"
		if w.noun == "" {
			w.noun = strings.TrimSuffix(w.name, "id")
		}
	}
	return w
}

// nameNoun is the noun in the name itself: user of userId.
func (w want) nameNoun() string {
	if n := strings.TrimSuffix(w.name, "id"); n != w.name && n != "" {
		return n
	}
	return ""
}

// common are names that many things have a value of.
var common = map[string]bool{"id": true, "name": true, "key": true, "title": true, "type": true, "code": true, "value": true, "pk": true, "uuid": true}

// score says how well a value fits; 0 is not at all.
func (w want) score(k known) float64 {
	if !accepts(w.spec, k.value) {
		return 0
	}
	thing := k.noun
	about := func(n string) bool {
		if n == "" {
			return false
		}
		if thing != "" {
			return thing == n
		}
		return slices.Contains(k.nouns, n)
	}
	same := k.key == w.field
	if w.field == "id" {
		same = same || k.key == "uuid" || k.key == "pk" || k.key == w.noun+"id" || k.key == "id"
	}
	score := 0.0
	switch {
	case k.key == w.name && about(w.noun):
		score = 9.5
	case same && about(w.noun):
		score = 9
	case same && about(w.nameNoun()):
		score = 8
	case k.key == w.name && !common[w.name]:
		score = 6
	case about(w.noun) && (k.key == "slug" || k.key == "id" || k.key == "uuid" || k.key == "key" || k.key == "code"):
		score = 3
	case about(w.noun) && k.key == "name":
		score = 2.5
	default:
		return 0
	}
	if k.write {
		score += 0.5
	}
	if k.sent {
		score--
	}
	if k.own && common[k.key] {
		score -= 2 // what is changed or deleted had better be another's than one's own
	}
	return score - 0.1*float64(len(k.path))
}

// enough is the score from which a value is taken without a search for a better one.
const enough = 4.5

// candidates are the values that fit, the best first. sure says that the first is good enough.
func (s *session) candidates(w want) (out []known, sure bool) {
	type scored struct {
		known
		score float64
	}
	var all []scored
	for _, k := range s.pool {
		if k.second != w.second || s.dead[contract.Text(k.value)] {
			continue
		}
		if n := w.score(k); n > 0 {
			all = append(all, scored{k, n})
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		if math.Abs(a.score-b.score) > 1e-9 {
			return cmp.Compare(b.score, a.score)
		}
		if a.write && b.write {
			return cmp.Compare(b.at, a.at) // what was written last
		}
		return cmp.Compare(a.at, b.at)
	})
	seen := map[string]int{}
	for _, k := range all {
		v := contract.Text(k.value)
		i, ok := seen[v]
		switch {
		case !ok:
			seen[v] = len(out)
			out = append(out, k.known)
		case k.write && !k.sent && k.score >= enough && k.at < out[i].at:
			out[i] = k.known // the same from the first answer that had it: fewer cases are needed
		}
	}
	return out, len(all) > 0 && all[0].score >= enough
}

// accepts reports whether a value has the type that a parameter asks for.
func accepts(f routes.Field, v any) bool {
	s := contract.Text(v)
	switch {
	case s == "" || len(s) > 512:
		return false
	case f.Type == "integer":
		return digits.MatchString(s)
	case f.Format == "uuid":
		return uuidForm.MatchString(s)
	}
	return true
}
