package typescript

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// TestMaskLoads: what TypeScript has beside JavaScript. A file of declarations is read by the compiler alone.
func TestMaskLoads(t *testing.T) {
	t.Parallel()
	const head = "-- b.ts --\nexport function f(): number { return 1; }\nexport function g(): number { return 2; }\nexport class B { constructor() { this.m(); } m() { return 3; } }\n"
	masktest.Keeps(t, Masker{}, head, map[string][2]string{
		"as_it_is_compiled": {"-- a.ts --\nimport { f } from './b.js';\nexport const a = f();\n", "f"},
		"required":          {"-- a.ts --\nimport b = require('./b');\nb.g();\n", "g"},
		"declarations":      {"-- a.d.ts --\nimport { f, B } from './b';\nexport default f();\nexport const b: B = new B();\n", ""},
		"decorators":        {"-- a.ts --\nimport { f, g, B } from './b';\n@f() class A { constructor(@g() x: B, @h y: B) { return new B(); } }\nfunction h() { return 1; }\n", "h f g"},
		"a_namespace":       {"-- a.ts --\nnamespace N { const x = k(); function k() { return 1; } }\n", "N.k"},
		"an_enumeration":    {"-- a.ts --\nimport { f } from './b';\nenum E { A = f() }\n", "f"},
	})
}
