package pair

import "testing"

func TestTogether(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"Add a limit to areas", "Fix the limit of areas", true},
		{"Let readers stop early", "Tests for reading that stops early", true},
		{"Fix encoding of Base64 bytes (#3)", "Closes GH-3", true},
		{"Fix encoding of Base64 bytes", "Fix encoding of Base64 strings", false},
		{"Fix #3", "Fix #33", false},
		{"Remove the deprecated `x` argument", "Remove the deprecated `y` argument", false},
		{"Add typed readers", "Revert \"Add typed readers\"", false},
		{"Update tests and docs", "Add tests and docs", false},
	} {
		a, b := said(tc.a, ""), said(tc.b, "")
		if together(a, b) != tc.want || together(b, a) != tc.want {
			t.Errorf("%q and %q: %v, want %v (%v, %v)", tc.a, tc.b, !tc.want, tc.want, a, b)
		}
	}
}

// What makes a release wishes nothing that a test could notice.
func TestReleasesWishNothing(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]bool{
		"Prepare for 2.15.0 release": false, "Bump version": false, "Bump version to 3.1.0 (#12)": false, "Release 1.2": false, "Release: v1.2.3": false,
		"Preparing the v1.2.0rc1 release": false, "chore(release): 4.5.6": false, "Set version to 1.2.dev0": false,
		"Release the lock of readers": true, "Bump the minimum number of readers": true, "Prepare tables before a release of memory": true, "Version tables by day": true,
	} {
		if got := said(title, "").wishes(); got != want {
			t.Errorf("%q wishes: %v, want %v", title, got, want)
		}
	}
}

func TestSeveral(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]bool{
		"Remove simplejson and deprecate itsdangerous.json": true,
		"parser: fixes long lines, adds `strict`":           true,
		"Fix the reader + support areas":                    true,
		"Fix the reader and add tests, and support areas":   true,
		"Fix #12 and #13":                         true,
		"Slice improvements":                      true,
		"api: small fixes (#4)":                   true,
		"Fix various typing issues":               true,
		"Record the fixes of a line":              false,
		"Fix long lines and add tests":            false,
		"Parse and validate dates":                false,
		"Catch the error and return None":         false,
		"Add `--force` and `--quiet` (#12) (#13)": false,
		"Rename `update` and `add`":               false,
		"Fix long lines, update changelog":        false,
		"Support reading and writing of areas":    false,
	} {
		if several(title) != want {
			t.Errorf("%q: %v", title, !want)
		}
	}
}
