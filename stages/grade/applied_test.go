package grade

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// TestApplied: what is mended and left out is in the grade, and what judges stays out of reach
// whatever a patch had to be mended of.
func TestApplied(t *testing.T) {
	t.Parallel()
	const solve = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n def f():\n-    return 1\n+    return 2"
	const stub = "diff --git a/out.png b/out.png\nnew file mode 100644\nindex 0000000..1111111\nBinary files /dev/null and b/out.png differ\n"
	const test = "--- a/tests/test_a.py\n+++ b/tests/test_a.py\n@@ -1,2 +1,5 @@\n def test_a():\n-    assert True\n+    pass\n"
	b := treeOf(t, base)
	s, err := b.Apply([]byte(testPatch))
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		patch  string
		strict bool
		want   schemas.Grade
		detail string
	}{
		"exact":         {patch: solve + "\n", want: schemas.Grade{Applied: schemas.AppliedExact, Files: []string{"x.py"}}},
		"line_end_lost": {patch: solve, strict: true, want: schemas.Grade{Applied: schemas.AppliedExact, Files: []string{"x.py"}, Mended: []string{"the last line end was lost"}}},
		"mended":        {patch: strings.Replace(solve, "-1,2 +1,2", "-1,1 +1,1", 1), want: schemas.Grade{Applied: schemas.AppliedMended, Files: []string{"x.py"}, Mended: []string{"the last line end was lost", "a hunk's header that counts its lines wrongly"}}},
		"strict":        {patch: strings.Replace(solve, "-1,2 +1,2", "-1,1 +1,1", 1), strict: true, want: schemas.Grade{Verdict: schemas.VerdictPatch}, detail: "had to be mended"},
		"stub":          {patch: stub + solve + "\n", want: schemas.Grade{Applied: schemas.AppliedOffset, Files: []string{"x.py"}, Left: []string{"out.png (a stub without content)"}}, detail: "left out: out.png"},
		"uses":          {patch: strings.Replace(solve, "return 2", "return __import__('gc')", 1) + "\n", want: schemas.Grade{Applied: schemas.AppliedExact, Files: []string{"x.py"}, Uses: []schemas.Use{{Path: "x.py", Line: 2, What: "importlib", Why: "runs or loads what a value names, which this list does not see"}}}},
		"uses_in_tests": {patch: solve + "\ndiff --git a/tests/test_mine.py b/tests/test_mine.py\nnew file mode 100644\n--- /dev/null\n+++ b/tests/test_mine.py\n@@ -0,0 +1 @@\n+import gc\n", want: schemas.Grade{Applied: schemas.AppliedExact, Files: []string{"x.py"}, Tampered: []string{"tests/test_mine.py"}}},
		"stub_alone":    {patch: stub, want: schemas.Grade{Verdict: schemas.VerdictEmpty, Left: []string{"out.png (a stub without content)"}}, detail: "nothing is left of the patch; left out: out.png"},
		"of_tests":      {patch: test + stub, want: schemas.Grade{Applied: schemas.AppliedMended, Mended: []string{"a hunk's header that counts its lines wrongly"}, Left: []string{"out.png (a stub without content)"}, Tampered: []string{"tests/test_a.py"}}, detail: "left out"},
		"too_large":     {patch: solve + "\ndiff --git a/b b/b\nnew file mode 100644\nindex 0000000..1111111\nGIT binary patch\nliteral 1500000000\nHcmV?d00001\n\n", want: schemas.Grade{Verdict: schemas.VerdictPatch}, detail: "too large to be read"},
		"refused":       {patch: strings.Replace(solve, "return 1", "return 3", 1), want: schemas.Grade{Verdict: schemas.VerdictPatch}, detail: "patch does not apply"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &Grader{rules: parts.New[lang.Language](python.Language{}), config: Config{Strict: tc.strict}}
			d := &prepared{task: Task{Trees: states.Trees{B: b, S: s, G: s, TestPatch: []byte(testPatch)}}, bench: &testrun.Bench{Case: testrun.Case{Lang: python.Language{}}}}
			var got schemas.Grade
			out, err := g.applied(t.Context(), d, []byte(tc.patch), &got)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got.Detail, tc.detail) || tc.detail == "" && got.Detail != "" {
				t.Errorf("detail %q", got.Detail)
			}
			got.Detail = ""
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if out != nil {
				if was, _ := out.Read("tests/test_a.py"); string(was) != "def test_a():\n    assert f() == 2\n" {
					t.Errorf("the test is %q", was)
				}
			}
		})
	}
}
