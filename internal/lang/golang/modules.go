package golang

import (
	"bytes"
	"go/build"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/benchmint/benchmint/internal/lang"
)

// module is one go.mod of a tree.
type module struct {
	Dir      string // "" is the root
	Path     string
	File     *modfile.File
	Vendored bool // vendor/modules.txt stands beside it
	Tests    bool // it has _test.go files
	Outside  bool // the nearest go.work does not use it
	// Member: a go.work uses it.
	Member bool
}

// workspace is one go.work of a tree.
type workspace struct {
	Dir  string // "" is the root
	File *modfile.WorkFile
}

// layout is the modules of a tree and its workspaces, sorted by folder.
type layout struct {
	modules []module
	works   []workspace
	tags    [][]string // of each test command that a recipe has; nil is one without
}

// notPackages are folders that the go tool does not walk into.
func notPackages(dir string) bool {
	return dir == "testdata" || dir == "vendor" || dir == "node_modules" || strings.HasPrefix(dir, "_") || strings.HasPrefix(dir, ".")
}

// walked reports whether the go tool's ./... reaches a folder.
func walked(dir string) bool {
	return dir == "" || !slices.ContainsFunc(strings.Split(dir, "/"), notPackages)
}

// dirOf is the folder of a path, "" for the root.
func dirOf(p string) string {
	if d := path.Dir(p); d != "." {
		return d
	}
	return ""
}

// layoutOf reads the modules of a tree (rule G3). A go.mod that does not parse
// is left out: the go command will say why.
func layoutOf(t lang.Tree) layout {
	var l layout
	tests := map[string]bool{}
	for _, p := range t.Paths() {
		dir := dirOf(p)
		if path.Base(p) == "go.work" && walked(dir) {
			data, err := t.Read(p)
			if f, bad := modfile.ParseWork(p, data, nil); err == nil && bad == nil { // else as if it were not there
				l.works = append(l.works, workspace{dir, f})
			}
		}
		if !walked(dir) {
			continue
		}
		if strings.HasSuffix(p, "_test.go") {
			tests[dir] = true
		}
		if path.Base(p) != "go.mod" {
			continue
		}
		if f := readGoMod(t, p); f != nil {
			l.modules = append(l.modules, module{
				Dir: dir, Path: f.Module.Mod.Path, File: f,
				Vendored: t.Has(path.Join(dir, "vendor/modules.txt")),
			})
		}
	}
	for i := range l.modules {
		m := &l.modules[i]
		for _, w := range l.works {
			m.Member = m.Member || w.uses(m.Dir)
		}
		if w, ok := l.enclosing(m.Dir); ok {
			m.Outside = !w.uses(m.Dir)
			vendored, _ := t.Read(path.Join(w.Dir, "vendor/modules.txt"))
			m.Vendored = m.Vendored || !m.Outside && bytes.HasPrefix(vendored, []byte("## workspace")) // of all its modules
		}
	}
	sort.Slice(l.modules, func(i, j int) bool { return l.modules[i].Dir < l.modules[j].Dir })
	for dir := range tests {
		if i, ok := l.index(dir); ok {
			l.modules[i].Tests = true
		}
	}
	return l
}

func readGoMod(t lang.Tree, p string) *modfile.File {
	data, err := t.Read(p)
	if err != nil {
		return nil
	}
	f, err := modfile.Parse(p, data, nil)
	if err != nil {
		// Words of later Go versions: what can be understood is enough to go on.
		f, err = modfile.ParseLax(p, data, nil)
	}
	if err != nil || f.Module == nil {
		return nil
	}
	return f
}

func (w workspace) uses(dir string) bool {
	return slices.ContainsFunc(w.File.Use, func(u *modfile.Use) bool { return cleanDir(path.Join(w.Dir, u.Path)) == dir })
}

// enclosing is the nearest workspace at or above a folder: the one that the go command
// takes there.
func (l layout) enclosing(dir string) (best workspace, ok bool) {
	for _, w := range l.works {
		if (w.Dir == "" || dir == w.Dir || strings.HasPrefix(dir, w.Dir+"/")) && (!ok || len(w.Dir) > len(best.Dir)) {
			best, ok = w, true
		}
	}
	return best, ok
}

// index is the nearest module that encloses a folder.
func (l layout) index(dir string) (int, bool) {
	best := -1
	for i, m := range l.modules {
		if (m.Dir == "" || dir == m.Dir || strings.HasPrefix(dir, m.Dir+"/")) && (best < 0 || len(m.Dir) > len(l.modules[best].Dir)) {
			best = i
		}
	}
	return best, best >= 0
}

// importPath is the path that a folder's package is imported by.
func (l layout) importPath(dir string) (string, bool) {
	i, ok := l.index(dir)
	if !ok {
		return "", false
	}
	m := l.modules[i]
	return path.Join(m.Path, strings.TrimPrefix(strings.TrimPrefix(dir, m.Dir), "/")), true
}

// dir is the folder of an import path of the project.
func (l layout) dir(importPath string) (string, bool) {
	best, found := "", false
	longest := -1
	for _, m := range l.modules {
		if (importPath == m.Path || strings.HasPrefix(importPath, m.Path+"/")) && len(m.Path) > longest {
			rest := strings.TrimPrefix(strings.TrimPrefix(importPath, m.Path), "/")
			best, found, longest = path.Join(m.Dir, rest), true, len(m.Path)
		}
	}
	return best, found
}

// own reports whether an import path belongs to the project.
func (l layout) own(importPath string) bool {
	_, ok := l.dir(importPath)
	return ok
}

// constraintOf is the build constraint of a file, "" where it has none.
func constraintOf(t lang.Tree, p string) string {
	if e := constraintIn(t, p); e != nil {
		return e.String()
	}
	return ""
}

func constraintIn(t lang.Tree, p string) constraint.Expr {
	data, err := t.Read(p)
	if err != nil {
		return nil
	}
	head, _, _ := bytes.Cut(data, []byte("\npackage "))
	var found constraint.Expr
	for _, line := range strings.Split(string(head), "\n") {
		line = strings.TrimSpace(line)
		e, err := constraint.Parse(line)
		switch {
		case err != nil:
		case constraint.IsGoBuild(line):
			return e
		case found == nil:
			found = e
		default: // lines of // +build hold together
			found = &constraint.AndExpr{X: found, Y: e}
		}
	}
	return found
}

// buildsSomehow reports whether a file is compiled with no tag, or with those that its own
// constraint names.
func buildsSomehow(t lang.Tree, p string) bool {
	if builds(t, p, nil) {
		return true
	}
	e := constraintIn(t, p)
	if e == nil {
		return false
	}
	var tags []string
	e.Eval(func(tag string) bool { // it asks for each of them
		if !slices.Contains(systems, tag) && !strings.HasPrefix(tag, "go1.") {
			tags = append(tags, tag)
		}
		return true
	})
	return builds(t, p, tags)
}

// systems are the names in constraints that no tag can stand for.
var systems = strings.Fields("aix android darwin dragonfly freebsd illumos ios js netbsd openbsd plan9 solaris wasip1 windows " +
	"386 arm arm64 loong64 mips mipsle mips64 mips64le ppc64 ppc64le riscv64 s390x wasm gccgo ignore")

// compiled reports whether some test command of the recipe compiles a file.
func (l layout) compiled(t lang.Tree, p string) bool {
	return len(l.tags) == 0 && builds(t, p, nil) || slices.ContainsFunc(l.tags, func(tags []string) bool { return builds(t, p, tags) })
}

// builds reports whether a file is compiled on linux/amd64 by its name and its
// build constraints. cgo counts as on, and these tags.
func builds(t lang.Tree, p string, tags []string) bool {
	ctx := build.Context{
		BuildTags: tags,
		GOARCH:    "amd64", GOOS: "linux", Compiler: "gc", CgoEnabled: true, ReleaseTags: build.Default.ReleaseTags,
		JoinPath: path.Join,
		OpenFile: func(name string) (io.ReadCloser, error) {
			data, err := t.Read(name)
			return io.NopCloser(bytes.NewReader(data)), err
		},
	}
	ok, err := ctx.MatchFile(dirOf(p), path.Base(p))
	return err == nil && ok
}

// importsOf are the import paths of one file; of a file that does not parse,
// those that come before the error.
func importsOf(t lang.Tree, p string) []string {
	data, err := t.Read(p)
	if err != nil {
		return nil
	}
	f, _ := parser.ParseFile(token.NewFileSet(), p, data, parser.ImportsOnly)
	if f == nil {
		return nil
	}
	var out []string
	for _, spec := range f.Imports {
		if s, err := strconv.Unquote(spec.Path.Value); err == nil {
			out = append(out, s)
		}
	}
	return out
}

// packages are the import paths of a module's packages that ./... reaches.
func (l layout) packages(t lang.Tree, m module) []string {
	seen := map[string]bool{}
	for _, p := range t.Paths() {
		dir := dirOf(p)
		if seen[dir] || !strings.HasSuffix(p, ".go") || !walked(dir) {
			continue
		}
		if i, ok := l.index(dir); ok && l.modules[i].Dir == m.Dir && l.compiled(t, p) {
			seen[dir] = true
		}
	}
	var out []string
	for dir := range seen {
		if p, ok := l.importPath(dir); ok {
			out = append(out, p)
		}
	}
	sort.Strings(out)
	return out
}

// heavy are the packages of the standard library that take long to compile. The
// lock names those that a project imports, and not every small one: an import of
// "slices" more must not make a new environment.
var heavy = map[string]bool{
	"crypto/tls": true, "crypto/x509": true, "database/sql": true, "encoding/gob": true, "encoding/json": true, "encoding/xml": true,
	"go/types": true, "html/template": true, "image/png": true, "log/slog": true, "net": true, "net/http": true,
	"net/http/httptest": true, "net/rpc": true, "net/smtp": true, "os/exec": true, "text/template": true,
}

// standard recognises a path of Go's own library: no dot before the first slash.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// external are the packages of other modules that the project's files import on
// this platform, and the heavy ones of the standard library, sorted.
func (l layout) external(t lang.Tree, m module) []string {
	seen := map[string]bool{}
	for _, p := range t.Paths() {
		dir := dirOf(p)
		if !strings.HasSuffix(p, ".go") || !walked(dir) {
			continue
		}
		if i, ok := l.index(dir); !ok || l.modules[i].Dir != m.Dir || !l.compiled(t, p) {
			continue
		}
		for _, imp := range importsOf(t, p) {
			if heavy[imp] || !standard(imp) && !l.own(imp) {
				seen[imp] = true
			}
		}
	}
	var out []string
	for imp := range seen {
		out = append(out, imp)
	}
	sort.Strings(out)
	return out
}
