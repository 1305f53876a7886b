package policytest

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	root   = "../.."
	module = "github.com/benchmint/benchmint/"
)

func sources(t *testing.T) []Source {
	t.Helper()
	all, err := Sources(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Fatalf("only %d Go files found: the walk is broken", len(all))
	}
	return all
}

// forbidden says why from may not import to, where .golangci.yml (depguard) cannot say it; both are directories of this
// module. "" means that it may.
func forbidden(from, to string) string {
	top := func(p string) string { first, _, _ := strings.Cut(p, "/"); return first }
	stage := func(p string) string {
		rest, ok := strings.CutPrefix(p, "stages/")
		if !ok || top(rest) == "internal" {
			return ""
		}
		return top(rest)
	}
	switch {
	case stage(from) != "" && stage(to) != "" && stage(from) != stage(to):
		return "a stage never imports a stage"
	case from == "internal/lang" && strings.HasPrefix(to, "internal/lang/"):
		return "the family of languages does not know its members"
	}
	return ""
}

func TestForbidden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		bad      bool
	}{
		{"stages/link", "stages/validate", true}, {"stages/link", "stages/internal/ends", false}, {"stages", "stages/link", false},
		{"internal/lang", "internal/lang/golang", true}, {"internal/lang/golang", "internal/lang", false},
	} {
		if got := forbidden(c.from, c.to) != ""; got != c.bad {
			t.Errorf("%s importing %s: forbidden is %t, want %t", c.from, c.to, got, c.bad)
		}
	}
}

func TestImportDirection(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		for _, imp := range s.File.Imports {
			to, ours := strings.CutPrefix(strings.Trim(imp.Path.Value, `"`), module)
			// Tests of a package may use the fakes of another; code may not.
			if why := forbidden(s.Dir(), to); ours && why != "" && s.Dir() != to && !s.IsTest() {
				t.Errorf("%s imports %s: %s", s.At(imp), to, why)
			}
		}
	}
}

// importsOf lists what the code of each directory of this module imports; tests and what only tests use are left out.
// A directory of this module stands without the module's path.
func importsOf(all []Source) map[string][]string {
	imports := map[string][]string{}
	for _, s := range all {
		if s.IsTest() {
			continue
		}
		for _, imp := range s.File.Imports {
			imports[s.Dir()] = append(imports[s.Dir()], strings.TrimPrefix(strings.Trim(imp.Path.Value, `"`), module))
		}
	}
	return imports
}

// room is the part of the house that a directory belongs to: a folder of internal with all below it, or a folder of the root.
func room(dir string) string {
	parts := strings.SplitN(dir, "/", 3)
	if parts[0] != "internal" || len(parts) == 1 {
		return parts[0]
	}
	return parts[0] + "/" + parts[1]
}

// TestRoomsHaveAnOrder: no room imports another that needs it. The compiler refuses circles of packages only, and two
// folders whose packages import one another are a single part that nobody can take apart.
func TestRoomsHaveAnOrder(t *testing.T) {
	t.Parallel()
	arrows := map[string]map[string]string{} // from room to room: one import that makes the arrow
	for dir, imports := range importsOf(sources(t)) {
		for _, to := range imports {
			if from, to := room(dir), room(to); from != to {
				if arrows[from] == nil {
					arrows[from] = map[string]string{}
				}
				arrows[from][to] = dir
			}
		}
	}
	if arrows["internal/lang"]["internal/recipe"] == "" {
		t.Error("internal/lang is said not to import internal/recipe: the search is broken")
	}
	needs := func(from string) map[string]bool {
		all := map[string]bool{}
		for next := []string{from}; len(next) > 0; next = next[1:] {
			for to := range arrows[next[0]] {
				if !all[to] {
					all[to] = true
					next = append(next, to)
				}
			}
		}
		return all
	}
	for from := range arrows {
		for to, dir := range arrows[from] {
			if needs(to)[from] {
				t.Errorf("%s imports %s, which needs %s itself", dir, to, from)
			}
		}
	}
}

// cgoAllowed are the packages that may import what is made with cgo: it slows
// every build and every cross-compilation.
var cgoAllowed = map[string][]string{
	"go-tree-sitter": {"internal/syntax"},
	"go-sqlite3":     {"internal/store"},
}

func TestCgoOnlyInItsPlaces(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		for _, imp := range s.File.Imports {
			name := strings.Trim(imp.Path.Value, `"`)
			if name == "C" {
				t.Errorf("%s imports C; we have none of our own", s.At(imp))
			}
			for module, dirs := range cgoAllowed {
				if strings.Contains(name, module) && !slices.Contains(dirs, s.Dir()) {
					t.Errorf("%s imports %s; only %s may", s.At(imp), name, strings.Join(dirs, " and "))
				}
			}
		}
	}
}

// parserless are packages whose users build without the parser and its grammars: who
// reads repositories or datasets need not compile them.
var parserless = []string{"internal/gitrepo", "output"}

func TestReadersNeedNoParser(t *testing.T) {
	t.Parallel()
	imports := importsOf(sources(t))
	for _, dir := range parserless {
		if imports[dir] == nil {
			t.Errorf("there is no package %s", dir)
		}
		if chain := chainToParser(imports, dir); chain != nil {
			t.Errorf("%s needs the parser: %s", dir, strings.Join(chain, " → "))
		}
	}
	if chainToParser(imports, "internal/mask") == nil {
		t.Error("internal/mask is said to need no parser: the search is broken")
	}
}

// chainToParser is how a package comes to import languages or a parser; nil if it does
// not.
func chainToParser(imports map[string][]string, from string) []string {
	seen := map[string]bool{}
	var search func(dir string) []string
	search = func(dir string) []string {
		if room(dir) == "internal/lang" || strings.Contains(dir, "tree-sitter") || dir == "C" {
			return []string{dir}
		}
		if seen[dir] {
			return nil
		}
		seen[dir] = true
		for _, to := range imports[dir] {
			if chain := search(to); chain != nil {
				return append([]string{dir}, chain...)
			}
		}
		return nil
	}
	return search(from)
}

// A program that masks one file pays for the expressions of no stage: an expression of a
// package is compiled at its first use.
func TestNoExpressionIsCompiledAtTheStart(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if s.IsTest() || strings.HasPrefix(s.Path, "bench/") {
			continue
		}
		for _, n := range s.Uses("regexp", "MustCompile") {
			if !s.InFunction(n) {
				t.Errorf("%s compiles an expression when the program starts; internal/lazyregexp waits", s.At(n))
			}
		}
	}
}

// An expression that waits for its first use hides a wrong one: here each is compiled.
// What a function puts together is for the tests of its package.
func TestExpressionsCompile(t *testing.T) {
	t.Parallel()
	all, n := sources(t), 0
	for _, s := range all {
		for _, c := range s.Calls(module+"internal/lazyregexp", "New") {
			text, ok := s.Text(c.Args[0], all)
			switch {
			case !ok && !s.InFunction(c):
				t.Errorf("%s: the expression is no constant", s.At(c))
			case ok:
				n++
				if _, err := regexp.Compile(text); err != nil {
					t.Errorf("%s: %v", s.At(c), err)
				}
			}
		}
	}
	if n == 0 {
		t.Error("no expression was found")
	}
}

// Every package says what it is for and what it never does.
func TestPackageDocs(t *testing.T) {
	t.Parallel()
	docs := map[string]string{}
	for _, s := range sources(t) {
		if strings.HasSuffix(s.Path, "_test.go") {
			continue
		}
		docs[s.Dir()] += "" // known, documented or not
		if s.File.Doc != nil {
			docs[s.Dir()] += s.File.Doc.Text()
		}
	}
	for dir, doc := range docs {
		if !strings.Contains(strings.ToLower(strings.Join(strings.Fields(doc), " ")), "never") {
			t.Errorf("%s: no package comment that says what the package never does", dir)
		}
		if slices.Contains([]string{"util", "utils", "common", "helpers", "types", "manager"}, path.Base(dir)) {
			t.Errorf("%s: the name says nothing", dir)
		}
	}
}

// hostname matches what looks like a public host in a string. Bare names count
// only for the registries that builds talk to.
var hostname = regexp.MustCompile(`(?i)https?://([a-z0-9-]+(?:\.[a-z0-9-]+)+)|\b(pypi\.org|files\.pythonhosted\.org|proxy\.golang\.org|sum\.golang\.org|[a-z]+\.debian\.org|go\.dev|registry\.npmjs\.org)\b`)

// hostsAllowed are names in strings that nobody connects to.
var hostsAllowed = map[string]string{
	"json-schema.org":    "the identifier of a schema's dialect",
	"git-lfs.github.com": "the first line of every Git LFS pointer",
	"mlcommons.org":      "the vocabulary of a Croissant file",
	"schema.org":         "likewise",
	"purl.org":           "likewise",
	"s3.amazonaws.com":   "where blobs: s3://… leads, unless AWS_ENDPOINT_URL names another server",
	"spdx.org":           "the identifier of a licence, in a Croissant file",
}

// Whom benchmint talks to unasked can be read in one file.
func TestPublicHosts(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t) {
		if strings.HasPrefix(s.Path, "internal/hosts/") || s.IsTest() {
			continue
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if _, isImport := n.(*ast.ImportSpec); isImport {
				return false
			}
			if !ok || lit.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range hostname.FindAllStringSubmatch(text, -1) {
				host := strings.ToLower(m[1] + m[2])
				if hostsAllowed[host] == "" && !reserved(host) {
					t.Errorf("%s names the host %s; only internal/hosts may", s.At(lit), host)
				}
			}
			return true
		})
	}
}

// reserved names lead nowhere (RFC 2606, RFC 6761) or to the machine itself.
func reserved(host string) bool {
	return regexp.MustCompile(`(^|\.)(example(\.(com|org|net))?|invalid|test|localhost)$|^127\.`).MatchString(host)
}

// machinePaths are folders of a person or a machine.
var machinePaths = regexp.MustCompile(`/(?:home|Users)/([a-z][a-z0-9_-]*)|[^a-z0-9]/root/[.a-z]+`)

// pathsAllowed are files in which such a path is meant, and why.
var pathsAllowed = map[string]string{
	"internal/sandbox/sandboxtest/rights.go": "what a run must not be able to read",
	"testdata/samples/hostile-go.txtar":      "a symlink that tries to leave the tree",
	"testdata/samples/hostile-python.txtar":  "a symlink that tries to leave the tree",
}

// Nothing that is committed knows the machine it was written on.
func TestNoMachinePaths(t *testing.T) {
	t.Parallel()
	here := machineNames(t)
	eachText(t, func(name, text string) {
		for _, place := range here {
			if strings.Contains(text, place) {
				t.Errorf("%s names %s, a place of this machine", name, place)
			}
		}
		if pathsAllowed[name] != "" || strings.HasPrefix(name, "internal/policytest/") {
			return
		}
		for _, m := range machinePaths.FindAllStringSubmatch(text, -1) {
			// tester is the user inside every sandbox.
			if m[1] != "tester" && m[1] != "user" && m[1] != "you" {
				t.Errorf("%s names %s, a place of some machine", name, m[0])
			}
		}
	})
}

// machineNames are the checkout's own folder and host name, where they are
// long enough to be no common word.
func machineNames(t *testing.T) []string {
	t.Helper()
	var out []string
	if dir, err := filepath.Abs(root); err == nil && strings.Count(dir, "/") > 1 && len(dir) > 8 {
		out = append(out, dir+"/")
	}
	if name, err := os.Hostname(); err == nil && len(name) > 8 {
		out = append(out, name)
	}
	return out
}

var secrets = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY` + `-----|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{30,}|\bsk-[A-Za-z0-9_-]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bpypi-[A-Za-z0-9_-]{50,}|(?i)authorization: *bearer +[a-z0-9._-]{20,}`)

// No recording, log or sample holds a credential.
func TestNoSecrets(t *testing.T) {
	t.Parallel()
	if !secrets.MatchString("ghp_" + strings.Repeat("a", 36)) {
		t.Error("the pattern does not find a planted token")
	}
	eachText(t, func(name, text string) {
		if m := secrets.FindString(text); m != "" {
			t.Errorf("%s holds what looks like a credential: %.12s…", name, m)
		}
	})
}

func eachText(t *testing.T, visit func(name, text string)) {
	t.Helper()
	files, err := Files(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		visit(name, string(b))
	}
}
