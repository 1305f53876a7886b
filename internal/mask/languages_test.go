package mask_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/lang/java"
	"github.com/benchmint/benchmint/internal/lang/javascript"
	"github.com/benchmint/benchmint/internal/lang/rust"
	"github.com/benchmint/benchmint/internal/mask"
)

// What tells the compiler to refuse what a mask leaves is softened where it stands in no
// code, said, and undone.
func TestSettings(t *testing.T) {
	t.Parallel()
	src, out := source(t, "-- Cargo.toml --\n[lints.rust]\nunused = \"deny\"\n-- b/Cargo.toml --\n[package]\n-- vendor/b/Cargo.toml --\n[lints.rust]\nunused = \"deny\"\n-- src/lib.rs --\npub fn f(x: u8) -> u8 { x }\n"), filepath.Join(t.TempDir(), "out")
	_, m := starter(t, mask.Options{Source: src, Output: out, Languages: []mask.Language{rust.Masker{}}})
	if d := cmp.Diff("[lints.rust]\nunused = \"warn\"\n", read(t, filepath.Join(out, "Cargo.toml"))); d != "" {
		t.Error(d)
	}
	var repairs []int
	for _, f := range m.Files {
		repairs = append(repairs, len(f.Repairs))
	}
	if d := cmp.Diff([]int{1, 0, 0, 0}, repairs); d != "" || m.Totals.Changed != 2 {
		t.Errorf("%d files changed, repairs: %s", m.Totals.Changed, d)
	}
	undoes(t, src, out)
}

// Tests that stand among the code are no lines that could have been masked.
func TestLinesOfTests(t *testing.T) {
	t.Parallel()
	tree := "-- src/lib.rs --\nfn f() -> u8 { 1 }\nconst fn g() -> u8 { 1 }\nconst G: u8 = g();\n#[cfg(test)]\nmod tests {\n    fn helper() -> u8 { 1 }\n    #[test]\n    fn works() { assert_eq!(super::f(), helper()); }\n}\n"
	_, m := starter(t, mask.Options{Source: source(t, tree), Languages: []mask.Language{rust.Masker{}}})
	if m.Totals.Lines != 2 || m.Totals.Left != 1 || m.Totals.Share != 0.5 {
		t.Errorf("%d lines, %d left, %g", m.Totals.Lines, m.Totals.Left, m.Totals.Share)
	}
}

// A function stands for what is inside of it: what only that calls is only its.
func TestSliceOfAnOuterFunction(t *testing.T) {
	t.Parallel()
	tree := "-- A.java --\nclass A {\n  static Runnable make() {\n    return new Runnable() {\n      public void run() { alone(); }\n    };\n  }\n" +
		"  static void alone() { other(); }\n  static void other() { return; }\n  static int kept() { return 1; }\n}\n"
	_, m := starter(t, mask.Options{Source: source(t, tree), Languages: []mask.Language{java.Masker{}}, Slice: mask.Slice{Function: "A.make"}})
	want := "A.java A.make: masked\nA.java A.make.new Runnable.run: gone\nA.java A.alone: masked\nA.java A.other: masked\nA.java A.kept: kept, outside the slice\n"
	if d := cmp.Diff(want, fates(m)); d != "" {
		t.Error(d)
	}
}

// A function without a name is masked by its place: the code around it stays, compiles, and keeps what it needs of its imports.
func TestLiterals(t *testing.T) {
	t.Parallel()
	const imports = "package a\n\nimport (\n\t\"fmt\"\n\t\"net/http\"\n\t%s\"strings\"\n)\n"
	tree := "-- go.mod --\nmodule m\n-- a.go --\n" + fmt.Sprintf(imports, "") + `
func setup(mux *http.ServeMux, prefix string) {
	greeting, name := prefix+"hello", "x"
	mux.HandleFunc("/a", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.ToUpper(greeting), prefix)
	})
	group(func(m *http.ServeMux) {
		m.HandleFunc("/b", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, name, greeting) })
	})
	mux.HandleFunc("/c", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, 1) })
}

func (s *S) made() http.HandlerFunc { return func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, 2) } }

var table = map[string]http.HandlerFunc{
	"d": func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, 3) },
}
`
	out := filepath.Join(t.TempDir(), "starter")
	names := []string{"a.go::setup:11", "a.go::setup:15", "S.made:20", "a.go:::23"}
	_, m := starter(t, mask.Options{Source: source(t, tree), Output: out, Languages: []mask.Language{golang.Masker{}}, Slice: mask.Slice{Names: names}})
	const kept = ": kept, outside the slice\n"
	want := "a.go setup" + kept + "a.go setup:11: masked\na.go setup:15: masked\na.go S.made" + kept + "a.go S.made:20: masked\na.go :23: masked\na.go table.d" + kept
	if d := cmp.Diff(want, fates(m)); d != "" {
		t.Error(d)
	}
	wantText := fmt.Sprintf(imports, "_ ") + `
func setup(mux *http.ServeMux, prefix string) {
	greeting, name := prefix+"hello", "x"
	mux.HandleFunc("/a", func(w http.ResponseWriter, r *http.Request) {
		_ = greeting
		panic("masked: setup:11")
	})
	group(func(m *http.ServeMux) {
		m.HandleFunc("/b", func(w http.ResponseWriter, r *http.Request) { _, _ = name, greeting; panic("masked: setup:15") })
	})
	mux.HandleFunc("/c", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, 1) })
}

func (s *S) made() http.HandlerFunc { return func(w http.ResponseWriter, r *http.Request) { panic("masked: S.made:20") } }

var table = map[string]http.HandlerFunc{
	"d": func(w http.ResponseWriter, r *http.Request) { panic("masked: :23") },
}
`
	if d := cmp.Diff(wantText, read(t, filepath.Join(out, "a.go"))); d != "" {
		t.Error(d)
	}
}

// What a grammar does not know, in code that is no function's, is named and stays; the rest
// of the file is masked.
func TestUnknownSyntaxInACallback(t *testing.T) {
	t.Parallel()
	const callback = "bench('x', async () => {\n  const a = 1;\n  using x = open(a);\n  await x.go();\n});\n"
	src, out := source(t, "-- a.js --\nexport function f() {\n  return 1;\n}\n"+callback), filepath.Join(t.TempDir(), "out")
	result, m := starter(t, mask.Options{Source: src, Output: out, Languages: []mask.Language{javascript.Masker{}}})
	if len(result.Failed) > 0 {
		t.Fatalf("failed: %q", result.Failed)
	}
	if d := cmp.Diff("export function f() {\n  throw new Error(\"masked: f\");\n}\n"+callback, read(t, filepath.Join(out, "a.js"))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"a.js:6"}, m.Totals.Faults); d != "" {
		t.Errorf("faults, -want +got:\n%s", d)
	}
	undoes(t, src, out)
}
