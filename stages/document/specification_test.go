package document

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/pdf"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

// blobs keeps bytes in memory.
type blobs map[schemas.Digest]string

func (b blobs) Put(data []byte) (schemas.Digest, error) {
	d := schemas.DigestBytes(data)
	b[d] = string(data)
	return d, nil
}

func (b blobs) Get(d schemas.Digest) ([]byte, error) {
	data, ok := b[d]
	if !ok {
		return nil, fmt.Errorf("no blob %s", d)
	}
	return []byte(data), nil
}

// printer prints what it is given, or fails.
type printer struct{ err error }

func (p printer) Print(_ context.Context, page []byte, date time.Time) ([]byte, int, error) {
	return append([]byte(date.Format(time.DateOnly)), page...), 3, p.err
}

func planted(t *testing.T, files map[string]string) *tree.Tree {
	t.Helper()
	entries := make([]tree.Entry, 0, len(files))
	for p, data := range files {
		entries = append(entries, tree.Entry{Path: p, Mode: tree.ModeFile, Data: []byte(data)})
	}
	tr, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func released(t *testing.T) facts {
	t.Helper()
	return facts{
		start:   schemas.Start{ChangeID: "acme__lathe-v1.library", Repo: "acme/lathe", Language: "python", Kind: schemas.KindLibrary},
		release: schemas.Release{Tag: "v1", Version: "1", Date: time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC)},
		starter: planted(t, map[string]string{
			"README.md":  "# Lathe\n\nQuestions? ask Ann Lee <ann@lathe.io> or bot@code.io.\n\n![p](docs/p.svg)\n",
			"docs/p.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>",
			"lathe.py":   "def turn(length):\n    \"\"\"Turns.\"\"\"\n    raise NotImplementedError\n",
		}),
		patch: []byte("diff --git a/lathe.py b/lathe.py\n--- a/lathe.py\n+++ b/lathe.py\n@@ -3,1 +3,3 @@\n-    raise NotImplementedError\n+    spindle = mount('bot@code.io', length)\n+    spindle.spin(until=length * 2)\n+    return spindle.result\n"),
	}
}

func specifier(kept blobs, p Printer) *Documenter {
	b := &environment.Builder{Languages: map[string]lang.Language{"python": python.Language{}}}
	return New(b, environment.Projects{}, Outside{Blobs: kept, Printer: p, PrintedBy: "Browser 1"}, Asked{Source: "readme"})
}

func TestSpecification(t *testing.T) {
	t.Parallel()
	kept := blobs{}
	got, err := specifier(kept, printer{}).specify(t.Context(), released(t))
	if err != nil {
		t.Fatal(err)
	}
	if got.Source != "readme" || got.Reader != "files" || got.Documents != 1 || got.Pages != 3 || got.Pictures != 1 || got.PrintedBy != "Browser 1" || got.WithoutPDF != "" || len(got.Files) != 3 {
		t.Errorf("%+v", got)
	}
	text := kept[got.Files[0].Digest]
	if !strings.Contains(text, "ask <name> <<email>> or bot@code.io.") || !strings.Contains(text, "def turn(length)") || strings.Contains(text, "NotImplementedError") {
		t.Error(text)
	}
	var rules []string
	for _, m := range got.Masked {
		rules = append(rules, m.Rule)
	}
	if strings.Join(rules, " ") != "name email" || got.Words != len(strings.Fields(text)) {
		t.Errorf("masked %v, %d words", got.Masked, got.Words)
	}
	printed := kept[got.Files[1].Digest]
	if got.Files[1].Path != schemas.SpecificationPDF || !strings.HasPrefix(printed, "2024-01-02<!doctype html>") || strings.Contains(printed, "ann@") {
		t.Errorf("%s: %.40q", got.Files[1].Path, printed)
	}
}

// TestSpecificationOfPages: pages that a tool built go through the gates of all texts, and
// pages without a word of documentation are no reason to have less than the files say.
func TestSpecificationOfPages(t *testing.T) {
	t.Parallel()
	const lathe = `<h1 id="use">Use</h1><p>Turn it, ask Ann Lee &lt;ann@lathe.io&gt;.</p>` +
		`<dl class="py function"><dt class="sig" id="lathe.turn"><span class="sig-name descname">turn</span>(<em>length</em>)</dt><dd><p>Turns.</p></dd></dl>` +
		`<pre>spindle = mount('bot@code.io', length)\nspindle.spin(until=length * 2)\nreturn spindle.result</pre>`
	for name, c := range map[string]struct{ page, reader, by, notBuilt string }{
		"documentation": {fmt.Sprintf(`{"name": "use", "title": "Use", "html": %q}`, strings.ReplaceAll(lathe, `\n`, "\n")), "sphinx", "Sphinx 7", ""},
		"changes_alone": {`{"name": "changelog", "title": "Changes", "html": "<h1>Changes</h1><p>New.</p>"}`, "files", "", "its pages hold no documentation"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := blobs{}
			f := released(t)
			pages, _ := kept.Put([]byte(`{"tool": "Sphinx 7", "pages": [` + c.page + `], "files": {}}`))
			f.built = Built{Tool: "sphinx", Pages: pages, Packages: 12}
			got, err := specifier(kept, printer{}).specify(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			if got.Reader != c.reader || got.BuiltBy != c.by || got.NotBuilt != c.notBuilt || (got.Packages == 12) != (c.by != "") {
				t.Errorf("%+v", got)
			}
			if c.by == "" {
				return
			}
			text := kept[got.Files[0].Digest]
			for _, want := range []string{"Turn it, ask <name> <<email>>", "[code left out: it holds lines of the implementation]", "turn(length)"} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if strings.Contains(text, "spindle.spin") || got.Redacted != 1 || got.Described != 1 || strings.Contains(text, "ann@") {
				t.Errorf("%d redacted, %d described:\n%s", got.Redacted, got.Described, text)
			}
		})
	}
}

func TestSpecificationWithoutPDF(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		printer Printer
		why     string
		failed  bool
	}{
		"none": {nil, "no Chromium on the machine (Debian package chromium)", false}, "page": {printer{fmt.Errorf("%w: slow", pdf.ErrFailed)}, "chromium prints no PDF", false},
		"machine": {printer{errors.New("killed")}, "", true},
	} {
		got, err := specifier(blobs{}, c.printer).specify(t.Context(), released(t))
		var no *pipeline.Rejected
		if c.failed {
			if err == nil || errors.As(err, &no) {
				t.Errorf("%s: %v is a verdict", name, err)
			}
			continue
		}
		if err != nil || got.WithoutPDF != c.why || got.PrintedBy != "" || got.Pages != 0 || len(got.Files) != 2 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
