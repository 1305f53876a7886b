package describe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

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

// printer prints what it is given, or fails.
type printer struct{ err error }

func (p printer) Print(_ context.Context, page []byte, date time.Time) ([]byte, int, error) {
	return append([]byte(date.Format(time.DateOnly)), page...), 3, p.err
}

func released(t *testing.T) facts {
	t.Helper()
	code := "def turn(length):\n    \"\"\"Turns.\"\"\"\n    %s\n"
	entries := func(body string) []tree.Entry {
		return []tree.Entry{
			{Path: "README.md", Mode: tree.ModeFile, Data: []byte("# Lathe\n\nQuestions? ask Ann Lee <ann@lathe.io> or bot@code.io.\n\n![p](docs/p.svg)\n")},
			{Path: "docs/p.svg", Mode: tree.ModeFile, Data: []byte("<svg xmlns='http://www.w3.org/2000/svg'/>")},
			{Path: "lathe.py", Mode: tree.ModeFile, Data: fmt.Appendf(nil, code, body)},
		}
	}
	return facts{
		start:   schemas.Start{ChangeID: "acme__lathe-v1.library", Repo: "acme/lathe", Language: "python", Kind: schemas.KindLibrary},
		cut:     &schemas.Cut{Repo: "acme/lathe", Release: schemas.Release{Tag: "v1", Version: "1", Date: time.Date(2024, 1, 2, 0, 0, 0, 0, time.UTC)}},
		starter: planted(t, entries("raise NotImplementedError")),
		patch:   []byte("--- a/lathe.py\n+++ b/lathe.py\n@@ -3,1 +3,1 @@\n-    raise NotImplementedError\n+    return send('bot@code.io', length)\n"),
	}
}

func TestSpecification(t *testing.T) {
	t.Parallel()
	kept := blobs{}
	got, err := (&Specifier{Blobs: kept, Printer: printer{}, PrintedBy: "Browser 1"}).specify(t.Context(), released(t), languages)
	if err != nil {
		t.Fatal(err)
	}
	if got.Source != "readme" || got.Documents != 1 || got.Pages != 3 || got.Pictures != 1 || got.PrintedBy != "Browser 1" || got.WithoutPDF != "" || len(got.Files) != 3 {
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
		got, err := (&Specifier{Blobs: blobs{}, Printer: c.printer, PrintedBy: "Browser 1"}).specify(t.Context(), released(t), languages)
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

// Only libraries depend on what prints.
func TestSpecifies(t *testing.T) {
	t.Parallel()
	for kind, want := range map[schemas.Kind]bool{schemas.KindLibrary: true, schemas.KindFeature: false} {
		w := &world{start: schemas.Start{Kind: kind}}
		d := New(w, nil, nil, nil, Config{}).Specify(&Specifier{PrintedBy: "Browser 1"})
		if got := strings.HasSuffix(d.specifies("x"), "Browser 1"); got != want {
			t.Errorf("%s depends on it: %v", kind, got)
		}
	}
}
