package patch_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/benchmint/benchmint/internal/patch"
	"github.com/benchmint/benchmint/internal/tree"
)

const (
	code = "import os\n\n\ndef f(x):\n    y = x\n\n    return y\n\n\n\ndef g(x):\n    y = x\n\n    return -y\n"
	head = "diff --git a/pkg/a.py b/pkg/a.py\n--- a/pkg/a.py\n+++ b/pkg/a.py\n"
	// body changes g; its context ends with the file.
	body = "@@ -11,4 +11,4 @@\n def g(x):\n-    y = x\n+    y = x + 1\n \n     return -y\n"
	// early changes f; it ends in three empty lines of context.
	early = "@@ -4,7 +4,7 @@ import os\n def f(x):\n     y = x\n \n-    return y\n+    return y + 1\n \n \n \n"
)

func answered(t *testing.T) *tree.Tree {
	t.Helper()
	file := func(path, data string) tree.Entry {
		return tree.Entry{Path: path, Mode: tree.ModeFile, Data: []byte(data)}
	}
	return treeOf(t, file("pkg/a.py", code), file("a.py", "root\n"), file("crlf.txt", "one\r\ntwo\r\nthree\r\n"), file("mixed.txt", "one\r\ntwo\nthree\r\nfour\n"),
		file("blank.py", "if x:  \n    y\n\t\nz\n"), file("tail", "a\nb"), file("empty", ""), file("logo.png", "\x89PNG\x00\r\n\x01"), file("ä b.txt", "x\n"),
		tree.Entry{Path: "vendor/sub", Mode: tree.ModeModule, Data: []byte(strings.Repeat("1", 40))},
		tree.Entry{Path: "link", Mode: tree.ModeSymlink, Data: []byte("pkg/a.py")})
}

var (
	gone  = func(s string) string { return strings.Replace(code, "    return y\n", "    return y + 1\n", 1) }(code)
	inG   = strings.Replace(code, "def g(x):\n    y = x\n", "def g(x):\n    y = x + 1\n", 1)
	inFG  = strings.Replace(inG, "    return y\n", "    return y + 1\n", 1)
	added = "diff --git a/pkg/new.py b/pkg/new.py\nnew file mode 100644\nindex 0000000..1111111\n--- /dev/null\n+++ b/pkg/new.py\n@@ -0,0 +1,2 @@\n+a\n+b\n"
)

// TestAnswer: patches as models and harnesses write them down, and what must not be guessed.
func TestAnswer(t *testing.T) {
	t.Parallel()
	only := func(path, data string) map[string]string { return map[string]string{path: data} }
	const stub = "diff --git a/out.png b/out.png\nnew file mode 100644\nindex 0000000..a86cf8d\nBinary files /dev/null and b/out.png differ\n"
	const png = "diff --git a/out.png b/out.png\nnew file mode 100644\nindex 0000000000000000000000000000000000000000..4317c90164d3274bc760de1e06eca5952ea64a5b\nGIT binary patch\nliteral 9\nQcmeAS@N?(oVvynj01M3lssI20\n"
	for _, tc := range []struct {
		name, patch string
		want        map[string]string // against the tree; "-" for a path that is gone
		mended      []string
		left        []string
		conflict    string // what the error says
		empty       bool
	}{
		{name: "as_it_is", patch: head + body, want: only("pkg/a.py", inG)},
		{name: "new_file_of_compared_folders", patch: "diff --git b/x.txt b/x.txt\nnew file mode 100644\n--- /dev/null\n+++ b/x.txt\n@@ -0,0 +1 @@\n+x\n", want: only("x.txt", "x\n")},
		{name: "two_hunks_in_the_wrong_order", patch: head + strings.TrimSuffix(body, "\n") + "\n" + early, want: only("pkg/a.py", inFG), mended: []string{}},
		{name: "last_line_end", patch: head + strings.TrimSuffix(body, "\n"), want: only("pkg/a.py", inG), mended: []string{"the last line end was lost"}},
		{name: "last_line_end_of_a_new_file", patch: strings.TrimSuffix(added, "\n"), want: only("pkg/new.py", "a\nb\n"), mended: []string{"the last line end was lost"}},
		{name: "empty_context_at_the_end", patch: strings.TrimSpace(head + early), want: only("pkg/a.py", gone), mended: []string{"the last line end was lost", "a hunk's header that counts its lines wrongly"}},
		{name: "no_end_marker_kept", patch: "--- a/tail\n+++ b/tail\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file", want: only("tail", "a\nc"), mended: []string{"the last line end was lost"}},
		{name: "no_end_marker_lost", patch: "--- a/tail\n+++ b/tail\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", want: only("tail", "a\nc\n"), mended: []string{"blanks or a line end at the end of lines that the file has otherwise"}},
		{name: "no_end_marker_lost_and_lines_after", patch: "--- a/tail\n+++ b/tail\n@@ -1,2 +1,3 @@\n a\n b\n+c\n", want: only("tail", "a\nb\nc\n"), mended: []string{"blanks or a line end at the end of lines that the file has otherwise"}},
		{name: "no_end_marker_in_the_middle", patch: head + "@@ -4,2 +4,3 @@\n def f(x):\n+    pass\n\\ No newline at end of file\n     y = x\n", conflict: "not the file's last one"},
		{name: "crlf_patch", patch: strings.ReplaceAll(head+body+added, "\n", "\r\n"), want: map[string]string{"pkg/a.py": inG, "pkg/new.py": "a\nb\n"}, mended: []string{"line ends: CR LF in every line of the patch"}},
		{name: "crlf_hunks", patch: head + strings.ReplaceAll(body, "\n", "\r\n"), want: only("pkg/a.py", inG), mended: []string{"line ends: the file has LF, the patch CR LF"}},
		{name: "lf_patch_of_a_crlf_file", patch: "--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", want: only("crlf.txt", "one\r\n2\r\nthree\r\n"), mended: []string{"line ends: the file has CR LF, the patch LF"}},
		{name: "lf_patch_of_a_file_with_both", patch: "--- a/mixed.txt\n+++ b/mixed.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", conflict: "both kinds of line ends"},
		{name: "blank_ends", patch: "--- a/blank.py\n+++ b/blank.py\n@@ -1,4 +1,4 @@\n if x:\n-    y\n+    w\n\n z\n", want: only("blank.py", "if x:  \n    w\n\t\nz\n"), mended: []string{"blanks or a line end at the end of lines that the file has otherwise"}},
		{name: "leading_blanks_are_not_forgiven", patch: "--- a/blank.py\n+++ b/blank.py\n@@ -2,1 +2,1 @@\n-  y\n+    w\n", conflict: "not in the file"},
		{name: "counts_too_small", patch: head + strings.Replace(body, "-11,4 +11,4", "-11,2 +11,2", 1), want: only("pkg/a.py", inG), mended: []string{}},
		{name: "counts_too_small_with_changes_after", patch: head + "@@ -4,2 +4,2 @@\n def f(x):\n     y = x\n \n-    return y\n+    return y + 1\n", want: only("pkg/a.py", gone), mended: []string{"a hunk's header that counts its lines wrongly"}},
		{name: "counts_too_large", patch: head + strings.Replace(body, "-11,4 +11,4", "-11,6 +11,7", 1), want: only("pkg/a.py", inG), mended: []string{"a hunk's header that counts its lines wrongly"}},
		{name: "counts_too_large_before_another_file", patch: head + strings.Replace(early, "-4,7 +4,7", "-4,9 +4,8", 1) + added, want: map[string]string{"pkg/a.py": gone, "pkg/new.py": "a\nb\n"}, mended: []string{"a hunk's header that counts its lines wrongly"}},
		{name: "no_counts", patch: head + "@@ def g @@\n def g(x):\n-    y = x\n+    y = x + 1\n", want: only("pkg/a.py", inG), mended: []string{"lines that moved"}},
		{name: "cut", patch: head + "@@ -4,8 +4,8 @@\n def f(x):\n-    y = x\n", conflict: "it may be cut"},
		{name: "cut_after_one_of_three_lines", patch: head + "@@ -1,10 +1,12 @@\n import os\n \n \n-def f(x):\n+def f(z):\n     y = x\n", conflict: "it may be cut"},
		{name: "places_that_are_alike", patch: head + "@@ -1 +1 @@ f\n-    y = x\n+    y = x + 1\n@@ no numbers\n-    return y\n+    return y + 1\n", conflict: "2 places"},
		{name: "a_place_that_is_stated", patch: head + "@@ -12 +12 @@ g\n-    y = x\n+    y = x + 1\n@@ no numbers\n-    return y\n+    return y + 1\n", want: only("pkg/a.py", inFG), mended: []string{"lines that moved"}},
		{name: "no_context_at_all", patch: head + "@@ no numbers\n+x\n", conflict: "without any context"},
		{name: "fences_with_text_between", patch: "Both files:\n\n```diff\n" + head + "@@ -11,5 +11,4 @@\n def g(x):\n-    y = x\n+    y = x + 1\n \n     return -y\n```\n\nand\n\n```diff\n" + added + "```\n\n- done\n+ more\n", want: map[string]string{"pkg/a.py": inG, "pkg/new.py": "a\nb\n"}, mended: []string{"a hunk's header that counts its lines wrongly"}},
		{name: "fence_of_tildes", patch: "~~~patch\n" + head + body + "~~~\n", want: only("pkg/a.py", inG), mended: []string{}},
		{name: "fence_without_an_end", patch: "```diff\n" + head + body, want: only("pkg/a.py", inG), mended: []string{}},
		{name: "fenced_byte_order_mark", patch: "```diff\n\ufeff" + head + body + "```\n", want: only("pkg/a.py", inG), mended: []string{}},
		{name: "tags", patch: "<patch>\n" + head + body + "</patch>\n", want: only("pkg/a.py", inG), mended: []string{}},
		{name: "bullets_behind_it", patch: head + body + "\n- changed g\n- looked at f\n", want: only("pkg/a.py", inG), mended: []string{}},
		{name: "a_hunk_without_lines", patch: "--- /dev/null\n+++ b/pkg/new.py\n@@ -0,0 +1,2 @@\n" + head + body, conflict: "it has no lines"},
		{name: "signed", patch: head + body + "-- \nA Name\n", want: only("pkg/a.py", inG), mended: []string{}},
		{name: "given_twice", patch: "```\n" + head + body + "```\nonce more\n```\n" + head + body + "```\n", want: only("pkg/a.py", inG), mended: []string{"a file's part that is given twice"}},
		{name: "a_series", patch: "From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH 1/2] x\n\n---\n a | 1 +\n\n" + added + "-- \n2.39.5\n\nFrom 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nSubject: [PATCH 2/2] y\n\n---\n\ndiff --git a/pkg/new.py b/pkg/new.py\n--- a/pkg/new.py\n+++ b/pkg/new.py\n@@ -1,2 +1,3 @@\n a\n+middle\n b\n-- \n2.39.5", want: only("pkg/new.py", "a\nmiddle\nb\n"), mended: []string{"the last line end was lost"}},
		{name: "no_prefix", patch: "diff --git pkg/a.py pkg/a.py\n--- pkg/a.py\n+++ pkg/a.py\n" + body + strings.NewReplacer("a/pkg", "pkg", "b/pkg", "pkg").Replace(added), want: map[string]string{"pkg/a.py": inG, "pkg/new.py": "a\nb\n"}, mended: []string{"names without git's prefixes"}},
		{name: "no_prefix_new_file_alone", patch: "--- /dev/null\n+++ pkg/new.py\n@@ -0,0 +1,2 @@\n+a\n+b\n", want: only("pkg/new.py", "a\nb\n"), mended: []string{"names without git's prefixes"}},
		{name: "no_prefix_new_folder", patch: "--- /dev/null\n+++ fresh/new.py\n@@ -0,0 +1,2 @@\n+a\n+b\n", conflict: "in which folder"},
		{name: "absolute", patch: "--- /testbed/pkg/a.py\n+++ /testbed/pkg/a.py\n" + body + "--- /dev/null\n+++ /testbed/pkg/new.py\n@@ -0,0 +1,2 @@\n+a\n+b\n", want: map[string]string{"pkg/a.py": inG, "pkg/new.py": "a\nb\n"}, mended: []string{"names without git's prefixes"}},
		{name: "new_without_dev_null", patch: "--- a/pkg/new.py\n+++ b/pkg/new.py\n@@ -0,0 +1,3 @@\n+a\n+b\n", want: only("pkg/new.py", "a\nb\n"), mended: []string{"a hunk's header that counts its lines wrongly"}},
		{name: "escaped_once_more", patch: strings.ReplaceAll(head+body, "\n", `\n`), want: only("pkg/a.py", inG), mended: []string{`its line ends were written as \n`}},
		{name: "byte_order_mark", patch: "\ufeff" + head + body, want: only("pkg/a.py", inG), mended: []string{"a byte order mark before it"}},
		{name: "quoted_path", patch: "diff --git \"a/\\303\\244 b.txt\" \"b/\\303\\244 b.txt\"\n--- \"a/\\303\\244 b.txt\"\n+++ \"b/\\303\\244 b.txt\"\n@@ -1,2 +1,2 @@\n-x\n+y\n", conflict: "it may be cut"},
		{name: "path_with_blanks", patch: "--- a/ä b.txt\t2026-01-01 00:00:00 +0000\n+++ b/ä b.txt\t2026-01-01 00:00:00 +0000\n@@ no numbers\n-x\n+y\n", want: only("ä b.txt", "y\n"), mended: []string{"lines that moved"}},
		{name: "rename_and_stub", patch: "diff --git a/pkg/a.py b/pkg/c.py\nsimilarity index 90%\nrename from pkg/a.py\nrename to pkg/c.py\n--- a/pkg/a.py\n+++ b/pkg/c.py\n" + body + stub, want: map[string]string{"pkg/a.py": "-", "pkg/c.py": inG}, left: []string{"out.png (a stub without content)"}, mended: []string{}},
		{name: "mode_and_stub", patch: "diff --git a/a.py b/a.py\nold mode 100644\nnew mode 100755\n" + stub, want: only("a.py", "100755 root\n"), left: []string{"out.png (a stub without content)"}, mended: []string{}},
		{name: "new_empty_file_and_stub", patch: "diff --git a/pkg/__init__.py b/pkg/__init__.py\nnew file mode 100644\nindex 0000000..e69de29\n" + stub, want: only("pkg/__init__.py", ""), left: []string{"out.png (a stub without content)"}, mended: []string{}},
		{name: "stub_alone", patch: stub, left: []string{"out.png (a stub without content)"}, empty: true},
		{name: "stub_of_a_deleted_file", patch: "diff --git a/logo.png b/logo.png\ndeleted file mode 100644\nindex a86cf8d..0000000\nBinary files a/logo.png and /dev/null differ\n" + head + body, want: map[string]string{"logo.png": "-", "pkg/a.py": inG}, mended: []string{}},
		{name: "stubs_of_diff", patch: "Only in b/pkg: more.py\nBinary files a/logo.png and b/logo.png differ\n" + head + body, want: only("pkg/a.py", inG), left: []string{"b/pkg/more.py (a stub without content)", "logo.png (a stub without content)"}},
		{name: "binary_whole", patch: png + "\nliteral 0\nHcmV?d00001\n\n" + strings.TrimSuffix(head+body, "\n"), want: map[string]string{"out.png": "\x89PNG\r\n\x00\x1a\n", "pkg/a.py": inG}, mended: []string{"the last line end was lost"}},
		{name: "binary_without_its_end", patch: head + body + strings.TrimSuffix(png, "\n"), want: map[string]string{"out.png": "\x89PNG\r\n\x00\x1a\n", "pkg/a.py": inG}, mended: []string{"the last line end was lost"}},
		{name: "binary_cut", patch: head + body + strings.TrimSuffix(png, "ssI20\n"), want: only("pkg/a.py", inG), left: []string{"out.png (binary content that cannot be read)"}, mended: []string{"the last line end was lost"}},
		{name: "submodules", patch: "diff --git a/vendor/sub b/vendor/sub\nindex 1111111..2222222 160000\n--- a/vendor/sub\n+++ b/vendor/sub\n@@ -1 +1 @@\n-Subproject commit " + strings.Repeat("1", 40) + "\n+Subproject commit " + strings.Repeat("1", 40) + "-dirty\ndiff --git a/inner b/inner\nnew file mode 160000\nindex 0000000..3333333\n--- /dev/null\n+++ b/inner\n@@ -0,0 +1 @@\n+Subproject commit " + strings.Repeat("3", 40) + "\n" + head + body, want: only("pkg/a.py", inG), left: []string{"vendor/sub (a submodule)", "inner (a submodule)"}, mended: []string{}},
		{name: "a_link_without_its_marker", patch: "diff --git a/l2 b/l2\nnew file mode 120000\n--- /dev/null\n+++ b/l2\n@@ -0,0 +1,2 @@\n+a.py\n", want: only("l2", "120000 a.py"), mended: []string{"a hunk's header that counts its lines wrongly"}},
		{name: "through_a_link", patch: "--- /dev/null\n+++ b/link/x\n@@ -0,0 +1,2 @@\n+x\n", conflict: "unsafe"},
		{name: "out_of_the_tree", patch: "--- /dev/null\n+++ b/../../x\n@@ -0,0 +1,2 @@\n+x\n", conflict: "unsafe"},
		{name: "prose", patch: "I have fixed it.\n", conflict: "no file in it"},
		{name: "a_merge", patch: "diff --cc pkg/a.py\nindex 1,2..3\n--- a/pkg/a.py\n+++ b/pkg/a.py\n@@@ -1,1 -1,1 +1,1 @@@\n- x\n -y\n++z\n", conflict: "a merge"},
		{name: "all_or_nothing", patch: head + body + "--- a/none.py\n+++ b/none.py\n@@ -1 +1 @@\n-x\n+y\n", conflict: "not in the tree"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			before := answered(t)
			got, err := patch.Answer(t.Context(), before, []byte(tc.patch))
			if tc.conflict != "" {
				if err == nil || !errors.Is(err, patch.ErrConflict) && !errors.Is(err, tree.ErrUnsafe) || !strings.Contains(err.Error(), tc.conflict) {
					t.Fatalf("error %v, mended %q; want a conflict that says %q", err, got.Mended, tc.conflict)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := entriesOf(before)
			for p, data := range tc.want {
				switch {
				case data == "-":
					delete(want, p)
				case strings.HasPrefix(data, "1"):
					want[p] = data
				default:
					want[p] = tree.ModeFile + " " + data
				}
			}
			if diff := cmp.Diff(want, entriesOf(got.Tree)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.left, got.Left); diff != "" {
				t.Error(diff)
			}
			if len(tc.mended)+len(got.Mended) > 0 && cmp.Diff(tc.mended, got.Mended) != "" {
				t.Errorf("mended: %q", got.Mended)
			}
			if got.Empty != tc.empty {
				t.Errorf("empty: %t", got.Empty)
			}
		})
	}
}

// spoiled are patches as they come through the hands of models and harnesses.
var spoiled = map[string]func(string) string{
	"as_it_is":      func(s string) string { return s },
	"stripped":      strings.TrimSpace,
	"blank_ends":    func(s string) string { return regexp.MustCompile(`(?m)[ \t\r]+$`).ReplaceAllString(s, "") },
	"crlf":          func(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n") },
	"lf":            func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") },
	"fenced":        func(s string) string { return "Here:\n\n```diff\n" + s + "```\n\n- f\n" },
	"without_git":   func(s string) string { return regexp.MustCompile(`(?m)^(diff|index) .*\n`).ReplaceAllString(s, "") },
	"one_too_many":  func(s string) string { return newCount.ReplaceAllString(s, "+$1,1$2 @@") },
	"without_count": func(s string) string { return regexp.MustCompile(`(?m)^(@@ -\d+).*$`).ReplaceAllString(s, "$1") },
	"twice_escaped": func(s string) string {
		return strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(s)
	},
}

var newCount = regexp.MustCompile(`\+(\d+),(\d+) @@`)

// TestRandomAnswers: a spoiled patch does what git makes of the whole one, or nothing at all.
func TestRandomAnswers(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	n := 0
	taken := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		n++
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "", "\tx", "x \t", "é", "d", "e", "f", "g"}), 1, 20).Draw(t, "lines")
		end := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "end")
		made := slices.Clone(lines)
		for i := range rapid.IntRange(1, 3).Draw(t, "edits") {
			at := rapid.IntRange(0, len(made)).Draw(t, "at")
			upto := min(len(made), at+rapid.IntRange(0, 2).Draw(t, "gone"))
			made = slices.Replace(made, at, upto, slices.Repeat([]string{fmt.Sprint("new", i)}, rapid.IntRange(0, 2).Draw(t, "new"))...)
		}
		dir := filepath.Join(top, fmt.Sprint(n))
		text := func(lines []string) string { return strings.Join(append(slices.Clone(lines), ""), end) }
		for side, s := range map[string]string{"a": text(lines), "b": text(made)} {
			if err := errors.Join(os.MkdirAll(filepath.Join(dir, side), 0o755), os.WriteFile(filepath.Join(dir, side, "f"), []byte(s), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("git", "diff", "--no-index", "--no-prefix", "a/f", "b/f")
		cmd.Dir = dir
		out, _ := cmd.Output() // it says 1 where there is a difference
		if len(out) == 0 {
			return
		}
		before, err := tree.New([]tree.Entry{{Path: "f", Mode: tree.ModeFile, Data: []byte(text(lines))}})
		if err != nil {
			t.Fatal(err)
		}
		for kind, spoil := range spoiled {
			got, err := patch.Answer(t.Context(), before, []byte(spoil(string(out))))
			if errors.Is(err, patch.ErrConflict) {
				continue
			}
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			taken[kind]++
			if b, _ := got.Tree.Read("f"); string(b) != text(made) {
				t.Fatalf("%s (%q) makes %q, not %q, of\n%s", kind, got.Mended, b, text(made), out)
			}
		}
	})
	for kind := range spoiled {
		if share := float64(taken[kind]) / float64(n); share < 0.4 {
			t.Errorf("%s: %.0f %% are taken", kind, 100*share)
		}
	}
}
