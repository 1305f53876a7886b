package rust

import (
	"fmt"
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

// TestMaskLoads: nothing runs when a crate is loaded, but what its runtime calls, with what that calls by plain names.
func TestMaskLoads(t *testing.T) {
	t.Parallel()
	const hook = "-- src/lib.rs --\nmod other;\n#[ctor]\nfn hook(x: u8) { %s }\n"
	cases := map[string][2]string{}
	for name, c := range map[string]struct{ body, rest, want string }{
		"a_function":         {"f()", "fn f() -> u8 { g() }\nfn g() -> u8 { 1 }\nfn h() -> u8 { 1 }\n", "f g"},
		"of_another_file":    {"let f = other::f(); super::g(1)", "-- src/other.rs --\npub fn f() -> u8 { 1 }\npub fn g() -> u8 { 1 }\npub fn h() -> u8 { 1 }\n", "f g"},
		"of_a_type":          {"S::<u8>::make()", "struct S;\nimpl S {\n    fn make() -> Self { Self::new() }\n    fn new() -> Self { S.own() }\n    fn own(self) -> Self { self.two() }\n    fn two(self) -> Self { self }\n}\nstruct T;\nimpl T { fn make() -> Self { T } }\n", "S.make S.new S.own S.two"},
		"of_its_own_object":  {"S::make()", "struct S;\nimpl S {\n    fn make(self) -> u8 { self.one() }\n    fn one(self) -> u8 { self.0.two() }\n    fn two(self) -> u8 { 1 }\n}\nstruct T;\nimpl T { fn one(self) -> u8 { 1 } }\n", "S.make S.one"},
		"of_a_module":        {"m::f::<u8>(1)", "mod m {\n    pub fn f(x: u8) -> u8 { self::g() }\n    fn g() -> u8 { 1 }\n}\n", "m.f m.g"},
		"in_a_macro":         {"println!(\"{}\", f(1) + S::g(2), h)", "fn f(x: u8) -> u8 { x }\nfn h(x: u8) -> u8 { x }\nstruct S;\nimpl S {\n    fn g(x: u8) -> u8 { assert!(self.k(), a.l()) }\n    fn k(&self) -> u8 { x }\n    fn l(&self) -> u8 { x }\n}\n", "f S.g S.k"},
		"no_variable":        {"let f = || 1; f(); x(); println!(\"{}\", f())", "fn f() -> u8 { 1 }\nfn x() -> u8 { 1 }\n", ""},
		"no_method":          {"iter(1); S::default(); Vec::new(); x.len(); let new = mem::len()", "struct S;\nimpl S {\n    fn iter() -> u8 { 1 }\n    fn new() -> u8 { 1 }\n    fn len() -> u8 { 1 }\n}\n", ""},
		"no_definition":      {"our! { fn f() -> u8 { 1 } fn g() {} }", "fn f() -> u8 { 1 }\nfn g() -> u8 { 1 }\n", ""},
		"a_pattern":          {"if let Some(x) = Some(1) { x() }; let (a, (b, _)) = c(); a(); b()", "fn Some(x: u8) -> u8 { x }\nfn a() -> u8 { 1 }\nfn b() -> u8 { 1 }\nfn c() -> u8 { 1 }\nfn x() -> u8 { 1 }\n", "Some c"},
		"of_a_whole_path":    {"T::make()", "struct T;\nimpl Make for ::our::T<'_> { fn make() -> u8 { 1 } }\nimpl<'a> Make for &'a mut [T] { fn make() -> u8 { 1 } }\n", "T.make"},
		"no_value_of_a_name": {"g", "static X: u8 = f();\nfn f() -> u8 { 1 }\nfn g() -> u8 { 1 }\nmacro_rules! m { () => { f(); } }\nm! { f() }\n", ""},
	} {
		want := "hook"
		if c.want != "" {
			want += " " + c.want
		}
		cases[name] = [2]string{fmt.Sprintf(hook, c.body) + c.rest, want}
	}
	masktest.Keeps(t, Masker{}, "", cases)
}
