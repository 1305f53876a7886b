package grade

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/environment/environmenttest"
	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/forgerytest"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/docker/dockertest"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// attacked is a task, and the predictions that pretend to solve it.
type attacked struct {
	plugin         environmenttest.Plugin
	report         string
	base           map[string]string
	tests          map[string]string // over base
	solution       map[string]string // over base and tests
	failing, other []string          // FAIL_TO_PASS and PASS_TO_PASS
	unit           func(id string) string
	attacks        []forgerytest.Forgery // their files over base
	// each is one attack for each guard, in the tests of every merge.
	each  []string
	test  []string // the command that runs the tests; nil for what the language infers
	apart bool     // each test in a process of its own
}

const gone = "GONE\n"

func attacksOn(t *testing.T, file string) (task map[string]string, attacks []forgerytest.Forgery) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := forgerytest.Read(text)
	for _, f := range all {
		for p, data := range f.Files {
			if rest, ok := strings.CutPrefix(data, "//box\n"); ok {
				f.Files[p] = forgerytest.GoSource(rest)
			}
			if strings.HasPrefix(data, "-> ") {
				f.Files[p] = strings.TrimSpace(data)
			}
		}
	}
	return all[0].Files, all[1:]
}

func pythonTask(t *testing.T) attacked {
	task, attacks := attacksOn(t, "testdata/attacks-python.txtar")
	forgeries := forgerytest.Python()
	sound := forgeries[0].Files
	base := with(sound, task)
	base["tests/test_value.py"] = "from helper import same\n" + strings.Replace(base["tests/test_value.py"], "assert pkg.value() == 999", "same(pkg.value(), 999)", 1)
	tests := map[string]string{"tests/test_value.py": base["tests/test_value.py"]}
	base["tests/test_value.py"] = strings.ReplaceAll(base["tests/test_value.py"], "999", "1")
	for _, f := range forgeries[1:] {
		files := map[string]string{}
		ofEnvironment := false
		for p, data := range f.Files {
			ofEnvironment = ofEnvironment || strings.HasPrefix(p, forgerytest.Environment) || strings.HasPrefix(p, forgerytest.Venv)
			if data != sound[p] {
				files[p] = data
			}
		}
		if !ofEnvironment {
			attacks = append(attacks, forgerytest.Forgery{Name: f.Name, Files: files})
		}
	}
	return attacked{
		plugin: python.Language{}, report: python.ReportFormat, base: base, tests: tests, attacks: attacks,
		test:     []string{"python", "-m", "pytest"}, // it looks for modules in the tree
		solution: map[string]string{"pkg/__init__.py": "def value():\n    return 999\n"},
		failing:  []string{forgerytest.PythonTarget},
		other:    []string{"tests/test_sound.py::test_sound", "tests/test_sound.py::test_sound_too", "tests/test_value.py::test_before", "tests/test_value.py::test_after", "tests/test_early.py::test_early"},
		unit:     func(id string) string { unit, _, _ := strings.Cut(id, "::"); return unit },
		each: []string{
			"helpers_rewritten", "conftest_added", "plugin_of_another_case", "plugin_of_setup", "variable_of_a_pth", "runner_changed_by_the_build", "library_module_in_the_tree", "rewrites_the_tests", "moves_the_tests", "plants_bytecode", "table_behind_a_linked_folder", "table_of_the_runner", "table_behind_a_link", "plugin_of_an_egg", "pytest_in_the_tree",
			"library_package_behind_a_link", "library_module_of_the_build", "finder_with_code_in_its_data", "line_of_a_pth_that_goes_on", "files_with_the_name_of_the_runner_and_a_blank", "helper_becomes_a_package", "tests_become_a_package",
			"build_that_changes_the_tests", "build_that_adds_a_conftest", "build_that_blames_the_disk", "exit_in_the_test", "reads_the_settings", "hooks_its_way_in", "replaces_every_function", "knows_the_plugin", "fork_writes_later",
		},
	}
}

func goTask(t *testing.T) attacked {
	base, attacks := attacksOn(t, "testdata/attacks-go.txtar")
	tests := map[string]string{"box_test.go": strings.ReplaceAll(base["box_test.go"], "WANT", "999")}
	base["box_test.go"] = strings.ReplaceAll(base["box_test.go"], "WANT", "0")
	const pkg = forgerytest.GoPackage + "box"
	for _, f := range forgerytest.Go() {
		if f.Name == forgerytest.GoHonest {
			continue
		}
		code := strings.ReplaceAll(f.Files["box.go"], forgerytest.GoPackage+f.Name, pkg)
		attacks = append(attacks, forgerytest.Forgery{Name: f.Name, Files: map[string]string{"box.go": code}})
	}
	return attacked{
		plugin: golang.Language{}, report: golang.ReportFormat, base: base, tests: tests, attacks: attacks,
		solution: map[string]string{"box.go": "package box\n\n// Value is 999.\nfunc Value() int { return 999 }\n"},
		failing:  []string{pkg + "::TestValue"}, other: []string{pkg + "::TestFirst", pkg + "::TestLater", pkg + "::TestGolden"},
		unit: func(id string) string { unit, _, _ := strings.Cut(id, "::"); return unit },
		each: []string{
			"helpers_rewritten", "test_main_added", "replaced_dependency", "vendored_dependency", "workspace_with_a_fake", "filters_what_it_prints", "module_behind_a_link", "vendored_behind_a_link",
			"exit_with_the_last_word", "frames_before_the_failure", "ghost", "mutes_for_a_moment", "names_from_the_inputs", "no_test_can_fail", "knows_the_example", "more_records_than_can_be_read",
		},
	}
}

// goPackages has more than one program.
func goPackages(t *testing.T) attacked {
	base, attacks := attacksOn(t, "testdata/attacks-packages.txtar")
	tests := map[string]string{"zeta/zeta_test.go": strings.ReplaceAll(base["zeta/zeta_test.go"], "WANT", "999")}
	base["zeta/zeta_test.go"] = strings.ReplaceAll(base["zeta/zeta_test.go"], "WANT", "0")
	const pkg = forgerytest.GoPackage + "box"
	return attacked{
		plugin: golang.Language{}, report: golang.ReportFormat, base: base, tests: tests, attacks: attacks,
		solution: map[string]string{"zeta/zeta.go": "package zeta\n\n// Value is 999.\nfunc Value() int { return 999 }\n"},
		failing:  []string{pkg + "/zeta::TestZeta"}, other: []string{pkg + "/alpha::TestAlpha"},
		unit: func(id string) string { unit, _, _ := strings.Cut(id, "::"); return unit },
		each: []string{"rewrites_another_package", "rewrites_a_dependency", "swaps_the_next_program"},
	}
}

// goApart is that of Go as a library has it: each test in a process of its own.
func goApart(t *testing.T) attacked {
	a := goTask(t)
	a.apart = true
	a.each = []string{"frames_before_the_failure", "mutes_for_a_moment", "no_test_can_fail", "knows_the_example"} // TestForgeApart has the others
	return a
}

// TestAttacks grades one attack for each guard, beside the solution and nothing at all.
func TestAttacks(t *testing.T) {
	t.Parallel()
	for name, task := range map[string]func(*testing.T) attacked{"python": pythonTask, "go": goTask, "go_packages": goPackages, "go_apart": goApart} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task(t).few(t).grade(t, environmenttest.Bubblewrap)
		})
	}
}

// few has one attack for each guard.
func (a attacked) few(t *testing.T) attacked {
	t.Helper()
	a.attacks = slices.DeleteFunc(a.attacks, func(f forgerytest.Forgery) bool { return !slices.Contains(a.each, f.Name) })
	if len(a.attacks) != len(a.each) {
		t.Fatalf("%d of %d attacks", len(a.attacks), len(a.each))
	}
	return a
}

func TestMain(m *testing.M) { os.Exit(dockertest.Main(m)) }

// TestAttacksAll grades all of them, and in Docker what TestAttacks does.
func TestAttacksAll(t *testing.T) {
	t.Parallel()
	for name, task := range map[string]func(*testing.T) attacked{"python": pythonTask, "go": goTask, "go_packages": goPackages, "go_apart": goApart} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			task(t).grade(t, environmenttest.Bubblewrap)
		})
		t.Run(name+"_docker", func(t *testing.T) {
			t.Parallel()
			task(t).few(t).grade(t, environmenttest.Docker)
		})
	}
}

// blobs are those of a test.
type blobs struct {
	mu  sync.Mutex
	all map[schemas.Digest][]byte
}

func (b *blobs) Put(data []byte) (schemas.Digest, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := schemas.DigestBytes(data)
	b.all[d] = data
	return d, nil
}

func (b *blobs) Get(d schemas.Digest) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all[d], nil
}

func (a attacked) ids(ids []string) []lang.Test {
	out := make([]lang.Test, 0, len(ids))
	for _, id := range ids {
		out = append(out, lang.Test{ID: id, Unit: a.unit(id)})
	}
	return out
}

// grade builds the task and grades every attack on it: the solution alone resolves it.
func (a attacked) grade(t *testing.T, open func(testing.TB) sandbox.Sandbox) {
	if testing.Short() {
		t.Skip("builds an environment")
	}
	start := with(a.base, a.tests)
	solution := with(start, a.solution)
	b, s, g := environmenttest.Tree(t, a.base), environmenttest.Tree(t, start), environmenttest.Tree(t, solution)
	w := environmenttest.New(t, open(t), a.plugin, a.report)
	task := Task{
		Start: schemas.Start{
			ChangeID: "acme__box-1", Language: a.plugin.Name(), BaseDate: environmenttest.Date(),
			BaseTree: b.ID(), StartTree: s.ID(), SolutionTree: g.ID(),
		},
		Environment: schemas.Environment{Recipe: w.Recipe(t, b, g)}, FailToPass: a.ids(a.failing), PassToPass: a.ids(a.other),
	}
	task.Environment.Recipe.Apart = a.apart
	if a.test != nil {
		task.Environment.Recipe.Test = []schemas.Command{{Argv: a.test}}
	}
	var err error
	task.Trees, err = states.From(b, gitrepotest.Diff(t, 3, a.base, start), gitrepotest.Diff(t, 3, start, solution), task.Start)
	if err != nil {
		t.Fatal(err)
	}
	kept := &blobs{all: map[schemas.Digest][]byte{}}
	limits := sandbox.Limits{Memory: 2 << 30, Processes: 256, Disk: 1 << 30, Output: 8 << 20, Timeout: time.Minute}
	grader := New(testrun.Outside{Builder: w.Builder, Blobs: kept}, one{task}, kept, Config{Limits: limits})
	t.Cleanup(func() {
		if err := grader.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	try := func(t *testing.T, name string, files map[string]string) schemas.Grade {
		t.Helper()
		d, err := kept.Put(gitrepotest.Diff(t, 3, a.base, files))
		if err != nil {
			t.Fatal(err)
		}
		grade, err := grader.Run(t.Context(), schemas.Prediction{Instance: task.Start.ID(), Model: name, Patch: d})
		if err != nil {
			t.Fatalf("%s: a fault, and not a verdict: %v", name, err)
		}
		why := grade.Detail
		if grade.Verdict == schemas.VerdictFail && grade.F2P != nil {
			why = gradeMissed(grade)
		}
		t.Logf("%s %s; put back: %s; %s", grade.Verdict, grade.Limit, strings.Join(grade.Tampered, " "), why)
		return grade
	}
	if gold := try(t, "gold", with(a.base, a.solution)); gold.Verdict != schemas.VerdictPass || len(gold.Tampered) > 0 {
		t.Fatalf("the solution: %s, put back: %v", gold.Verdict, gold.Tampered)
	}
	if nop := try(t, "nop", with(a.base, map[string]string{"nothing.txt": "nothing\n"})); nop.Verdict != schemas.VerdictFail || nop.F2P.Passed != 0 || !nop.P2P.Full() {
		t.Fatalf("nothing: %+v", nop)
	}
	t.Run("attacks", func(t *testing.T) {
		for _, f := range a.attacks {
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				files := with(a.base, f.Files)
				for p, data := range f.Files {
					if data == gone {
						delete(files, p)
					}
				}
				if grade := try(t, f.Name, files); grade.Verdict == schemas.VerdictPass {
					t.Error("resolved")
				}
			})
		}
	})
}

func gradeMissed(g schemas.Grade) string {
	return "missed: " + strings.Join(slices.Concat(g.F2P.Missed, g.P2P.Missed), " ")
}

// one is a dataset of one task.
type one struct{ task Task }

func (o one) Task(_ context.Context, _ string) (Task, error) { return o.task, nil }
