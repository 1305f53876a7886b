package golang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"

	"github.com/benchmint/benchmint/internal/serve/settings"
)

// goFile is one file of a program, without tests.
type goFile struct {
	path, dir string
	text      string
	pkg       string
	imports   []string
	ast       *ast.File
	set       *token.FileSet
}

// The bounds of what is read of one program.
const (
	maxGoFile  = 512 << 10
	maxGoFiles = 4000
)

// goCode is what the Go files of a tree hold.
type goCode struct {
	l     layout
	files []*goFile
	byDir map[string][]*goFile
	// above reports a database file above the tree.
	above   bool
	aboveAt string
}

// mainPackage is a package main.
type mainPackage struct {
	dir     string
	at      string          // path:line of its main function
	reaches map[string]bool // folders of the tree
	score   int
}

func readCode(t lang.Tree, l layout) *goCode {
	c := &goCode{l: l, byDir: map[string][]*goFile{}}
	for _, p := range t.Paths() {
		dir := dirOf(p)
		if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") || !walked(dir) || len(c.files) == maxGoFiles || !builds(t, p, nil) {
			continue
		}
		data, err := t.Read(p)
		if err != nil || len(data) > maxGoFile {
			continue
		}
		set := token.NewFileSet()
		parsed, _ := parser.ParseFile(set, p, data, parser.SkipObjectResolution)
		if parsed == nil || parsed.Name == nil {
			continue
		}
		f := &goFile{path: p, dir: dir, text: string(data), pkg: parsed.Name.Name, ast: parsed, set: set}
		for _, spec := range parsed.Imports {
			if s, err := strconv.Unquote(spec.Path.Value); err == nil {
				f.imports = append(f.imports, s)
			}
		}
		c.files = append(c.files, f)
		c.byDir[dir] = append(c.byDir[dir], f)
	}
	return c
}

func (f *goFile) line(pos token.Pos) string {
	return f.path + ":" + strconv.Itoa(f.set.Position(pos).Line)
}

// reach are the folders of the tree that a package imports, itself included.
func (c *goCode) reach(dir string) map[string]bool {
	out := map[string]bool{}
	todo := []string{dir}
	for len(todo) > 0 {
		d := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if out[d] {
			continue
		}
		out[d] = true
		for _, f := range c.byDir[d] {
			for _, imp := range f.imports {
				if next, ok := c.l.dir(imp); ok && !out[next] && len(c.byDir[next]) > 0 {
					todo = append(todo, next)
				}
			}
		}
	}
	return out
}

// of are the files of some folders, in order.
func (c *goCode) of(dirs map[string]bool) []*goFile {
	var out []*goFile
	for _, f := range c.files {
		if dirs[f.dir] {
			out = append(out, f)
		}
	}
	return out
}

// importer is the first of the files that imports one of these packages, or one below.
func importer(files []*goFile, paths []string) (*goFile, bool) {
	for _, f := range files {
		for _, imp := range f.imports {
			if slices.ContainsFunc(paths, func(p string) bool { return imp == p || strings.HasPrefix(imp, p+"/") }) {
				return f, true
			}
		}
	}
	return nil, false
}

var (
	servingName = lazyregexp.New(`(?i)(?:^|/)(?:server|api|app|web|http|httpd|rest|main|service|backend|serve|apiserver|http-server|\w*[-_]?(?:server|api))$`)
	otherName   = lazyregexp.New(`(?i)(?:^|/)(?:migrat\w*|seed\w*|create\w+|worker|cron|client|cli|examples?|_?examples|tools?|gen\w*|docs?|scripts?|hack|test\w*|benchmark\w*|bench|demo\w*|consumer|producer|lambda)(?:/|$)`)
	listens     = lazyregexp.New(`\.(?:ListenAndServe(?:TLS)?|Run|RunTLS|Serve|Start)\(`)
	goRun       = lazyregexp.New(`\bgo\s+(?:run|build|install)\b[^|;&]*?[\s"]((?:\./|/)?[\w./-]+|\.)["\s]*$|\bgo\s+(?:run|build)\s+(?:-\S+\s+(?:[^-.\s]\S*\s+)?)*(\.?/?[\w./-]+)`)
)

// findMain chooses the package main that reaches the framework.
func (s *serving) findMain(imports []string) error {
	for dir, files := range s.code.byDir {
		for _, f := range files {
			if f.pkg != "main" {
				continue
			}
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "main" {
					s.mains = append(s.mains, mainPackage{dir: dir, at: f.line(fn.Pos()), reaches: s.code.reach(dir)})
				}
			}
		}
	}
	slices.SortFunc(s.mains, func(a, b mainPackage) int { return strings.Compare(a.dir, b.dir) })
	var best *mainPackage
	for i := range s.mains {
		m := &s.mains[i]
		files := s.code.of(m.reaches)
		if _, ok := importer(files, imports); !ok {
			continue
		}
		m.score = s.weigh(*m, files)
		if best == nil || m.score > best.score {
			best = m
		}
	}
	if best == nil {
		return &lang.Refusal{Reason: schemas.NoBoot, Detail: "no package main reaches the framework"}
	}
	s.main = *best
	i, ok := s.l.index(s.main.dir)
	if !ok {
		return &lang.Refusal{Reason: schemas.NoBoot, Detail: s.main.at + " lies in no module"}
	}
	s.module = s.l.modules[i]
	s.env = settings.Read(s.p.Solution, s.module.Dir)
	s.named(imports)
	return nil
}

func (s *serving) weigh(m mainPackage, files []*goFile) int {
	score := len(m.reaches)
	if slices.ContainsFunc(files, func(f *goFile) bool { return listens.MatchString(f.text) }) {
		score += 20
	}
	if servingName.MatchString(m.dir) || m.dir == "" {
		score += 15
	}
	if otherName.MatchString(m.dir) {
		score -= 40
	}
	return score - 2*strings.Count(m.dir, "/")
}

// named prefers the program that commands of the repository build or run.
func (s *serving) named(imports []string) {
	for _, c := range s.env.Commands {
		x := goRun.FindStringSubmatch(c.Text)
		if x == nil {
			continue
		}
		dir := cleanDir(path.Join(s.module.Dir, strings.TrimLeft(x[1]+x[2], "/")))
		if strings.HasSuffix(dir, ".go") {
			dir = dirOf(dir)
		}
		for _, m := range s.mains {
			files := s.code.of(m.reaches)
			if _, ok := importer(files, imports); m.dir == dir && ok && s.weigh(m, files)+12 > s.main.score {
				s.main = m
				s.main.score += 12
			}
		}
	}
}

// subcommand is a command of a command line library.
type subcommand struct {
	name string
	runs bool
	at   string
}

// subcommands are the commands of cobra and urfave/cli that the program declares.
func (s *serving) subcommands() []subcommand {
	var out []subcommand
	for _, f := range s.code.of(s.main.reaches) {
		if _, ok := importer([]*goFile{f}, []string{"github.com/spf13/cobra", "github.com/urfave/cli"}); !ok {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			c := subcommand{at: f.line(lit.Pos())}
			for _, e := range lit.Elts {
				kv, ok := e.(*ast.KeyValueExpr)
				if !ok {
					continue
				}
				key, ok := kv.Key.(*ast.Ident)
				if !ok {
					continue
				}
				switch key.Name {
				case "Use", "Name":
					if text, ok := stringOf(kv.Value); ok {
						c.name, _, _ = strings.Cut(text, " ")
					}
				case "Run", "RunE", "Action":
					c.runs = true
				}
			}
			if c.name != "" && c.runs {
				out = append(out, c)
			}
			return true
		})
	}
	return out
}

// calleeOf is the name of a called function, and of what it is called on.
func calleeOf(call *ast.CallExpr) (name, on string) {
	switch fn := call.Fun.(type) {
	case *ast.Ident:
		return fn.Name, ""
	case *ast.SelectorExpr:
		if x, ok := fn.X.(*ast.Ident); ok {
			return fn.Sel.Name, x.Name
		}
		return fn.Sel.Name, ""
	}
	return "", ""
}

func stringOf(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

var serveNames = []string{"serve", "server", "api", "start", "run", "http", "web", "rest", "httpserver", "start-server", "run-server", "serve-http", "up", "app"}

// arguments are those of the server: as the Dockerfile or compose file gives them, else the
// sub-command that serves.
func (s *serving) arguments() (args []string, source string) {
	commands := s.subcommands()
	for _, c := range s.env.Commands {
		words := strings.Fields(c.Text)
		if len(words) < 2 || !strings.ContainsAny(words[0][:1], "./") || strings.HasSuffix(words[0], ".sh") || strings.ContainsAny(c.Text, "|;&$<>`'\"") {
			continue
		}
		if slices.ContainsFunc(commands, func(k subcommand) bool { return k.name == words[1] && slices.Contains(serveNames, k.name) }) {
			return words[1:], c.Source
		}
	}
	for _, name := range serveNames {
		for _, c := range commands {
			if c.name == name {
				return []string{name}, c.at
			}
		}
	}
	return nil, s.main.at
}
