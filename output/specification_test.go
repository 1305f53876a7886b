package output

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/schemas"
)

// written is a specification whose files lie in a folder of a dataset.
func written(t *testing.T) (*checker, Located, *schemas.Specification) {
	t.Helper()
	c := &checker{d: &Dataset{Dir: t.TempDir()}}
	r := Located{Row: Row{InstanceID: "acme__lathe-v1.library"}}
	s := &schemas.Specification{Source: "docs", Reader: "files", Documents: 2, Words: 3, Pages: 1, Pictures: 1, PrintedBy: "Browser 1"}
	for name, text := range map[string]string{schemas.SpecificationText: "# a b", schemas.SpecificationPDF: "%PDF", "pictures/p.svg": "<svg/>"} {
		file := filepath.Join(c.d.Dir, TasksDir, r.InstanceID, SpecDir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s.Files = append(s.Files, schemas.SpecificationFile{Path: name, Digest: schemas.DigestBytes([]byte(text))})
	}
	return c, r, s
}

func TestCheckSpecification(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		change func(dir string, s *schemas.Specification) error
		want   string
	}{
		"good": {func(string, *schemas.Specification) error { return nil }, ""},
		"other": {func(dir string, _ *schemas.Specification) error {
			return os.WriteFile(filepath.Join(dir, "specification.pdf"), nil, 0o644)
		}, "specification.pdf is not the file that the row names"},
		"gone": {func(dir string, _ *schemas.Specification) error {
			return os.Remove(filepath.Join(dir, "pictures", "p.svg"))
		}, "pictures/p.svg is not there"},
		"more": {func(dir string, _ *schemas.Specification) error {
			return os.WriteFile(filepath.Join(dir, "x"), nil, 0o644)
		}, "spec/x is not a file that the row names"},
		"words": {func(_ string, s *schemas.Specification) error { s.Words = 4; return nil }, "has 3 words; the row says 4"},
		"none":  {func(dir string, _ *schemas.Specification) error { return os.RemoveAll(dir) }, "no such file"},
	} {
		c, r, s := written(t)
		if err := x.change(filepath.Join(c.d.Dir, TasksDir, r.InstanceID, SpecDir), s); err != nil {
			t.Fatal(err)
		}
		c.specification(r, s)
		if got := said(c.findings); x.want == "" && got != "" || !strings.Contains(got, x.want) {
			t.Errorf("%s: %q has no %q", name, got, x.want)
		}
	}
	c, r, _ := written(t)
	if c.specification(r, nil); !strings.Contains(said(c.findings), "the row names no specification") {
		t.Error("a folder that no row names is taken")
	}
}

// specificationCase is a change to a specification, and what is said of it; "" is nothing.
type specificationCase struct {
	change func(*schemas.Specification)
	want   string
}

func lintSpecifications(t *testing.T, cases map[string]specificationCase) {
	t.Helper()
	for name, x := range cases {
		_, _, s := written(t)
		x.change(s)
		l := &linter{}
		l.specification(s)
		if got := said(l.findings); x.want == "" && got != "" || !strings.Contains(got, x.want) {
			t.Errorf("%s: %q has no %q", name, got, x.want)
		}
	}
}

// TestLintReaders: a row says how its documentation was read, and nothing beside that.
func TestLintReaders(t *testing.T) {
	t.Parallel()
	lintSpecifications(t, map[string]specificationCase{
		"files":           {func(*schemas.Specification) {}, ""},
		"files_of_a_tool": {func(s *schemas.Specification) { s.NotBuilt = "no theme" }, ""},
		"pages": {func(s *schemas.Specification) {
			s.Reader, s.BuiltBy, s.Packages, s.Described = "sphinx", "Sphinx 7", 9, 3
		}, ""},
		"of_mkdocs":      {func(s *schemas.Specification) { s.Reader, s.BuiltBy, s.Packages = "mkdocs", "MkDocs 1", 9 }, ""},
		"no_such_reader": {func(s *schemas.Specification) { s.Reader, s.BuiltBy, s.Packages = "pdoc", "pdoc 1", 9 }, `read as "pdoc"`},
		"no_such_source": {func(s *schemas.Specification) { s.Source = "hearsay" }, `source is "hearsay"`},
		"by_nobody":      {func(s *schemas.Specification) { s.Reader, s.Packages = "sphinx", 9 }, "do not go with reader"},
		"of_no_packages": {func(s *schemas.Specification) { s.Reader, s.BuiltBy = "sphinx", "Sphinx 7" }, "do not go with reader"},
		"built_and_not": {func(s *schemas.Specification) {
			s.Reader, s.BuiltBy, s.Packages, s.NotBuilt = "sphinx", "Sphinx 7", 9, "no theme"
		}, "do not go with reader"},
		"readme_of_a_tool": {func(s *schemas.Specification) {
			s.Reader, s.BuiltBy, s.Packages, s.Source = "sphinx", "Sphinx 7", 9, "readme"
		}, "do not go with reader"},
		"files_by_a_tool": {func(s *schemas.Specification) { s.BuiltBy = "Sphinx 7" }, "do not go with reader"},
		"files_describe":  {func(s *schemas.Specification) { s.Described = 3 }, ""},
		"documented":      {func(s *schemas.Specification) { s.Public, s.Documented = 3, 4 }, "4 of 3 public functions documented: out of range"},
	})
}

func said(all []Finding) string {
	var out []string
	for _, f := range all {
		out = append(out, f.Message)
	}
	return strings.Join(out, "\n")
}

func TestLintSpecification(t *testing.T) {
	t.Parallel()
	lintSpecifications(t, map[string]specificationCase{
		"good":        {func(*schemas.Specification) {}, ""},
		"source":      {func(s *schemas.Specification) { s.Source = "web" }, `source is "web"`},
		"documents":   {func(s *schemas.Specification) { s.Documents = 0 }, "0 documents of source docs"},
		"pictures":    {func(s *schemas.Specification) { s.Pictures = 2 }, "not 2 pictures"},
		"outside":     {func(s *schemas.Specification) { s.Files[0].Path = "../x" }, `"../x" is not a path`},
		"printed":     {func(s *schemas.Specification) { s.PrintedBy = "" }, "do not say whether there is a PDF"},
		"two_reasons": {func(s *schemas.Specification) { s.WithoutPDF = "no browser" }, "do not say whether there is a PDF"},
		"no_pages":    {func(s *schemas.Specification) { s.Pages = 0 }, "do not say whether there is a PDF"},
	})
	l := &linter{}
	if l.specification(nil); !strings.Contains(said(l.findings), "is null") {
		t.Error("a library without a specification is taken")
	}
}

func TestDrawn(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"tasks/a/spec/specification.pdf": true, "tasks/a/spec/pictures/1.png": true, "tasks/a/spec/pictures/1.svg": false, "tasks/a/spec/specification.md": false, "tasks/a/specification.pdf": false,
	} {
		if drawn(name) != want {
			t.Errorf("drawn(%s) is %v", name, !want)
		}
	}
}
