package spec

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/internal/seal"
	"github.com/benchmint/benchmint/internal/tree"
)

const lathePatch = `diff --git a/src/lathe/core.py b/src/lathe/core.py
--- a/src/lathe/core.py
+++ b/src/lathe/core.py
@@ -18,1 +18,3 @@
-    raise NotImplementedError
+    spindle.hold(part, length)
+    spindle.spin(until=length * 2)
+    spindle.release(part)
`

// lathe is a library with pages that a tool has built.
func lathe(t *testing.T) Options {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/built.txtar")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Name: "lathe", Version: "1", Language: "python", Ships: ships, Built: &Pages{
		Tool: "Sphinx 7", Files: map[string][]byte{"_images/lathe.svg": []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")}, Lost: []string{"furo"},
	}}
	var entries []tree.Entry
	for _, f := range archive.Files {
		if path.Ext(f.Name) == ".html" {
			o.Built.Pages = append(o.Built.Pages, Page{Name: strings.TrimSuffix(f.Name, ".html"), HTML: string(f.Data)})
			continue
		}
		entries = append(entries, tree.Entry{Path: f.Name, Mode: tree.ModeFile, Data: f.Data})
	}
	if o.Starter, err = tree.New(entries); err != nil {
		t.Fatal(err)
	}
	if o.Bodies, err = seal.BodiesOf(o.Starter, []byte(lathePatch), ships); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestBuildOfPages(t *testing.T) {
	t.Parallel()
	o := lathe(t)
	s := Build(o)
	if again := Build(lathe(t)); !reflect.DeepEqual(s, again) {
		t.Error("two specifications of the same pages differ")
	}
	golden := filepath.Join("testdata", "built.md")
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
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"README.rst", "index.html", "guide/use.html"}, s.Documents); diff != "" || !s.Built || s.Source != FromDocs || s.Described != 3 || !s.Reference || len(s.Pictures) != 1 || s.Redacted != 1 {
		t.Errorf("%s%+v", diff, s)
	}
	if diff := cmp.Diff(map[string]int{leftProject: 1, leftPicture: 2, leftExtension: 1}, s.Left); diff != "" {
		t.Error(diff)
	}
	if leak := Leak(s.Markdown, o.Bodies); leak != "" {
		t.Errorf("%q", leak)
	}
	if _, err := s.HTML(); err != nil {
		t.Error(err)
	}
	o.Built.Pages[0].Includes = []string{"README.rst"}
	if s = Build(o); s.Documents[0] != "index.html" {
		t.Errorf("the readme is there beside the page that includes it: %v", s.Documents)
	}
	o.Built.Pages[0].Includes = nil
	o.Built.Pages[0].HTML += "<h2><em>Lathe</em></h2><p>Turns  <b>parts</b>.</p>"
	if s = Build(o); s.Documents[0] != "index.html" {
		t.Errorf("the readme is there beside the page that has its text: %v", s.Documents)
	}
	o.Built.Pages = o.Built.Pages[2:]
	if s = Build(o); s.Built || s.Source != FromReadme || s.Described != 0 || s.Left[leftExtension] != 0 {
		t.Errorf("of pages without documentation: %+v", s)
	}
}

func TestReadPages(t *testing.T) {
	t.Parallel()
	good := map[string]any{"tool": "Sphinx  7", "pages": []map[string]any{{"name": "a/b", "html": "x"}, {"name": "../c", "html": "x"}, {"name": ""}}, "files": map[string]string{"a.svg": base64.StdEncoding.EncodeToString([]byte("s")), "b": "!"}, "lost": []string{"furo"}}
	data, err := json.Marshal(good)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadPages(data)
	if diff := cmp.Diff(Pages{Tool: "Sphinx 7", Pages: []Page{{Name: "a/b", HTML: "x"}}, Files: map[string][]byte{"a.svg": []byte("s")}, Lost: []string{"furo"}}, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for _, bad := range []string{"", "{", "[]", `{"tool": "x"}`, `{"pages": [{"name": "a"}]}`, `{"tool": "x", "pages": [{"name": "/a"}]}`} {
		if _, err := ReadPages([]byte(bad)); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

// TestPagesOfAnyForm: pages come from code of strangers. What is too deep or too large is
// left out, and no page ends the program or leaves marks of ours in the text.
func TestPagesOfAnyForm(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]string{
		"empty":      "",
		"deep":       strings.Repeat("<div><blockquote>", 5000) + "x",
		"deep_lists": strings.Repeat("<dl><dt>a<dd>", 300) + "x",
		"no_terms":   "<dl></dl><dl class='py'><dd>x</dd></dl><dl><dd>x</dd></dl>",
		"no_names":   "<dl class='py'><dt class='sig'></dt><dd></dd></dl><h2></h2><pre></pre><a href='#x'></a><img><table></table><details></details>",
		"cells":      "<table><tr><td><table><tr><td><pre>a\nb</pre></td></tr></table><h2>T</h2></td></tr></table>",
		"marks":      "\x01\x02doc:x\x03 (benchmint-link-9) <a href='use.html'>[x]</a> <a href='javascript:x'>y</a>",
		"large":      "<p>" + strings.Repeat("x", maxPage) + "</p>",
		"scripts":    "<script>alert(1)</script><p onclick=x>&lt;script&gt;</p><template><p>x</p></template><svg><style><img src=x></style></svg>",
		"frames":     "<frameset><frame></frameset><plaintext>x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := lathe(t)
			o.Built.Pages = append(o.Built.Pages[:1:1], Page{Name: "use", HTML: "<h1>Use</h1><p>It.</p>" + page})
			s := Build(o)
			if name == "large" && slices.Contains(s.Documents, "use.html") {
				t.Error("a page that is too large is in the text")
			}
			if strings.ContainsAny(s.Markdown, "\x01\x02\x03") || strings.Contains(s.Markdown, "<script>alert") || !s.Built {
				t.Errorf("%.2000s", s.Markdown)
			}
			page, err := s.HTML()
			if err != nil || bytes.Contains(page, []byte("<script")) {
				t.Errorf("%v\n%.2000s", err, page)
			}
		})
	}
	// The library panics at a text without a letter; the page is left out then.
	b := newBook(lathe(t))
	body := element("body", element("p"))
	body.FirstChild.AppendChild(textNode("x"))
	body.FirstChild.FirstChild.Data = ""
	if _, err := converted(body); err == nil {
		t.Error("a text without a letter is rendered: there is no need of a recover any more")
	}
	if d, err := b.rendered(Page{Name: "x", HTML: "<p>x</p>"}, Pages{}, nil); err != nil || fmt.Sprint(d.blocks) != "[\x011x x]" {
		t.Errorf("%q, %v", d.blocks, err)
	}
}
