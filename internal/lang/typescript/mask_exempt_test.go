package typescript

import "testing"

func TestMaskExempt(t *testing.T) {
	t.Parallel()
	for path, exempt := range map[string]bool{
		"lib/a.ts":         false,
		"lib/a.d.ts":       true,
		"lib/a.d.mts":      true,
		"lib/a.d.cts":      true,
		"lib/a.spec.ts":    true,
		"vitest.config.ts": true,
	} {
		if got := (Masker{}).Exempt(path, nil).Kind != ""; got != exempt {
			t.Errorf("%s: exempt %v, want %v", path, got, exempt)
		}
	}
	for path, known := range map[string]bool{"a.ts": true, "a.mts": true, "a.cts": true, "a.tsx": true, "a.js": false} {
		if got := (Masker{}).Grammar(path) != ""; got != known {
			t.Errorf("%s: known %v, want %v", path, got, known)
		}
	}
}
