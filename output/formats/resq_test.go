package formats

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/schemas"
)

func TestRESQGolden(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := Export(dir, dataset(t, task(t, schemas.KindEdit)), RESQ{}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, resqFile))
	if err != nil {
		t.Fatal(err)
	}
	var records []map[string]any
	if err := json.Unmarshal(b, &records); err != nil || len(records) != 1 {
		t.Fatalf("%d records: %v", len(records), err)
	}
	script, _ := records[0]["test_script"].(string)
	delete(records[0], "test_script")
	rest, err := json.MarshalIndent(records, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "resq.txtar", txtar.Format(&txtar.Archive{
		Comment: []byte("The record of one task. Rewrite with go test ./output/formats -update.\n"),
		Files:   []txtar.File{{Name: resqFile, Data: append(rest, '\n')}, {Name: "test_script", Data: []byte(script)}},
	}))
}

// The address is that of the source which was read; a path is on no host.
func TestRESQAddress(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ sources, want string }{
		{`{}`, "acme/widget"},
		{`{"name": "acme/widget"}, {"preset": "featbench"}`, "acme/widget"},
		{`{"git": "https://git.example.org/acme/widget.git"}`, "https://git.example.org/acme/widget.git"},
		{`{"git": "git@example.org:acme/widget"}`, "git@example.org:acme/widget"},
		{`{"git": "https://example.org/x", "name": "acme/widget"}`, "https://example.org/x"},
		{`{"git": "https://example.org/acme/widget", "name": "acme/fork"}, {"git": "https://example.org/acme/kit"}`, "acme/widget"},
		{`{"github": "acme/widget"}`, "https://github.com/acme/widget"},
		{`{"search": {"language": "python"}}`, "https://github.com/acme/widget"},
	} {
		var c configured
		if err := json.Unmarshal([]byte(`{"sources": [`+tt.sources+`]}`), &c); err != nil {
			t.Fatal(err)
		}
		if got := c.address("acme/widget"); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.sources, got, tt.want)
		}
	}
}

// TestRESQSuite runs the program as the client does: at the tree's root, with the line
// that the client puts before the first `sys.exit(0)`, without which nothing passes.
func TestRESQSuite(t *testing.T) {
	t.Parallel()
	python := program(t, "python3", "-c", "import pytest")
	x := first(t, dataset(t, task(t, schemas.KindEdit)))
	script, err := testScript(x)
	if err != nil {
		t.Fatal(err)
	}
	const secret = "print('the secret')\n"
	at := strings.Index(script, "sys.exit(0)")
	if at < 0 || script[at-1] != '\n' || strings.Count(script, "sys.exit(0)") != 1 {
		t.Fatal("sys.exit(0) does not stand once, on a line of its own")
	}
	script = script[:at] + secret + script[at:]
	for _, tt := range []struct {
		name   string
		patch  string
		passes bool
		says   string
	}{
		{"start", "", false, "does not pass: 'tests/test_colour.py::test_colour[one two]'"},
		{"solved", goldPatch, true, ""},
		{"tests_taken_away", "diff --git a/tests/test_widget.py b/tests/test_widget.py\ndeleted file mode 100644\n--- a/tests/test_widget.py\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-import widget\n-def test_size():\n-    assert widget.size() == 1\n", false, "does not pass"},
		{"leaves_early", "diff --git a/conftest.py b/conftest.py\n--- a/conftest.py\n+++ b/conftest.py\n@@ -0,0 +1 @@\n+import os; os._exit(0)\n", false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			state := x.Base
			if tt.patch != "" {
				state = apply(t, state, tt.patch)
			}
			dir := lay(t, state)
			if err := os.WriteFile(filepath.Join(dir, "suite_1.py"), []byte(script), 0o644); err != nil {
				t.Fatal(err)
			}
			c := exec.Command(python, "suite_1.py")
			c.Dir = dir
			out, err := c.CombinedOutput()
			passed := err == nil && strings.Contains(string(out), "the secret")
			if passed != tt.passes || !strings.Contains(string(out), tt.says) {
				t.Errorf("passed %t, %v:\n%s", passed, err, out)
			}
		})
	}
}
