package verify_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/environment/environmenttest"
	"github.com/benchmint/benchmint/internal/lang/csharp"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/lang/java"
	"github.com/benchmint/benchmint/internal/lang/javascript"
	"github.com/benchmint/benchmint/internal/lang/php"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/lang/ruby"
	"github.com/benchmint/benchmint/internal/lang/rust"
	"github.com/benchmint/benchmint/internal/lang/typescript"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/mask/verify"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/bwrap"
)

// tools are what a machine may lack, by language.
var tools = map[string]string{"go": "go", "javascript": "node", "typescript": "node", "java": "javac", "rust": "rustc", "php": "php", "ruby": "ruby"}

// languages are those of the program, as far as they are tried here.
var languages = []mask.Language{
	python.Masker{}, golang.Masker{}, csharp.Masker{}, javascript.Masker{}, typescript.Masker{}, java.Masker{}, rust.Masker{}, php.Masker{}, ruby.Masker{},
}

// pair is a source and its starter, and what is written over the starter afterwards.
type pair struct {
	name   string
	source map[string]string
	doctor map[string]string // "" removes
	want   []string          // of each result: language, state, then its faults
}

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("runs interpreters and compilers")
	}
	dir := t.TempDir()
	if err := environmenttest.ShareCaches(dir); err != nil {
		t.Fatal(err)
	}
	box, err := bwrap.New(t.Context(), bwrap.Options{Dir: dir})
	if refused := (*sandbox.Refused)(nil); errors.As(err, &refused) {
		t.Skipf("NO BUBBLEWRAP HERE: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	py := map[string]string{"shop/__init__.py": "from . import cart\n", "shop/cart.py": "def total(a):\n    return sum(a)\n", "shop/slow.py": "x = 1\n"}
	gomod := map[string]string{
		"go.mod": "module shop.example\n\ngo 1.21\n", "cart/cart.go": "package cart\n\nfunc Total() int { return 1 }\n",
		"till/till.go": "package till\n\nimport \"shop.example/cart\"\n\nfunc Sum() int { return cart.Total() }\n",
	}
	broken := maps.Clone(gomod) // does not compile, and nothing needs it
	broken["bad/bad.go"] = "package bad\n\nvar V int = \"x\"\n"
	table := map[string]string{
		"go.mod": "module shop.example\n\ngo 1.21\n", "cmd/main.go": "package main\n\nimport \"shop.example/table\"\n\nfunc main() { println(table.One) }\n",
		"table/table.go": "package table\n\nvar table = map[string]func() int{\"one\": one}\n\nvar One = table[\"one\"]()\n\nfunc one() int { return 1 }\n",
		"fine/fine.go":   "package fine\n\nfunc Fine() int { return 1 }\n", "fine/fine_test.go": "package fine_test\n",
	}
	js := map[string]string{
		"package.json":  `{"main": "lib/none.js", "exports": {"import": "./lib/index.mjs", "require": "./lib/lost.cjs"}}`,
		"lib/index.mjs": "import { f } from './f.js';\nexport const g = f;\n", "lib/f.js": "function f() {\n  return 1;\n}\nexports.f = f;\n",
		"lib/lost.cjs": "require('no-such-package');\nexports.l = function () { return 1; };\n",
	}
	jvm := map[string]string{
		"src/main/java/shop/Cart.java": "package shop;\nclass Cart {\n  int total() { return 1; }\n}\n",
		"src/main/java/shop/Till.java": "package shop;\nclass Till {\n  int sum() { return new Cart().total(); }\n}\n",
		"src/main/java/shop/Lost.java": "package shop;\nimport org.nowhere.Thing;\nclass Lost {\n  Thing get() { return null; }\n}\n",
		"src/test/java/shop/Test.java": "not Java at all",
	}
	rustc := map[string]string{
		"Cargo.toml": "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
		"src/lib.rs": "/// One.\npub fn one() -> i32 {\n    1\n}\n", "tests/one.rs": "#[test]\nfn one() {\n    assert_eq!(shop::one(), 1);\n}\n",
	}
	crate := shelved(t)
	crate["Cargo.toml"] = rustc["Cargo.toml"] + "[dependencies]\nkept = \"1\"\n"
	crate["src/lib.rs"] = "/// One.\npub fn one() -> i32 {\n    kept::ONE\n}\n"
	lost := map[string]string{"Cargo.toml": rustc["Cargo.toml"] + "[dependencies]\nno-such-crate-of-ours = \"1\"\n", "src/lib.rs": rustc["src/lib.rs"]}
	web := map[string]string{"cart.php": "<?php\nfunction total() { return 1; }\n"}
	rb := map[string]string{"cart.rb": "def total\n  1 + 1\nend\n"}
	for _, p := range []pair{
		{"python_ok", py, nil, []string{"python ok 3/3"}},
		{"python_raises", py, map[string]string{"shop/cart.py": "def total(a):\n    raise ValueError\n\n\ntotal(1)\n"}, []string{
			"python faults 0/3", "shop/cart.py:2: shop: ValueError", "shop/cart.py:2: shop.cart: ValueError", "shop/cart.py:2: shop.slow: ValueError",
		}},
		{"python_missing", py, map[string]string{"shop/slow.py": ""}, []string{"python faults 2/3", "shop.slow: ModuleNotFoundError: No module named 'shop.slow'"}},
		{"python_endless", py, map[string]string{"shop/slow.py": "while True: pass\n"}, []string{"python cannot tell 0/3 in the starter: over the limit on timeout"}},
		{"python_ends", py, map[string]string{"shop/slow.py": "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n"}, []string{
			"python faults 2/3", "shop.slow: the import ended the process: signal 11",
		}},
		{"go_ok", gomod, nil, []string{"go ok 2/2", "go ok 2/2"}},
		{"go_unused", gomod, map[string]string{"cart/cart.go": "package cart\n\nimport \"fmt\"\n\nfunc Total() int { panic(1) }\n"}, []string{
			"go faults 0/2", `cart/cart.go:3: shop.example/cart: "fmt" imported and not used`, `cart/cart.go:3: shop.example/till: "fmt" imported and not used`,
			"go faults 0/2", "shop.example/cart: it does not compile", "shop.example/till: it does not compile",
		}},
		{"go_vet", gomod, map[string]string{"till/till.go": "package till\n\nfunc Sum() int { return 1; return 2 }\n"}, []string{"go faults 2/2", "till/till.go:3: vet: unreachable code", "go ok 2/2"}},
		{"go_load", table, nil, []string{
			"go ok 4/4", "go faults 1/3", "table/table.go:7: shop.example/cmd: masked: one", "table/table.go:7: shop.example/table: masked: one",
		}},
		{"go_broken", broken, nil, []string{"go ok 2/3", "go ok 2/3"}},
		{"go_broken_load", broken, map[string]string{"cart/cart.go": "package cart\n\nvar One = Total()\n\nfunc Total() int { panic(\"masked: Total\") }\n"}, []string{
			"go ok 2/3", "go faults 0/3", "cart/cart.go:5: shop.example/cart: masked: Total", "cart/cart.go:5: shop.example/till: masked: Total",
		}},
		{"javascript_ok", js, nil, []string{"javascript ok 2/2", "javascript ok 1/2"}},
		{"javascript_redeclared", js, map[string]string{"lib/f.js": "exports.f = () => 1;\nlet a;\nlet a;\n"}, []string{
			"javascript faults 1/2", "lib/f.js:3: SyntaxError: Identifier 'a' has already been declared", "javascript faults 0/2", "lib/f.js:3: lib/index.mjs: SyntaxError: Identifier 'a' has already been declared",
		}},
		{"javascript_throws", js, map[string]string{"lib/f.js": "function f() { throw new Error('masked') }\nexports.f = f;\nf();\n"}, []string{
			"javascript ok 2/2", "javascript faults 0/2", "lib/f.js:1: lib/index.mjs: Error: masked",
		}},
		{"java_ok", jvm, nil, []string{"java ok 2/3"}},
		{"java_no_return", jvm, map[string]string{"src/main/java/shop/Cart.java": "package shop;\nclass Cart {\n  int total() { }\n}\n"}, []string{
			"java faults 1/3", "src/main/java/shop/Cart.java:3: missing return statement",
		}},
		{"rust_ok", rustc, nil, []string{"rust ok 2/2"}},
		{"rust_type", rustc, map[string]string{"src/lib.rs": "/// One.\npub fn one() -> i32 {\n    \"1\"\n}\n"}, []string{"rust faults 0/2", "src/lib.rs:3: shop (lib): mismatched types"}},
		{"rust_crate", crate, nil, []string{"rust ok 1/1"}},
		{"rust_no_crate", lost, nil, []string{"rust cannot tell 0/0 in the source: cargo: error: no matching package named `no-such-crate-of-ours` found"}},
		{"php_ok", web, nil, []string{"php ok 1/1"}},
		{"php_broken", web, map[string]string{"cart.php": "<?php\nfunction total() { return 1 }\n"}, []string{
			"php faults 0/1", "cart.php:2: Parse error: syntax error, …",
		}},
		{"ruby_ok", rb, nil, []string{"ruby ok 1/1"}},
		{"ruby_broken", rb, map[string]string{"cart.rb": "def total\n  1 +\n"}, []string{"ruby faults 0/1", "cart.rb:2: syntax error…"}},
		{"typescript_no_config", map[string]string{"a.ts": "export function f(): number { return 1; }\n"}, nil, []string{"typescript cannot tell 0/0 the source has no tsconfig.json"}},
		{"not_known", map[string]string{"A.cs": "class A { int F() { return 1; } }\n"}, nil, []string{"csharp skipped 0/0 the starter parses; there is no further check for this language"}},
		{"nothing_masked", map[string]string{"a.py": "x = 1\n"}, nil, nil},
	} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			language, _, _ := strings.Cut(p.name, "_")
			if tool := tools[language]; tool != "" {
				if _, err := (verify.Machine{Env: os.Environ()}).Look(tool); err != nil {
					t.Skipf("NO %s HERE", tool)
				}
			}
			if got := p.verify(t, box); !slices.EqualFunc(got, p.want, like) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(p.want, "\n"))
			}
		})
	}
}

// like is ==, but for the end of a line that versions of a tool word differently: …
func like(got, want string) bool {
	begin, cut := strings.CutSuffix(want, "…")
	return got == want || cut && strings.HasPrefix(got, begin)
}

func (p pair) verify(t *testing.T, box sandbox.Sandbox) []string {
	t.Helper()
	source, starter := t.TempDir(), filepath.Join(t.TempDir(), "out")
	write(t, source, p.source)
	r, err := mask.Run(t.Context(), mask.Options{Source: source, Output: starter, Languages: languages})
	if err != nil {
		t.Fatal(err)
	}
	write(t, starter, p.doctor)
	m, err := mask.ReadManifest(r.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	limits := sandbox.Limits{}
	if strings.HasSuffix(p.name, "endless") {
		limits.Timeout = 15 * time.Second
	}
	// Of the user's crates nothing is needed, and where they are unpacked nothing is written.
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "registry", "src"), 0o755); err != nil {
		t.Fatal(err)
	}
	results, err := verify.Run(t.Context(), verify.Options{
		Source: source, Starter: starter, Manifest: m, Languages: languages, Sandbox: box, Limits: limits,
		Machine: verify.Machine{Env: append([]string{"CARGO_HOME=" + home}, os.Environ()...)},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range results {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %d/%d %s", r.Language, r.State, r.Held, r.Units, r.Reason)))
		for _, f := range r.Faults {
			out = append(out, f.String())
		}
	}
	return out
}

func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for p, text := range files {
		at := filepath.Join(root, p)
		err := os.MkdirAll(filepath.Dir(at), 0o755)
		if err == nil && text == "" {
			err = os.Remove(at)
		} else if err == nil {
			err = os.WriteFile(at, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
