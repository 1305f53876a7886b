package golang

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// lookAt builds a program with its hooks and runs a shell line beside it, in a sandbox of its own. $P is the program.
func lookAt(t *testing.T, files map[string]string, ask string) look.Report {
	t.Helper()
	if _, err := exec.LookPath("bwrap"); err != nil {
		t.Skip("bubblewrap is not installed: apt-get install bubblewrap")
	}
	root := t.TempDir()
	for p, text := range files {
		p = filepath.Join(root, "testbed", p)
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	goRoot := runtime.GOROOT() //nolint:staticcheck // the toolchain that runs this test
	r := schemas.Recipe{
		Toolchain: schemas.Toolchain{Name: "go", Version: "1.22.0"}, Service: &schemas.Service{},
		Build: []schemas.Command{{Argv: []string{goRoot + "/bin/go", "build", "-o", server, "."}}},
	}
	hooked := Language{}.Look(r)
	for _, f := range hooked.Step.Files {
		to := filepath.Join(root, "env", strings.TrimPrefix(f.Path, "/opt/env/"))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"env", "home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	inside := func(argv ...string) {
		t.Helper()
		args := []string{
			"--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
			"--symlink", "usr/lib64", "/lib64", "--ro-bind", "/etc", "/etc", "--ro-bind", goRoot, goRoot, "--dev", "/dev", "--proc", "/proc", "--bind", filepath.Join(root, "tmp"), "/tmp",
			"--bind", filepath.Join(root, "env"), "/opt/env", "--bind", filepath.Join(root, "home"), "/home/tester", "--bind", filepath.Join(root, "testbed"), "/testbed",
			"--clearenv", "--setenv", "PATH", goRoot + "/bin:/usr/bin:/bin", "--setenv", "HOME", "/home/tester",
			"--setenv", "GOTOOLCHAIN", "local", "--setenv", "GOPROXY", "off", "--setenv", "GOFLAGS", "-mod=mod", "--setenv", look.File, look.Path, "--setenv", "P", server, "--chdir", "/testbed", "--",
		}
		for name, bind := range map[string]string{"GOMODCACHE": "--ro-bind", "GOCACHE": "--bind"} { // those of who runs this test
			if cache := goEnv(name); cache != "" {
				args = slices.Insert(args, slices.Index(args, "--chdir"), bind, cache, cache, "--setenv", name, cache)
			}
		}
		out, err := exec.CommandContext(context.Background(), "bwrap", append(args, argv...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	inside(hooked.Recipe.Build[0].Argv...)
	inside("sh", "-c", ask)
	told, err := os.ReadFile(filepath.Join(root, "tmp", path.Base(look.Path)))
	if err != nil {
		t.Fatal(err)
	}
	return look.Read(told)
}

func goEnv(name string) string {
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// TestLook: a service of the standard library tells its routes with the functions that answer, what it asked for, and what
// its handlers read.
func TestLook(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("testdata/look/main.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"main.go": string(source), "go.mod": "module example.com/items\n\ngo 1.22\n"}
	r := lookAt(t, files, `PORT=8080 "$P" & sleep 1
ask() { curl -sS -o /dev/null -X "$1" -H 'Content-Type: application/json' -d '{}' "127.0.0.1:8080$2"; }
ask POST /v1/items; ask GET /items; ask GET /first; ask GET /last; kill $!`)
	var entries []tree.Entry
	for p, text := range files {
		entries = append(entries, tree.Entry{Path: p, Mode: "100644", Data: []byte(text)})
	}
	code, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	answering := Language{}.Answering(code, lang.Hooked{})
	table := r.Table(answering)
	for i := range table.Routes {
		for _, f := range r.Answers {
			if f.Path == table.Routes[i].Path {
				table.Routes[i].Stack = f.Stack
			}
		}
	}
	look.Behind(&table, answering)
	var got []string
	for _, one := range table.Routes {
		got = append(got, strings.TrimRight(fmt.Sprintf("%s %s %s", one.Method, one.Path, one.Handler.Name), " "))
	}
	want := []string{
		"GET /first api.first",
		"GET /health health.ServeHTTP",
		" /items list",
		"GET /last api.last",
		"GET /logged list",
		"GET /nameless main:75",
		"POST /v1/items api.create",
		"GET /v1/items/{id} one:37",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var said []string
	for _, f := range r.Env {
		if f.At != "" {
			said = append(said, fmt.Sprintf("env %s %t %s", f.Name, f.Set, f.At))
		}
	}
	for _, f := range slices.Concat(r.Files, r.Dials, r.Listens) {
		said = append(said, strings.Join([]string{f.Fact, f.Path + f.Addr}, " "))
	}
	for _, f := range r.Reads {
		said = append(said, fmt.Sprintf("%s %s %s %s %s%s %d", f.Fact, f.Method, f.Path, f.In, f.Type, f.Name, len(f.Fields)))
	}
	want = []string{
		"env ITEMS_STORE false /testbed/main.go:64", "env PORT true /testbed/main.go:80",
		"file items.json", "dial 127.0.0.1:5432", "listen 127.0.0.1:8080",
		"body POST /v1/items json main.item 4", "key GET /items query kind 0",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestLookFrameworks: a service in each framework tells its routes, and what it reads.
func TestLookFrameworks(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	dir := t.TempDir()
	for to, from := range map[string]string{"main.go": "frameworks.go.txt", "go.mod": "frameworks.mod.txt"} {
		data, err := os.ReadFile("testdata/look/" + from)
		if err != nil {
			t.Fatal(err)
		}
		files[to] = string(data)
		if err := os.WriteFile(filepath.Join(dir, to), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tidy := exec.Command("go", "mod", "tidy")
	tidy.Dir = dir
	if out, err := tidy.CombinedOutput(); err != nil {
		t.Skipf("NO MODULES: the frameworks cannot be downloaded: %s", out)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	r := lookAt(t, files, `for f in gin chi gorilla echo httprouter fiber; do
	"$P" $f >/dev/null 2>&1 & sleep 1
	for path in POST/api/items/3 POST/api/items PUT/api/items/4; do
		curl -sS -o /dev/null -X "${path%%/*}" -H 'Content-Type: application/json' -d '{}' "127.0.0.1:8080/${path#*/}"
	done
	kill $!
	wait
done`)
	code, err := tree.New([]tree.Entry{{Path: "main.go", Mode: "100644", Data: []byte(files["main.go"])}, {Path: "go.mod", Mode: "100644", Data: []byte(files["go.mod"])}})
	if err != nil {
		t.Fatal(err)
	}
	answering := Language{}.Answering(code, lang.Hooked{})
	var got []string
	for _, f := range r.Routes {
		got = append(got, strings.Join([]string{f.Framework, f.Method, f.Path, answering(f).Function.Name}, " "))
	}
	for _, f := range r.Reads {
		got = append(got, strings.Join([]string{f.Fact, f.Method, f.Path, f.In, f.Type}, " "))
	}
	slices.Sort(got)
	want := []string{
		"body POST /api/items json main.item", "body POST /api/items/3 json main.item", "body PUT /api/items/4 json main.item",
		"chi GET /api/admins/all list", "chi GET /api/items list",
		"echo POST /api/items add",
		"fiber PUT /api/items/:id put",
		"gin POST /api/items/:id api.create",
		"gorilla/mux  /api/logged list", "gorilla/mux GET /api/items/{id:[0-9]+} list", "gorilla/mux PUT /api/items/{id:[0-9]+} list",
		"httprouter GET /items/:id one", "httprouter POST /items list",
		"key POST /api/items header ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
