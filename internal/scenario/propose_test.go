package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/routes"
)

// ledger is a service whose POST of an item asks for a body that no rule knows, and says nothing
// of what it lacks. It breaks for a negative limit, and ends for the limit 13.
func ledger(func() time.Time) http.Handler {
	var items []map[string]any
	tokens := map[string]string{}
	ended := false
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/users", func(w http.ResponseWriter, r *http.Request) {
		u := decode(r)
		token := random()
		tokens[token] = str(u, "username")
		reply(w, 201, map[string]any{"username": u["username"], "token": token})
	})
	who := func(r *http.Request) string {
		return tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
	}
	mux.HandleFunc("GET /api/notes", func(w http.ResponseWriter, r *http.Request) {
		if who(r) == "" {
			reply(w, 401, map[string]any{"error": "who is it?"})
			return
		}
		limit := len(items)
		if text := r.URL.Query().Get("limit"); text != "" {
			limit, _ = strconv.Atoi(text)
		}
		switch {
		case limit == 13:
			ended = true
			panic(http.ErrAbortHandler)
		case limit < 0:
			reply(w, 500, map[string]any{"error": "slice bounds out of range"})
		default:
			reply(w, 200, append([]map[string]any{}, items[:min(limit, len(items))]...))
		}
	})
	mux.HandleFunc("POST /api/notes", func(w http.ResponseWriter, r *http.Request) {
		in := decode(r)
		switch {
		case who(r) == "":
			reply(w, 401, map[string]any{"error": "who is it?"})
		case str(in, "text") == "" || str(sub(in, "kept"), "in") != "drawer":
			reply(w, 400, map[string]any{"error": "no"})
		default:
			item := map[string]any{"number": len(items) + 1, "text": in["text"], "owner": who(r)}
			items = append(items, item)
			reply(w, 201, item)
		}
	})
	mux.HandleFunc("GET /api/notes/{number}", func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(r.PathValue("number"))
		switch {
		case who(r) == "":
			reply(w, 401, map[string]any{"error": "who is it?"})
		case err != nil || n < 1 || n > len(items):
			reply(w, 404, map[string]any{"error": "no such note"})
		case items[n-1]["owner"] != who(r):
			reply(w, 403, map[string]any{"error": "not yours"})
		default:
			reply(w, 200, items[n-1])
		}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ended {
			panic(http.ErrAbortHandler)
		}
		mux.ServeHTTP(w, r)
	})
}

func ledgerRoutes() []routes.Route {
	return []routes.Route{
		rt("POST", "/api/users", "", req("username", "string"), req("password", "string")),
		rt("GET", "/api/notes", "required"),
		rt("POST", "/api/notes", "required", req("text", "string")),
		rt("GET", "/api/notes/{number}", "required"),
		rt("DELETE", "/api/user", "required"),
	}
}

// says proposes the same for the group notes, and keeps what it was asked.
type says struct {
	all   []Proposal
	err   error
	asked []Material
}

func (p *says) Propose(_ context.Context, m Material) ([]Proposal, error) {
	if m.Group != "notes" {
		return nil, nil
	}
	p.asked = append(p.asked, m)
	return p.all, p.err
}

// The endpoints of Material.Asked of the ledger.
const (
	listNotes = iota
	createNote
	getNote
	createUser
)

func ref(text string) any { return map[string]any{contract.RefKey: text} }

func num(n int) any { return json.Number(strconv.Itoa(n)) }

func note(id string) Proposal {
	return Proposal{ID: id, Route: createNote, As: AsFirst, Encoding: "json", Body: map[string]any{"text": "Keep this", "kept": map[string]any{"in": "drawer"}}, Why: "what the code asks for"}
}

// TestProposals: what is proposed and answers is recorded with the rest. One that reaches an
// endpoint that the rules do not is its happy case, with the variants of one.
func TestProposals(t *testing.T) {
	t.Parallel()
	p := &says{all: []Proposal{
		note("keep_note"),
		{ID: "read_kept_note", Route: getNote, As: AsFirst, Params: map[string]any{"number": ref("keep_note:body/number")}},
		{ID: "read_note_of_another", Route: getNote, As: AsSecond, Needs: []string{"keep_note"}, Params: map[string]any{"number": ref("keep_note:body/number")}},
		{ID: "list_one_note", Route: listNotes, As: AsFirst, Query: map[string]any{"limit": num(1)}},
		{ID: "list_backwards", Route: listNotes, As: AsFirst, Query: map[string]any{"limit": num(-1)}},
	}}
	server := &toy{handler: ledger}
	rec := record(t, server, Options{Proposer: p}, ledgerRoutes()...)
	g := group(t, rec, "notes")
	for id, want := range map[string]struct {
		kind   contract.Kind
		status int
	}{
		"keep_note": {contract.Happy, 201}, "keep_note_missing": {}, "create_note_anonymous": {contract.Anonymous, 401}, "create_note_empty": {contract.Empty, 400},
		"read_kept_note": {contract.Happy, 200}, "read_note_of_another": {contract.Extra, 403}, "list_one_note": {contract.Extra, 200}, "list_backwards": {},
	} {
		if c := find(g, id); c.Kind != want.kind || status(g, id) != want.status {
			t.Errorf("%s is %q and answers %d, want %q and %d", id, c.Kind, status(g, id), want.kind, want.status)
		}
	}
	if needs := find(g, "read_note_of_another").Needs; !slices.Contains(needs, "keep_note") || !slices.ContainsFunc(needs, func(id string) bool { return strings.HasSuffix(id, "_second") }) {
		t.Errorf("it needs %v", needs)
	}
	if n, of := g.Answered(); n != 3 || of != 3 || g.ReadBack() == 0 {
		t.Errorf("%d of %d endpoints answered, %d read back\n%s", n, of, g.ReadBack(), describe(g))
	}
	if d := cmp.Diff([]string{"", "", "", "", "it answers 500"}, dropped(g)); d != "" {
		t.Error(d)
	}
	if m := p.asked[0]; len(p.asked) != 1 || m.Asked[createNote].Answered || m.Asked[createNote].Status != 400 || m.Asked[getNote].Path != "/api/notes/{number}" || !slices.Equal(m.Users, []string{AsNobody, AsFirst, AsSecond}) || len(m.Asked) != 4 {
		t.Errorf("asked %d times, of %+v", len(p.asked), m)
	}
}

func dropped(g *Group) (out []string) {
	for _, v := range g.Proposed {
		out = append(out, v.Dropped)
	}
	return out
}

// TestProposals_dropped: each that cannot hold is dropped by name and is not sent, and the rest
// stays.
func TestProposals_dropped(t *testing.T) {
	t.Parallel()
	get := func(params map[string]any) Proposal {
		return Proposal{ID: "read", Route: getNote, As: AsFirst, Params: params}
	}
	for _, tc := range []struct {
		name string
		p    Proposal
		want string
	}{
		{"route_out_of_range", Proposal{ID: "far", Route: 99, As: AsFirst}, "there is no endpoint 99"},
		{"route_below", Proposal{ID: "far", Route: -1, As: AsFirst}, "there is no endpoint -1"},
		{"ref_to_no_case", get(map[string]any{"number": ref("nothing:body/number")}), "there is no case nothing before it"},
		{"ref_to_no_value", get(map[string]any{"number": ref("keep_note:body/slug")}), "the answer of keep_note has no value body/slug"},
		{"needs_of_no_case", Proposal{ID: "list_more", Route: listNotes, As: AsFirst, Needs: []string{"later"}}, "there is no case later before it"},
		{"id_twice", note("keep_note"), "another case is called so"},
		{"id_of_the_rules", note("list_notes"), "another case is called so"},
		{"id_form", note("Keep-Note"), "its ID has another form"},
		{"no_parameter", get(nil), "not sent: the path /api/notes/{number} has a parameter without a value"},
		{"other_parameter", get(map[string]any{"number": "1", "id": "1"}), "the path has no parameter id"},
		{"parameter_up", get(map[string]any{"number": ".."}), `not sent: the parameter number is "..", which would be another path`},
		{"nobody_knows", Proposal{ID: "list_more", Route: listNotes, As: AsAdmin}, "nobody of the scenario is the user admin"},
		{"host", with(note("hosted"), "text", "http://metadata.internal/latest"), "it names a host: text"},
		{"host_without_scheme", with(note("hosted"), "text", "//metadata.internal/latest"), "it names a host: text"},
		{"credential", with(note("secret"), "text", "ghp_"+random()+random()[:4]), "it has credentials of its own: text"},
		{"token", with(note("secret"), "token", "abcdef"), "it has credentials of its own: token"},
		{"ref_in_disguise", with(note("hidden"), "text", map[string]any{contract.RefKey: "keep_note:body/text", contract.FormKey: "x%s"}), "a reference in another form"},
		{"broken_ref", with(note("hidden"), "text", map[string]any{contract.RefKey: 1}), "a reference in another form"},
		{"body_of_get", Proposal{ID: "list_more", Route: listNotes, As: AsFirst, Encoding: "json", Body: map[string]any{"a": "b"}}, "a body for GET"},
		{"form_of_a_list", Proposal{ID: "listed", Route: createNote, As: AsFirst, Encoding: "form", Body: []any{"a"}}, "a form that is not an object"},
		{"fault_of_the_server", Proposal{ID: "list_backwards", Route: listNotes, As: AsFirst, Query: map[string]any{"limit": num(-1)}}, "it answers 500"},
		{"not_needed", Proposal{ID: "join", Route: createUser, As: AsNobody, Encoding: "json", Body: map[string]any{"username": "jo", "password": "Pass1234"}}, "no case of the group needs it"},
		{"example_host", with(note("linked"), "text", "https://www.example.com/a"), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			rec := record(t, &toy{handler: ledger}, Options{Proposer: &says{all: []Proposal{note("keep_note"), tc.p, {ID: "list_all", Route: listNotes, As: AsFirst}}}}, ledgerRoutes()...)
			g := group(t, rec, "notes")
			if d := cmp.Diff([]string{"", tc.want, ""}, dropped(g)); d != "" {
				t.Error(d)
			}
			if tc.want != "" && tc.p.ID != "keep_note" && tc.p.ID != "list_notes" && find(g, tc.p.ID).ID != "" || status(g, "keep_note") != 201 || status(g, "list_all") != 200 {
				t.Errorf("the cases are\n%s", describe(g))
			}
		})
	}
}

func with(p Proposal, key string, v any) Proposal {
	p.Body.(map[string]any)[key] = v
	return p
}

// TestProposals_that_end_the_service: the group begins again without the proposal, and nobody is
// asked twice. After the second of them there are the rules alone.
func TestProposals_that_end_the_service(t *testing.T) {
	t.Parallel()
	end := func(id string) Proposal {
		return Proposal{ID: id, Route: listNotes, As: AsFirst, Query: map[string]any{"limit": num(13)}}
	}
	rules := group(t, record(t, &toy{handler: ledger}, Options{}, ledgerRoutes()...), "notes")
	p := &says{all: []Proposal{end("end"), note("keep_note")}}
	g := group(t, record(t, &toy{handler: ledger}, Options{Proposer: p}, ledgerRoutes()...), "notes")
	if d := cmp.Diff([]string{"there was no answer: reset", ""}, dropped(g)); d != "" || len(p.asked) != 1 || status(g, "keep_note") != 201 {
		t.Errorf("asked %d times: %s\n%s", len(p.asked), d, describe(g))
	}
	p = &says{all: []Proposal{end("end"), note("keep_note"), end("end_again")}}
	g = group(t, record(t, &toy{handler: ledger}, Options{Proposer: p}, ledgerRoutes()...), "notes")
	if d := cmp.Diff(rules.Cases, g.Cases); d != "" || len(g.Left) != len(rules.Left) {
		t.Errorf("not the rules' cases: %s, %v", d, g.Left)
	}
	if got := dropped(g); got[0] != "there was no answer: reset" || got[2] != got[0] || !strings.HasPrefix(got[1], "the service was started too often") {
		t.Errorf("%q", got)
	}
}

// TestProposals_of_nobody: without proposals the scenario is that of the rules, and an error of who
// is asked is that of the recording.
func TestProposals_of_nobody(t *testing.T) {
	t.Parallel()
	rules := record(t, &toy{handler: ledger}, Options{}, ledgerRoutes()...)
	none := record(t, &toy{handler: ledger}, Options{Proposer: &says{}}, ledgerRoutes()...)
	for i, g := range rules.Groups {
		if d := cmp.Diff(g.Cases, none.Groups[i].Cases); d != "" {
			t.Errorf("group %s: %s", g.Name, d)
		}
	}
	busy := errors.New("busy")
	_, err := Record(t.Context(), routes.Table{Routes: ledgerRoutes()}, &toy{handler: ledger}, Options{Proposer: &says{err: busy}, Sleep: noSleep})
	if !errors.Is(err, busy) {
		t.Errorf("error %v", err)
	}
}
