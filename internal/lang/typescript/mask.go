// Package typescript is what masking knows of TypeScript. The reader is JavaScript's,
// whose grammar this one's holds; here stands what types ask for.
//
// A masked tree type-checks with the project's own settings, save these, which are
// about code that is gone: noUnusedLocals and noUnusedParameters (imports, parameters
// and private members that only bodies used), and an expected error
// (@ts-expect-error) that no longer comes. Who checks passes
// --noUnusedLocals false --noUnusedParameters false.
//
// It never asks the compiler for a type: where no result is written, a masked function
// gives any, unless the file says what its body returns (mask_types.go beside the reader).
package typescript

import (
	_ "embed" // the query
	"path"

	"github.com/benchmint/benchmint/internal/lang/javascript"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/syntax"
)

// Masker is the mask.Language.
type Masker struct{ javascript.Masker }

var (
	_ mask.Language = Masker{}
	_ mask.Anchored = Masker{}
)

// Name is the field's word.
func (Masker) Name() string { return "typescript" }

// Grammar tells markup by the ending: <T>x is a cast in one grammar, a tag in the other.
func (Masker) Grammar(file string) syntax.Language {
	switch path.Ext(file) {
	case ".ts", ".mts", ".cts":
		return syntax.TypeScript
	case ".tsx":
		return syntax.TSX
	}
	return ""
}

// Exempt adds files of declarations to what JavaScript leaves alone.
func (Masker) Exempt(file string, _ []byte) mask.Whole {
	if javascript.Declares(file) {
		return mask.Whole{Kind: mask.Declarations, Reason: "declarations only"}
	}
	return javascript.Exempt(file)
}

//go:embed mask.scm
var query string

// Query is JavaScript's, and mask.scm.
func (m Masker) Query(g syntax.Language) string { return m.Masker.Query(g) + query }

// Read says what a file holds.
func (Masker) Read(file string, tree *syntax.Tree) *mask.File {
	f := javascript.Read(file, tree, true)
	if javascript.Declares(file) { // the compiler alone reads it
		f.Loads = nil
	}
	return f
}
