package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/github/githubtest"
	"github.com/benchmint/benchmint/schemas"
)

const token = "ghp_planted_in_a_test"

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func client(t *testing.T, s *githubtest.Server) *github.Client {
	t.Helper()
	return clientOf(t, s, 0, token)
}

func clientOf(t *testing.T, s *githubtest.Server, most int, tokens ...string) *github.Client {
	t.Helper()
	t.Cleanup(func() {
		for _, bad := range s.Bad() {
			t.Errorf("not as GitHub describes itself: %s", bad)
		}
	})
	c, err := github.New(s.URL(), tokens, most, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPulls(t *testing.T) {
	t.Parallel()
	want := map[int]schemas.Pull{}
	var numbers []int
	for n := 1; n <= 250; n++ {
		numbers = append(numbers, n)
		if n%5 != 0 { // the others are issues
			want[n] = schemas.Pull{Number: n, Title: fmt.Sprintf("Pull %d", n), Body: "Because.", Labels: []string{"bug", "good first issue"}, Merge: strings.Repeat("a", 40)}
		}
	}
	s := githubtest.Start(githubtest.Of(map[string]map[int]schemas.Pull{"acme/kit": want}))
	defer s.Close()
	c := client(t, s)
	read, err := c.Pulls(t.Context(), "acme/kit", numbers)
	got := map[int]schemas.Pull{}
	for n, p := range read {
		got[n] = p.Pull
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if spent := c.Spent(); s.Requests() != 3 || spent.Requests != 3 || spent.Points != 3 || spent.Left != 4997 {
		t.Errorf("%d requests for 250 numbers, spent %+v", s.Requests(), spent)
	}
	if !s.Heard(token) {
		t.Error("the token was not sent")
	}
}

// GitHub answers 502 to a question that is too heavy: it is asked in halves.
func TestHalves(t *testing.T) {
	t.Parallel()
	s := githubtest.Start(githubtest.Of(map[string]map[int]schemas.Pull{"acme/kit": {1: {Title: "One"}, 4: {Title: "Four"}}}), githubtest.Fault{Status: 502, Body: "<html>", Most: 2, Times: 9})
	defer s.Close()
	got, err := client(t, s).Pulls(t.Context(), "acme/kit", []int{1, 2, 3, 4})
	if err != nil || len(got) != 2 || s.Requests() != 3 {
		t.Errorf("%v, %v after %d requests", got, err, s.Requests())
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	other := githubtest.Start(nil)
	defer other.Close()
	later := func(until time.Time) func(error) bool {
		return func(err error) bool {
			var l *github.Later
			return errors.As(err, &l) && (until.IsZero() || l.Until.Equal(until))
		}
	}
	gone := func(err error) bool { var g *github.Gone; return errors.As(err, &g) }
	reset := fmt.Sprint(now.Add(time.Hour).Unix())
	for _, tc := range []struct {
		name  string
		fault githubtest.Fault
		is    func(error) bool
	}{
		{"primary_limit", githubtest.Fault{Status: 403, Header: map[string]string{"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}, Body: `{"message":"API rate limit exceeded"}`}, later(time.Unix(now.Add(time.Hour).Unix(), 0))},
		{"limit_as_429", githubtest.Fault{Status: 429, Header: map[string]string{"Retry-After": "30"}, Body: `{"message":"slow down"}`}, later(now.Add(30 * time.Second))},
		{"limit_as_429_without_an_end", githubtest.Fault{Status: 429, Body: `{}`}, later(now.Add(time.Minute))},
		{"secondary_limit", githubtest.Fault{Status: 403, Header: map[string]string{"Retry-After": "20"}, Body: `{"message":"You have exceeded a secondary rate limit","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`}, later(now.Add(20 * time.Second))},
		{"limit_with_200", githubtest.Fault{Body: `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}],"data":{"rateLimit":{"resetAt":"2026-01-02T04:00:00Z"}}}`}, later(now.Truncate(time.Hour).Add(time.Hour))},
		{"heavy_for_one", githubtest.Fault{Status: 504, Body: "<html>"}, later(time.Time{})},
		{"down", githubtest.Fault{Status: 503, Body: "<html>"}, later(time.Time{})},
		{"html", githubtest.Fault{Body: "<html>a proxy</html>"}, later(time.Time{})},
		{"empty", githubtest.Fault{}, later(time.Time{})},
		{"cut", githubtest.Fault{Body: `{"data":{"reposit`}, later(time.Time{})},
		{"deleted", githubtest.Fault{Body: `{"data":{"repository":null},"errors":[{"type":"NOT_FOUND","path":["repository"],"message":"Could not resolve"}]}`}, gone},
		{"blocked", githubtest.Fault{Status: 451, Body: `{"message":"blocked"}`}, gone},
		{"bad_token", githubtest.Fault{Status: 401, Body: `{"message":"Bad credentials"}`}, func(err error) bool {
			return !later(time.Time{})(err) && !gone(err) && strings.Contains(err.Error(), "GITHUB_TOKEN")
		}},
		{"primary_limit_as_429", githubtest.Fault{Status: 429, Header: map[string]string{"X-RateLimit-Limit": "5000", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}, Body: `{}`}, later(time.Unix(now.Add(time.Hour).Unix(), 0))},
		{"not_what_was_asked", githubtest.Fault{Body: `{"data":{"repository":7}}`}, later(time.Time{})},
		{"redirect_to_another_host", githubtest.Fault{Status: http.StatusTemporaryRedirect, Header: map[string]string{"Location": other.URL() + "/graphql"}}, func(err error) bool { return err != nil }},
	} {
		tc.fault.Times = 1
		s := githubtest.Start(githubtest.Of(map[string]map[int]schemas.Pull{"acme/kit": {1: {}}}), tc.fault)
		_, err := client(t, s).Pulls(t.Context(), "acme/kit", []int{1})
		if err == nil || !tc.is(err) {
			t.Errorf("%s: %v", tc.name, err)
		}
		if err != nil && strings.Contains(err.Error(), token) {
			t.Errorf("%s: the error has the token: %v", tc.name, err)
		}
		s.Close()
	}
	if other.Heard(token) {
		t.Error("another host heard the token")
	}
}
