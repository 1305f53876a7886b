package csharp

import (
	"testing"

	"github.com/benchmint/benchmint/internal/mask/masktest"
)

func TestMask(t *testing.T) {
	t.Parallel()
	masktest.Golden(t, Masker{})
}

func FuzzMask(f *testing.F) { masktest.Fuzz(f, Masker{}, "src/File.cs") }

func TestMaskCorpus(t *testing.T) {
	t.Parallel()
	masktest.Corpus(t, Masker{})
}

func TestMaskExempt(t *testing.T) {
	t.Parallel()
	for path, exempt := range map[string]bool{
		"src/Polly.Core/Pipeline.cs":      false,
		"src/Polly.Testing/Descriptor.cs": false, // what a package gives its users
		"Src/Latest.cs":                   false,
		"src/Contests/A.cs":               false,
		"src/Attestation.cs":              false,
		"test/Polly.Core.Tests/Helper.cs": true,
		"Dapper.Tests/Helper.cs":          true,
		"Acme.Tests.Common/Helper.cs":     true,
		"src/Acme.UnitTest/Helper.cs":     true,
		"src/AcmeTests/Helper.cs":         true,
		"Polly.Specs/Helper.cs":           true,
		"src/Acme/PipelineTests.cs":       true,
	} {
		if got := (Masker{}).Exempt(path, nil).Kind != ""; got != exempt {
			t.Errorf("%s: exempt %v, want %v", path, got, exempt)
		}
	}
	for path, known := range map[string]bool{"A.cs": true, "a.csx": true, "a.cshtml": false, "a.csproj": false} {
		if got := (Masker{}).Grammar(path) != ""; got != known {
			t.Errorf("%s: known %v, want %v", path, got, known)
		}
	}
}
