package python

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/languages"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/schemas"
)

// Source recognises Python source, stubs and Cython included.
func (Language) Source(p string) bool { return languages.IsSource(Name, p) }

var (
	testModule   = lazyregexp.New(`^(test_.*|.*_test|tests)\.py$`)
	definesTests = lazyregexp.New(`(?m)^\s*(async\s+)?def test|^\s*class \w*Test|^\s*class \w+\([^)]*TestCase|^import pytest|^from pytest`)
	// testManifests serve nothing but runs of the tests: the runner's settings and the
	// lists of what it needs. They ship nothing, so they go with the tests that need them.
	testManifests = lazyregexp.New(`^(pytest\.ini|\.pytest\.ini|\.?pytest\.toml|tox\.ini|tox\.toml|noxfile\.py|\.coveragerc|coveragerc)$`)
	testLists     = lazyregexp.New(`^((requirements|reqs|deps)/(.*[-_])?(tests?|testing|dev|development|ci)|requirements[-_.](.*[-_])?(tests?|testing|dev|development|ci)|(tests?|dev|ci)[-_](requirements|reqs)|(.*/)?tests?/(.*/)?requirements[\w-]*)\.(txt|pip|in)$`)
	helperName    = lazyregexp.New(`^(tests?|testing|test_?utils?|test_?helpers?|test_?support|fixtures?|mocks?|fakes?|helpers?)(_\w*)?$|_(tests?|testing|fixtures?|mocks?)$`)
)

// Part decides by names whole segments at a time, never by substring: latest.py is
// no test. Where a name alone does not decide (a folder called testing may ship),
// the tree after the change does.
func (Language) Part(p string, after lang.Tree) (schemas.Part, string, bool) {
	base := path.Base(p)
	switch {
	case base == "conftest.py":
		return schemas.PartTest, "name:conftest.py", true
	case testManifests.MatchString(p):
		return schemas.PartTest, "test-only manifest:" + base, true
	case testLists.MatchString(p):
		return schemas.PartTest, "test-only manifest:requirements", true
	}
	if root, ok := testRoot(p, after); ok {
		return schemas.PartTest, "path:" + root + "/", true
	}
	if snapshot(p) {
		return schemas.PartTest, "snapshot", true
	}
	if testModule.MatchString(base) && isTest(p, after) {
		return schemas.PartTest, "name:" + nameRule(base), true
	}
	if top := topModule(p); top != "" && helperName.MatchString(top) && onlyTestsImport(top, after) {
		return schemas.PartTest, "imported only by tests", true
	}
	return "", "", false
}

// nameKeys are the settings that name tests.
var nameKeys = lazyregexp.New(`python_(?:files|classes|functions)`)

// NamesTest goes by pytest's settings of the nearest folder that has some, where they say how
// tests are called: a file that they take, in their testpaths, and that holds a test of their
// names. A pattern that takes files of any name (*.py) says nothing by itself: it counts only
// where most files that it takes hold tests, so that no package that it takes along is a test.
func (Language) NamesTest(p string, settings, t lang.Tree) (rule string, ok bool) {
	base := path.Base(p)
	if path.Ext(p) != ".py" || base == "conftest.py" || base == "__init__.py" {
		return "", false
	}
	ini, dir := settingsOf(p, settings)
	names := readNames(ini, dir)
	if names == nil || !names.takes(p) || !names.holds(p, t) {
		return "", false
	}
	if !names.literal(base) {
		taken, held := 0, 0
		for _, q := range settings.Paths() {
			if path.Ext(q) == ".py" && path.Base(q) != "conftest.py" && path.Base(q) != "__init__.py" && names.takes(q) {
				if taken++; names.holds(q, settings) {
					held++
				}
			}
		}
		if 2*held <= taken {
			return "", false
		}
	}
	return "settings:" + path.Join(dir, ini.file), true
}

// settingsOf finds pytest's settings for a file and their folder. A tree without any that
// name tests is told without reading them as such.
func settingsOf(p string, t lang.Tree) (ini pytestINI, dir string) {
	m, names := &manifest{tree: t}, false
	for d := folderOf(p); ; d = folderOf(d) {
		for _, f := range settingsFiles {
			names = names || nameKeys.Match(m.read(path.Join(d, f)))
		}
		if d == "" {
			break
		}
	}
	for d := folderOf(p); names; d = folderOf(d) {
		if ini := ownPytestINI(under(t, d)); ini.file != "" || d == "" {
			return ini, d
		}
	}
	return pytestINI{}, ""
}

// namesOfTests is what settings say of the names of tests.
type namesOfTests struct {
	files, classes, functions []string // patterns
	paths                     []string // testpaths, from the tree's root; none is everywhere
}

// readNames is nil where the settings say nothing of names.
func readNames(ini pytestINI, dir string) *namesOfTests {
	v := ini.values
	if v["python_files"] == nil && v["python_classes"] == nil && v["python_functions"] == nil {
		return nil
	}
	n := namesOfTests{files: defaultFiles, classes: []string{"Test"}, functions: []string{"test"}}
	for key, to := range map[string]*[]string{"python_files": &n.files, "python_classes": &n.classes, "python_functions": &n.functions} {
		if len(v[key]) > 0 {
			*to = v[key]
		}
	}
	for _, p := range v["testpaths"] {
		n.paths = append(n.paths, path.Join(dir, p))
	}
	return &n
}

// takes reports whether the runner collects from a file of this name.
func (n *namesOfTests) takes(p string) bool {
	return (len(n.paths) == 0 || below(p, n.paths)) && slices.ContainsFunc(n.files, func(pattern string) bool { return takesFile(pattern, p) })
}

// takesFile: a pattern with slashes is of as many last names of the path.
func takesFile(pattern, p string) bool {
	names := strings.Split(p, "/")
	last := names[max(0, len(names)-1-strings.Count(pattern, "/")):]
	ok, err := path.Match(pattern, strings.Join(last, "/"))
	return ok && err == nil
}

// literal reports whether a pattern that takes a file names some part of its name.
func (n *namesOfTests) literal(base string) bool {
	return slices.ContainsFunc(n.files, func(pattern string) bool {
		stem := strings.TrimSuffix(path.Base(pattern), ".py")
		ok, err := path.Match(path.Base(pattern), base)
		return ok && err == nil && strings.ContainsFunc(stem, unicode.IsLetter)
	})
}

var (
	defines  = lazyregexp.New(`(?m)^[ \t]*(?:async[ \t]+)?(def|class)[ \t]+(\w+)`)
	testCase = lazyregexp.New(`(?m)^class \w+\([^)]*TestCase`)
)

// holds reports whether a file defines a test of these names.
func (n *namesOfTests) holds(p string, t lang.Tree) bool {
	data, err := t.Read(p)
	if err != nil {
		return false
	}
	for _, d := range defines.FindAllSubmatch(data, -1) {
		patterns := n.functions
		if string(d[1]) == "class" {
			patterns = n.classes
		}
		for _, pattern := range patterns { // a prefix, or a pattern
			if ok, err := path.Match(pattern, string(d[2])); ok && err == nil || strings.HasPrefix(string(d[2]), pattern) {
				return true
			}
		}
	}
	return testCase.Match(data)
}

func nameRule(base string) string {
	if strings.HasPrefix(base, "test_") {
		return "test_*.py"
	}
	if base == "tests.py" {
		return base
	}
	return "*_test.py"
}

// isTest: a module named like a test that holds none (test_runner.py of a tool)
// ships; one that the change deletes is taken at its name.
func isTest(p string, after lang.Tree) bool {
	data, err := after.Read(p)
	return err != nil || definesTests.Match(data)
}

// snapshot recognises recorded expectations, wherever they lie.
func snapshot(p string) bool {
	for _, dir := range strings.Split(path.Dir(p), "/") {
		if dir == "__snapshots__" || dir == "__image_snapshots__" || dir == "__inline_snapshot__" {
			return true
		}
	}
	return path.Ext(p) == ".ambr"
}

// testRoot is the outermost folder of p that is a root of tests.
func testRoot(p string, after lang.Tree) (string, bool) {
	parts := strings.Split(path.Dir(p), "/")
	for i, name := range parts {
		dir := strings.Join(parts[:i+1], "/")
		switch name {
		case "tests", "unittests", "unit_tests", "integration_tests", "functional_tests":
			return dir, true
		case "test", "testing":
			// numpy/testing and django/test ship; pluggy's testing/ holds its tests.
			if holdsTests(dir, after, i > 0) {
				return dir, true
			}
		}
	}
	return "", false
}

// holdsTests reports whether dir has test modules of its own. Inside a package those
// of a nested tests folder do not count: they test what the folder ships.
func holdsTests(dir string, after lang.Tree, inPackage bool) bool {
	if inPackage && !after.Has(path.Dir(dir)+"/__init__.py") {
		inPackage = false
	}
	for _, p := range after.Paths() {
		rest, ok := strings.CutPrefix(p, dir+"/")
		if !ok || !testModule.MatchString(path.Base(p)) && path.Base(p) != "conftest.py" {
			continue
		}
		if inPackage && strings.Contains("/"+rest, "/tests/") {
			continue
		}
		return true
	}
	return false
}

// topModule is the top-level import name of a Python file outside src.
func topModule(p string) string {
	if path.Ext(p) != ".py" || strings.HasPrefix(p, "src/") {
		return ""
	}
	top, _, _ := strings.Cut(p, "/")
	return strings.TrimSuffix(top, ".py")
}

// onlyTestsImport reports whether some test imports the module and nothing else does.
func onlyTestsImport(module string, after lang.Tree) bool {
	byTest := false
	for _, p := range after.Paths() {
		if path.Ext(p) != ".py" || topModule(p) == module {
			continue
		}
		data, err := after.Read(p)
		if err != nil || !strings.Contains(string(data), module) {
			continue
		}
		if !containsWord(imports(data), module) {
			continue
		}
		_, inRoot := testRoot(p, after)
		_, named := (Language{}).NamesTest(p, after, after)
		if !inRoot && !named && path.Base(p) != "conftest.py" && !testModule.MatchString(path.Base(p)) {
			return false
		}
		byTest = true
	}
	return byTest
}

// Manifest splits pyproject.toml, setup.cfg and setup.py: what only the test run
// reads against what the project is.
func (Language) Manifest(p string, before, after []byte, hunks []lang.Hunk) (test []bool, mixed, ok bool) {
	var kinds func([]byte) []lineKind
	switch path.Base(p) {
	case "pyproject.toml":
		kinds = tomlKinds
	case "setup.cfg":
		kinds = cfgKinds
	case "setup.py":
		kinds = setupKinds
	default:
		return nil, false, false
	}
	old, now := kinds(before), kinds(after)
	test = make([]bool, len(hunks))
	for i, h := range hunks {
		seen := map[lineKind]bool{}
		mark(seen, old, h.OldStart, h.OldLines)
		mark(seen, now, h.NewStart, h.NewLines)
		test[i] = seen[testLine] && !seen[projectLine]
		mixed = mixed || seen[testLine] && seen[projectLine]
	}
	return test, mixed, true
}

func mark(seen map[lineKind]bool, kinds []lineKind, start, n int) {
	for l := start; l < start+n; l++ {
		if l >= 1 && l <= len(kinds) {
			seen[kinds[l-1]] = true
		}
	}
}

// lineKind is whom one line of a manifest serves.
type lineKind int

const (
	neutral     lineKind = iota // blank, comment, settings of linters: goes with the rest
	testLine                    // the test run alone
	projectLine                 // what the project is
)

var (
	tomlHeader = lazyregexp.New(`^\s*\[{1,2}\s*([^\[\]]+?)\s*\]{1,2}\s*(#.*)?$`)
	tomlKey    = lazyregexp.New(`^\s*["']?([A-Za-z0-9_.-]+)["']?\s*=`)
	testTables = lazyregexp.New(`^(dependency-groups|tool\.(pytest|coverage|tox|nox|hatch\.envs|pdm\.dev-dependencies|poetry\.dev-dependencies|poetry\.group|hypothesis|inline-snapshot|pytest-asyncio))(\.|$)`)
	lintTables = lazyregexp.New(`^tool\.(mypy|ruff|black|isort|flake8|pylint|pyright|basedpyright|ty|pydocstyle|bandit|towncrier|codespell|cibuildwheel|check-manifest|interrogate|pyupgrade|autopep8|refurb|typos|bumpversion|bump-my-version|commitizen|semantic_release|gha-update|check-wheel-contents|doc8|djlint|yapf|pixi|uv)(\.|$)`)
	testKey    = lazyregexp.New(`^(tests?|testing|tests?[-_].*|.*[-_]tests?|dev|ci)$`)
	otherGroup = lazyregexp.New(`^(docs?.*|lint.*|typ(e|es|ing).*|mypy|pre-commit|format.*|release.*|build)$`)
)

func tomlKinds(data []byte) []lineKind {
	var out []lineKind
	table, key := "", ""
	depth := 0
	for _, line := range strings.Split(string(data), "\n") {
		text := strings.TrimSpace(line)
		if depth == 0 {
			if h := tomlHeader.FindStringSubmatch(line); h != nil && !strings.Contains(line, "=") {
				table, key = strings.ReplaceAll(h[1], `"`, ""), ""
			} else if k := tomlKey.FindStringSubmatch(line); k != nil {
				key = k[1]
			}
		}
		depth = max(0, depth+brackets(line))
		switch {
		case text == "" || strings.HasPrefix(text, "#"):
			out = append(out, neutral)
		default:
			out = append(out, tomlKind(table, key))
		}
	}
	return out
}

// brackets is how many arrays a line leaves open.
func brackets(line string) int {
	n, quoted := 0, byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case c == '"' || c == '\'':
			quoted = c
		case c == '#':
			return n
		case c == '[' || c == '{':
			n++
		case c == ']' || c == '}':
			n--
		}
	}
	if tomlHeader.MatchString(line) && !strings.Contains(line, "=") {
		return 0
	}
	return n
}

func tomlKind(table, key string) lineKind {
	switch {
	case table == "dependency-groups" || table == "tool.pdm.dev-dependencies":
		if otherGroup.MatchString(key) {
			return neutral
		}
		return testLine
	case strings.HasPrefix(table, "tool.poetry.group."):
		if otherGroup.MatchString(strings.Split(table, ".")[3]) {
			return neutral
		}
		return testLine
	case table == "project.optional-dependencies" || table == "tool.poetry.extras" || table == "tool.flit.metadata.requires-extra":
		if testKey.MatchString(key) {
			return testLine
		}
		if otherGroup.MatchString(key) {
			return neutral
		}
		return projectLine
	case testTables.MatchString(table):
		return testLine
	case lintTables.MatchString(table):
		return neutral
	}
	return projectLine
}

func cfgKinds(data []byte) []lineKind {
	var out []lineKind
	section, key := "", ""
	for _, line := range strings.Split(string(data), "\n") {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#' || text[0] == ';':
			out = append(out, neutral)
			continue
		case text[0] == '[' && strings.HasSuffix(text, "]") && line[0] == '[':
			section, key = strings.Trim(text, "[]"), ""
		case line[0] != ' ' && line[0] != '\t':
			key, _, _ = strings.Cut(text, "=")
			key = strings.TrimSpace(key)
		}
		out = append(out, cfgKind(section, key))
	}
	return out
}

func cfgKind(section, key string) lineKind {
	switch {
	case section == "tool:pytest" || section == "pytest" || section == "aliases" || section == "tox:tox" ||
		strings.HasPrefix(section, "coverage:") || strings.HasPrefix(section, "testenv"):
		return testLine
	case section == "options.extras_require" && (testKey.MatchString(key) || key == ""), section == "options" && key == "tests_require":
		if key == "" {
			return neutral // the header alone
		}
		return testLine
	case strings.HasPrefix(section, "flake8") || strings.HasPrefix(section, "mypy") || section == "isort" || section == "pycodestyle" || section == "pydocstyle":
		return neutral
	}
	return projectLine
}

// setupKinds knows tests_require only; the rest of a setup.py is code.
func setupKinds(data []byte) []lineKind {
	source := string(data)
	lines := strings.Split(source, "\n")
	out := make([]lineKind, len(lines))
	for i, l := range lines {
		if t := strings.TrimSpace(l); t != "" && t[0] != '#' {
			out[i] = projectLine
		}
	}
	body := bracketed(source, "tests_require")
	if body == "" {
		return out
	}
	first := strings.Count(source[:strings.Index(source, body)], "\n")
	for i := first; i <= first+strings.Count(body, "\n") && i < len(out); i++ {
		out[i] = testLine
	}
	return out
}
