package python

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"deps.dev/util/semver"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

// Infer guesses a recipe from the solution's manifests and CI, by the rules of
// design 7 (facts: environments, 1.0 and 1.1), each line with its evidence.
func (l Language) Infer(p lang.Project) (schemas.Recipe, error) {
	root := readManifest(p.Solution)
	g := &guess{ci: root.readCI()}
	g.m = root.at(root.project(p.TestPaths, g.ci))
	g.p = within(p, g.m.dir)
	g.recipe = schemas.Recipe{
		Language: Name, Report: ReportFormat, DepsFrom: "solution", Pinning: schemas.PinNone,
		Variables: map[string]string{},
	}
	if err := g.toolchain(); err != nil {
		return schemas.Recipe{}, err
	}
	if err := g.tools(); err != nil {
		return schemas.Recipe{}, err
	}
	g.requirements()
	g.system()
	g.build()
	g.test()
	g.pinning()
	return g.recipe, nil
}

// guess is one inference at work.
type guess struct {
	p    lang.Project // seen from the folder of the manifest
	m    *manifest
	ci   ci
	plan plan // of the test runner's configuration
	// commands are the test commands that were found, the chosen one first.
	commands []command
	version  string
	recipe   schemas.Recipe
}

func (g *guess) evidence(field, value, source string) {
	g.recipe.Evidence = append(g.recipe.Evidence, schemas.Evidence{Field: field, Value: value, Source: g.m.place(source)})
}

// tools: the resolver and installer is the newest uv at hand; it installs, and is
// no part of what is installed.
func (g *guess) tools() error {
	best := ""
	for _, a := range g.p.Available {
		if a.Name == UVName && (best == "" || newer(a.Version, best)) {
			best = a.Version
		}
	}
	if best == "" {
		return errors.New("uv, which resolves and installs Python dependencies, is not among the toolchains: it is ours to bring")
	}
	g.recipe.Tools = []schemas.Toolchain{{Name: UVName, Version: best}}
	return nil
}

// oldest is the oldest interpreter that uv makes environments for.
const oldest = "3.6"

// toolchain chooses the interpreter: CI matrix, then what manifests name, then
// the newest of the date; never simply the newest installed.
func (g *guess) toolchain() error {
	usable := g.usable()
	if v, ok := g.pick(usable, g.ci.versions); ok {
		g.setToolchain(v.line, v.source)
		return nil
	}
	if v, ok := g.pick(usable, g.m.toxVersions()); ok {
		g.setToolchain(v.line, v.source)
		return nil
	}
	if v, ok := g.pick(usable, g.m.classifiers()); ok {
		g.setToolchain(v.line, v.source)
		return nil
	}
	if len(usable) > 0 {
		source := "date"
		if r := g.m.requiresPython(); r.line != "" {
			source = "date within " + g.m.place(r.source)
		}
		g.setToolchain(usable[len(usable)-1].Version, source)
		return nil
	}
	return &lang.Refusal{Reason: schemas.NoToolchain, Detail: g.wanted()}
}

// usable are the interpreters that were out at the date and that the project
// allows, oldest first.
func (g *guess) usable() []lang.ToolchainRelease {
	allowed := []string{g.m.requiresPython().line}
	for _, p := range g.p.TestPaths { // of a package beside the project, too
		allowed = append(allowed, g.m.at(g.m.home(folderOf(path.Join(g.m.dir, p)))).requiresPython().line)
	}
	var out []lang.ToolchainRelease
	for _, a := range g.p.Available {
		if a.Name != "python" || a.Released.After(g.p.Date) || newer(oldest, a.Version) ||
			slices.ContainsFunc(allowed, func(spec string) bool { return !satisfies(a.Version, spec) }) {
			continue
		}
		out = append(out, a)
	}
	sort.SliceStable(out, func(i, j int) bool { return newer(out[j].Version, out[i].Version) })
	return out
}

// pick is the highest of the named versions that is usable; the newest patch of it.
func (g *guess) pick(usable []lang.ToolchainRelease, named []requirement) (requirement, bool) {
	for _, a := range slices.Backward(usable) {
		for _, n := range named {
			if minor(n.line) == minor(a.Version) {
				return requirement{a.Version, n.source}, true
			}
		}
	}
	return requirement{}, false
}

func (g *guess) setToolchain(version, source string) {
	g.version = minor(version)
	g.recipe.Toolchain = schemas.Toolchain{Name: "python", Version: version}
	g.evidence("toolchain", version, source)
}

// wanted says which version would have been right, for the reject.
func (g *guess) wanted() string {
	want := "any Python released before " + g.p.Date.UTC().Format("2006-01-02")
	if r := g.m.requiresPython(); r.line != "" {
		want = fmt.Sprintf("Python %s (%s) released before %s", r.line, r.source, g.p.Date.UTC().Format("2006-01-02"))
	}
	named := append(slices.Clone(g.ci.versions), g.m.classifiers()...)
	best := requirement{}
	for _, n := range named {
		if best.line == "" || newer(n.line, best.line) {
			best = n
		}
	}
	if best.line != "" {
		want += fmt.Sprintf("; %s is named in %s", best.line, best.source)
	}
	var have []string
	for _, a := range g.p.Available {
		if a.Name == "python" {
			have = append(have, a.Version)
		}
	}
	sort.Slice(have, func(i, j int) bool { return newer(have[j], have[i]) })
	return "wanted " + want + "; here are " + strings.Join(have, ", ") + " (uv needs " + oldest + " or newer)"
}

// requirements gathers the resolver's input: the project, its test requirements
// (first source that names pytest), its build backend, and what the changed tests
// import beyond these.
func (g *guess) requirements() {
	var all []requirement
	if g.m.buildable() {
		all = append(all, requirement{ofTree(g.m.dir), g.m.first(packageFiles...)})
		all = append(all, g.m.buildRequires()...)
	}
	tests := g.testRequirements()
	all = append(all, tests...)
	all = append(all, g.workspace()...)
	all = append(all, g.beside()...)
	all = append(all, g.constraints()...)
	all = append(all, g.m.missing(all, g.p.TestPaths)...)
	all = append(all, g.m.seeded(all)...)
	all = append(all, floor(g.m.expand(all))...)
	all = g.m.withLocals(all)
	for _, r := range all {
		g.evidence("requirements", r.line, r.source)
	}
	g.recipe.Evidence = unique(g.recipe.Evidence)
	g.recipe.Requirements = lines(all)
}

// testRequirements accumulates sources until one has named pytest.
func (g *guess) testRequirements() []requirement {
	g.choose()
	found := withoutTools(g.plan.requires)
	for _, source := range []func() []requirement{
		g.m.testGroups, g.m.hatch, g.m.testExtras, g.installs,
		g.m.testFiles, g.m.poetryTests, g.m.testsRequire, g.m.devGroup,
	} {
		if namesPytest(g.m.expand(found)) {
			break
		}
		found = append(found, source()...)
	}
	if runnerOnly(found) {
		found = append(found, g.m.poetryTests()...)
	}
	return found
}

// runnerOnly: with Poetry, tox and nox lists often hold the runner alone and the
// rest is in Poetry's groups; then these are installed too.
func runnerOnly(found []requirement) bool {
	for _, r := range found {
		switch distName(r.line) {
		case "pytest", "pytest-cov", "coverage", "":
		default:
			return false
		}
	}
	return true
}

// devGroup is the last resort: development lists without their tools.
func (m *manifest) devGroup() []requirement {
	out := withoutTools(m.groups()["dev"])
	if !namesPytest(out) {
		out = append(out, withoutTools(m.extras()["dev"])...)
	}
	return out
}

// leastPytest is the oldest pytest that is asked for where the project bounds none.
const leastPytest = "pytest>=6"

// floor adds pytest where nothing names it, and a floor where nothing bounds it:
// without one a resolver may quietly go back by years (facts: failure table).
func floor(have []requirement) []requirement {
	for _, r := range have {
		if distName(r.line) == "pytest" && bounded(r.line) {
			return nil
		}
	}
	return []requirement{{leastPytest, "convention"}}
}

// system takes Debian packages from CI, and a compiler where the project has C code.
func (g *guess) system() {
	var all []requirement
	all = append(all, g.ci.packages...)
	all = append(all, g.ci.locales...)
	if source, ok := g.m.compiled(); ok {
		all = append(all, requirement{"build-essential", source})
	}
	set := map[string]bool{}
	for _, r := range all {
		if !set[r.line] {
			set[r.line] = true
			g.evidence("system_packages", r.line, r.source)
		}
	}
	g.recipe.SystemPackages = sortedKeys(set)
	if len(set) == 0 {
		g.recipe.SystemPackages = nil
	}
}

// compiled reports whether the project has extension modules.
func (m *manifest) compiled() (string, bool) {
	for _, mark := range []string{"ext_modules", "cffi_modules", "cythonize"} {
		if strings.Contains(m.setupPy, mark) {
			return m.where("setup.py", mark), true
		}
	}
	for _, r := range list(m.pyproject, "build-system", "requires") {
		switch distName(r) {
		case "cython", "cffi", "meson-python", "scikit-build", "scikit-build-core", "pybind11", "mypy":
			return m.where("pyproject.toml", r), true
		}
	}
	return "", false
}

// build is the in-place installation that runs after every patch.
func (g *guess) build() {
	dirs := locals(g.recipe.Requirements)
	if len(dirs) == 0 {
		g.evidence("build", "none", "convention: no packaging metadata")
		return
	}
	env := activated()
	if slices.Contains(dirs, g.m.dir) { // its version goes before that of others
		dirs = append([]string{g.m.dir}, slices.DeleteFunc(dirs, func(d string) bool { return d == g.m.dir })...)
	}
	for _, dir := range dirs {
		v, ok := g.m.at(dir).pretendVersion(g.p.Version)
		if !ok {
			continue
		}
		for name, value := range v.variables {
			env[name] = cmp.Or(env[name], value)
		}
		g.evidence("version", v.tool+": "+cmp.Or(v.note, v.version), g.m.at(dir).place(v.source)+", tags")
	}
	// uv reads its settings from the folder that it runs in, and refuses to run as another version.
	root := g.m.at("")
	if where := root.first("uv.toml", "pyproject.toml"); str(root.toml("uv.toml"), "required-version")+str(root.pyproject, "tool", "uv", "required-version") != "" {
		env["UV_NO_CONFIG"] = "1"
		g.evidence("build", "UV_NO_CONFIG=1", where+": required-version")
	}
	path, err := uv(g.recipe)
	if err != nil {
		return // tools has set it
	}
	g.recipe.Build = []schemas.Command{editable(path, env, dirs)}
	g.evidence("build", "editable, without network", "convention")
}

// editable installs packages of the tree in place. Without a cache: a cached wheel of the
// project would be a second copy of it.
func editable(uvPath string, env map[string]string, dirs []string) schemas.Command {
	argv := []string{uvPath, "pip", "install", "--offline", "--no-cache", "--no-deps", "--no-build-isolation", "--python", venvPython}
	for _, dir := range dirs {
		argv = append(argv, "--editable", ofTree(dir))
	}
	return schemas.Command{Argv: argv, Env: env}
}

// test is the chosen pytest command with the words that say what the suite is.
func (g *guess) test() {
	g.rivals()
	best := g.commands[0]
	g.recipe.Test = best.test
	g.evidence("test", strings.Join(best.test[0].Argv, " "), best.source)
	for _, c := range g.commands[1:] {
		g.recipe.Rivals = append(g.recipe.Rivals, schemas.Rival{Test: c.test, Source: c.source, Other: c.other})
	}
	g.variables()
}

// variables are the literal ones of the runner's configuration; without one,
// those of the CI jobs.
func (g *guess) variables() {
	env := g.plan.env
	if g.plan.command == nil {
		env = g.ci.env
	}
	for _, name := range sortedKeys(env) {
		reason, ok := recipe.Admit(name, env[name].line)
		if stepVersion.MatchString(name) {
			reason, ok = recipe.OfSteps, false
		}
		if !ok {
			g.recipe.Evidence = append(g.recipe.Evidence, recipe.Leave(name, reason, env[name].source))
			continue
		}
		g.recipe.Variables[name] = env[name].line
		g.evidence("variables", name+"="+env[name].line, env[name].source)
	}
	if len(g.recipe.Variables) == 0 {
		g.recipe.Variables = nil
	}
}

func (g *guess) mentionsPytest() bool {
	ini := readPytestINI(g.p.Solution)
	return ini.file != "" || slices.ContainsFunc(g.recipe.Evidence, func(e schemas.Evidence) bool {
		return e.Field == "requirements" && distName(e.Value) == "pytest" && e.Source != "convention"
	})
}

// usesUnittest reports whether a test imports unittest: what ships may take its mocks.
func (g *guess) usesUnittest() bool {
	for _, p := range g.p.Solution.Paths() {
		_, inRoot := testRoot(p, g.p.Solution)
		base := path.Base(p)
		isTest := inRoot || strings.HasPrefix(base, "test") || testModule.MatchString(base)
		if isTest && strings.HasSuffix(p, ".py") && slices.Contains(imports(g.m.read(p)), "unittest") {
			return true
		}
	}
	return false
}

// pinning notes what the resolver will be asked for; Locked corrects it by what held.
func (g *guess) pinning() {
	if g.p.PinToDate {
		g.recipe.Pinning, g.recipe.PinDate = schemas.PinDate, quarter(g.p.Date).Format(dateOnly)
	}
}

var noxPython = lazyregexp.New(`python\s*=\s*(\[[^\]]*\]|"[^"]*"|'[^']*')`)

// toxVersions are the versions of tox's list of environments and of nox sessions.
func (m *manifest) toxVersions() []requirement {
	var out []requirement
	add := func(file string, line int, text string) {
		for _, name := range expandBraces(text) {
			for _, x := range toxVersion.FindAllStringSubmatch(name, -1) {
				out = append(out, requirement{x[1] + "." + x[2], file + ":" + itoa(line)})
			}
		}
	}
	ini := parseINI(m.read("tox.ini"))
	for _, key := range []string{"envlist", "env_list"} {
		v := ini["tox"][key]
		add("tox.ini", v.line, v.text())
	}
	for _, x := range noxPython.FindAllStringSubmatchIndex(string(m.read("noxfile.py")), -1) {
		source := string(m.read("noxfile.py"))
		for _, v := range pyLiteral.FindAllStringSubmatch(source[x[2]:x[3]], -1) {
			if plainVersion.MatchString(v[1] + v[2]) {
				out = append(out, requirement{v[1] + v[2], "noxfile.py:" + itoa(strings.Count(source[:x[0]], "\n")+1)})
			}
		}
	}
	for _, e := range list(m.pyproject, "tool", "tox", "env_list") {
		add("pyproject.toml", m.lineOf("pyproject.toml", "env_list"), e)
		if plainVersion.MatchString(e) {
			out = append(out, requirement{e, m.where("pyproject.toml", "env_list")})
		}
	}
	return out
}

const pythonClassifier = "Programming Language :: Python :: "

// classifiers are the versions that the project declares.
func (m *manifest) classifiers() []requirement {
	var all []requirement
	for _, c := range append(list(m.pyproject, "project", "classifiers"), list(m.pyproject, "tool", "poetry", "classifiers")...) {
		all = append(all, requirement{c, m.where("pyproject.toml", c)})
	}
	if v, ok := m.setupCfg.get("metadata", "classifiers"); ok {
		for _, l := range v.lines {
			all = append(all, requirement{l.text, "setup.cfg:" + itoa(l.line)})
		}
	}
	for i, l := range strings.Split(m.setupPy, "\n") {
		for _, x := range pyLiteral.FindAllStringSubmatch(l, -1) {
			all = append(all, requirement{x[1] + x[2], "setup.py:" + itoa(i+1)})
		}
	}
	var out []requirement
	for _, r := range all {
		if v, ok := strings.CutPrefix(r.line, pythonClassifier); ok && plainVersion.MatchString(v) {
			out = append(out, requirement{v, r.source})
		}
	}
	return out
}

// requiresPython is the range that the project allows.
func (m *manifest) requiresPython() requirement {
	if s := str(m.pyproject, "project", "requires-python"); s != "" {
		return requirement{s, m.where("pyproject.toml", "requires-python")}
	}
	if s, ok := dig(m.pyproject, "tool", "poetry", "dependencies", "python").(string); ok {
		return requirement{pep440(s), m.whereKey("pyproject.toml", "python")}
	}
	if v, ok := m.setupCfg.get("options", "python_requires"); ok {
		return requirement{v.text(), "setup.cfg:" + itoa(v.line)}
	}
	if x := pythonRequires.FindStringSubmatch(m.setupPy); x != nil {
		return requirement{x[1], m.where("setup.py", "python_requires")}
	}
	return requirement{}
}

var pythonRequires = lazyregexp.New(`python_requires\s*=\s*['"]([^'"]+)['"]`)

// satisfies reports whether an interpreter fits a specifier of PEP 440. One that cannot be
// understood is "anything".
func satisfies(version, spec string) bool {
	v, err := semver.PyPI.Parse(version)
	if err != nil {
		return true
	}
	fits := true
	for _, clause := range strings.Split(spec, ",") {
		clause = strings.TrimSpace(clause)
		if exact, ok := strings.CutPrefix(clause, "==="); ok { // the same text; the library does not have it
			fits = fits && strings.TrimSpace(exact) == version
			continue
		}
		c, err := semver.PyPI.ParseConstraint(clause)
		if err != nil {
			return true
		}
		fits = fits && c.MatchVersion(v)
	}
	return fits
}

// minor is 3.12 of 3.12.1.
func minor(v string) string {
	parts := strings.SplitN(v, ".", 3)
	if len(parts) < 2 {
		return v
	}
	return parts[0] + "." + parts[1]
}

// newer compares plain versions by number.
func newer(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := 0; i < max(len(x), len(y)); i++ {
		p, q := 0, 0
		if i < len(x) {
			p, _ = strconv.Atoi(x[i]) // no number counts as 0: it is never the newer one
		}
		if i < len(y) {
			q, _ = strconv.Atoi(y[i])
		}
		if p != q {
			return p > q
		}
	}
	return false
}

// unique drops evidence that is said twice.
func unique(in []schemas.Evidence) []schemas.Evidence {
	seen := map[schemas.Evidence]bool{}
	var out []schemas.Evidence
	for _, e := range in {
		if !seen[e] {
			seen[e] = true
			out = append(out, e)
		}
	}
	return out
}
