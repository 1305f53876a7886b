package formats

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/contract"
	"github.com/benchmint/benchmint/internal/httpsuite"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// shelf counts the books that were ever added, in a file beside it and in one at home.
const shelf = `import json, os, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

FILES = ["books.json", os.path.expanduser("~/books.json")]


def add():
    raise NotImplementedError


class Shelf(BaseHTTPRequestHandler):
    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.answer(200, {"books": [len(open(f).read()) if os.path.exists(f) else 0 for f in FILES]})

    def do_POST(self):
        self.answer(201, add())


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", int(sys.argv[1])), Shelf).serve_forever()
`

// added is shelf with a body of add.
func added(body string) string {
	return strings.Replace(shelf, "    raise NotImplementedError\n", body, 1)
}

const good = "    for f in FILES:\n        open(f, \"a\").write(\"x\")\n    return {\"added\": True}\n"

// change is a patch of one file.
func change(name, before, after string) string {
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -1,%[2]d +1,%[3]d @@\n%[4]s%[5]s", name,
		strings.Count(before, "\n"), strings.Count(after, "\n"), signed('-', before), signed('+', after))
}

// service is a task: two groups that ask the same of a fresh shelf.
func service(t *testing.T) Task {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	step := func(group, id, method string, status int, body any) contract.Case {
		return contract.Case{
			ID: id, Kind: contract.Happy, Group: group, Endpoint: schemas.Endpoint{Method: method, Path: "/books"},
			Request: contract.Request{Path: "/books"}, Expect: &contract.Expect{Status: status, Body: &contract.Matcher{Equal: &body}},
		}
	}
	suite := contract.Suite{Format: contract.Format, Ready: []string{"/books"}}
	for _, g := range []string{"books", "readers"} {
		suite.Groups = append(suite.Groups, &contract.Group{Name: g, Cases: []contract.Case{
			step(g, "first", "GET", 200, map[string]any{"books": []any{json.Number("0"), json.Number("0")}}),
			step(g, "add", "POST", 201, map[string]any{"added": true}),
			step(g, "then", "GET", 200, map[string]any{"books": []any{json.Number("1"), json.Number("1")}}),
		}})
	}
	files, err := httpsuite.Files(suite)
	if err != nil {
		t.Fatal(err)
	}
	base, err := tree.New([]tree.Entry{{Path: "shelf.py", Mode: tree.ModeFile, Data: []byte(shelf)}})
	if err != nil {
		t.Fatal(err)
	}
	all := base.Entries()
	for _, f := range files {
		all = append(all, tree.Entry{Path: f.Path, Mode: tree.ModeFile, Data: f.Data})
	}
	start, err := tree.New(all)
	if err != nil {
		t.Fatal(err)
	}
	gold := change("shelf.py", shelf, added(good))
	x := Task{Base: base, Start: start, Goal: apply(t, start, gold), Gold: []byte(gold), Recipe: schemas.Recipe{
		Language: "python", Report: httpsuite.ReportFormat, Build: []schemas.Command{{Argv: []string{"python3", "-m", "py_compile", "shelf.py"}}},
		Service: &schemas.Service{Port: port, Start: schemas.Command{Argv: []string{"python3", "shelf.py", fmt.Sprint(port)}}, Tester: &schemas.Recipe{}},
	}}
	x.InstanceID = "acme__shelf-1.books.service"
	x.Benchmint.Kind, x.Benchmint.Service, x.Benchmint.ImageKey = schemas.KindService, &output.Service{}, schemas.DigestBytes([]byte("image"))
	for _, q := range httpsuite.Questions(x.Recipe, start, func(int) httpsuite.Place { return httpsuite.Place{} }) {
		x.FailToPass = append(x.FailToPass, q.Tests...)
	}
	return x
}

// owners counts the users that tests give trees to.
var owners atomic.Int32

// served does what SWE-bench does to a service, in folders that stand for those of the image. It
// gives the names of the cases by their verdicts.
func served(t *testing.T, x Task, patch string) (verdicts map[string][]string, all string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can become other users")
	}
	const ready = 5
	owner := 1_000_000 + os.Getpid()*100 + int(owners.Add(1)) // all of its processes are ended
	bash, git := program(t, "bash"), program(t, "git")
	program(t, "setpriv")
	program(t, "pgrep")
	// That of the system: others may lie where only root can go.
	python := program(t, "/usr/bin/python3", "-c", "import pytest, requests")
	if err := os.Chmod(filepath.Dir(t.TempDir()), 0o755); err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{"/testbed": lay(t, x.Base)}
	for _, name := range []string{"/opt/env", "/home/tester", "/run/benchmint", "(/tmp /var/tmp /dev/shm"} {
		dirs[name] = t.TempDir()
	}
	places := []string{httpsuite.JudgePython, python, "SERVICE_URL=", fmt.Sprintf("BENCHMINT_READY_SECONDS=%d SERVICE_URL=", ready)}
	for name, dir := range dirs {
		if strings.HasPrefix(name, "(") {
			dir = "(" + dir
		}
		places = append(places, name, dir)
	}
	// What a patch forges it forges in these folders, and not in those of the machine.
	forged := []string{`"/tmp`, `"` + dirs["(/tmp /var/tmp /dev/shm"]}
	for _, name := range []string{"/testbed", "/home/tester", "/run/benchmint"} {
		forged = append(forged, `"`+name, `"`+dirs[name])
	}
	patch = strings.NewReplacer(forged...).Replace(patch)
	// As in an image, the script has its folder in one where the service may write.
	env := append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "TMPDIR="+dirs["(/tmp /var/tmp /dev/shm"])
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A", "-f"}, {"-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "x"}, {"apply", "--allow-empty", "-"}} {
		c := exec.Command(git, args...)
		c.Dir, c.Env, c.Stdin = dirs["/testbed"], env, strings.NewReader(patch)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for name, dir := range dirs {
		err := os.Chown(dir, owner, owner)
		if strings.HasPrefix(name, "(") {
			err = errors.Join(os.Chown(dir, 0, 0), os.Chmod(dir, 0o777|os.ModeSticky))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := evalScript(x)
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "eval.sh")
	if err := os.WriteFile(script, []byte(strings.NewReplacer(places...).Replace(string(text))), 0o755); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(bash, script)
	c.Env = env
	out, _ := c.CombinedOutput()
	all = string(out)
	if info, err := os.Stat(script); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the script, which has the cases in it, is everybody's: %v, %v", info, err)
	}
	_, rest, _ := strings.Cut(all, startMarker+"\n")
	between, _, ok := strings.Cut(rest, endMarker+"\n")
	if !ok {
		t.Fatalf("no results:\n%s", all)
	}
	verdicts = map[string][]string{}
	for line := range strings.Lines(between) {
		word, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		verdicts[word] = append(verdicts[word], strings.TrimPrefix(id, "tests_benchmint/"))
	}
	return verdicts, all
}

const connects = "test_connect.py::test_connect"

func cases(names ...string) []string {
	var out []string
	for _, n := range names {
		out = append(out, "test_func.py::test_case["+n+"]")
	}
	return out
}

var everyCase = cases("books-first", "books-add", "books-then", "readers-first", "readers-add", "readers-then")

// TestServed has real services judged by the script, as the users that it is for.
func TestServed(t *testing.T) {
	t.Parallel()
	own := "diff --git a/tests_benchmint/test_func.py b/tests_benchmint/test_func.py\nnew file mode 100644\n--- /dev/null\n+++ b/tests_benchmint/test_func.py\n@@ -0,0 +1,2 @@\n+import os\n+os._exit(0)\n"
	curious := strings.Replace(added("    return {}\n"), "import json, os, sys\n", `import glob, json, os, sys
for pattern in os.environ["SECRETS"].split():
    for found in glob.glob(pattern):
        try:
            open(found).read()
            print("it reads", found)
        except OSError:
            pass
for pid in os.listdir("/proc"):
    try:
        if pid.isdigit() and b"eval.sh" in open("/proc/%s/cmdline" % pid, "rb").read():
            os.kill(int(pid), 9)
            print("it ends", pid)
    except OSError:
        pass
`, 1)
	for name, tt := range map[string]struct {
		patch string
		want  map[string][]string
		says  string
	}{
		"gold": {change("shelf.py", shelf, added(good)), map[string][]string{"PASSED": append([]string{connects}, everyCase...)}, "3 passed"},
		"nop": {"", map[string][]string{
			"PASSED": append([]string{connects}, cases("books-first", "readers-first")...),
			"FAILED": cases("books-add", "books-then", "readers-add", "readers-then"),
		}, "NotImplementedError"},
		"own_suite":      {own, map[string][]string{"PASSED": append([]string{connects}, cases("books-first", "readers-first")...), "FAILED": cases("books-add", "books-then", "readers-add", "readers-then")}, ""},
		"does_not_build": {change("shelf.py", shelf, "def\n"), map[string][]string{"FAILED": append([]string{connects}, everyCase...)}, "SyntaxError"},
		"ends":           {change("shelf.py", shelf, "print('going')\n"), map[string][]string{"FAILED": append([]string{connects}, everyCase...)}, "the service does not get ready"},
		"daemon_of_an_ended_start": {change("shelf.py", shelf, strings.Replace(added(good), "if __name__ == \"__main__\":\n", "if __name__ == \"__main__\" and os.fork() == 0:\n    os.setsid()\n", 1)),
			map[string][]string{"FAILED": append([]string{connects}, everyCase...)}, ""},
		"curious": {change("shelf.py", shelf, curious), map[string][]string{
			"PASSED": append([]string{connects}, cases("books-first", "readers-first")...), "FAILED": cases("books-add", "books-then", "readers-add", "readers-then"),
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := service(t)
			var secrets []string
			for _, name := range []string{"eval.sh", "tmp.*/suite/tests_benchmint/cases.json", "tmp.*/cases.json", "tmp.*/log", "tmp.*/private/tester", "tmp.*/reports/0.xml"} {
				secrets = append(secrets, filepath.Join(filepath.Dir(t.TempDir()), "*", name))
			}
			x.Recipe.Variables = map[string]string{"SECRETS": strings.Join(secrets, " ")}
			got, all := served(t, x, tt.patch)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s\n%s", d, all)
			}
			if !strings.Contains(all, tt.says) || strings.Contains(all, "| it ") {
				t.Errorf("it says:\n%s", all)
			}
			if n := strings.Count(all, "does not get ready"); n > 2 {
				t.Errorf("%d processes waited for a service that had ended", n)
			}
		})
	}
}

// TestForgedService: what a service says, writes, ends and answers is no result.
func TestForgedService(t *testing.T) {
	t.Parallel()
	x := service(t)
	patch, err := Forged(x)
	if err != nil {
		t.Fatal(err)
	}
	got, all := served(t, x, string(patch))
	if d := cmp.Diff(map[string][]string{"PASSED": {connects}, "FAILED": everyCase}, got); d != "" {
		t.Errorf("(-want +got):\n%s\n%s", d, all)
	}
	if !strings.Contains(all, "\n| PASSED tests_benchmint/"+everyCase[0]+"\n") {
		t.Errorf("it has forged nothing:\n%s", all)
	}
}

func TestForgedServiceInGo(t *testing.T) {
	t.Parallel()
	x := service(t)
	const before = "// Package web serves.\npackage web\n\nfunc Add() {}\n"
	base, err := tree.New([]tree.Entry{{Path: "web/web.go", Mode: tree.ModeFile, Data: []byte(before)}, {Path: "go.mod", Mode: tree.ModeFile, Data: []byte("module example.org/web\n\ngo 1.18\n")}})
	if err != nil {
		t.Fatal(err)
	}
	x.Base, x.Start, x.Goal = base, base, apply(t, base, change("web/web.go", before, before+"\nfunc More() {}\n"))
	patch, err := Forged(x)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program(t, "go"), "vet", "./...")
	c.Dir = lay(t, apply(t, base, string(patch)))
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("what forges does not build: %v\n%s", err, out)
	}
	x.Goal = base
	if _, err := Forged(x); err == nil {
		t.Error("a service without code that is loaded is forged")
	}
}

// TestReportOfAService: the converter and the reader of proofs say the same of each report.
func TestReportOfAService(t *testing.T) {
	t.Parallel()
	python := program(t, "python3")
	x := service(t)
	runs := httpsuite.Runner{}.Runs(x.Recipe, x.Start, lang.Select{Number: 1})
	ids := httpsuite.Questions(x.Recipe, x.Start, func(int) httpsuite.Place { return httpsuite.Place{} })
	one := func(name, inner string) string {
		return `<testcase classname="tests_benchmint.test_func" name="test_case[` + name + `]">` + inner + `</testcase>`
	}
	whole := func(cases ...string) string {
		return `<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest">` + strings.Join(cases, "") + `</testsuite></testsuites>`
	}
	hostile := "<failure message=\"x\">\n&gt;&gt;&gt;&gt;&gt; End Test Output\nPASSED " + ids[1].Tests[1] + "\n&lt;/failure&gt;</failure>"
	for name, c := range map[string]struct {
		report string
		code   int
		want   []string // of the first group
	}{
		"all":             {whole(one("books-first", ""), one("books-add", ""), one("books-then", "")), 0, ids[1].Tests},
		"one_fails":       {whole(one("books-first", ""), one("books-add", hostile), one("books-then", "")), 1, []string{ids[1].Tests[0], ids[1].Tests[2]}},
		"error":           {whole(one("books-first", "<error>x</error>"), one("books-add", "")), 1, ids[1].Tests[1:2]},
		"error_later":     {whole(one("books-first", ""), one("books-first", "<error>x</error>"), one("books-add", "")), 1, ids[1].Tests[1:2]},
		"skipped":         {whole(one("books-first", "<skipped/>"), one("books-add", "")), 0, ids[1].Tests[1:2]},
		"of_nobody":       {whole(one("books-first", ""), one("readers-first", ""), one("books-more", ""), one("books-add\nPASSED x", "")), 0, ids[1].Tests[:1]},
		"another_file":    {whole(`<testcase classname="tests_benchmint.test_connect" name="test_case[books-first]"/>`), 0, nil},
		"not_ready":       {whole(one("books-first", "")), 7, nil},
		"cut":             {whole(one("books-first", ""))[:150], 137, nil},
		"none":            {"", 137, nil},
		"ended_otherwise": {whole(one("books-first", "")), 3, ids[1].Tests[:1]},
	} {
		work := t.TempDir()
		known, err := json.Marshal([][]string{ids[0].Tests, ids[1].Tests})
		if err != nil {
			t.Fatal(err)
		}
		for file, data := range map[string]string{"cases.json": string(known), "convert.py": string(convertHTTP), "1.xml": c.report, "code.1": fmt.Sprintf("%d\n", c.code)} {
			if data != "" {
				if err := os.WriteFile(filepath.Join(work, file), []byte(data), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		out, err := exec.Command(python, "-I", "-S", "-B", filepath.Join(work, "convert.py"), filepath.Join(work, "cases.json"), filepath.Join(work, "code"), work).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		want := "FAILED " + ids[0].Tests[0] + "\n"
		for _, id := range ids[1].Tests {
			if slices.Contains(c.want, id) {
				want += "PASSED " + id + "\n"
			} else {
				want += "FAILED " + id + "\n"
			}
		}
		if d := cmp.Diff(want, string(out)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		report := httpsuite.Runner{}.Parse(x.Recipe, []lang.Output{{Run: runs[1], Report: []byte(c.report), Result: sandbox.Result{End: sandbox.Exited, ExitCode: c.code}}})
		if d := cmp.Diff(c.want, passing(report)); d != "" {
			t.Errorf("%s: the reader of proofs (-want +got):\n%s", name, d)
		}
	}
}

// passing are the tests of a report that nothing of it says to have failed.
func passing(r testlog.Report) []string {
	var out []string
	for _, x := range r.Tests {
		if x.Status == schemas.Passed && !slices.ContainsFunc(r.Tests, func(y testlog.Test) bool { return y.ID == x.ID && y.Status != schemas.Passed }) {
			out = append(out, x.ID)
		}
	}
	return out
}

// What a client cannot judge within one container is refused.
func TestServiceFits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		format Format
		edit   func(*Task)
		want   string
	}{
		"swebench":    {SWEBench{}, func(*Task) {}, ""},
		"harbor":      {Harbor{}, func(*Task) {}, ""},
		"inspect":     {Inspect{}, func(*Task) {}, "Inspect runs the tests where the agent was"},
		"environment": {SWEBench{}, func(x *Task) { x.Recipe.Service.Image = "benchmint/base:1" }, "the answer brings the image of its service"},
		"a_file_of_the_service": {Harbor{}, func(x *Task) {
			x.Start = apply(t, x.Start, change("shelf.py", shelf, added(good)))
		}, `test_patch changes a file that the service has: "shelf.py"`},
	} {
		x := service(t)
		tt.edit(&x)
		if name == "a_file_of_the_service" {
			x.Goal = x.Start
		}
		if err := tt.format.Fits(x); (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
	x := service(t)
	if own, judge := Image(x.Row), JudgeImage(x.Row); judge != own+"-judge" {
		t.Errorf("the images are %s and %s", own, judge)
	}
	x.Benchmint.Service.BaseImage = "benchmint/base:1"
	if own, judge := Image(x.Row), JudgeImage(x.Row); judge != own {
		t.Errorf("the environment variant has the images %s and %s", own, judge)
	}
}
