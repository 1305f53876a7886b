package golang

import (
	"path"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// serves is whom a line of go.mod or go.sum is for.
type serves int

const (
	nobody serves = iota // blank lines, brackets, and modules that no file imports by itself
	tests
	code
)

// manifestLine is one line of go.mod or go.sum.
type manifestLine struct {
	module string // "" where the line names none
	other  bool   // a directive that is no requirement: go, replace, exclude, …
}

// ManifestIn gives the test part the hunks of go.mod and go.sum that are about
// modules which only test files import. A module of neither, which comes through
// another, follows the rest of the file: a sum too many harms no state, one that
// is missing keeps it from loading. One hunk with a new requirement for tests
// and one for code is mixed; of a requirement that merely moved to another
// version the start can keep the old one.
func (Language) ManifestIn(p string, before, after []byte, hunks []lang.Hunk, solution lang.Tree) (test []bool, mixed, ok bool) {
	read := map[string]func([]byte) []manifestLine{"go.mod": modLines, "go.sum": sumLines}[path.Base(p)]
	if read == nil {
		return nil, false, false
	}
	old, now := read(before), read(after)
	known := map[string]bool{}
	for _, l := range old {
		known[l.module] = true
	}
	users := importersOf(solution, dirOf(p))
	var all []counts
	var whole counts
	for _, h := range hunks {
		c := count(linesOf(old, h.OldStart, h.OldLines), users, known, true)
		c.add(count(linesOf(now, h.NewStart, h.NewLines), users, known, false))
		all = append(all, c)
		whole.add(c)
	}
	for _, c := range all {
		switch {
		case c.code > 0 && c.fresh > 0 && (path.Base(p) == "go.mod" || c.gone > 0):
			return nil, true, true
		case c.code > 0 && path.Base(p) == "go.mod":
			test = append(test, false)
		case c.tests > 0:
			test = append(test, c.gone == 0 || c.code == 0)
		default:
			test = append(test, c.code == 0 && whole.tests > 0 && (c.gone == 0 || whole.code == 0))
		}
	}
	return test, false, true
}

// counts is what a hunk's lines are for.
type counts struct {
	code, tests int
	fresh       int // of tests: modules that the manifest did not have before
	gone        int // removed lines that are not for tests
}

func (c *counts) add(o counts) {
	c.code += o.code
	c.tests += o.tests
	c.fresh += o.fresh
	c.gone += o.gone
}

func count(lines []manifestLine, users func(string) serves, known map[string]bool, removed bool) counts {
	var c counts
	for _, l := range lines {
		who := nobody
		if l.module != "" {
			who = users(l.module)
		}
		if l.other {
			who = code
		}
		switch who {
		case code:
			c.code++
		case tests:
			c.tests++
			if !known[l.module] {
				c.fresh++
			}
		}
		if removed && l.module != "" && who != tests {
			c.gone++
		}
	}
	return c
}

// linesOf are n lines from the 1-based start.
func linesOf(all []manifestLine, start, n int) []manifestLine {
	from := min(max(start-1, 0), len(all))
	if n == 0 {
		return nil
	}
	return all[from:min(from+n, len(all))]
}

// sumLines reads go.sum.
func sumLines(data []byte) []manifestLine {
	var out []manifestLine
	for _, line := range strings.Split(string(data), "\n") {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		out = append(out, manifestLine{module: name})
	}
	return out
}

var requirement = lazyregexp.New(`^(?:require\s+)?"?([^\s"]+)"?\s+v\S+$`)

// modLines reads go.mod line by line, because hunks are lines.
func modLines(data []byte) []manifestLine {
	var out []manifestLine
	block := ""
	for _, line := range strings.Split(string(data), "\n") {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		l := manifestLine{}
		switch {
		case line == "" || line == ")":
			if line == ")" {
				block = ""
			}
		case strings.TrimSpace(rest) == "(":
			block = word
		case block == "require" || block == "" && word == "require":
			if m := requirement.FindStringSubmatch(line); m != nil {
				l.module = m[1]
			}
		case word == "toolchain": // what a developer's go command switches to: no version of a module
		default:
			l.other = true
		}
		out = append(out, l)
	}
	return out
}

// importersOf answers, for the module whose manifests lie in dir, who imports
// packages of another module.
func importersOf(t lang.Tree, dir string) func(string) serves {
	l := layoutOf(t)
	byImport := map[string]serves{}
	own, found := l.index(dir)
	for _, p := range t.Paths() {
		i, ok := l.index(dirOf(p))
		if !found || !ok || i != own || !strings.HasSuffix(p, ".go") || !walked(dirOf(p)) {
			continue
		}
		who := tests
		if !strings.HasSuffix(p, "_test.go") {
			if _, isHelper := helper(p, t); !isHelper {
				who = code
			}
		}
		for _, imp := range importsOf(t, p) {
			byImport[imp] = max(byImport[imp], who)
		}
	}
	return func(mod string) serves {
		who := nobody
		for imp, w := range byImport {
			if provides(mod, imp) {
				who = max(who, w)
			}
		}
		return who
	}
}

// provides reports whether a package's path is below a module's. A longer major
// version is another module (x and x/v2).
func provides(mod, imp string) bool {
	rest, ok := strings.CutPrefix(imp, mod)
	if !ok || rest != "" && rest[0] != '/' {
		return false
	}
	next, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	return !majorVersion.MatchString(next)
}

var majorVersion = lazyregexp.New(`^v[1-9][0-9]*$`)
