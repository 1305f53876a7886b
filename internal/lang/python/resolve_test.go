package python

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

const dynamicProject = `
date: 2022-05-20
-- pyproject.toml --
[build-system]
requires = ["setuptools"]
[project]
name = "demo"
dynamic = ["version"]
-- setup.py --
from setuptools import setup
setup(version="1")
-- tests/test_demo.py --
def test_demo(): ...
`

func inferred(t *testing.T, p lang.Project) schemas.Recipe {
	t.Helper()
	r, err := Language{}.Infer(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// planOf reads back what the driver in the sandbox will be told.
func planOf(t *testing.T, s *recipe.Step) []attempt {
	t.Helper()
	for _, f := range s.Files {
		if f.Path == resolveDir+"/plan.json" {
			var plan struct{ Attempts []attempt }
			if err := json.Unmarshal(f.Data, &plan); err != nil {
				t.Fatal(err)
			}
			return plan.Attempts
		}
	}
	t.Fatal("no plan")
	return nil
}

func TestAttemptsAreInOrder(t *testing.T) {
	t.Parallel()
	lock := "-- poetry.lock --\n[[package]]\nname = \"six\"\nversion = \"1.16.0\"\n[[package]]\nname = \"two\"\nversion = \"1\"\n[[package]]\nname = \"two\"\nversion = \"2\"\n"
	for _, c := range []struct {
		name, archive string
		pin           bool
		want          []string
	}{
		{"dated", dynamicProject, true, []string{"date 2022-04-01", "date 2022-05-21", "nearest_date 2022-06-20", "nearest_date 2022-02-20", "nearest_date 2022-08-20", "nearest_date 2021-11-20", "nearest_date 2022-11-20", "nearest_date 2023-05-20", "undated "}},
		{"with_a_lock_file", dynamicProject + lock, true, []string{"date 2022-04-01", "date 2022-05-21", "lock_file 2022-08-20", "nearest_date 2022-06-20", "nearest_date 2022-02-20", "nearest_date 2022-08-20", "nearest_date 2021-11-20", "nearest_date 2022-11-20", "nearest_date 2023-05-20", "undated "}},
		{"not_pinned", dynamicProject, false, []string{"undated "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := projectOf(t, c.archive)
			p.PinToDate = c.pin
			s, err := Language{}.Resolve(p, inferred(t, p))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range planOf(t, s) {
				got = append(got, string(a.Pinning)+" "+a.Date)
				if dated := strings.Contains(strings.Join(a.Argv, " "), "--exclude-newer "+a.Date); dated != (a.Date != "") {
					t.Errorf("%s: %q", a.Pinning, a.Argv)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Back ends of a date before editable builds are taken from after it.
func TestBackendDates(t *testing.T) {
	t.Parallel()
	if got := strings.Join(datesBefore(day(t, "2021-01-01"), backends), " "); !strings.Contains(got, "--exclude-newer-package setuptools=2022-12-31") {
		t.Errorf("got %q", got)
	}
	if got := datesBefore(day(t, "2024-01-01"), backends); len(got) != 0 {
		t.Errorf("got %q", got)
	}
}

// The pytest that we ask for moves no other package of an old commit to a later date.
func TestPytestOfOldCommits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		date, line string
		want       bool
	}{
		{"2018-05-01", leastPytest, true},
		{"2018-05-01", "pytest==3.8.1", false},
		{"2021-05-01", leastPytest, false},
	} {
		p := lang.Project{Date: day(t, c.date), PinToDate: true}
		first := attempts(p, schemas.Recipe{Requirements: []string{".", c.line}}, "uv", false)[0]
		if first.Pinning != schemas.PinDate || slices.Contains(first.Argv, "pytest=2020-08-31") != c.want {
			t.Errorf("%s of %s: %s %q", c.line, c.date, first.Pinning, first.Argv)
		}
	}
}

func TestLockFileVersions(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		"uv.lock":     {"a==1"},
		"poetry.lock": {"a==1"},
		"pdm.lock":    {"a==1"},
		"other.lock":  nil,
	} {
		tr := treeOf(t, "-- "+file+" --\n[[package]]\nname = \"a\"\nversion = \"1\"\n[[package]]\nname = \"me\"\nversion = \"0\"\nsource = { editable = \".\" }\n")
		if diff := cmp.Diff(want, lockFileVersions(tr)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

// A static manifest is all that the resolver is shown; a dynamic one needs the tree.
func TestMetadata(t *testing.T) {
	t.Parallel()
	paths := func(archive string) []string {
		p := projectOf(t, archive)
		var out []string
		for _, f := range metadata(p.Solution, inferred(t, p)) {
			out = append(out, strings.TrimPrefix(f.Path, sandbox.TreePath+"/"))
		}
		return out
	}
	if diff := cmp.Diff([]string{"pyproject.toml", "setup.py", "tests/test_demo.py"}, paths(dynamicProject)); diff != "" {
		t.Errorf("dynamic (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"pyproject.toml"}, paths("date: 2024-01-01\n-- pyproject.toml --\n[project]\nname = \"x\"\nversion = \"1\"\n-- x.py --\n")); diff != "" {
		t.Errorf("static (-want +got):\n%s", diff)
	}
	if got := paths("date: 2024-01-01\n-- x.py --\n-- big.py --\n"); got != nil {
		t.Errorf("no project: %q", got)
	}
}

const answer = `# header
-e .
.
demo @ file:///testbed
iniconfig==2.0.0 \
    --hash=sha256:aa \
    --hash=sha256:bb
other @ https://example.com/x.whl \
    --hash=sha256:cc
pytest[x]==8.2.0 \
    --hash=sha256:dd
`

func TestLocked(t *testing.T) {
	t.Parallel()
	r := inferred(t, projectOf(t, dynamicProject))
	got, err := Language{}.Locked(r, map[string][]byte{lockOut: []byte(answer), noteOut: []byte(`{"pinning":"nearest_date","date":"2022-08-20"}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := "iniconfig==2.0.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\npytest[x]==8.2.0 \\\n    --hash=sha256:dd\n"
	if diff := cmp.Diff(want, got.Lock); diff != "" {
		t.Errorf("lock (-want +got):\n%s", diff)
	}
	if got.Pinning != schemas.PinNearest || got.PinDate != "2022-08-20" {
		t.Errorf("pinning %s %s", got.Pinning, got.PinDate)
	}
	s, err := Language{}.Setup(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got.Setup, s.Commands); diff != "" {
		t.Errorf("setup (-recipe +step):\n%s", diff)
	}
	for _, c := range s.Commands {
		if strings.Contains(strings.Join(c.Argv, " "), "2022") {
			t.Errorf("a date in the commands would split equal environments: %q", c.Argv)
		}
	}
	if s.Env["UV_EXCLUDE_NEWER"] < "2022-12-31" {
		t.Errorf("the lock's own back ends are newer than %s", s.Env["UV_EXCLUDE_NEWER"])
	}
}

func TestLockedRefusesNothing(t *testing.T) {
	t.Parallel()
	r := inferred(t, projectOf(t, dynamicProject))
	for name, files := range map[string]map[string][]byte{
		"no_lock": {noteOut: []byte(`{}`)}, "no_note": {lockOut: []byte(answer)}, "only_the_project": {lockOut: []byte(".\n"), noteOut: []byte(`{}`)},
	} {
		if _, err := (Language{}).Locked(r, files); err == nil {
			t.Errorf("%s was taken for a lock", name)
		}
	}
	if _, err := (Language{}).Setup(r); err == nil {
		t.Error("a recipe without a lock was set up")
	}
}

// TestFillTakesNamesAndDigestsOnly: a lock is what code of the project may have written.
func TestFillTakesNamesAndDigestsOnly(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("ab", 32)
	for _, c := range []struct{ name, lock, want string }{
		{"plain", "six==1.17.0 \\\n    --hash=sha256:" + sum + " \\\n    --hash=sha256:" + sum + "\n", "six==1.17.0 --hash=sha256:" + sum + " --hash=sha256:" + sum},
		{"extras_and_marker", "uvicorn[standard]==0.1 ; python_version < '3.9' --hash=sha256:" + sum, "uvicorn[standard]==0.1 --hash=sha256:" + sum},
		{"no_digest", "six==1.17.0", ""},
		{"short_digest", "six==1.17.0 --hash=sha256:abcd", ""},
		{"address", "evil @ https://example.org/evil.tar.gz --hash=sha256:" + sum, ""},
		{"path", "./evil --hash=sha256:" + sum, ""},
		{"editable", "-e . --hash=sha256:" + sum, ""},
		{"option", "--no-binary :all:\n--index-url https://evil.example\n-r other.txt\n--find-links=/testbed", ""},
		{"option_after", "six==1.17.0 --hash=sha256:" + sum + " --config-settings=x=y --no-binary=six", "six==1.17.0 --hash=sha256:" + sum},
		{"range", "six>=1 --hash=sha256:" + sum, ""},
		{"local", "six==1.0+local --hash=sha256:" + sum, "six==1.0+local --hash=sha256:" + sum},
		{"url_behind_the_version", "six==1.0@https://evil.example --hash=sha256:" + sum, ""},
	} {
		if got := strings.Join(entries(c.lock), "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	r := schemas.Recipe{Toolchain: schemas.Toolchain{Name: "python", Version: "3.12.1"}, Tools: []schemas.Toolchain{{Name: UVName, Version: "1"}}, Lock: "six==1.17.0 --hash=sha256:" + sum + "\n./evil"}
	step, err := Language{}.Setup(r)
	if err != nil {
		t.Fatal(err)
	}
	argv := strings.Join(step.Fill.Steps[0].Argv, " ")
	for _, word := range []string{" --no-build ", " --no-deps ", " --require-hashes "} {
		if !strings.Contains(argv, word) {
			t.Errorf("the fill lacks%s: %s", word, argv)
		}
	}
	for _, f := range step.Fill.Files {
		if strings.Contains(string(f.Data), "evil") {
			t.Errorf("a fill has %s", f.Data)
		}
	}
	if resolve, err := (Language{}).Resolve(projectOf(t, dynamicProject), inferred(t, projectOf(t, dynamicProject))); err != nil || resolve.Fill != nil {
		t.Errorf("resolving fills: %v, %v", resolve, err)
	}
}

func TestQuarter(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{"2024-01-01": "2024-01-01", "2024-03-31": "2024-01-01", "2024-05-15": "2024-04-01", "2023-12-31": "2023-10-01"} {
		if got := quarter(day(t, in)).Format(dateOnly); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// The script by which uv compiles packages needs Python 3.7: an older one got no
// environment.
func TestSetupCompiles(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{"3.6.15": false, "2.7.18": false, "3.7.0": true, "3.12.4": true} {
		r := schemas.Recipe{Toolchain: schemas.Toolchain{Name: Name, Version: version}}
		if got := slices.Contains(setupCommands(r, "uv")[1].Argv, "--compile-bytecode"); got != want {
			t.Errorf("%s: %t", version, got)
		}
	}
}
