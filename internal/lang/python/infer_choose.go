package python

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/workflow"
	"github.com/benchmint/benchmint/schemas"
)

// command is one test command that the tree names, with what speaks for it.
type command struct {
	test    []schemas.Command
	source  string
	plan    plan
	rank    int    // how near to the tests the place is that names it: a runner's configuration, CI, convention
	other   string // why it is other work than the suite, "" where it is not
	changed int    // changed test modules that it runs
	files   int    // test modules that it runs
}

// The ranks of a command's source.
const (
	fromRunner = iota // tox, nox
	fromCI
	fromConvention
)

// choose gathers the test commands that the tree names and puts the best first: one
// that is not for other work, that runs most of the changed test modules, then most of
// all. The runner's environment that names the command also names its requirements and
// variables.
func (g *guess) choose() {
	plans := g.m.tox(g.version)
	if len(plans) == 0 {
		plans = g.m.nox()
	}
	var found []command
	for _, p := range plans {
		if p.command != nil {
			c := g.command(p.command, p.source, fromRunner)
			c.plan, c.other = p, cmp.Or(otherName(p.name), c.other)
			found = append(found, c)
		}
	}
	for _, r := range g.lines() {
		if words, ok := pytestLine(r.Args); ok && (g.m.home(r.Dir) == g.m.dir || below(g.m.dir, []string{r.Dir})) {
			found = append(found, g.command(moved(words, r.Dir, g.m.dir), r.Source, fromCI))
		}
	}
	slices.SortStableFunc(found, func(a, b command) int {
		return cmp.Or(
			cmp.Compare(min(1, len(a.other)), min(1, len(b.other))),
			cmp.Compare(b.changed, a.changed), cmp.Compare(a.rank, b.rank), cmp.Compare(b.files, a.files))
	})
	g.settlePlan(plans, found)
	g.commands = found
}

// rivals adds pytest without words, for trees that name nothing better, before the
// commands of other work. It comes after the requirements: they report whether the tests
// are written for pytest.
func (g *guess) rivals() {
	found := g.commands
	words, source := g.conventional()
	convention := g.command(words, source, fromConvention)
	at := slices.IndexFunc(found, func(c command) bool { return c.other != "" })
	if at < 0 {
		at = len(found)
	}
	if at > 0 && found[0].changed == 0 && convention.changed > 0 {
		at = 0 // what the tree names runs nothing of what the change tests
	}
	g.commands = distinct(slices.Insert(found, at, convention))
}

// settlePlan takes requirements and variables from the environment of the best
// command; else from one that runs tests without pytest.
func (g *guess) settlePlan(plans []plan, found []command) {
	for _, c := range found {
		if c.rank == fromRunner && c.other == "" {
			g.plan = c.plan
			return
		}
	}
	for _, p := range plans {
		if p.command == nil && otherName(p.name) == "" {
			g.plan = p
			return
		}
	}
}

// conventional is pytest over what it finds by itself.
func (g *guess) conventional() (words []string, source string) {
	if !g.mentionsPytest() && g.usesUnittest() {
		return []string{"pytest", "-o", unittestFiles}, "convention: unittest" // unittest's own pattern
	}
	return []string{"pytest"}, "convention"
}

// command weighs one pytest line.
func (g *guess) command(line []string, source string, rank int) command {
	style, words := splitPytest(line)
	kept := keepWords(g.p.Solution, words)
	argv := []string{venvPath + "/bin/pytest"}
	if style == "module" {
		argv = []string{venvPython, "-m", "pytest"}
	}
	c := command{
		test: []schemas.Command{{Argv: append(argv, kept...), Dir: g.m.dir, Env: activated()}}, source: source, rank: rank, other: otherWords(words),
	}
	runs := suiteOf(g.p.Solution, kept)
	patterns := pythonFiles(g.p.Solution)
	for _, p := range g.p.Solution.Paths() {
		if isTestModule(p, patterns) && runs(p) {
			c.files++
			if slices.Contains(g.p.TestPaths, p) {
				c.changed++
			}
		}
	}
	return c
}

// suiteOf gives the test modules that a pytest line runs, as far as paths decide.
func suiteOf(t lang.Tree, words []string) func(string) bool {
	var paths, ignored, globs []string
	for i := 0; i < len(words); i++ {
		name, value, attached := strings.Cut(words[i], "=")
		if !strings.HasPrefix(name, "-") {
			file, _, _ := strings.Cut(words[i], "::")
			paths = append(paths, path.Clean(file))
			continue
		}
		if wordsWithValue[name] && !attached && i+1 < len(words) {
			i++
			value = words[i]
		}
		switch name {
		case "--pyargs":
			return func(string) bool { return true } // modules: which files they are is not told by name
		case "--ignore":
			ignored = append(ignored, path.Clean(value))
		case "--ignore-glob":
			globs = append(globs, value)
		}
	}
	if len(paths) == 0 {
		paths = readPytestINI(t).values["testpaths"]
	}
	return func(p string) bool {
		if len(paths) > 0 && !below(p, paths) || below(p, ignored) {
			return false
		}
		return !slices.ContainsFunc(globs, func(g string) bool { ok, err := path.Match(g, p); return ok && err == nil })
	}
}

// otherFlags are options of pytest plugins that measure instead of testing.
var otherFlags = []string{"--benchmark-only", "--codspeed", "--nbval", "--nbmake"}

var (
	otherFolder = lazyregexp.New(`(?i)^(bench(mark)?s?|asv_bench|perf(ormance)?|docs?|documentation|typing|typecheck|mypy|lint|fuzz(ing)?|examples?)$`)
	otherMark   = lazyregexp.New(`(?i)^(bench(mark)?s?|docs?|lint|mypy|fuzz|(integration|e2e|end_to_end|live|network|online|gpu)s?( and .*)?)$`)
)

// otherName is why the name of an environment or session is not the suite's.
func otherName(name string) string {
	if workflow.OtherWork(name) || slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' }), func(w string) bool {
		return w == "codspeed" || w == "perf"
	}) {
		return "by its name: " + name
	}
	return ""
}

// otherWords is why a pytest line is not the suite's: by its plugins, its marks, or
// because all its paths lie in folders of other work.
func otherWords(words []string) string {
	paths, others := 0, ""
	for i := 0; i < len(words); i++ {
		name, value, attached := strings.Cut(words[i], "=")
		if slices.Contains(otherFlags, name) {
			return "by its option " + name
		}
		if strings.HasPrefix(name, "-") {
			takes := keptFlags[name] || valueFollows(name)
			if takes && !attached && i+1 < len(words) {
				i++
				value = words[i]
			}
			if (name == "-m" || name == "-k") && otherMark.MatchString(strings.TrimSpace(value)) {
				return "by its option " + name + " " + value
			}
			continue
		}
		paths++
		if slices.ContainsFunc(strings.Split(path.Clean(words[i]), "/"), otherFolder.MatchString) {
			others = words[i]
			paths--
		}
	}
	if others != "" && paths == 0 {
		return "by its path: " + others
	}
	return ""
}

// distinct keeps the first of equal commands.
func distinct(all []command) []command {
	seen := map[string]bool{}
	var out []command
	for _, c := range all {
		key := strings.Join(c.test[0].Argv, "\x00")
		if !seen[key] {
			seen[key] = true
			out = append(out, c)
		}
	}
	return out
}
