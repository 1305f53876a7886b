package golang

import (
	"go/ast"
	"go/constant"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
)

// declaration is one name that test code declares at top level: a function, a
// method, a type, a variable or a constant.
type declaration struct {
	code     *testCode
	in       *checked
	key      string // folder, the type of a method, name
	name     string
	receiver string // of a method: the name of its type
	fn       *ast.FuncDecl
	spec     ast.Spec
	group    *ast.GenDecl
	ident    *ast.Ident
	source   []byte // of the whole file
	methods  []*declaration
	known    *facts
	said     string // memo of text
}

// facts are what one declaration says of others.
type facts struct {
	uses     []*declaration
	leaves   []*declaration // types of which it lets a value leave the checked code
	unknown  []string       // names that it selects from values of unknown type
	literals []string
	imports  map[string]bool // name and path of packages that it names
}

// declare notes what a file of test code declares.
func (c *testCode) declare(p string, source []byte, f *ast.File) {
	add := func(d declaration) {
		d.code, d.source, d.name = c, source, d.ident.Name
		d.key = path.Join(dirOf(p), f.Name.Name) + "." + strings.TrimPrefix(d.receiver+"."+d.name, ".")
		c.at[d.ident.Pos()] = &d
	}
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			add(declaration{fn: decl, ident: decl.Name, receiver: receiverName(decl)})
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(declaration{spec: spec, group: decl, ident: spec.Name})
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						add(declaration{spec: spec, group: decl, ident: name})
					}
				}
			}
		}
	}
}

// declaredNames are the identifiers that declare something, in order.
func declaredNames(f *ast.File) []*ast.Ident {
	var out []*ast.Ident
	for _, decl := range f.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			out = append(out, decl.Name)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					out = append(out, spec.Name)
				case *ast.ValueSpec:
					out = append(out, spec.Names...)
				}
			}
		}
	}
	return out
}

func receiverName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return ""
	}
	e := fn.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return "?" // a method of what does not parse
		}
	}
}

func (d *declaration) node() ast.Node {
	if d.fn != nil {
		return d.fn
	}
	return d.spec
}

// calls recognises a variable whose value may do something when the program starts. A
// conversion does nothing: var _ I = (*T)(nil) asks the compiler only.
func (d *declaration) calls() bool {
	found := false
	ast.Inspect(d.node(), func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			found = found || !d.in.info.Types[n.Fun].IsType() && !ofNil(n)
		case *ast.FuncLit:
			return false
		}
		return !found
	})
	return found
}

// ofNil recognises a conversion to a type that is not there: pkg.T(nil).
func ofNil(n *ast.CallExpr) bool {
	if len(n.Args) != 1 {
		return false
	}
	id, ok := n.Args[0].(*ast.Ident)
	return ok && id.Name == "nil"
}

// text is what is compared: the words of the source, the packages that its names
// stand for, and of a constant the value, which in a group may hang on its place.
func (d *declaration) text() string {
	if d.said != "" {
		return d.said
	}
	var b strings.Builder
	if d.fn != nil && strings.HasPrefix(d.name, "Example") {
		b.WriteString(d.slice(d.fn.Pos(), d.fn.End())) // the expected output is a comment
	} else if c, ok := d.in.info.Defs[d.ident].(*types.Const); ok {
		if v := c.Val(); v.Kind() != constant.Unknown {
			b.WriteString("const " + c.Type().String() + " " + v.ExactString())
		} else {
			b.WriteString(d.words(d.group))
		}
	} else {
		b.WriteString(d.words(d.node()))
	}
	for _, line := range d.directives() {
		b.WriteString("\n" + line)
	}
	for _, imp := range slices.Sorted(maps.Keys(d.facts().imports)) {
		b.WriteString("\n" + imp)
	}
	d.said = b.String()
	return d.said
}

// value is the words of what a variable is given.
func (d *declaration) value() string {
	spec, ok := d.spec.(*ast.ValueSpec)
	if !ok {
		return ""
	}
	var b strings.Builder
	for _, v := range spec.Values {
		b.WriteString(d.words(v) + ",")
	}
	return b.String()
}

func (d *declaration) slice(from, to token.Pos) string {
	f := d.code.fset.File(from)
	start, end := f.Offset(from), f.Offset(to)
	return string(d.source[start:min(end, len(d.source))])
}

// words are the tokens of a node without comments and layout.
func (d *declaration) words(n ast.Node) string {
	src := []byte(d.slice(n.Pos(), n.End()))
	var s scanner.Scanner
	fset := token.NewFileSet()
	s.Init(fset.AddFile("", fset.Base(), len(src)), src, func(token.Position, string) {}, 0)
	var b strings.Builder
	held := "" // what layout may add before a closing bracket
	for {
		_, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			return b.String()
		case token.SEMICOLON, token.COMMA:
			held = tok.String() + "\x00" // a semicolon that is not written as well
			continue
		case token.RBRACE, token.RPAREN:
			held = ""
		}
		b.WriteString(held)
		held = ""
		if lit == "" {
			lit = tok.String()
		}
		b.WriteString(lit + "\x00")
	}
}

// directives are lines such as //go:embed before the declaration.
func (d *declaration) directives() []string {
	docs := []*ast.CommentGroup{}
	switch {
	case d.fn != nil:
		docs = append(docs, d.fn.Doc)
	case d.group != nil:
		docs = append(docs, d.group.Doc)
	}
	switch spec := d.spec.(type) {
	case *ast.ValueSpec:
		docs = append(docs, spec.Doc)
	case *ast.TypeSpec:
		docs = append(docs, spec.Doc)
	}
	var out []string
	for _, doc := range docs {
		if doc == nil {
			continue
		}
		for _, c := range doc.List {
			if strings.HasPrefix(c.Text, "//go:") {
				out = append(out, strings.TrimSpace(c.Text))
			}
		}
	}
	return out
}

// facts reads a declaration, once.
func (d *declaration) facts() *facts {
	if d.known != nil {
		return d.known
	}
	d.known = &facts{imports: map[string]bool{}}
	r := factReader{d: d, info: d.in.info, uses: map[*declaration]bool{}, leaves: map[*declaration]bool{}, unknown: map[string]bool{}}
	if d.fn != nil {
		r.function(d.fn.Type, d.fn)
	} else {
		r.read(d.spec, nil)
	}
	if spec, ok := d.spec.(*ast.ValueSpec); ok && spec.Values == nil && d.group.Tok == token.CONST {
		r.read(d.group, nil) // the value is that of a spec before
	}
	d.known.uses, d.known.leaves = inOrder(r.uses), inOrder(r.leaves)
	d.known.unknown = slices.Sorted(maps.Keys(r.unknown))
	for _, line := range d.directives() {
		if files, ok := strings.CutPrefix(line, "//go:embed "); ok {
			d.known.literals = append(d.known.literals, strings.Fields(files)...)
		}
	}
	return d.known
}

func inOrder(set map[*declaration]bool) []*declaration {
	return slices.SortedFunc(maps.Keys(set), func(a, b *declaration) int { return int(a.ident.Pos()) - int(b.ident.Pos()) })
}
