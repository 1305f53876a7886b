package output

import (
	"bytes"
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/patch"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

func served(language, framework, database, category string, endpoints, asked, cases, f2p, p2p int) Row {
	r := Row{FailToPass: make(List, f2p), PassToPass: make(List, p2p)}
	r.Benchmint.Kind, r.Benchmint.Language = schemas.KindService, language
	r.Benchmint.Service = &Service{Framework: framework, Database: database, Category: category, Endpoints: make([]schemas.Endpoint, endpoints), EndpointsAsked: asked, Cases: cases}
	return r
}

var cardLine = regexp.MustCompile(`(?m)^\| ([^|]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$`)

// TestServicesAddUp: the figures of each table of a card sum to those of all tasks, and these are
// the tasks of the rows.
func TestServicesAddUp(t *testing.T) {
	t.Parallel()
	tasks := newTally()
	for _, r := range []Row{
		served("python", "flask", "sqlite", "content", 11, 10, 36, 20, 9),
		served("python", "flask", "sqlite", "identity", 3, 3, 30, 8, 15),
		served("python", "fastapi", "postgres", "other", 5, 5, 19, 9, 4),
		served("go", "gin", "sqlite", "content", 10, 9, 33, 17, 8),
		served("go", "net/http", "", "specialized", 4, 4, 12, 7, 3),
		{Benchmint: Extra{Kind: schemas.KindFeature, Language: "python"}, FailToPass: make(List, 3)}, // no service
	} {
		tasks.add(r)
	}
	var b bytes.Buffer
	tasks.services.print(&b)
	tables := strings.Split(b.String(), "| ---: |\n")[1:]
	if len(tables) != 4 {
		t.Fatalf("%d tables: %s", len(tables), b.String())
	}
	want := []int{5, 33, 31, 130, 61, 39}
	for i, table := range tables {
		sums, all := make([]int, len(want)), []int(nil)
		for _, m := range cardLine.FindAllStringSubmatch(table, -1) {
			line := make([]int, len(want))
			for n := range want {
				line[n], _ = strconv.Atoi(m[n+2])
			}
			if m[1] == "All" {
				all = line
				continue
			}
			for n := range want {
				sums[n] += line[n]
			}
		}
		for n := range want {
			if len(all) == 0 || sums[n] != want[n] || all[n] != want[n] {
				t.Fatalf("table %d: the lines sum to %v, all is %v, want %v\n%s", i, sums, all, want, table)
			}
		}
	}
	for _, line := range []string{"| python | 3 | 19 | 18 | 85 | 37 | 28 |", "| flask | 2 |", "| none | 1 | 4 |", "| content | 2 | 21 |"} {
		if !strings.Contains(b.String(), line) {
			t.Errorf("%q is not in\n%s", line, b.String())
		}
	}
	var none bytes.Buffer
	newServiceTally().print(&none)
	if none.Len() > 0 {
		t.Errorf("of no service: %s", none.String())
	}
}

// TestCasesOfPatch: cases and endpoints are counted as the test patch has them.
func TestCasesOfPatch(t *testing.T) {
	t.Parallel()
	one := contract.Case{ID: "list", Group: "books", Kind: contract.Happy, Endpoint: schemas.Endpoint{Method: "GET", Path: "/api/books"}, Request: contract.Request{Path: "/api/books"}, Expect: &contract.Expect{Status: 200}}
	again, silent, other := one, one, one
	again.ID, silent.ID, other.ID = "list_again", "list_silent", "list_tags"
	silent.Expect = nil
	silent.Endpoint.Method = "DELETE"
	other.Group, other.Endpoint.Path, other.Request.Path = "tags", "/api/tags", "/api/tags"
	files, err := httpsuite.Files(contract.Suite{Format: contract.Format, Groups: []*contract.Group{{Name: "books", Cases: []contract.Case{one, again, silent}}, {Name: "tags", Cases: []contract.Case{other}}}})
	if err != nil {
		t.Fatal(err)
	}
	after := []tree.Entry{{Path: "app.py", Mode: tree.ModeFile, Data: []byte("1\n")}}
	before, err := tree.New(after)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		after = append(after, tree.Entry{Path: f.Path, Mode: tree.ModeFile, Data: f.Data})
	}
	with, err := tree.New(after)
	if err != nil {
		t.Fatal(err)
	}
	diff, err := patch.Between(context.Background(), before, with)
	if err != nil {
		t.Fatal(err)
	}
	if cases, endpoints := asked(casesIn(diff), "books"); cases != 3 || endpoints != 1 {
		t.Errorf("%d cases ask %d endpoints", cases, endpoints)
	}
	r := served("python", "flask", "", "content", 0, 1, 3, 1, 1)
	r.Benchmint.Service.Group, r.Benchmint.Service.Endpoints, r.TestPatch = "books", []schemas.Endpoint{one.Endpoint}, string(diff)
	want := map[string][]string{"GET /api/books": {one.TestID("books"), again.TestID("books")}}
	if diff := cmp.Diff(want, r.EndpointTests()); diff != "" {
		t.Errorf("tests of endpoints (-want +got):\n%s", diff)
	}
	linted := func() (out string) {
		l := &linter{row: r}
		l.service()
		for _, f := range l.findings {
			out += f.Message + "\n"
		}
		return out
	}
	if got := linted(); strings.Contains(got, "cases ask") || strings.Contains(got, "category") {
		t.Errorf("a row that holds is refused: %s", got)
	}
	r.Benchmint.Service.Cases, r.Benchmint.Service.Category = 4, "commerce"
	for _, want := range []string{"service: 4 cases ask 1 endpoints, and those of test_patch are 3 and 1", `service.category is "commerce", not content`} {
		if got := linted(); !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if cases, endpoints := asked(casesIn([]byte("no patch")), "books"); cases != 0 || endpoints != 0 {
		t.Errorf("of nothing: %d cases, %d endpoints", cases, endpoints)
	}
}

// TestCategoryOf: the group's name decides before the paths, and a word is a whole one.
func TestCategoryOf(t *testing.T) {
	t.Parallel()
	for group, x := range map[string]struct{ path, want string }{
		"articles": {"/api/articles/{slug}/comments", "content"}, "users": {"/api/users", "identity"}, "profiles": {"/api/profiles/{username}/follow", "identity"},
		"categories": {"/api/categories", "content"}, "todos": {"/todos/{id}", "devtools"}, "gadgets": {"/api/gadgets", OtherCategory}, "root": {"/ping", "infrastructure"},
		"pets": {"/pets", "specialized"}, "games": {"/v1/games", "entertainment"}, "orders": {"/orders", "commerce"}, "userland": {"/userland", OtherCategory},
		"messages": {"/messages", "communication"}, "reports": {"/users/reports", "analytics"}, "things": {"/things/{user}", OtherCategory},
	} {
		if got := categoryOf(group, []schemas.Endpoint{{Method: "GET", Path: x.path}}); got != x.want {
			t.Errorf("%s at %s is %q, want %q", group, x.path, got, x.want)
		}
	}
}
