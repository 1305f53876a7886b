package javascript

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// wrappers hand on what they are given, or run it.
const wrappers = `-- wrap.js --
import inner from './inner.js';
export function later(f) { if (typeof f !== 'function') throw new Error(f.name); return function made() { return f.apply(this, arguments); }; }
export function now(f) { return f(1); }
export function onward(n, f) { return later(f); }
export function twice(f) { later(f); return now(f); }
export function stored(f) { table.f = f; }
export function optional(f) { f = f || null; return later(f); }
export function second(f, ...more) { more[0](); return () => f(); }
export function numbered() { arguments[0](); }
export function round(n, f) { return n ? round(n - 1, f) : later(f); }
export function away(f) { return inner(f); }
export const table = {};
-- inner.js --
export default (f) => () => f();
`

func TestMaskLoads(t *testing.T) {
	t.Parallel()
	const head = wrappers + "-- a.js --\nimport { later, now, onward, twice, stored, optional, second, numbered, round, away } from './wrap.js';\nfunction f() { return 1; }\nfunction g() { return 2; }\n"
	for name, c := range map[string]struct{ tree, want string }{
		"what_a_wrapper_only_holds":      {head + "export const a = later(f);\n", "later"},
		"what_it_calls":                  {head + "export const a = now(f);\n", "f now"},
		"what_it_hands_on":               {head + "export const a = onward(1, f);\nexport const b = away(g);\n", "default later onward away"},
		"what_it_hands_on_to_be_called":  {head + "export const a = twice(f);\n", "f later now twice"},
		"what_it_puts_elsewhere":         {head + "stored(f);\n", "f stored"},
		"a_default_for_it":               {head + "export const a = optional(f);\n", "later optional"},
		"by_number":                      {head + "export const a = second(f, g);\n", "g second"},
		"by_all_its_arguments":           {head + "numbered(f);\n", "f numbered"},
		"in_a_circle":                    {head + "export const a = round(2, f);\n", "later round"},
		"one_in_the_other":               {head + "export const a = later(onward(1, f));\nexport const b = now(later(g));\n", "g later later.made now onward"},
		"a_literal":                      {head + "export const a = later(function () { return f(); });\n", "later"},
		"one_of_two_literals":            {head + "export const a = second(() => { return f(); }, () => { return g(); });\n", "g a#2 second"},
		"what_holds_it_is_called":        {head + "export const a = later(f);\nexport const b = later(g);\na();\n", "f later later.made"},
		"what_holds_it_is_handed_over":   {head + "export const a = later(f);\nexport const b = a;\nprocess.elsewhere(1, b);\nelsewhere(b);\n", "f later later.made"},
		"what_holds_it_elsewhere":        {head + "export const a = later(() => { return f(); });\n-- b.js --\nimport { a } from './a.js';\nexport const b = a(1);\n", "f a later later.made"},
		"a_member_of_what_holds_it":      {head + "export const a = later(f);\na.call(1);\n", "f later later.made"},
		"a_value_that_is_used":           {head + "export const a = [later(f)];\n", "f later later.made"},
		"a_value_that_is_called":         {head + "export const a = later(f)();\n", "f later later.made"},
		"call_and_apply_and_bind":        {"-- a.js --\nfunction f() { return 1; }\nfunction g() { return 1; }\nfunction h() { return 1; }\nfunction k() { return 1; }\nf.call(1);\ng.apply(1);\nconst b = h.bind(1);\nconst c = k.bind(1);\nb();\n", "f g h"},
		"what_is_put_on_an_object":       {"-- a.js --\nfunction f(o) { o.on = () => { return 1; }; o.off = () => { return 2; }; o[Symbol.iterator] = () => { return 3; }; o[f.x] = () => { return 4; }; }\nconst o = {};\nf(o);\no.on();\n", "f f.o.on f.o.[Symbol.iterator]"},
		"what_has_a_computed_name":       {"-- a.js --\nfunction f(o) { for (const k of [1, 2]) o[k] = () => { return 4; }; o.x = () => { return 1; }; }\nconst o = {};\nf(o);\no[n()]();\nfunction n() { return 1; }\n", "f f.o.[k] n"},
		"a_function_that_makes_an_api":   {"-- a.js --\nfunction make() { const api = (x) => { return h(x); }; api.more = () => { return make(); }; return api; }\nfunction h() { return 1; }\nconst api = make();\nexport default api;\n", "make"},
		"one_that_it_gives_from_another": {"-- a.js --\nfunction make() { return inner(); }\nfunction inner() { return () => { return h(); }; }\nfunction h() { return 1; }\nconst api = make();\napi();\n", "make inner inner.return h"},
		"what_it_calls_itself":           {"-- a.js --\nfunction make() { const a = () => { return 1; }; function b() { return a(); } function c() { return 2; } b(); return c; }\nexport const api = make();\n", "make make.a make.b"},
		"what_is_inherited_from":         {"-- a.js --\nfunction mixin(base) { return class extends base { constructor() { super(); this.x = 1; } m() { return 1; } }; }\nclass A {}\nconst B = mixin(A);\nclass C extends B {}\nnew C();\n", "mixin mixin.return.constructor mixin.return.m"},
		"a_star_of_what_imports_from_it": {
			"-- all.js --\nexport * from './a.js';\nexport * from './b.js';\n-- a.js --\nimport { B } from './all.js';\nimport { D } from 'elsewhere';\nexport function f() { return B; }\n" +
				"-- b.js --\nexport class B { constructor() { this.x = 1; } m() { return 1; } }\nexport class D { constructor() { this.x = 1; } }\n-- main.js --\nimport { B, D } from './all.js';\nexport const b = new B();\nexport const d = new D();\n",
			"B.constructor D.constructor",
		},
		"a_getter_of_what_a_call_gets": {
			"-- a.js --\nfunction f() { return 1; }\nfunction g() { return 1; }\nfunction h() { return 1; }\nexport const a = new globalThis.Request({ get x() { return f(); }, y() { return g(); } });\nexport const o = { get x() { return h(); } };\n", "f",
		},
		"a_program_that_asks_whether_it_is_one": {
			"-- a.js --\nexport function f() { return 1; }\nexport function g() { return 1; }\nexport function h() { return 1; }\nif (process.argv[1].endsWith('a.js')) f();\nif (import.meta.main) g();\nif (process.argv[2]) h();\n", "h",
		},
		"a_program_that_uses_the_package_by_its_name": {
			"-- package.json --\n{\"name\": \"lib\"}\n-- index.js --\nexport function f() { return 1; }\nexport function g() { return 1; }\nexport function h() { return 1; }\n-- try.js --\nimport { f } from 'lib';\nf();\n-- start.js --\nimport { g } from './index.js';\ng();\n-- give.js --\nimport { h } from 'lib';\nexport const x = h();\n", "g h",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, masktest.Kept(t, Masker{}, c.tree)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
