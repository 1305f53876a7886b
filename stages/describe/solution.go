package describe

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/outline"
	"github.com/benchmint/benchmint/internal/prose"
	"github.com/benchmint/benchmint/schemas"
)

// solution knows which names and literals of a change's code part exist only in the
// solution, and which of them the tests use.
type solution struct {
	base  *source
	after *source
	start schemas.Start
	// identifiers that the code part of the solution names, those that it reads of or calls on a
	// value, those it declares, and of these the ones of packages, classes and modules.
	named     map[string]bool
	called    map[string]bool
	declared  map[string][]declaration
	outer     map[string]bool
	tests     uses
	before    uses // what the same files named before the change
	notes     []string
	help      []string  // that the program prints about itself
	texts     []literal // of the code part of the solution
	given     []string  // what the interface and the required names and literals say
	only      map[string]bool
	failing   []string // the tests that have to pass
	asserting *assertions
}

// uses is what the test part names.
type uses struct {
	names    map[string]bool     // all
	asked    map[string]bool     // called, read or imported by name
	keywords map[string]bool     // f(name=…)
	passed   map[string][]string // what the functions are called that get a keyword
	methods  map[string]string   // that its types define, with their signatures
	literals []string
}

// holds reports whether any file has the text.
func (s *source) holds(text string) bool {
	return slices.ContainsFunc(s.paths, func(p string) bool { return bytes.Contains(s.read(p), []byte(text)) })
}

// documents reports whether the docs use the name. A name that could be an English word
// has to be marked as a name there.
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

// newSolution reads the code part and the test part of a start.
func newSolution(start schemas.Start, base, after lang.Tree, c schemas.Change) *solution {
	s := &solution{
		base: newSource(base), after: newSource(after), start: start, named: map[string]bool{}, called: map[string]bool{},
		declared: map[string][]declaration{}, outer: map[string]bool{}, only: map[string]bool{},
	}
	for _, n := range notesOf(c) {
		s.notes = append(s.notes, n.Text)
	}
	if len(s.notes) == 0 { // a project without notes tells its users by subjects (design 6)
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
		for _, u := range f.Uses {
			s.called[u.Name] = s.called[u.Name] || u.Kind == outline.Attribute
		}
		for _, d := range declarations(p, f) {
			s.declared[d.decl.Name] = append(s.declared[d.decl.Name], d)
			s.outer[d.decl.Name] = s.outer[d.decl.Name] || d.outer(f)
		}
		for _, l := range literalsOf(f) {
			l.path = p
			s.texts = append(s.texts, l)
		}
		s.help = append(s.help, helpOf(f)...)
	}
	s.tests = s.after.usesOf(start.TestPaths())
	s.before = s.base.usesOf(start.TestPaths())
	return s
}

// codePaths returns the files of the code part that the solution has.
func codePaths(s schemas.Start) []string {
	var out []string
	for _, f := range s.Files {
		if f.Part == schemas.PartCode && f.Status != "D" {
			out = append(out, f.Path)
		}
	}
	return out
}

// onlyHere reports whether an identifier exists in the solution's code part and
// nowhere in the base.
func (s *solution) onlyHere(identifier string) bool {
	is, known := s.only[identifier]
	if !known {
		is = s.named[identifier] && !s.base.names(identifier)
		s.only[identifier] = is
	}
	return is
}

// required returns the identifiers that only the solution declares and that the tests use.
func (s *solution) required() []string {
	var out []string
	for name := range s.tests.asked {
		if s.declares(name) && !strings.HasPrefix(name, "__") && (s.onlyHere(name) || s.gained(name) >= 0) {
			out = append(out, name)
		}
	}
	for name := range s.tests.methods {
		if s.hook(name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// hook reports whether only the solution calls a method, and types of the tests have it: a solver
// has to call it by that name.
func (s *solution) hook(name string) bool {
	if _, has := s.tests.methods[name]; !has || !s.onlyHere(name) {
		return false
	}
	return s.called[name] || slices.ContainsFunc(s.declared[name], func(d declaration) bool { return d.decl.Kind == outline.Method })
}

// gained is the first declaration of a parameter that its function did not have before and that
// the tests began to pass by name, or of a member that its class did not have before and that they
// began to ask for; -1 is none. Such a name may stand elsewhere in the base, and says nothing of
// the function or class there.
func (s *solution) gained(name string) int {
	passed := s.tests.keywords[name] && !s.before.keywords[name]
	asked := s.tests.asked[name] && !s.before.asked[name]
	return slices.IndexFunc(s.declared[name], func(d declaration) bool {
		after, before := s.after.file(d.path), s.base.file(d.path)
		if d.decl.Parent < 0 || after == nil {
			return false
		}
		switch owner := s.owner(d); {
		case d.parameter():
			return (passed || s.passedTo(d)) && !s.had(d, outline.Parameter)
		case d.decl.Kind == outline.Field || d.decl.Kind == outline.Method:
			return asked && before != nil && owner.Kind == outline.Class && !s.had(d, outline.Field, outline.Method) &&
				slices.ContainsFunc(before.Decls, func(b outline.Decl) bool { return b.Kind == outline.Class && b.Qualified == owner.Qualified })
		}
		return false
	})
}

// had reports whether the owner of a declaration had one of that name and of these kinds before.
func (s *solution) had(d declaration, kinds ...outline.Kind) bool {
	before := s.base.file(d.path)
	return before != nil && slices.ContainsFunc(before.Decls, func(b outline.Decl) bool {
		return slices.Contains(kinds, b.Kind) && b.Name == d.decl.Name && b.Parent >= 0 && before.Decls[b.Parent].Qualified == s.owner(d).Qualified
	})
}

// members are the members with a value that an enumeration gains and that the tests see without
// their name: they go through the enumeration, or the project tells its users the name.
func (s *solution) members() []declaration {
	var out []declaration
	for _, p := range codePaths(s.start) {
		after, before := s.after.file(p), s.base.file(p)
		if after == nil || before == nil {
			continue
		}
		for _, d := range declarations(p, after) {
			if d.decl.Kind != outline.Field || d.decl.Parent < 0 || !assigned.MatchString(d.decl.Signature) {
				continue
			}
			owner := after.Decls[d.decl.Parent]
			was := func(qualified string) bool {
				return slices.ContainsFunc(before.Decls, func(b outline.Decl) bool { return b.Qualified == qualified })
			}
			gains := enumeration.MatchString(owner.Signature) && was(owner.Qualified) && !was(d.decl.Qualified)
			if gains && s.tests.asked[owner.Name] && (s.told(d.decl.Name) || s.walked(owner.Name)) {
				out = append(out, d)
			}
		}
	}
	return out
}

// enumeration is the head of a class whose members are values.
var enumeration = lazyregexp.New(`^class \w+\(.*(?:Enum|Flag)\b.*\)`)

// told reports whether the notes or the title say a name.
func (s *solution) told(name string) bool {
	return slices.ContainsFunc(s.notes, func(n string) bool { return prose.Says(n, name) })
}

// walked reports whether the tests go through the members of a class.
func (s *solution) walked(class string) bool {
	all := regexp.MustCompile(`(?:\bin |\b(?:list|tuple|set|sorted|len)\()(?:\w+\.)*` + class + `\s*[:)\]]|\b` + class + `\.__members__`)
	return slices.ContainsFunc(s.start.TestPaths(), func(p string) bool { return all.Match(s.after.read(p)) })
}

// declares reports whether the code part declares a name that the tests can mean. They
// mean a parameter only where they pass it by name.
func (s *solution) declares(name string) bool {
	return slices.ContainsFunc(s.declared[name], func(d declaration) bool {
		return !d.parameter() || s.tests.keywords[name]
	})
}

// allowed reports whether the project itself tells users the name: in its notes, in docs
// of the base, or in the help that the program prints.
func (s *solution) allowed(name string) bool {
	if s.told(name) || s.base.documents(name) {
		return true
	}
	return slices.ContainsFunc(s.help, func(h string) bool { return prose.Says(h, name) })
}

// leaks returns the names and literals in a text that only the solution declares in a package,
// class or module, that neither the tests nor the interface say, and that the project does not
// tell its users. Local variables, parameters, and names of the language and of its libraries
// are none.
func (s *solution) leaks(text string) []string {
	var out []string
	for _, name := range prose.Names(text) {
		for _, part := range partsOf(name) {
			if s.outer[part] && s.onlyHere(part) && !s.tests.names[part] && !s.says(part) && !s.allowed(part) {
				out = append(out, part)
			}
		}
		if p := s.newPath(name); p != "" && !s.testsSay(name) && !s.says(name) && !s.allowed(name) {
			out = append(out, name)
		}
	}
	for _, l := range s.texts {
		if len(l.value) >= longLiteral && prose.Says(text, l.value) && !s.base.holds(l.raw) && !s.testsSay(l.value) && !s.says(l.value) && !s.allowedText(l.value) && !s.known(l.value) {
			out = append(out, l.value)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// says reports whether a name or literal stands in what a statement has to say, or in the
// literals of the tests.
func (s *solution) says(text string) bool {
	in := func(l string) bool { return prose.Says(l, text) }
	return slices.ContainsFunc(s.given, in) || slices.ContainsFunc(s.tests.literals, in)
}

// known reports whether a literal is a dotted name of which each part may be said.
func (s *solution) known(literal string) bool {
	parts := strings.Split(literal, ".")
	return len(parts) > 1 && nameShape.MatchString(literal) && !slices.ContainsFunc(parts, func(part string) bool {
		return s.onlyHere(part) && !s.tests.names[part] && !s.says(part) && !s.allowed(part)
	})
}

// longLiteral is how many bytes a literal needs so that finding it in a text is no
// coincidence.
const longLiteral = 12

func (s *solution) allowedText(text string) bool {
	says := func(all []string) bool {
		return slices.ContainsFunc(all, func(n string) bool { return strings.Contains(n, text) })
	}
	return says(s.notes) || says(s.help)
}

func (s *solution) testsSay(text string) bool {
	return slices.ContainsFunc(s.tests.literals, func(l string) bool {
		return strings.Contains(l, text) || strings.Contains(text, l) && len(l) >= longLiteral || sameText(text, l)
	})
}

// newPath returns the path of a new file of the code part that a name means, else "".
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

// partsOf returns the identifiers in a name.
func partsOf(name string) []string {
	return wordShape.FindAllString(name, -1)
}

var wordShape = lazyregexp.New(`[A-Za-z_]\w*`)
