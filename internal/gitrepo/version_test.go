package gitrepo_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/gitrepo"
)

func TestParseVersion(t *testing.T) {
	t.Parallel()
	type want struct {
		Package, Text string
		Pre           bool
	}
	for tag, w := range map[string]want{
		"v1.2.3": {"", "1.2.3", false}, "1.2.3": {"", "1.2.3", false}, "v.5.2.0": {"", "5.2.0", false}, "v1": {"", "1", false},
		"release-2024.01": {"", "2024.01", false}, "release/1.2": {"", "1.2", false}, "REL_1_2_3": {"", "1_2_3", false},
		"pkg-1.2": {"pkg", "1.2", false}, "pkg==1.2": {"pkg", "1.2", false}, "pkg/v1.2.3": {"pkg", "1.2.3", false},
		"@scope/pkg@1.2.3": {"@scope/pkg", "1.2.3", false}, "crate_mangen-v0.3.3": {"crate_mangen", "0.3.3", false},
		"parent-2.14.0": {"parent", "2.14.0", false}, "log4j-2.0": {"log4j", "2.0", false}, "curl-8_4_0": {"curl", "8_4_0", false},
		"core/release-1.2": {"core", "1.2", false}, "pkg-release-1.2.0": {"pkg", "1.2.0", false}, "2024-01-05": {"", "2024-01-05", false},
		// Words that hold rc, a1, b2 or dev are none.
		"search-v1.2": {"search", "1.2", false}, "arch-1.0": {"arch", "1.0", false}, "v10.0-march": {"", "10.0-march", false},
		"beta1-tools-1.0": {"beta1-tools", "1.0", false}, "devtools-1.0": {"devtools", "1.0", false}, "32.1.0-jre": {"", "32.1.0-jre", false},
		"24.3.0.post1": {"", "24.3.0.post1", false}, "1.2.3-1": {"", "1.2.3-1", false}, "v1.2.3+build.5": {"", "1.2.3+build.5", false},
		"1.0.0.Final": {"", "1.0.0.Final", false},
		// PEP 440 and semver.
		"3.0.0rc1": {"", "3.0.0rc1", true}, "1.0-a": {"", "1.0-a", true}, "1.0.0.beta0": {"", "1.0.0.beta0", true}, "v9.0.0RC1": {"", "9.0.0RC1", true},
		"0.13.0.dev2": {"", "0.13.0.dev2", true}, "v1.0.5-rc1": {"", "1.0.5-rc1", true}, "v2.0.0-beta.1": {"", "2.0.0-beta.1", true},
		"v2.0.0-alpha": {"", "2.0.0-alpha", true}, "5.0.0.M1": {"", "5.0.0.M1", true}, "1.0-SNAPSHOT": {"", "1.0-SNAPSHOT", true},
		"pkg-1.0b2": {"pkg", "1.0b2", true}, "nightly-2024.01": {"", "2024.01", true},
	} {
		got, ok := gitrepo.ParseVersion(tag)
		if diff := cmp.Diff(w, want{got.Package, got.Text, got.Pre}); !ok || diff != "" {
			t.Errorf("%s: %t (-want +got):\n%s", tag, ok, diff)
		}
	}
	for _, tag := range []string{"nightly", "2.1.x", "1.x", "v8,8", "latest", "fix-1234", "pre-commit", "", "v", "backup-2", "9999999999999999999999.1"} {
		if got, ok := gitrepo.ParseVersion(tag); ok {
			t.Errorf("%q is version %+v", tag, got)
		}
	}
}

func TestVersionOrder(t *testing.T) {
	t.Parallel()
	order := []string{"0.9", "1.0.dev1", "1.0a1", "1.0a2", "1.0b1", "v1.0.0-rc.1", "1.0rc2", "1.0rc10", "1.0", "1.0.post1", "1.0.1", "1.2", "1.10", "2024.1"}
	for i, a := range order {
		for j, b := range order {
			v, _ := gitrepo.ParseVersion(a)
			w, _ := gitrepo.ParseVersion(b)
			if got := v.Compare(w); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%s compared to %s: %d", a, b, got)
			}
		}
	}
	one, _ := gitrepo.ParseVersion("1.2")
	same, _ := gitrepo.ParseVersion("v1.2.0")
	if one.Compare(same) != 0 {
		t.Error("1.2 is not 1.2.0")
	}
}
