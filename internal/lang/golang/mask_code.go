package golang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"sort"

	"github.com/benchmint/benchmint/internal/mask"
)

// parsed is a file as go/parser reads it. Of one that it refuses, which does not compile, there is nothing but package-level names.
type parsed struct {
	*ast.File
	lines *token.File
}

func parse(source []byte) parsed {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", source, 0)
	if err != nil {
		f = &ast.File{Name: f.Name, Scope: f.Scope}
	}
	return parsed{f, set.File(f.FileStart)}
}

func (c parsed) offset(at token.Pos) int { return c.lines.Offset(at) }

func (c parsed) line(n ast.Node) int { return c.lines.PositionFor(n.Pos(), false).Line }

// isLocal reports whether a name is one of a function's.
func (c parsed) isLocal(x *ast.Ident) bool { return x.Obj != nil && x.Obj != c.Scope.Lookup(x.Name) }

// owner is the function in whose body a place is, -1 for none.
func (r *maskReader) owner(at token.Pos) int {
	offset, all := r.code.offset(at), r.file.Functions
	i := sort.Search(len(all), func(i int) bool { return all[i].Span.End > offset })
	if i < len(all) && all[i].Body.Start <= offset && offset < all[i].Body.End {
		return i
	}
	return -1
}

// calls notes what functions call, and what is called when the package is loaded.
func (r *maskReader) calls() {
	for _, d := range r.code.Decls {
		g, ok := d.(*ast.GenDecl)
		loads := ok && g.Tok == token.VAR
		ast.Inspect(d, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				r.call(c, loads)
			}
			return true
		})
	}
}

func (r *maskReader) call(c *ast.CallExpr, loads bool) {
	ref := mask.Ref{Path: r.called(c.Fun), Use: mask.Called, Class: -1, Line: r.code.line(c)}
	if ref.Path == nil {
		return
	}
	if i := r.owner(c.Pos()); i >= 0 {
		f := &r.file.Functions[i]
		ref.Class = f.Class
		f.Runs = append(f.Runs, ref)
	} else if loads {
		r.file.Loads = append(r.file.Loads, ref)
	}
}

// called is the dotted name of what is called; nil where there is none, and for a variable of a function.
func (r *maskReader) called(of ast.Expr) []string {
	for {
		switch x := of.(type) {
		case *ast.ParenExpr:
			of = x.X
		case *ast.IndexExpr: // F[T](x)
			of = x.X
		case *ast.IndexListExpr:
			of = x.X
		case *ast.SelectorExpr:
			return r.words(x)
		case *ast.Ident:
			if !r.code.isLocal(x) {
				return []string{x.Name}
			}
			return nil
		default:
			return nil
		}
	}
}

// words is a dotted name; "?" stands for what is no name, and for a variable that hides an import.
func (r *maskReader) words(of ast.Expr) []string {
	switch x := of.(type) {
	case *ast.ParenExpr:
		return r.words(x.X)
	case *ast.SelectorExpr:
		return append(r.words(x.X), x.Sel.Name)
	case *ast.Ident:
		if !r.code.isLocal(x) || !slices.ContainsFunc(r.specs, func(s spec) bool { return s.local == x.Name }) {
			return []string{x.Name}
		}
	}
	return []string{"?"}
}
