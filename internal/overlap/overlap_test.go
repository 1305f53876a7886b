package overlap_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/overlap"
	"github.com/benchmint/benchmint/internal/tree"
)

const (
	before = `package slug

func Make(s string) string {
	return s
}

func Keep(a, b int) int {
	return a + b
}
`
	solution = `package slug

func Make(s string) string {
	out := ""
	for _, r := range s {
		if r == ' ' {
			r = '-'
		}
		out += string(r)
	}
	return out
}

func Keep(a, b int) int {
	return a + b
}

func Last() int { return 7 }
`
)

// TestOf: the solution has all of its own phrases and nothing done has none, in each form that functions come in.
func TestOf(t *testing.T) {
	t.Parallel()
	half := strings.Replace(solution, "out += string(r)", "if true { panic(r) }", 1)
	for name, c := range map[string]struct {
		path, base, gold, answer string
		want                     string
	}{
		"gold":            {"a.go", before, solution, solution, "Last 4 1.00, Make 39 1.00"},
		"nop":             {"a.go", before, solution, before, "Last 4 0.00, Make 39 0.00"},
		"other_layout":    {"a.go", before, solution, strings.ReplaceAll(solution, "\t", "  "), "Last 4 1.00, Make 39 1.00"},
		"half":            {"a.go", before, solution, half, "Last 4 1.00, Make 39 0.63"},
		"another_name":    {"a.go", before, solution, strings.ReplaceAll(solution, "Make", "Do"), "Last 4 1.00, Make 39 0.00"},
		"no_file":         {"a.go", "", solution, "", "Keep 6 0.00, Last 4 0.00, Make 39 0.00"},
		"broken":          {"a.go", before, solution, "package slug\nfunc Make(", "Last 4 0.00, Make 39 0.00"},
		"python":          {"a.py", "def f(x):\n    pass\n", "def f(x):\n    return x + 1\n\nclass C:\n    def g(self):\n        return 2\n", "class C:\n    def g(self):\n        return 2\n", "C.g 2 1.00, f 4 0.00"},
		"other_languages": {"a.txt", "", "x", "x", ""},
	} {
		of := func(text string) *tree.Tree {
			out, err := tree.New([]tree.Entry{{Path: c.path, Mode: tree.ModeFile, Data: []byte(text)}})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		var got []string
		for _, o := range overlap.Of(of(c.base), of(c.gold), of(c.answer), []string{c.path}, overlap.Words) {
			got = append(got, fmt.Sprintf("%s %d %.2f", o.Function, o.Words, o.Share))
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: %s, want %s", name, s, c.want)
		}
	}
}
