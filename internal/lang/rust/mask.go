// Package rust says what masking needs to know of Rust: its functions, what may stand in
// the place of their bodies, and what has to stay so that the crate compiles.
//
// It never expands macros: functions that stand among the tokens given to one are not
// seen and stay as they are. Those that a macro_rules writes are functions where it does.
package rust

import (
	"bytes"
	_ "embed" // the query
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// Masker is what masking knows of Rust.
type Masker struct{}

var _ mask.Language = Masker{}

// Name is "rust".
func (Masker) Name() string { return "rust" }

// Semantics is what names and calls mean.
func (Masker) Semantics() mask.Semantics {
	return mask.Semantics{Everywhere: true}
}

// Grammar is Rust's for Rust files.
func (Masker) Grammar(p string) syntax.Language {
	if strings.HasSuffix(p, ".rs") {
		return syntax.Rust
	}
	return ""
}

// Exempt tells tests and what serves them, build scripts, and crates of macros, which
// run in the compiler.
func (Masker) Exempt(p string, source []byte) mask.Whole {
	dirs := strings.Split(path.Dir(p), "/")
	name := strings.TrimSuffix(path.Base(p), ".rs")
	switch {
	case buildScript(p):
		return mask.Whole{Kind: mask.ForTools, Reason: "a build script"}
	case slices.ContainsFunc(dirs, func(d string) bool { return testDirs[d] }), testName.MatchString(name):
		return mask.Whole{Kind: mask.ForTests, Reason: "a test or of use to tests only"}
	case slices.Contains(dirs, "examples"):
		return mask.Whole{Kind: mask.Example, Reason: "an example of use"}
	case slices.ContainsFunc(macroWords, func(w []byte) bool { return bytes.Contains(source, w) }) && macroCrate.Match(source):
		return mask.Whole{Kind: mask.InCompiler, Reason: "of a crate of macros", Detail: "it runs in the compiler"}
	}
	return mask.Whole{}
}

func buildScript(p string) bool {
	return path.Base(p) == "build.rs" && !slices.Contains(strings.Split(path.Dir(p), "/"), "src")
}

// macroWords save most files the slower look for macroCrate.
var macroWords = [][]byte{[]byte("proc_macro"), []byte("use syn"), []byte("use quote"), []byte("use ::")}

var (
	testDirs   = map[string]bool{"tests": true, "test": true, "benches": true, "fuzz": true, "fuzz_targets": true}
	testName   = lazyregexp.New(`^(tests?|test_.*|.*_tests?|tests?_?(util|helper|support)s?|benches|bench)$`)
	macroCrate = lazyregexp.New(`(?m)^[ \t]*(#\[proc_macro|extern crate proc_macro\b|(pub )?use (::)?(proc_macro|syn|quote)(::|;))`)
)

//go:embed mask.scm
var query string

// Query is mask.scm.
func (Masker) Query(syntax.Language) string { return query }

// reader reads one file.
type reader struct {
	mask.Reader
	classes map[string]int        // by name, index in File.Classes
	written map[int]mask.Function // by macros: by the index of their body
	tests   int                   // byte until which everything is for tests only
	lints   []mask.Edit
}

// Read says what a Rust file holds. Nothing runs when a crate is loaded: values of constants and statics are made by the
// compiler, of functions that are const.
func (Masker) Read(p string, tree *syntax.Tree) *mask.File {
	r := &reader{classes: map[string]int{}, written: map[int]mask.Function{}}
	r.OnFunction, r.OnClass, r.OnCall, r.OnOther = r.function, r.class, r.call, r.other
	f := r.Reader.Read(tree)
	f.Modules, f.Compiled, f.Loads = []string{strings.Join(moduleOf(p), "::")}, Masker{}.Compiled(p, tree), nil
	if tree.Broken() {
		f.Faults = faults(tree, f.Faults)
	}
	if len(r.lints) > 0 {
		f.Repair = func(func(function int) bool) []mask.Edit { return r.lints }
	}
	return f
}

// faults leaves one of those in a macro: the grammar does not know all tokens that may stand there.
func faults(tree *syntax.Tree, lines []int) []int {
	var out []int
	var last syntax.Node
	for n := range tree.Root().Walk(syntax.Node.Broken) {
		if !n.Is("ERROR") && !n.Missing() || !slices.Contains(lines, n.Line()) {
			continue
		}
		if in := n.Above("macro_definition", "macro_invocation"); in != last || !in.Is() {
			out, last = append(out, n.Line()), in
		}
	}
	return slices.Compact(out)
}

func (r *reader) other(m syntax.Match) {
	switch {
	case m.Is("attribute"):
		r.attribute(m.Node)
	case m.Is("macro"):
		r.macro(m.Node)
	}
}

// moduleOf is a file's path of modules. The crate is called as its folder is, and
// "crate" where that is the root.
func moduleOf(p string) []string {
	dir, file := "", p
	if i := strings.LastIndex("/"+p, "/src/"); i >= 0 {
		dir, file = strings.Trim(("/" + p)[:i], "/"), ("/" + p)[i+len("/src/"):]
	}
	crate := "crate"
	if dir != "" {
		crate = strings.ReplaceAll(path.Base(dir), "-", "_")
	}
	out := []string{crate}
	for _, word := range strings.Split(strings.TrimSuffix(file, ".rs"), "/") {
		if word != "mod" && word != "lib" && word != "main" {
			out = append(out, word)
		}
	}
	return out
}

// call is what is called.
func (r *reader) call(m syntax.Match) []string {
	if m.Is("use") {
		return r.token(m.Node, m.At("arguments"))
	}
	of := m.Node.Child("function")
	if of.Is("generic_function") {
		of = of.Child("function")
	}
	if of.Is("scoped_identifier") {
		return r.path(typeName(of.Child("path")), of.Child("name").Text())
	}
	path := mask.Callee(of)
	if len(path) == 2 && path[0] == "self" {
		return r.path("Self", path[1])
	}
	return path
}

// path is a name behind a type, or behind a module, which may be any: files say of few functions where they are from.
func (r *reader) path(owner, name string) []string {
	switch {
	case owner == "Self" && r.Class() >= 0:
		class := r.File.Classes[r.Class()].Name
		owner = class[strings.LastIndexByte(class, '.')+1:]
	case owner == "" || owner[0] < 'A' || owner[0] > 'Z':
		owner = "crate"
	}
	return []string{owner, name}
}

// token is a name among what a macro is given that is called there.
func (r *reader) token(name, arguments syntax.Node) []string {
	source, owner := name.Tree().Source, name.Before()
	if owner.Is("fn") || name.End() != arguments.Start() || source[name.End()] != '(' {
		return nil
	}
	switch before := source[name.Start()-1]; {
	case before == '.' && owner.Is("self"):
		return r.path("Self", name.Text())
	case before == '.':
		return []string{"?", name.Text()}
	case before == ':':
		return r.path(owner.Text(), name.Text())
	}
	return []string{name.Text()}
}
