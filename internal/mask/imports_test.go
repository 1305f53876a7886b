package mask_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/mask"
)

// TestImports: modules of the folder alone, in every form of an import, once each.
func TestImports(t *testing.T) {
	t.Parallel()
	dir := source(t, "-- lib/__init__.py --\n-- lib/a.py --\nimport os\nimport lib.b\nfrom lib.b import f\nfrom . import c\nimport lib.a\n\n\ndef g():\n    return f()\n"+
		"-- lib/b.py --\nimport numpy\n\n\ndef f():\n    return 1\n-- lib/c.py --\nfrom .b import f\n-- tests/test_a.py --\nimport lib.a\n")
	got, err := mask.Imports(t.Context(), dir, []mask.Language{tiny{}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"lib/__init__.py": nil, "lib/a.py": {"lib/__init__.py", "lib/b.py", "lib/c.py"}, "lib/b.py": nil, "lib/c.py": {"lib/b.py"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
