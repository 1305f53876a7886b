package outline

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/syntax"
)

var update = flag.Bool("update", false, "write the goldens again")

// dump is everything that a parsed file says, for goldens.
func dump(f *File) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %q broken %v\n", f.Package, f.Broken)
	for i, d := range f.Decls {
		fmt.Fprintf(&b, "decl %d %s %s parent %d lines %d-%d name %q", i, d.Kind, d.Qualified, d.Parent, d.Span.StartLine, d.Span.EndLine, f.Text(d.NameSpan))
		if d.Signature != "" {
			fmt.Fprintf(&b, " sig %q", d.Signature)
		}
		if d.Body.End > 0 {
			fmt.Fprintf(&b, " body %d-%d", d.Body.StartLine, d.Body.EndLine)
		}
		if d.Value.End > 0 {
			fmt.Fprintf(&b, " value %q", f.Text(d.Value))
		}
		if len(d.Params) > 0 {
			fmt.Fprintf(&b, " params %v", d.Params)
		}
		if len(d.Decorators) > 0 {
			fmt.Fprintf(&b, " decorators %q", d.Decorators)
		}
		b.WriteString("\n")
	}
	for _, i := range f.Imports {
		fmt.Fprintf(&b, "import %q %q %q parent %d line %d\n", i.Module, i.Name, i.As, i.Parent, i.Span.StartLine)
	}
	for _, u := range f.Uses {
		fmt.Fprintf(&b, "use %d %s %q of %q\n", u.Span.StartLine, u.Kind, u.Name, u.Of)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		language syntax.Language
		path     string
	}{{syntax.Go, "testdata/sample.go.txt"}, {syntax.Python, "testdata/sample.py.txt"}} {
		src, err := os.ReadFile(c.path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Parse(c.language, src)
		if err != nil {
			t.Fatal(err)
		}
		got, golden := dump(f), strings.TrimSuffix(c.path, ".txt")+".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.path, diff)
		}
	}
}

func mustParse(t *testing.T, l syntax.Language, src string) *File {
	t.Helper()
	f, err := Parse(l, []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestBrokenIsLocal(t *testing.T) {
	t.Parallel()
	f := mustParse(t, syntax.Python, "def good():\n    return 1\n\ndef bad():\n    return (1 +\n\n")
	if !f.Broken {
		t.Fatal("a file with a syntax error is not broken")
	}
	good := f.Find("good")
	if len(good) != 1 || f.Decls[good[0]].Broken {
		t.Errorf("good is missing or broken: %+v", f.Decls)
	}
}

func TestHostileSources(t *testing.T) {
	t.Parallel()
	for name, src := range map[string]string{
		"deep_parens": strings.Repeat("(", 20000) + strings.Repeat(")", 20000),
		"deep_lists":  "x = " + strings.Repeat("[", 5000),
		"not_utf8":    "x = '\xff\xfe'\ndef f\xff(): pass\n",
		"nul":         "a\x00b = 1\n",
		"empty":       "",
		"only_blank":  "\n\n  \n",
	} {
		for _, l := range []syntax.Language{syntax.Python, syntax.Go} {
			if _, err := Parse(l, []byte(src)); err != nil {
				t.Errorf("%s as %s: %v", name, l, err)
			}
		}
	}
	if _, err := Parse(syntax.Go, make([]byte, MaxSize+1)); !errors.Is(err, syntax.ErrTooLarge) {
		t.Errorf("a file over the limit gives %v", err)
	}
	if _, err := Parse("cobol", nil); err == nil {
		t.Error("an unknown language is parsed")
	}
}

func TestBound(t *testing.T) {
	t.Parallel()
	f := mustParse(t, syntax.Go, "package p\nfunc f(a int) { b := 1; for c := range x { func(d int) {}(c) } }\nvar e int\n")
	want := map[string]bool{"a": true, "b": true, "c": true, "d": true}
	if diff := cmp.Diff(want, f.Bound(f.Find("f")[0])); diff != "" {
		t.Errorf("bound names (-want +got):\n%s", diff)
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("testdata/sample.py.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := dump(mustParse(t, syntax.Python, string(src)))
	done := make(chan string)
	for range 8 {
		go func() {
			f, err := Parse(syntax.Python, src)
			if err != nil {
				done <- err.Error()
				return
			}
			done <- dump(f)
		}()
	}
	for range 8 {
		if got := <-done; got != want {
			t.Errorf("a concurrent parse differs:\n%s", cmp.Diff(want, got))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, path := range []string{"testdata/sample.go.txt", "testdata/sample.py.txt"} {
		src, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, l := range []syntax.Language{syntax.Python, syntax.Go} {
			file, err := Parse(l, src)
			if err != nil {
				continue
			}
			for i, d := range file.Decls {
				if d.Parent >= i || d.Span.End > len(src) || d.Span.Start > d.Span.End || !d.Span.Holds(d.NameSpan) && d.Kind != Field {
					t.Fatalf("%s: declaration %d: %+v of %d bytes", l, i, d, len(src))
				}
			}
			for _, u := range file.Uses {
				if u.Span.End > len(src) || u.Span.Start > u.Span.End {
					t.Fatalf("%s: use %+v of %d bytes", l, u, len(src))
				}
			}
		}
	})
}
