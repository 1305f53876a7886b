package golang_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/environment/environmenttest"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/golang"
	"github.com/benchmint/benchmint/schemas"
)

// TestNarrow: what a selection needs is compiled, and nothing where a build step is not our own.
func TestNarrow(t *testing.T) {
	t.Parallel()
	tree := environmenttest.Tree(t, map[string]string{
		"go.mod": "module example.com/kit\n\ngo 1.21\n", "kit.go": "package kit\n", "kit_test.go": "package kit\n",
		"sub/sub.go": "package sub\n", "sub/sub_test.go": "package sub\n",
		"own/go.mod": "module example.com/own\n\ngo 1.21\n", "own/own_test.go": "package own\n",
	})
	available := []lang.ToolchainRelease{{Name: "go", Version: "1.21.13", Released: environmenttest.Date()}}
	r, err := golang.Language{}.Infer(lang.Project{Name: "acme/kit", Base: tree, Solution: tree, Date: environmenttest.Date(), Available: available})
	if err != nil {
		t.Fatal(err)
	}
	foreign := r
	foreign.Build = append([]schemas.Command{{Argv: []string{"sh", "-c", `make "$@"`, "make", "-B", "generated"}}}, r.Build...)
	for _, tc := range []struct {
		name   string
		recipe schemas.Recipe
		sel    lang.Select
		want   []string // folder and packages of each step
		ok     bool
	}{
		{"a_package", r, lang.Select{Units: []string{"example.com/kit/sub"}}, []string{". ./sub"}, true},
		{"of_two_modules", r, lang.Select{Units: []string{"example.com/kit", "example.com/own"}}, []string{". .", "own ."}, true},
		{"by_path", r, lang.Select{Paths: []string{"sub/sub_test.go"}}, []string{". ./sub"}, true},
		{"the_suite", r, lang.Select{}, nil, false},
		{"other_steps", foreign, lang.Select{Units: []string{"example.com/kit/sub"}}, nil, false},
	} {
		steps, ok := golang.Language{}.Narrow(tc.recipe, tree, tc.sel)
		var got []string
		for _, s := range steps {
			got = append(got, strings.Join(append([]string{s.Argv[3]}, s.Argv[5:]...), " "))
		}
		if d := cmp.Diff(tc.want, got); d != "" || ok != tc.ok {
			t.Errorf("%s: %v (-want +got):\n%s", tc.name, ok, d)
		}
	}
}
