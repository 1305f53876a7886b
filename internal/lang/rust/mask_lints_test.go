package rust

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/mask"
)

func TestSoften(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, source, want string }{
		"manifest": {
			"a/Cargo.toml",
			"[package]\nunused = \"deny\"\n\n[lints.rust]\nwarnings = \"deny\"\nunsafe_code = \"forbid\"\nmissing_docs = \"deny\"\n" +
				"\"dead_code\" = 'forbid' # no\nunused = { level = \"deny\", priority = -1 }\nunused_imports = \"allow\"\n# unused = \"deny\"\n\n[lints.clippy]\nwarnings = \"deny\"\n",
			"[package]\nunused = \"deny\"\n\n[lints.rust]\nwarnings = \"warn\"\nunsafe_code = \"forbid\"\nmissing_docs = \"deny\"\n" +
				"\"dead_code\" = 'warn' # no\nunused = { level = \"warn\", priority = -1 }\nunused_imports = \"allow\"\n# unused = \"deny\"\n\n[lints.clippy]\nwarnings = \"deny\"\n",
		},
		"workspace": {
			"Cargo.toml",
			"[ workspace . lints.rust ]\r\nunused_mut=\"deny\"\r\n[workspace.lints.rust.dead_code]\r\nlevel = \"deny\"\r\n[workspace.lints]\r\nrust.unused_variables = \"deny\"\r\nclippy.unused = \"deny\"\r\n",
			"[ workspace . lints.rust ]\r\nunused_mut=\"warn\"\r\n[workspace.lints.rust.dead_code]\r\nlevel = \"warn\"\r\n[workspace.lints]\r\nrust.unused_variables = \"warn\"\r\nclippy.unused = \"deny\"\r\n",
		},
		"settings": {
			".cargo/config.toml",
			"[build]\nrustflags = [\"-D\", \"warnings\", \"-Dunused-imports\", \"--deny=dead_code\", \"-Dunsafe_code\", '--forbid', 'unused']\n[target.x]\nrustflags = \"-Dunused -D warnings\"\n",
			"[build]\nrustflags = [\"-W\", \"warnings\", \"-Wunused-imports\", \"--warn=dead_code\", \"-Dunsafe_code\", '--warn', 'unused']\n[target.x]\nrustflags = \"-Wunused -W warnings\"\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !(Masker{}).IsSetting(c.path) {
				t.Errorf("%s is no setting", c.path)
			}
			got, err := mask.Apply([]byte(c.source), Masker{}.Soften(c.path, []byte(c.source)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	for _, p := range []string{"src/cargo.rs", "config.toml", ".cargo/audit.toml", "cargo/config.toml"} {
		if (Masker{}).IsSetting(p) {
			t.Errorf("%s is a setting", p)
		}
	}
}
