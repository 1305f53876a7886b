package formats

import (
	"bytes"
	"compress/bzip2"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// starter is a library of one function, which is to be written.
func starter(t *testing.T, edits ...func(*Task)) Task {
	t.Helper()
	made := func(body string) *tree.Tree {
		out, err := tree.New([]tree.Entry{
			{Path: "src/lathe/cut.py", Mode: tree.ModeFile, Data: []byte("def cut():\n    " + body + "\n")},
			{Path: "tests/unit/test_cut.py", Mode: tree.ModeFile, Data: []byte("import lathe\n")},
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	x := Task{Split: "test", Date: time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC), Base: made("raise NotImplementedError"), Start: made("raise NotImplementedError"), Goal: made("return 1")}
	x.InstanceID, x.Repo = "acme__lathe.py-v1.0.library", "acme/lathe.py"
	x.FailToPass, x.PassToPass = output.List{"tests/unit/test_cut.py::test_b", "tests/unit/test_cut.py::test_a[x y]"}, output.List{"tests/test_none.py::test_c"}
	x.Benchmint = output.Extra{Kind: schemas.KindLibrary, Language: "python", Library: &output.Library{Profile: "strict"}, Parts: map[schemas.Part]output.Paths{schemas.PartCode: {"src/lathe/cut.py"}}}
	x.Recipe = schemas.Recipe{
		Report: "benchmint-pytest", Toolchain: schemas.Toolchain{Name: "python", Version: "3.12.1"}, SystemPackages: []string{"libfoo1"},
		Lock:  "pytest==8.1.1 \\\n    --hash=sha256:00\nsix==1.16.0\n",
		Test:  []schemas.Command{{Argv: []string{"/opt/env/venv/bin/pytest", "-q"}}},
		Build: []schemas.Command{{Argv: []string{"uv", "pip", "install", "--editable", "."}}},
	}
	for _, edit := range edits {
		edit(&x)
	}
	return x
}

func TestCommit0Fits(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		edit func(*Task)
		want string
	}{
		"a_library":    {func(*Task) {}, ""},
		"a_feature":    {func(x *Task) { x.Benchmint.Kind = schemas.KindFeature }, "kind feature is not a library"},
		"in_go":        {func(x *Task) { x.Benchmint.Language = "go" }, "runs Python, not go"},
		"in_a_folder":  {func(x *Task) { x.Recipe.Test[0].Dir = "sub" }, "at the root"},
		"two_commands": {func(x *Task) { x.Recipe.Test = append(x.Recipe.Test, x.Recipe.Test[0]) }, "2 test commands"},
		"line_feed":    {func(x *Task) { x.PassToPass[0] = "t.py::test[a\nb]" }, "not one line"},
	} {
		err := Commit0{}.Fits(starter(t, tc.edit))
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// TestCommit0: the row has the schema of the published dataset, the starter is one commit
// without the solution, and the solution lies in the other repository alone.
func TestCommit0(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x := starter(t, func(x *Task) {
		x.Specification = map[string][]byte{schemas.SpecificationText: []byte("# lathe\n"), schemas.SpecificationPDF: []byte("%PDF-1.7")}
	})
	d := &output.Dataset{Manifest: output.Manifest{Splits: []output.Split{{Name: "test", Tasks: 1}}}, Rows: []output.Located{{Row: x.Row, File: "data/test.jsonl"}}}
	sink, err := Commit0{}.Open(dir, d)
	if err != nil {
		t.Fatal(err)
	}
	if err := sink.Add(x); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "test.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var row map[string]any
	if err := json.Unmarshal(b, &row); err != nil {
		t.Fatal(err)
	}
	sealed := filepath.Join(dir, "repos", "commit-0", "lathe.py.git")
	whole := filepath.Join(dir, "reference", "commit-0", "lathe.py.git")
	want := map[string]any{
		"instance_id": "commit-0/lathe.py", "repo": "commit-0/lathe.py", "original_repo": "acme/lathe.py",
		"base_commit": git(t, sealed, "rev-parse", "commit0_strict"), "reference_commit": git(t, whole, "rev-parse", "reference"),
		"setup": map[string]any{
			"install": "pip install --no-deps --no-build-isolation -e .", "packages": nil, "pip_packages": []any{"pytest==8.1.1", "six==1.16.0"},
			"pre_install": []any{"apt-get install -y --no-install-recommends libfoo1"}, "python": "3.12", "specification": "spec.pdf.bz2",
		},
		"test": map[string]any{"test_cmd": "pytest -q", "test_dir": "tests/"}, "src_dir": "src/lathe/",
	}
	if diff := cmp.Diff(want, row); diff != "" {
		t.Error(diff)
	}
	if log := git(t, sealed, "log", "--all", "--format=%s|%P"); log != "Commit 0|" {
		t.Errorf("history of the starter: %q", log)
	}
	if objects := git(t, sealed, "cat-file", "--batch-all-objects", "--batch"); strings.Contains(objects, "return 1") {
		t.Error("the starter's repository holds the solution")
	}
	if spec, err := io.ReadAll(bzip2.NewReader(strings.NewReader(git(t, sealed, "show", "commit0_strict:spec.pdf.bz2")))); err != nil || string(spec) != "%PDF-1.7" {
		t.Errorf("specification %q, %v", spec, err)
	}
	if text := git(t, sealed, "show", "commit0_strict:specification.md"); text != "# lathe" {
		t.Errorf("text of the specification %q", text)
	}
	if body := git(t, whole, "show", "reference:src/lathe/cut.py"); !strings.Contains(body, "return 1") || git(t, whole, "rev-parse", "reference^") != want["base_commit"] {
		t.Errorf("the reference is %q", body)
	}
	for _, repo := range []string{sealed, whole} {
		git(t, repo, "fsck", "--strict")
	}
	packed, err := os.ReadFile(filepath.Join(dir, "data", "test_ids", "lathe-py.bz2"))
	if err != nil {
		t.Fatal(err)
	}
	ids, err := io.ReadAll(bzip2.NewReader(bytes.NewReader(packed)))
	if err != nil || string(ids) != "tests/test_none.py::test_c\ntests/unit/test_cut.py::test_a[x y]\ntests/unit/test_cut.py::test_b" {
		t.Errorf("test IDs %q, %v", ids, err)
	}
}

// TestCommit0Names: the harness knows a starter by the name of its repository alone.
func TestCommit0Names(t *testing.T) {
	t.Parallel()
	row := func(id, repo string) output.Located {
		return output.Located{Row: output.Row{InstanceID: id, Repo: repo}}
	}
	sink, err := Commit0{}.Open(t.TempDir(), &output.Dataset{Rows: []output.Located{row("a__x-1.library", "a/x"), row("b__X-1.library", "b/X"), row("a__y-1.library", "a/y")}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"a__x-1.library": "a__x-1.library", "b__X-1.library": "b__X-1.library", "a__y-1.library": "y"}
	if diff := cmp.Diff(want, sink.(*commit0).names); diff != "" {
		t.Error(diff)
	}
}
