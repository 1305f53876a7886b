package golang

import (
	"errors"
	"fmt"
	"go/version"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/workflow"
	"github.com/benchmint/benchmint/schemas"
)

// Infer guesses a recipe (design 7).
func (Language) Infer(p lang.Project) (schemas.Recipe, error) {
	l := layoutOf(p.Solution)
	if len(l.modules) == 0 {
		return schemas.Recipe{}, &lang.Refusal{Reason: schemas.NoRecipe, Detail: "no go.mod: packages without modules are not built"}
	}
	r := schemas.Recipe{Language: Name, Report: ReportFormat, DepsFrom: "solution", Apart: p.Masked}
	jobs := readCI(p.Solution)
	if err := chooseToolchain(&r, p, l, jobs); err != nil {
		return schemas.Recipe{}, err
	}
	r.Variables = variables(r)
	literalEnv(&r, jobs)
	systemPackages(&r, p.Solution, jobs)
	if err := commands(&r, p, l, jobs); err != nil {
		return schemas.Recipe{}, err
	}
	dependencies(&r, p, l)
	return r, nil
}

// variables are those of builds and runs. What only a run may not do (reach a
// proxy) stands at its commands, because the env layer is made with the same set.
func variables(r schemas.Recipe) map[string]string {
	v := map[string]string{
		"PATH":        goRoot(r) + "/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"GOCACHE":     buildCachePath,
		"GOTOOLCHAIN": "local", // a newer one could not be fetched, and would not be the recipe's
		"GOENV":       "off",   // a user's settings are no part of a recipe
	}
	if atLeast(r, "1.15") {
		v["GOMODCACHE"] = modCachePath
	} else {
		v["GOPATH"] = gopathPath // older Go keeps modules there
	}
	if !atLeast(r, "1.16") {
		v["GO111MODULE"] = "on"
	}
	if atLeast(r, "1.18") {
		v["GOFLAGS"] = "-buildvcs=false" // the sealed tree's commit is ours, and git may be absent
	}
	return v
}

// atLeast compares the recipe's Go with a minor.
func atLeast(r schemas.Recipe, minor string) bool {
	return version.Compare("go"+r.Toolchain.Version, "go"+minor) >= 0
}

// chooseToolchain is rules G1 and G2: the toolchain line, else the highest minor
// of the CI before the date, else the newest minor of the date; never below the
// go line; always the newest patch of the minor that can be had.
func chooseToolchain(r *schemas.Recipe, p lang.Project, l layout, jobs ci) error {
	floor, floorAt := goLine(l)
	have := newestPatches(p.Available)
	if len(have) == 0 {
		return errors.New("no Go toolchain can be had here") // of this machine, and so not a verdict
	}
	pick := func(minor, value, source string) bool {
		for _, t := range have {
			if minorOf(t.Version) == minor && version.Compare("go"+t.Version, "go"+floor) >= 0 {
				r.Toolchain = schemas.Toolchain{Name: Name, Version: t.Version}
				r.Evidence = append(r.Evidence, schemas.Evidence{Field: "toolchain", Value: value, Source: source})
				return true
			}
		}
		return false
	}
	if line, at := toolchainLine(l); line != "" && pick(minorOf(line), line, at) {
		return nil
	}
	if w, ok := highestBefore(jobs.minors, have, p.Date); ok && pick(w.Value, w.Value, w.Source) {
		return nil
	}
	if f := jobs.file; len(jobs.minors) == 0 && f.Value != "" && pick(minorOf(floor), floor, f.Source) {
		return nil // the job runs what the go line says
	}
	for i := len(have) - 1; i >= 0; i-- {
		if m := minorOf(have[i].Version); !have[i].Released.After(p.Date) && pick(m, m, "date") {
			return nil
		}
	}
	// Nothing of the date reaches the go line: then the go line decides.
	for _, t := range have {
		if m := minorOf(t.Version); version.Compare("go"+m, "go"+minorOf(floor)) >= 0 && pick(m, floor, floorAt) {
			return nil
		}
	}
	return &lang.Refusal{Reason: schemas.NoToolchain, Detail: fmt.Sprintf("go %s (%s): the newest that can be had is %s", floor, floorAt, have[len(have)-1].Version)}
}

func minorOf(v string) string { return strings.TrimPrefix(version.Lang("go"+v), "go") }

// newestPatches is the newest of each minor, oldest minor first.
func newestPatches(all []lang.ToolchainRelease) []lang.ToolchainRelease {
	best := map[string]lang.ToolchainRelease{}
	for _, t := range all {
		if t.Name != Name || !version.IsValid("go"+t.Version) {
			continue
		}
		m := minorOf(t.Version)
		if old, ok := best[m]; !ok || version.Compare("go"+old.Version, "go"+t.Version) < 0 {
			best[m] = t
		}
	}
	var out []lang.ToolchainRelease
	for _, t := range best {
		out = append(out, t)
	}
	sort.Slice(out, func(i, j int) bool { return version.Compare("go"+out[i].Version, "go"+out[j].Version) < 0 })
	return out
}

// highestBefore is the highest minor of the CI that can be had and was out at the date.
func highestBefore(minors []workflow.Word, have []lang.ToolchainRelease, date time.Time) (workflow.Word, bool) {
	var best workflow.Word
	for _, w := range minors {
		known := slices.ContainsFunc(have, func(t lang.ToolchainRelease) bool {
			return minorOf(t.Version) == w.Value && !t.Released.After(date)
		})
		if known && (best.Value == "" || version.Compare("go"+w.Value, "go"+best.Value) > 0) {
			best = w
		}
	}
	return best, best.Value != ""
}

// goLine is the highest go line of the modules that are tested.
func goLine(l layout) (line, source string) {
	line, source = "1.0", "convention"
	raise := func(v, at string) {
		if version.IsValid("go"+v) && version.Compare("go"+v, "go"+line) > 0 {
			line, source = v, at
		}
	}
	for _, m := range l.modules {
		if m.File.Go != nil && m.Tests {
			raise(m.File.Go.Version, fmt.Sprintf("%s:%d", path.Join(m.Dir, "go.mod"), m.File.Go.Syntax.Start.Line))
		}
	}
	for _, w := range l.works {
		if w.File.Go != nil {
			raise(w.File.Go.Version, fmt.Sprintf("%s:%d", path.Join(w.Dir, "go.work"), w.File.Go.Syntax.Start.Line))
		}
	}
	return line, source
}

// toolchainLine is the highest toolchain line, "" where there is none.
func toolchainLine(l layout) (line, source string) {
	raise := func(name, at string) {
		v := strings.TrimPrefix(name, "go")
		if i := strings.IndexAny(v, "-+"); i >= 0 {
			v = v[:i]
		}
		if version.IsValid("go"+v) && (line == "" || version.Compare("go"+v, "go"+line) > 0) {
			line, source = v, at
		}
	}
	for _, m := range l.modules {
		if m.File.Toolchain != nil && m.Tests {
			raise(m.File.Toolchain.Name, fmt.Sprintf("%s:%d", path.Join(m.Dir, "go.mod"), m.File.Toolchain.Syntax.Start.Line))
		}
	}
	for _, w := range l.works {
		if w.File.Toolchain != nil {
			raise(w.File.Toolchain.Name, fmt.Sprintf("%s:%d", path.Join(w.Dir, "go.work"), w.File.Toolchain.Syntax.Start.Line))
		}
	}
	return line, source
}

// literalEnv takes those literal variables of the test jobs that a project may set.
func literalEnv(r *schemas.Recipe, jobs ci) {
	var names []string
	for name := range jobs.env {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		w := jobs.env[name]
		reason, ok := recipe.Admit(name, w.Value)
		switch _, own := r.Variables[name]; {
		case own:
			reason, ok = recipe.Own, false
		case stepVersion.MatchString(name):
			reason, ok = recipe.OfSteps, false
		}
		if !ok {
			r.Evidence = append(r.Evidence, recipe.Leave(name, reason, w.Source))
			continue
		}
		r.Variables[name] = w.Value
		r.Evidence = append(r.Evidence, schemas.Evidence{Field: "variables", Value: name + "=" + w.Value, Source: w.Source})
	}
}

var libraryPackage = lazyregexp.New(`^lib.+-dev$`)

// systemPackages are the C libraries that a project with cgo has its CI install.
// Others (linters, databases) are not for the tests that run without network.
func systemPackages(r *schemas.Recipe, t lang.Tree, jobs ci) {
	if len(jobs.packages) == 0 {
		return
	}
	cgo := slices.ContainsFunc(t.Paths(), func(p string) bool {
		return strings.HasSuffix(p, ".go") && walked(dirOf(p)) && slices.Contains(importsOf(t, p), "C")
	})
	for _, w := range jobs.packages {
		if (cgo || libraryPackage.MatchString(w.Value)) && !slices.Contains(r.SystemPackages, w.Value) {
			r.SystemPackages = append(r.SystemPackages, w.Value)
			r.Evidence = append(r.Evidence, schemas.Evidence{Field: "system_packages", Value: w.Value, Source: w.Source})
		}
	}
	sort.Strings(r.SystemPackages)
}

// offline are the variables of what runs without network: a missing module is
// said at once and by name. The checksum database cannot be asked; go.sum still is.
var offline = map[string]string{"GOPROXY": "off", "GOSUMDB": "off"}

// compile makes a state's build cache warm: it compiles and links every test
// binary and runs none (-exec true). Its exit code says nothing here: a state
// whose tests do not compile is a legal state, and the test run says so per package.
const compile = `cd "$0" && go=$1 && shift && "$go" test -exec true -vet=off "$@" ./... ; exit 0`

// commands are rules G3 to G5: one run per module with tests, as the CI calls go test. Its
// other calls are rivals.
func commands(r *schemas.Recipe, p lang.Project, l layout, jobs ci) error {
	all := variantsOf(p, jobs, *r)
	if why := uncompiled(p, all); why != "" {
		return &lang.Refusal{Reason: schemas.NoRecipe, Detail: "no go test of the CI compiles a changed test: " + why}
	}
	for i, v := range all {
		test, build := moduleCommands(*r, l, v)
		if i > 0 {
			r.Rivals = append(r.Rivals, schemas.Rival{Test: test, Source: v.source})
			continue
		}
		r.Test, r.Build = test, build
		for _, c := range test {
			source := v.source
			if source == "" {
				source = path.Join(c.Dir, "go.mod")
			}
			value := strings.Join(append([]string{"go"}, c.Argv[1:]...), " ") + " in " + path.Join(".", c.Dir)
			r.Evidence = append(r.Evidence, schemas.Evidence{Field: "test", Value: value, Source: source})
		}
	}
	if len(r.Test) == 0 {
		return &lang.Refusal{Reason: schemas.NoRecipe, Detail: "no module has _test.go files"}
	}
	return nil
}

// moduleCommands are the test and the build of each module with tests.
func moduleCommands(r schemas.Recipe, l layout, v variant) (test, build []schemas.Command) {
	for _, m := range l.modules {
		if !m.Tests {
			continue
		}
		env := map[string]string{}
		for k, v := range offline {
			env[k] = v
		}
		if m.Outside {
			env["GOWORK"] = "off" // a module that the workspace does not use is on its own
		}
		if m.Vendored && (m.File.Go == nil || version.Compare("go"+m.File.Go.Version, "go1.14") < 0) && atLeast(r, "1.14") {
			env["GOFLAGS"] = strings.TrimSpace(r.Variables["GOFLAGS"] + " -mod=vendor") // newer go lines mean it by themselves
		}
		dir := m.Dir
		if dir == "" {
			dir = "."
		}
		build = append(build, schemas.Command{Argv: append([]string{"sh", "-c", compile, dir, goCommand(r)}, v.words...), Env: env})
		test = append(test, schemas.Command{Argv: slices.Concat([]string{goCommand(r), "test"}, v.words, []string{"./..."}), Dir: m.Dir, Env: env})
	}
	return test, build
}
