package routes_test

import (
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/routes"
)

var updatePython = flag.Bool("update-python", false, "write the wanted routes again")

// pyTree is a tree of files in memory.
type pyTree map[string]string

func (t pyTree) Paths() []string {
	var out []string
	for p := range t {
		out = append(out, p)
	}
	slices.Sort(out)
	return out
}

func (t pyTree) Has(p string) bool { _, ok := t[p]; return ok }

func (t pyTree) Read(p string) ([]byte, error) {
	if s, ok := t[p]; ok {
		return []byte(s), nil
	}
	return nil, os.ErrNotExist
}

// said is a table as lines.
func said(t routes.Table) string {
	var out strings.Builder
	for _, r := range t.Routes {
		out.WriteString(r.String() + "\n")
	}
	for _, u := range t.Unread {
		out.WriteString("unread " + u + "\n")
	}
	return out.String()
}

func TestPython(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/python/*.txtar")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tree, want, at := pyTree{}, "", -1
			for i, f := range a.Files {
				if f.Name == "want" {
					want, at = string(f.Data), i
				} else {
					tree[f.Name] = string(f.Data)
				}
			}
			table, err := routes.Read(tree, "python")
			if err != nil {
				t.Fatal(err)
			}
			got := said(table)
			if *updatePython {
				a.Files[at].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			for range 3 { // maps have no order
				if table, err := routes.Read(tree, "python"); err != nil || said(table) != got {
					t.Fatalf("another run says something else: %v", cmp.Diff(got, said(table)))
				}
			}
		})
	}
}

func TestUnreadPython(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ source, want string }{
		"django":        {"from django.urls import path\n", "Django"},
		"ninja":         {"import ninja\n", "Django"},
		"aiohttp":       {"from aiohttp import ClientSession, web\n", "aiohttp"},
		"a_client":      {"from aiohttp import ClientSession\nimport requests\n", ""},
		"starlette":     {"from starlette.applications import Starlette\n", "Starlette"},
		"nothing":       {"import os\n", ""},
		"a_broken_file": {"from flask import Flask\napp = Flask((\n", ""},
	} {
		_, err := routes.Read(pyTree{"a.py": c.source}, "python")
		unread := (*routes.Unread)(nil)
		if !errors.As(err, &unread) || unread.Framework != c.want || err.Error() == "" {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Hostile source ends, and declares what was read before.
func TestHostilePython(t *testing.T) {
	t.Parallel()
	const head = "from fastapi import FastAPI, APIRouter\napp = FastAPI()\n@app.get('/ok')\ndef ok(): ...\n"
	many := func(form string, n int) string { return strings.Repeat(form, n) }
	for name, tree := range map[string]pyTree{
		"deep_expressions":    {"a.py": head + "x = " + many("(", 20000) + "1" + many(")", 20000) + "\n"},
		"deep_calls":          {"a.py": head + "x = " + many("f(", 5000) + "1" + many(")", 5000) + "\n"},
		"deep_blocks":         {"a.py": head + deepBlocks(800)},
		"recursion":           {"a.py": head + "def f(x):\n    f(x)\n    f(x)\n    return f(x)\nf(1)\n"},
		"mutual_recursion":    {"a.py": head + "def f(x):\n    g(x); g(x)\ndef g(x):\n    f(x); f(x)\nf(1)\n"},
		"cycle_of_imports":    {"a.py": "from b import *\nfrom b import x\n" + head + "app.include_router(x)\n", "b.py": "from a import app, x\nx = x\n"},
		"cycle_of_routers":    {"a.py": head + "a = APIRouter(); b = APIRouter()\na.include_router(b); b.include_router(a); a.include_router(a); app.include_router(a)\n"},
		"cycle_of_classes":    {"a.py": head + "class A(B): ...\nclass B(A): ...\nclass A(B): ...\n@app.post('/m')\ndef m(x: A): ...\n"},
		"routers_in_routers":  {"a.py": head + "r = APIRouter()\n@r.get('/x')\ndef x(): ...\nfor i in " + "[" + many("1,", 3000) + "]:\n    n = APIRouter()\n    n.include_router(r); n.include_router(r, prefix='/p')\n    r = n\napp.include_router(r)\n"},
		"loops_in_loops":      {"a.py": head + "l = [" + many("1,", 2000) + "]\n" + "for a in l:\n for b in l:\n  for c in l:\n   for d in l:\n    x = a\n"},
		"a_list_that_doubles": {"a.py": head + "l = [1]\n" + many("l = l + l\nl += l\nl.extend(l)\n", 60)},
		"a_text_that_doubles": {"a.py": head + "s = 'ab'\n" + many("s = s + s\ns += s\ns = f'{s}{s}'\ns = s.replace('a', s)\n", 60)},
		"a_huge_file":         {"a.py": head, "b.py": many("x = 1\n", 1<<18)},
		"binary":              {"a.py": head, "b.py": "\x00\xff\xfe" + many("\x01(", 1000)},
		"a_model_of_itself":   {"a.py": head + "from pydantic import BaseModel\nclass M(BaseModel):\n    a: list['M']\n    b: dict[str, 'M']\n    c: 'M | None'\n@app.post('/m')\ndef m(x: M): ...\n"},
		"wide_models":         {"a.py": head + "from pydantic import BaseModel\n" + wideModels(12) + "@app.post('/m')\ndef m(x: M0): ...\n"},
		"dependencies":        {"a.py": head + "from fastapi import Depends\ndef d(x=Depends(lambda: 1)): ...\ndef e(x=Depends(d)): ...\nd.__defaults__ = e\n@app.get('/d')\ndef h(x=Depends(e)): ...\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table, err := routes.Read(tree, "python")
			if err != nil || !strings.Contains(said(table), "GET /ok a.py::ok") {
				t.Errorf("the first route is lost: %v", err)
			}
			if n := len(said(table)); len(table.Routes) > 10_000 || n > 1<<20 {
				t.Errorf("%d routes, %d bytes", len(table.Routes), n)
			}
		})
	}
}

func deepBlocks(n int) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(strings.Repeat(" ", i) + "if x:\n")
	}
	return out.String() + strings.Repeat(" ", n) + "pass\n"
}

// wideModels are models each of which has the next ten times.
func wideModels(n int) string {
	var out strings.Builder
	for i := n - 1; i >= 0; i-- {
		out.WriteString("class M" + string(rune('0'+i%10)) + string(rune('a'+i/10)) + "(BaseModel):\n    z: int\n")
		for f := range 10 {
			next := i + 1
			if next < n {
				out.WriteString("    f" + string(rune('0'+f)) + ": M" + string(rune('0'+next%10)) + string(rune('a'+next/10)) + "\n")
			}
		}
	}
	return out.String() + "M0 = M0a\n"
}

// Source that is cut and mixed up never ends the program.
func TestMutatedPython(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/python/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for range mutations {
			tree := pyTree{}
			for _, f := range a.Files {
				tree[f.Name] = mutated(random, string(f.Data))
			}
			if _, err := routes.Read(tree, "python"); err != nil && !errors.As(err, new(*routes.Unread)) {
				t.Error(err)
			}
		}
	}
}

const mutations = 12 // of each fixture

// mutated cuts, doubles and swaps words of a source.
func mutated(random *rand.Rand, source string) string {
	words := strings.SplitAfter(source, " ")
	for range 1 + random.IntN(6) {
		i, j := random.IntN(len(words)), random.IntN(len(words))
		switch random.IntN(4) {
		case 0:
			words[i] = ""
		case 1:
			words[i] = words[j]
		case 2:
			words[i], words[j] = words[j], words[i]
		case 3:
			words[i] = words[i][random.IntN(len(words[i])+1):]
		}
	}
	return strings.Join(words, "")
}
