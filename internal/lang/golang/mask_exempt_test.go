package golang

import "testing"

func TestExempt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ path, source, want string }{
		{"a/a.go", "package a\n", ""},
		{"a/a_test.go", "", "a test"},
		{"a/testdata/x.go", "", "data of tests"},
		{"internal/testutil/x.go", "", "in a folder that serves tests"},
		{"test/x.go", "", "in a folder that serves tests"},
		{"hooks/test/x.go", "", ""}, // it ships
		{"a/test_helpers.go", "", "by its name a helper of tests"},
		{"a/mock_store.go", "", "by its name a helper of tests"},
		{"_examples/x.go", "", "an example of use"},
		{"a/latest.go", "", ""},
		{"a/suite.go", "package a\n\nimport (\n\t. \"gopkg.in/check.v1\"\n)\n", "written in the words of a test framework"},
		{"gen.go", "//go:build ignore\n\npackage main\n", "a program of the build: its build tag leaves it out of every package"},
		{"gen.go", "// +build ignore\r\n\r\npackage main\r\n", "a program of the build: its build tag leaves it out of every package"},
		{"a/unix.go", "//go:build unix && !ignore\n\npackage a\n", ""},
	} {
		if got := (Masker{}).Exempt(tt.path, []byte(tt.source)).String(); got != tt.want {
			t.Errorf("Exempt(%q) = %q, want %q", tt.path, got, tt.want)
		}
	}
}

func TestAnchor(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"module example.com/a\n\ngo 1.22\n":            "example.com/a",
		"// x\nmodule \"example.com/b/v2\" // why\n":   "example.com/b/v2",
		"module\texample.com/c\r\n":                    "example.com/c",
		"modules example.com/d\n":                      "",
		"go 1.22\nrequire example.com/module v1.0.0\n": "",
	} {
		if got := (Masker{}).Anchor("sub/go.mod", []byte(source)); got != want {
			t.Errorf("Anchor(%q) = %q, want %q", source, got, want)
		}
	}
	if (Masker{}).Anchor("sub/go.sum", []byte("module a\n")) != "" || (Masker{}).IsAnchor("go.sum") {
		t.Error("go.sum anchors nothing")
	}
}

func TestGuesses(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"fmt": "fmt", "net/http": "http", "github.com/a/go-colors": "colors", "github.com/nats-io/nats.go": "nats",
		"github.com/c/mux/v5": "mux", "gopkg.in/yaml.v3": "yaml", "k8s.io/api/core/v1": "v1", "github.com/x/odd-name": "oddname",
		"github.com/x/snake-case": "snake_case", "github.com/x/json-go": "json",
	} {
		found := false
		for _, g := range guesses(path) {
			found = found || g == want
		}
		if !found {
			t.Errorf("guesses(%q) = %q, without %q", path, guesses(path), want)
		}
	}
}
