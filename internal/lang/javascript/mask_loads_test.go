package javascript

import (
	"testing"

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
	masktest.Keeps(t, Masker{}, "", map[string][2]string{
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
		"what_a_constructor_makes": {
			"-- a.js --\nclass A { constructor() { this.x = () => { return h(); }; this.start(); } start() { const o = {}; o.y = () => { return h(); }; return o; } }\nclass B extends A {}\nfunction h() { return 1; }\nexport const b = new B();\n", "A.constructor A.start",
		},
		"what_a_constructor_makes_and_is_called": {
			"-- a.js --\nclass A { constructor() { this.x = () => { return h(); }; this.y = () => { return h(); }; } }\nfunction h() { return 1; }\nconst a = new A();\na.x();\n", "A.constructor A.x h",
		},
		"a_field_that_a_call_sets": {
			"-- a.js --\nclass A { f = this.make(1); m() { return this.f(); } make(n) { const inner = () => { return n; }; return inner; } }\nclass B extends A { g = this.f(); }\nexport const a = new A();\n", "A.make",
		},
		"a_field_that_a_call_sets_and_is_called": {
			"-- a.js --\nclass A { f = this.make(1); make(n) { const inner = () => { return n; }; return inner; } }\nexport const a = new A();\na.f();\n", "A.make A.make.inner",
		},
		"what_a_constructor_puts_on_its_object": {
			"-- a.js --\nclass Base { constructor(f) { this.f = f; this.o = { f }; } run() { return this.f(); } }\nclass A extends Base { constructor(f) { super(f); } }\nexport const a = new A(g);\nfunction g() { return 1; }\n", "Base.constructor A.constructor",
		},
		"what_a_constructor_puts_on_its_object_and_is_read": {
			"-- a.js --\nclass A { constructor(f) { this.f = f; } run() { const f = this.f; return f(); } }\nconst a = new A(g);\na.run();\nfunction g() { return 1; }\n", "A.constructor A.run g",
		},
		"what_a_constructor_calls_by_another_name": {
			"-- a.js --\nclass A { constructor(f) { this.run = () => f(); } }\nconst a = new A(g);\na.run();\nfunction g() { return 1; }\n", "A.constructor A.run g",
		},
		"what_a_class_of_others_gets": {
			"-- a.js --\nimport { Base } from 'elsewhere';\nclass A extends Base {}\nclass B extends Base { constructor(f) { super(f); } }\nexport const a = new A(g);\nexport const b = new B(h);\nfunction g() { return 1; }\nfunction h() { return 1; }\n", "B.constructor g h",
		},
		"what_a_module_keeps_for_later": {
			"-- a.js --\nlet compile;\nlet load;\nexport function keep(c, l) { compile = c; load = l; }\nkeep(f, g);\nload(1);\nfunction f() { return 1; }\nfunction g() { return 1; }\n", "keep g",
		},
		"a_member_of_what_is_not_known": {
			"-- a.js --\nclass A { text() { return 1; } get size() { return 2; } }\nfunction edit(x) { return x(); }\nexport const a = new A();\nexport const b = edit(elsewhere().text);\nexport const c = edit(elsewhere().size);\n", "A.size edit",
		},
		"parts_of_what_a_call_gives": {
			"-- a.js --\nfunction make() { function one() { return h(); } function two() { return 2; } return { one, two }; }\nfunction h() { return 1; }\nfunction still() { const inner = () => { return h(); }; return { inner }; }\nconst { one, two: [other] } = make();\nexport const { inner } = still();\nother();\n", "make make.one make.two h still",
		},
		"a_constructor_that_only_calls_its_parent": {
			"-- a.js --\nclass Base { constructor(x) { this.x = f(x); this.y = 1; } }\nclass A extends Base { constructor() { super(g()); } }\nexport const a = new A();\nfunction f() { return 1; }\nfunction g() { return 1; }\n", "Base.constructor A.constructor f g",
		},
		"members_of_an_object_by_their_names": {
			"-- a.js --\nfunction f() { return 1; }\nfunction g() { return 1; }\nfunction h() { return 1; }\nconst api = { f, g, deep: { k: h } };\napi.f();\napi.deep.k();\n", "f h",
		},
		"a_member_of_an_object_of_short_ones_by_a_made_up_name": {
			"-- a.js --\nfunction f() { return 1; }\nfunction g() { return 1; }\nconst api = { f };\nconst other = { g };\nfor (const k of names) { api[k](); }\n", "f",
		},
		"a_member_of_an_object_by_a_made_up_name": {
			"-- a.js --\nfunction f() { return 1; }\nfunction g() { return 1; }\nconst api = { f, m() { return 1; } };\nconst other = { g };\nfor (const name of ['f', 'm']) api[name](1);\nexport { other };\n", "f api.m",
		},
		"a_property_that_is_defined_by_a_call": {
			"-- a.js --\nclass A { constructor() { this.z = this.t.length; } }\nObject.defineProperty(A.prototype, 't', { get() { return f(); } });\nObject.defineProperties(A.prototype, { u: { get() { return g(); } }, v: { get: () => { return g(); } } });\n" +
				"function f() { return []; }\nfunction g() { return 1; }\nexport const a = new A();\n", "A.constructor A.t f",
		},
		"an_export_that_is_defined_by_a_call": {
			"-- a.js --\nObject.defineProperty(exports, 'x', { enumerable: true, get: function () { return f(); } });\nfunction f() { return 1; }\n-- b.js --\nconst { x } = require('./a');\nclass B extends x {}\n", "f",
		},
		"what_is_added_to_what_is_given_back": {
			"-- a.js --\nfunction make(x) { return Object.assign(x, { one: () => { return f(); }, two() { return g(); } }); }\nfunction f() { return 1; }\nfunction g() { return 1; }\nexport const a = make({});\n", "make",
		},
		"what_is_added_to_what_another_gives": {
			"-- a.js --\nconst make = (x) => Object.assign(part(x), { one: () => { return f(); } });\nfunction part(x) { return Object.freeze({ x, two() { return g(); } }); }\nfunction f() { return 1; }\nfunction g() { return 1; }\nexport const a = make({});\n", "make part",
		},
		"an_object_of_a_class_that_is_handed_over": {
			"-- a.js --\nclass A { constructor(f) { this.held = f; } run() { return this.held(); } }\nfunction f() { return 1; }\nfunction keep(x) { return x(); }\nexport const a = keep(new A(f));\n", "A.constructor keep",
		},
		"what_is_put_on_an_object_of_the_file": {
			"-- a.js --\nconst own = {}, other = Object.create(null);\nown.f = () => { return 1; };\nown.g = function () { return this.k(); };\nown.k = () => { return 1; };\nown.rest = () => { return 1; };\nown.C = class { constructor() { this.x = 1; } };\n" +
				"own.in = {};\nown.in.h = () => { return 2; };\nother.f = () => { return 3; };\nother.g = () => { return 4; };\nother.g();\nown.f();\nown.g();\nown.in.h();\nnew own.C();\nexports.all = own;\n-- b.js --\nimport { all } from './a.js';\nall.late();\n", "own.f own.g own.k own.C.constructor own.in.h other.g",
		},
		"what_is_put_on_the_object_that_a_module_is": {
			"-- a.js --\nvar api = module.exports = {};\napi.f = function () { return 1; };\napi.g = function () { return 2; };\napi.f();\n-- b.js --\nrequire('./a').g();\n", "api.f api.g",
		},
		"what_lies_on_a_prototype": {
			"-- a.js --\nfunction A() { this.x = 1; }\nclass B { rest() { return 1; } }\nObject.defineProperty(A.prototype, 't', { get: function () { return 1; } });\nA.prototype.f = function () { return 2; };\nA.prototype.rest = function () { return 2; };\n" +
				"B.prototype.g = function () { return 3; };\nconst proto = B.prototype;\nproto.h = function () { return 4; };\nA.prototype.t;\nA.prototype.f();\nB.prototype.g.call({});\nproto.h();\n", "A.t A.f B.g B.h",
		},
		"what_has_several_names": {
			"-- a.js --\nfunction f() { return 1; }\nconst own = {};\nexports.one = exports.two = f;\nexports.C = own.C = class { constructor() { this.x = 1; } };\nconst h = own.h = () => { return 1; };\nh();\n" +
				"exports.o = own.o = { m() { return 1; } };\nexports.D = own.D = exports.E = class { constructor() { this.x = 1; } };\n-- b.js --\nconst a = require('./a');\na.one();\nnew a.C();\nnew a.D();\na.o.m();\n", "f own.C.constructor own.h own.o.m own.D.constructor",
		},
		"what_a_module_is_by_a_choice": {
			"-- a.js --\nconst f = (x) => { return h(x); };\nfunction g() { return 1; }\nfunction h(x) { return x; }\nfunction k() { return 1; }\nfunction rest() { return 1; }\nmodule.exports = rest.name ? f : g;\nexports.late = exports.k = k || rest;\n-- b.js --\nrequire('./a')(1);\nrequire('./a').late();\n", "f g h k rest",
		},
		"what_a_name_is_by_a_choice": {
			"-- a.js --\nfunction f() { return 1; }\nfunction g() { return 1; }\nfunction rest() { return 1; }\nconst x = globalThis.x ?? f, y = rest.name ? g : null;\nx();\ny();\n", "f g",
		},
		"what_a_variable_is_by_a_choice": {
			"-- a.js --\nfunction f() { return 1; }\nfunction g() { return 1; }\nfunction h() { return 1; }\nfunction make(o = {}) { const one = o.one || f, two = o.two ? g : null, three = o.three || h; two(); return one(three); }\nmake();\n", "f g make",
		},
		"what_is_put_on_a_part_of_what_another_file_gives": {
			"-- lib.js --\nmodule.exports = {};\n-- a.js --\nconst lib = require('./lib');\nconst part = module.exports = lib.part = lib.part || {};\npart.add = function () { return 1; };\npart.rest = function () { return 1; };\n" +
				"-- b.js --\nconst lib = require('./lib');\nrequire('./a');\nlib.part.add(1);\n", "part.add",
		},
		"what_is_put_on_what_another_file_gives": {
			"-- lib.js --\nmodule.exports = { options: {} };\n-- a.js --\nconst lib = require('./lib');\nmodule.exports = lib.part = lib.part || {};\nlib.part.add = function () { return 1; };\nlib.part.rest = function () { return 1; };\nlib.part.drop = function () { return 1; };\nlib.whole = function () { return 1; };\nconst own = {};\nown.drop = function () { return 1; };\nmodule.exports.own = own;\n" +
				"-- b.js --\nconst lib = require('./lib');\nrequire('./a');\nlib.part.add(1);\nlib.other.drop(1);\nlib.whole();\n", "lib.part.add lib.whole",
		},
		"what_is_required_and_called": {
			"-- a.js --\nconst x = require('./b')();\nrequire('./c')(1);\nnew (require('./d'))();\n-- b.js --\nmodule.exports = function f() { return 1; };\n-- c.js --\nmodule.exports = function g() { return 1; };\n-- d.js --\nmodule.exports = class D { constructor() { this.x = 1; } };\n", "f g D.constructor",
		},
		"modules_that_go_by_numbers": {
			"-- a.js --\n(function run(all, first) { function use(n) { const m = { exports: {} }; all[n][0](use, m, m.exports); return m.exports; } return use(first); })({\n" +
				"1: [function (require, module, exports) { var x = require(2)(), y = require(3); module.exports = function one() { return y.g(); }; }],\n" +
				"2: [function (require, module, exports) { module.exports = function two() { return h(); }; function h() { return 1; } }],\n" +
				"3: [function (require, module, exports) { exports.g = function () { return 3; }; }] }, 1);\n", "use one two h g",
		},
		"a_program_that_asks_whether_it_is_one": {
			"-- a.js --\nexport function f() { return 1; }\nexport function g() { return 1; }\nexport function h() { return 1; }\nif (process.argv[1].endsWith('a.js')) f();\nif (import.meta.main) g();\nif (process.argv[2]) h();\n", "h",
		},
		"a_program_that_uses_the_package_by_its_name": {
			"-- package.json --\n{\"name\": \"lib\"}\n-- index.js --\nexport function f() { return 1; }\nexport function g() { return 1; }\nexport function h() { return 1; }\n-- try.js --\nimport { f } from 'lib';\nf();\n-- start.js --\nimport { g } from './index.js';\ng();\n-- give.js --\nimport { h } from 'lib';\nexport const x = h();\n", "g h",
		},
	})
}
