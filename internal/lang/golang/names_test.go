package golang

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
)

const suiteTest = `package m

import (
	"testing"

	"example.com/m/internal/kit"
)

var table = []int{1, 2}

type helper struct{ n int }

func (h helper) check(t *testing.T) {}

func newHelper() helper { return helper{} }

func TestPlain(t *testing.T) { t.Log("plain") }

func TestTable(t *testing.T) {
	for range table {
	}
}

func TestHelper(t *testing.T) { newHelper().check(t) }

func TestKit(t *testing.T) { kit.Open(t) }

type Suite struct{}

func (s *Suite) SetupTest() {}

func (s *Suite) TestOne() {}

func (s *Suite) TestTwo() {}

func TestSuite(t *testing.T) { run(t, new(Suite)) }
`

const kitSource = "package kit\n\nfunc Open(t any) { deep() }\n\nfunc deep() {}\n"

func TestUntouched(t *testing.T) {
	t.Parallel()
	const pkg = "example.com/m"
	base := memory{"go.mod": "module example.com/m\n", "m_test.go": suiteTest, "o_test.go": "package m\n\nfunc TestOther(t *testing.T) { newHelper() }\n", "internal/kit/kit.go": kitSource}
	all := []string{"TestPlain", "TestTable", "TestTable/sub", "TestHelper", "TestKit", "TestSuite/TestOne", "TestSuite/TestTwo", "TestOther"}
	for _, c := range []struct {
		name     string
		path     string
		old, new string
		touched  []string
	}{
		{"a_new_test", "m_test.go", "func TestPlain", "func TestNew(t *testing.T) {}\n\nfunc TestPlain", nil},
		{"its_own_body", "m_test.go", `"plain"`, `"other"`, []string{"TestPlain"}},
		{"a_table", "m_test.go", "{1, 2}", "{1, 2, 3}", []string{"TestTable", "TestTable/sub"}},
		{"a_method_of_a_helper", "m_test.go", "check(t *testing.T) {}", "check(t *testing.T) { t.Fail() }", []string{"TestHelper"}},
		{"a_helper_package", "internal/kit/kit.go", "func deep() {}", "func deep() { panic(1) }", []string{"TestKit"}},
		{"one_method_of_a_suite", "m_test.go", "TestOne() {}", "TestOne() { s.SetupTest() }", []string{"TestSuite/TestOne"}},
		{"the_setup_of_a_suite", "m_test.go", "SetupTest() {}", "SetupTest() { panic(1) }", []string{"TestSuite/TestOne", "TestSuite/TestTwo"}},
		{"a_test_main", "m_test.go", "func TestPlain", "func TestMain(m *testing.M) { m.Run() }\n\nfunc TestPlain", all},
		{"gone", "m_test.go", "func TestPlain(t *testing.T) { t.Log(\"plain\") }\n", "", []string{"TestPlain"}},
	} {
		start := memory{}
		for p, text := range base {
			start[p] = text
		}
		text := start[c.path]
		start[c.path] = replaceOnce(t, text, c.old, c.new)
		untouched := Language{}.Untouched(base, start, []string{c.path})
		var got []string
		for _, name := range all {
			if !untouched(lang.Test{ID: TestID(pkg, name), Unit: pkg}) {
				got = append(got, name)
			}
		}
		if diff := cmp.Diff(c.touched, got); diff != "" {
			t.Errorf("%s: touched (-want +got):\n%s", c.name, diff)
		}
	}
	if (Language{}).Untouched(base, base, nil)(lang.Test{ID: TestID(pkg, "TestNowhere"), Unit: pkg}) {
		t.Error("a test that is not there is untouched")
	}
}

func replaceOnce(t *testing.T, text, old, new string) string {
	t.Helper()
	for i := 0; i+len(old) <= len(text); i++ {
		if text[i:i+len(old)] == old {
			return text[:i] + new + text[i+len(old):]
		}
	}
	t.Fatalf("%q is not in the text", old)
	return ""
}

func TestNewNames(t *testing.T) {
	t.Parallel()
	base := memory{
		"go.mod": "module example.com/m\n",
		"m.go":   "package m\n\ntype Old struct{ Kept int }\n\nfunc Same() {}\n\nfunc Grown(a int) {}\n\nfunc (o *Old) Close() {}\n",
	}
	solution := memory{
		"go.mod": "module example.com/m\n",
		"m.go": "package m\n\n// Old is kept.\ntype Old struct {\n\tKept int\n\tLimit, unused int\n}\n\nfunc Same() {}\n\nfunc Grown(a, b int) {}\n\n" +
			"func (o *Old) Close() {}\n\nfunc (o *Old) Reset(hard bool) error { return nil }\n\nconst Max = 3\n\nvar hidden = 1\n\nfunc helperOnly() {}\n\ntype Doer interface{ Do(n int) error }\n\nfunc shadowed() {}\n",
		"sub/sub.go":       "package sub\n\nfunc Fresh() {}\n\nfunc Untested() {}\n",
		"export_test.go":   "package m\n\nvar Exported = hidden\n",
		"m_test.go":        "package m\n\nimport \"testing\"\n\nfunc TestM(t *testing.T) {\n\to := Old{Limit: 1}\n\to.Reset(true)\n\to.Close()\n\tGrown(1, 2)\n\tSame()\n\t_ = Max\n\tvar d Doer\n\td.Do(1)\n\tshadowed := 1\n\t_ = shadowed\n}\n",
		"external_test.go": "package m_test\n\nimport (\n\t\"example.com/m\"\n\t\"example.com/m/sub\"\n)\n\nfunc f() { sub.Fresh(); _ = m.Exported; _ = m.Made }\n\nfunc g() { m := m.Old{}; m.Hidden() }\n",
	}
	names := Language{}.NewNames(base, solution, []string{"m.go", "sub/sub.go"}, []string{"m_test.go", "external_test.go", "export_test.go"})
	var got []string
	for _, n := range names {
		got = append(got, fmt.Sprintf("%s %s %q %s", n.Kind, n.Name, n.Signature, n.Path))
	}
	want := []string{
		` Made "" `,
		`type Doer "type Doer interface" m.go`,
		`method Doer.Do "Do(n int) error" m.go`,
		`function Grown "func Grown(a, b int)" m.go`,
		`constant Max "const Max = 3" m.go`,
		`field Old.Limit "Limit int" m.go`,
		`method Old.Reset "func (o *Old) Reset(hard bool) error" m.go`,
		`variable hidden "var hidden = 1" m.go`,
		`module example.com/m/sub "" sub`,
		`function Fresh "func Fresh()" sub/sub.go`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}
