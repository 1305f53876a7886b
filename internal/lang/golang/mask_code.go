package golang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/mask"
)

// parsed is a file as go/parser reads it. Of one that it refuses, which does not compile, there is nothing but package-level names.
type parsed struct {
	*ast.File
	lines *token.File
}

func parse(source []byte) parsed {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", source, parser.ParseComments)
	if err != nil {
		f = &ast.File{Name: f.Name, Scope: f.Scope}
	}
	return parsed{f, set.File(f.FileStart)}
}

func (c parsed) offset(at token.Pos) int { return c.lines.Offset(at) }

// documented reports whether the function that is declared at a byte has a comment of its own; directives (//go:noinline)
// say nothing to readers.
func (c parsed) documented(at int) bool {
	return slices.ContainsFunc(c.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && c.offset(f.Pos()) == at && strings.TrimSpace(f.Doc.Text()) != ""
	})
}

// isLocal reports whether a name is one of a function's.
func (c parsed) isLocal(x *ast.Ident) bool { return x.Obj != nil && x.Obj != c.Scope.Lookup(x.Name) }

// owner is the function or literal in whose body a place is, by its number in the file, -1 for none.
func (r *maskReader) owner(at token.Pos) int {
	return r.around(r.code.offset(at), r.File.Literals)
}

// around is the innermost function, or literal of some, in whose body a byte is.
func (r *maskReader) around(offset int, literals []mask.Literal) int {
	// The last literal that begins before it has it, or one around that.
	i := sort.Search(len(literals), func(i int) bool { return literals[i].Body.Start > offset }) - 1
	for i >= 0 && literals[i].Body.End <= offset {
		i = literals[i].Parent - len(r.File.Functions)
	}
	if i >= 0 {
		return len(r.File.Functions) + i
	}
	return r.functionAt(offset)
}

// functionAt is the function in whose body a byte is.
func (r *maskReader) functionAt(offset int) int {
	all := r.File.Functions
	i := sort.Search(len(all), func(i int) bool { return all[i].Span.End > offset })
	if i < len(all) && all[i].Body.Start <= offset && offset < all[i].Body.End {
		return i
	}
	return -1
}
