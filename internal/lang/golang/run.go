package golang

import (
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/outline"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/syntax"
	"github.com/benchmint/benchmint/schemas"
)

// Flag is one row of the runner table.
type Flag struct {
	Words  []string
	Reason string
}

// Flags make a run complete and repeatable. Go runs tests in source order and
// goes on after a failure by itself. Build tags and -short are the CI's (flags.go).
var Flags = []Flag{
	{[]string{"-json"}, "the machine's format, with an event for the beginning and the end of each test"},
	{[]string{"-count=1"}, "a result of an earlier run is no result of this one"},
	{[]string{"-vet=off"}, "a newer vet than the code's must not fail what compiles"},
	{[]string{"-p=1"}, "one package after another: packages share ports and files, and a loaded machine fails timing tests"},
	{[]string{"-timeout=10m"}, "of one package; Go's own default, said aloud"},
}

// gomaxprocs is what every run has, whatever the machine: it bounds t.Parallel.
const gomaxprocs = "2"

// Runs is one go test per module, over the wanted packages, or over all. The report is on
// standard output: there it is bounded with everything else that a run prints,
// and go writes each event in one piece.
func (Language) Runs(r schemas.Recipe, t lang.Tree, sel lang.Select) []recipe.TestRun {
	l := layoutOf(t)
	wanted := wantedPackages(l, t, sel)
	skips := skipsByPackage(sel.Skip)
	var out []recipe.TestRun
	add := func(l layout, c schemas.Command, packages, words, plan []string) {
		run := testRun(c, packages, words, plan)
		if sel.Nonce == "" { // what a person runs from a dataset has no canaries: nobody reads its report by them
			run = withCanaries(run, r, t, l, plan)
		}
		if r.Apart {
			run = apart(run, t, l, plan)
		}
		out = append(out, run)
	}
	for _, c := range r.Test {
		i, ok := l.index(c.Dir)
		if !ok || l.modules[i].Dir != c.Dir {
			continue // the module is not there in this state
		}
		m := l.modules[i]
		l := l
		l.tags = [][]string{commandTags(r, c)}
		var plain, apart []string
		all := l.packages(t, m)
		if !atLeast(r, "1.24") { // which tests nothing where one package does not load, be it an example's
			all = slices.DeleteFunc(all, func(p string) bool { return !l.tested(t, p) })
		}
		for _, p := range all {
			switch {
			case wanted != nil && !wanted[p]:
			case len(skips[p]) > 0:
				apart = append(apart, p)
			default:
				plain = append(plain, p)
			}
		}
		switch {
		case len(plain) == len(all) && len(all) > 0 && atLeast(r, "1.24"):
			add(l, c, []string{"./..."}, nil, plain)
		case len(plain) > 0:
			add(l, c, patterns(m, plain), nil, plain)
		}
		// A package with tests left out runs apart: -skip would hold for the others too.
		for _, p := range apart {
			if words, ok := skipWords(r, l, t, p, skips[p]); ok {
				add(l, c, patterns(m, []string{p}), words, []string{p})
			}
		}
	}
	return out
}

// tested reports whether a package has a test file that is compiled.
func (l layout) tested(t lang.Tree, pkg string) bool {
	dir, _ := l.dir(pkg)
	return slices.ContainsFunc(t.Paths(), func(p string) bool {
		return dirOf(p) == dir && strings.HasSuffix(p, "_test.go") && l.compiled(t, p)
	})
}

// testRun is one process. Its plan (the packages that it covers) lets the report
// tell a package that never began from one that is not there.
func testRun(c schemas.Command, packages, words, plan []string) recipe.TestRun {
	argv := slices.Clone(c.Argv)
	if n := len(argv); n > 0 && argv[n-1] == "./..." {
		argv = argv[:n-1]
	}
	// It would leave tests without an outcome, and the canaries among them.
	argv = slices.DeleteFunc(argv, func(w string) bool { return w == "-failfast" || w == "--failfast" })
	for _, f := range Flags {
		argv = append(argv, f.Words...)
	}
	argv = append(append(argv, words...), packages...)
	env := map[string]string{"GOMAXPROCS": gomaxprocs}
	for k, v := range c.Env {
		env[k] = v
	}
	return recipe.TestRun{
		Command: schemas.Command{Argv: argv, Dir: c.Dir, Env: env},
		Inputs:  []sandbox.File{{Path: planPath, Mode: 0o444, Data: []byte(strings.Join(plan, "\n") + "\n")}},
	}
}

// patterns names packages relative to their module: a plain import path would be
// looked up among the dependencies first by older Go.
func patterns(m module, packages []string) []string {
	out := make([]string, len(packages))
	for i, p := range packages {
		out[i] = "." + strings.TrimPrefix(p, m.Path)
	}
	return out
}

// wantedPackages are the import paths that a selection covers; nil is all.
func wantedPackages(l layout, t lang.Tree, sel lang.Select) map[string]bool {
	if sel.Units != nil {
		out := map[string]bool{}
		for _, u := range sel.Units {
			out[u] = true
		}
		return out
	}
	if sel.Paths == nil {
		return nil
	}
	tests := map[string]bool{}
	for _, p := range t.Paths() {
		if strings.HasSuffix(p, "_test.go") && walked(dirOf(p)) {
			tests[dirOf(p)] = true
		}
	}
	out := map[string]bool{}
	for _, p := range sel.Paths {
		for _, dir := range packagesOf(l, t, p, tests) {
			if imp, ok := l.importPath(dir); ok {
				out[imp] = true
			}
		}
	}
	if len(out) == 0 {
		return nil // what changed names no package (a manifest): anything may tell
	}
	return out
}

// packagesOf are the folders of the tests that a changed path belongs to: its
// own, for a helper those that import it, for data the nearest above.
func packagesOf(l layout, t lang.Tree, p string, tests map[string]bool) []string {
	dir := dirOf(p)
	switch {
	case manifests[path.Base(p)]:
		return nil
	case tests[dir] && walked(dir):
		return []string{dir}
	case strings.HasSuffix(p, ".go") && walked(dir):
		return testsThatUse(l, t, dir, map[string]bool{})
	}
	for {
		if tests[dir] {
			return []string{dir}
		}
		if dir == "" {
			return nil
		}
		dir = dirOf(dir)
	}
}

func testsThatUse(l layout, t lang.Tree, dir string, seen map[string]bool) []string {
	if seen[dir] {
		return nil
	}
	seen[dir] = true
	imp, ok := l.importPath(dir)
	if !ok {
		return nil
	}
	found := map[string]bool{}
	for _, p := range t.Paths() {
		from := dirOf(p)
		if !strings.HasSuffix(p, ".go") || !walked(from) || from == dir || !slices.Contains(importsOf(t, p), imp) {
			continue
		}
		if strings.HasSuffix(p, "_test.go") {
			found[from] = true
			continue
		}
		for _, d := range testsThatUse(l, t, from, seen) {
			found[d] = true
		}
	}
	var out []string
	for d := range found {
		out = append(out, d)
	}
	sort.Strings(out)
	return out
}

// skipsByPackage groups test IDs, as names, by package.
func skipsByPackage(ids []string) map[string][]string {
	out := map[string][]string{}
	for _, id := range ids {
		if pkg, name, ok := strings.Cut(id, idSeparator); ok {
			out[pkg] = append(out[pkg], name)
		}
	}
	return out
}

// skipWords leaves tests out: by -skip from Go 1.20 on, before by naming every
// other test, where a skipped subtest takes its whole test along. It is false
// where nothing would be left to run.
func skipWords(r schemas.Recipe, l layout, t lang.Tree, pkg string, names []string) ([]string, bool) {
	if atLeast(r, "1.20") {
		var alternatives []string
		for _, n := range names {
			parts := strings.Split(n, "/")
			for i, p := range parts {
				parts[i] = "^" + regexp.QuoteMeta(p) + "$"
			}
			alternatives = append(alternatives, strings.Join(parts, "/"))
		}
		return []string{"-skip=" + strings.Join(alternatives, "|")}, true
	}
	skipped := map[string]bool{}
	for _, n := range names {
		top, _, _ := strings.Cut(n, "/")
		skipped[top] = true
	}
	dir, _ := l.dir(pkg)
	var rest []string
	for _, name := range testFunctions(t, dir) {
		if !skipped[name] {
			rest = append(rest, regexp.QuoteMeta(name))
		}
	}
	return []string{"-run=^(" + strings.Join(rest, "|") + ")$"}, len(rest) > 0
}

var testName = lazyregexp.New(`^(Test|Example|Fuzz)($|[^a-z])`)

// testFunctions are the names of a package's tests, in file order.
func testFunctions(t lang.Tree, dir string) []string {
	var out []string
	for _, p := range t.Paths() {
		if dirOf(p) != dir || !strings.HasSuffix(p, "_test.go") {
			continue
		}
		data, err := t.Read(p)
		if err != nil {
			continue
		}
		f, err := outline.Parse(syntax.Go, data)
		if err != nil {
			continue
		}
		for _, i := range f.Top() {
			if d := f.Decls[i]; d.Kind == outline.Function && testName.MatchString(d.Name) && d.Name != "TestMain" {
				out = append(out, d.Name)
			}
		}
	}
	return out
}
