package golang

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

const (
	modText = "module example.com/m\n\ngo 1.20\n\nrequire (\n\tgithub.com/b/b v1.0.0 // a comment\n\tgithub.com/a/a v1.2.3\n)\n\nreplace example.com/m/sub => ./sub\n\nreplace gone => ../gone\n"
	sumText = "github.com/b/b v1.0.0 h1:b=\ngithub.com/b/b v1.0.0/go.mod h1:bm=\ngithub.com/a/a v1.2.3 h1:a=\ngithub.com/a/a v1.2.3/go.mod h1:am=\n"
)

func locked() memory {
	return memory{
		"go.mod": modText, "go.sum": sumText,
		"a.go":       "package m\n\nimport (\n\t_ \"github.com/a/a/inner\"\n\t_ \"net/http\"\n\t_ \"fmt\"\n\t_ \"example.com/m/sub\"\n)\n",
		"a_test.go":  "package m\n\nimport _ \"github.com/b/b\"\n",
		"w.go":       "//go:build windows\n\npackage m\n\nimport _ \"github.com/w/w\"\n",
		"sub/go.mod": "module example.com/m/sub\n\ngo 1.20\n", "sub/s.go": "package sub\n",
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	r, err := Language{}.Infer(project(t, "2024-03-01", locked()))
	if err != nil {
		t.Fatal(err)
	}
	want := lockHead + `-- solution/deps.go --
package deps

import (
	_ "github.com/a/a/inner"
	_ "github.com/b/b"
	_ "net/http"
)
-- solution/go.mod --
module example.com/m
go 1.20

replace example.com/m/sub => ./sub
require github.com/a/a v1.2.3
require github.com/b/b v1.0.0
-- solution/go.sum --
github.com/a/a v1.2.3 h1:a=
github.com/a/a v1.2.3/go.mod h1:am=
github.com/b/b v1.0.0 h1:b=
github.com/b/b v1.0.0/go.mod h1:bm=
-- solution/sub/go.mod --
module example.com/m/sub
go 1.20
`
	if diff := cmp.Diff(want, r.Lock); diff != "" {
		t.Errorf("lock (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"github.com/a/a@v1.2.3", "github.com/b/b@v1.0.0"}, r.Requirements); diff != "" {
		t.Errorf("requirements (-want +got):\n%s", diff)
	}
	if step, err := (Language{}).Resolve(project(t, "2024-03-01", locked()), r); step != nil || err != nil {
		t.Errorf("a locked recipe is resolved again: %v, %v", step, err)
	}
}

// What changes from commit to commit without an effect on the env layer must not
// change its key.
func TestLockIsStable(t *testing.T) {
	t.Parallel()
	lock := func(edit func(m memory)) string {
		m := locked()
		edit(m)
		r, err := Language{}.Infer(project(t, "2024-03-01", m))
		if err != nil {
			t.Fatal(err)
		}
		return r.Lock
	}
	want := lock(func(memory) {})
	for name, c := range map[string]struct {
		same bool
		edit func(m memory)
	}{
		"comment": {true, func(m memory) { m["go.mod"] = strings.ReplaceAll(modText, "// a comment", "// indirect") }},
		"order": {true, func(m memory) {
			m["go.sum"] = strings.Join(reversed(strings.Split(strings.TrimSpace(sumText), "\n")), "\n")
		}},
		"toolchain_line": {true, func(m memory) {
			m["go.mod"] = strings.Replace(modText, "go 1.20\n", "go 1.20\n\ntoolchain go1.22.12\n", 1)
		}},
		"new_code": {true, func(m memory) { m["b.go"] = "package m\n\nimport _ \"strings\"\n" }},
		"version": {false, func(m memory) {
			m["go.mod"] = strings.Replace(modText, "v1.0.0", "v1.0.1", 1)
			m["go.sum"] = strings.ReplaceAll(sumText, "v1.0.0", "v1.0.1")
		}},
		"sum":            {false, func(m memory) { m["go.sum"] = sumText + "github.com/c/c v1.0.0 h1:c=\n" }},
		"new_dependency": {false, func(m memory) { m["b.go"] = "package m\n\nimport _ \"github.com/a/a/other\"\n" }},
	} {
		if got := lock(c.edit); (got == want) != c.same {
			t.Errorf("%s: same lock is %v, want %v\n%s", name, got == want, c.same, cmp.Diff(want, got))
		}
	}
}

func reversed(lines []string) []string {
	var out []string
	for _, l := range lines {
		out = append([]string{l}, out...)
	}
	return out
}

func TestBaseManifestsAreKept(t *testing.T) {
	t.Parallel()
	p := project(t, "2024-03-01", locked())
	base := locked()
	base["go.mod"] = strings.Replace(modText, "v1.0.0", "v0.9.0", 1)
	base["go.sum"] = strings.ReplaceAll(sumText, "v1.0.0", "v0.9.0")
	p.Base = base
	r, err := Language{}.Infer(p)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(r.Lock, "-- base/go.mod --") || !strings.Contains(r.Lock, "github.com/b/b v0.9.0") {
		t.Errorf("the versions of the base are not in the lock:\n%s", r.Lock)
	}
}

func TestMissingSums(t *testing.T) {
	t.Parallel()
	m := locked()
	m["go.sum"] = strings.Replace(sumText, "github.com/b/b v1.0.0 h1:b=\ngithub.com/b/b v1.0.0/go.mod h1:bm=\n", "", 1)
	p := project(t, "2024-03-01", m)
	r, err := Language{}.Infer(p)
	if err != nil {
		t.Fatal(err)
	}
	if r.Lock != "" || r.Pinning != schemas.PinLock || !strings.Contains(r.Variables["GOFLAGS"], "-mod=mod") {
		t.Errorf("lock %q, pinning %s, GOFLAGS %s", r.Lock, r.Pinning, r.Variables["GOFLAGS"])
	}
	step, err := Language{}.Resolve(p, r)
	if err != nil || step == nil {
		t.Fatalf("Resolve = %v, %v", step, err)
	}
	files := map[string][]byte{}
	for _, f := range step.Files {
		files[f.Path] = f.Data
	}
	files[modulesPath+"/solution/go.sum"] = []byte(sumText)
	got, err := Language{}.Locked(r, files)
	if err != nil {
		t.Fatal(err)
	}
	if got.Lock == "" || !strings.Contains(got.Lock, "github.com/b/b v1.0.0 h1:b=") {
		t.Errorf("lock after resolving:\n%s", got.Lock)
	}
	if _, err := (Language{}).Locked(r, map[string][]byte{"/etc/passwd": nil}); err == nil {
		t.Error("a file from elsewhere is taken into the lock")
	}
}

// TestOldGoCompletesUnasked: before Go 1.14 -mod=mod is no flag; before 1.13 there is no default
// proxy, and no list of them.
func TestOldGoCompletesUnasked(t *testing.T) {
	t.Parallel()
	m := memory{"go.mod": "module example.com/m\n\nrequire github.com/b/b v1.0.0\n", "a_test.go": "package m\n\nimport _ \"github.com/b/b\"\n"}
	for version, want := range map[string]struct{ flags, repaired, download string }{
		"1.12.17": {"", "", "sh -c " + oneProxy + " /opt/toolchains/go-1.12.17/bin/go mod download"},
		"1.13.15": {"", "", "/opt/toolchains/go-1.13.15/bin/go mod download"},
		"1.14.15": {"-mod=mod", "-mod=mod", "/opt/toolchains/go-1.14.15/bin/go mod download"},
	} {
		p := project(t, "2024-03-01", m)
		p.Available = []lang.ToolchainRelease{{Name: Name, Version: version, Released: day(t, "2019-01-01")}}
		r, err := Language{}.Infer(p)
		if err != nil {
			t.Fatal(err)
		}
		r.Lock = lockHead + "-- solution/go.mod --\nmodule example.com/m\nrequire github.com/b/b v1.0.0\n"
		if r.Variables["GOFLAGS"] != want.flags {
			t.Errorf("%s: GOFLAGS %q", version, r.Variables["GOFLAGS"])
		}
		r.Variables["GOFLAGS"] = ""
		repaired, ok := Language{}.Repair(p, r, []byte("go: github.com/c/c@v1.0.0: module lookup disabled by GOPROXY=off\n"))
		if !ok || repaired.Lock != "" || repaired.Variables["GOFLAGS"] != want.repaired {
			t.Errorf("%s: repaired %v, lock %q, GOFLAGS %q", version, ok, repaired.Lock, repaired.Variables["GOFLAGS"])
		}
		step, err := Language{}.Setup(r)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(step.Commands, func(c schemas.Command) bool { return strings.Join(c.Argv, " ") == want.download }) {
			t.Errorf("%s: no command is %q", version, want.download)
		}
	}
}

func TestOpenImportIsUndated(t *testing.T) {
	t.Parallel()
	m := locked()
	m["b.go"] = "package m\n\nimport _ \"github.com/not/required\"\n"
	r, err := Language{}.Infer(project(t, "2024-03-01", m))
	if err != nil || r.Lock != "" || r.Pinning != schemas.PinNone {
		t.Errorf("lock %q, pinning %s, %v; want none and undated", r.Lock, r.Pinning, err)
	}
}

func TestSetupNeverShipsManifests(t *testing.T) {
	t.Parallel()
	r, err := Language{}.Infer(project(t, "2024-03-01", locked()))
	if err != nil {
		t.Fatal(err)
	}
	step, err := Language{}.Setup(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range step.Files {
		if !strings.HasPrefix(f.Path, modulesPath+"/") {
			t.Errorf("%s is outside of what is removed at the end", f.Path)
		}
		if strings.Contains(string(f.Data), "package m") {
			t.Errorf("%s holds the project's code", f.Path)
		}
	}
	var order []string
	for _, c := range step.Commands {
		order = append(order, strings.Join(c.Argv[1:3], " "))
	}
	want := []string{"-c " + takeCache, "test -exec", "mod download", "-c " + bestEffort, "-rf " + modulesPath}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("commands (-want +got):\n%s", diff)
	}
	fillsWithoutTheProject(t, r, step.Fill)
	last := step.Commands[len(step.Commands)-1].Argv
	if diff := cmp.Diff([]string{"rm", "-rf", modulesPath, modCachePath + "/cache/download/sumdb"}, last); diff != "" {
		t.Errorf("last command (-want +got):\n%s", diff)
	}
	if _, err := (Language{}).Setup(schemas.Recipe{}); err == nil {
		t.Error("a recipe without a lock has a set-up")
	}
}

// fillsWithoutTheProject: what is shared between projects is the standard library alone,
// compiled with no file and no variable of a project.
func fillsWithoutTheProject(t *testing.T, r schemas.Recipe, fill *sandbox.Fill) {
	t.Helper()
	r.Variables = maps.Clone(r.Variables)
	for name, value := range map[string]string{"CC": "sh -c evil", "GOFLAGS": "-toolexec=/testbed/evil", "LD_PRELOAD": "evil.so", "PROJECT": "x"} {
		r.Variables[name] = value
	}
	step, err := Language{}.Setup(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fill, step.Fill); diff != "" {
		t.Errorf("variables of the project change a fill (-without +with):\n%s", diff)
	}
	for _, f := range fill.Files {
		if !strings.HasPrefix(f.Path, standardDir+"/") || strings.Contains(string(f.Data), "github.com") {
			t.Errorf("a fill has %s:\n%s", f.Path, f.Data)
		}
	}
	if len(fill.Steps) != 2 || fill.Steps[0].Dir != standardDir || fill.Steps[1].Dir != standardDir || fill.Env["GOCACHE"] != sharedCachePath || fill.Env["GOPROXY"] != "off" {
		t.Errorf("steps %v with %v", fill.Steps, fill.Env)
	}
}

func TestVendoredModuleNeedsNothing(t *testing.T) {
	t.Parallel()
	m := locked()
	m["vendor/modules.txt"] = "# github.com/a/a v1.2.3\n"
	delete(m, "go.sum")
	r, err := Language{}.Infer(project(t, "2024-03-01", m))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(r.Lock, "require") || r.Lock == "" {
		t.Errorf("lock of a vendored module:\n%s", r.Lock)
	}
}

func FuzzLock(f *testing.F) {
	f.Add(lockHead + "-- a --\nx\n-- b --\n")
	f.Fuzz(func(t *testing.T, lock string) {
		set, err := parseLock(lock)
		if err != nil {
			return
		}
		again, err := parseLock(renderLock(set))
		if err != nil || len(again) != len(set) {
			t.Fatalf("%d files, then %d, %v", len(set), len(again), err)
		}
	})
}
