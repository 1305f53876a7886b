package golang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"sort"
	"strings"
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

// owner is the function in whose body a place is, -1 for none.
func (r *maskReader) owner(at token.Pos) int {
	offset, all := r.code.offset(at), r.File.Functions
	i := sort.Search(len(all), func(i int) bool { return all[i].Span.End > offset })
	if i < len(all) && all[i].Body.Start <= offset && offset < all[i].Body.End {
		return i
	}
	return -1
}
