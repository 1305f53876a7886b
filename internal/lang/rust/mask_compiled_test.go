package rust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// TestMaskCompiled holds which const functions stay: those that the compiler runs.
func TestMaskCompiled(t *testing.T) {
	t.Parallel()
	const lib = "-- src/lib.rs --\npub struct S;\nimpl S {\n    pub const fn a(x: u8) -> u8 { Self::b(x) + 1 }\n    const fn b(x: u8) -> u8 { x + 1 }\n    pub const fn c(self) -> u8 { 3 }\n}\n"
	masktest.Keeps(t, Masker{}, "", map[string][2]string{
		"called_by_code":            {lib + "pub fn f() -> u8 { S::a(1) }\n", ""},
		"a_constant":                {lib + "const X: u8 = S::a(1);\n", "S.a S.b"},
		"a_static":                  {lib + "static X: (u8, u8) = (1, { S.c() });\n", "S.c"},
		"a_constant_of_a_type":      {lib + "impl S { const X: u8 = Self::b(1); }\n", "S.b"},
		"a_constant_in_a_function":  {lib + "pub fn f() -> u8 { const X: u8 = S::b(1); X }\n", "S.b"},
		"a_closure_in_a_static":     {lib + "static X: LazyLock<u8> = LazyLock::new(|| S::a(1));\nstatic Y: fn(u8) -> u8 = S::a;\n", ""},
		"a_length":                  {lib + "pub type T = [u8; S::a(1) as usize];\npub fn f() -> u8 { [0; S.c() as usize][0] }\n", "S.a S.b S.c"},
		"a_number_of_a_variant":     {lib + "pub enum E { A = S::b(1) as isize }\n", "S.b"},
		"a_block":                   {lib + "pub fn f() -> u8 { const { S::b(1) } }\n", "S.b"},
		"an_argument_of_a_type":     {lib + "pub fn f() -> u8 { g::<{ S::b(1) }>() }\n", "S.b"},
		"a_parameter_by_default":    {lib + "pub struct P<const N: u8 = { S::b(1) }>;\n", "S.b"},
		"with_arguments_of_its_own": {lib + "const X: u8 = S::b::<u8>(1);\n", "S.b"},
		"an_assertion":              {lib + "pub fn f() { assert_eq!(S::a(1), 3); }\nconst _: () = assert!(S::b(1) == 2);\n", "S.b"},
		"within_an_assertion":       {lib + "pub fn f() { assert_eq!(our!(S::b(1)), [1; S.c()]); }\n", "S.b S.c"},
		"a_macro_of_ours":           {lib + "our! { X = S.c(); }\n", "S.c"},
		"what_a_macro_writes":       {lib + "macro_rules! m { ($t:ty) => { const X: u8 = <$t>::b(1); fn c() -> u8 { 1 } } }\n", "S.b"},
		"a_macro_s_own":             {"-- src/lib.rs --\nmacro_rules! m { ($n:ident) => { const fn $n() -> u8 { 1 } const fn own() -> u8 { 2 } } }\n", "m.$n"},
		"an_attribute":              {lib + "#[case(our::<{ S::b(1) }>())]\n#[c]\nfn f() { g() }\n", "S.b"},
		"a_test":                    {lib + "-- tests/t.rs --\nconst X: u8 = S::b(1);\n", "S.b"},
		"code_that_is_written":      {lib + "-- build.rs --\nfn main() { write(\"const X: u8 = S::b(1);\"); }\n", "S.b"},
		"another_crate":             {"-- a/src/lib.rs --\npub const fn f() -> u8 { 1 }\npub const fn g() -> u8 { 1 }\n-- b/src/lib.rs --\nuse a::f;\nconst X: u8 = f();\n", "f"},
		"what_is_opaque_too":        {lib + "const fn f() -> impl Sized { S::b(1) }\n", "S.b f"},
		"what_does_nothing":         {"-- src/lib.rs --\nconst fn f() {}\n", "f"},
	})
}

// TestMaskHosted holds which crates stay whole: those that run in the compiler.
func TestMaskHosted(t *testing.T) {
	t.Parallel()
	const macros = "[lib]\nproc-macro = true\n"
	crates := func(manifests ...string) map[string][]byte {
		out := map[string][]byte{"core/Cargo.toml": []byte("[package]\nname = \"core\"\n")}
		for i := 0; i < len(manifests); i += 2 {
			out[manifests[i]+"/Cargo.toml"] = []byte(manifests[i+1])
		}
		return out
	}
	for name, c := range map[string]struct {
		settings map[string][]byte
		want     bool // of core/src/a.rs
	}{
		"nothing":              {crates("lib", "[dependencies]\ncore = { path = \"../core\" }\n"), false},
		"of_macros":            {crates("core", macros), true},
		"of_macros_as_before":  {crates("core", "[lib]\nproc_macro = true\n"), true},
		"needed_by_macros":     {crates("m", macros+"[dependencies]\ncore = { path = \"../core\" }\n"), true},
		"needed_by_their_need": {crates("m", macros+"[dependencies]\nn = { path = \"../n\" }\n", "n", "[dependencies]\ncore = { path = \"../core\" }\n"), true},
		"of_one_target":        {crates("m", macros+"[target.'cfg(unix)'.dependencies]\ncore = { path = \"../core\" }\n"), true},
		"by_the_workspace":     {crates(".", "[workspace.dependencies]\ncore = { path = \"core\" }\n", "m", macros+"[dependencies]\ncore = { workspace = true }\n"), true},
		"by_a_patch":           {crates(".", "[patch.crates-io]\ncore = { path = \"core\" }\n", "m", macros+"[dependencies]\ncore = \"1\"\n"), true},
		"published":            {crates(".", "[workspace.dependencies]\ncore = { path = \"core\" }\n", "m", macros+"[dependencies]\ncore = \"1\"\n"), false},
		"tests_of_macros":      {crates("m", macros+"[dev-dependencies]\ncore = { path = \"../core\" }\n"), false},
		"a_build_script":       {crates("lib", "[build-dependencies]\ncore = { path = \"../core\" }\n"), true},
		"its_own_build":        {crates("lib", "[dependencies]\ncore = { path = \"../core\" }\n[build-dependencies]\ncore = { path = \"../core\" }\n"), false},
		"a_test_s_own":         {crates("tests/m", macros+"[dependencies]\ncore = { path = \"../../core\" }\n"), false},
		"a_crate_within":       {crates(".", macros), false},
		"broken":               {crates("m", macros+"[dependencies\ncore = { path = \"../core\" }\n"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := (Masker{}).Hosted(c.settings)("core/src/a.rs"); got != c.want {
				t.Errorf("%t, want %t", got, c.want)
			}
		})
	}
	const parts = "fn f() -> u8 { 1 }\n"
	if got := masked(t, map[string]string{"m/Cargo.toml": macros, "m/src/parts.rs": parts}, "m/src/parts.rs"); got != parts {
		t.Errorf("masked: %s", got)
	}
}

// TestMaskConstant holds that what takes the place of a const function's body is const.
func TestMaskConstant(t *testing.T) {
	t.Parallel()
	want := strings.Join([]string{`const fn f(x: u8) -> u8 { panic!("masked: f") }`, `fn g() -> u8 { unimplemented!("masked: g") }`, ""}, "\n")
	got := masked(t, map[string]string{"a.rs": "const fn f(x: u8) -> u8 { x + 1 }\nfn g() -> u8 { 1 }\n"}, "a.rs")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// masked is a file of a tree in its starter.
func masked(t *testing.T, tree map[string]string, name string) string {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "src"), filepath.Join(dir, "out")
	for p, text := range tree {
		at := filepath.Join(src, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := mask.Run(t.Context(), mask.Options{Source: src, Output: out, Languages: []mask.Language{Masker{}}}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}
