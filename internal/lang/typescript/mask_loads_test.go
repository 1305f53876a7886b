package typescript

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// A file of declarations is read by the compiler alone, whatever stands in it.
func TestMaskDeclarations(t *testing.T) {
	t.Parallel()
	const head = "-- b.ts --\nexport function make(): number { return 1; }\nexport class B { static init() { return 1; } constructor() { this.go(); } go() { return 2; } }\n"
	masktest.Keeps(t, Masker{}, head, map[string][2]string{
		"declarations": {"-- a.d.ts --\nimport { make, B } from './b';\nexport default make();\nexport const b: B = new B();\n", ""},
		"of_a_module":  {"-- a.d.mts --\nimport { make } from './b';\nexport const b = make();\n", ""},
		"code":         {"-- a.ts --\nimport { make } from './b';\nexport default make();\n", "make"},
		"their_types":  {"-- a.d.ts --\nexport { B } from './b';\n-- c.ts --\nimport { B } from './a';\nnew B();\n", "B.constructor B.go"},
	})
}

// What is called by a key that is made up may be any of a table; a key is looked up alone.
func TestMaskTables(t *testing.T) {
	t.Parallel()
	const head = "-- a.ts --\nfunction one() { return 1; }\nfunction other() { return 2; }\nconst keys = { a: other };\nconst table: any = { x: one };\n"
	masktest.Keeps(t, Masker{}, head, map[string][2]string{
		"called":              {"table[keys.a]();\n", "one"},
		"called_by_call":      {"table[other].call(null);\n", "one"},
		"held_and_called":     {"const f = table[keys.a];\nf();\n", "one"},
		"held_and_made":       {"const F = table[keys.a];\nnew F();\n", "one"},
		"held_and_called_so":  {"const f = table[keys.a];\nf.apply(null, []);\n", "one"},
		"held_in_a_function":  {"function g() { const f = table[keys.a]; return f(); }\ng();\n", "one g"},
		"held_and_not_called": {"const f = table[keys.a];\nif (f) f.y = 1;\n", ""},
	})
}

// What a function does with its parameters is known whatever is said of their types.
func TestMaskLoads(t *testing.T) {
	t.Parallel()
	masktest.Keeps(t, Masker{}, "-- a.ts --\n", map[string][2]string{
		"one_that_leaves_it":       {"export function quiet(f: () => number, n?: number) { return typeof f; }\nfunction g() { return 1; }\nexport const x = quiet(g);\n", "quiet"},
		"one_that_calls_it":        {"export function loud(n: number, f: () => number) { return f(); }\nfunction g() { return 1; }\nexport const x = loud(1, g);\n", "loud g"},
		"one_that_may_call_it":     {"export function loud(f?: () => number) { const g = f || null; return g!(); }\nfunction g() { return 1; }\nexport const x = loud(g);\n", "loud g"},
		"one_with_another_default": {"export function loud(f?: () => number) { const g = f /* or */ ?? null; return g!(); }\nfunction g() { return 1; }\nexport const x = loud(g);\n", "loud g"},
		"one_that_compares_it":     {"export function quiet(f?: () => number, n?: number) { return f === null; }\nfunction g() { return 1; }\nexport const x = quiet(g);\n", "quiet"},
		"one_that_asks_for_both":   {"export function quiet(f?: () => number, n?: number) { if (n && f) return 1; return 2; }\nfunction g() { return 1; }\nexport const x = quiet(g);\n", "quiet"},
		"one_with_overloads":       {"export function quiet(f: () => number): string;\nexport function quiet(f: () => string): string;\nexport function quiet(f: () => any): string { return typeof f; }\nfunction g() { return 1; }\nexport const x = quiet(g);\n", "quiet quiet quiet"},
		"this_is_no_parameter":     {"export function quiet(this: unknown, f: () => number) { return typeof f; }\nfunction g() { return 1; }\nexport const x = quiet(g);\n", "quiet"},
		"this_before_one_it_calls": {"export function loud(this: unknown, f: () => number, n: number) { return f(); }\nfunction g() { return 1; }\nexport const x = loud(g, 1);\n", "loud g"},
	})
}
