package mask_test

import (
	"bytes"
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// tiny is a language for tests: as much of Python as they need.
type tiny struct{}

var _ mask.Language = tiny{}

func (tiny) Name() string { return "python" }

func (tiny) Semantics() mask.Semantics { return mask.Semantics{} }

func (tiny) Grammar(p string) syntax.Language {
	if path.Ext(p) == ".py" {
		return syntax.Python
	}
	return ""
}

func (tiny) Exempt(p string, source []byte) mask.Whole {
	switch {
	case strings.HasPrefix(p, "tests/"):
		return mask.Whole{Kind: mask.ForTests, Reason: "a test", Detail: "in tests/"}
	case bytes.Contains(source, []byte("# panic in exempt")):
		panic("exempt")
	}
	return mask.Whole{}
}

func (tiny) Query(syntax.Language) string {
	return `
(function_definition name: (_) @name body: (_) @body) @function
(class_definition name: (_) @name) @class
(call function: (_) @callee) @call
(decorator (identifier) @callee) @call
(import_statement) @import
(import_from_statement) @import
(parameters (identifier) @local)
(lambda) @later
(comment) @comment
(if_statement) @branch @nest
`
}

func (tiny) Read(p string, tree *syntax.Tree) *mask.File {
	if bytes.Contains(tree.Source, []byte("# panic")) {
		panic("a fault of the language")
	}
	var r mask.Reader
	r.OnFunction = func(m syntax.Match) (mask.Function, bool) { return function(&r, m), true }
	r.OnImport = func(n syntax.Node) { imports(&r, n) }
	f := r.Read(tree)
	f.Modules = []string{strings.TrimSuffix(strings.ReplaceAll(strings.TrimSuffix(p, ".py"), "/", "."), ".__init__")}
	return f
}

func function(r *mask.Reader, m syntax.Match) mask.Function {
	name, body := m.At("name"), m.At("body")
	f := mask.Function{
		Name: name.Text(), Construct: mask.Plain, Line: name.Line(), Body: mask.Range{Start: body.Start(), End: body.End()},
		Strict: `raise NotImplementedError("masked: ` + r.Qualified(name.Text()) + `")`,
	}
	switch {
	case f.Name == "__init__":
		f.Construct = mask.Constructor
	case f.Name == "inherited":
		f.Construct = mask.Hook
	case strings.HasPrefix(f.Name, "__"):
		f.Construct = mask.Special
	case body.Text() == "pass":
		f.Construct = mask.Trivial
	case r.Member():
		f.Construct = mask.Method
	}
	return f
}

func imports(r *mask.Reader, n syntax.Node) {
	module := n.Child("module_name").Text()
	for c := range n.Children() {
		i := mask.Import{Module: module, Name: c.Text(), Local: c.Text()}
		switch {
		case c.Is("wildcard_import"):
			i = mask.Import{Module: module, Name: "*"}
		case c.Field() != "name":
			continue
		case c.Is("aliased_import"):
			i.Name, i.Local = c.Child("name").Text(), c.Child("alias").Text()
		}
		if module == "" {
			local, _, _ := strings.Cut(i.Local, ".")
			i = mask.Import{Module: i.Name, Local: local}
		}
		r.File.Imports = append(r.File.Imports, i)
	}
}
