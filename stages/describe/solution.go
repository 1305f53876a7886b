package describe

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/internal/syntax"
	"github.com/benchmint/benchmint/schemas"
)

// solution answers what of a change's code part exists only in the solution, and
// which of it the tests use.
type solution struct {
	base  *source
	after *source
	start schemas.Start
	// identifiers that the code part of the solution names, and those it declares.
	named    map[string]bool
	declared map[string][]declaration
	tests    uses
	notes    []string
	help     []string  // what the program prints about itself
	texts    []literal // of the code part of the solution
	only     map[string]bool
}

type declaration struct {
	path string
	decl syntax.Decl
}

// uses is what the test part names.
type uses struct {
	names    map[string]bool // all
	asked    map[string]bool // called, read or imported by name
	keywords map[string]bool // f(name=…)
	literals []string
}

// source is one tree, read by syntax where a question needs it.
type source struct {
	tree  lang.Tree
	files map[string]*syntax.File
	bytes map[string][]byte
	paths []string
}

func newSource(t lang.Tree) *source {
	return &source{tree: t, files: map[string]*syntax.File{}, bytes: map[string][]byte{}, paths: t.Paths()}
}

func grammar(p string) (syntax.Language, bool) {
	switch path.Ext(p) {
	case ".py", ".pyi":
		return syntax.Python, true
	case ".go":
		return syntax.Go, true
	}
	return "", false
}

// read is nil for what is missing.
func (s *source) read(p string) []byte {
	b, ok := s.bytes[p]
	if !ok {
		b, _ = s.tree.Read(p) // a path that cannot be read says nothing
		s.bytes[p] = b
	}
	return b
}

// file is nil for what is missing, too large, or in no language that is read.
func (s *source) file(p string) *syntax.File {
	f, ok := s.files[p]
	if ok {
		return f
	}
	if l, known := grammar(p); known && s.tree.Has(p) {
		f, _ = syntax.Parse(l, s.read(p)) // nil with an error
	}
	s.files[p] = f
	return f
}

// names tells whether some file declares, uses or imports the identifier. What is
// in no language that is read counts by its words: templates, C, data.
func (s *source) names(identifier string) bool {
	word := []byte(identifier)
	for _, p := range s.paths {
		if !bytes.Contains(s.read(p), word) {
			continue
		}
		switch f := s.file(p); {
		case f != nil && identifiers(f)[identifier]:
			return true
		case f == nil && !isDocs(p) && prose.Says(string(s.read(p)), identifier):
			return true
		}
	}
	return false
}

// holds tells whether any file has the text.
func (s *source) holds(text string) bool {
	return slices.ContainsFunc(s.paths, func(p string) bool { return bytes.Contains(s.read(p), []byte(text)) })
}

// documents tells whether the docs call something by this name: a name that may be
// an English word has to be marked as one.
func (s *source) documents(name string) bool {
	plainWord := english.MatchString(name)
	for _, p := range s.paths {
		if !isDocs(p) || !bytes.Contains(s.read(p), []byte(name)) {
			continue
		}
		text := string(s.read(p))
		if !plainWord && prose.Says(text, name) || plainWord && namedIn(text, name) {
			return true
		}
	}
	return false
}

func namedIn(text, name string) bool {
	for _, form := range []string{"`" + name + "`", "*" + name + "*", "." + name + "(", name + "=", "`" + name + "(", "--" + name, "\"" + name + "\""} {
		if strings.Contains(text, form) {
			return true
		}
	}
	return false
}

var english = lazyregexp.New(`^[A-Za-z]?[a-z]+$`)

func isDocs(p string) bool {
	switch path.Ext(p) {
	case ".md", ".rst", ".txt", ".adoc", ".markdown":
		return true
	}
	return false
}

// identifiers are all names that a file speaks of, strings left out.
func identifiers(f *syntax.File) map[string]bool {
	out := map[string]bool{}
	for _, d := range f.Decls {
		out[d.Name] = true
	}
	for _, u := range f.Uses {
		if u.Kind != syntax.String {
			out[u.Name] = true
		}
	}
	for _, i := range f.Imports {
		for _, name := range []string{i.Module, i.Name, i.As} {
			for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '.' || r == '/' }) {
				out[part] = true
			}
		}
	}
	delete(out, "")
	return out
}

// newSolution reads the code part and the test part of a start.
func newSolution(start schemas.Start, base, after lang.Tree, c schemas.Change) *solution {
	s := &solution{base: newSource(base), after: newSource(after), start: start, named: map[string]bool{}, declared: map[string][]declaration{}, only: map[string]bool{}}
	for _, n := range notesOf(c) {
		s.notes = append(s.notes, n.Text)
	}
	if len(s.notes) == 0 { // where nobody writes notes, the subjects are what a project tells (design 6.1)
		title, _ := titleOf(c)
		s.notes = append(s.notes, title)
	}
	for _, p := range codePaths(start) {
		f := s.after.file(p)
		if f == nil {
			continue
		}
		for name := range identifiers(f) {
			s.named[name] = true
		}
		for _, d := range f.Decls {
			if d.Kind != syntax.Local {
				s.declared[d.Name] = append(s.declared[d.Name], declaration{p, d})
			}
		}
		for _, l := range literalsOf(f) {
			l.path = p
			s.texts = append(s.texts, l)
		}
		s.help = append(s.help, helpOf(f)...)
	}
	s.tests = s.usesOf(start.TestPaths())
	return s
}

// codePaths are the files of the code part that the solution has.
func codePaths(s schemas.Start) []string {
	var out []string
	for _, f := range s.Files {
		if f.Part == schemas.PartCode && f.Status != "D" {
			out = append(out, f.Path)
		}
	}
	return out
}

// usesOf reads the test part. A bare name that the file binds itself is its own.
func (s *solution) usesOf(tests []string) uses {
	u := uses{names: map[string]bool{}, asked: map[string]bool{}, keywords: map[string]bool{}}
	for _, p := range tests {
		f := s.after.file(p)
		if f == nil {
			continue
		}
		own := map[string]bool{}
		for _, d := range f.Decls {
			own[d.Name] = true
		}
		for _, use := range f.Uses {
			switch {
			case use.Kind == syntax.String:
			case use.Kind == syntax.Identifier && own[use.Name]:
			default:
				u.names[use.Name], u.asked[use.Name] = true, true
				u.keywords[use.Name] = u.keywords[use.Name] || use.Kind == syntax.Keyword
			}
		}
		for _, i := range f.Imports {
			u.names[i.Name], u.asked[i.Name] = true, true
			for _, part := range strings.FieldsFunc(i.Module, func(r rune) bool { return r == '.' || r == '/' }) {
				u.names[part] = true
			}
		}
		for _, l := range literalsOf(f) {
			u.literals = append(u.literals, l.value)
		}
	}
	return u
}

// onlyHere tells whether an identifier exists in the solution's code part and
// nowhere in the base.
func (s *solution) onlyHere(identifier string) bool {
	is, known := s.only[identifier]
	if !known {
		is = s.named[identifier] && !s.base.names(identifier)
		s.only[identifier] = is
	}
	return is
}

// required are the identifiers of the solution that the tests use: what only its
// code part declares.
func (s *solution) required() []string {
	var out []string
	for name := range s.tests.asked {
		if s.declares(name) && !strings.HasPrefix(name, "__") && s.onlyHere(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// declares tells whether the code part declares what the tests may mean: a
// parameter is only meant where it is passed by its name.
func (s *solution) declares(name string) bool {
	return slices.ContainsFunc(s.declared[name], func(d declaration) bool {
		return d.decl.Kind != syntax.Parameter || s.tests.keywords[name]
	})
}

// allowed tells whether the project itself tells users the name: in its notes, in
// the docs that were there before, or in what the program prints about itself.
func (s *solution) allowed(name string) bool {
	if slices.ContainsFunc(s.notes, func(n string) bool { return prose.Says(n, name) }) || s.base.documents(name) {
		return true
	}
	return slices.ContainsFunc(s.help, func(h string) bool { return prose.Says(h, name) })
}

// leaks are the names in a text that exist only in the solution, that no test uses
// and that the project tells nobody.
func (s *solution) leaks(text string) []string {
	var out []string
	for _, name := range names(text) {
		for _, part := range partsOf(name) {
			if s.onlyHere(part) && !s.tests.names[part] && !s.allowed(part) {
				out = append(out, part)
			}
		}
		if p := s.newPath(name); p != "" && !s.testsSay(name) && !s.allowed(name) {
			out = append(out, name)
		}
	}
	for _, l := range s.texts {
		if len(l.value) >= longLiteral && strings.Contains(text, l.value) && !s.base.holds(l.raw) && !s.testsSay(l.value) && !s.allowedText(l.value) {
			out = append(out, l.value)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// longLiteral is the length from which a literal in running text is no accident.
const longLiteral = 12

func (s *solution) allowedText(text string) bool {
	says := func(all []string) bool {
		return slices.ContainsFunc(all, func(n string) bool { return strings.Contains(n, text) })
	}
	return says(s.notes) || says(s.help)
}

func (s *solution) testsSay(text string) bool {
	return slices.ContainsFunc(s.tests.literals, func(l string) bool {
		return strings.Contains(l, text) || strings.Contains(text, l) && len(l) >= longLiteral
	})
}

// newPath is the path of the code part that a name means and that base does not have.
func (s *solution) newPath(name string) string {
	if !strings.ContainsAny(name, "./") {
		return ""
	}
	for _, f := range s.start.Files {
		if f.Part != schemas.PartCode || f.Status == "D" || s.base.tree.Has(f.Path) {
			continue
		}
		if f.Path == name || strings.HasSuffix(f.Path, "/"+name) {
			if !slices.ContainsFunc(s.base.paths, func(p string) bool { return path.Base(p) == path.Base(name) }) {
				return f.Path
			}
		}
	}
	return ""
}

// partsOf are the identifiers that a name is made of.
func partsOf(name string) []string {
	return wordShape.FindAllString(name, -1)
}

var wordShape = lazyregexp.New(`[A-Za-z_]\w*`)
