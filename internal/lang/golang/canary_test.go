package golang

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
)

// Canaries run in packages of every kind, in Go with and without overlays, and no
// report shows them.
func TestCanariesWithRealGo(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/canary.txtar")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{
		"program":  {"finished", "TestProgram passed"},
		"inside":   {"finished", "TestInside passed"},
		"outside":  {"finished", "TestOutside passed"},
		"both":     {"finished", "TestIn passed", "TestLast passed", "ExampleF passed"},
		"tags":     {"finished", "TestPlain passed"},
		"untested": {"finished"},
		"twice":    {"finished", "TestEachTime passed", "TestEachTime/sub passed of TestEachTime", "TestSecondTime failed"},
		"swapped":  {"finished", "TestSwaps passed"},
		"cleans":   {"aborted", "TestFine passed"},
		"names":    {"finished", "TestNames passed", "TestNames/a passed of TestNames", "TestNames/a/b passed of TestNames/a", "TestNames/c/d passed of TestNames", "TestNames/c/d/e passed of TestNames/c/d"},
	}
	for minor, version := range map[string]string{"local": "1.26.0", "1.19": "1.19.13", "1.13": "1.13.15"} {
		t.Run(minor, func(t *testing.T) {
			t.Parallel()
			report := runReal(t, goAt(t, minor), fromTxtar(text), lang.Select{Number: 1}, version)
			if diff := cmp.Diff(sketch(report), sketch(runCompiled(t, goAt(t, minor), fromTxtar(text), version))); diff != "" {
				t.Errorf("each program by itself (-go test +programs):\n%s", diff)
			}
			want := maps.Clone(want)
			if minor != "local" {
				delete(want, "untested") // is not asked for before Go 1.24
			}
			if diff := cmp.Diff(want, sketch(report)); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			for _, u := range report.Units {
				if (u.Unproved || u.Message != "") && !strings.HasSuffix(u.Name, "/cleans") {
					t.Errorf("%+v", u)
				}
			}
		})
	}
}

// A module with vendored packages, and one in a workspace.
func TestCanariesInModules(t *testing.T) {
	t.Parallel()
	const test = "package ends\n\nimport (\n\t\"testing\"\n\n\t\"example.com/dep\"\n)\n\nfunc TestDep(t *testing.T) { dep.F() }\n"
	for name, m := range map[string]memory{
		"vendor": {
			"go.mod": "module example.com/ends\n\ngo 1.20\n\nrequire example.com/dep v1.0.0\n", "e_test.go": test,
			"vendor/modules.txt": "# example.com/dep v1.0.0\n## explicit\nexample.com/dep\n", "vendor/example.com/dep/d.go": "package dep\n\nfunc F() {}\n",
		},
		"workspace": {
			"go.mod": "module example.com/ends\n\ngo 1.20\n", "e_test.go": test, "go.work": "go 1.20\n\nuse (\n\t.\n\t./dep\n)\n",
			"dep/go.mod": "module example.com/dep\n\ngo 1.20\n", "dep/d.go": "package dep\n\nfunc F() {}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := runReal(t, goAt(t, "local"), m, lang.Select{Number: 1}, "1.26.0")
			if diff := cmp.Diff(map[string][]string{"example.com/ends": {"finished", "TestDep passed"}}, sketch(report)); diff != "" || len(report.Units) != 1 || report.Units[0].Unproved {
				t.Errorf("%+v (-want +got):\n%s", report.Units, diff)
			}
		})
	}
}

// What a run is given: a file in each tested package, the names nowhere but in it and
// in what Parse gets, others in each run; nothing for a dataset.
func TestCanaries(t *testing.T) {
	t.Parallel()
	first := Language{}.Runs(runRecipe("1.22.1"), runTree(), lang.Select{})[0]
	second := Language{}.Runs(runRecipe("1.22.1"), runTree(), lang.Select{})[0]
	if diff := cmp.Diff(first.Command, second.Command); diff != "" {
		t.Errorf("two runs of one selection (-first +second):\n%s", diff)
	}
	guards := guardsOf(first.Secret)
	if diff := cmp.Diff([]string{"example.com/m", "example.com/m/p", "example.com/m/q"}, slices.Sorted(maps.Keys(guards))); diff != "" {
		t.Errorf("packages with canaries (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"TestA", "TestB", "ExampleC"}, guards["example.com/m"].Known); diff != "" {
		t.Errorf("known tests (-want +got):\n%s", diff)
	}
	for pkg, g := range guards {
		for _, name := range []string{g.Test, g.Fails, g.Passes, g.Ends} {
			var in []string
			for _, f := range first.Inputs {
				if strings.Contains(string(f.Data), name) {
					in = append(in, f.Path)
				}
			}
			if len(in) != 1 || strings.Contains(text(second), name) {
				t.Errorf("%s of %s is in %v, or in another run", name, pkg, in)
			}
		}
	}
	if rendered := (Language{}).Runs(runRecipe("1.22.1"), runTree(), lang.Select{Nonce: "rendered"})[0]; len(rendered.Inputs) != 1 || rendered.Secret != nil || strings.Contains(text(rendered), "overlay") {
		t.Errorf("a dataset's run has canaries: %+v", rendered)
	}
}

func text(r recipe.TestRun) string {
	s := strings.Join(r.Command.Argv, " ")
	for _, f := range r.Inputs {
		s += string(f.Data)
	}
	return s
}

// A pattern that a recipe has keeps its meaning, and lets canaries through.
func TestCanariesPassPatterns(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"-run=TestA":     "-run=^(X|Y)$|TestA",
		"-run TestA/sub": "-run ^(X|Y)$|TestA/sub",
		"-test.run=A|B":  "-test.run=^(X|Y)$|A|B",
		"-runner=A":      "-runner=A",
		"-short":         "-short",
	} {
		argv := strings.Fields(given)
		if alsoRun(argv, []string{"X", "Y"}); strings.Join(argv, " ") != want {
			t.Errorf("%s became %v, want %s", given, argv, want)
		}
	}
	m := memory{
		"go.mod":    "module example.com/ends\n\ngo 1.14\n",
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) { t.Run(\"x\", func(t *testing.T) {}) }\n\nfunc TestB(t *testing.T) {}\n\nfunc TestC(t *testing.T) { t.Error() }\n",
	}
	for _, words := range [][]string{{"-run=TestA/x|TestC"}, {"-skip=TestB"}, {"-failfast", "-short", "-count=3", "-skip=B"}} {
		report := runReal(t, goAt(t, "local"), m, lang.Select{}, "1.26.0", words...)
		want := map[string][]string{"example.com/ends": {"finished", "TestA passed", "TestA/x passed of TestA", "TestC failed"}}
		if diff := cmp.Diff(want, sketch(report)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", words, diff)
		}
	}
}

func TestTestSources(t *testing.T) {
	t.Parallel()
	m := memory{
		"p/p.go": "package real\n", "p/p_test.go": "package real\n\nfunc TestA() {}\n\nfunc (x T) TestMethod() {}\n\n// func TestComment() {}\nvar s = `\nfunc TestString() {}\n`\n",
		"p/x_test.go": "package real_test\n\nfunc FuzzB() {}\n", "p/w_windows_test.go": "package real\n\nfunc TestW() {}\n",
		"p/link_test.go": "../shared/s_test.go", "shared/s_test.go": "package real\n\nfunc TestShared() {}\n",
	}
	want := testSources{clause: "real", tests: []string{"TestShared", "TestA", "FuzzB"}, files: []string{"link_test.go", "p_test.go", "w_windows_test.go", "x_test.go"}}
	if diff := cmp.Diff(want, testSourcesOf(m, layout{}, "p"), cmp.AllowUnexported(testSources{})); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
	if name := canaryFile([]string{"zzz_test.go"}); name < "zzz_test.go" {
		t.Errorf("%s comes before the package's own", name)
	}
}
