package golang

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/languages"
	"github.com/benchmint/benchmint/schemas"
)

// Source recognises Go files, whatever part they belong to.
func (Language) Source(p string) bool { return languages.IsSource(Name, p) }

// Part decides Go files, testdata and the manifests of modules; the common rules
// know the rest. Only whole names count: latest.go is no test.
func (Language) Part(p string, after lang.Tree) (schemas.Part, string, bool) {
	dirs := strings.Split(dirOf(p), "/")
	name := path.Base(p)
	switch {
	case slices.Contains(dirs, "vendor"):
		return schemas.PartCode, "path:vendor/", true
	case slices.Contains(dirs, "testdata"):
		return schemas.PartTest, "path:testdata/", true
	case strings.HasSuffix(name, "_test.go"):
		return schemas.PartTest, "name:_test.go", true
	case strings.HasSuffix(name, ".golden"):
		return schemas.PartTest, "name:.golden", true
	case manifests[name]:
		if testModule(dirOf(p), after) {
			return schemas.PartTest, "manifest:of a module of tests only", true
		}
		return schemas.PartCode, "name:" + name, true
	case strings.HasSuffix(name, ".go"):
		if rule, ok := helper(p, after); ok {
			return schemas.PartTest, rule, true
		}
		if slices.ContainsFunc(dirs, examples) {
			return schemas.PartDocs, "path:" + dirs[slices.IndexFunc(dirs, examples)] + "/", true
		}
		return schemas.PartCode, "name:.go", true
	}
	return "", "", false
}

var manifests = map[string]bool{"go.mod": true, "go.sum": true, "go.work": true, "go.work.sum": true}

// examples are folders of programs that show a library's use; the go tool's own
// convention is _examples, which it does not build.
func examples(dir string) bool {
	return dir == "examples" || dir == "_examples" || dir == "example" || dir == "_example"
}

// testModule reports whether a module holds tests only: every Go file of it is a
// test or test data, and there is one.
func testModule(dir string, t lang.Tree) bool {
	l := layoutOf(t)
	own, ok := l.index(dir)
	if !ok || l.modules[own].Dir != dir || dir == "" {
		return false
	}
	found := false
	for _, p := range t.Paths() {
		if i, ok := l.index(dirOf(p)); !ok || i != own || !strings.HasSuffix(p, ".go") {
			continue
		}
		if !strings.HasSuffix(p, "_test.go") && walked(dirOf(p)) {
			return false
		}
		found = true
	}
	return found
}

// helperRoots are folders of tests by convention: at the root of a module, or
// anywhere as the name of a package that serves tests.
var (
	testRoots   = map[string]bool{"test": true, "tests": true, "e2e": true, "integration": true, "integrationtest": true, "integrationtests": true}
	helperNames = map[string]bool{"testutil": true, "testutils": true, "testhelper": true, "testhelpers": true, "testsupport": true, "testlib": true, "testenv": true}
)

// helper recognises packages that exist for tests alone. A package that others can
// import ships, however few of our files import it (logrus: hooks/test); one
// that cannot ship (internal, or under a folder of tests) and that only test
// files import is test code.
func helper(p string, t lang.Tree) (string, bool) {
	dir := dirOf(p)
	dirs := strings.Split(dir, "/")
	internal := slices.Contains(dirs, "internal")
	root := testRoots[dirs[0]]
	if !internal && !root && !helperNames[dirs[len(dirs)-1]] {
		return "", false
	}
	l := layoutOf(t)
	if _, ok := l.importPath(dir); !ok {
		return "", false
	}
	users, onlyTests := importers(l, t, dir, map[string]bool{})
	switch {
	case !onlyTests:
		return "", false
	case users > 0:
		return "imported only by tests", true
	case root:
		return "path:" + dirs[0] + "/", true
	}
	return "", false
}

// importers counts the files outside a package that import it, and says whether
// all of them are tests or in packages of which the same holds.
func importers(l layout, t lang.Tree, dir string, seen map[string]bool) (count int, onlyTests bool) {
	if seen[dir] {
		return 0, true
	}
	seen[dir] = true
	importPath, _ := l.importPath(dir)
	quoted := []byte(`"` + importPath + `"`)
	onlyTests = true
	for _, p := range t.Paths() {
		from := dirOf(p)
		if !strings.HasSuffix(p, ".go") || from == dir || !walked(from) {
			continue
		}
		// Most files do not name the package at all: parsing those would be the cost.
		if data, err := t.Read(p); err != nil || !bytes.Contains(data, quoted) || !slices.Contains(importsOf(t, p), importPath) {
			continue
		}
		count++
		if strings.HasSuffix(p, "_test.go") {
			continue
		}
		if n, only := importers(l, t, from, seen); !only || n == 0 {
			onlyTests = false
		}
	}
	return count, onlyTests
}

// Manifest leaves manifests whole where there is no tree to tell by (ManifestIn).
func (Language) Manifest(p string, _, _ []byte, hunks []lang.Hunk) ([]bool, bool, bool) {
	if !manifests[path.Base(p)] {
		return nil, false, false
	}
	return make([]bool, len(hunks)), false, true
}
