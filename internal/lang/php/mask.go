// Package php is what masking knows of PHP: which functions a file declares, what runs
// when it is included, and what fails in place of a body.
//
// It never builds a project and never runs PHP.
package php

import (
	"cmp"
	_ "embed" // the query
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// Masker is PHP's mask.Language.
type Masker struct{}

var _ mask.Language = Masker{}

// Name is the language's.
func (Masker) Name() string { return "php" }

// Semantics is what names and calls mean.
func (Masker) Semantics() mask.Semantics {
	return mask.Semantics{Everywhere: true}
}

// Grammar knows files by their ending; a script without one is of no concern.
func (Masker) Grammar(file string) syntax.Language {
	switch strings.ToLower(path.Ext(file)) {
	case ".php", ".phtml":
		return syntax.PHP
	}
	return ""
}

// Exempt names tests by the folders and endings of PHPUnit, Codeception, phpspec and
// Behat, and the settings of tools that are PHP themselves.
func (Masker) Exempt(file string, _ []byte) mask.Whole {
	folders := strings.Split(strings.ToLower(path.Dir(file)), "/")
	for i, folder := range folders {
		switch folder {
		case "test", "tests", "spec", "features":
			// src/Test is what a framework gives its users, and no test.
			if i == 0 || folders[0] != "src" && folders[0] != "lib" || folder == "tests" {
				return mask.Whole{Kind: mask.ForTests, Reason: "a test, or a helper of tests"}
			}
		}
	}
	base := path.Base(file)
	for _, end := range []string{"Test.php", "TestCase.php", "Cest.php", "Spec.php"} {
		if strings.HasSuffix(base, end) {
			return mask.Whole{Kind: mask.ForTests, Reason: "a test, or a helper of tests"}
		}
	}
	switch base = strings.TrimPrefix(base, "."); {
	case strings.HasPrefix(base, "php-cs-fixer"), strings.HasPrefix(base, "php_cs"), base == "rector.php", base == "ecs.php", base == "scoper.inc.php":
		return mask.Whole{Kind: mask.ForTools, Reason: "settings of a tool, in PHP"}
	}
	return mask.Whole{}
}

//go:embed mask.scm
var query string

// Query is mask.scm.
func (Masker) Query(syntax.Language) string { return query }

// reader reads one file.
type reader struct {
	mask.Reader
	spaces  []string          // namespaces that the file declares, in order; "" for none
	aliases map[string]string // the last part of a whole name, by the name that this file gives it
}

// Read says what a file declares.
func (Masker) Read(file string, tree *syntax.Tree) *mask.File {
	r := &reader{aliases: map[string]string{}}
	r.OnFunction, r.OnClass, r.OnCall, r.OnImport, r.OnOther = r.function, r.class, r.call, r.alias, r.space
	f := r.Reader.Read(tree)
	f.Modules = append(r.modules(), strings.TrimSuffix(file, path.Ext(file)))
	return f
}

// space notes a namespace.
func (r *reader) space(m syntax.Match) {
	if m.Is("namespace") {
		r.spaces = append(r.spaces, m.Node.Child("name").Text())
	}
}

// modules are the namespaces, in which files find each other's names, then the classes with theirs. The path comes after
// them: that is what require goes by.
func (r *reader) modules() []string {
	if len(r.spaces) == 0 {
		r.spaces = []string{""}
	}
	var all []string
	for _, s := range r.spaces {
		if s = cmp.Or(s, global); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	// With several namespaces in one file, which class is in which is not known.
	for _, c := range r.File.Classes {
		if c.Parent < 0 && c.Name != anonymous && len(r.spaces) == 1 {
			all = append(all, strings.TrimPrefix(r.spaces[0]+`\`+c.Name, `\`))
		}
	}
	return all
}

// global is the module of what has no namespace.
const global = `\`

// anonymous is how a class without a name is called here.
const anonymous = "anonymous"

func (r *reader) class(m syntax.Match) (mask.Class, bool) {
	if m.Node.Is("object_creation_expression") {
		return mask.Class{Name: anonymous}, true
	}
	return mask.Class{Name: m.At("name").Text()}, true
}

// alias notes the name that a file gives to what has another one elsewhere.
func (r *reader) alias(n syntax.Node) {
	local := n.First("namespace_aliasing_clause").First("name").Text()
	r.aliases[local] = last(n.First("name", "qualified_name", "namespace_name"))
}

// last is the last part of a name that may be written with its namespace.
func last(n syntax.Node) string {
	text := n.Text()
	return text[strings.LastIndexByte(text, '\\')+1:]
}

// name is that of a class or of a function, without its namespace.
func (r *reader) name(n syntax.Node) string {
	name := last(n)
	return cmp.Or(r.aliases[name], name)
}

// call is what is called: a function, a method behind what it is called on, or a class of which an object is made. f(...)
// only names f.
func (r *reader) call(m syntax.Match) []string {
	n := m.Node
	if n.Child("arguments").Has("variadic_placeholder") {
		return nil
	}
	switch n.Kind() {
	case "object_creation_expression":
		return r.made(n)
	case "function_call_expression":
		if f := n.Child("function"); f.Is("name", "qualified_name") {
			return []string{r.name(f)}
		}
		return nil
	}
	of, name := cmp.Or(n.Child("scope"), n.Child("object")), n.Child("name").Text()
	if of.Is("name", "qualified_name") {
		return []string{r.name(of), name}
	}
	return mask.Member(of, name)
}

// made is the class of new C, new self and new static.
func (r *reader) made(n syntax.Node) []string {
	class := n.First("name", "qualified_name", "relative_scope")
	switch name := strings.ToLower(class.Text()); {
	case !class.Is():
		return nil
	case name != "self" && name != "static":
		return []string{r.name(class)}
	case r.Class() < 0:
		return nil
	}
	own := r.File.Classes[r.Class()].Name
	return []string{own[strings.LastIndexByte(own, '.')+1:]}
}

// magic are the methods that the language calls; they are documented at
// https://www.php.net/manual/en/language.oop5.magic.php.
var magic = map[string]mask.Construct{
	"__construct": mask.Constructor, "__destruct": mask.Destructor,
	"__call": mask.Special, "__callstatic": mask.Special, "__get": mask.Special, "__set": mask.Special,
	"__isset": mask.Special, "__unset": mask.Special, "__sleep": mask.Special, "__wakeup": mask.Special,
	"__serialize": mask.Special, "__unserialize": mask.Special, "__tostring": mask.Special,
	"__invoke": mask.Special, "__set_state": mask.Special, "__clone": mask.Special, "__debuginfo": mask.Special,
}

func (r *reader) function(m syntax.Match) (mask.Function, bool) {
	n, name, body := m.Node, m.At("name"), m.Node.Child("body")
	f := mask.Function{Name: name.Text(), Construct: mask.Plain, Public: true, Line: name.Line(), Doc: r.Documented(n, "/**")}
	if r.Member() {
		f.Construct = cmp.Or(magic[strings.ToLower(f.Name)], mask.Method)
		f.Public = !n.First("visibility_modifier").Has("private", "protected")
	}
	if text := body.Text(); !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		f.Construct = mask.Bodiless
		return f, true
	}
	switch plain := f.Construct == mask.Plain || f.Construct == mask.Method; {
	case f.Construct != mask.Destructor && trivial(body):
		f.Construct = mask.Trivial
	case plain && yields(body):
		f.Construct = mask.Generator
	}
	statement := "throw new \\BadMethodCallException('masked: " + escaped(r.Qualified(f.Name)) + "');"
	f.Body, f.Strict = mask.Braced(n.Tree().Source, mask.Range{Start: body.Start(), End: body.End()}, statement)
	return f, true
}

// escaped is a text as it stands between single quotes.
func escaped(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
}

// trivial reports whether there is nothing to mask: no statement, or one that says that
// it is not implemented.
func trivial(body syntax.Node) bool {
	var only syntax.Node
	for c := range body.Children() {
		if c.Is("comment") {
			continue
		}
		if only.Is() {
			return false
		}
		only = c
	}
	if !only.Is() {
		return true
	}
	made := only.First("throw_expression").First("object_creation_expression")
	class := strings.ToLower(made.First("name", "qualified_name").Text())
	return strings.Contains(class, "notimplemented") || strings.HasSuffix(class, "badmethodcallexception")
}

// yields reports whether a body is that of a generator: what is inside of other functions is theirs.
func yields(body syntax.Node) bool {
	for n := range body.Walk(func(n syntax.Node) bool { return !n.Is(functions...) }) {
		if n.Is("yield_expression") {
			return true
		}
	}
	return false
}

var functions = []string{"function_definition", "method_declaration", "anonymous_function_creation_expression", "arrow_function"}
