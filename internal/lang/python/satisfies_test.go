package python

import "testing"

// TestSatisfies holds what is read of a range of interpreters against what pip makes of it.
func TestSatisfies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, spec string
		want          bool
	}{
		{"3.12.1", "", true},
		{"3.12.1", ">=3.8", true},
		{"3.7.9", ">=3.8", false},
		{"3.12.1", ">=3.8, <4", true},
		{"3.12.1", "<4,>=3.13", false},
		{"3.12.1", ">=3.13,<4", false},
		{"3.12.1", "===3.11,<4", false},
		{"3.12.1", ">=3.8, ===3.11", false},
		{"3.12.1", ">=3.13,===3.12.1", false},
		{"3.5.10", ">=3.6.*", false},
		{"3.12.1", ">=3.8,", true},
		{"3.7.9", ">=3.8,", false},
		{"3.12.1", ">=3.8,<3.12", false},
		{"3.12.1", "~=3.8", true},
		{"4.0", "~=3.8", false},
		{"3.12.1", "==3.12.*", true},
		{"3.12.1", "==3.12", false},
		{"3.9.2", "!=3.9.*", false},
		{"3.10.2", "!=3.9.*", true},
		{"3.12.1", "===3.12.1", true},
		{"3.12.1", "=== 3.12", false},
		{"3.12.1", "<4.0.0a0", true},
		{"3.12.1", "a range of somebody", true},
		{"somebody's", ">=3.8", true},
	} {
		if got := satisfies(c.version, c.spec); got != c.want {
			t.Errorf("%s fits %q: got %v, want %v", c.version, c.spec, got, c.want)
		}
	}
}
