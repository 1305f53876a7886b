package serve_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/serve"
	"github.com/benchmint/benchmint/schemas"
)

func TestPrepareNothing(t *testing.T) {
	t.Parallel()
	if got := serve.Prepare(schemas.Service{Database: schemas.DatabaseSQLite}); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestPrepareInOrder(t *testing.T) {
	t.Parallel()
	s := schemas.Service{
		Copied: true, Files: map[string]string{".env": "A='1 2'\n"},
		Prepare: []schemas.Command{{Argv: []string{"one", "it's"}, Dir: "backend", Env: map[string]string{"X": "$HOME"}}, {Argv: []string{"two"}}},
	}
	got := serve.Prepare(s)
	if len(got) != 3 {
		t.Fatalf("%d commands: %v", len(got), got)
	}
	if want := []string{".env", "A='1 2'"}; !slices.Equal(got[0].Argv[4:], want) {
		t.Errorf("files: %q", got[0].Argv)
	}
	script := got[2].Argv[2]
	one, two := strings.Index(script, "(cd /home/tester/service/tree/backend && env"), strings.Index(script, "(cd /home/tester/service/tree && env")
	if one < 0 || two < one || !strings.Contains(script, `one 'it'"'"'s'`) || !strings.Contains(script, "X='$HOME'") {
		t.Errorf("script:\n%s", script)
	}
}

// A script that fails is told by the command of the service that did, and by its last words.
func TestFailed(t *testing.T) {
	t.Parallel()
	s := schemas.Service{Prepare: []schemas.Command{
		{Argv: []string{"true"}, Dir: "/"}, {Argv: []string{"bash", "-c", "echo no such table >&2\nexit 3"}, Dir: "/"}, {Argv: []string{"true"}, Dir: "/"},
	}}
	step := serve.Prepare(s)[0]
	output, err := exec.Command(step.Argv[0], step.Argv[1:]...).CombinedOutput()
	var code *exec.ExitError
	if !errors.As(err, &code) || code.ExitCode() != 3 {
		t.Fatalf("it ends with %v: %s", err, output)
	}
	failed := func(step schemas.Command, said string) error {
		return &sandbox.BuildError{Step: step, Result: sandbox.Result{End: sandbox.Exited, ExitCode: 3, Output: []byte(said)}}
	}
	got := serve.Failed(&s, failed(step, string(output)))
	if want := "bash -c echo no such table >&2 …: exit 3: no such table"; got.Error() != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var build *sandbox.BuildError
	if !errors.As(got, &build) || !slices.Equal(build.Step.Argv, step.Argv) {
		t.Errorf("the step that failed is lost: %v", build)
	}
	if strings.HasSuffix(s.Prepare[1].Argv[2], "…") {
		t.Error("the recipe's own command was changed")
	}
	const first = "prepare: command 1 failed\n"
	for name, err := range map[string]error{
		"another_step":  failed(schemas.Command{Argv: []string{"make"}}, first),
		"no_such":       failed(step, "prepare: command 9 failed\n"),
		"says_nothing":  failed(step, "Killed"),
		"not_at_an_end": failed(step, first+"Killed"),
		"no_build":      errors.New("no sandbox"),
	} {
		if got := serve.Failed(&s, err); got.Error() != err.Error() {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	s := schemas.Service{Start: schemas.Command{Argv: []string{"serve", "a b"}, Dir: "backend", Env: map[string]string{"PORT": "1", "TZ": "Asia/Tokyo"}}, Shifts: true}
	plain := serve.Start(s, false)
	want := schemas.Command{Argv: []string{"serve", "a b"}, Dir: "/testbed/backend", Env: map[string]string{
		"PORT": "1", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTHONUNBUFFERED": "1",
	}}
	if diff := cmp.Diff(want, plain); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	shifted := serve.Start(s, true)
	want = clock.Preload(want, "", clock.Shift{Ahead: clock.Ahead})
	if diff := cmp.Diff(want, shifted); diff != "" {
		t.Errorf("shifted (-want +got):\n%s", diff)
	}
	if s.Start.Env["LC_ALL"] != "" {
		t.Error("the recipe's own variables were changed")
	}
}

func TestShifts(t *testing.T) {
	t.Parallel()
	r := schemas.Recipe{Service: &schemas.Service{Shifts: true}}
	if serve.Shifts(r) {
		t.Error("without the package")
	}
	r.SystemPackages = []string{clock.Package}
	if !serve.Shifts(r) {
		t.Error("with the package")
	}
}

func TestProbes(t *testing.T) {
	t.Parallel()
	get := func(p string) serve.Route {
		return serve.Route{Method: "GET", Path: p, Group: strings.Split(p, "/")[2]}
	}
	all := []serve.Route{
		get("/api/a/1"), get("/api/a/2"), get("/api/a/3"), get("/api/a/4"), get("/api/a/5"), get("/api/b"), get("/api/b/{id}"), {Method: "POST", Path: "/api/c", Group: "c"}, get("/api/d"), get("/api/a/6"),
	}
	got := serve.Probes(all, func(group string) bool { return group != "d" })
	if want := []string{"/api/a/1", "/api/b", "/api/a/2", "/api/a/3", "/api/a/4", "/api/a/5"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := serve.Probes(nil, func(string) bool { return true }); got != nil {
		t.Errorf("of no routes: %v", got)
	}
}

func TestRounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		rounds [][]int
		want   bool
	}{
		{"two_clean", [][]int{{200, 404}, {401}}, true},
		{"one", [][]int{{200}}, false},
		{"not_in_a_row", [][]int{{200}, {500}, {200}}, false},
		{"after_errors", [][]int{{503}, {0}, {200}, {200}}, true},
		{"refused", [][]int{{0}, {0}}, false},
		{"no_probe", [][]int{{}, {}}, false},
	} {
		var r serve.Rounds
		ready := false
		for _, s := range c.rounds {
			ready = r.Add(s)
		}
		if ready != c.want {
			t.Errorf("%s: ready %t, want %t", c.name, ready, c.want)
		}
	}
}

// The scripts make real databases, leave them stopped, and start them again with what was put there.
func TestEngines(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not installed: apt-get install bubblewrap")
	}
	bash := func(script string) schemas.Command {
		return schemas.Command{Argv: []string{"bash", "-c", script}}
	}
	python := func(script string) schemas.Command {
		return schemas.Command{Argv: []string{"/usr/bin/python3", "-I", "-c", script}}
	}
	const (
		psql    = `"$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)/psql" -h 127.0.0.1 -p 5433 -U "it's" -At 'a "shop"' -c `
		mariadb = "mariadb --no-defaults --protocol tcp --host 127.0.0.1 --port 3307 --user \"it's\" --password=any --skip-column-names 'a`shop' --execute "
	)
	for _, c := range []struct {
		kind, program string
		s             schemas.Service
		left          string // where it runs
	}{
		{schemas.DatabasePostgres, "/usr/lib/postgresql/*/bin/initdb", schemas.Service{
			Database: schemas.DatabasePostgres, DBPort: 5433, DBName: `a "shop"`, DBUser: "it's", DBPassword: `w'"d`,
			Prepare: []schemas.Command{bash(psql + `"CREATE TABLE goods AS SELECT 42 AS n"`)}, Start: bash(psql + `"SELECT n FROM goods"`),
		}, "service/postgres/postmaster.pid"},
		{schemas.DatabaseMySQL, "/usr/sbin/mariadbd", schemas.Service{
			Database: schemas.DatabaseMySQL, DBPort: 3307, DBName: "a`shop", DBUser: "it's", DBPassword: `w'"d`,
			Prepare: []schemas.Command{bash(mariadb + `"CREATE TABLE goods AS SELECT 42 AS n"`)}, Start: bash(mariadb + `"SELECT n FROM goods WHERE @@time_zone = '+00:00'"`),
		}, "service/mysql/server.pid"},
		{schemas.BrokerRedis, "/usr/bin/redis-server", schemas.Service{
			Brokers: []string{schemas.BrokerRedis}, Prepare: []schemas.Command{bash("redis-cli set n 42")}, Start: bash("redis-cli get n"),
		}, "service/redis/server.pid"},
		{schemas.BrokerSMTP, "/usr/bin/openssl", schemas.Service{
			Brokers: []string{schemas.BrokerSMTP}, Prepare: []schemas.Command{python(sendMail)}, Start: python(sendMail + readMail),
		}, "service/mail/server.pid"},
		{"both", "/usr/bin/redis-server", schemas.Service{
			Database: schemas.DatabaseMySQL, DBPort: 3307, DBName: "a`shop", DBUser: "it's", Brokers: []string{schemas.BrokerRedis},
			Prepare: []schemas.Command{bash(mariadb + `"SELECT 42" | redis-cli -x set n`)}, Start: bash("redis-cli get n"),
		}, "service/mysql/server.pid"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			if found, _ := filepath.Glob(c.program); len(found) == 0 {
				t.Skipf("NO %s HERE: apt-get install %s", c.kind, strings.Join(serve.Packages(c.s), " "))
			}
			home := t.TempDir()
			for _, step := range serve.Prepare(c.s) {
				inBubble(t, home, step)
			}
			if _, err := os.Stat(filepath.Join(home, c.left)); err == nil {
				t.Error("it was left running")
			}
			if got := inBubble(t, home, serve.Start(c.s, false)); got != "42" {
				t.Errorf("got %q", got)
			}
		})
	}
}

// sendMail sends three mails, each in another way that services have: TLS with a certificate that is looked at, TLS from the first
// byte, and none.
const sendMail = `
import smtplib, ssl
from email.message import EmailMessage
def mail(client, code, *parts):
    m = EmailMessage()
    m["From"], m["To"], m["Subject"] = "a@example.com", "b@example.com", "Grüße"
    m.set_content("Your code: 1234" + code)
    for part in parts:
        m.add_alternative(part, subtype="html")
    client.login("any", "thing")
    client.send_message(m)
    client.quit()
with_tls = smtplib.SMTP("127.0.0.1", 1025)
with_tls.starttls(context=ssl.create_default_context())
mail(with_tls, "1")
mail(smtplib.SMTP_SSL("127.0.0.1", 2525, context=ssl.create_default_context()), "2")
mail(smtplib.SMTP("127.0.0.1", 1025), "3", "<p>Go <a href='http://h/login/ab=c?a=b&amp;token=t'>there</a>.")
`

// readMail prints 42 where the newest mail says what it should, and no mail is told twice.
const readMail = `
import json, urllib.error, urllib.request
def read(wait):
    return json.load(urllib.request.urlopen("http://127.0.0.1:1080/?wait=%s" % wait))
want = {"to": ["b@example.com"], "subject": "Grüße", "words": ["Your", "code", "12343"],
        "links": [{"url": "http://h/login/ab=c?a=b&token=t", "last": "ab=c", "query": {"a": "b", "token": "t"}}]}
got = read(5)
try:
    read(0)
    print("told twice")
except urllib.error.HTTPError as e:
    print("42" if got == want and e.code == 404 else got)
`

// inBubble runs a command with a home of its own as a user without rights, and gives what it prints.
func inBubble(t *testing.T, home string, c schemas.Command) string {
	t.Helper()
	args := []string{"--unshare-all", "--die-with-parent", "--uid", "61000", "--gid", "61000", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
		"--symlink", "usr/lib64", "/lib64", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", home, "/home/tester", "--dir", "/testbed",
		"--ro-bind-data", "7", "/etc/passwd", "--clearenv", "--setenv", "PATH", "/usr/sbin:/usr/bin:/bin"}
	dir := c.Dir
	if dir == "" {
		dir = "/testbed"
	}
	for name, v := range c.Env {
		args = append(args, "--setenv", name, v)
	}
	cmd := exec.Command("bwrap", append(append(args, "--chdir", dir, "--"), c.Argv...)...)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("tester:x:61000:61000:tester:/home/tester:/bin/bash\n"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	cmd.ExtraFiles = []*os.File{nil, nil, nil, nil, r} // descriptor 7
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}
