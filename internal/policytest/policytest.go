// Package policytest holds the architecture and secrets rules of the repository
// (design, section 3) as tests over its own source.
//
// It never runs or imports the code that it judges, and never lets a rule have a
// silent exception: each stands in a table, with its reason.
package policytest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Source is one Go file of the repository.
type Source struct {
	Path string // slash-separated, from the root of the repository
	File *ast.File
	Set  *token.FileSet
}

// Dir is the package's directory.
func (s Source) Dir() string { return path.Dir(s.Path) }

// IsTest is true for test files and for packages that only tests use (xtest).
func (s Source) IsTest() bool {
	return strings.HasSuffix(s.Path, "_test.go") || strings.Contains(s.Path, "test/")
}

// At is "path:line" of a node.
func (s Source) At(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.Path, s.Set.Position(n.Pos()).Line)
}

// Files are the files below root that may be committed, by path: no dot folder
// but .ci, no folder that a run makes.
func Files(root string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		made := strings.HasPrefix(name, "_") || strings.HasPrefix(name, "benchmint-")
		if d.IsDir() && p != root && (made || strings.HasPrefix(name, ".") && name != ".ci") {
			return filepath.SkipDir
		}
		if d.Type().IsRegular() {
			rel, err := filepath.Rel(root, p)
			if err != nil {
				return err
			}
			out = append(out, filepath.ToSlash(rel))
		}
		return nil
	})
	return out, err
}

// Sources parses every Go file of ours below root; testdata belongs to tests.
func Sources(root string) ([]Source, error) {
	files, err := Files(root)
	if err != nil {
		return nil, err
	}
	var out []Source
	for _, name := range files {
		if !strings.HasSuffix(name, ".go") || strings.Contains("/"+name, "/testdata/") {
			continue
		}
		set := token.NewFileSet()
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(set, name, text, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		out = append(out, Source{Path: name, File: file, Set: set})
	}
	return out, nil
}

// Uses are the places where a file names member of the imported package
// importPath, e.g. "time" and "Now".
func (s Source) Uses(importPath, member string) []ast.Node {
	name := ""
	for _, imp := range s.File.Imports {
		if strings.Trim(imp.Path.Value, `"`) == importPath {
			name = path.Base(importPath)
			if imp.Name != nil {
				name = imp.Name.Name
			}
		}
	}
	if name == "" {
		return nil
	}
	var out []ast.Node
	ast.Inspect(s.File, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != member {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == name {
			out = append(out, n)
		}
		return true
	})
	return out
}

// Calls are the calls of a function of the imported package importPath.
func (s Source) Calls(importPath, function string) []*ast.CallExpr {
	uses := s.Uses(importPath, function)
	var out []*ast.CallExpr
	ast.Inspect(s.File, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && slices.Contains(uses, ast.Node(c.Fun)) {
			out = append(out, c)
		}
		return true
	})
	return out
}

// Text is what a constant expression of literals and names stands for; all are the files
// among which names are looked for. A package is known by the last element of its path.
func (s Source) Text(e ast.Expr, all []Source) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := s.Text(e.X, all)
		right, too := s.Text(e.Y, all)
		return left + right, ok && too && e.Op == token.ADD
	case *ast.Ident:
		return constant(path.Base(s.Dir()), e.Name, all)
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return constant(x.Name, e.Sel.Name, all)
		}
	}
	return "", false
}

func constant(pkg, name string, all []Source) (string, bool) {
	for _, s := range all {
		o := s.File.Scope.Lookup(name)
		if o == nil || o.Kind != ast.Con || path.Base(s.Dir()) != pkg {
			continue
		}
		v := o.Decl.(*ast.ValueSpec)
		i := slices.IndexFunc(v.Names, func(n *ast.Ident) bool { return n.Name == name })
		if i < len(v.Values) {
			return s.Text(v.Values[i], all)
		}
	}
	return "", false
}

// InFunction reports whether a node lies in a function, and is not run with the package.
func (s Source) InFunction(n ast.Node) bool {
	for _, d := range s.File.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Pos() <= n.Pos() && n.Pos() < f.End() {
			return true
		}
	}
	return false
}
