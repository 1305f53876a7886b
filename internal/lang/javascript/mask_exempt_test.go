package javascript

import "testing"

func TestMaskExempt(t *testing.T) {
	t.Parallel()
	for path, exempt := range map[string]bool{
		"lib/a.js":            false,
		"lib/a.test.js":       true,
		"lib/a_test.js":       true,
		"lib/latest.js":       false,
		"tests/helper.js":     true,
		"lib/__mocks__/fs.js": true,
		".mocharc.js":         true, "nycrc.js": true,
		"karma.conf.js":     true,
		"jest-setup.js":     true,
		"lib/jester.js":     false,
		"Gruntfile.js":      true,
		"gulpfile.js":       true,
		"lib/gruntfiles.js": false,
		"rollup.config.js":  true,
		".eslintrc.js":      true,
		"test.js":           true,
	} {
		if got := (Masker{}).Exempt(path, nil).Kind != ""; got != exempt {
			t.Errorf("%s: exempt %v, want %v", path, got, exempt)
		}
	}
	for path, known := range map[string]bool{"a.js": true, "a.mjs": true, "a.cjs": true, "a.jsx": true, "a.ts": false, "a.json": false} {
		if got := (Masker{}).Grammar(path) != ""; got != known {
			t.Errorf("%s: known %v, want %v", path, got, known)
		}
	}
}
