package mask_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang/csharp"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/lang/java"
	"github.com/benchmint/benchmint/internal/lang/javascript"
	"github.com/benchmint/benchmint/internal/lang/php"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/lang/ruby"
	"github.com/benchmint/benchmint/internal/lang/rust"
	"github.com/benchmint/benchmint/internal/mask"
)

// altered is a language that says something else of its names.
type altered struct {
	mask.Language
	semantics mask.Semantics
}

func (a altered) Semantics() mask.Semantics { return a.semantics }

// anchoredAltered is one whose imports begin with a name of the project's.
type anchoredAltered struct {
	altered
	mask.Anchored
}

// TestSemantics holds each thing that a language says of its names to a tree in which it
// counts: with it the starter is as wanted, without it another.
func TestSemantics(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ tree, want string }{
		"python_ByName": {
			"-- a.py --\nT = {1: one}\ndef one():\n    return 1\ndef two():\n    return 2\nX = T[1]()\nY = T.two()\n",
			"one 0, two kept",
		},
		"go_OwnPrefix": {
			"-- go.mod --\nmodule x.example/m\n-- a/a.go --\npackage a\n\nimport \"errors\"\n\nvar E = errors.New(\"a\")\n-- errors/e.go --\npackage errors\n\nfunc New(s string) error { return e(s) }\n",
			"New 0",
		},
		"go_ByName": {
			"-- go.mod --\nmodule x.example/m\n-- a.go --\npackage m\n\nvar X = run(T{})\n\ntype I interface{ f() int }\n\nfunc run(i I) int { return i.f() }\n\ntype T struct{}\n\nfunc (T) f() int { return 1 }\n",
			"run kept, T.f kept",
		},
		"javascript_ByResult": {
			"-- a.js --\nfunction make() { return function inner() { return one(); }; }\nfunction one() { return 1; }\nexport const x = make();\nexport const y = x();\nfunction other() { return function inner() { return two(); }; }\nfunction two() { return 2; }\nexport const z = other();\n",
			"make kept, make.inner kept, one kept, other kept, other.inner 0, two 1",
		},
		"java_BareMembers": {
			"-- A.java --\nclass A {\n  static int x = f();\n  static int f() { return g(); }\n  static int g() { return 1; }\n}\n",
			"A.f kept, A.g kept",
		},
		"java_Overrides": {
			"-- A.java --\nclass A {\n  A() { init(); }\n  void init() { f(1); }\n}\nclass B extends A {\n  static B one = new B();\n  void init() { f(2); }\n}\n",
			"A.<init> kept, A.init kept, B.init kept",
		},
		"java_FullNames": {
			"-- a/A.java --\npackage a;\nclass A {\n  static int x = b.B.f();\n}\n-- b/B.java --\npackage b;\nclass B {\n  static int f() { return 1; }\n}\n",
			"B.f kept",
		},
		"java_OwnStars": {
			"-- a/A.java --\npackage a;\nimport b.*;\nclass A {\n  static int x = T.f();\n}\n-- b/B.java --\npackage b;\nimport c.*;\nclass B {\n}\n-- c/T.java --\npackage c;\nclass T {\n  static int f() { return 1; }\n}\n",
			"T.f 0",
		},
		"java_SharedModules": {
			"-- src/main/java/a/A.java --\npackage a;\nimport b.B;\nclass A {}\n-- examples/b/B.java --\npackage b;\nclass B {\n  static int x = f();\n  static int f() { return 1; }\n}\n-- examples/b/C.java --\npackage b;\nclass C {\n  static int x = f();\n  static int f() { return 1; }\n}\n",
			"B.f kept, C.f 0",
		},
		"java_LocalClasses": {
			"-- A.java --\nclass A {\n  static Object x = f();\n  static Object f() {\n    return new Object() { int g() { return 1; } };\n  }\n}\n",
			"A.f kept, A.f.new Object.g 0",
		},
		"csharp_BareMembers": {
			"-- A.cs --\nclass A {\n  static int x = F();\n  static int F() { return G(); }\n  static int G() { return 1; }\n}\n",
			"A.F kept, A.G kept",
		},
		"csharp_Overrides": {
			"-- A.cs --\nclass A {\n  public A() { Init(); }\n  protected virtual void Init() { F(1); }\n}\nclass B : A {\n  static B one = new B();\n  protected override void Init() { F(2); }\n}\n",
			"A.A kept, A.Init kept, B.Init kept",
		},
		"csharp_FullNames": {
			"-- A.cs --\nnamespace N { class A { static int x = M.B.F(); } }\n-- B.cs --\nnamespace M { class B { public static int F() { return 1; } } }\n",
			"B.F kept",
		},
		"csharp_OwnStars": {
			"-- A.cs --\nusing M;\nnamespace N { class A { static int x = T.F(); } }\n-- B.cs --\nusing K;\nnamespace M { class B { } }\n-- T.cs --\nnamespace K { class T { public static int F() { return 1; } } }\n",
			"T.F 0",
		},
		"csharp_SharedModules": {
			"-- src/A.cs --\nusing M;\nnamespace N { class A { } }\n-- examples/B.cs --\nnamespace M { class B { static int x = F(); static int F() { return 1; } } }\n",
			"B.F 0",
		},
		"csharp_SpreadClasses": {
			"-- A.cs --\nnamespace N { partial class A { static int x = F(); } }\n-- B.cs --\nnamespace N { partial class A { static int F() { return 1; } } }\n",
			"A.F kept",
		},
		"ruby_BareMembers": {
			"-- lib/a.rb --\nclass A\n  def self.f = g\n  def self.g = [1].sum\n  f\nend\n",
			"A.f kept, A.g kept",
		},
		"ruby_FullNames": {
			"-- lib/a.rb --\nmodule M\n  class A\n    def self.f = [1].sum\n  end\nend\n-- lib/b.rb --\nM::A.f\n",
			"M.A.f kept",
		},
		"ruby_OpenClasses": {
			"-- lib/a.rb --\nclass A\n  def self.f = [1].sum\nend\n-- lib/b.rb --\nclass A\n  f\nend\n",
			"A.f kept",
		},
		"ruby_SpreadClasses": {
			"-- lib/a.rb --\nZ.f\n-- lib/b.rb --\ndef Z.f = [1].sum\n",
			"Z.f kept",
		},
		"ruby_Universal": {
			"-- lib/a.rb --\nmodule Kernel\n  def f = [1].sum\nend\n-- lib/b.rb --\nf\n",
			"Kernel.f kept",
		},
		"php_SharedModules": {
			"-- src/a.php --\n<?php\nuse A\\B;\n-- examples/B.php --\n<?php\nnamespace A;\nclass B { }\nfunction f() { return 1; }\nf();\n-- examples/C.php --\n<?php\nnamespace A;\nclass C { }\nfunction g() { return 1; }\ng();\n",
			"f kept, g 0",
		},
		"rust_FullNames": {
			"-- src/lib.rs --\nmod a;\nmod b;\n-- src/a.rs --\npub fn f() -> u8 { crate::b::g() }\n-- src/b.rs --\npub fn g() -> u8 { 1 + 1 }\n",
			"f 0, g 1",
		},
	}
	for _, l := range []mask.Language{python.Masker{}, golang.Masker{}, javascript.Masker{}, java.Masker{}, rust.Masker{}, csharp.Masker{}, ruby.Masker{}, php.Masker{}} {
		said := reflect.ValueOf(l.Semantics())
		for i := range said.NumField() {
			if said.Field(i).IsZero() || said.Type().Field(i).Name == "Family" { // see TestClosureByLanguage
				continue
			}
			name := l.Name() + "_" + said.Type().Field(i).Name
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				c, ok := cases[name]
				if !ok {
					t.Fatal("no case")
				}
				if diff := cmp.Diff(c.want, semantic(t, l, c.tree)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
				less := l.Semantics()
				reflect.ValueOf(&less).Elem().Field(i).SetZero()
				var other mask.Language = altered{l, less}
				if a, ok := l.(mask.Anchored); ok {
					other = anchoredAltered{altered{l, less}, a}
				}
				if semantic(t, other, c.tree) == c.want {
					t.Error("the same without it")
				}
			})
		}
	}
}

// semantic is what is kept of a tree, and how often what is masked is called.
func semantic(t *testing.T, l mask.Language, tree string) string {
	t.Helper()
	_, m := starter(t, mask.Options{Source: source(t, tree), Languages: []mask.Language{l}})
	var out []string
	for _, f := range m.Files {
		for _, d := range f.Functions {
			if d.Done == mask.Kept {
				out = append(out, d.Name+" kept")
			} else {
				out = append(out, fmt.Sprintf("%s %d", d.Name, d.Shape.FanIn))
			}
		}
	}
	return strings.Join(out, ", ")
}
