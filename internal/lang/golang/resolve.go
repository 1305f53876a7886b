package golang

import (
	"bytes"
	"fmt"
	"go/version"
	"path"
	"slices"
	"sort"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/benchmint/benchmint/internal/clock"
	"github.com/benchmint/benchmint/internal/hosts"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// manifest is a file of the project without its code: a go.mod with nothing but
// what decides versions, its go.sum, and a file of ours that imports what the
// project imports from others. Path is relative to modulesPath.
type manifest struct{ Path, Text string }

// The folders of manifests: the solution's, and the base's where they ask for
// other modules. A start that still requires the versions of before must load too.
const (
	solutionSet = "solution"
	baseSet     = "base"
)

// depsFile imports what the project imports, so that it can be compiled without it.
const depsFile = "deps.go"

// dependencies fills Requirements and, where go.sum is complete, Lock.
func dependencies(r *schemas.Recipe, p lang.Project, l layout) {
	l.tags = layoutFor(p.Solution, *r).tags
	r.Requirements = requirements(l)
	r.Pinning = schemas.PinLock // go.mod names exact versions
	if missing := unlocked(p.Solution, l); missing != "" {
		if flags := addFlag(*r, l); flags != "" {
			r.Variables["GOFLAGS"] = flags
		}
		r.Evidence = append(r.Evidence, schemas.Evidence{Field: "lock", Value: "resolved: go.sum lacks " + missing, Source: "go.sum"})
		if !required(p.Solution, l) {
			r.Pinning = schemas.PinNone // go.mod leaves a version open, and the proxy has no date filter
		}
		return
	}
	r.Evidence = append(r.Evidence, schemas.Evidence{Field: "lock", Value: fmt.Sprintf("%d modules", len(r.Requirements)), Source: "go.sum"})
	r.Lock = renderLock(manifestSets(p, *r))
}

// addFlag lets the go command complete go.mod and go.sum, which a workspace forbids. Before
// Go 1.14 it does so unasked, and does not know the flag.
func addFlag(r schemas.Recipe, l layout) string {
	flags := r.Variables["GOFLAGS"]
	if len(l.works) > 0 || !atLeast(r, "1.14") {
		return flags
	}
	return strings.TrimSpace(flags + " -mod=mod")
}

// manifestSets is what a project's env layer is decided by.
func manifestSets(p lang.Project, r schemas.Recipe) []manifest {
	solution, base := manifestsOf(p.Solution, layoutFor(p.Solution, r)), manifestsOf(p.Base, layoutFor(p.Base, r))
	set := within(solutionSet, solution)
	if !slices.Equal(sums(base), sums(solution)) {
		set = append(set, within(baseSet, base)...)
	}
	return set
}

func within(dir string, set []manifest) []manifest {
	out := make([]manifest, len(set))
	for i, m := range set {
		out[i] = manifest{path.Join(dir, m.Path), m.Text}
	}
	return out
}

// oneProxy gives a Go before 1.13, which knows no default proxy and no list of them, the first
// of the machine's.
const oneProxy = `GOPROXY=${GOPROXY:-https://` + hosts.GoProxy + `} && GOPROXY=${GOPROXY%%[,|]*} exec "$0" "$@"`

// command is one call of go among the manifests. A module that the workspace
// beside it does not use is on its own.
func command(r schemas.Recipe, set []manifest, dir string, args ...string) schemas.Command {
	c := schemas.Command{Argv: append([]string{goCommand(r)}, args...), Dir: path.Join(modulesPath, dir)}
	if !atLeast(r, "1.13") {
		c.Argv = append([]string{"sh", "-c", oneProxy}, c.Argv...)
	}
	if !inWorkspace(set, dir) {
		c.Env = map[string]string{"GOWORK": "off"}
	}
	return c
}

// inWorkspace reports whether a folder of a set is used by the nearest go.work of the set.
func inWorkspace(set []manifest, dir string) bool {
	var l layout
	for _, m := range set {
		if path.Base(m.Path) == "go.work" {
			if f, err := modfile.ParseWork(m.Path, []byte(m.Text), nil); err == nil {
				l.works = append(l.works, workspace{path.Dir(m.Path), f})
			}
		}
	}
	w, ok := l.enclosing(dir)
	return ok && w.uses(dir)
}

// fetchMembers is go mod download for a module of a workspace. It asks for every module that
// some go.mod names, also for one that is nowhere but in the workspace, and then fails, though
// the tests load: so what the packages import is loaded in its place.
const fetchMembers = `"$0" mod download || "$0" list -deps -f "" ./...`

// download is the call that fetches the modules of one go.mod.
func download(r schemas.Recipe, set []manifest, dir string) schemas.Command {
	c := command(r, set, dir, "mod", "download")
	if inWorkspace(set, dir) {
		c.Argv = []string{"sh", "-c", fetchMembers, goCommand(r)}
	}
	return c
}

// sums is what decides the modules of a set.
func sums(set []manifest) []manifest {
	var out []manifest
	for _, m := range set {
		if path.Base(m.Path) != depsFile {
			out = append(out, m)
		}
	}
	return out
}

// manifestsOf is the project's modules without their code.
func manifestsOf(t lang.Tree, l layout) []manifest {
	var out []manifest
	needed := map[string]bool{}
	for _, m := range l.modules {
		needed[m.Dir] = m.Tests || m.Member
	}
	for _, m := range l.modules { // the targets of replacements, as deep as they go
		for _, r := range m.File.Replace {
			needed[cleanDir(path.Join(m.Dir, r.New.Path))] = true
		}
	}
	for _, w := range l.works {
		for _, r := range w.File.Replace {
			needed[cleanDir(path.Join(w.Dir, r.New.Path))] = true
		}
	}
	for _, m := range l.modules {
		if !needed[m.Dir] || m.Vendored {
			continue
		}
		out = append(out, manifest{path.Join(m.Dir, "go.mod"), canonicalMod(m, l)})
		if data, err := t.Read(path.Join(m.Dir, "go.sum")); err == nil {
			out = append(out, manifest{path.Join(m.Dir, "go.sum"), sortedLines(data)})
		}
		if imports := l.external(t, m); len(imports) > 0 && (m.Tests || m.Member) {
			out = append(out, manifest{path.Join(m.Dir, depsFile), depsSource(imports)})
		}
	}
	for _, w := range l.works {
		if len(out) == 0 {
			break
		}
		out = append(out, manifest{path.Join(w.Dir, "go.work"), canonicalWork(l, w)})
		if data, err := t.Read(path.Join(w.Dir, "go.work.sum")); err == nil {
			out = append(out, manifest{path.Join(w.Dir, "go.work.sum"), sortedLines(data)})
		}
	}
	return out
}

func cleanDir(dir string) string {
	if dir = path.Clean(dir); dir == "." {
		return ""
	}
	return dir
}

func depsSource(imports []string) string {
	var b strings.Builder
	b.WriteString("package deps\n\nimport (\n")
	for _, imp := range imports {
		fmt.Fprintf(&b, "\t_ %q\n", imp)
	}
	b.WriteString(")\n")
	return b.String()
}

// canonicalMod is a go.mod of what decides versions, in one order: comments and
// the toolchain line change from commit to commit without any effect here.
func canonicalMod(m module, l layout) string {
	lines := []string{}
	for _, r := range m.File.Require {
		lines = append(lines, "require "+quoteVersion(r.Mod.Path, r.Mod.Version))
	}
	for _, x := range m.File.Exclude {
		lines = append(lines, "exclude "+quoteVersion(x.Mod.Path, x.Mod.Version))
	}
	for _, x := range m.File.Replace {
		lines = append(lines, replaceLine(x, m.Dir, l))
	}
	sort.Strings(lines)
	head := "module " + modfile.AutoQuote(m.Path) + "\n"
	if m.File.Go != nil {
		head += "go " + m.File.Go.Version + "\n"
	}
	return head + strings.Join(append(lines, ""), "\n")
}

func quoteVersion(p, v string) string { return strings.TrimSpace(modfile.AutoQuote(p) + " " + v) }

func replaceLine(x *modfile.Replace, dir string, l layout) string {
	line := "replace " + quoteVersion(x.Old.Path, x.Old.Version) + " => " + quoteVersion(x.New.Path, x.New.Version)
	if x.New.Version != "" {
		return line
	}
	if i, ok := l.index(cleanDir(path.Join(dir, x.New.Path))); ok && l.modules[i].Dir == cleanDir(path.Join(dir, x.New.Path)) {
		return line
	}
	return "" // it leads out of the tree: nothing can be had there
}

func canonicalWork(l layout, w workspace) string {
	var b strings.Builder
	if w.File.Go != nil {
		fmt.Fprintf(&b, "go %s\n", w.File.Go.Version)
	}
	for _, u := range w.File.Use {
		dir := cleanDir(path.Join(w.Dir, u.Path))
		if i, ok := l.index(dir); ok && l.modules[i].Dir == dir && !l.modules[i].Vendored {
			fmt.Fprintf(&b, "use %s\n", modfile.AutoQuote("./"+cleanDir(u.Path)))
		}
	}
	for _, x := range w.File.Replace {
		if line := replaceLine(x, w.Dir, l); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func sortedLines(data []byte) string {
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	sort.Strings(lines)
	return strings.TrimLeft(strings.Join(slices.Compact(lines), "\n")+"\n", "\n")
}

// requirements are the modules that the tested modules ask for: path@version.
func requirements(l layout) []string {
	var out []string
	for _, m := range l.modules {
		for _, r := range m.File.Require {
			if m.Tests && !l.ownModule(r.Mod.Path) {
				out = append(out, r.Mod.String())
			}
		}
	}
	sort.Strings(out)
	return slices.Compact(out)
}

func (l layout) ownModule(p string) bool {
	return slices.ContainsFunc(l.modules, func(m module) bool { return m.Path == p })
}

func (l layout) member(p string) bool {
	return slices.ContainsFunc(l.modules, func(m module) bool { return m.Member && m.Path == p })
}

// unlocked is the first requirement for which go.sum has no line, or the first
// import for which go.mod has no requirement; "" where all is there.
func unlocked(t lang.Tree, l layout) string {
	for _, m := range l.modules {
		if !m.Tests || m.Vendored {
			continue
		}
		data, _ := t.Read(path.Join(m.Dir, "go.sum")) // none is as good as empty
		w, in := l.enclosing(m.Dir)
		var replaces []*modfile.Replace
		if in && m.Member {
			replaces = w.File.Replace
		}
		work, _ := t.Read(path.Join(w.Dir, "go.work.sum"))
		data = append(append(data, '\n'), work...)
		for _, r := range m.File.Require {
			mod := replaced(slices.Concat(replaces, m.File.Replace), r)
			if m.Member && l.member(r.Mod.Path) {
				continue // the workspace has it
			}
			if mod != "" && !bytes.Contains(data, []byte(mod+" h1:")) && !bytes.Contains(data, []byte(mod+"/go.mod h1:")) {
				return mod
			}
		}
		for _, imp := range l.external(t, m) {
			if !provided(m, imp) {
				return imp
			}
		}
	}
	return ""
}

// replaced is "path version" as go.sum has it, after the first replacement; "" for a local one.
func replaced(replaces []*modfile.Replace, r *modfile.Require) string {
	for _, x := range replaces {
		if x.Old.Path == r.Mod.Path && (x.Old.Version == "" || x.Old.Version == r.Mod.Version) {
			if x.New.Version == "" {
				return ""
			}
			return x.New.Path + " " + x.New.Version
		}
	}
	return r.Mod.Path + " " + r.Mod.Version
}

// provided reports whether some requirement of a module can hold a package. Before
// Go 1.17 go.mod need not name a module that comes through another.
func provided(m module, imp string) bool {
	if m.File.Go == nil || version.Compare("go"+m.File.Go.Version, "go1.17") < 0 {
		return standard(imp) || len(m.File.Require) > 0
	}
	return standard(imp) || slices.ContainsFunc(m.File.Require, func(r *modfile.Require) bool {
		return imp == r.Mod.Path || strings.HasPrefix(imp, r.Mod.Path+"/")
	})
}

// required reports whether every import has a module in go.mod.
func required(t lang.Tree, l layout) bool {
	for _, m := range l.modules {
		if m.Tests && !m.Vendored && slices.ContainsFunc(l.external(t, m), func(imp string) bool { return !provided(m, imp) }) {
			return false
		}
	}
	return true
}

// Resolve gives the steps that complete go.sum, where the tree's is not: the go
// command itself resolves, over the manifests and without the project's code.
func (Language) Resolve(p lang.Project, r schemas.Recipe) (*recipe.Step, error) {
	if r.Lock != "" {
		return nil, nil
	}
	set := manifestSets(p, r)
	step := &recipe.Step{Files: files(set), Env: setupEnv(r, set)}
	for _, m := range set {
		step.Collect = append(step.Collect, path.Join(modulesPath, m.Path))
		if path.Base(m.Path) == "go.work" { // its sums are written there
			step.Collect = append(step.Collect, path.Join(modulesPath, m.Path+".sum"))
		}
	}
	slices.Sort(step.Collect)
	step.Collect = slices.Compact(step.Collect)
	for _, m := range set {
		if path.Base(m.Path) != "go.mod" {
			continue
		}
		dir := path.Dir(m.Path)
		if sum := path.Join(modulesPath, dir, "go.sum"); !slices.Contains(step.Collect, sum) {
			step.Collect = append(step.Collect, sum)
		}
		// Loading packages makes the go command add what go.mod and go.sum lack; -e,
		// because packages of the project's own are not there.
		step.Commands = append(step.Commands,
			command(r, set, dir, "list", "-e", "-deps", "-f", "{{.ImportPath}}", "./..."),
			download(r, set, dir))
	}
	return step, nil
}

// Locked keeps what the resolver wrote.
func (Language) Locked(r schemas.Recipe, got map[string][]byte) (schemas.Recipe, error) {
	var set []manifest
	for name, data := range got {
		rel, ok := strings.CutPrefix(name, modulesPath+"/")
		if !ok {
			return r, fmt.Errorf("locking: %s is not a manifest", name)
		}
		text := string(data)
		switch path.Base(rel) {
		case "go.sum", "go.work.sum":
			text = sortedLines(data)
		}
		set = append(set, manifest{rel, text})
	}
	r.Lock = renderLock(set)
	return r, nil
}

const lockHead = "# manifests without code: what decides the env layer\n"

// renderLock is the one text of a set, in the order of paths.
func renderLock(set []manifest) string {
	set = slices.Clone(set)
	sort.Slice(set, func(i, j int) bool { return set[i].Path < set[j].Path })
	var b strings.Builder
	b.WriteString(lockHead)
	for _, m := range set {
		fmt.Fprintf(&b, "-- %s --\n%s", m.Path, m.Text)
		if !strings.HasSuffix(m.Text, "\n") {
			b.WriteString("\n")
		}
	}
	return b.String()
}

// parseLock reads what renderLock wrote.
func parseLock(lock string) ([]manifest, error) {
	rest, ok := strings.CutPrefix(lock, lockHead)
	if !ok {
		return nil, fmt.Errorf("the recipe has no lock of Go manifests")
	}
	var set []manifest
	for _, line := range strings.SplitAfter(rest, "\n") {
		if name, ok := strings.CutPrefix(line, "-- "); ok && strings.HasSuffix(name, " --\n") {
			set = append(set, manifest{Path: strings.TrimSuffix(name, " --\n")})
			continue
		}
		if len(set) > 0 {
			set[len(set)-1].Text += line
		} else if line != "" {
			return nil, fmt.Errorf("a line of the lock belongs to no file: %.60q", line)
		}
	}
	return set, nil
}

func files(set []manifest) []sandbox.File {
	var out []sandbox.File
	for _, m := range set {
		out = append(out, sandbox.File{Path: path.Join(modulesPath, m.Path), Mode: 0o644, Data: []byte(m.Text)})
	}
	return out
}

// setupEnv is the environment of steps that talk to the proxy, which is the
// machine's own: no GOPROXY here.
func setupEnv(r schemas.Recipe, set []manifest) map[string]string {
	flags := []string{}
	for _, f := range strings.Fields(r.Variables["GOFLAGS"]) {
		if !strings.HasPrefix(f, "-mod=") {
			flags = append(flags, f)
		}
	}
	if atLeast(r, "1.14") {
		flags = append(flags, "-modcacherw") // a layer must be removable by who made it
	}
	if !slices.ContainsFunc(set, func(m manifest) bool { return path.Base(m.Path) == "go.work" }) && atLeast(r, "1.14") {
		flags = append(flags, "-mod=mod")
	}
	return map[string]string{"GOFLAGS": strings.Join(flags, " ")}
}

// bestEffort compiles what the dependencies are: a package that does not compile
// here may not be needed there, and the tests will tell.
const bestEffort = `"$0" "$@" ; exit 0`

// everyTest is what each test program pulls in.
var everyTest = []string{"fmt", "os", "strings", "testing"}

// standardTest compiles the standard library's part of an env layer: what every
// test needs, and the heavy packages that the lock names.
func standardTest(set []manifest) string {
	var named []string
	for _, m := range set {
		if path.Base(m.Path) != depsFile {
			continue
		}
		for _, line := range strings.Split(m.Text, "\n") {
			if imp := strings.Trim(strings.TrimPrefix(line, "\t_ "), `"`); heavy[imp] {
				named = append(named, imp)
			}
		}
	}
	return standardSource(named)
}

// standardSource is a test that imports what every test needs, and these packages.
func standardSource(more []string) string {
	imports := append(slices.Clone(everyTest), more...)
	sort.Strings(imports)
	return strings.Replace(depsSource(slices.Compact(imports)), "package deps", "package std", 1)
}

// The compiled standard library is the same for every project, and dear: it is taken
// from a cache. A fill of our own compiles it, with no file and no variable of a project;
// the cache is not told twice to hold the same packages. One that is empty or broken only
// costs time.
const (
	sharedCachePath = sandbox.HomePath + "/.cache/go-build-shared"
	takeCache       = `mkdir -p "$1" && cp -r "$0/." "$1/" && rm -f "$1/filled-"* ; exit 0`
	fillCache       = `[ -e "$GOCACHE/$0" ] || { "$@" && : >"$GOCACHE/$0"; }`
)

// standardCommand compiles and links a test of the standard library's packages and runs nothing.
func standardCommand(r schemas.Recipe) []string {
	return []string{goCommand(r), "test", "-exec", "true", "-vet=off", "."}
}

// standardFiles are the module that the command works on.
func standardFiles(test string) []sandbox.File {
	return []sandbox.File{
		{Path: standardDir + "/go.mod", Mode: 0o644, Data: []byte("module std.invalid\n\ngo 1.13\n")},
		{Path: standardDir + "/std_test.go", Mode: 0o644, Data: []byte(test)},
	}
}

const standardDir = modulesPath + "/std"

// fillStandard puts the standard library's part of an env layer into the shared cache, and what
// that is with the clock ahead.
func fillStandard(r schemas.Recipe, test string) *sandbox.Fill {
	env := variables(r) // of the toolchain; those of CI come later in Infer
	env["GOCACHE"], env["GOWORK"], env["GOPROXY"] = sharedCachePath, "off", "off"
	mark := "filled-" + schemas.DigestBytes([]byte(test)).Short()
	fill := &sandbox.Fill{
		Files: standardFiles(test), Env: env,
		Steps: []schemas.Command{{Argv: append([]string{"sh", "-c", fillCache, mark}, standardCommand(r)...), Dir: standardDir}},
	}
	if !atLeast(r, "1.18") { // the clock of others is made in another way
		return fill
	}
	warm, files := clock.Warm(goRoot(r), standardDir)
	fill.Files = append(fill.Files, files...)
	fill.Steps = append(fill.Steps, schemas.Command{Argv: append([]string{"sh", "-c", fillCache, mark + "-runtime"}, warm...), Dir: standardDir})
	return fill
}

// Setup downloads the modules of the lock and compiles them with the standard
// library. The manifests are removed at the end, and so are the answers of the
// checksum database: both quote lines of the solution's manifests.
func (Language) Setup(r schemas.Recipe) (recipe.Step, error) {
	set, err := parseLock(r.Lock)
	if err != nil {
		return recipe.Step{}, err
	}
	test := standardTest(set)
	step := recipe.Step{
		Env:    setupEnv(r, set),
		Caches: map[string]string{"go-std-" + r.Toolchain.Version: sharedCachePath},
		Fill:   fillStandard(r, test),
		Files:  append(files(set), standardFiles(test)...),
		Commands: []schemas.Command{
			{Argv: []string{"sh", "-c", takeCache, sharedCachePath, buildCachePath}},
			// It also shows that the toolchain works, before anything is blamed on the project.
			{Argv: standardCommand(r), Dir: standardDir, Env: map[string]string{"GOWORK": "off"}},
		},
	}
	for _, m := range set {
		if path.Base(m.Path) == "go.mod" && strings.Contains(m.Text, "\nrequire ") {
			step.Commands = append(step.Commands, download(r, set, path.Dir(m.Path)))
		}
	}
	for _, m := range set {
		if path.Base(m.Path) == depsFile {
			c := command(r, set, path.Dir(m.Path), "build", "./...")
			c.Argv = append([]string{"sh", "-c", bestEffort}, c.Argv...)
			step.Commands = append(step.Commands, c)
		}
	}
	step.Commands = append(step.Commands, schemas.Command{Argv: []string{"rm", "-rf", modulesPath, modCache(r) + "/cache/download/sumdb"}})
	return step, nil
}
