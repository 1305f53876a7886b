package php

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

func TestMask(t *testing.T) {
	t.Parallel()
	masktest.Golden(t, Masker{})
}

func FuzzMask(f *testing.F) { masktest.Fuzz(f, Masker{}, "src/file.php") }

func TestMaskCorpus(t *testing.T) {
	t.Parallel()
	masktest.Corpus(t, Masker{})
}

func TestMaskExempt(t *testing.T) {
	t.Parallel()
	for path, exempt := range map[string]bool{
		"src/Client.php":                    false,
		"src/Test/Constraint.php":           false, // a framework's gift to its users
		"src/latest.php":                    false,
		"tests/ClientTest.php":              true,
		"tests/bootstrap.php":               true,
		"src/Component/Tests/FooHelper.php": true,
		"app/FooTest.php":                   true,
		".php-cs-fixer.dist.php":            true,
	} {
		if got := (Masker{}).Exempt(path, nil).Kind != ""; got != exempt {
			t.Errorf("%s: exempt %v, want %v", path, got, exempt)
		}
	}
	for path, known := range map[string]bool{"a.php": true, "views/a.phtml": true, "a.phpt": false, "php": false} {
		if got := (Masker{}).Grammar(path) != ""; got != known {
			t.Errorf("%s: known %v, want %v", path, got, known)
		}
	}
}
