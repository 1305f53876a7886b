package python

import (
	"slices"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/workflow"
)

// Sources of test requirements other than tox, each in its tool's own form.

// nox reads the sessions of a noxfile that run pytest, in order.
func (m *manifest) nox() []plan {
	var plans []plan
	source := string(m.read("noxfile.py"))
	for _, body := range noxSession.FindAllStringSubmatchIndex(source, -1) {
		text := source[body[0]:functionEnd(source, body[1])]
		if !strings.Contains(text, "pytest") {
			continue
		}
		line := strings.Count(source[:body[0]], "\n") + 1
		at := "noxfile.py:" + itoa(line)
		p := plan{source: at, name: source[body[2]:body[3]]}
		for _, call := range noxCall.FindAllStringSubmatch(text, -1) {
			var words []string
			for _, x := range pyLiteral.FindAllStringSubmatch(call[2], -1) {
				words = append(words, x[1]+x[2])
			}
			switch call[1] {
			case "install":
				p.requires = append(p.requires, m.installLine(append([]string{"pip", "install"}, words...), at)...)
			case "run_install", "run_always":
				p.requires = append(p.requires, m.installLine(words, at)...)
			case "run":
				if w, ok := pytestLine(words); ok && p.command == nil {
					p.command = w
				}
			}
		}
		groups := m.groups()
		for _, x := range noxGroup.FindAllStringSubmatch(text, -1) {
			p.requires = append(p.requires, groups[normalise(x[1])]...)
		}
		plans = append(plans, p)
	}
	return plans
}

var (
	noxSession = lazyregexp.New(`(?m)^def\s+(\w+)\(\s*(?:session|s)\b[^)]*\)[^:]*:`)
	noxCall    = lazyregexp.New(`(?s)\b(?:session|s)\.(install|run_install|run_always|run)\(((?:[^()]|\([^()]*\))*)\)`)
	noxGroup   = lazyregexp.New(`dependency_groups\([^)]*["'](\w[\w-]*)["']`)
)

// functionEnd is where the next top-level statement begins.
func functionEnd(source string, from int) int {
	for i := from; i < len(source); i++ {
		if source[i] == '\n' && i+1 < len(source) && !strings.ContainsRune(" \t\n\r#)]}", rune(source[i+1])) {
			return i
		}
	}
	return len(source)
}

// hatch reads the environments of Hatch that run tests.
func (m *manifest) hatch() []requirement {
	var out []requirement
	for _, name := range []string{"hatch-test", "test", "tests", "default"} {
		env := table(m.pyproject, "tool", "hatch", "envs", name)
		for _, key := range []string{"dependencies", "extra-dependencies"} {
			for _, d := range strs(env[key]) {
				if r, ok := m.localOr(d); ok {
					out = append(out, requirement{r, m.where("pyproject.toml", d)})
				}
			}
		}
		for _, f := range strs(env["features"]) {
			out = append(out, requirement{ofTree(m.dir, f), m.where("pyproject.toml", "features")})
		}
		groups := m.groups()
		for _, g := range strs(env["dependency-groups"]) {
			out = append(out, groups[normalise(g)]...)
		}
		if namesPytest(out) || name == "hatch-test" && env != nil {
			return withoutTools(out)
		}
	}
	return nil
}

// testNames are the names that a group or an extra of test requirements has, best first.
var testNames = []string{"test", "tests", "testing", "unit-test", "unit-tests", "unittest", "tests-strict", "test-all", "pytest", "ci"}

// testGroups are the groups with a test name (rule P3), then extras.
func (m *manifest) testGroups() []requirement {
	groups := m.groups()
	for _, n := range testNames {
		if g, ok := groups[n]; ok {
			return g
		}
	}
	return nil
}

func (m *manifest) testExtras() []requirement {
	extras := m.extras()
	for _, n := range testNames {
		if _, ok := extras[n]; ok {
			source := m.first("pyproject.toml", "setup.cfg", "setup.py")
			for _, r := range extras[n] {
				source = r.source
			}
			return []requirement{{ofTree(m.dir, n), source}}
		}
	}
	return nil
}

// testFiles are requirement files by rule P4.
func (m *manifest) testFiles() []requirement {
	for _, pattern := range []*lazyregexp.Regexp{
		lazyregexp.New(`^requirements/(?:.*[_-])?tests?(?:ing)?\.(?:txt|pip|in)$`),
		lazyregexp.New(`^requirements[_-]tests?(?:ing)?\.(?:txt|pip|in)$`),
		lazyregexp.New(`^tests?[_-]requirements\.(?:txt|pip|in)$`),
		lazyregexp.New(`^(?:tests?|testing)/(?:requirements|test[_-]requirements|requirements[_-]tests?)\.(?:txt|pip|in)$`),
		lazyregexp.New(`^requirements/(?:ci|dev|development)\.(?:txt|pip|in)$`),
		lazyregexp.New(`^(?:requirements[_-](?:dev|ci|development)|(?:dev|ci)[_-]requirements)\.(?:txt|pip|in)$`),
	} {
		paths := slices.Clone(m.tree.Paths())
		sort.SliceStable(paths, func(i, j int) bool { // the source of a compiled list is the better one
			return strings.HasSuffix(paths[i], ".in") && !strings.HasSuffix(paths[j], ".in")
		})
		for _, p := range paths {
			if pattern.MatchString(p) {
				return withoutTools(m.readRequirements(p, false))
			}
		}
	}
	if rs := m.readRequirements("requirements.txt", false); namesPytest(rs) {
		return withoutTools(rs)
	}
	return nil
}

// testsRequire is setup.py's and setup.cfg's old tests_require.
func (m *manifest) testsRequire() []requirement {
	var out []requirement
	for _, s := range pyStrings(m.setupPy, "tests_require") {
		if r, ok := m.localOr(s); ok {
			out = append(out, requirement{r, m.where("setup.py", "tests_require")})
		}
	}
	if v, ok := m.setupCfg.get("options", "tests_require"); ok {
		for _, l := range v.lines {
			out = append(out, requirement{l.text, "setup.cfg:" + itoa(l.line)})
		}
	}
	return out
}

// poetryGroup reads one group of Poetry ("" is all of them and the older
// dev-dependencies), in PEP 508 form.
func (m *manifest) poetryGroup(name string) []requirement {
	var out []requirement
	add := func(deps map[string]any) {
		for _, dist := range sortedKeys(deps) {
			if r, ok := poetryRequirement(dist, deps[dist]); ok {
				if line, ok := m.localOr(r); ok {
					out = append(out, requirement{line, m.whereKey("pyproject.toml", dist)})
				}
			}
		}
	}
	groups := table(m.pyproject, "tool", "poetry", "group")
	for _, g := range sortedKeys(groups) {
		if name == "" || normalise(g) == normalise(name) {
			add(table(groups, g, "dependencies"))
		}
	}
	if name == "" || name == "dev" {
		add(table(m.pyproject, "tool", "poetry", "dev-dependencies"))
	}
	return out
}

// poetryTests are Poetry's groups for tests and for development, tools left out (P5).
func (m *manifest) poetryTests() []requirement {
	var out []requirement
	groups := table(m.pyproject, "tool", "poetry", "group")
	for _, g := range sortedKeys(groups) {
		if !workflow.OtherWork(g) {
			out = append(out, m.poetryGroup(g)...)
		}
	}
	if len(table(groups, "dev")) == 0 {
		out = append(out, m.poetryGroup("dev")...)
	}
	return withoutTools(out)
}

// poetryRequirement turns Poetry's form into PEP 508.
func poetryRequirement(dist string, v any) (string, bool) {
	if dist == "python" {
		return "", false
	}
	version, marker, extras := "", "", ""
	switch v := v.(type) {
	case string:
		version = v
	case []any:
		for _, alt := range v { // one entry per Python version
			if r, ok := poetryRequirement(dist, alt); ok {
				return strings.SplitN(r, ";", 2)[0], true
			}
		}
		return "", false
	case map[string]any:
		if v["git"] != nil || v["url"] != nil {
			return "", false
		}
		if dir, ok := v["path"].(string); ok {
			return dist + " @ file:" + dir, true
		}
		version, _ = v["version"].(string)
		marker, _ = v["markers"].(string)
		if p, ok := v["python"].(string); ok && marker == "" {
			marker = pythonMarker(p)
		}
		if x := strs(v["extras"]); len(x) > 0 {
			extras = "[" + strings.Join(x, ",") + "]"
		}
	}
	out := dist + extras + pep440(version)
	if marker != "" {
		out += " ; " + marker
	}
	return out, true
}

func pythonMarker(spec string) string {
	var parts []string
	for _, c := range strings.Split(strings.TrimPrefix(pep440(spec), " "), ",") {
		if x := lazyregexp.New(`^(>=|<=|==|!=|<|>|~=)\s*([\d.]+)`).FindStringSubmatch(strings.TrimSpace(c)); x != nil {
			parts = append(parts, `python_version `+x[1]+` "`+x[2]+`"`)
		}
	}
	return strings.Join(parts, " and ")
}

// pep440 turns ^1.2, ~1.2, 1.2 and * into PEP 440 specifiers.
func pep440(spec string) string {
	var out []string
	spec, _, _ = strings.Cut(spec, "||") // alternatives: the first is enough for a resolver to start from
	for _, c := range strings.FieldsFunc(spec, func(r rune) bool { return r == ',' || r == ' ' }) {
		switch {
		case c == "*" || c == "":
		case strings.HasPrefix(c, "^"):
			out = append(out, ">="+c[1:], "<"+caret(c[1:]))
		case strings.HasPrefix(c, "~") && !strings.HasPrefix(c, "~="):
			if parts := strings.Split(c[1:], "."); len(parts) == 1 {
				out = append(out, "=="+c[1:]+".*")
			} else {
				out = append(out, ">="+c[1:], "=="+strings.Join(parts[:2], ".")+".*")
			}
		case c[0] >= '0' && c[0] <= '9':
			out = append(out, "=="+c)
		default:
			out = append(out, c)
		}
	}
	return strings.Join(out, ",")
}

// caret is the first version that ^v excludes: its leftmost non-zero part goes up.
func caret(v string) string {
	t, ok := parseTag(v)
	if !ok {
		return v
	}
	for i, n := range t.release {
		if n != 0 || i == len(t.release)-1 {
			up := tagVersion{release: append(append([]int{}, t.release[:i]...), n+1), post: -1}
			return up.String()
		}
	}
	return v
}

func namesPytest(rs []requirement) bool {
	for _, r := range rs {
		if distName(r.line) == "pytest" {
			return true
		}
	}
	return false
}
