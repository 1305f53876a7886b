package java

import "testing"

func TestMaskExempt(t *testing.T) {
	t.Parallel()
	for path, exempt := range map[string]bool{
		"src/main/java/a/A.java":          false,
		"src/main/java/test/A.java":       false,
		"src/test/java/A.java":            true,
		"src/testFixtures/java/A.java":    true,
		"src/integrationTest/java/A.java": true,
		"src/it/java/A.java":              true,
		"src/jmh/java/A.java":             true,
		"src/java/A.java":                 false,
		"test/A.java":                     true,
		"core/tests/A.java":               true,
		"testing/A.java":                  false,
		"it/A.java":                       false,
	} {
		if got := (Masker{}).Exempt(path, nil).Kind != ""; got != exempt {
			t.Errorf("%s: exempt %v, want %v", path, got, exempt)
		}
	}
	for path, known := range map[string]bool{"A.java": true, "A.kt": false} {
		if got := (Masker{}).Grammar(path) != ""; got != known {
			t.Errorf("%s: known %v, want %v", path, got, known)
		}
	}
}
