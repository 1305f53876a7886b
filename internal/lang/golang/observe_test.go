package golang

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/schemas"
)

// TestObserved reads what go test says of programs that do not start, and what was covered.
func TestObserved(t *testing.T) {
	t.Parallel()
	report := "ok  \texample.com/w\t0.005s\tcoverage: 4.0% of statements in ./...\n" +
		"?   \texample.com/w/none\t[no test files]\n" +
		"panic: masked: New [recovered]\n\ngoroutine 1 [running]:\nexample.com/w/in.New(...)\n\t/testbed/in/in.go:5\nmain.main()\n\t/testbed/main.go:9 +0x1d\nFAIL\texample.com/w/in\t0.006s\n" +
		"panic: test timed out after 2m0s\nFAIL\texample.com/w/slow\t120.0s\n" +
		"FAIL\texample.com/w/bad [build failed]\nFAIL\n" +
		"\n\x00\nexample.com/w/in/in.go:4.20,6.2 1 1\nexample.com/other/x.go:1.2,3.4 1 1\nexample.com/w/in/in.go:9.20,9.30 1 0\n"
	tree := memory{"go.mod": "module example.com/w\n\ngo 1.21\n", "in/in.go": "package in\n"}
	got := Language{}.Observed([]lang.Output{{Report: []byte(report), Tree: tree}})
	want := mask.Load{
		Units: 4, Ran: []mask.Seen{{Path: "in/in.go", Line: 4}},
		Failed: []mask.NotLoaded{
			{Unit: "example.com/w/in", Message: "masked: New", Path: "in/in.go"},
			{Unit: "example.com/w/slow", Message: "test timed out after 2m0s", Late: true},
			{Unit: "example.com/w/bad", Message: "it does not compile"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A package that does not compile hides nothing of what the others run.
func TestObserveRealGo(t *testing.T) {
	t.Parallel()
	m := memory{
		"go.mod": "module example.com/w\n\ngo 1.13\n",
		"a/a.go": "package a\n\nvar One = one()\n\nfunc one() int { return 1 }\n\nfunc two() int { return 2 }\n\nfunc Three() int { return 3 }\n", "a/a_test.go": "package a\n",
		"b/b.go": "package b\n\nimport \"example.com/w/a\"\n\nvar Two = two()\n\nfunc two() int { return a.One + 1 }\n", "b/b_test.go": "package b\n",
		"bad/bad.go": "package bad\n\nvar V int = \"x\"\n", "bad/bad_test.go": "package bad\n",
		"needs/needs.go": "package needs\n", "needs/needs_test.go": "package needs\n\nimport _ \"example.com/w/bad\"\n",
		"tests/a_test.go": "package tests\n\nimport \"example.com/w/a\"\n\nvar Three = a.Three()\n",
		"other/other.go":  "// +build no\n\npackage other\n", "syntax/syntax.go": "package syntax\n\nfunc (\n", "syntax/syntax_test.go": "package syntax\n",
		"c/c.go": "package c\n\nfunc c() int { return 1 }\n", "c/c_test.go": "package c\n\nvar V int = \"x\"\n",
	}
	want := mask.Load{
		Units: 7, Ran: []mask.Seen{{Path: "a/a.go", Line: 5}, {Path: "a/a.go", Line: 9}, {Path: "b/b.go", Line: 7}},
		Failed: []mask.NotLoaded{
			{Unit: "example.com/w/bad", Message: "it does not compile"},
			{Unit: "example.com/w/c", Message: "it does not compile"},
			{Unit: "example.com/w/needs", Message: "it does not compile"},
			{Unit: "example.com/w/syntax", Message: "it does not compile"},
		},
	}
	for _, minor := range []string{"local", "1.19", "1.13"} {
		t.Run(minor, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{"PATH": filepath.Dir(goAt(t, minor)) + ":" + os.Getenv("PATH")}
			for k, v := range offline {
				env[k] = v
			}
			p, r := newScratch(t, m), schemas.Recipe{Test: []schemas.Command{{Argv: []string{"go", "test", "./..."}, Env: env}}}
			run := Language{}.Observe(r, m)[0]
			out := filepath.Join(t.TempDir(), "out")
			run.Command.Argv[2] = out
			p.execute(t, run.Command, run.Inputs)
			report, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			got := Language{}.Observed([]lang.Output{{Report: report, Tree: m}})
			slices.SortFunc(got.Ran, func(a, b mask.Seen) int { return strings.Compare(a.Path, b.Path) })
			got.Ran = slices.Compact(got.Ran)
			slices.SortFunc(got.Failed, func(a, b mask.NotLoaded) int { return strings.Compare(a.Unit, b.Unit) })
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, report)
			}
		})
	}
}
