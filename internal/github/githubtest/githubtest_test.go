package githubtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// The server refuses what GitHub would refuse, and what GitHub would not say.
func TestRefuses(t *testing.T) {
	t.Parallel()
	s := Start(Repositories{"acme/kit": {}})
	defer s.Close()
	for _, tc := range []struct{ query, want string }{
		{`query { repository(owner: "acme", name: "kit") { nameWithOwnr } }`, "nameWithOwner"},
		{`query { repository(owner: "acme", name: "kit") { pullRequests(states: MERGD, first: 1) { totalCount } } }`, "MERGED"},
		{`query { repository(owner: "acme", name: "kit") { nameWithOwner } } fragment idle on Repository { id }`, "idle"},
	} {
		body := strings.NewReader(`{"query": ` + quote(tc.query) + `}`)
		resp, err := http.Post(s.URL()+"/graphql", "application/json", body)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		bad := s.Bad()
		if resp.StatusCode != http.StatusInternalServerError || !strings.Contains(bad[len(bad)-1], tc.want) {
			t.Errorf("%s: status %d, %q", tc.query, resp.StatusCode, bad)
		}
	}
	for _, tc := range []struct{ path, body, want string }{
		{"/repos/acme/kit/releases", `[{"id": "no number"}]`, "the answer"},
		{"/repos/acme/kit/releases?per_page=abc", `[]`, "the question"},
		{"/repos/acme/kit/nothing", `[]`, "no matching operation"},
		{"/repos/acme/kit/releases?per_page=100", `[]`, ""},
	} {
		err := published().check(httptest.NewRequest(http.MethodGet, "http://x"+tc.path, nil), http.StatusOK, []byte(tc.body))
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.path, err)
		}
	}
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"` }

// A fault of one repository is said to questions of it alone.
func TestFaultOf(t *testing.T) {
	t.Parallel()
	s := Start(Repositories{"acme/kit": {}, "acme/box": {}}, Fault{Of: "Acme/box", Status: http.StatusUnavailableForLegalReasons, Body: "{}", Times: 9})
	defer s.Close()
	ask := func(names ...string) int {
		variables := []string{}
		query := "query("
		for i, name := range names {
			query += fmt.Sprintf("$o%d: String!, $n%d: String!, ", i, i)
			variables = append(variables, fmt.Sprintf(`"o%d": "acme", "n%d": %q`, i, i, name))
		}
		query += ") { "
		for i := range names {
			query += fmt.Sprintf("r%d: repository(owner: $o%d, name: $n%d) { nameWithOwner } ", i, i, i)
		}
		resp, err := http.Post(s.URL()+"/graphql", "application/json", strings.NewReader(`{"query": `+quote(query+"}")+`, "variables": {`+strings.Join(variables, ", ")+`}}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		return resp.StatusCode
	}
	got := []int{ask("kit"), ask("box"), ask("kit", "box"), ask("kit")}
	if want := []int{200, 451, 451, 200}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
