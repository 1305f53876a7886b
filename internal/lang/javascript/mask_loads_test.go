package javascript

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// TestMaskLoads: what stays because it runs when the file is loaded, by plain names.
func TestMaskLoads(t *testing.T) {
	t.Parallel()
	const lib = "-- lib/b.js --\nexport function f() { return g(); }\nfunction g() { return 1; }\nexport const h = () => 2;\nexport default class B { constructor() { this.m(); } m() { return 3; } n() { return 4; } }\n" +
		"-- lib/index.js --\nexport * from './b.js';\nexport { f as first, default } from './b.js';\n-- package.json --\n{\"name\": \"own\"}\n-- a.js --\n"
	const old = "-- c.js --\nexports.f = function () { return g(); };\nfunction g() { return 1; }\nexports.h = other;\nfunction other() { return 2; }\n" +
		"-- d.js --\nmodule.exports = create;\nfunction create() { return 1; }\ncreate.more = function () { return 2; };\n-- a.js --\n"
	masktest.Keeps(t, Masker{}, "", map[string][2]string{
		"a_call_and_what_that_calls": {"-- a.js --\nf();\nfunction f() { return g(); }\nconst g = () => h();\nfunction h() { return 1; }\nfunction i() { return f(); }\n", "f g h"},
		"names_of_another_file":      {lib + "import { f as k, h } from './lib/b';\nk();\nconsole.log(h);\n", "f g"},
		"names_of_an_index":          {lib + "import { first, h } from './lib';\nfirst(h());\n", "f g h"},
		"a_class_of_another_file":    {lib + "import B from './lib/index.js';\nexport const b = new B();\n", "B.constructor B.m"},
		"the_package_itself":         {lib + "import { h } from 'own/lib';\nimport { f } from 'own-too';\nh(f());\n", "h"},
		"a_module":                   {lib + "import * as b from './lib/b.js';\nb.h();\n", "h"},
		"what_is_required":           {old + "const { f: k, h } = require('./c');\nk(h());\n", "f g other"},
		"a_module_that_is_required":  {old + "const c = require('./c'), d = require('./d');\nd(c.h);\nd.more();\nrequire('./c').h();\n", "other create create.more"},
		"the_body_of_a_class":        {"-- a.js --\nclass A { static x = f(); y = g(); static { h(); } [i()]() { return 1; } }\nfunction f() { return 1; }\nfunction g() { return 1; }\nfunction h() { return 1; }\nfunction i() { return 1; }\n", "A.static f h i"},
		"what_a_call_is_given":       {"-- a.js --\n[1].map((x) => f(x));\nprocess.on('exit', () => { g(); });\nrun(h);\nrun(() => i());\nfunction f() { return 1; }\nfunction g() { return 1; }\nfunction h() { return 1; }\nfunction i() { return 1; }\n", "f i"},
		"a_function_on_the_spot":     {"-- a.js --\n(function () { const f = () => 1; function g() { return 1; }\n f(); })();\n", "f"},
		"a_member_of_an_object":      {"-- a.js --\nconst o = { f() { return 1; }, g: () => 2 };\no.f();\nfunction F() { return h(); }\nF.prototype.k = function () { return 1; };\nfunction h(cb) { return cb(); }\nfunction cb() { return 1; }\nnew F();\n", "o.f F h"},
		"what_was_made_small":        {"-- a.js --\nexport class A { open() { return 1; } }\n-- b.min.js --\nx().open();\n-- .yarn/c.cjs --\nx().open();\n", ""},
		"a_program":                  {"-- a.js --\n#!/usr/bin/env node\nf();\nfunction f() { return 1; }\n-- b.js --\nif (require.main === module) f();\nfunction f() { return 1; }\n", ""},
	})
}
