package python

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

// repairRule is one row of the failure table: what the log shows, and the edit
// of the recipe that cures its cause.
type repairRule struct {
	name    string
	symptom *lazyregexp.Regexp
	// edit says what it changed; false where it has nothing to change (any more).
	edit func(e *repair, match []string) (string, bool)
}

// repair is one edit at work.
type repair struct {
	p lang.Project
	m *manifest
	r schemas.Recipe
}

// failureTable is tried in order: the causes that hide others come first.
var failureTable = []repairRule{
	{"requires_newer_python", lazyregexp.New(`(?i)(?:requires a different Python|requires Python|does not satisfy Python|depends on Python)\s*:?\s*[^\n]*?>=\s*(3\.\d+)`), (*repair).newerPython},
	{"interpreter_too_new", lazyregexp.New(`has no attribute 'ImpImporter'|cannot import name '\w+' from 'collections'|module 'inspect' has no attribute 'getargspec'|module 'asyncio' has no attribute 'coroutine'|module 'configparser' has no attribute 'SafeConfigParser'|does not satisfy Python\s*<\s*3|module 'ast' has no attribute 'Str'|No module named '?distutils\.\w`), (*repair).olderPython},
	{"pkg_resources_missing", lazyregexp.New(`No module named '?pkg_resources'?`), adds("setuptools<70")},
	{"distutils_missing", lazyregexp.New(`No module named '?distutils'?`), adds("setuptools")},
	{"imp_missing", lazyregexp.New(`No module named '?imp'?\b`), adds("pytest>=7")},
	{"built_with_2to3", lazyregexp.New(`use_2to3 is invalid`), builtBefore("58")},
	{"built_with_features", lazyregexp.New(`cannot import name '?Feature'?(?: from 'setuptools'|\s)`), builtBefore("46")},
	{"build_editable_missing", lazyregexp.New(`has no attribute '?build_editable'?|does not (?:have|support) (?:a |the )?.?build_editable|missing.{0,40}build_editable`), (*repair).develop},
	{"version_from_tags", lazyregexp.New(`unable to detect version|requires either an sdist tarball, or access to an upstream git`), (*repair).pretendAll},
	{"missing_plugins", lazyregexp.New(`Missing required plugins: ([^\n]+)`), (*repair).requiredPlugins},
	{"unknown_option", lazyregexp.New(`unrecognized arguments: ([^\n]+)`), (*repair).optionPlugin},
	{"unknown_fixture", lazyregexp.New(`fixture '(\w+)' not found`), (*repair).fixturePlugin},
	{"async_plugin", lazyregexp.New(`async def functions are not natively supported|Unknown pytest\.mark\.asyncio|Unknown config option: asyncio_mode`), (*repair).asyncPlugin},
	{"dependencies_disagree", lazyregexp.New(`cannot import name '\w+' from '[\w.]+' \(` + venvPath + `/`), (*repair).earlier},
	{"told_to_install", lazyregexp.New("(?im)^(?:E +)?[\\w.]*(?:Error|Exception): [^\\n]*\\bpip3? install (?:-U |--upgrade )?[\"'`]?([a-z0-9][\\w.-]*\\w)"), (*repair).toldToInstall},
	{"missing_module", lazyregexp.New(`No module named '?([A-Za-z_][\w.]*)'?`), (*repair).module},
	{"missing_submodule", lazyregexp.New(`No module named '?([A-Za-z_]\w*)\.[\w.]+'?`), (*repair).submodule},
	{"version_of_no_form", lazyregexp.New("(?s)Couldn't parse requirement in `\\S*requirements\\.in`.{1,20}cause: [^\\n]*version[^\\n]*\\n\\s*([^\\n]+)"), (*repair).anyVersion},
	{"nothing_collected", lazyregexp.New(`(?m)^collected 0 items\s*$`), (*repair).moreFiles},
	{"django_settings", lazyregexp.New(`settings are not configured\. You must either define the environment variable DJANGO_SETTINGS_MODULE`), (*repair).djangoSettings},
	{"missing_translation", lazyregexp.New(`([\w./-]+)\.(?:c|cpp|cc): No such file`), (*repair).cython},
	{"missing_header", lazyregexp.New(`fatal error: ([\w./+-]+\.h): No such file`), fromTable(headers)},
	{"missing_library", lazyregexp.New(`(lib[\w+.-]+?\.so(?:\.\d+)*): cannot open shared object file`), fromTable(libraries)},
	{"missing_program", lazyregexp.New(`(?:No such file or directory: b?'|Error: |which\(['"]|sh: (?:\d+: )?|command ['"]|unable to execute ')([A-Za-z0-9_+.-]+)(?:'|: (?:command )?not found|['"]\)? (?:failed|not found))|(pg_config) executable not found`), (*repair).program},
	{"missing_locale", lazyregexp.New(`unsupported locale setting|(?i)\blocale (?:is )?(?:needed|not (?:available|supported|installed))`), packages("locales-all")},
	{"no_such_distribution", lazyregexp.New(`([A-Za-z0-9][A-Za-z0-9._-]*) was not found in the package registry|there (?:is|are) no versions? of ([A-Za-z0-9][A-Za-z0-9._-]*) and`), (*repair).drop},
	{"build_backend", lazyregexp.New(`Failed to build [^\n]{0,200}file:///`), (*repair).byPath},
	{"no_wheel", lazyregexp.New("Failed to build `[\\w.-]+==\\d"), (*repair).olderPython}, // of a release older than the interpreter
}

var ansi = lazyregexp.New(`\x1b\[[0-9;]*[A-Za-z]`)

// Repair edits the recipe by the first row whose symptom is in the log and whose
// edit was not made before. A row that has nothing to change gives way to the next.
func (l Language) Repair(p lang.Project, r schemas.Recipe, log []byte) (schemas.Recipe, bool) {
	clean := ansi.ReplaceAllString(string(log), "")
	root := readManifest(p.Solution)
	e := &repair{p: p, m: root.at(projectFolder(r))}
	e.p = within(p, e.m.dir)
	for _, rule := range failureTable {
		for _, at := range rule.symptom.FindAllStringSubmatchIndex(clean, 40) {
			match := groupsOf(clean, at)
			e.r = copied(r)
			edit, ok := rule.edit(e, match)
			if !ok || tried(r, rule.name, edit) {
				continue
			}
			e.r.Repairs = append(e.r.Repairs, schemas.Repair{Rule: rule.name, Symptom: lineAround(clean, at[0]), Edit: edit})
			return e.r, true
		}
	}
	return r, false
}

// projectFolder is the folder of the project that a recipe is for.
func projectFolder(r schemas.Recipe) string {
	if len(r.Test) == 0 {
		return ""
	}
	return r.Test[0].Dir
}

var _ lang.Chooser = Language{}

// Usable implements lang.Chooser.
func (Language) Usable(p lang.Project, r schemas.Recipe) []lang.ToolchainRelease {
	m := readManifest(p.Solution).at(projectFolder(r))
	return (&guess{p: within(p, m.dir), m: m}).usable()
}

// Move implements lang.Chooser.
func (Language) Move(r schemas.Recipe, version string) schemas.Recipe {
	r.Toolchain = schemas.Toolchain{Name: r.Toolchain.Name, Version: version}
	return r
}

func groupsOf(s string, at []int) []string {
	var out []string
	for i := 0; i+1 < len(at); i += 2 {
		if at[i] < 0 {
			out = append(out, "")
		} else {
			out = append(out, s[at[i]:at[i+1]])
		}
	}
	return out
}

func tried(r schemas.Recipe, rule, edit string) bool {
	return slices.ContainsFunc(r.Repairs, func(x schemas.Repair) bool { return x.Rule == rule && x.Edit == edit })
}

// lineAround is the whole line of the log that matched, bounded.
func lineAround(s string, at int) string {
	start := strings.LastIndexByte(s[:at], '\n') + 1
	line, _, _ := strings.Cut(s[start:], "\n")
	const most = 300
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "")
	}
	return strings.TrimSpace(line)
}

// copied lets an edit change slices and maps without touching the failed recipe.
func copied(r schemas.Recipe) schemas.Recipe {
	r.Requirements = slices.Clone(r.Requirements)
	r.SystemPackages = slices.Clone(r.SystemPackages)
	r.Repairs = slices.Clone(r.Repairs)
	r.Evidence = slices.Clone(r.Evidence)
	r.Build = slices.Clone(r.Build)
	for i := range r.Build {
		env := map[string]string{}
		for k, v := range r.Build[i].Env {
			env[k] = v
		}
		r.Build[i].Env = env
	}
	return r
}

// require adds a requirement; the lock is then of another list.
func (e *repair) require(line string) (string, bool) {
	if slices.Contains(e.r.Requirements, line) {
		return "", false
	}
	e.r.Requirements = append(e.r.Requirements, line)
	sort.Strings(e.r.Requirements)
	e.unlock()
	return "requirements += " + line, true
}

func (e *repair) unlock() { e.r.Lock, e.r.Setup = "", nil }

func (e *repair) install(packages ...string) (string, bool) {
	var added []string
	for _, p := range packages {
		if !slices.Contains(e.r.SystemPackages, p) {
			added = append(added, p)
		}
	}
	if len(added) == 0 {
		return "", false
	}
	e.r.SystemPackages = append(e.r.SystemPackages, added...)
	sort.Strings(e.r.SystemPackages)
	return "system_packages += " + strings.Join(added, " "), true
}

func adds(line string) func(*repair, []string) (string, bool) {
	return func(e *repair, _ []string) (string, bool) { return e.require(line) }
}

func packages(names ...string) func(*repair, []string) (string, bool) {
	return func(e *repair, _ []string) (string, bool) { return e.install(names...) }
}

// fromTable installs the packages of the longest key that the match begins with.
func fromTable(table func() map[string]string) func(*repair, []string) (string, bool) {
	return func(e *repair, match []string) (string, bool) {
		t, best := table(), ""
		for k := range t {
			if strings.HasPrefix(match[1], k) && len(k) > len(best) {
				best = k
			}
		}
		if best == "" {
			return "", false
		}
		return e.install(strings.Fields(t[best])...)
	}
}

func (e *repair) program(match []string) (string, bool) {
	name := match[1] + match[2]
	p, ok := programs()[name]
	if !ok {
		return "", false
	}
	return e.install(strings.Fields(p)...)
}

// newerPython takes the lowest interpreter that is new enough and was out at the date.
func (e *repair) newerPython(match []string) (string, bool) {
	g := &guess{p: e.p, m: e.m}
	for _, a := range g.usable() {
		if !newer(match[1], a.Version) && newer(minor(a.Version), minor(e.r.Toolchain.Version)) {
			return e.interpreter(a.Version)
		}
	}
	return "", false
}

// olderPython goes one minor back.
func (e *repair) olderPython([]string) (string, bool) {
	g := &guess{p: e.p, m: e.m}
	for _, a := range slices.Backward(g.usable()) {
		if newer(minor(e.r.Toolchain.Version), minor(a.Version)) {
			return e.interpreter(a.Version)
		}
	}
	return "", false
}

// earlier moves the date back by two months: a dependency broke another one
// shortly before base, and nothing of the project says so. Where its bounds say that
// they are older, it moves to their year at once.
func (e *repair) earlier([]string) (string, bool) {
	date, err := time.Parse(dateOnly, e.r.PinDate)
	if err != nil || !e.p.PinToDate || e.p.Date.AddDate(-1, 0, 0).After(date) {
		return "", false
	}
	to := date.AddDate(0, -2, 0)
	var all []requirement
	for _, line := range e.r.Requirements {
		all = append(all, requirement{line: line})
	}
	if _, first, ok := eraOf(all); ok && first.Before(to) {
		to = first
		then := e.p
		then.Date = first
		if of := (&guess{p: then, m: e.m}).usable(); len(of) > 0 && newer(e.r.Toolchain.Version, of[len(of)-1].Version) {
			e.r.Toolchain.Version = of[len(of)-1].Version // releases of then have no wheels for a later one
		}
	}
	e.r.Pinning, e.r.PinDate = schemas.PinNearest, to.Format(dateOnly)
	e.unlock()
	return "date = " + e.r.PinDate, true
}

func (e *repair) interpreter(version string) (string, bool) {
	e.r.Toolchain = schemas.Toolchain{Name: "python", Version: version}
	e.unlock()
	return "toolchain = python " + version, true
}

// develop installs the tree in place by the way that was before PEP 660.
func (e *repair) develop([]string) (string, bool) {
	if len(e.r.Build) == 0 || e.m.first("setup.py", "setup.cfg") == "" || len(locals(e.r.Requirements)) > 1 {
		return e.byPath(nil)
	}
	e.r.Build[0].Dir = e.m.dir
	e.r.Build[0].Argv = []string{venvPython, "-c", "import setuptools; setuptools.setup()", "develop", "--no-deps"}
	if e.m.setupPy != "" {
		e.r.Build[0].Argv = []string{venvPython, "setup.py", "develop", "--no-deps"}
	}
	return "build = setup.py develop", true
}

// byPath is the last way to put a pure Python tree on the path: a .pth file. It
// has no metadata and no entry points, and says so in the row.
func (e *repair) byPath([]string) (string, bool) {
	if _, compiled := e.m.compiled(); compiled || len(e.r.Build) == 0 {
		return "", false
	}
	const script = "import pathlib, sys, sysconfig; roots = [pathlib.Path(a).resolve() for a in sys.argv[1:]]; " +
		"pathlib.Path(sysconfig.get_path('purelib'), '_tree.pth').write_text(''.join(str(r / 'src' if (r / 'src').is_dir() else r) + '\\n' for r in roots))"
	argv := []string{venvPython, "-c", script}
	for _, dir := range locals(e.r.Requirements) {
		argv = append(argv, ofTree(dir))
	}
	e.r.Build = []schemas.Command{{Argv: argv}}
	return "build = path file, without metadata", true
}

// pretendAll hands the version over by every variable that is known.
func (e *repair) pretendAll([]string) (string, bool) {
	if len(e.r.Build) == 0 {
		return "", false
	}
	version := e.m.computed(nextDev, e.p.Version)
	for k, v := range scm(e.m.name, version) {
		e.r.Build[0].Env[k] = v
	}
	e.r.Build[0].Env["PBR_VERSION"] = version
	return "version = " + version, true
}

func (e *repair) requiredPlugins(match []string) (string, bool) {
	var edits []string
	for _, p := range strings.Split(match[1], ",") {
		if p = strings.TrimSpace(p); reqName.MatchString(p) {
			if edit, ok := e.require(p); ok {
				edits = append(edits, edit)
			}
		}
	}
	return strings.Join(edits, "; "), len(edits) > 0
}

func (e *repair) optionPlugin(match []string) (string, bool) {
	for _, w := range strings.Fields(match[1]) {
		name, _, _ := strings.Cut(w, "=")
		best := ""
		for prefix := range optionPlugins() {
			if strings.HasPrefix(name, prefix) && len(prefix) > len(best) {
				best = prefix
			}
		}
		if best != "" {
			return e.require(e.listed(optionPlugins()[best]))
		}
	}
	return "", false
}

func (e *repair) fixturePlugin(match []string) (string, bool) {
	plugin, ok := fixturePlugins()[match[1]]
	if !ok {
		return "", false
	}
	return e.require(e.listed(plugin))
}

func (e *repair) asyncPlugin([]string) (string, bool) { return e.require(e.listed("pytest-asyncio")) }

// listed prefers the project's own line for a distribution to the bare name.
func (e *repair) listed(dist string) string {
	for _, r := range e.m.find(dist, "repair") {
		if !isLocal(r.line) {
			return r.line
		}
	}
	return dist
}

// module installs what an import asks for: by the project's own lists, else by the
// table of names that are known. A name that neither knows is not guessed: anyone
// may have registered it.
func (e *repair) module(match []string) (string, bool) {
	name, _, _ := strings.Cut(match[1], ".")
	if slices.Contains(stdlib, name) || e.m.ownModules()[name] {
		return "", false
	}
	dist := cmp.Or(webDists[name], Distribution(name))
	if found := e.m.find(dist, "repair"); len(found) > 0 {
		line := found[0].line
		if !isLocal(line) {
			return e.require(line)
		}
		return e.extra(localExtras(line))
	}
	if webDists[name] != "" || distOf()[strings.ToLower(name)] != "" || slices.Contains(knownDists, dist) {
		return e.require(dist)
	}
	return "", false
}

// submodule is for a package that is there without one of its modules: a build of before PEP 660
// makes that of the project in its folder, and a dependency had it at an earlier date.
func (e *repair) submodule(match []string) (string, bool) {
	if e.m.ownModules()[match[1]] {
		if _, compiled := e.m.compiled(); !compiled || len(e.r.Build) == 0 || slices.Contains(e.r.Build[0].Argv, "develop") {
			return "", false
		}
		return e.develop(nil)
	}
	if !strings.Contains("\n"+e.r.Lock, "\n"+Distribution(match[1])+"==") {
		return "", false
	}
	return e.earlier(nil)
}

// extra adds extras to the project's own line.
func (e *repair) extra(names []string) (string, bool) {
	for i, line := range e.r.Requirements {
		if !isLocal(line) || localDir(line) != e.m.dir {
			continue
		}
		if now := ofTree(e.m.dir, append(localExtras(line), names...)...); now != line {
			e.r.Requirements[i] = now
			e.unlock()
			return "requirements: " + now, true
		}
	}
	return "", false
}

// toldToInstall installs what an exception of an import says is to be installed: whoever wrote
// it wrote the import as well.
func (e *repair) toldToInstall(match []string) (string, bool) {
	return e.require(e.listed(normalise(match[1])))
}

// anyVersion takes a requirement without the versions that are none (pytz>dev).
func (e *repair) anyVersion(match []string) (string, bool) {
	at := slices.Index(e.r.Requirements, strings.TrimSpace(match[1]))
	if at < 0 {
		return "", false
	}
	name := reqName.FindString(e.r.Requirements[at])
	if name == "" || name == e.r.Requirements[at] {
		return "", false
	}
	edit := "requirements -= " + e.r.Requirements[at] + "; requirements += " + name
	e.r.Requirements[at] = name
	e.unlock()
	return edit, true
}

// builtBefore keeps setuptools before a version that left something out: in the builds of
// packages, and where that was not enough in the environment, which the project is built with.
func builtBefore(version string) func(*repair, []string) (string, bool) {
	return func(e *repair, _ []string) (string, bool) {
		line := "setuptools<" + version
		if edit, ok := e.require(recipe.BuildConstraint + line); ok {
			return edit, true
		}
		return e.require(line)
	}
}

// unittestFiles are those that unittest looks for.
const unittestFiles = "python_files=test*.py"

// moreFiles runs the files that pytest looks for as well, where those of unittest hold no test.
func (e *repair) moreFiles([]string) (string, bool) {
	for i, c := range e.r.Test {
		if at := slices.Index(c.Argv, unittestFiles); at >= 0 {
			e.r.Test = slices.Clone(e.r.Test)
			e.r.Test[i].Argv = slices.Clone(c.Argv)
			e.r.Test[i].Argv[at] += " *_test.py"
			return "test = " + e.r.Test[i].Argv[at], true
		}
	}
	return "", false
}

var managed = lazyregexp.New(`DJANGO_SETTINGS_MODULE["']\]?\s*[,=]\s*["']([\w.]+)["']`)

// djangoSettings are those that the project's manage.py names; pytest-django sets them up.
func (e *repair) djangoSettings([]string) (string, bool) {
	const name = "DJANGO_SETTINGS_MODULE"
	found := managed.FindStringSubmatch(string(e.m.read("manage.py")))
	if found == nil || e.r.Variables[name] != "" {
		return "", false
	}
	e.r.Variables = maps.Clone(e.r.Variables)
	if e.r.Variables == nil {
		e.r.Variables = map[string]string{}
	}
	e.r.Variables[name] = found[1]
	edit, _ := e.require(e.listed("pytest-django"))
	return strings.TrimSuffix("variables += "+name+"="+found[1]+"; "+edit, "; "), true
}

// cython is for a file that Cython makes of one of the tree.
func (e *repair) cython(match []string) (string, bool) {
	if !e.p.Solution.Has(path.Join(e.m.dir, match[1]) + ".pyx") {
		return "", false
	}
	return e.require(e.listed("cython"))
}

// drop leaves out a requirement that no registry has.
func (e *repair) drop(match []string) (string, bool) {
	dist := normalise(match[1] + match[2])
	for i, line := range e.r.Requirements {
		if distName(line) == dist && dist != "pytest" {
			e.r.Requirements = slices.Delete(e.r.Requirements, i, i+1)
			e.unlock()
			return "requirements -= " + line, true
		}
	}
	return "", false
}
