package python

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

const runTree = `
-- tests/conftest.py --
-- tests/test_a.py --
-- tests/sub/test_b.py --
-- tests/sub/data/x.json --
-- tests/helpers.py --
-- tests/__snapshots__/test_a.ambr --
-- pkg/inner_test.py --
-- docs/data.json --
`

// wordsOf are the words of the only run between the style and the runner table.
func wordsOf(t *testing.T, archive string, command []string, sel lang.Select) []string {
	t.Helper()
	runs := Language{}.Runs(schemas.Recipe{Test: []schemas.Command{{Argv: command}}}, treeOf(t, archive), sel)
	if len(runs) == 0 {
		return nil
	}
	argv := runs[0].Command.Argv
	return argv[5:slices.Index(argv, Flags[0].Words[0])]
}

func TestRunsOfPaths(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		command string
		paths   []string
		skip    []string
		want    []string
	}{
		{"suite", "pytest tests -m slow", nil, nil, []string{"tests", "-m", "slow"}},
		{"one_file", "pytest tests -m slow", []string{"tests/test_a.py"}, nil, []string{"-m", "slow", "tests/test_a.py"}},
		{"all_files_are_the_suite", "pytest tests -m slow", []string{"tests/sub/test_b.py", "tests/test_a.py"}, nil, []string{"tests", "-m", "slow"}},
		{"doctests_are_more_than_files", "pytest --doctest-modules tests", []string{"tests/sub/test_b.py", "tests/test_a.py"}, nil, []string{"--doctest-modules", "tests/sub/test_b.py", "tests/test_a.py"}},
		{"data", "pytest", []string{"tests/sub/data/x.json"}, nil, []string{"tests/sub"}},
		{"conftest_covers_its_folder", "pytest", []string{"tests/conftest.py", "tests/test_a.py"}, nil, []string{"tests"}},
		{"snapshot", "pytest", []string{"tests/__snapshots__/test_a.ambr"}, nil, []string{"tests"}},
		{"helper", "pytest", []string{"tests/helpers.py"}, nil, []string{"tests"}},
		{"deleted", "pytest", []string{"tests/test_gone.py", "tests/test_a.py"}, nil, []string{"tests/test_a.py"}},
		{"skipped_file", "pytest", []string{"tests/test_a.py", "pkg/inner_test.py"}, []string{"tests/test_a.py"}, []string{"pkg/inner_test.py"}},
		{"packages_are_no_files", "pytest --pyargs pkg", []string{"tests/test_a.py"}, nil, []string{"tests/test_a.py"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := wordsOf(t, runTree, strings.Fields(c.command), lang.Select{Paths: c.paths, Skip: c.skip, Number: 1})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got := (Language{}).Runs(schemas.Recipe{Test: []schemas.Command{{Argv: []string{"pytest"}}}}, treeOf(t, runTree), lang.Select{Paths: []string{"tests/test_gone.py"}}); got != nil {
		t.Errorf("nothing is there to run, got %v", got)
	}
}

func TestRunIsDeclared(t *testing.T) {
	t.Parallel()
	r := schemas.Recipe{Test: []schemas.Command{{Argv: []string{venvPython, "-m", "pytest", "tests"}, Env: map[string]string{"A": "1", "PYTHONHASHSEED": "9"}}}}
	tr := treeOf(t, runTree)
	a := Language{}.Runs(r, tr, lang.Select{Number: 2, Skip: []string{"tests/test_a.py::test_x[\n\x00]"}})
	b := Language{}.Runs(r, tr, lang.Select{Number: 2})
	if diff := cmp.Diff(map[string]string{"A": "1", "PYTHONHASHSEED": "2"}, a[0].Command.Env); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	if !slices.Equal(a[0].Command.Argv, b[0].Command.Argv) || a[0].Command.Argv[4] != "module" {
		t.Errorf("runs of one number differ in their command: %q %q", a[0].Command.Argv, b[0].Command.Argv)
	}
	c, other := configOf(a[0]), configOf(b[0])
	if c.Nonce == "" || c.Nonce == other.Nonce || c.Canaries[0].Name == other.Canaries[0].Name {
		t.Error("two runs share a nonce or a canary")
	}
	for _, f := range a[0].Inputs {
		if bytes.Contains(f.Data, []byte(c.Nonce)) || f.Path == configPath {
			t.Errorf("the nonce stands in %s, where tests can read it", f.Path)
		}
	}
	if strings.Contains(strings.Join(a[0].Command.Argv, " "), c.Nonce) {
		t.Error("the nonce stands in the command line, where tests can read it")
	}
	// What a person starts has files.
	if shown := (Language{}).Runs(r, tr, lang.Select{Number: 1, Nonce: "shown"})[0]; shown.Given != nil || shown.Report != reportPath || len(shown.Inputs) != 2 || shown.Command.Argv[0] != venvPython {
		t.Errorf("a run that is shown: %+v", shown.Command)
	}
	if len(c.Skip) != 1 || c.Skip[0] != "tests/test_a.py::test_x[\n\x00]" {
		t.Errorf("skip %q", c.Skip)
	}
}

func TestFlagsHaveReasons(t *testing.T) {
	t.Parallel()
	for _, f := range Flags {
		if len(f.Words) == 0 || len(f.Reason) < 10 {
			t.Errorf("%+v", f)
		}
	}
}

func TestAddopts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, archive, kept string
		changed             bool
	}{
		{"none", "-- a.py --\n", "", false},
		{"kept_as_they_are", "-- pytest.ini --\n[pytest]\naddopts = -ra --strict-markers\n", "-ra --strict-markers", false},
		{"coverage", "-- setup.cfg --\n[tool:pytest]\naddopts = --cov=x --cov-report term -q\n", "-q", true},
		{"coverage_of_a_folder", "-- pytest.ini --\n[pytest]\naddopts=--verbose --cov-append --cov-report term --cov src\n", "--verbose", true},
		{"coverage_without_a_word", "-- pytest.ini --\n[pytest]\naddopts = --cov -q\n", "-q", true},
		{"workers", "-- pyproject.toml --\n[tool.pytest.ini_options]\naddopts = \"-n auto --dist loadfile -m 'not slow'\"\n", "-m 'not slow'", true},
		{"workers_in_one_word", "-- pyproject.toml --\n[tool.pytest.ini_options]\naddopts = [\"-n4\", \"-ra\"]\n", "-ra", true},
		{"linters_and_reports", "-- tox.ini --\n[pytest]\naddopts =\n    --flake8\n    --junitxml=x.xml\n    --doctest-modules\n", "--doctest-modules", true},
		{"own_file_wins", "-- pytest.ini --\n[pytest]\n-- pyproject.toml --\n[tool.pytest.ini_options]\naddopts = \"-x\"\n", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			kept, changed := addopts(treeOf(t, c.archive))
			if kept != c.kept || changed != c.changed {
				t.Errorf("got %q %v", kept, changed)
			}
		})
	}
}

func TestKeepWords(t *testing.T) {
	t.Parallel()
	tr := treeOf(t, "-- tests/test_a.py --\n-- src/x.py --\n")
	for line, want := range map[string]string{
		"-v --cov x tests":                    "tests",
		"--cov src":                           "",
		"--cov src tests":                     "tests",
		"--cov --cov-report=xml src":          "src",
		"tests/ missing ./src":                "tests src",
		"-n auto --basetemp=/t tests":         "tests",
		"--pyargs pkg.tests -W error":         "--pyargs pkg.tests -W error",
		"-m 'a and b' -k x --ignore=tests/q":  "-m 'a and b' -k x --ignore=tests/q",
		"-p no:cacheprovider -p xdist tests":  "-p no:cacheprovider tests",
		"--durations 10 --tb short tests":     "tests",
		"-Werror -mslow":                      "-Werror -mslow",
		"$ARGS tests/test_a.py::test_x `pwd`": "tests/test_a.py::test_x",
	} {
		var got []string
		for _, w := range keepWords(tr, shellWords(line)) {
			got = append(got, quote(w))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

func TestPretendVersions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tag      string
		distance int
		scheme   string
		want     string
	}{
		{"1.6.0", 179, "", "1.6.1.dev179"}, {"v2.0", 0, "", "2.0"}, {"v2.0", 3, "", "2.1.dev3"}, {"1.0rc1", 2, "", "1.0rc2.dev2"},
		{"release-1.2.3", 1, "", "1.2.4.dev1"}, {"pkg/v0.3", 1, "", "0.4.dev1"}, {"1.0.0.dev0", 5, "", "1.0.0.dev5"}, {"1.0.post1", 2, "", "1.0.post2.dev2"},
		{"", 12, "", "0.1.dev12"}, {"nightly", 4, "", "0.1.dev4"}, {"1.2.3", 4, "post-release", "1.2.3.post4"},
		{"1.2.3", 4, "no-guess-dev", "1.2.3.post1.dev4"}, {"1.2.3", 4, "python-simplified-semver", "1.3.0.dev4"},
	} {
		archive := "-- pyproject.toml --\n[build-system]\nrequires = [\"setuptools_scm\"]\n[project]\nname = \"a.b\"\n"
		if c.scheme != "" {
			archive += "[tool.setuptools_scm]\nversion_scheme = \"" + c.scheme + "\"\n"
		}
		got, ok := readManifest(treeOf(t, archive)).pretendVersion(tree.Version{Tag: c.tag, Distance: c.distance})
		if !ok || got.variables["SETUPTOOLS_SCM_PRETEND_VERSION_FOR_A_B"] != c.want {
			t.Errorf("%s +%d %s: %v", c.tag, c.distance, c.scheme, got.variables)
		}
	}
	for archive, want := range map[string]string{
		"-- pyproject.toml --\n[build-system]\nrequires = [\"hatch-vcs\"]\n":                                         "SETUPTOOLS_SCM_PRETEND_VERSION=1.6.1.dev9",
		"-- setup.py --\nsetup(setup_requires=['pbr'], pbr=True)\n":                                                  "PBR_VERSION=1.6.1.dev9",
		"-- pyproject.toml --\n[build-system]\nrequires = [\"poetry-core\", \"poetry-dynamic-versioning\"]\n":        "POETRY_DYNAMIC_VERSIONING_BYPASS=1.6.0.post9.dev0",
		"-- pyproject.toml --\n[build-system]\nrequires = [\"pdm-backend\"]\n[tool.pdm.version]\nsource = \"scm\"\n": "PDM_BUILD_SCM_VERSION=1.6.1.dev9",
		"-- pyproject.toml --\n[build-system]\nrequires = [\"pdm-backend\"]\n":                                       "",
		"-- setup.cfg --\n[versioneer]\nVCS = git\n":                                                                 "versioneer",
		"-- pyproject.toml --\n[build-system]\nrequires = [\"setuptools\"]\n":                                        "",
	} {
		got, _ := readManifest(treeOf(t, archive)).pretendVersion(tree.Version{Tag: "1.6.0", Distance: 9})
		name, value, pair := strings.Cut(want, "=")
		switch {
		case pair && got.variables[name] != value, !pair && want == "" && got.tool != "", !pair && want != "" && (got.tool != want || got.note == ""):
			t.Errorf("%s: %+v", archive, got)
		}
	}
}

// TestRunsInAFolder: a command of a folder names its targets from there, takes pytest's
// settings of the nearest folder, and testpaths of no other.
func TestRunsInAFolder(t *testing.T) {
	t.Parallel()
	tr := treeOf(t, "-- setup.cfg --\n[tool:pytest]\npython_files = check_*.py\ntestpaths = elsewhere\naddopts = -n4\n-- py/setup.py --\n-- py/checks/check_a.py --\n-- py/checks/check_b.py --\n-- shared/check_c.py --\n")
	r := schemas.Recipe{Test: []schemas.Command{{Argv: []string{"pytest"}, Dir: "py"}}}
	for _, c := range []struct {
		name        string
		paths, want []string
	}{
		{"one", []string{"py/checks/check_a.py"}, []string{"checks/check_a.py"}},
		{"beside", []string{"shared/check_c.py"}, []string{"../shared/check_c.py"}},
		{"all_are_the_suite", []string{"py/checks/check_a.py", "py/checks/check_b.py"}, nil},
	} {
		runs := Language{}.Runs(r, tr, lang.Select{Paths: c.paths, Number: 1})
		if len(runs) != 1 {
			t.Fatalf("%s: %d runs", c.name, len(runs))
		}
		argv := runs[0].Command.Argv
		if diff := cmp.Diff(append([]string{}, c.want...), append([]string{}, argv[5:slices.Index(argv, Flags[0].Words[0])]...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		if runs[0].Command.Dir != "py" || argv[len(argv)-1] != "addopts=" {
			t.Errorf("%s: in %q, last word %q", c.name, runs[0].Command.Dir, argv[len(argv)-1])
		}
	}
}

func TestBelow(t *testing.T) {
	t.Parallel()
	for root, want := range map[string]bool{
		"packages/core": true, ".": true, "packages": true, "packages/cor": false, "packages/**/tests": true, "packages/*/tests": true,
		"**/tests": true, "packages/*": true, "*/tests": false, "packages/core/**": true, "packages/core/tests/test_*.py": true, "packages/**/docs": false, "**": true,
	} {
		if got := below("packages/core/tests/test_a.py", []string{root}); got != want {
			t.Errorf("%s: %t", root, got)
		}
	}
}
