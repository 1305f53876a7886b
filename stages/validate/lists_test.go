package validate

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/parts"
	"github.com/benchmint/benchmint/schemas"
)

// TestLists: what a right answer in other words cannot pass is in no list.
func TestLists(t *testing.T) {
	t.Parallel()
	const tests = "import lib\n@parametrize('name', lib.names + ['given'])\ndef test_all(name): pass\n"
	start := newTree(t,
		"lib/__init__.py", "names = ['half']\n", "lib/old.py", "", "README.rst", "", "examples/one.py", "",
		"tests/test_all.py", tests, "tests/manual.rst", ">>> 1", "pkg/x.go", "package pkg\n", "pkg/x_test.go", "package pkg\n// \"a case\"\nt.Run(\"spelled out\")\n")
	solution := newTree(t,
		"lib/__init__.py", "names = ['half', 'thrice_of']\n", "lib/old.py", "", "README.rst", ">>> 2", "examples/one.py", "", "examples/two.py", "", "examples/data.cfg", "",
		"tests/test_all.py", tests, "tests/manual.rst", ">>> 1", "pkg/x.go", "package pkg\nvar Names = []string{\"other_thing\"}\n", "pkg/x_test.go", "package pkg\n// \"a case\"\nt.Run(\"spelled out\")\n")
	code := func(status, path string) schemas.PartFile {
		return schemas.PartFile{ChangedFile: schemas.ChangedFile{Status: status, Path: path}, Part: schemas.PartCode}
	}
	files := []schemas.PartFile{code("M", "lib/__init__.py"), code("M", "README.rst"), code("A", "examples/two.py"), code("A", "examples/data.cfg"), code("M", "pkg/x.go")}
	f2p := func(unit, name string, cause schemas.Cause, why string) schemas.TestVerdict {
		return schemas.TestVerdict{ID: unit + "::" + name, Unit: unit, Class: schemas.F2P, Cause: cause, Why: why}
	}
	of := func(unit string, class schemas.Class) schemas.TestVerdict {
		return schemas.TestVerdict{ID: unit + "::x", Unit: unit, Class: class}
	}
	const py, pkg = "tests/test_all.py", "example.org/lib/pkg"
	const missing = "tests/test_all.py:3: FileNotFoundError: [Errno 2] No such file or directory: '/testbed/examples/data.cfg'"
	for name, tc := range map[string]struct {
		test      schemas.TestVerdict
		statement string
		failed    bool // the parent, at the start
		masked    bool
		want      schemas.Class
		told      []string
	}{
		"doctest_of_the_solution":      {test: of("lib/__init__.py", schemas.F2P), want: schemas.SolutionFile},
		"doctest_of_other_code":        {test: of("lib/old.py", schemas.P2P), want: schemas.SolutionFile},
		"doctest_of_a_library":         {test: of("lib/old.py", schemas.F2P), masked: true, want: schemas.SolutionFile},
		"broken_doctest_of_a_document": {test: of("README.rst", schemas.Regression), want: schemas.SolutionFile},
		"doctest_of_the_tests":         {test: of("tests/manual.rst", schemas.P2P)},
		"flaky_stays_flaky":            {test: of("README.rst", schemas.Quarantined)},
		"package":                      {test: of(pkg, schemas.P2P)},

		"needs_a_file":         {test: f2p(py, "test_all", schemas.CauseFails, missing), want: schemas.SolutionFile},
		"needs_a_file_told":    {test: f2p(py, "test_all", schemas.CauseFails, missing), statement: "Add data.cfg.", told: []string{"data.cfg"}},
		"fails_of_itself":      {test: f2p(py, "test_all", schemas.CauseFails, "examples/data.cfg is wrong")},
		"another_file_is_gone": {test: f2p(py, "test_all", schemas.CauseFails, "No such file or directory: 'other.cfg'")},

		"named_by_the_solution":     {test: f2p(py, "test_all[thrice_of]", schemas.CauseNew, ""), want: schemas.SolutionName},
		"named_and_told":            {test: f2p(py, "test_all[thrice_of]", schemas.CauseNew, ""), statement: "Offer `thrice_of`.", told: []string{"thrice_of"}},
		"counted_by_the_solution":   {test: f2p(py, "test_all[2]", schemas.CauseNew, ""), statement: "Add 2.", want: schemas.SolutionName},
		"named_for_a_file":          {test: f2p(py, "test_all[two.py]", schemas.CauseNew, ""), want: schemas.SolutionName},
		"spelled_by_the_tests":      {test: f2p(py, "test_all[given]", schemas.CauseNew, "")},
		"function_of_the_tests":     {test: f2p(py, "Class::test_all", schemas.CauseNew, "")},
		"function_of_the_solution":  {test: f2p(py, "Class::test_thrice", schemas.CauseNew, ""), want: schemas.SolutionName},
		"made_while_it_fails":       {test: f2p(py, "test_all[thrice_of]", schemas.CauseFails, "assert")},
		"not_loaded_and_named":      {test: f2p(py, "test_all[x-thrice_of]", schemas.CauseLoadNew, ""), want: schemas.SolutionName},
		"not_loaded_and_for_a_file": {test: f2p(py, "test_all[two.py]", schemas.CauseLoad, ""), want: schemas.SolutionName},
		"not_loaded":                {test: f2p(py, "test_all[x-3]", schemas.CauseLoadNew, "")},
		"of_a_library":              {test: f2p(py, "test_all[thrice_of]", schemas.CauseNew, ""), masked: true},

		"subtest_of_a_table_of_the_solution": {test: f2p(pkg, "TestAll/seven", schemas.CauseNew, ""), want: schemas.SolutionName},
		"subtest_not_reached":                {test: f2p(pkg, "TestAll/seven", schemas.CauseNew, ""), failed: true},
		"subtest_not_reached_and_named":      {test: f2p(pkg, "TestAll/other_thing", schemas.CauseNew, ""), failed: true, want: schemas.SolutionName},
		"subtest_under_a_condition":          {test: f2p(pkg, "TestAll/spelled_out", schemas.CauseNew, "")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLists(task{})
			l.rules = parts.New[parts.Language](python.Language{}, golang.Language{})
			l.s, l.g, l.start, l.statement = start, solution, schemas.Start{Files: files}, tc.statement
			if tc.masked {
				l.start.Masked = &schemas.Masked{}
			}
			if got := l.class(tc.test, !tc.failed); got != tc.want {
				t.Errorf("class %q, want %q", got, tc.want)
			}
			if diff := cmp.Diff(tc.told, l.statedWords([]schemas.TestVerdict{tc.test})); diff != "" {
				t.Errorf("told (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNameParts(t *testing.T) {
	t.Parallel()
	for id, want := range map[string][2]string{
		"tests/x.py::test_a":                   {"test_a", ""},
		"tests/x.py::Class::test_a[b::c/d-[]]": {"test_a", "b::c/d-[]"},
		"example.org/x::TestA/b::c[1]":         {"TestA", "b::c[1"},
		"README.rst::README.rst":               {"README.rst", ""},
		"odd":                                  {"", ""},
	} {
		if fixed, made := nameParts(id); [2]string{fixed, made} != want {
			t.Errorf("nameParts(%q) = %q, %q, want %q", id, fixed, made, want)
		}
	}
}
