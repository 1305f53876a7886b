package python

import (
	"cmp"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
)

// A tree may hold its project in a folder, or several packages that need each other. Folders
// are named from the tree's root, which is "".

// siblings is what the manifests of one tree share.
type siblings struct {
	tree      lang.Tree
	manifests map[string]*manifest
	names     map[string]string // of packages; "" where several have one
}

// at is the manifest of a folder.
func (l *siblings) at(dir string) *manifest {
	if m := l.manifests[dir]; m != nil {
		return m
	}
	m := &manifest{siblings: l, dir: dir, tree: under(l.tree, dir)}
	m.pyproject = m.toml("pyproject.toml")
	m.setupCfg = parseINI(m.read("setup.cfg"))
	m.setupPy = string(m.read("setup.py"))
	m.name = m.findName()
	l.manifests[dir] = m
	return m
}

// packageFiles say that a folder may hold a package.
var packageFiles = []string{"pyproject.toml", "setup.py", "setup.cfg"}

// folders are those that hold a package which can be installed. Those of test data, of other
// projects' files and of the documentation's examples are no part of the project.
func (l *siblings) folders() []string {
	var out []string
	for _, p := range l.tree.Paths() {
		dir := folderOf(p)
		if slices.Contains(packageFiles, path.Base(p)) && !slices.Contains(out, dir) && !slices.ContainsFunc(strings.Split(dir, "/"), notOurs.MatchString) {
			if _, test := testRoot(p, l.tree); !test && l.at(dir).buildable() {
				out = append(out, dir)
			}
		}
	}
	return out
}

var notOurs = lazyregexp.New(`^(_?vendor(ed)?|third[_-]party|node_modules|docs?|examples?|samples?|templates?|\..+)$`)

// named is the package of the tree that a requirement names. One that a registry can give
// and that has to be compiled is left to it.
func (l *siblings) named(line string) (dir string, ok bool) {
	name := distName(line)
	if name == "" {
		return "", false
	}
	if l.names == nil {
		l.names = map[string]string{}
		seen := map[string]bool{}
		for _, d := range l.folders() {
			n := normalise(l.at(d).name)
			_, compiled := l.at(d).compiled()
			if n == "" || d != "" && (compiled || str(l.at(d).pyproject, "build-system", "build-backend") == "maturin") {
				continue
			}
			if l.names[n] = d; seen[n] {
				delete(l.names, n)
			}
			seen[n] = true
		}
	}
	dir, ok = l.names[name]
	return dir, ok
}

// ofTree is the requirement of a package of the tree.
func ofTree(dir string, extras ...string) string {
	line := "."
	if dir != "" {
		line = "./" + dir
	}
	if len(extras) == 0 {
		return line
	}
	extras = slices.Clone(extras)
	sort.Strings(extras)
	return line + "[" + strings.Join(slices.Compact(extras), ",") + "]"
}

// isLocal reports whether a requirement is a package of the tree.
func isLocal(line string) bool {
	return line == "." || strings.HasPrefix(line, ".[") || strings.HasPrefix(line, "./")
}

// localDir is its folder.
func localDir(line string) string {
	dir, _, _ := strings.Cut(line, "[")
	return strings.TrimPrefix(strings.TrimPrefix(dir, "."), "/")
}

// localExtras are the extras that it asks for.
func localExtras(line string) []string {
	x := extrasOf.FindStringSubmatch(line)
	if x == nil {
		return nil
	}
	return strings.FieldsFunc(x[1], func(r rune) bool { return r == ',' || r == ' ' })
}

// locals are the folders of the packages of the tree among requirements, in their order.
func locals(lines []string) []string {
	var out []string
	for _, l := range lines {
		if isLocal(l) && !slices.Contains(out, localDir(l)) {
			out = append(out, localDir(l))
		}
	}
	return out
}

// projectRoot is how tools write the folder of the project in a URL.
var projectRoot = lazyregexp.New(`^(?:file:)?/{0,3}(?:\$\{PROJECT_ROOT\}|\{root:uri\}|\{root:(parent):uri\})/?`)

// localPath reads a requirement that names a folder of the tree, seen from one of the folders.
func (l *siblings) localPath(text string, from ...string) (line string, ok bool) {
	if _, url, named := strings.Cut(text, " @ "); named && (strings.HasPrefix(url, "file:") || strings.HasPrefix(url, ".") || projectRoot.MatchString(url)) {
		extras := extrasOf.FindString(text[:len(text)-len(url)])
		text, _, _ = strings.Cut(url, "#")
		text += extras
	}
	text, _, _ = strings.Cut(text, ";")
	text, _, _ = strings.Cut(text, "#")
	text = strings.TrimSpace(text)
	extras := localExtras(text)
	dir, _, _ := strings.Cut(text, "[")
	if x := projectRoot.FindStringSubmatch(dir); x != nil {
		up := ""
		if x[1] != "" {
			up = "../"
		}
		dir = up + dir[len(x[0]):]
	} else {
		dir = strings.TrimPrefix(dir, "file:")
	}
	if strings.HasPrefix(dir, "/") || strings.ContainsAny(dir, " ${}:@") {
		return "", false
	}
	for _, f := range from {
		d := path.Join("/", f, dir)[1:]
		if path.Join(f, dir) != cmp.Or(d, ".") { // out of the tree
			continue
		}
		if d == f && f == from[0] || l.at(d).buildable() {
			return ofTree(d, extras...), true
		}
	}
	return "", false
}

// withLocals puts the packages of the tree in the place of requirements that name them, adds
// those that these need, and what builds them. Constraints on them say nothing: the tree has
// the version that it has.
func (m *manifest) withLocals(all []requirement) []requirement {
	var out []requirement
	seen := map[string]bool{}
	var add func(r requirement)
	add = func(r requirement) {
		constraint, isConstraint := strings.CutPrefix(r.line, "-c ")
		if dir, ok := m.named(constraint); ok {
			r.line = ofTree(dir, localExtras(strings.SplitN(constraint, ";", 2)[0])...)
		} else if !isLocal(constraint) {
			out = append(out, r)
			return
		}
		if isConstraint || !m.at(localDir(r.line)).buildable() {
			return
		}
		if out = append(out, r); seen[r.line] {
			return
		}
		seen[r.line] = true
		of := m.at(localDir(r.line))
		needs := of.direct()
		for _, e := range localExtras(r.line) {
			needs = append(needs, of.extras()[normalise(e)]...)
		}
		for _, n := range needs {
			if _, ok := m.named(n.line); ok || isLocal(n.line) {
				add(of.placed(n))
			}
		}
		if of != m {
			for _, n := range of.buildRequires() {
				add(of.placed(n))
			}
		}
	}
	for _, r := range all {
		add(r)
	}
	return out
}

// placed is a requirement whose source is named from the tree's root.
func (m *manifest) placed(r requirement) requirement {
	r.source = m.place(r.source)
	return r
}

func (m *manifest) place(source string) string {
	file, _, _ := strings.Cut(source, ":")
	if file, _, _ = strings.Cut(file, " "); m.dir != "" && m.tree.Has(file) {
		return path.Join(m.dir, source)
	}
	return source
}

// workspace are the members of a workspace of uv or Rye whose tests are to run: those that CI
// asks for, else those of the changed tests, else all, each with what its tests need.
func (g *guess) workspace() []requirement {
	members := g.m.members()
	if len(members) == 0 {
		return nil
	}
	var wanted []string
	for _, r := range g.lines() {
		for i, w := range r.Args {
			name, value, attached := strings.Cut(w, "=")
			if !attached && i+1 < len(r.Args) {
				value = r.Args[i+1]
			}
			switch name {
			case "--all-packages":
				wanted = append(wanted, members...)
			case "--package":
				if dir, ok := g.m.named(value); ok {
					wanted = append(wanted, dir)
				}
			}
		}
	}
	for _, d := range members {
		if slices.ContainsFunc(g.p.TestPaths, func(p string) bool { return below(path.Join(g.m.dir, p), []string{d}) }) {
			wanted = append(wanted, d)
		}
	}
	if len(wanted) == 0 && !g.m.buildable() {
		wanted = members
	}
	sort.Strings(wanted)
	var out []requirement
	for _, d := range slices.Compact(wanted) {
		of := g.m.at(d)
		out = append(out, of.placed(requirement{ofTree(d), of.first(packageFiles...)}))
		for _, r := range of.ownTests() {
			out = append(out, of.placed(r))
		}
	}
	return out
}

// members are the folders of a workspace that can be installed.
func (m *manifest) members() []string {
	var out []string
	for _, tool := range []string{"uv", "rye"} {
		w := table(m.pyproject, "tool", tool, "workspace")
		for _, d := range m.folders() {
			in := func(key string) bool {
				return slices.ContainsFunc(list(w, key), func(glob string) bool {
					ok, err := path.Match(path.Join(m.dir, glob), d)
					return ok && err == nil
				})
			}
			if d != m.dir && in("members") && !in("exclude") {
				out = append(out, d)
			}
		}
	}
	return out
}

// ownTests are the requirements of the first list of tests that a member has.
func (m *manifest) ownTests() []requirement {
	for _, source := range []func() []requirement{m.testGroups, m.testExtras, m.poetryTests, m.devGroup} {
		if found := withoutTools(source()); len(found) > 0 {
			return found
		}
	}
	return nil
}

// constraints are those that CI and the test runner hold every installation to, and uv's own.
func (g *guess) constraints() []requirement {
	var out []requirement
	for _, env := range []map[string]requirement{g.ci.env, g.plan.env} {
		for _, name := range []string{"PIP_CONSTRAINT", "UV_CONSTRAINT"} {
			for _, file := range strings.Fields(toxText(env[name].line)) {
				of := g.m
				if !of.tree.Has(file) {
					of = g.m.at("")
				}
				for _, r := range of.readRequirements(file, true) {
					out = append(out, of.placed(r))
				}
			}
		}
	}
	for _, s := range list(g.m.pyproject, "tool", "uv", "constraint-dependencies") {
		out = append(out, requirement{"-c " + s, g.m.where("pyproject.toml", s)})
	}
	return out
}

// project is the folder of the project: where CI runs the tests that the change changes, or
// most of them; the root, where it holds a project; else the folder of a package that holds
// the changed tests, or the only one.
func (l *siblings) project(tests []string, c ci) string {
	tests = slices.Clone(tests)
	if source := slices.DeleteFunc(slices.Clone(tests), func(p string) bool { return path.Ext(p) != ".py" }); len(source) > 0 {
		tests = source
	}
	held := func(dir string) (n int) {
		for _, p := range tests {
			if dir == "" || below(p, []string{dir}) {
				n++
			}
		}
		return n
	}
	best, found := "", l.at("").isProject()
	for _, r := range c.runs {
		dir, direct := l.home(r.Dir), directRunner.MatchString(r.Value)
		if !testJobs.Line(r.Value) || dir == "" && !direct && !found {
			continue
		}
		// Of two that hold as many, the inner one says more, where there is something to say.
		if more := cmp.Compare(held(dir), held(best)); !found || more > 0 || more == 0 && held(dir) > 0 && len(dir) > len(best) {
			best, found = dir, true
		}
	}
	if found {
		return best
	}
	packages := l.folders()
	if len(tests) == 0 && len(packages) == 1 {
		return packages[0]
	}
	for _, d := range packages {
		if held(d) > 0 && (held(d) > held(best) || best == "" || held(d) == held(best) && len(d) > len(best)) {
			best = d
		}
	}
	return best
}

// directRunner is a line that starts a runner of Python tests by its name.
var directRunner = lazyregexp.New(`\b(pytest|py\.test|tox|nox|unittest|hatch)\b`)

// home is the nearest folder at or above dir that holds a project, the root where none does.
func (l *siblings) home(dir string) string {
	for ; dir != ""; dir = folderOf(dir) {
		if l.at(dir).isProject() {
			break
		}
	}
	return dir
}

// isProject reports whether a folder says what its project is or how its tests are run: the
// settings of a linter alone do not.
func (m *manifest) isProject() bool {
	return m.buildable() || m.first("tox.ini", "tox.toml", "noxfile.py", "requirements.txt", "Pipfile") != "" || ownPytestINI(m.tree).file != "" ||
		dig(m.pyproject, "tool", "uv", "workspace") != nil || dig(m.pyproject, "tool", "rye", "workspace") != nil ||
		dig(m.pyproject, "dependency-groups") != nil || dig(m.pyproject, "tool", "poetry") != nil || dig(m.pyproject, "tool", "hatch") != nil ||
		slices.ContainsFunc(m.tree.Paths(), requirementsFile.MatchString)
}

// within is a project seen from one of its folders.
func within(p lang.Project, dir string) lang.Project {
	p.Base, p.Solution = under(p.Base, dir), under(p.Solution, dir)
	p.TestPaths = slices.Clone(p.TestPaths)
	for i, t := range p.TestPaths {
		p.TestPaths[i] = seenFrom(dir, t)
	}
	return p
}

// seenFrom is a path of the tree as a program in dir writes it.
func seenFrom(dir, p string) string {
	up := ""
	for dir != "" && p != dir && !strings.HasPrefix(p, dir+"/") {
		dir, up = folderOf(dir), up+"../"
	}
	if dir != "" {
		p = strings.TrimPrefix(strings.TrimPrefix(p, dir), "/")
	}
	return path.Join(".", up, p)
}

// moved are the words of a pytest line that ran in one folder, for another.
func moved(words []string, from, to string) []string {
	if from == to || containsWord(words, "--pyargs") {
		return words
	}
	var out []string
	paths := 0
	for i := 0; i < len(words); i++ {
		w := words[i]
		if strings.HasPrefix(w, "-") {
			if out = append(out, w); (wordsWithValue[w] || valueFollows(w) || mayFollow(w, words[i+1:])) && i+1 < len(words) {
				i++
				out = append(out, words[i])
			}
			continue
		}
		paths++
		file, test, isTest := strings.Cut(w, "::")
		if file = seenFrom(to, path.Join(from, file)); isTest {
			file += "::" + test
		}
		out = append(out, file)
	}
	if below(from, []string{to}) && paths == 0 {
		out = append(out, seenFrom(to, from))
	}
	return out
}
