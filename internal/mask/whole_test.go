package mask

import "testing"

func TestWholeByPath_Minified(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]bool{
		"a.min.js": true, "dist/a-min.js": true, "a.min.mjs": true, "a.bundle.js": true, "min.js": false, "amin.js": false, "lib/min/a.js": false,
	} {
		if got := wholeByPath("javascript", p).is(); got != want {
			t.Errorf("wholeByPath of %q: %t", p, got)
		}
	}
}
