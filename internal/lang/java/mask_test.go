package java

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

func TestMask(t *testing.T) {
	t.Parallel()
	masktest.Golden(t, Masker{})
}

func FuzzMask(f *testing.F) { masktest.Fuzz(f, Masker{}, "A.java") }

func TestMaskCorpus(t *testing.T) {
	t.Parallel()
	masktest.Corpus(t, Masker{})
}
