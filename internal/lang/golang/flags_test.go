package golang

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/workflow"
	"github.com/benchmint/benchmint/schemas"
)

// TestGoTests: of a line that the CI runs, the flags of each go test that a run keeps.
func TestGoTests(t *testing.T) {
	t.Parallel()
	m := memory{
		"Makefile": "GO ?= go\nTAGS ?= a,b\nFLAGS := -race \\\n  -tags $(TAGS)\n.PHONY: test\n\ntest: prepare\n\t@$(GO) test $(FLAGS) -short ./... # all\n" +
			"prepare:\n\techo $$HOME\n\n# go test -tags comment\nloop: loop\n\t$(MAKE) test TAGS=c\nshell:\n\tgo test -ldflags \"-X v=$(shell date)\" ./...\n",
		"ci/test.sh": "set -e\n# go test -tags no\nfor d in $(go list ./...); do\n  go test -tags script -coverprofile=x $d\ndone\n",
	}
	for line, want := range map[string]string{
		"go test ./...": "[]",
		"go test -v -race -tags integration ./...":                 "[-tags=integration]",
		"go test --tags='a b' -timeout 30s -short":                 "[-tags=a b -short]",
		"go vet -tags x ./... && go test ./...":                    "[]",
		"go test -run TestX -tags=x ./a; go test ./b":              "[-tags=x] []",
		"GOFLAGS='-tags=env' CGO_ENABLED=0 go test":                "[-tags=env]",
		"go test ./... -args -tags x -short":                       "[]",
		"go test -gcflags=all=-l -count 1 -cpu 1,2":                "[-gcflags=all=-l]",
		"go test -ldflags '-X m.V=1' -ldflags=-extldflags=-static": "[-ldflags=-X m.V=1]",
		"go test -tags $TAGS ./...":                                "[]",
		"gotestsum --format x -- -tags=sum ./...":                  "[-tags=sum]",
		"go run gotest.tools/gotestsum@v1 -- -short":               "[-short]",
		"make test":                     "[-tags=a,b -short]",
		"make -j test TAGS=own":         "[-tags=own -short]",
		"make":                          "[-tags=a,b -short]",
		"make loop":                     "[-tags=c -short]",
		"make shell":                    "[]",
		"make nothing":                  "",
		"make -C other test":            "",
		"./ci/test.sh":                  "[-tags=script]",
		"bash ci/test.sh -tags x":       "[-tags=script]",
		"echo 'go test' ; ./no/such.sh": "",
		"golangci-lint run --build-tags test ./...":     "",
		"sudo -E env \"PATH=$PATH\" go test -tags root": "[-tags=root]",
	} {
		var got []string
		for _, v := range goTests(m, []workflow.Word{{Value: line}}, "", mostCalls) {
			got = append(got, "["+strings.Join(v.words, " ")+"]")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %s, want %s", line, strings.Join(got, " "), want)
		}
	}
}

const taggedTest = "//go:build integration\n\npackage a\n\nimport (\n\t\"testing\"\n\n\t_ \"example.net/only\"\n)\n\nfunc TestWhole(t *testing.T) {}\n"

// TestCommandsOfCI: the call that compiles the changed tests is the recipe's, the others are
// its rivals; packages that only tagged files import are in the lock; runs know the tests of
// tagged files. Where no call compiles a changed test, the refusal names the tag.
func TestCommandsOfCI(t *testing.T) {
	t.Parallel()
	tree := func(lines ...string) memory {
		m := memory{
			"go.mod": "module example.com/m\n\ngo 1.21\n\nrequire example.net/only v1.0.0\n", "go.sum": "example.net/only v1.0.0 h1:x\n",
			"a.go": "package a\n", "a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestPlain(t *testing.T) {}\n", "whole_test.go": taggedTest,
			"w_windows_test.go": "package a\n",
		}
		m[".github/workflows/t.yml"] = "on: push\njobs:\n  test:\n    strategy:\n      matrix:\n        tags: ['-tags=m1', '-short']\n    steps:\n      - run: |\n          " + strings.Join(lines, "\n          ") + "\n"
		return m
	}
	for name, c := range map[string]struct {
		lines, changed []string
		test, rivals   string
		refused        string
	}{
		"plain_first":     {[]string{"go test -tags integration ./...", "go test -short ./..."}, []string{"a_test.go"}, "-short", "-tags=integration", ""},
		"as_the_changed":  {[]string{"go test -short ./...", "go test -tags integration,db ./..."}, []string{"whole_test.go", "a_test.go"}, "-tags=db,integration", "-short", ""},
		"each_once":       {[]string{"go test ./a", "go test ./b"}, nil, "", "", ""},
		"matrix":          {[]string{"go test ${{ matrix.tags }} ./..."}, nil, "-short", "-tags=m1", ""},
		"no_call":         {[]string{"go build ./..."}, nil, "", "", ""},
		"nobody_sets_it":  {[]string{"go test ./..."}, []string{"whole_test.go"}, "", "", "whole_test.go has the build constraint integration"},
		"another_system":  {[]string{"go test ./..."}, []string{"w_windows_test.go"}, "", "", "w_windows_test.go is for another system"},
		"data_may_tell":   {[]string{"go test ./..."}, []string{"whole_test.go", "testdata/x"}, "", "", ""},
		"another_file_is": {[]string{"go test ./..."}, []string{"whole_test.go", "a_test.go"}, "", "", ""},
	} {
		p := project(t, "2024-03-01", tree(c.lines...))
		p.TestPaths = c.changed
		r, err := Language{}.Infer(p)
		if c.refused != "" {
			var refusal *lang.Refusal
			if !errors.As(err, &refusal) || refusal.Reason != schemas.NoRecipe || !strings.Contains(refusal.Detail, c.refused) {
				t.Errorf("%s: %v, want a refusal with %q", name, err, c.refused)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		words := func(argv []string) string { return strings.Join(argv[2:len(argv)-1], " ") }
		var rivals []string
		for _, x := range r.Rivals {
			rivals = append(rivals, words(x.Test[0].Argv))
		}
		if got := words(r.Test[0].Argv); got != c.test || strings.Join(rivals, " ") != c.rivals {
			t.Errorf("%s: test %q, rivals %q; want %q and %q", name, got, rivals, c.test, c.rivals)
		}
		tagged := strings.Contains(c.test+c.rivals, "integration")
		if strings.Contains(r.Lock, `"example.net/only"`) != tagged {
			t.Errorf("%s: the lock with what tagged files import is\n%s", name, r.Lock)
		}
		want := []string{"TestPlain"}
		if strings.Contains(c.test, "integration") {
			want = append(want, "TestWhole")
		}
		run := Language{}.Runs(r, p.Solution, lang.Select{})[0]
		if diff := cmp.Diff(want, guardsOf(run.Secret)["example.com/m"].Known); diff != "" {
			t.Errorf("%s: known tests (-want +got):\n%s", name, diff)
		}
	}
}

// TestUntouchedBehindATag: whatever tags a run has, the tests of tagged files are compared.
func TestUntouchedBehindATag(t *testing.T) {
	t.Parallel()
	with := func(body string) memory {
		return memory{"go.mod": "module example.com/m\n", "a.go": "package m\n", "w_test.go": "//go:build integration && linux && !windows\n// +build integration,linux,!windows\n\npackage m\n\nimport \"testing\"\n\nfunc TestWhole(t *testing.T) {}\n\nfunc TestOther(t *testing.T) {" + body + "}\n"}
	}
	untouched := Language{}.Untouched(with(""), with(" t.Log() "), []string{"w_test.go"})
	for name, want := range map[string]bool{"TestWhole": true, "TestOther": false} {
		if got := untouched(lang.Test{ID: TestID("example.com/m", name), Unit: "example.com/m"}); got != want {
			t.Errorf("%s is untouched: %v", name, got)
		}
	}
}
