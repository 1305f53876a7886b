package output

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/schemas"
)

// specification: its figures are in range, and a PDF is there or the reason that there is
// none.
func (l *linter) specification(s *schemas.Specification) {
	if s == nil {
		l.add(RuleField, "library.specification is null")
		return
	}
	if schemas.Documented(s.Source) < 0 || !slices.Contains(schemas.Readers, s.Reader) {
		l.add(RuleField, "library.specification.source is %q, read as %q", s.Source, s.Reader)
	}
	built := s.Reader != schemas.ReadFiles
	if built != (s.BuiltBy != "") || built != (s.Packages > 0) || built && (s.NotBuilt != "" || s.Source != "docs") || s.Described < 0 {
		l.add(RuleField, "library.specification: built_by %q, %d packages and not_built %q do not go with reader %q", s.BuiltBy, s.Packages, s.NotBuilt, s.Reader)
	}
	if s.Source == "signatures" != (s.Documents == 0) || s.Documents < 0 || s.Words < 1 || s.Pages < 0 || s.Redacted < 0 {
		l.add(RuleField, "library.specification: %d documents of source %s, %d words, %d pages, %d redacted: out of range", s.Documents, s.Source, s.Words, s.Pages, s.Redacted)
	}
	if s.Guide < 0 || s.Documented < 0 || s.Public < s.Documented {
		l.add(RuleField, "library.specification: %d words of a guide, %d of %d public functions documented: out of range", s.Guide, s.Documented, s.Public)
	}
	var paths []string
	pictures := 0
	for _, f := range s.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) || path.Clean(f.Path) != f.Path || slices.Contains(paths, f.Path) {
			l.add(RuleField, "library.specification.files: %q is not a path of one file of the folder", f.Path)
		}
		if path.Dir(f.Path) != "." {
			pictures++
		}
		paths = append(paths, f.Path)
	}
	printed := slices.Contains(paths, schemas.SpecificationPDF)
	if !slices.Contains(paths, schemas.SpecificationText) || pictures != s.Pictures {
		l.add(RuleField, "library.specification.files has no %s, or not %d pictures", schemas.SpecificationText, s.Pictures)
	}
	if printed != (s.PrintedBy != "") || printed == (s.WithoutPDF != "") || printed != (s.Pages > 0) {
		l.add(RuleField, "library.specification: printed_by %q and without_pdf %q do not say whether there is a PDF", s.PrintedBy, s.WithoutPDF)
	}
}

// Specification gives the files of a library's specification by their paths below its folder; nil where the task has none.
func (d *Dataset) Specification(r Row) (map[string][]byte, error) {
	l := r.Benchmint.Library
	if l == nil || l.Specification == nil {
		return nil, nil
	}
	out := map[string][]byte{}
	for _, f := range l.Specification.Files {
		b, err := readIn(d.Dir, path.Join(TasksDir, r.InstanceID, SpecDir, f.Path))
		if err != nil {
			return nil, fmt.Errorf("reading the specification of %s: %w", r.InstanceID, err)
		}
		out[f.Path] = b
	}
	return out, nil
}

// specification: the folder holds the files that the row names, to the byte, and no other.
func (c *checker) specification(r Located, s *schemas.Specification) {
	dir := path.Join(TasksDir, r.InstanceID, SpecDir)
	have := map[string]bool{}
	root := filepath.Join(c.d.Dir, filepath.FromSlash(dir))
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		have[filepath.ToSlash(rel)] = true
		return err
	})
	if s == nil {
		if err == nil {
			c.addRow(r, RuleFolder, "%s is there; the row names no specification", dir)
		}
		return
	}
	if err != nil {
		c.addRow(r, RuleFolder, "%s: %s", dir, cause(err))
		return
	}
	for _, f := range s.Files {
		if !have[f.Path] {
			c.addRow(r, RuleFolder, "%s is not there", path.Join(dir, f.Path))
			continue
		}
		delete(have, f.Path)
		b, err := readIn(root, f.Path)
		switch {
		case err != nil:
			c.addRow(r, RuleFolder, "%s: %s", path.Join(dir, f.Path), cause(err))
		case schemas.DigestBytes(b) != f.Digest:
			c.addRow(r, RuleFolder, "%s is not the file that the row names", path.Join(dir, f.Path))
		case f.Path == schemas.SpecificationText && len(strings.Fields(string(b))) != s.Words:
			c.addRow(r, RuleFolder, "%s has %d words; the row says %d", path.Join(dir, f.Path), len(strings.Fields(string(b))), s.Words)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have)) {
		c.addRow(r, RuleFolder, "%s is not a file that the row names", path.Join(dir, name))
	}
}
