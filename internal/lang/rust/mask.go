// Package rust says what masking needs to know of Rust: its functions, what may stand in
// the place of their bodies, and what has to stay so that the crate compiles.
//
// It never expands macros: functions that stand among the tokens given to one are not
// seen and stay as they are. Those that a macro_rules writes are functions where it does.
package rust

import (
	"bytes"
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
	return mask.Semantics{FullNames: true}
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

// Read says what a Rust file holds.
func (Masker) Read(p string, tree *syntax.Tree) *mask.File {
	r := &maskReader{file: &mask.File{}, source: tree.Source, owner: -1, classes: map[string]int{}, seen: map[string]bool{}}
	r.module = moduleOf(p)
	r.file.Modules = []string{strings.Join(r.module, "::")}
	r.walk(tree.Root(), around{class: -1, parent: -1})
	if len(r.file.Faults) == 0 && !slices.ContainsFunc(r.file.Functions, func(f mask.Function) bool { return f.Broken }) {
		r.fault(tree.Root()) // one in a place that is not looked at (a type, an attribute)
	}
	if len(r.lints) > 0 {
		r.file.Repair = r.repair
	}
	r.file.Compiled = Masker{}.Compiled(p, tree)
	return r.file
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

// counter is what counts for the shape of a body.
var counter = mask.Counter{
	"line_comment": mask.Comment, "block_comment": mask.Comment,
	"call_expression": mask.Call, "macro_invocation": mask.Call, "binary_expression": mask.Logic,
	"if_expression": mask.Branch | mask.Nest, "match_expression": mask.Nest, "match_arm": mask.Branch,
	"while_expression": mask.Branch | mask.Nest, "for_expression": mask.Branch | mask.Nest,
	"loop_expression": mask.Branch | mask.Nest, "closure_expression": mask.Nest, "try_expression": mask.Branch,
}
