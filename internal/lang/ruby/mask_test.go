package ruby

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

func TestMask(t *testing.T) {
	t.Parallel()
	masktest.Golden(t, Masker{})
}

func FuzzMask(f *testing.F) { masktest.Fuzz(f, Masker{}, "lib/file.rb") }

func TestMaskCorpus(t *testing.T) {
	t.Parallel()
	masktest.Corpus(t, Masker{})
}

func TestMaskExempt(t *testing.T) {
	t.Parallel()
	for path, exempt := range map[string]bool{
		"lib/rack/request.rb":   false,
		"lib/rack/test/mock.rb": false, // what a gem gives its users
		"lib/contest.rb":        false,
		"config.ru":             false,
		"test/helper.rb":        true,
		"test/lib/helper.rb":    true,
		"spec/spec_helper.rb":   true,
		"lib/a_spec.rb":         true,
		"Rakefile":              true,
		"i18n.gemspec":          true,
	} {
		if got := (Masker{}).Exempt(path, nil).Kind != ""; got != exempt {
			t.Errorf("%s: exempt %v, want %v", path, got, exempt)
		}
	}
	for path, known := range map[string]bool{"a.rb": true, "config.ru": true, "Gemfile": true, "Gemfile.lock": false, "a.erb": false} {
		if got := (Masker{}).Grammar(path) != ""; got != known {
			t.Errorf("%s: known %v, want %v", path, got, known)
		}
	}
}
