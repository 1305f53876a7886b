package python

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/look"
	"github.com/benchmint/benchmint/internal/sandbox"
)

var updateLook = flag.Bool("update-look", false, "write what hooks tell to testdata/look")

// lookPins are the releases that hooks are held to: those of today, and those of 2018 to 2020.
var lookPins = map[string][]string{
	"3.13": {
		"aiohttp==3.14.5", "apifairy==1.5.1", "apiflask==3.1.2", "django==6.1.3", "django-ninja==1.7.1", "djangorestframework==3.18.3", "fastapi==0.165.0", "flask==3.1.3",
		"flask-marshmallow==1.5.0", "flask-restful==0.3.10", "flask-restx==1.3.2", "flask-smorest==0.47.0", "marshmallow==4.4.0", "pydantic==2.14.4", "pydantic-settings==2.16.3",
		"python-multipart==0.0.34", "starlette==1.10.0", "werkzeug==3.1.9", "setuptools<80",
	},
	"3.7": {
		"aiohttp==3.7.4", "django==2.2.28", "djangorestframework==3.11.2", "fastapi==0.60.0", "flask==1.1.4", "itsdangerous==1.1.0", "jinja2==2.11.3", "markupsafe==2.0.1", "pydantic==1.6.1",
		"python-multipart==0.0.5", "starlette==0.13.4", "werkzeug==1.0.1",
	},
}

// TestLook drives services of each framework with the hook, by releases of today and of long ago, and compares all facts.
func TestLook(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ service, python string }{
		{"flask_app", "3.13"}, {"flask_app", "3.7"}, {"flask_more", "3.13"}, {"fastapi_app", "3.13"}, {"fastapi_app", "3.7"}, {"starlette_app", "3.13"}, {"starlette_app", "3.7"},
		{"django_app", "3.13"}, {"django_app", "3.7"}, {"ninja_app", "3.13"}, {"aiohttp_app", "3.13"}, {"aiohttp_app", "3.7"}, {"asks", "3.13"}, {"asks", "3.7"},
	} {
		t.Run(c.service+"_"+c.python, func(t *testing.T) {
			t.Parallel()
			r := lookedBy(t, c.python)
			s := driven(t, r, c.service, nil)
			if code := s.exit; code != 0 && c.service != "asks" || c.service == "asks" && code != 3 {
				t.Fatalf("exit code %d\n%s", code, s.said)
			}
			golden := filepath.Join("testdata", "look", c.service+"_"+c.python+".jsonl")
			if *updateLook {
				if err := os.WriteFile(golden, []byte(s.facts), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(s.facts, "\n")); diff != "" {
				t.Errorf("facts (-want +got):\n%s\n%s", diff, s.said)
			}
		})
	}
}

// TestLookChangesNothing: a service answers the same with the hook and without.
func TestLookChangesNothing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ service, python string }{{"flask_app", "3.13"}, {"flask_app", "3.7"}, {"fastapi_app", "3.13"}, {"fastapi_app", "3.7"}, {"starlette_app", "3.13"}, {"django_app", "3.13"}, {"django_app", "3.7"}, {"aiohttp_app", "3.13"}} {
		t.Run(c.service+"_"+c.python, func(t *testing.T) {
			t.Parallel()
			r := lookedBy(t, c.python)
			with, without := driven(t, r, c.service, nil), driven(t, r, c.service, []string{look.File + "="})
			if without.facts != "" || with.facts == "" {
				t.Errorf("facts without a file for them: %q", without.facts)
			}
			if diff := cmp.Diff(without.said, with.said); diff != "" {
				t.Errorf("answers (-without +with):\n%s", diff)
			}
		})
	}
}

// TestLookOfHostile: a service that floods its own hook, or the file of facts, or that crashes, ends as it would without
// us; what is read stays within bounds.
func TestLookOfHostile(t *testing.T) {
	t.Parallel()
	for _, python := range []string{"3.13", "3.7"} {
		t.Run(python, func(t *testing.T) {
			t.Parallel()
			r := lookedBy(t, python)
			for _, c := range []struct {
				name, code string
				exit       int
				least      int // facts
				most       int64
			}{
				{"segfault", "import os; os.getenv('A'); os.kill(os.getpid(), 11)", -1, 1, 1 << 10},
				{"exception", "import os; os.getenv('A'); raise ValueError", 1, 1, 1 << 10},
				{"many_names", "import os\nfor i in range(20000): os.getenv('V%d' % i)", 0, 300, 1 << 16},
				{"many_processes", "import os\nfor p in range(40):\n  if os.fork() == 0:\n    for i in range(1000): os.getenv('V%d_%d_%s' % (p, i, 'x' * 900))\n    os._exit(0)\nfor p in range(40): os.wait()", 0, 1000, 8 << 20},
				{"long_default", "import os\nos.getenv('A', 'x' * 5000)", 0, 1, 1 << 10},
				{"large_schema", "import benchmint_look as b\nb.tell('route', path='/', func='f', takes=[{'fact': 'body', 'fields': [{'name': 'x' * 900}] * 90}])", 0, 1, 1 << 10},
				{"full_file", "import os\nopen(os.environ['BENCHMINT_LOOK'], 'w').write('x' * (8 << 20))\nos.getenv('A')", 0, 0, 8<<20 + 1},
				{"no_file", "import os, shutil\nd = os.path.dirname(os.environ['BENCHMINT_LOOK'])\nos.chmod(d, 0); shutil.rmtree(d, ignore_errors=True); os.getenv('A')", 0, 0, 1 << 10},
				{"closed_descriptors", "import os\nos.getenv('B'); os.closerange(3, 100)\nf = open('mine', 'w'); os.getenv('A'); f.close()\nassert open('mine').read() == ''", 0, 2, 1 << 10},
				{"bad_paths", "import os\nfor p in (b'\\xff/.env', '\\ud800.env', 'x' * 5000 + '.env', '\\0.env'):\n  try: os.stat(p)\n  except (OSError, ValueError): pass\n  try: open(p)\n  except (OSError, ValueError): pass", 0, 0, 1 << 10},
				{"its_own_sitecustomize", "import sitecustomize; assert sitecustomize.mine == 1", 0, 0, 1 << 10},
				{"bound_stat", "import os\nclass A: stat = os.stat\nA().stat('/')\nassert os.path.exists('/') and not os.path.exists('/no')", 0, 0, 1 << 10},
			} {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					dir := t.TempDir()
					more := ""
					if c.name == "its_own_sitecustomize" {
						more = ":" + dir
						if err := os.WriteFile(filepath.Join(dir, "sitecustomize.py"), []byte("mine = 1\n"), 0o644); err != nil {
							t.Fatal(err)
						}
					}
					s := startLook(t, r, dir, []string{"-c", c.code}, []string{"PYTHONPATH=" + hookFolder(t) + more})
					if s.exit != c.exit {
						t.Errorf("exit code %d\n%s", s.exit, s.said)
					}
					rest := look.Read(s.data)
					if n := len(rest.Env) + len(rest.Files) + len(rest.Routes); n < c.least || int64(len(s.data)) > c.most {
						t.Errorf("%d facts, %d bytes\n%s", n, len(s.data), s.said)
					}
				})
			}
		})
	}
}

// TestLookListens: a socket that is listened on is told, however its service came to it, and one that is not is none.
func TestLookListens(t *testing.T) {
	t.Parallel()
	for _, python := range []string{"3.13", "3.7"} {
		for name, code := range map[string]string{
			"socket":  "import socket\nidle = socket.socket(); idle.bind(('127.0.0.1', 0))\ns = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(1); print(s.getsockname()[1])",
			"asyncio": "import asyncio\nasync def serve():\n  s = await asyncio.start_server(lambda r, w: None, '127.0.0.1', 0); print(s.sockets[0].getsockname()[1]); s.close()\nasyncio.run(serve())",
			"http":    "import http.server\ns = http.server.HTTPServer(('127.0.0.1', 0), None); print(s.server_port)",
		} {
			t.Run(name+"_"+python, func(t *testing.T) {
				t.Parallel()
				s := startLook(t, lookedBy(t, python), t.TempDir(), []string{"-c", code}, nil)
				if got := fmt.Sprintln(look.Read(s.data).Ports()); got != "["+strings.TrimSpace(s.said)+"]\n" {
					t.Errorf("told %s, it said %s", got, s.said)
				}
			})
		}
	}
}

// lookedBy is an interpreter with the frameworks that lookPins names.
func lookedBy(t *testing.T, python string) runner {
	t.Helper()
	return runnerFor(t, python, map[string]string{"3.13": "9.0.1", "3.7": "5.4.3"}[python], lookPins[python]...)
}

// lookedStart is one process with the hook.
type lookedStart struct {
	data        []byte // as it was told
	facts, said string // one line a fact, with paths of the tree and of the libraries made short; standard output and error
	exit        int
}

// driven drives a service of testdata/look/tree in a copy of it.
func driven(t *testing.T, r runner, service string, env []string) lookedStart {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(root, os.DirFS(filepath.Join("testdata", "look", "tree"))); err != nil {
		t.Fatal(err)
	}
	driver, err := os.ReadFile(filepath.Join("testdata", "look", "drive.py"))
	if err == nil { // it stands in the tree, as the main program of a service does
		err = os.WriteFile(filepath.Join(root, "drive.py"), driver, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := startLook(t, r, root, []string{"drive.py", service}, env)
	report := look.Read(s.data)
	var b strings.Builder
	for _, facts := range [][]look.Fact{report.Env, report.Files, report.Dials, report.Routes, report.Reads} {
		for _, f := range facts {
			if f.Fact == "env" && (f.At == "" || strings.HasPrefix(f.Name, "FLOOD_")) {
				continue // a library's own, and what the bounds are held to elsewhere
			}
			if f.File != "" && !strings.HasPrefix(f.File, root) {
				f.File, f.Line = "LIBRARY", 0
			}
			var line bytes.Buffer
			e := json.NewEncoder(&line)
			e.SetEscapeHTML(false)
			if err := e.Encode(f); err != nil {
				t.Fatal(err)
			}
			b.WriteString(strings.ReplaceAll(line.String(), root, "TREE"))
		}
	}
	s.facts = b.String()
	return s
}

// startLook starts an interpreter in a folder, which is the tree.
func startLook(t *testing.T, r runner, root string, args, env []string) lookedStart {
	t.Helper()
	out := filepath.Join(t.TempDir(), "facts", "look.jsonl")
	if err := os.Mkdir(filepath.Dir(out), 0o755); err != nil {
		t.Fatal(err)
	}
	_, vars := hookOf(root, "")
	cmd := exec.Command(r.python, args...)
	cmd.Dir = root
	cmd.Env = append([]string{"PATH=/usr/bin:/bin", "HOME=" + root, "LC_ALL=C.UTF-8", "PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0"}, look.File+"="+out, treeVariable+"="+vars[treeVariable], "PYTHONPATH="+hookFolder(t))
	cmd.Env = append(cmd.Env, env...)
	said, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	s := lookedStart{said: strings.ReplaceAll(string(said), root, "TREE"), exit: cmd.ProcessState.ExitCode()}
	if s.data, err = os.ReadFile(out); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return s
}

// hookFolder writes the files that Look gives to a folder, and gives its path.
func hookFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	files, _ := hookOf(sandbox.TreePath, "")
	for _, f := range files {
		at := filepath.Join(dir, strings.TrimPrefix(f.Path, lookPath))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestLookFiles: all modules of the hook are there, and the variables lead to them.
func TestLookFiles(t *testing.T) {
	t.Parallel()
	files, vars := hookOf(sandbox.TreePath, "/testbed/src")
	for _, want := range []string{"/sitecustomize.py", "/benchmint_look/__init__.py", "/benchmint_look/hook_flask.py"} {
		found := false
		for _, f := range files {
			found = found || f.Path == lookPath+want && len(f.Data) > 0
		}
		if !found {
			t.Errorf("%s is not there", want)
		}
	}
	want := map[string]string{"BENCHMINT_LOOK": "/tmp/benchmint-look.jsonl", "BENCHMINT_LOOK_TREE": "/testbed", "PYTHONPATH": "/run/benchmint/look:/testbed/src"}
	if diff := cmp.Diff(want, vars); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
}
