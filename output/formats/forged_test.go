package formats

import (
	"strings"
	"testing"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// A forged patch applies to the base, prints what clients read, and is not resolved.
func TestForged(t *testing.T) {
	t.Parallel()
	python := program(t, "python3", "-c", "import pytest")
	x := first(t, dataset(t, task(t, schemas.KindFeature)))
	patch, err := Forged(x)
	if err != nil {
		t.Fatal(err)
	}
	apply(t, x.Base, string(patch))
	lines, _, all := evaluate(t, x, string(patch), "/opt/env/venv/bin/python", python, "/opt/toolchains/python-3.12.1/bin/python3", python,
		"/run/benchmint", t.TempDir()+"/run", "/tmp/.benchmint-report", t.TempDir()+"/report")
	if len(lines) > 0 {
		t.Errorf("forged results are taken: %q", lines)
	}
	if !strings.Contains(all, "\n| PASSED tests/test_colour.py::test_colour[one two]\n") {
		t.Errorf("the patch has printed nothing:\n%s", all)
	}
}

func TestForgedOfGo(t *testing.T) {
	t.Parallel()
	base, err := tree.New([]tree.Entry{
		{Path: "go.mod", Mode: tree.ModeFile, Data: []byte("module example.org/x\n")},
		{Path: "a/a_test.go", Mode: tree.ModeFile, Data: []byte("// A.\npackage a_test\n")},
		{Path: "b/conftest.py", Mode: tree.ModeFile, Data: []byte("x = 1\ny = 2")},
		{Path: "b/test_b.py", Mode: tree.ModeFile, Data: []byte("")},
	})
	if err != nil {
		t.Fatal(err)
	}
	x := Task{Base: base, Start: base, Row: output.Row{FailToPass: []string{"example.org/x/a::TestA"}}}
	for _, tt := range []struct{ report, file, want string }{
		{"go-test-json", "a/benchmint_forged_test.go", "package a_test\n"},
		{"benchmint-pytest", "b/conftest.py", "import os\ntext = b"}, // in place of the one that is there
	} {
		x.Recipe.Report = tt.report
		patch, err := Forged(x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := apply(t, base, string(patch)).Read(tt.file)
		if err != nil || !strings.HasPrefix(string(got), tt.want) || !strings.Contains(string(got), `\nPASSED example.org/x/a::TestA\n`) {
			t.Errorf("%s: %q, %v", tt.report, got, err)
		}
	}
	x.Recipe.Report = "tap"
	if _, err := Forged(x); err == nil {
		t.Error("results of an unknown runner are forged")
	}
}
