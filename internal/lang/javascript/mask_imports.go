package javascript

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// link reads what a file takes from others, and what it gives to them.
func (r *reader) link(n syntax.Node) {
	switch n.Kind() {
	case "import_statement":
		if !n.Has("import_clause", "import_require_clause") {
			r.take(text(n.Child("source")), "", "")
		}
	case "identifier": // import a from; import * as a from; import a = require()
		name := "default"
		if n.Parent().Is("namespace_import") {
			name = ""
		}
		r.take(from(n), name, n.Text())
	case "namespace_export":
		r.take(from(n), "", n.First("identifier", "string").Text())
	case "import_specifier", "export_specifier": // a as b, or a as itself
		name := keyName(n.Child("name"))
		local := cmp.Or(keyName(n.Child("alias")), name)
		if module := from(n); module != "" {
			r.take(module, name, local)
		} else {
			r.gives(local, name)
		}
	case "export_statement":
		r.export(n)
	case "variable_declarator":
		r.protos[n.Child("name").Text()] = n.Child("value").Child("object").Text()
	case "assignment_expression":
		if name, exported := r.target(n.Child("left")); exported {
			r.assignedTo(name, n)
		}
	}
}

// assignedTo is told of exports.name = …; a row of assignments may say the name that this has in the file.
func (r *reader) assignedTo(name string, n syntax.Node) {
	if outer := r.spot(n); outer.name != "" {
		r.gives(name, outer.name)
	}
	r.exports(name, n.Child("right"))
}

// from is the module of the import or export that a name stands in; "" for the file itself.
func from(n syntax.Node) string {
	return text(n.Above("import_statement", "export_statement", "import_require_clause").Child("source"))
}

// take notes a name that is another file's.
func (r *reader) take(module, name, local string) {
	r.File.Imports = append(r.File.Imports, mask.Import{Module: module, Name: name, Local: local})
}

// gives notes that a name of the file is another to those that import it: it is as if the file took it from itself.
func (r *reader) gives(name, own string) {
	if name == "" {
		name = "default"
	}
	r.exported[name], r.exported[own] = true, true
	if name != own {
		r.take("./"+path.Base(r.at), own, name)
	}
}

// exports notes what a file gives to others under a name, "" for itself: a name, or what a name makes.
func (r *reader) exports(name string, value syntax.Node) {
	if name == "" {
		name = "default"
	}
	r.exported[name] = true
	for left := []syntax.Node{value}; len(left) > 0 && len(left) < deepest; {
		one := unwrapped(left[len(left)-1])
		left = left[:len(left)-1]
		switch one.Kind() {
		case "ternary_expression":
			left = append(left, one.Child("alternative"), one.Child("consequence"))
		case "binary_expression":
			left = append(left, one.Child("right"), one.Child("left"))
		case "identifier", "shorthand_property_identifier":
			r.gives(name, one.Text())
		case "member_expression":
			r.exported[dotted(one)[0]] = true
		case "call_expression", "new_expression":
			r.exported[dotted(callee(one))[0]] = true
		}
	}
}

// export reads an export statement. Its names are those of the declaration, or of the value.
func (r *reader) export(n syntax.Node) {
	declared, value := n.Child("declaration"), n.Child("value")
	switch {
	case n.Child("source").Is():
		if n.Has("*") {
			r.take(text(n.Child("source")), "*", "")
		}
	case declared.Child("name").Is():
		name := r.Qualified(declared.Child("name").Text())
		if r.exported[name] = true; n.Has("default") {
			r.gives("default", name)
		}
	case declared.Is():
		for c := range declared.Children() {
			for name := range c.Child("name").Within() {
				if name.Is("identifier", "shorthand_property_identifier_pattern") {
					r.exported[r.Qualified(name.Text())] = true
				}
			}
		}
	case value.Is():
		r.exports("", value)
	default: // export = x
		r.exports("", n.First("identifier", "member_expression"))
	}
}

// required is the module that a call of require or import() is given, "" for any other expression.
func required(n syntax.Node) string {
	if fn := n.Child("function"); n.Is("call_expression") && (fn.Is("import") || fn.Is("identifier") && fn.Text() == "require") {
		return text(first(n.Child("arguments")))
	}
	return ""
}

// required takes the names that a call of require is bound to: const a = require(…), const { a, b: c } = require(…).
func (r *reader) required(call syntax.Node) {
	module, name := required(call), "default"
	for n := call; ; n = n.Parent() {
		switch up := n.Parent(); up.Kind() {
		case "parenthesized_expression", "await_expression":
		case "member_expression":
			name = up.Child("property").Text()
		case "variable_declarator":
			r.bound(module, name, up.Child("name"))
			return
		case "assignment_expression":
			if own, exported := r.target(up.Child("left")); exported {
				r.take(module, name, cmp.Or(own, "default"))
			}
			return
		default:
			r.take(module, "", "")
			return
		}
	}
}

// bound takes what a variable holds, or each of a pattern.
func (r *reader) bound(module, name string, n syntax.Node) {
	if n.Is("identifier") {
		r.take(module, name, n.Text())
	}
	for c := range n.Children() {
		switch {
		case c.Is("shorthand_property_identifier_pattern"):
			r.take(module, c.Text(), c.Text())
		case c.Is("pair_pattern") && c.Child("value").Is("identifier"):
			r.take(module, keyName(c.Child("key")), c.Child("value").Text())
		}
	}
}

// extensions may be left out where a file is imported. An import that ends in .js means a .ts beside it as well, so all of them come
// off.
var extensions = []string{".d.ts", ".d.mts", ".d.cts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"}

// Declares reports whether a file is one of declarations, in which nothing runs.
func Declares(file string) bool {
	return slices.ContainsFunc(extensions[:3], func(ext string) bool { return strings.HasSuffix(file, ext) })
}

func bare(file string) string {
	for _, ext := range extensions {
		if rest, ok := strings.CutSuffix(file, ext); ok {
			return rest
		}
	}
	return file
}

// modules are the names by which others import a file: its path without extension; for an index its folder, and for the index of src or
// lib the folder above as well, since that is what a package's own name commonly leads to.
func modules(file string) []string {
	name := bare(file)
	if path.Base(name) != "index" {
		return []string{name}
	}
	names := []string{path.Dir(name), name}
	switch path.Base(names[0]) {
	case "src", "lib", "source":
		names = append(names, path.Dir(names[0]))
	}
	return names
}
