package golang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// maxPackage bounds the bytes of source of one package that is type-checked. A
// larger one is generated; of its tests nothing is said.
const maxPackage = 32 << 20

// testCode is what one tree has of test code, checked as it is asked for.
type testCode struct {
	tree    lang.Tree
	layout  layout
	fset    *token.FileSet
	folders map[string][]string // Go files that are built, by folder
	helpers map[string]bool     // folders of packages with a changed file that is no _test.go
	leading map[string]bool     // memo of leads
	units   map[string]*unit    // by folder, nil where it cannot be read
	plain   map[string]*checked // packages without their tests, by folder
	empty   map[string]*types.Package
	files   map[string]*ast.File
	at      map[token.Pos]*declaration // by the place of the name
}

// unit is the test program of one package.
type unit struct {
	packages []*checked // with its own tests, and with those of package x_test
	always   []*declaration
	values   map[string]bool // that the variables of its test files are given
}

// checked is one package after type-checking.
type checked struct {
	types     *types.Package
	info      *types.Info
	functions map[string][]*declaration
	always    []*declaration // run before any test
}

func newTestCode(t lang.Tree, changed []string) *testCode {
	c := &testCode{
		tree: t, layout: layoutOf(t), fset: token.NewFileSet(),
		folders: map[string][]string{}, helpers: map[string]bool{}, leading: map[string]bool{}, units: map[string]*unit{},
		plain: map[string]*checked{}, empty: map[string]*types.Package{}, files: map[string]*ast.File{}, at: map[token.Pos]*declaration{},
	}
	for _, p := range t.Paths() {
		if strings.HasSuffix(p, ".go") && walked(dirOf(p)) {
			c.folders[dirOf(p)] = append(c.folders[dirOf(p)], p)
		}
	}
	for _, p := range changed {
		if isGo(p) && !strings.HasSuffix(p, "_test.go") {
			c.helpers[dirOf(p)] = true
		}
	}
	return c
}

// isGo distinguishes source from data: below testdata Go files are data.
func isGo(p string) bool { return strings.HasSuffix(p, ".go") && walked(dirOf(p)) }

// leads reports whether a package has a changed file or imports one that has; tests,
// which nobody imports, left out.
func (c *testCode) leads(dir string) bool {
	if len(c.helpers) == 0 {
		return false
	}
	known, ok := c.leading[dir]
	if ok {
		return known
	}
	c.leading[dir] = c.helpers[dir] // ends cycles
	for _, p := range c.folders[dir] {
		if c.leading[dir] {
			break
		}
		if !strings.HasSuffix(p, "_test.go") {
			c.leading[dir] = slices.ContainsFunc(c.ownImports(p), c.leads)
		}
	}
	return c.leading[dir]
}

// ownImports are the folders of the project's packages that a file imports.
func (c *testCode) ownImports(p string) []string {
	var out []string
	for _, imp := range importsOf(c.tree, p) {
		if dir, ok := c.layout.dir(imp); ok {
			out = append(out, dir)
		}
	}
	return out
}

// unit checks a package with its tests. nil where there is none, or where it is too
// large or defeats the checker.
func (c *testCode) unit(importPath string) *unit {
	dir, ok := c.layout.dir(importPath)
	if !ok {
		return nil
	}
	if u, ok := c.units[dir]; ok {
		return u
	}
	c.units[dir] = nil
	var own, external []*ast.File
	size := 0
	for _, p := range c.folders[dir] {
		if !buildsSomehow(c.tree, p) {
			continue
		}
		f := c.parse(p)
		if f == nil {
			continue
		}
		size += int(f.FileEnd - f.FileStart)
		switch {
		case strings.HasSuffix(p, "_test.go") && strings.HasSuffix(f.Name.Name, "_test"):
			external = append(external, f)
		case strings.HasSuffix(p, "_test.go"):
			// First, so that a name means the test's where a change moved it there.
			own = append([]*ast.File{f}, own...)
		default:
			own = append(own, f)
		}
	}
	if size > maxPackage {
		return nil
	}
	inside := c.check(importPath, own, nil)
	if inside == nil {
		return nil
	}
	outside := c.check(importPath+"_test", external, inside.types)
	if outside == nil {
		return nil
	}
	u := &unit{packages: []*checked{inside, outside}, values: map[string]bool{}}
	for _, f := range slices.Concat(own, external) {
		for _, name := range declaredNames(f) {
			if d := c.at[name.Pos()]; d != nil && d.spec != nil {
				u.values[d.value()] = true
			}
		}
	}
	u.always = append(append(u.always, inside.always...), outside.always...)
	seen := map[string]bool{}
	for _, p := range c.folders[dir] {
		if strings.HasSuffix(p, "_test.go") && buildsSomehow(c.tree, p) {
			u.always = append(u.always, c.before(p, seen)...)
		}
	}
	c.units[dir] = u
	return u
}

// before is what the helper packages that a file imports run before any test.
func (c *testCode) before(p string, seen map[string]bool) []*declaration {
	var out []*declaration
	for _, dir := range c.ownImports(p) {
		if seen[dir] || !c.leads(dir) {
			continue
		}
		seen[dir] = true
		if helper := c.helper(dir); helper != nil {
			out = append(out, helper.always...)
		}
		for _, q := range c.folders[dir] {
			if !strings.HasSuffix(q, "_test.go") {
				out = append(out, c.before(q, seen)...)
			}
		}
	}
	return out
}

// helper checks a package as others import it.
func (c *testCode) helper(dir string) *checked {
	if p, ok := c.plain[dir]; ok {
		return p
	}
	c.plain[dir] = nil // ends import cycles
	var files []*ast.File
	for _, p := range c.folders[dir] {
		if !strings.HasSuffix(p, "_test.go") && buildsSomehow(c.tree, p) {
			if f := c.parse(p); f != nil {
				files = append(files, f)
			}
		}
	}
	importPath, _ := c.layout.importPath(dir)
	c.plain[dir] = c.check(importPath, files, nil)
	return c.plain[dir]
}

// parse reads a file; nil where nothing of it can be read. Of code that is not
// looked into, the bodies are left out: the types of its names are enough.
func (c *testCode) parse(p string) *ast.File {
	if f, ok := c.files[p]; ok {
		return f
	}
	data, err := c.tree.Read(p)
	if err != nil {
		return nil
	}
	f, _ := parser.ParseFile(c.fset, p, data, parser.ParseComments|parser.SkipObjectResolution) // what can be read is there
	c.files[p] = f
	if f == nil {
		return nil
	}
	if c.looksInto(p) {
		c.declare(p, data, f)
		return f
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			fn.Body = nil
		}
	}
	return f
}

// looksInto distinguishes test code from the project's own.
func (c *testCode) looksInto(p string) bool {
	return strings.HasSuffix(p, "_test.go") || c.leads(dirOf(p))
}

// check type-checks one package and takes every error. inside is the package that
// an external test package tests. nil where the checker itself fails.
func (c *testCode) check(importPath string, files []*ast.File, inside *types.Package) (p *checked) {
	// NOTE: go/types has been known to panic on code that does not compile. A
	// stranger's code must not end the program; nothing is then said of its tests.
	defer func() {
		if recover() != nil {
			p = nil
		}
	}()
	p = &checked{functions: map[string][]*declaration{}, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Instances: map[*ast.Ident]types.Instance{},
	}}
	conf := types.Config{
		Error: func(error) {}, FakeImportC: true,
		Importer: imports(func(path string) *types.Package {
			if inside != nil && path == inside.Path() {
				return inside
			}
			return c.imported(path)
		}),
	}
	p.types, _ = conf.Check(importPath, c.fset, files, p.info)
	for _, f := range files {
		c.settle(p, f)
	}
	return p
}

// settle ties the declarations of a file to the package that was checked.
func (c *testCode) settle(p *checked, f *ast.File) {
	for _, name := range declaredNames(f) {
		d := c.at[name.Pos()]
		if d == nil {
			continue
		}
		if d.in == nil { // the types of a helper package, not those that its own tests add to
			d.in = p
		}
		switch {
		case d.receiver == "" && d.fn != nil:
			p.functions[d.name] = append(p.functions[d.name], d)
			if d.name == "TestMain" || d.name == "init" {
				p.always = append(p.always, d)
			}
		case d.receiver != "":
			// By the name of the type: a receiver of the same package is never anything else.
			if t, ok := p.types.Scope().Lookup(d.receiver).(*types.TypeName); ok {
				if owner := c.at[t.Pos()]; owner != nil && !slices.Contains(owner.methods, d) {
					owner.methods = append(owner.methods, d)
				}
			}
		case d.name == "_" && d.calls():
			p.always = append(p.always, d)
		}
	}
}

type imports func(path string) *types.Package

func (i imports) Import(path string) (*types.Package, error) { return i(path), nil }

// imported is a helper package, or an empty one under the name that it probably has.
func (c *testCode) imported(importPath string) *types.Package {
	if dir, ok := c.layout.dir(importPath); ok && c.leads(dir) {
		if p := c.helper(dir); p != nil {
			return p.types
		}
	}
	p := c.empty[importPath]
	if p == nil {
		p = types.NewPackage(importPath, packageName(importPath))
		p.MarkComplete()
		c.empty[importPath] = p
	}
	return p
}

var (
	majorElement = lazyregexp.New(`^v\d+$`)
	majorSuffix  = lazyregexp.New(`\.v\d+$`)
)

// packageName guesses the name of a package that cannot be read.
func packageName(importPath string) string {
	name := path.Base(importPath)
	if majorElement.MatchString(name) && name != importPath {
		name = path.Base(path.Dir(importPath))
	}
	name = strings.TrimSuffix(strings.TrimPrefix(majorSuffix.ReplaceAllString(name, ""), "go-"), "-go")
	return name[strings.LastIndexByte(name, '-')+1:]
}

func unquote(lit *ast.BasicLit) string {
	s, err := strconv.Unquote(lit.Value)
	if err != nil {
		return ""
	}
	return s
}
