package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/benchmint/benchmint/internal/tree"
)

// breaks reports whether the start has errors in a package that the solution has not.
func breaks(start, solution *tree.Tree, dir string) bool {
	fine := errorsOf(solution, dir)
	return slices.ContainsFunc(errorsOf(start, dir), func(e string) bool { return !slices.Contains(fine, e) })
}

// errorsOf are what go/types says of a package and its tests, without places.
func errorsOf(t *tree.Tree, dir string) []string {
	fset := token.NewFileSet()
	var own, external []*ast.File
	for _, p := range goFiles(t, dir) {
		data, err := t.Read(p)
		if err != nil {
			continue
		}
		f, err := parser.ParseFile(fset, p, data, parser.SkipObjectResolution)
		switch {
		case f == nil || err != nil || strings.Contains(string(data), "//go:build ignore"):
		case strings.HasSuffix(p, "_test.go") && strings.HasSuffix(f.Name.Name, "_test"):
			external = append(external, f)
		default:
			own = append(own, f)
		}
	}
	var out []string
	conf := types.Config{Importer: empty{}, FakeImportC: true, Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) {
			out = append(out, e.Msg)
		}
	}}
	importPath := importPathOf(t, dir)
	inside, _ := conf.Check(importPath, fset, own, nil) // its errors are in out
	conf.Importer = empty{importPath: inside}
	_, _ = conf.Check(importPath+"_test", fset, external, nil)
	return out
}

// empty imports packages that hold nothing.
type empty map[string]*types.Package

func (e empty) Import(importPath string) (*types.Package, error) {
	if p := e[importPath]; p != nil {
		return p, nil
	}
	p := types.NewPackage(importPath, path.Base(importPath))
	p.MarkComplete()
	return p, nil
}

func goFiles(t *tree.Tree, dir string) []string {
	var out []string
	for _, p := range t.Paths() {
		if path.Dir(p) == dir && strings.HasSuffix(p, ".go") {
			out = append(out, p)
		}
	}
	return out
}

// importPathOf reads the go.mod above a folder; "" where there is none.
func importPathOf(t *tree.Tree, dir string) string {
	for at := dir; ; at = path.Dir(at) {
		if data, err := t.Read(path.Join(at, "go.mod")); err == nil {
			rest := strings.TrimPrefix(strings.TrimPrefix(dir, at), "/")
			if at == "." && dir != "." {
				rest = dir
			} else if at == dir {
				rest = ""
			}
			return path.Join(modfile.ModulePath(data), rest)
		}
		if at == "." {
			return ""
		}
	}
}

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Example|Fuzz)[^a-z(]\w*)\(`)

func testsOf(t *tree.Tree, dir string) []string {
	var out []string
	for _, p := range goFiles(t, dir) {
		data, err := t.Read(p)
		if err != nil || !strings.HasSuffix(p, "_test.go") {
			continue
		}
		for _, m := range testFunction.FindAllSubmatch(data, -1) {
			if name := string(m[1]); name != "TestMain" && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
