package python

import (
	"slices"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

const repairProject = `
date: 2023-06-01
tag: v1.2 4
-- pyproject.toml --
[build-system]
requires = ["setuptools"]
[project]
name = "demo"
version = "1"
requires-python = ">=3.8"
[project.optional-dependencies]
fast = ["numpy>=1.20"]
[dependency-groups]
test = ["pytest"]
dev = ["pytest-mock==3.1"]
-- setup.py --
-- demo/__init__.py --
-- demo/fast.pyx --
-- manage.py --
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "demo.settings")
-- tests/test_demo.py --
def test_demo(): ...
`

func TestRepair(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, log, rule, edit string
	}{
		{"pkg_resources", "E   ModuleNotFoundError: No module named 'pkg_resources'", "pkg_resources_missing", "requirements += setuptools<70"},
		{"imp", "ImportError: No module named 'imp'", "imp_missing", "requirements += pytest>=7"},
		{"editable", "AttributeError: '_BuildMetaLegacyBackend' object has no attribute 'build_editable'", "build_editable_missing", "build = setup.py develop"},
		{"module_of_an_extra", "E   ModuleNotFoundError: No module named 'numpy.linalg'", "missing_module", "requirements: .[fast]"},
		{"module_of_a_table", "ModuleNotFoundError: No module named 'yaml'", "missing_module", "requirements += pyyaml"},
		{"own_line_for_a_plugin", "fixture 'mocker' not found", "unknown_fixture", "requirements += pytest-mock==3.1"},
		{"plugin_of_an_option", "pytest: error: unrecognized arguments: --asyncio-mode=auto --x", "unknown_option", "requirements += pytest-asyncio"},
		{"required_plugins", "ERROR: Missing required plugins: pytest-xdist>=1, pytest-cov", "missing_plugins", "requirements += pytest-xdist>=1; requirements += pytest-cov"},
		{"async", "async def functions are not natively supported.", "async_plugin", "requirements += pytest-asyncio"},
		{"header", "x.c:3:10: fatal error: ffi.h: No such file or directory", "missing_header", "system_packages += libffi-dev"},
		{"library", "ImportError: libGL.so.1: cannot open shared object file: No such file", "missing_library", "system_packages += libgl1"},
		{"program", "FileNotFoundError: [Errno 2] No such file or directory: 'less'", "missing_program", "system_packages += less"},
		{"program_of_a_shell", "/bin/sh: 1: gcc: not found", "missing_program", "system_packages += build-essential"},
		{"pg_config", "Error: pg_config executable not found.", "missing_program", "system_packages += libpq-dev"},
		{"locale", "locale.Error: unsupported locale setting", "missing_locale", "system_packages += locales-all"},
		{"older_python", "AttributeError: module 'pkgutil' has no attribute 'ImpImporter'", "interpreter_too_new", "toolchain = python 3.10.13"},
		{"older_python_of_numpy", "ModuleNotFoundError: No module named 'distutils.msvccompiler'", "interpreter_too_new", "toolchain = python 3.10.13"},
		{"no_wheel", "  × Failed to build `pandas==0.25.0`\n  ├─▶ The build backend returned an error", "no_wheel", "toolchain = python 3.10.13"},
		{"no_wheel_for_want_of_a_header", "  × Failed to build `cffi==1.14.0`\n c/_cffi_backend.c:15:10: fatal error: ffi.h: No such file", "missing_header", "system_packages += libffi-dev"},
		{"scm", "LookupError: setuptools-scm was unable to detect version for /testbed", "version_from_tags", "version = 1.3.dev4"},
		{"unknown_distribution", "Because pytest-private was not found in the package registry and you require pytest", "", ""},
		{"dependencies", "ImportError: cannot import name 'x' from 'werkzeug.http' (/opt/env/venv/lib/python3.11/site-packages/werkzeug/http.py)", "dependencies_disagree", "date = 2023-02-01"},
		{"own_import", "ImportError: cannot import name 'x' from 'demo' (/testbed/demo/__init__.py)", "", ""},
		{"told_to_install", "ImportError: \"redis\" python module not found. Run \"pip install redis\" to install.", "told_to_install", "requirements += redis"},
		{"told_by_no_exception", "try: pip install some-private-thing", "", ""},
		{"built_with_2to3", "  error in fudge setup command: use_2to3 is invalid.", "built_with_2to3", "requirements += -b setuptools<58"},
		{"curl_config", "ConfigurationError: Could not run curl-config: [Errno 2] No such file or directory: 'curl-config': 'curl-config'", "missing_program", "system_packages += libcurl4-openssl-dev libssl-dev"},
		{"cython", "cc1: fatal error: demo/fast.c: No such file or directory", "missing_translation", "requirements += cython"},
		{"c_of_nobody", "cc1: fatal error: demo/slow.c: No such file or directory", "", ""},
		{"submodule_of_a_dependency", "ModuleNotFoundError: No module named 'pytest.posix'", "missing_submodule", "date = 2023-02-01"},
		{"features", "ImportError: cannot import name 'Feature'", "built_with_features", "requirements += -b setuptools<46"},
		{"django", "ImproperlyConfigured: Requested setting X, but settings are not configured. You must either define the environment variable DJANGO_SETTINGS_MODULE or call settings.configure()", "django_settings", "variables += DJANGO_SETTINGS_MODULE=demo.settings; requirements += pytest-django"},
		{"colours", "\x1b[31mE   ModuleNotFoundError: No module named \x1b[0m'yaml'", "missing_module", "requirements += pyyaml"},
		{"module_of_the_standard_library", "No module named 'tkinter'", "", ""},
		{"module_of_the_project", "No module named 'demo.new'", "", ""},
		{"module_that_nobody_knows", "No module named 'some_private_thing'", "", ""},
		{"nothing", "1 failed in 0.1s", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := projectOf(t, repairProject)
			r := inferred(t, p)
			r.Lock = "pytest==7"
			got, ok := Language{}.Repair(p, r, []byte("noise\n"+c.log+"\nnoise"))
			if ok != (c.rule != "") {
				t.Fatalf("repaired %v by %+v", ok, got.Repairs)
			}
			if !ok {
				return
			}
			last := got.Repairs[len(got.Repairs)-1]
			if last.Rule != c.rule || last.Edit != c.edit || last.Symptom == "" || strings.Contains(last.Symptom, "noise") {
				t.Errorf("got %+v", last)
			}
			changed := !slices.Equal(r.Requirements, got.Requirements) || r.Toolchain != got.Toolchain || r.PinDate != got.PinDate
			if changed != (got.Lock == "") {
				t.Errorf("lock %q after requirements changed: %v", got.Lock, changed)
			}
		})
	}
}

// A repair is never made twice, and the failed recipe is left as it was.
func TestRepairIsBounded(t *testing.T) {
	t.Parallel()
	p := projectOf(t, repairProject)
	r := inferred(t, p)
	before := strings.Join(r.Requirements, "|")
	log := []byte("No module named 'yaml'\nNo module named 'numpy'\nNo module named 'pkg_resources'\nfatal error: ffi.h: No such file\nFailed to build demo @ file:///testbed\n")
	var rules []string
	for range 20 {
		next, ok := Language{}.Repair(p, r, log)
		if !ok {
			break
		}
		rules = append(rules, next.Repairs[len(next.Repairs)-1].Edit)
		r = next
	}
	want := []string{"requirements += setuptools<70", "requirements += pyyaml", "requirements: .[fast]", "system_packages += libffi-dev", "build = path file, without metadata"}
	if strings.Join(rules, "|") != strings.Join(want, "|") {
		t.Errorf("got %q", rules)
	}
	if first := inferred(t, p); strings.Join(first.Requirements, "|") != before {
		t.Error("a repair changed the recipe that it was given")
	}
}

// Requirements whose bounds are old are resolved as of then.
func TestRepairByAge(t *testing.T) {
	t.Parallel()
	p := projectOf(t, repairProject)
	r := inferred(t, p)
	r.Requirements = append(r.Requirements, "flask>=1.1,<2", "werkzeug>=0.15,<0.16")
	got, ok := Language{}.Repair(p, r, []byte("ImportError: cannot import name 'x' from 'sqlalchemy.sql' ("+venvPath+"/lib/python3.11/site-packages/sqlalchemy/sql.py)"))
	if !ok || got.PinDate != "2019-12-31" || got.Pinning != schemas.PinNearest || minor(got.Toolchain.Version) != "3.8" {
		t.Errorf("ok %v, %s %s, Python %s", ok, got.Pinning, got.PinDate, got.Toolchain.Version)
	}
}

func TestRepairDropsWhatNoRegistryHas(t *testing.T) {
	t.Parallel()
	p := projectOf(t, repairProject)
	r := inferred(t, p)
	r.Requirements = append(r.Requirements, "private-thing>=1")
	got, ok := Language{}.Repair(p, r, []byte("Because private-thing was not found in the package registry and you require private-thing>=1"))
	if !ok || slices.Contains(got.Requirements, "private-thing>=1") {
		t.Errorf("ok %v, %q", ok, got.Requirements)
	}
	if _, ok := (Language{}).Repair(p, r, []byte("Because there is no version of setuptools==65.6.3 and you require setuptools==65.6.3")); ok {
		t.Error("a pinned version that is out of reach is no missing distribution")
	}
}

// What is no version of PEP 440 (pytz>dev) is left out, and its name stays.
func TestRepairOfAVersionOfNoForm(t *testing.T) {
	t.Parallel()
	p := projectOf(t, repairProject)
	r := inferred(t, p)
	r.Requirements = append(r.Requirements, "pytz>dev")
	got, ok := Language{}.Repair(p, r, []byte("error: Couldn't parse requirement in `/home/tester/resolve/requirements.in` at position 107\n  cause: expected version to start with a number, but no leading ASCII digits were found\n         pytz>dev\n             ^^^^\n"))
	if !ok || slices.Contains(got.Requirements, "pytz>dev") || !slices.Contains(got.Requirements, "pytz") {
		t.Errorf("ok %v, %q", ok, got.Requirements)
	}
}

func TestRepairOfASuiteOfNothing(t *testing.T) {
	t.Parallel()
	p := projectOf(t, repairProject)
	r := inferred(t, p)
	r.Test = []schemas.Command{{Argv: []string{"pytest", "-o", unittestFiles}}}
	got, ok := Language{}.Repair(p, r, []byte("rootdir: /testbed\ncollected 0 items\n\n== no tests ran in 0.04s ==\n"))
	if !ok || got.Test[0].Argv[2] != "python_files=test*.py *_test.py" || r.Test[0].Argv[2] != unittestFiles {
		t.Errorf("%v, %q of %q", ok, got.Test, r.Test)
	}
}

// A setuptools that is too new for the project itself is kept back in its environment, too.
func TestRepairOfTheBuildOfTheProject(t *testing.T) {
	t.Parallel()
	p := projectOf(t, repairProject)
	r := inferred(t, p)
	log := []byte("ImportError: cannot import name 'Feature' from 'setuptools' (/opt/env/venv/lib/python3.7/site-packages/setuptools/__init__.py)")
	for _, want := range []string{"-b setuptools<46", "setuptools<46"} {
		var ok bool
		if r, ok = (Language{}).Repair(p, r, log); !ok || !slices.Contains(r.Requirements, want) {
			t.Errorf("no %q in %q", want, r.Requirements)
		}
	}
}

// A build constraint is for what packages are built with, in the lock and in the environment.
func TestBuildConstraint(t *testing.T) {
	t.Parallel()
	p := projectOf(t, repairProject)
	r := inferred(t, p)
	r.Requirements, r.Lock = append(r.Requirements, "-b setuptools<58"), "pytest==7"
	step, err := Language{}.Resolve(p, r)
	if err != nil {
		t.Fatal(err)
	}
	setup, err := Language{}.Setup(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{planOf(t, step)[0].Argv, setup.Commands[1].Argv} {
		if at := slices.Index(argv, "--build-constraints"); at < 0 || argv[at+1] != builtWithPath {
			t.Errorf("%q", argv)
		}
	}
	for _, files := range [][]sandbox.File{step.Files, setup.Files} {
		held := map[string]bool{}
		for _, f := range files {
			held[f.Path] = strings.Contains(string(f.Data), "setuptools<58")
		}
		if !held[builtWithPath] || held[resolveDir+"/requirements.in"] {
			t.Errorf("%v", held)
		}
	}
}

func TestFailureTableNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range failureTable {
		if seen[r.name] || r.name == "" {
			t.Errorf("rule %q stands twice or has no name", r.name)
		}
		seen[r.name] = true
	}
}
