package seal

import "testing"

// TestPEP440Later goes by PEP 440's order, which is not that of numbers alone.
func TestPEP440Later(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		version, base string
		want          bool
	}{
		{"1.10.0", "v1.9.0", true},
		{"1.9.0", "v1.10.0", false},
		{"1.9.0", "1.9", false},
		{"1.9.0.post1", "widget-1.9.0", true},
		{"1.9.0.dev1", "1.9.0", false},
		{"1.9.0rc1", "1.9.0", false},
		{"1!1.0", "2.0", true},
		{"no version", "1.9.0", true},
		{"1.0", "main", true},
	} {
		if got := pep440Later(c.version, c.base); got != c.want {
			t.Errorf("%s later than %s: got %v, want %v", c.version, c.base, got, c.want)
		}
	}
}
