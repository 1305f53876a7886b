package spec

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

var update = flag.Bool("update", false, "write what is built into testdata")

func ships(p string) bool {
	part, rule := parts.Common(p)
	return part == schemas.PartCode && parts.Ships(p, part, rule)
}

// of is a specification of files, by path.
func of(t *testing.T, language string, entries []tree.Entry) Spec {
	t.Helper()
	tr, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return Build(Options{Name: "acme", Version: "v1.3", Language: language, Starter: tr, Ships: ships})
}

func files(of map[string]string) []tree.Entry {
	var out []tree.Entry
	for p, text := range of {
		out = append(out, tree.Entry{Path: p, Mode: tree.ModeFile, Data: []byte(text)})
	}
	return out
}

func TestBuild(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, language, source string
		documents              []string
		pictures               int
		reference              bool
		left                   map[string]int
		facts                  [4]int // Guide, Described, Public, Documented
	}{
		{"python", "python", FromDocs, []string{"README.md", "docs/index.rst", "docs/parts.md", "docs/guide.rst"}, 1, true, map[string]int{leftProject: 1, leftDirs: 1, leftPicture: 1, leftMissing: 2, leftNames: 1}, [4]int{257, 6, 6, 4}},
		{"go", "go", FromReadme, []string{"README.rst"}, 0, true, map[string]int{}, [4]int{0, 0, 4, 4}},
		{"mkdocs", "python", FromDocs, []string{"docs/en/index.md", "docs/en/use/second.md", "docs/en/use/first.md", "docs/en/other.md"}, 0, false, map[string]int{leftLanguage: 1}, [4]int{24, 1, 1, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(filepath.Join("testdata", c.name+".txtar"))
			if err != nil {
				t.Fatal(err)
			}
			var entries []tree.Entry
			for _, f := range archive.Files {
				entries = append(entries, tree.Entry{Path: f.Name, Mode: tree.ModeFile, Data: f.Data})
			}
			s := of(t, c.language, entries)
			if again := of(t, c.language, entries); !reflect.DeepEqual(s, again) {
				t.Error("two specifications of one tree differ")
			}
			golden := filepath.Join("testdata", c.name+".md")
			if *update {
				if err := os.WriteFile(golden, []byte(s.Markdown), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), s.Markdown); diff != "" {
				t.Errorf("%s (run with -update to write it): %s", golden, diff)
			}
			if diff := cmp.Diff(c.documents, s.Documents); diff != "" {
				t.Errorf("documents: %s", diff)
			}
			if diff := cmp.Diff(c.left, s.Left); diff != "" {
				t.Errorf("left out: %s", diff)
			}
			if got := [4]int{s.Guide, s.Described, s.Public, s.Documented}; got != c.facts {
				t.Errorf("words of a guide, objects described, public functions, documented ones: %v, want %v", got, c.facts)
			}
			if s.Source != c.source || len(s.Pictures) != c.pictures || s.Reference != c.reference {
				t.Errorf("source %s, %d pictures, reference %v", s.Source, len(s.Pictures), s.Reference)
			}
		})
	}
}

func TestBuildOfNothing(t *testing.T) {
	t.Parallel()
	s := of(t, "python", files(map[string]string{"a.py": "def f(): pass\n"}))
	if s.Source != FromSignatures || len(s.Documents) != 0 || !strings.Contains(s.Markdown, "def f()") {
		t.Errorf("%+v", s)
	}
}

func bodiesOf(t *testing.T, starter *tree.Tree) *seal.Bodies {
	t.Helper()
	bodies, err := seal.BodiesOf(starter, []byte(body), ships)
	if err != nil {
		t.Fatal(err)
	}
	return bodies
}

const starter = "def f(name, size):\n    raise NotImplementedError\n\n\ndef g(\n    other: dict[str, int] | None = None,\n    more: list[tuple[int, str]] = None,\n): ...\n"

// body is what a patch puts back.
const body = `diff --git a/a.py b/a.py
--- a/a.py
+++ b/a.py
@@ -1,2 +1,18 @@
 def f(name, size):
-    raise NotImplementedError
+    total = compute_total(name)
+    if total > size: return compute_none()
+
+    for piece in total:
+        log.debug(name, piece)
+        send_it(name, piece)
+        keep_it(name, piece, total)
+        count_it(total, size)
+    try:
+        read_it(name)
+    except OSError as e:
+        if e.name is None:
+            raise
+    class Inner:
+        other: dict[str, int] | None = None,
+        more: list[tuple[int, str]] = None,
+    return [transform_everything(name, piece) for piece in split_by(total)]
`

func TestCodeOfBodiesIsLeftOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		code string
		gone bool
	}{
		"two_lines":            {"x = 1\n>>> total = compute_total(name)\n>>> if total > size: return compute_none()", true},
		"two_lines_of_a_list":  {"total = compute_total(name)\n\n        if total > size: return compute_none()", true},
		"one_long_line":        {"return [transform_everything(name, piece) for piece in split_by(total)]", true},
		"three_short_lines":    {"for piece in more:\n  for piece in total:\n    log.debug(name, piece)\n    send_it(name, piece)", true},
		"two_short_lines":      {"log.debug(name, piece)\n    send_it(name, piece)", false},
		"words_of_an_example":  {"except OSError as e:\n    if e.name is None:\n        raise", false},
		"one_line":             {"total = compute_total(name)", false},
		"two_that_are_apart":   {"total = compute_total(name)\nprint(1)\nif total > size: return compute_none()", false},
		"two_of_a_signature":   {"other: dict[str, int] | None = None,\nmore: list[tuple[int, str]] = None,", false},
		"the_other_way_around": {"if total > size: return compute_none()\ntotal = compute_total(name)", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{"# T\n\n```python\n" + c.code + "\n```\n", "# T\n\nText:\n\n    " + strings.ReplaceAll(c.code, "\n", "\n    ") + "\n", "- item\n\n  ~~~\n  " + strings.ReplaceAll(c.code, "\n", "\n  ") + "\n  ~~~\n"} {
				tr, err := tree.New(files(map[string]string{"README.md": text, "a.py": starter}))
				if err != nil {
					t.Fatal(err)
				}
				o := Options{Name: "acme", Starter: tr, Language: "python", Ships: ships}
				bodies := bodiesOf(t, tr)
				if open := Build(o); Leak(open.Markdown, bodies) != "" != c.gone {
					t.Errorf("Leak of %s: %v", open.Markdown, !c.gone)
				}
				o.Bodies = bodies
				s := Build(o)
				if s.Redacted > 0 != c.gone || strings.Contains(s.Markdown, leftOut) != c.gone || Leak(s.Markdown, bodies) != "" {
					t.Errorf("%d blocks are left out of\n%s", s.Redacted, s.Markdown)
				}
			}
		})
	}
}

func TestDocumentOfBodiesIsLeftOut(t *testing.T) {
	t.Parallel()
	block := "```\ntotal = compute_total(name)\nif total > size: return compute_none()\n```\n\n"
	for text, redacted := range map[string]int{
		strings.Repeat(block, maxBlocks+1): maxBlocks + 1,
		// Words in sentences are no code.
		"Do `total = compute_total(name)`; `if total > size: return compute_none()`.\n\n- `for piece in total: log.debug(name, piece)`\n- `send_it(name, piece)`, `keep_it(name, piece, total)`, `count_it(total, size)`\n": 0,
	} {
		tr, err := tree.New(files(map[string]string{"README.md": "# T\n\nWords.\n\n" + text, "a.py": starter}))
		if err != nil {
			t.Fatal(err)
		}
		s := Build(Options{Name: "acme", Starter: tr, Language: "python", Ships: ships, Bodies: bodiesOf(t, tr)})
		if s.Left[leftLeak] != 1 || s.Redacted != redacted || strings.Contains(s.Markdown, "Words.") {
			t.Errorf("%+v", s)
		}
	}
}

func TestHostileTrees(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range 100_000 {
		many[fmt.Sprintf("docs/d%d/page%d.rst", i%100, i)] = "Title\n=====\n\ntext\n"
	}
	fan := map[string]string{"docs/index.rst": strings.Repeat(".. include:: big.inc\n\n", 20_000), "docs/big.inc": strings.Repeat("text\n\n", 100_000)}
	tower := map[string]string{}
	for i := range 30 {
		tower[fmt.Sprintf("docs/i%d.rst", i)] = strings.Repeat(fmt.Sprintf(".. include:: i%d.rst\n\n", i+1), 30)
	}
	linked := append(files(map[string]string{"docs/index.rst": "T\n=\n\n.. include:: out.rst\n\n.. include:: ../../../etc/passwd\n\n.. literalinclude:: /../../../etc/passwd\n\n.. image:: pic.png\n"}),
		tree.Entry{Path: "docs/out.rst", Mode: tree.ModeSymlink, Data: []byte("../../etc/passwd")}, tree.Entry{Path: "docs/pic.png", Mode: tree.ModeSymlink, Data: []byte("/dev/zero")})
	for name, c := range map[string]struct {
		entries []tree.Entry
		left    string
	}{
		"many_files":     {files(many), leftMany},
		"large_file":     {files(map[string]string{"docs/index.rst": strings.Repeat("text\n", 1<<20)}), leftLarge},
		"long_line":      {files(map[string]string{"docs/index.rst": strings.Repeat("`` ", maxLine)}), leftLarge},
		"not_text":       {files(map[string]string{"docs/index.rst": "\xff\xfe"}), leftUnread},
		"links":          {linked, leftLink},
		"loop":           {files(map[string]string{"docs/index.rst": "T\n=\n\n.. include:: a.inc\n", "docs/a.inc": ".. include:: b.inc\n", "docs/b.inc": ".. include:: a.inc\n\n.. include:: index.rst\n"}), leftMissing},
		"fan":            {files(fan), ""},
		"tower":          {files(tower), leftMissing},
		"nested_lists":   {files(map[string]string{"docs/index.rst": strings.Repeat("- ", 5000) + "x\n"}), ""},
		"nested_quotes":  {files(map[string]string{"docs/index.rst": nest(900)}), ""},
		"nested_boxes":   {files(map[string]string{"docs/index.md": boxes(300)}), ""},
		"brackets":       {files(map[string]string{"docs/index.md": strings.Repeat(strings.Repeat("[", 9000)+"\n", 90)}), ""},
		"own_substitute": {files(map[string]string{"docs/index.rst": ".. |a| replace:: |a| |a| |a|\n\nT\n=\n\n|a|\n"}), ""},
		"toctree_loop":   {files(map[string]string{"docs/index.rst": "T\n=\n\n.. toctree::\n\n   index\n   a\n", "docs/a.rst": "A\n=\n\n.. toctree::\n\n   index\n   a\n\ntext\n"}), ""},
		"aliased_menu":   {files(map[string]string{"mkdocs.yml": bomb(), "docs/index.md": "# T\n\ntext\n"}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := of(t, "python", c.entries)
			if c.left != "" && s.Left[c.left] == 0 {
				t.Errorf("left out is %v, without %q", s.Left, c.left)
			}
			if len(s.Markdown) > 2*maxText || len(s.Documents) > maxPages {
				t.Errorf("%d bytes of %d documents", len(s.Markdown), len(s.Documents))
			}
			if strings.Contains(s.Markdown, "root:") || len(s.Pictures) > 0 {
				t.Error("a file out of the tree is in it")
			}
		})
	}
}

func nest(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "x\n\n")
	}
	return b.String()
}

func boxes(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", 4*i) + "!!! note\n")
	}
	return b.String()
}

func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x.md, x.md]\n")
	for i := range 40 {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i, i)
	}
	return b.String() + "nav: *a40\n"
}

func FuzzBuild(f *testing.F) {
	for _, name := range []string{"python", "go", "mkdocs"} {
		archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range archive.Files {
			f.Add(string(x.Data))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := of(t, "python", files(map[string]string{"docs/index.rst": text, "docs/other.md": text, "code.py": text}))
		of(t, "go", files(map[string]string{"code.go": text}))
		if strings.ContainsAny(s.Markdown, heading+opens+closes) {
			t.Error("a mark is left in the text")
		}
	})
}

func TestHTML(t *testing.T) {
	t.Parallel()
	svg := `<svg xmlns="http://www.w3.org/2000/svg"/>`
	s := of(t, "python", files(map[string]string{
		"README.md": "# One *two*\n\n## A & `b_c`\n\ntext\n\n## A & `b_c`\n\n![p](p.svg) <script>alert(1)</script> <name> [x](javascript:alert(1)) ![far](https://example.com/a.png)\n\n| a |\n|---|\n| 1 |\n",
		"p.svg":     svg,
	}))
	page, err := s.HTML()
	if err != nil {
		t.Fatal(err)
	}
	html := string(page)
	for _, want := range []string{`<h3 id="a--b_c-1">`, `href="#a--b_c-1"`, `href="#one-two"`, `id="one-two"`, `src="data:image/svg+xml;base64,`, "<td>1</td>", "default-src 'none'", "&lt;name&gt;"} {
		if !strings.Contains(html, want) {
			t.Errorf("no %s in\n%s", want, html)
		}
	}
	for _, not := range []string{"<script", "javascript:", "example.com"} {
		if strings.Contains(html, not) {
			t.Errorf("%s in\n%s", not, html)
		}
	}
}
