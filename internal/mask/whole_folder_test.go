package mask_test

import (
	"fmt"
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
	"github.com/benchmint/benchmint/internal/lang/typescript"
	"github.com/benchmint/benchmint/internal/mask"
)

// A folder whose name has the letters of "test" in it is not a folder of tests: what the code
// in it runs when it is loaded stays. The code that runs it is vendored, so that the reason
// why it stays whole names the folder.
func TestFoldersNamedLikeTests(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language mask.Language
		tree     string // with %s for the folder
		want     string // what is said of F/
	}{
		{python.Masker{}, "-- F/app/__init__.py --\n-- F/app/core.py --\ndef f():\n    return 1\ndef g():\n    return 2\n" +
			"-- F/app/_vendor/__init__.py --\n-- F/app/_vendor/dep.py --\nfrom app.core import f\nX = f()\n",
			"F/app/core.py f: kept, runs when F/app/_vendor/dep.py:2 is loaded\nF/app/core.py g: masked\n"},
		{golang.Masker{}, "-- go.mod --\nmodule example.com/m\n-- F/core/core.go --\npackage core\n\nfunc F() int { return 1 }\nfunc G() int { return 2 }\n" +
			"-- F/third_party/dep/dep.go --\npackage dep\n\nimport \"example.com/m/F/core\"\n\nvar X = core.F()\n",
			"F/core/core.go F: kept, runs when F/third_party/dep/dep.go:5 is loaded\nF/core/core.go G: masked\n"},
		{javascript.Masker{}, "-- F/core.js --\nexport function f() { return 1; }\nexport function g() { return 2; }\n" +
			"-- F/vendor/dep.js --\nimport { f } from '../core.js';\nexport const x = f();\n",
			"F/core.js f: kept, runs when F/vendor/dep.js:2 is loaded\nF/core.js g: masked\n"},
		{typescript.Masker{}, "-- F/core.ts --\nexport function f(): number { return 1; }\nexport function g(): number { return 2; }\n" +
			"-- F/vendor/dep.ts --\nimport { f } from '../core';\nexport const x = f();\n",
			"F/core.ts f: kept, runs when F/vendor/dep.ts:2 is loaded\nF/core.ts g: masked\n"},
		{java.Masker{}, "-- F/app/Core.java --\npackage app;\npublic class Core {\n  public static int f() { return 1; }\n  public static int g() { return 2; }\n}\n" +
			"-- F/third_party/Dep.java --\npackage dep;\nimport app.Core;\nclass Dep {\n  static final int X = Core.f();\n}\n",
			"F/app/Core.java Core.f: kept, runs when F/third_party/Dep.java:4 is loaded\nF/app/Core.java Core.g: masked\n"},
		{csharp.Masker{}, "-- F/App/Core.cs --\nnamespace App;\npublic class Core {\n  public static int F() { return 1; }\n  public static int G() { return 2; }\n}\n" +
			"-- F/third_party/Dep.cs --\nusing App;\nnamespace Third;\nclass Dep {\n  static readonly int X = Core.F();\n}\n",
			"F/App/Core.cs Core.F: kept, runs when F/third_party/Dep.cs:4 is loaded\nF/App/Core.cs Core.G: masked\n"},
		{ruby.Masker{}, "-- F/lib/core.rb --\nmodule Core\n  def self.f; 1; end\n  def self.g; 2; end\nend\n" +
			"-- F/lib/vendor/dep.rb --\nX = Core.f\n",
			"F/lib/core.rb Core.f: kept, runs when F/lib/vendor/dep.rb:1 is loaded\nF/lib/core.rb Core.g: masked\n"},
		{php.Masker{}, "-- F/lib/core.php --\n<?php\nnamespace App;\nfunction f() { return 1; }\nfunction g() { return 2; }\n" +
			"-- F/lib/vendor/dep.php --\n<?php\nnamespace Dep;\nuse function App\\f;\nconst X = 1;\nf();\n",
			"F/lib/core.php f: kept, runs when F/lib/vendor/dep.php:5 is loaded\nF/lib/core.php g: masked\n"},
		{rust.Masker{}, "-- F/lib.rs --\npub const fn f() -> u8 { 1 }\npub fn g() -> u8 { 2 }\n" +
			"-- F/vendor/dep.rs --\nconst X: u8 = crate::f();\n",
			"F/lib.rs f: kept, the compiler may run it\nF/lib.rs g: masked\n"},
	} {
		for _, folder := range []string{"src", "latest", "contest/src"} {
			t.Run(fmt.Sprintf("%s/%s", c.language.Name(), folder), func(t *testing.T) {
				t.Parallel()
				in := func(text string) string { return strings.NewReplacer("F/", folder+"/").Replace(text) }
				_, m := starter(t, mask.Options{Source: source(t, in(c.tree)), Languages: []mask.Language{c.language}})
				if d := cmp.Diff(in(c.want), fates(m)); d != "" {
					t.Errorf("-want +got:\n%s", d)
				}
			})
		}
	}
}
