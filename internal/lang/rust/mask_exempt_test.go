package rust

import "testing"

func TestExempt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, source, want string }{
		{"src/lib.rs", "", ""},
		{"build.rs", "", "a build script"},
		{"src/build.rs", "", ""},
		{"tests/it.rs", "", "a test or of use to tests only"},
		{"src/a/tests.rs", "", "a test or of use to tests only"},
		{"src/latest.rs", "", ""},
		{"benches/b.rs", "", "a test or of use to tests only"},
		{"examples/e.rs", "", "an example of use"},
		{"derive/src/attr.rs", "use syn::Attribute;\n", "of a crate of macros: it runs in the compiler"},
		{"derive/src/lib.rs", "#[proc_macro_derive(X)]\npub fn x() {}\n", "of a crate of macros: it runs in the compiler"},
		{"src/synth.rs", "use synth::Voice;\n", ""},
	} {
		if got := (Masker{}).Exempt(tt.path, []byte(tt.source)).String(); got != tt.want {
			t.Errorf("Exempt(%q) = %q, want %q", tt.path, got, tt.want)
		}
	}
}
