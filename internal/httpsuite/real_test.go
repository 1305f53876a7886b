package httpsuite_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/environment/environmenttest"
	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/schemas"
)

// server counts what it is asked for, so that two runs on one state would be seen.
const server = `
import http.server, json, os, sys
count = 0
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global count
        if self.path == "/count":
            count += 1
            return self.say(200, {"count": count, "suite": os.path.exists("/testbed/tests_benchmint"), "inputs": os.path.exists("/run/benchmint/tests_benchmint")})
        if self.path == "/crash":
            print("crashing as told", flush=True)
            os._exit(3)
        self.say(404, {"error": "not found"})
    def say(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
if len(sys.argv) > 1: sys.exit("cannot start as told")
http.server.HTTPServer(("127.0.0.1", 8123), Handler).serve_forever()
`

// files is a tree.
type files map[string]string

func (t files) Paths() []string               { return slices.Sorted(maps.Keys(t)) }
func (t files) Has(p string) bool             { _, ok := t[p]; return ok }
func (t files) Read(p string) ([]byte, error) { return []byte(t[p]), nil }

// The suite runs in the environment of its recipe, beside a service in another sandbox.
func TestRunBesideAService(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIP: builds an environment")
	}
	t.Parallel()
	w := environmenttest.New(t, environmenttest.Bubblewrap(t), python.Language{}, python.ReportFormat)
	tester, err := httpsuite.Tester(w.Available)
	if err != nil {
		t.Skipf("SKIP: %v", err)
	}
	r := schemas.Recipe{Language: python.Name, Toolchain: tester.Toolchain, Tools: tester.Tools, Report: httpsuite.ReportFormat, Service: &schemas.Service{
		Port: 8123, Tester: &tester, Start: schemas.Command{Argv: []string{"/opt/toolchains/python-" + tester.Toolchain.Version + "/bin/python3", "server.py"}},
	}}
	base, err := w.Base(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	layer, err := w.State(t.Context(), base, r, []sandbox.File{{Path: sandbox.TreePath + "/server.py", Mode: 0o644, Data: []byte(server)}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Sandbox.Remove(t.Context(), layer) }()
	value := func(v any) *contract.Matcher { return &contract.Matcher{Equal: &v} }
	judged := func(id, path string, status int, body *contract.Matcher) contract.Case {
		return contract.Case{
			ID: id, Kind: contract.Happy, Endpoint: schemas.Endpoint{Method: "GET", Path: path}, Request: contract.Request{Path: path},
			Expect: &contract.Expect{Status: status, Type: "application/json", Body: body},
		}
	}
	first := map[string]any{"count": 1, "suite": false, "inputs": false}
	tree := files{}
	suite, err := httpsuite.Files(contract.Suite{Format: contract.Format, Groups: []*contract.Group{
		{Name: "one", Cases: []contract.Case{judged("count", "/count", 200, value(first)), judged("nothing", "/x", 404, value(map[string]any{"error": "not found"}))}},
		{Name: "two", Cases: []contract.Case{judged("count", "/count", 200, value(first)), judged("crash", "/crash", 200, nil), judged("after", "/x", 404, nil)}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range suite {
		tree[f.Path] = string(f.Data)
	}

	report := runAll(t, w.Builder, layer, r, tree)
	got := map[string]schemas.Status{}
	for _, x := range report.Tests {
		got[strings.TrimPrefix(x.ID, "tests_benchmint/")] = x.Status
	}
	for id, want := range map[string]schemas.Status{
		"test_connect.py::test_connect": schemas.Passed, "test_func.py::test_case[one-count]": schemas.Passed, "test_func.py::test_case[one-nothing]": schemas.Passed,
		"test_func.py::test_case[two-count]": schemas.Passed, "test_func.py::test_case[two-crash]": schemas.Failed, "test_func.py::test_case[two-after]": schemas.Failed,
	} {
		if got[id] != want {
			t.Errorf("%s is %q, want %q", id, got[id], want)
		}
	}
	if !report.Started || !report.Ended || len(got) != 6 || t.Failed() {
		t.Errorf("%+v", report)
	}

	r.Service.Start.Argv = append(r.Service.Start.Argv, "fail")
	report = runAll(t, w.Builder, layer, r, tree)
	for _, u := range report.Units[1:] {
		if u.State != testlog.NotLoaded || !strings.Contains(u.Message, "cannot start as told") || !strings.Contains(u.Message, "the service ended with status 1") {
			t.Errorf("a service that does not start: %+v", u)
		}
	}
	if len(report.Tests) != 1 || report.Tests[0].Status != schemas.Failed {
		t.Errorf("a service that does not start: %+v", report.Tests)
	}
}

func runAll(t *testing.T, b *environment.Builder, layer sandbox.Layer, r schemas.Recipe, tree lang.Tree) testlog.Report {
	t.Helper()
	var outs []lang.Output
	for _, tr := range (httpsuite.Runner{}).Runs(r, tree, lang.Select{Number: 1}) {
		tr.Command.Env["BENCHMINT_READY_SECONDS"] = "20"
		if len(r.Service.Start.Argv) > 2 {
			tr.Command.Env["BENCHMINT_READY_SECONDS"] = "1"
		}
		res, err := b.Test(t.Context(), layer, r, tr, sandbox.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s", res.Output)
		said, _ := tr.Said(res)
		outs = append(outs, lang.Output{Run: tr, Tree: tree, Report: said, Result: res})
	}
	return httpsuite.Runner{}.Parse(r, outs)
}
