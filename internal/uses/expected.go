package uses

import (
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/tree"
)

// expected is what the tests of a task are called: a literal that names one of them, or their data,
// is a way to what they expect.
type expected struct {
	// paths are their paths and those of their folders, with every end of at least two parts, and
	// the names of files that no code of the task has.
	paths   map[string]bool
	folders map[string]bool // those of paths that may have one part
}

var (
	// embeds are the patterns of a //go:embed directive.
	embeds = lazyregexp.New(`(?m)^\s*//go:embed[ \t]+([^\n]*)`)
	// asTest are paths and patterns that are of tests in any project.
	asTest = lazyregexp.New(`(^|/)testdata(/|$)|_test\.(go|py)$|(^|/)(test_[\w*?]*|conftest)\.py$`)
)

const leastName = 5 // bytes of the name of a file that tells by itself

func expectedOf(t *tree.Tree, isTest func(path string) bool) expected {
	x := expected{paths: map[string]bool{}, folders: map[string]bool{}}
	code := map[string]bool{}
	for _, p := range t.Paths() {
		for d := p; !isTest(p) && d != "."; d = path.Dir(d) {
			code[d], code[path.Base(p)] = true, true
		}
	}
	for _, p := range t.Paths() {
		if !isTest(p) {
			continue
		}
		if name := path.Base(p); len(name) >= leastName && strings.Contains(name, ".") && !code[name] {
			x.paths[name] = true
		}
		for d := p; d != "." && !code[d]; d = path.Dir(d) {
			x.folders[d] = d != p
			for end := d; strings.Contains(end, "/"); _, end, _ = strings.Cut(end, "/") {
				x.paths[end] = true
			}
		}
	}
	return x
}

// literal adds a string that names something of the tests.
func (x expected) literal(f *found, text string, line int) {
	if strings.ContainsAny(text, " \t\n") {
		return
	}
	p := strings.TrimPrefix(strings.TrimPrefix(path.Clean("/"+text), "/"), "testbed/")
	if asTest.MatchString(text) || x.paths[p] || x.paths[path.Base(p)] || x.folders[p] && strings.Contains(text, "/") {
		f.add(text, "names a path of the tests: what they expect stands there", line)
	}
}

// module adds an import of a module of the tests.
func (x expected) module(f *found, module string, line int) {
	p := strings.ReplaceAll(module, ".", "/")
	if x.folders[p] || x.paths[p+".py"] || x.paths[p] {
		f.add(module, "imports the tests, or what stands beside them", line)
	}
}
