package golang_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/bwrap"
	"github.com/benchmint/benchmint/internal/sandbox/docker/dockertest"
	"github.com/benchmint/benchmint/internal/testlog"
	"github.com/benchmint/benchmint/internal/toolchain"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

// forgeTests is the test part of every forgery. TestLater takes its time, for those
// that put things right while it runs.
const forgeTests = `package box

import (
	"testing"
	"time"
)

func TestFirst(t *testing.T) {}

func TestValue(t *testing.T) {
	if v := Value(); v != 999 {
		t.Error(v)
	}
}

func TestLater(t *testing.T) { time.Sleep(200 * time.Millisecond) }
`

const say = `
func say(lines ...string) {
	for _, l := range lines {
		os.Stdout.WriteString("\x16" + l + "\n")
	}
}
`

// forgery is a package of its own; it imports what it names.
func forgery(code string) string {
	code += say
	src := "package box\n\nimport (\n"
	for _, imp := range []string{"flag", "os", "os/exec", "path/filepath", "reflect", "regexp", "runtime", "strconv", "strings", "syscall", "testing", "time", "unsafe"} {
		if regexp.MustCompile(`\b`+imp[strings.LastIndex(imp, "/")+1:]+`\.[A-Z]`).MatchString(code) && (imp != "testing" || !strings.Contains(code, "extra_test.go")) {
			src += fmt.Sprintf("\t%q\n", imp)
		}
	}
	return src + ")\n\n" + code
}

// ofEachKind are the forgeries that run before each merge: one for each thing that is
// looked at.
var ofEachKind = []string{
	"honest", "exit_with_the_last_word", "exit_in_the_test", "frames_before_the_failure", "blames_another", "ghost",
	"ghost_below_a_test_that_ended", "mutes_for_a_moment", "names_from_the_inputs", "no_test_can_fail", "events_on_standard_error",
}

// TestForge runs forgeries in a real sandbox. Of none the pass of TestValue counts,
// nor a test that no source has.
func TestForge(t *testing.T) {
	testForge(t, func(name string) bool { return slices.Contains(ofEachKind, name) })
}

// TestForgeAll runs all of them.
func TestForgeAll(t *testing.T) { testForge(t, func(string) bool { return true }) }

func testForge(t *testing.T, wanted func(string) bool) {
	if testing.Short() {
		t.Skip("builds in a sandbox")
	}
	text, err := os.ReadFile("testdata/forge.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"go.mod": "module example.com/forge\n\ngo 1.22\n"}
	var names []string
	for _, f := range txtar.Parse(text).Files {
		if !wanted(f.Name) || f.Name == "no_test_can_fail" && runtime.GOARCH != "amd64" { // it writes machine code
			continue
		}
		names = append(names, f.Name)
		files[f.Name+"/box.go"] = forgery(string(f.Data))
		files[f.Name+"/box_test.go"] = forgeTests
	}
	if len(names) < 10 {
		t.Fatalf("%d forgeries", len(names))
	}
	report := inSandbox(t, files)
	for _, name := range names {
		passed, state := counted(report, "example.com/forge/"+name)
		t.Logf("%s: %s", name, state)
		if state == "" || strings.HasPrefix(state, string(testlog.NotLoaded)) && name != "exit_in_init" {
			t.Errorf("%s did not run: %s", name, state)
		}
		if got, want := slices.Contains(passed, "TestValue"), name == "honest"; got != want {
			t.Errorf("%s: TestValue passed: %v, %s", name, got, state)
		}
		passed = slices.DeleteFunc(passed, func(n string) bool { return slices.Contains([]string{"TestFirst", "TestValue", "TestLater"}, n) })
		if len(passed) > 0 {
			t.Errorf("%s: %v passed, %s", name, passed, state)
		}
	}
}

// counted are the tests of a package whose passes count, and how it ended.
func counted(r testlog.Report, unit string) (passed []string, state string) {
	for _, u := range r.Units {
		if u.Name != unit {
			continue
		}
		state = fmt.Sprintf("%s %s %s", u.State, strings.TrimPrefix(u.Running, unit), strings.SplitN(u.Message, "\n", 2)[0])
		if u.State == testlog.Tampered || u.Unproved {
			return nil, state
		}
	}
	for _, x := range r.Tests {
		if x.Unit == unit && x.Status == schemas.Passed {
			passed = append(passed, strings.TrimPrefix(x.ID, unit+"::"))
		}
	}
	return passed, state
}

// inSandbox builds a module once and runs all its tests, those that end the go command
// in a process of their own.
func inSandbox(t *testing.T, files map[string]string) testlog.Report {
	t.Helper()
	var entries []tree.Entry
	for _, p := range slices.Sorted(maps.Keys(files)) {
		entries = append(entries, tree.Entry{Path: p, Mode: tree.ModeFile, Data: []byte(files[p])})
	}
	whole, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := dockertest.Dir()
	if err != nil {
		t.Fatal(err)
	}
	chains := toolchain.New(toolchain.Host{Cache: cache, Env: os.Environ()})
	available, err := chains.Available(t.Context(), golang.Name)
	if err != nil {
		t.Logf("toolchains: %v", err)
	}
	env := sandbox.RegistryEnv(os.Environ())
	box, err := bwrap.New(t.Context(), bwrap.Options{
		Dir: t.TempDir(), CABundle: "/etc/ssl/certs/ca-certificates.crt", Env: env,
		Registries: append(sandbox.PublicRegistries(), sandbox.RegistryHosts(env)...), Upstream: http.ProxyFromEnvironment,
	})
	if refused := (*sandbox.Refused)(nil); errors.As(err, &refused) {
		t.Skipf("NO bwrap HERE: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	project := lang.Project{Name: "acme/forge", Base: whole, Solution: whole, Date: time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC), Available: available}
	r, err := golang.Language{}.Infer(project)
	if err != nil {
		t.Fatal(err)
	}
	// No environment is built: what tests need is compiled once, in the first run.
	toolchain, err := chains.Get(t.Context(), r.Toolchain.Name, r.Toolchain.Version)
	if err != nil {
		t.Skipf("LOUD SKIP: Go %s: %v", r.Toolchain.Version, err)
	}
	base, err := box.Base(t.Context(), sandbox.Base{Toolchains: []sandbox.Toolchain{toolchain}})
	if err != nil {
		t.Fatal(err)
	}
	layer, _, err := box.Build(t.Context(), sandbox.Build{Key: schemas.DigestOf(files), Parent: base, Files: (&tree.Tree{}).Changes(whole, project.Date)})
	if err != nil {
		t.Fatal(err)
	}
	killer := []string{"example.com/forge/kills_its_parent"}
	var rest []string
	for p := range files {
		if dir, ok := strings.CutSuffix(p, "/box.go"); ok && "example.com/forge/"+dir != killer[0] {
			rest = append(rest, "example.com/forge/"+dir)
		}
	}
	var report testlog.Report
	for _, units := range [][]string{rest, killer} {
		if _, ok := files["kills_its_parent/box.go"]; !ok && len(units) == 1 {
			continue
		}
		var outs []lang.Output
		for _, run := range (golang.Language{}).Runs(r, whole, lang.Select{Number: 1, Units: units}) {
			began := time.Now()
			res, err := box.Run(t.Context(), sandbox.Run{Layer: layer, Command: run.Command, Env: r.Variables, Inputs: run.Inputs})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d packages: %.1f s, %s %d", len(units), time.Since(began).Seconds(), res.End, res.ExitCode)
			outs = append(outs, lang.Output{Run: run, Result: res})
		}
		one := golang.Language{}.Parse(r, outs)
		report.Units, report.Tests = append(report.Units, one.Units...), append(report.Tests, one.Tests...)
	}
	return report
}
