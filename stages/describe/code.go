package describe

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/outline"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/internal/syntax"
	"github.com/benchmint/benchmint/schemas"
)

// This file holds all calls into the parser; the rest of the package sees names,
// declarations and literals.

// declaration is one name that a file declares.
type declaration struct {
	path string
	decl outline.Decl
}

// parameter reports whether the declaration is a function's parameter.
func (d declaration) parameter() bool { return d.decl.Kind == outline.Parameter }

// outer reports whether the declaration belongs to its package, module or class, and is not a part
// of a function.
func (d declaration) outer(f *outline.File) bool {
	if d.parameter() {
		return false
	}
	for i := d.decl.Parent; i >= 0; i = f.Decls[i].Parent {
		if k := f.Decls[i].Kind; k == outline.Function || k == outline.Method {
			return false
		}
	}
	return true
}

// declarations returns what a file declares at any level, local variables left out.
func declarations(p string, f *outline.File) []declaration {
	var out []declaration
	for _, d := range f.Decls {
		if d.Kind != outline.Local {
			out = append(out, declaration{p, d})
		}
	}
	return out
}

// source is one tree. Files are read and parsed on first use.
type source struct {
	tree  lang.Tree
	files map[string]*outline.File
	bytes map[string][]byte
	paths []string
}

func newSource(t lang.Tree) *source {
	return &source{tree: t, files: map[string]*outline.File{}, bytes: map[string][]byte{}, paths: t.Paths()}
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

// read returns the bytes of a file, nil where it is missing.
func (s *source) read(p string) []byte {
	b, ok := s.bytes[p]
	if !ok {
		b, _ = s.tree.Read(p) // a path that cannot be read counts as empty
		s.bytes[p] = b
	}
	return b
}

// file returns the parsed file, nil where it is missing, too large or in an unknown language.
func (s *source) file(p string) *outline.File {
	f, ok := s.files[p]
	if ok {
		return f
	}
	if l, known := grammar(p); known && s.tree.Has(p) {
		f, _ = outline.Parse(l, s.read(p)) // nil with an error
	}
	s.files[p] = f
	return f
}

// names reports whether some file declares, uses or imports the identifier. In a file of an
// unknown language (templates, C, data), any word counts.
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

// identifiers returns all names in a file that are not strings.
func identifiers(f *outline.File) map[string]bool {
	out := map[string]bool{}
	for _, d := range f.Decls {
		out[d.Name] = true
	}
	for _, u := range f.Uses {
		if u.Kind != outline.String {
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

// usesOf collects the names that the test part uses. A plain identifier that the file
// itself declares is not asked for.
func (s *source) usesOf(tests []string) uses {
	u := uses{names: map[string]bool{}, asked: map[string]bool{}, keywords: map[string]bool{}, methods: map[string]string{}, passed: map[string][]string{}}
	for _, p := range tests {
		f := s.file(p)
		if f == nil {
			continue
		}
		own := map[string]bool{}
		for _, d := range f.Decls {
			own[d.Name], u.names[d.Name] = true, true
			if d.Kind == outline.Method && !strings.HasPrefix(strings.ToLower(d.Name), "test") && !strings.HasPrefix(d.Name, "__") {
				u.methods[d.Name] = d.Signature
			}
		}
		for _, use := range f.Uses {
			if use.Kind != outline.String && !(use.Kind == outline.Identifier && own[use.Name]) {
				u.ask(use)
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

func (u *uses) ask(use outline.Use) {
	u.names[use.Name], u.asked[use.Name] = true, true
	if use.Kind == outline.Keyword {
		u.keywords[use.Name] = true
		u.passed[use.Name] = append(u.passed[use.Name], use.Of[strings.LastIndexByte(use.Of, '.')+1:])
	}
}

// literalsOf returns the strings of a file that are short enough to be a name or a message.
func literalsOf(f *outline.File) []literal {
	var out []literal
	end := -1
	for _, u := range f.Uses {
		if u.Kind != outline.String || u.Span.Start < end { // a string within an f-string
			continue
		}
		l := literalOf(f.Text(u.Span), u.Name)
		if n := len(out); n > 0 && end >= 0 && f.Language == syntax.Python && strings.TrimSpace(string(f.Source[end:u.Span.Start])) == "" {
			out[n-1] = literal{raw: out[n-1].raw + "\x00" + l.raw, value: out[n-1].value + l.value}
		} else {
			out = append(out, l)
		}
		end = u.Span.End
	}
	return out
}

var (
	helpBefore = lazyregexp.New(`(?:^|[\s(,])(?:help|usage|description|epilog)\s*[=:]\s*\(?\s*$`)
	flagShape  = lazyregexp.New(`^--?[A-Za-z][\w-]*(?:[/ ,]+--?[A-Za-z][\w-]*)*$`)
)

// helpOf returns the strings of a file that a program prints about itself: options and
// help texts.
func helpOf(f *outline.File) []string {
	var out []string
	for _, u := range f.Uses {
		if u.Kind != outline.String {
			continue
		}
		if flagShape.MatchString(u.Name) || helpBefore.Match(f.Source[max(0, u.Span.Start-40):u.Span.Start]) {
			out = append(out, u.Name)
		}
	}
	return out
}

// nameOf describes a declaration. A parameter has the signature of its function.
func nameOf(name string, d declaration, s *solution) schemas.Name {
	n := schemas.Name{Name: d.decl.Qualified, Kind: string(d.decl.Kind), Signature: d.decl.Signature, Path: d.path}
	if d.parameter() {
		n.Name, n.Signature = name, s.owner(d).Signature
	}
	return n
}

// owner is the function of a parameter, or the class of a member.
func (s *solution) owner(d declaration) outline.Decl {
	if f := s.after.file(d.path); f != nil && d.decl.Parent >= 0 {
		return f.Decls[d.decl.Parent]
	}
	return outline.Decl{}
}

var comment = lazyregexp.New(`(?m)(^|\s)#.*$`)

// uncommented returns a signature of several lines without comments and surplus blanks.
func (s *solution) uncommented(n schemas.Name) string {
	f := s.after.file(n.Path)
	if f == nil || f.Language != syntax.Python {
		return n.Signature
	}
	if !strings.Contains(n.Signature, "#") {
		return tight(n.Signature)
	}
	for _, d := range f.Decls {
		if d.Signature == n.Signature && d.Body.Start > d.NameSpan.Start {
			head := comment.ReplaceAllString(string(f.Source[d.NameSpan.Start:d.Body.Start]), "$1")
			before, _, _ := strings.Cut(d.Signature, d.Name)
			return strings.TrimRight(tight(before+strings.Join(strings.Fields(head), " ")), " :")
		}
	}
	return n.Signature
}

// longSignature is how many bytes of a signature one line of an interface may hold.
const longSignature = 160

// parameters returns a parameter as one name for each function that gains it and that the tests
// pass it to; where there is none, of the function that the name is of.
func (s *solution) parameters(n schemas.Name) []schemas.Name {
	var out []schemas.Name
	for _, d := range s.declared[n.Name] {
		shown := s.tests.asked[s.owner(d).Name] && s.onlyHere(s.owner(d).Name) // as a function of its own
		if d.parameter() && s.passedTo(d) && !s.had(d, outline.Parameter) && !shown {
			out = append(out, s.ofFunction(nameOf(n.Name, d, s), d))
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, d := range s.declared[n.Name] {
		if d.parameter() && d.path == n.Path && s.owner(d).Signature == n.Signature {
			return []schemas.Name{s.ofFunction(n, d)}
		}
	}
	return []schemas.Name{n}
}

// passedTo reports whether the tests call a parameter's function, or its class, with it by name.
func (s *solution) passedTo(d declaration) bool {
	f, function := s.after.file(d.path), s.owner(d)
	called := function.Name
	if makes.MatchString(called) && function.Parent >= 0 {
		called = f.Decls[function.Parent].Name
	}
	return slices.Contains(s.tests.passed[d.decl.Name], called)
}

// ofFunction gives a parameter the signature of its function, as a caller writes it: a method has
// its class. Of a long signature it keeps only the parameter.
func (s *solution) ofFunction(n schemas.Name, d declaration) schemas.Name {
	f, function := s.after.file(d.path), s.owner(d)
	n.Signature = s.uncommented(n)
	head, rest, ok := strings.Cut(n.Signature, "(")
	if !ok || f == nil {
		return n
	}
	if function.Parent >= 0 && f.Decls[function.Parent].Kind == outline.Class {
		head = f.Decls[function.Parent].Qualified
		if rest = self.ReplaceAllString(rest, ""); makes.MatchString(function.Name) {
			rest = strings.TrimSuffix(rest, " -> None")
		} else {
			head += "." + function.Name
		}
	}
	if len(n.Signature) > longSignature {
		rest = "…, " + strings.Join(strings.Fields(f.Text(d.decl.Span)), " ") + ", …)"
	}
	n.Signature = head + "(" + rest
	return n
}

var (
	makes = lazyregexp.New(`^__(?:init|new|call)__$`)
	self  = lazyregexp.New(`^(?:self|cls)\b(?:, )?`)
)
