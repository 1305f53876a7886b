package golang

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
)

// touchedOf asks about tests of example.com/m; edits are "old → new" in the files.
func touchedOf(t *testing.T, base memory, edits map[string][2]string, names []string) []string {
	t.Helper()
	start := memory{}
	for p, text := range base {
		start[p] = text
	}
	var changed []string
	for p, e := range edits {
		if e[0] == "" {
			start[p] = e[1]
		} else {
			start[p] = replaceOnce(t, start[p], e[0], e[1])
		}
		changed = append(changed, p)
	}
	slices.Sort(changed)
	untouched := Language{}.Untouched(base, start, changed)
	var out []string
	for _, name := range names {
		if !untouched(lang.Test{ID: TestID("example.com/m", name), Unit: "example.com/m"}) {
			out = append(out, name)
		}
	}
	return out
}

const methodsTest = `package m

import (
	"bytes"
	"fmt"
	"testing"

	"example.org/far/v2"
)

type shape struct{ n int }

func (s shape) String() string { return "shape" }

func (s *shape) Set(n int) { s.n = n }

type round struct{ shape }

type other struct{}

func (other) String() string { return "other" }

type pair[T any] struct{ a, b T }

func (p pair[T]) First() T { return p.a }

func newShape() *shape { return &shape{} }

func shown(s fmt.Stringer) string { return s.String() }

type namer interface{ String() string }

func named(n namer) {}

func each[T any](list []T, do func(T)) {}

func TestOther(t *testing.T) { _ = other{}.String() }

func TestBuffer(t *testing.T) {
	var b bytes.Buffer
	_ = b.String()
	missing().String()
}

func TestCalled(t *testing.T) { _ = newShape().String() }

func TestField(t *testing.T) { newShape().n++ }

func TestPromoted(t *testing.T) { _ = round{}.String() }

func TestValue(t *testing.T) { f := newShape().String; _ = f }

func TestExpression(t *testing.T) { f := shape.String; _ = f }

func TestInterface(t *testing.T) { _ = shown(newShape()) }

func TestOwnInterface(t *testing.T) { named(newShape()) }

func TestAssigned(t *testing.T) {
	var s fmt.Stringer
	s = newShape()
	_ = s
}

func TestInside(t *testing.T) { t.Log([]round{{}}) }

func TestFar(t *testing.T) { far.Register(map[string]shape{}) }

func TestFarType(t *testing.T) { _ = far.Box{S: shape{}} }

func TestFarInstance(t *testing.T) { far.Of[shape]().Do() }

func TestUnknown(t *testing.T) {
	x := far.Get(1)
	x.String()
	var s shape
	s.n = 1
}

func TestGeneric(t *testing.T) { _ = pair[int]{}.First() }

func TestGenericOther(t *testing.T) { _ = pair[int]{}.a }

func TestInstance(t *testing.T) { each([]shape{}, nil) }

func TestReturned(t *testing.T) {
	f := func() fmt.Stringer { return shape{} }
	_ = f
}
`

func TestUntouchedMethods(t *testing.T) {
	t.Parallel()
	base := memory{"go.mod": "module example.com/m\n", "m.go": "package m\n", "m_test.go": methodsTest}
	var all []string
	for _, line := range strings.Split(methodsTest, "\n") {
		if rest, ok := strings.CutPrefix(line, "func Test"); ok {
			all = append(all, "Test"+rest[:strings.IndexByte(rest, '(')])
		}
	}
	called := []string{
		"TestCalled", "TestPromoted", "TestValue", "TestExpression", "TestInterface", "TestOwnInterface", "TestAssigned", "TestInside",
		"TestFar", "TestFarType", "TestFarInstance", "TestUnknown", "TestInstance", "TestReturned",
	}
	// Whoever may call all methods of a value may call Set.
	left := []string{"TestInterface", "TestOwnInterface", "TestAssigned", "TestInside", "TestFar", "TestFarType", "TestFarInstance", "TestInstance", "TestReturned"}
	for _, c := range []struct {
		name, old, new string
		want           []string
	}{
		{"string", `return "shape"`, `return "form"`, called},
		{"set", "{ s.n = n }", "{ s.n += n }", left},
		{"other", `return "other"`, `return "else"`, []string{"TestOther"}},
		{"generic", "{ return p.a }", "{ return p.b }", []string{"TestGeneric"}},
		{"a_method_more", "type round", "func (s shape) More() {}\n\ntype round", left},
		{"assertion", "type round", "var _ fmt.Stringer = (*shape)(nil)\n\nvar _ far.I = far.I(nil)\n\ntype round", nil},
		{"comment", "func newShape", "// newShape is new.\nfunc newShape", nil},
		{"directive", "func newShape", "//go:noinline\nfunc newShape", []string{"TestCalled", "TestField", "TestValue", "TestInterface", "TestOwnInterface", "TestAssigned"}},
		{"layout", "{ newShape().n++ }", "{\n\n\tnewShape().n++ // one more\n}", nil},
		{"import", `"example.org/far/v2"`, `"example.org/far/v3"`, []string{"TestFar", "TestFarType", "TestFarInstance", "TestUnknown"}},
		{"named_variable", "type round", "var table = make([]int, 1)\n\ntype round", nil},
		{"nameless_variable", "type round", "var _ = register()\n\ntype round", all},
		{"init", "type round", "func init() { register() }\n\ntype round", all},
	} {
		if diff := cmp.Diff(c.want, touchedOf(t, base, map[string][2]string{"m_test.go": {c.old, c.new}}, all)); diff != "" {
			t.Errorf("%s: touched (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestUntouchedPackages(t *testing.T) {
	t.Parallel()
	base := memory{
		"go.mod":              "module example.com/m\n",
		"a.go":                "package m\n\ntype Real struct{}\n\nfunc (Real) Close() {}\n\nvar moved = 1\n",
		"export_test.go":      "package m\n\nfunc Opened() int { return 1 }\n\nfunc (r Real) Hook() {}\n",
		"m_windows_test.go":   "package m\n\nfunc TestHere(t *testing.T) { panic(1) }\n",
		"a_test.go":           "package m\n\nimport \"testing\"\n\nvar _ = Flag(\"a\")\n\nvar level = Flag(\"b\")\n\nconst (\n\tone = iota\n\ttwo\n)\n\nfunc TestHere(t *testing.T) { (Real{}).Close() }\n\nfunc TestTwo(t *testing.T) { _ = two }\n\nfunc TestMoved(t *testing.T) { _ = moved }\n",
		"x_test.go":           "package m_test\n\nimport (\n\t\"testing\"\n\n\t. \"example.com/m\"\n\t\"example.com/m/internal/kit\"\n)\n\nfunc TestOpened(t *testing.T) { _ = Opened() }\n\nfunc TestHook(t *testing.T) { Real{}.Hook() }\n\nfunc TestKit(t *testing.T) { kit.New().Run() }\n\nfunc ExampleOpened() {\n\tOpened()\n\t// Output: 1\n}\n\nfunc FuzzHere(f *testing.F) {}\n",
		"internal/kit/kit.go": "package kit\n\nimport \"example.com/m/internal/deep\"\n\nfunc New() *deep.Runner { return deep.New() }\n",
		"internal/deep/d.go":  "package deep\n\ntype Runner struct{}\n\nfunc New() *Runner { return nil }\n\nfunc (*Runner) Run() {}\n\nfunc (*Runner) Stop() {}\n",
	}
	all := []string{"TestHere", "TestTwo", "TestMoved", "TestOpened", "TestHook", "TestKit", "ExampleOpened", "FuzzHere"}
	for _, c := range []struct {
		name  string
		edits map[string][2]string
		want  []string
	}{
		{"opened_for_an_external_test", map[string][2]string{"export_test.go": {"return 1", "return 2"}}, []string{"TestOpened", "ExampleOpened"}},
		{"a_method_that_a_test_file_adds", map[string][2]string{"export_test.go": {"Hook() {}", "Hook() { panic(1) }"}}, []string{"TestHook"}},
		{"behind_an_unchanged_package", map[string][2]string{"internal/deep/d.go": {"Run() {}", "Run() { panic(1) }"}}, []string{"TestKit"}},
		{"beside_what_is_called", map[string][2]string{"internal/deep/d.go": {"Stop() {}", "Stop() { panic(1) }"}}, nil},
		{"init_of_a_helper_package", map[string][2]string{"internal/deep/d.go": {"func New", "func init() { panic(1) }\n\nfunc New"}}, all},
		{"another_platform", map[string][2]string{"m_windows_test.go": {"panic(1)", "panic(2)"}}, nil},
		{"place_in_a_group", map[string][2]string{"a_test.go": {"one = iota\n", "zero = iota\n\tone\n"}}, []string{"TestTwo"}},
		{"behind_in_a_group", map[string][2]string{"a_test.go": {"\ttwo\n", "\ttwo\n\tthree\n"}}, nil},
		{"a_variable_loses_its_name", map[string][2]string{"a_test.go": {"level = ", "_ = "}}, nil},
		{"moved_to_the_tests", map[string][2]string{"a_test.go": {"const (", "var moved = 2\n\nconst ("}}, []string{"TestMoved"}},
		{"output_of_an_example", map[string][2]string{"x_test.go": {"Output: 1", "Output: 2"}}, []string{"ExampleOpened"}},
		{"test_main", map[string][2]string{"x_test.go": {"func TestOpened", "func TestMain(m *testing.M) {}\n\nfunc TestOpened"}}, all},
		{"does_not_parse", map[string][2]string{"b_test.go": {"", "package m\n\nfunc TestB(t *testing.T) {"}}, nil},
		{"a_seed", map[string][2]string{"testdata/fuzz/FuzzHere/1": {"", "x"}}, []string{"FuzzHere"}},
	} {
		if diff := cmp.Diff(c.want, touchedOf(t, base, c.edits, all)); diff != "" {
			t.Errorf("%s: touched (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestUntouchedData(t *testing.T) {
	t.Parallel()
	base := memory{
		"go.mod": "module example.com/m\n",
		"m_test.go": "package m\n\nimport (\n\t_ \"embed\"\n\t\"testing\"\n)\n\n//go:embed testdata/page.html\nvar page string\n\n" +
			"func TestNamed(t *testing.T) { open(\"testdata\", \"in.json\") }\n\nfunc TestAll(t *testing.T) { glob(\"testdata/cases/*.txt\") }\n\n" +
			"func TestPage(t *testing.T) { _ = page }\n\nfunc TestGolden(t *testing.T) { golden(t, \"short_form\") }\n\nfunc TestNone(t *testing.T) {}\n",
		"testdata/in.json": "1", "testdata/page.html": "1", "testdata/short_form.golden": "1", "testdata/cases/a.txt": "1", "testdata/cases/b.txt": "1",
		"testdata/TestNone/sub.golden": "1",
	}
	all := []string{"TestNamed", "TestAll", "TestAll/a", "TestAll/b.txt", "TestAll/made", "TestPage", "TestGolden", "TestNone", "TestNone/sub", "TestNone/else"}
	for p, want := range map[string][]string{
		"testdata/in.json":             {"TestNamed"},
		"testdata/page.html":           {"TestPage"},
		"testdata/short_form.golden":   {"TestGolden"},
		"testdata/cases/a.txt":         {"TestAll", "TestAll/a", "TestAll/made"},
		"testdata/cases/b.txt":         {"TestAll", "TestAll/b.txt", "TestAll/made"},
		"testdata/TestNone/sub.golden": {"TestNone", "TestNone/sub"},
	} {
		if diff := cmp.Diff(want, touchedOf(t, base, map[string][2]string{p: {"1", "2"}}, all)); diff != "" {
			t.Errorf("%s: touched (-want +got):\n%s", p, diff)
		}
	}
}
