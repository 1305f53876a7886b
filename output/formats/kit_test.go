package formats

import (
	"flag"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/python"
	"github.com/benchmint/benchmint/internal/ledger"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const goldPatch = `diff --git a/widget.py b/widget.py
--- a/widget.py
+++ b/widget.py
@@ -1,2 +1,5 @@
 def size():
     return 1
+
+def colour():
+    return "cornflower"
`

const testPatch = `diff --git a/tests/test_colour.py b/tests/test_colour.py
new file mode 100644
--- /dev/null
+++ b/tests/test_colour.py
@@ -0,0 +1,8 @@
+import pytest
+import widget
+@pytest.mark.parametrize("n", ["one two", "x"])
+def test_colour(n):
+    assert widget.colour() == "cornflower"
+@pytest.mark.parametrize("n", ["a\nb"])
+def test_odd(n):
+    assert n
diff --git a/tests/test_widget.py b/tests/test_widget.py
--- a/tests/test_widget.py
+++ b/tests/test_widget.py
@@ -1,3 +1,4 @@
 import widget
 def test_size():
+    assert widget.size() < 2
     assert widget.size() == 1
`

func baseTree(t testing.TB) *tree.Tree {
	t.Helper()
	tr, err := tree.New([]tree.Entry{
		{Path: "widget.py", Mode: tree.ModeFile, Data: []byte("def size():\n    return 1\n")},
		{Path: "tests/test_widget.py", Mode: tree.ModeFile, Data: []byte("import widget\ndef test_size():\n    assert widget.size() == 1\n")},
		{Path: "conftest.py", Mode: tree.ModeFile, Data: []byte("")},
	})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func apply(t testing.TB, tr *tree.Tree, patch string) *tree.Tree {
	t.Helper()
	out, err := tr.Apply([]byte(patch))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// task is a proved task; edits change it before its row is made.
func task(t testing.TB, kind schemas.Kind, edits ...func(*output.Task)) output.Task {
	t.Helper()
	commit := strings.Repeat("ab", 20)
	id := schemas.FeatureID("acme/widget", 12, commit)
	if kind == schemas.KindEdit {
		id = schemas.EditID("acme/widget", commit, "")
	}
	env := schemas.DigestBytes([]byte("environment"))
	r := schemas.Recipe{
		Language: "python", Toolchain: schemas.Toolchain{Name: "python", Version: "3.12.1"}, Report: "benchmint-pytest",
		Variables: map[string]string{"TZ": "UTC", "VIRTUAL_ENV": "/opt/env/venv"}, Lock: "pytest==8.0.0\n", Pinning: schemas.PinDate, DepsFrom: "solution",
		Test: []schemas.Command{{Argv: []string{"/opt/env/venv/bin/python", "-m", "pytest", "-q"}}},
	}
	base := baseTree(t)
	x := output.Task{
		Origin: schemas.Origin{Change: &schemas.Change{
			Repo: "acme/widget", Licence: "MIT", Commit: commit, Base: strings.Repeat("1", 40), Number: 12, Subject: "Give widgets a colour (#12)",
			CommittedAt: time.Date(2024, 3, 10, 1, 2, 3, 0, time.UTC),
		}},
		Start: schemas.Start{
			ChangeID: id.String(), Repo: "acme/widget", Kind: kind, Language: "python", Base: strings.Repeat("1", 40), Commit: commit,
			BaseDate: time.Date(2024, 3, 9, 0, 0, 0, 0, time.UTC),
		},
		Environment: schemas.Environment{Key: env, Sandbox: "bwrap", Recipe: r},
		Proof: schemas.Proof{StartID: id.String(), Environment: env, Tests: []schemas.TestVerdict{
			{ID: "tests/test_widget.py::test_size", Class: schemas.P2P},
			{ID: "tests/test_colour.py::test_colour[one two]", Class: schemas.F2P},
			{ID: "tests/test_colour.py::test_colour[x]", Class: schemas.F2P},
		}},
		Statement: schemas.Statement{StartID: id.String(), Text: "Give widgets a colour.\n", Provider: "rules"},
		Patch:     []byte(goldPatch), TestPatch: []byte(testPatch), Version: "v1.0",
		Base: func() (*tree.Tree, error) { return base, nil },
	}
	for _, edit := range edits {
		edit(&x)
	}
	start := apply(t, base, string(x.TestPatch))
	x.Start.BaseTree, x.Start.StartTree, x.Start.SolutionTree = base.ID(), start.ID(), apply(t, start, string(x.Patch)).ID()
	x.Runs = python.Language{}.Runs(x.Environment.Recipe, start, lang.Select{Number: 1, Nonce: "shown"})
	return x
}

// dataset writes tasks and reads them.
func dataset(t testing.TB, tasks ...output.Task) *output.Dataset {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "dataset")
	_, err := output.Write(dir, output.Input{
		Unsound: true,
		Name:    "my-tasks", Splits: []output.SplitInput{{Tasks: func(yield func(output.Task, error) bool) {
			for _, x := range tasks {
				if !yield(x, nil) {
					return
				}
			}
		}}},
		Rejects: func(func(output.Reject, error) bool) {}, Flakes: iter.Seq[ledger.Flake](func(func(ledger.Flake) bool) {}),
		Configuration: map[string]any{"sources": []map[string]string{{"git": "https://github.com/acme/widget"}}}, Tools: map[string]string{},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := output.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func first(t testing.TB, d *output.Dataset) Task {
	t.Helper()
	x, err := taskOf(d, d.Rows[0])
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// program is a program of this machine; the test is skipped where there is none.
func program(t *testing.T, name string, check ...string) string {
	t.Helper()
	p, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s in PATH: %v", name, err)
	}
	if len(check) > 0 {
		if out, err := exec.Command(p, check...).CombinedOutput(); err != nil {
			t.Skipf("%s %v: %v\n%s", name, check, err, out)
		}
	}
	return p
}

// lay writes a tree into a folder of its own.
func lay(t *testing.T, tr *tree.Tree) string {
	t.Helper()
	dir := t.TempDir()
	for _, e := range tr.Entries() {
		p := filepath.Join(dir, filepath.FromSlash(e.Path))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, e.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
