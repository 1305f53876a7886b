package spec

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/printer"
	"go/token"
	"path"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/benchmint/benchmint/internal/tree"
)

// goReference is what the doc comments of the packages of a tree say, as go doc shows it.
func (b *book) goReference(shipped func(string) bool) (document, bool) {
	blocks := []string{heading + "1" + referenceTitle}
	for _, dir := range goDirs(b.tree, shipped) {
		own := b.goPackage(dir.dir, dir.files)
		for _, x := range own {
			b.used(len(x))
		}
		blocks = append(blocks, own...)
		if !b.room() {
			b.left[leftLarge]++
			break
		}
	}
	return document{title: referenceTitle, blocks: blocks}, len(blocks) > 1
}

type goDir struct {
	dir   string
	files []string
}

// goDirs are the folders with sources that ship, the top first.
func goDirs(t *tree.Tree, shipped func(string) bool) []goDir {
	var out []goDir
	at := map[string]int{}
	for _, p := range t.Paths() {
		e, _ := t.Entry(p)
		if path.Ext(p) != ".go" || strings.HasSuffix(p, "_test.go") || e.Mode == tree.ModeSymlink || len(e.Data) > maxDocument || !shipped(p) {
			continue
		}
		dir := path.Dir(p)
		if slices.Contains(strings.Split(dir, "/"), "vendor") {
			continue
		}
		i, ok := at[dir]
		if !ok {
			i = len(out)
			at[dir] = i
			out = append(out, goDir{dir: dir})
		}
		if len(out[i].files) < maxModules {
			out[i].files = append(out[i].files, p)
		}
	}
	slices.SortStableFunc(out, func(a, b goDir) int { return strings.Compare(a.dir, b.dir) })
	return out
}

// goPackage is one package; a program has nothing to import.
func (b *book) goPackage(dir string, names []string) []string {
	set := token.NewFileSet()
	packages, most := map[string][]*ast.File{}, ""
	for _, p := range names {
		e, _ := b.tree.Entry(p)
		f, err := parser.ParseFile(set, p, e.Data, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			continue
		}
		packages[f.Name.Name] = append(packages[f.Name.Name], f)
		if len(packages[f.Name.Name]) > len(packages[most]) {
			most = f.Name.Name
		}
	}
	if most == "" || most == "main" {
		return nil
	}
	imports := b.importPath(dir)
	shown, err := doc.NewFromFiles(set, append(packages[most], b.exampleFiles(set, dir, most)...), imports)
	if err != nil {
		return nil
	}
	w := goWriter{set: set, pkg: shown}
	out := []string{heading + "2" + code("package "+shown.Name), fence("go", []string{"import \"" + imports + "\""})}
	out = append(out, w.comment(shown.Doc)...)
	out = append(out, w.examples(shown.Examples)...)
	out = append(out, w.values(shown.Consts, shown.Vars)...)
	b.counts(shown)
	for _, f := range shown.Funcs {
		out = append(out, w.function(f, 3)...)
	}
	for _, t := range shown.Types {
		out = append(out, heading+"3"+code("type "+t.Name), w.decl(t.Decl))
		out = append(out, w.comment(t.Doc)...)
		out = append(out, w.examples(t.Examples)...)
		out = append(out, w.values(t.Consts, t.Vars)...)
		for _, f := range slices.Concat(t.Funcs, t.Methods) {
			out = append(out, w.function(f, 4)...)
		}
	}
	return out
}

// counts counts what is exported, and what of it has a doc comment.
func (b *book) counts(p *doc.Package) {
	one := func(comment string) {
		b.public++
		if strings.TrimSpace(comment) != "" {
			b.documented++
		}
	}
	for _, f := range p.Funcs {
		one(f.Doc)
	}
	for _, t := range p.Types {
		one(t.Doc)
		for _, f := range slices.Concat(t.Funcs, t.Methods) {
			one(f.Doc)
		}
	}
}

// exampleFiles are the tests of a package that hold examples.
func (b *book) exampleFiles(set *token.FileSet, dir, name string) []*ast.File {
	var out []*ast.File
	for _, p := range b.tree.Paths() {
		e, _ := b.tree.Entry(p)
		if path.Dir(p) != dir || !strings.HasSuffix(p, "_test.go") || e.Mode == tree.ModeSymlink || len(e.Data) > maxDocument || !bytes.Contains(e.Data, []byte("\nfunc Example")) {
			continue
		}
		f, err := parser.ParseFile(set, p, e.Data, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil && strings.TrimSuffix(f.Name.Name, "_test") == name {
			out = append(out, f)
		}
	}
	return out
}

// importPath is the module's path with the folder of the package.
func (b *book) importPath(dir string) string {
	for at := dir; ; at = path.Dir(at) {
		if e, ok := b.tree.Entry(path.Join(at, "go.mod")); ok {
			rest := strings.TrimPrefix(strings.TrimPrefix(dir, at), "/")
			if at == "." {
				rest = strings.TrimPrefix(dir, ".")
			}
			return path.Join(modfile.ModulePath(e.Data), rest)
		}
		if at == "." || at == "/" {
			return dir
		}
	}
}

type goWriter struct {
	set *token.FileSet
	pkg *doc.Package
}

// comment is a doc comment as Markdown. Its headings are bold: the text has its own.
func (w goWriter) comment(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	printer := w.pkg.Printer()
	printer.DocLinkURL = func(*comment.DocLink) string { return "" } // its anchors are not those of the text
	lines := strings.Split(strings.TrimRight(string(printer.Markdown(w.pkg.Parser().Parse(text))), "\n"), "\n")
	for i, l := range lines {
		if m := atxLine.FindStringSubmatch(l); m != nil {
			lines[i] = bold(attributes.ReplaceAllString(m[2], ""))
		}
	}
	return []string{clean(strings.Join(lines, "\n"))}
}

// decl is a declaration as it is written, without its comment and without a body.
func (w goWriter) decl(n ast.Node) string {
	var buf bytes.Buffer
	switch d := n.(type) {
	case *ast.FuncDecl:
		d.Body, d.Doc = nil, nil
	case *ast.GenDecl:
		d.Doc = nil
	}
	config := printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}
	if err := config.Fprint(&buf, w.set, n); err != nil {
		return ""
	}
	return fence("go", strings.Split(clean(buf.String()), "\n"))
}

// clean is text without control characters: source code may hold them, and keeps its tabs.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if control(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

func (w goWriter) values(of ...[]*doc.Value) []string {
	var out []string
	for _, v := range slices.Concat(of...) {
		out = append(out, w.decl(v.Decl))
		out = append(out, w.comment(v.Doc)...)
	}
	return out
}

func (w goWriter) function(f *doc.Func, level int) []string {
	name := "func " + f.Name
	if f.Recv != "" {
		name = "func (" + f.Recv + ") " + f.Name
	}
	out := append([]string{heading + string(rune('0'+level)) + code(name), w.decl(f.Decl)}, w.comment(f.Doc)...)
	return append(out, w.examples(f.Examples)...)
}

// examples are those of the tests, which go doc shows as well, with what they print.
func (w goWriter) examples(all []*doc.Example) []string {
	var out []string
	for _, x := range all {
		var buf bytes.Buffer
		body, block := x.Code.(*ast.BlockStmt)
		config := printer.Config{Mode: printer.UseSpaces | printer.TabIndent, Tabwidth: 8}
		if err := config.Fprint(&buf, w.set, &printer.CommentedNode{Node: x.Code, Comments: x.Comments}); err != nil {
			continue
		}
		text := strings.Split(clean(buf.String()), "\n")
		if block && body.Lbrace.IsValid() && len(text) > 2 {
			for i, l := range text {
				text[i] = strings.TrimPrefix(l, "\t")
			}
			text = text[1 : len(text)-1]
		}
		title := "Example"
		if x.Suffix != "" {
			title += " (" + x.Suffix + ")"
		}
		out = append(append(out, bold(title)), w.comment(x.Doc)...)
		out = append(out, fence("go", text))
		if x.Output != "" && !strings.Contains(buf.String(), "// Output:") && !strings.Contains(buf.String(), "// Unordered output:") {
			out = append(out, "Output:", fence("text", strings.Split(clean(x.Output), "\n")))
		}
	}
	return out
}
