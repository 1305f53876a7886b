package mask

import (
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/tree"
)

// loads reports the files of tests without which no test of others runs, so that what they
// load stays. In Go it is all of them: the tests of a package are one program, and a body that
// is missing when it starts ends all. In Python it is each conftest.py and what these import.
func loads(language string, t *tree.Tree) func(path string) bool {
	switch language {
	case "go":
		return func(string) bool { return true }
	case "python":
		shared := ofConftest(t)
		return func(p string) bool { return shared[p] }
	}
	return nil
}

var imported = lazyregexp.New(`(?m)^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]+\(?([\w, \t]+)|import[ \t]+([.\w]+))`)

// ofConftest are each conftest.py of a tree, and the modules of the tree that they import, by
// way of others too.
func ofConftest(t *tree.Tree) map[string]bool {
	shared := map[string]bool{}
	var open []string
	take := func(p string) {
		if _, ok := t.Entry(p); ok && !shared[p] {
			shared[p] = true
			open = append(open, p)
		}
	}
	for _, p := range t.Paths() {
		if path.Base(p) == "conftest.py" {
			take(p)
		}
	}
	for len(open) > 0 {
		p := open[0]
		open = open[1:]
		text, err := t.Read(p)
		if err != nil {
			continue
		}
		for _, m := range imported.FindAllStringSubmatch(string(text), -1) {
			for _, dir := range foldersOf(path.Dir(p), m[1]+m[3]) {
				take(dir + ".py")
				take(path.Join(dir, "__init__.py"))
				for name := range strings.SplitSeq(m[2], ",") { // which may be modules
					if name, _, _ = strings.Cut(strings.TrimSpace(name), " "); name != "" {
						take(path.Join(dir, name+".py"))
					}
				}
			}
		}
	}
	return shared
}

// foldersOf are the paths that the name of a module may have, without an extension, of one
// that is imported in a folder: relative, or below that folder or one above it.
func foldersOf(dir, module string) []string {
	name := strings.TrimLeft(module, ".")
	rest := strings.ReplaceAll(name, ".", "/")
	if dots := len(module) - len(name); dots > 0 {
		for range dots - 1 {
			dir = path.Dir(dir)
		}
		return []string{path.Join(dir, rest)}
	}
	out := []string{path.Join(dir, rest)}
	for dir != "." && dir != "/" {
		dir = path.Dir(dir)
		out = append(out, path.Join(dir, rest))
	}
	return out
}
