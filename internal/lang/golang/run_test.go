package golang

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

func runTree() memory {
	return memory{
		"go.mod": "module example.com/m\n", "m.go": "package m\n", "m_test.go": "package m\n\nfunc TestA() {}\nfunc TestB() {}\nfunc TestMain() {}\nfunc ExampleC() {}\nfunc Testing() {}\n",
		"p/p_test.go": "package p\n", "p/testdata/deep/in.txt": "", "q/q_test.go": "package q\n\nimport _ \"example.com/m/internal/kit\"\n",
		"internal/kit/kit.go": "package kit\n", "w/w_windows.go": "package w\n", "sub/go.mod": "module example.com/m/sub\n", "sub/s_test.go": "package sub\n",
	}
}

func runRecipe(version string) schemas.Recipe {
	return schemas.Recipe{
		Toolchain: schemas.Toolchain{Name: Name, Version: version},
		Test: []schemas.Command{
			{Argv: []string{"go", "test", "./..."}, Env: map[string]string{"GOPROXY": "off"}},
			{Argv: []string{"go", "test", "./..."}, Dir: "sub"},
			{Argv: []string{"go", "test", "./..."}, Dir: "added_by_the_solution"},
		},
	}
}

var canaries = regexp.MustCompile(`\^\(TestZ[0-9a-f]{16}\|ExampleZ[0-9a-f]{16}\)\$`)

// lines are the runs without the flags of the table: folder, words, plan.
func lines(runs []recipe.TestRun) []string {
	drop := map[string]bool{"-overlay=" + overlayPath: true}
	for _, f := range Flags {
		for _, w := range f.Words {
			drop[w] = true
		}
	}
	var out []string
	for _, r := range runs {
		var words []string
		for _, w := range r.Command.Argv {
			if !drop[w] {
				words = append(words, canaries.ReplaceAllString(w, "CANARIES"))
			}
		}
		out = append(out, r.Command.Dir+": "+strings.Join(words, " ")+" | "+strings.Join(strings.Fields(string(r.Inputs[0].Data)), " "))
	}
	return out
}

func TestRuns(t *testing.T) {
	t.Parallel()
	const (
		m, p, q, kit = "example.com/m", "example.com/m/p", "example.com/m/q", "example.com/m/internal/kit"
		sub          = "sub: go test ./... | example.com/m/sub"
	)
	for _, c := range []struct {
		name, version string
		sel           lang.Select
		want          []string
	}{
		{"suite", "1.24.1", lang.Select{}, []string{": go test ./... | " + strings.Join([]string{m, kit, p, q}, " "), sub}},
		{"suite_before_1_24", "1.23.12", lang.Select{}, []string{": go test . ./p ./q | " + strings.Join([]string{m, p, q}, " "), "sub: go test . | example.com/m/sub"}},
		{"one_file", "1.22.1", lang.Select{Paths: []string{"p/p_test.go"}}, []string{": go test ./p | " + p}},
		{"root_file", "1.22.1", lang.Select{Paths: []string{"m_test.go"}}, []string{": go test . | " + m}},
		{"test_data", "1.22.1", lang.Select{Paths: []string{"p/testdata/deep/in.txt"}}, []string{": go test ./p | " + p}},
		{"helper", "1.22.1", lang.Select{Paths: []string{"internal/kit/kit.go"}}, []string{": go test ./q | " + q}},
		{"nested_module", "1.24.1", lang.Select{Paths: []string{"sub/s_test.go"}}, []string{sub}},
		{"manifest_only", "1.24.1", lang.Select{Paths: []string{"go.mod"}}, []string{": go test ./... | " + strings.Join([]string{m, kit, p, q}, " "), sub}},
		{"units", "1.22.1", lang.Select{Paths: []string{"m_test.go", "p/p_test.go"}, Units: []string{p}}, []string{": go test ./p | " + p}},
		{"no_units", "1.22.1", lang.Select{Units: []string{}}, nil},
		{"skip", "1.22.1", lang.Select{Paths: []string{"m_test.go", "p/p_test.go"}, Skip: []string{m + "::TestA", m + "::TestB/sub (x)/y"}},
			[]string{": go test ./p | " + p, `: go test -skip=^TestA$|^TestB$/^sub \(x\)$/^y$ . | ` + m}},
		{"skip_before_1_20", "1.19.4", lang.Select{Paths: []string{"m_test.go"}, Skip: []string{m + "::TestA/sub"}}, []string{": go test -run=CANARIES|^(TestB|ExampleC)$ . | " + m}},
	} {
		if diff := cmp.Diff(c.want, lines(Language{}.Runs(runRecipe(c.version), runTree(), c.sel))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestRunsKeepTheRecipe(t *testing.T) {
	t.Parallel()
	runs := Language{}.Runs(runRecipe("1.22.1"), runTree(), lang.Select{})
	if diff := cmp.Diff(map[string]string{"GOPROXY": "off", "GOMAXPROCS": "2"}, runs[0].Command.Env); diff != "" {
		t.Errorf("environment (-want +got):\n%s", diff)
	}
	for _, f := range Flags {
		if f.Reason == "" {
			t.Errorf("%v has no reason", f.Words)
		}
		for _, w := range f.Words {
			if !strings.Contains(strings.Join(runs[0].Command.Argv, " "), w) {
				t.Errorf("%s is not on the command line %v", w, runs[0].Command.Argv)
			}
		}
	}
}

// A skipped test must not run, and nothing else may be lost.
func TestSkipWithRealGo(t *testing.T) {
	t.Parallel()
	m := memory{
		"go.mod":      "module example.com/ends\n\ngo 1.14\n",
		"a_test.go":   "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\nfunc TestB(t *testing.T) {\n\tfor _, n := range []string{\"one\", \"two (x)\", \"two (x)/y\"} {\n\t\tt.Run(n, func(t *testing.T) {})\n\t}\n}\n",
		"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n",
	}
	report := runReal(t, goAt(t, "local"), m, lang.Select{Skip: []string{"example.com/ends::TestA", "example.com/ends::TestB/two_(x)"}}, "1.26.0")
	want := map[string][]string{
		"example.com/ends": {"finished", "TestB passed", "TestB/one passed of TestB"},
		"p":                {"finished", "TestA passed"},
	}
	if diff := cmp.Diff(want, sketch(report)); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// A package that cannot be loaded and has no tests takes none of the others along.
func TestUnloadablePackage(t *testing.T) {
	t.Parallel()
	m := memory{
		"go.mod": "module example.com/ends\n\ngo 1.11\n", "a.go": "package a\n", "a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n",
		"examples/e/main.go": "package main\n\nimport _ \"example.net/nowhere\"\n\nfunc main() {}\n",
	}
	for minor, version := range map[string]string{"local": "1.26.0", "1.19": "1.19.13", "1.13": "1.13.15"} {
		report := runReal(t, goAt(t, minor), m, lang.Select{}, version)
		if diff := cmp.Diff([]string{"finished", "TestA passed"}, sketch(report)["example.com/ends"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", minor, diff)
		}
	}
}
