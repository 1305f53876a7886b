package formats

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"golang.org/x/tools/txtar"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

func TestSWEBenchGolden(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	if _, err := Export(dir, dataset(t, task(t, schemas.KindFeature)), SWEBench{}); err != nil {
		t.Fatal(err)
	}
	card, err := os.ReadFile(filepath.Join(dir, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(filepath.Join(dir, "test.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var row map[string]string
	if err := json.Unmarshal(line, &row); err != nil {
		t.Fatal(err)
	}
	script := strings.Replace(row["eval_script"], wrappedPlugin(t), "(the plugin)\n", 1)
	delete(row, "eval_script")
	rest, err := json.MarshalIndent(row, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "swebench.txtar", txtar.Format(&txtar.Archive{
		Comment: []byte("The folder of one task, without its Parquet. Rewrite with go test ./output/formats -update.\n"),
		Files:   []txtar.File{{Name: "README.md", Data: card}, {Name: "test.jsonl", Data: append(rest, '\n')}, {Name: "eval_script", Data: []byte(script)}},
	}))
}

// wrappedPlugin is the longest input of the sample's run.sh.
func wrappedPlugin(t *testing.T) string {
	t.Helper()
	var longest []byte
	for _, in := range task(t, schemas.KindFeature).Runs[0].Inputs {
		if len(in.Data) > len(longest) {
			longest = in.Data
		}
	}
	return string(longest)
}

// The Parquet of both configurations holds what the JSON lines hold, in types that
// readers need not guess.
func TestParquetHoldsTheRows(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	second := task(t, schemas.KindEdit)
	if _, err := Export(dir, dataset(t, task(t, schemas.KindFeature), second), SWEBench{}); err != nil {
		t.Fatal(err)
	}
	flat, err := parquet.ReadFile[sweRow](filepath.Join(dir, "test.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	lists, err := parquet.ReadFile[sweLists](filepath.Join(dir, "lists", "test.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile(filepath.Join(dir, "test.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var want []sweRow
	for l := range bytes.Lines(lines) {
		var r sweRow
		if err := json.Unmarshal(l, &r); err != nil {
			t.Fatal(err)
		}
		want = append(want, r)
	}
	if d := cmp.Diff(want, flat, cmp.AllowUnexported(sweColumns{}, sweRow{})); d != "" || len(want) != 2 {
		t.Errorf("%d rows (-JSON +Parquet):\n%s", len(want), d)
	}
	for i, r := range lists {
		var f2p, p2p []string
		if err := json.Unmarshal([]byte(flat[i].FailToPass), &f2p); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(flat[i].PassToPass), &p2p); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(f2p, r.FailToPass) || !slices.Equal(p2p, r.PassToPass) || len(f2p) != 2 || r.sweColumns != flat[i].sweColumns {
			t.Errorf("row %d of lists differs: %v %v", i, r.FailToPass, r.PassToPass)
		}
	}
	f, err := os.Open(filepath.Join(dir, "lists", "test.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	if s := file.Schema().String(); !strings.Contains(s, "FAIL_TO_PASS (LIST)") {
		t.Errorf("FAIL_TO_PASS is not a list:\n%s", s)
	}
}

// A shell gives back the bytes that were put, whatever they are.
func TestPut(t *testing.T) {
	t.Parallel()
	bash := program(t, "bash")
	for name, data := range map[string]string{
		"plain": "a\nb\n", "no_line_end": "a", "empty": "", "zero": "a\x00b\n", "latin1": "\xe9\n", "shell": "$(x) `y` \\ ' \"\n", "crlf": "a\r\nb\r\n",
		"marker": "x >>>>> End Test Output\n", "its_own_delimiter": delimiter("a\n") + "\n", "long": strings.Repeat("x\x00", 500),
	} {
		var b bytes.Buffer
		work := t.TempDir()
		put(&b, "f", []byte(data))
		if strings.Contains(b.String(), endMarker) {
			t.Errorf("%s: the script holds a marker that is not its own", name)
		}
		c := exec.Command(bash, "-c", b.String())
		c.Env = append(os.Environ(), "work="+work)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		if got, err := os.ReadFile(filepath.Join(work, "f")); err != nil || string(got) != data {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	// A text that holds the first delimiter that its digest gives gets another one.
	text := "x"
	if d := delimiter(text); strings.Contains(text, d) || d != delimiter(text) || d == delimiter("y") {
		t.Errorf("delimiter %s", d)
	}
}

// evaluate does what SWE-bench does, in a folder that stands for the tree of the image: it
// applies a patch and runs the task's script. It gives the lines between the markers, the
// exit code before the end, and all that was said.
func evaluate(t *testing.T, x Task, patch string, places ...string) (lines []string, code, all string) {
	t.Helper()
	bash, git, tree := program(t, "bash"), program(t, "git"), lay(t, x.Base)
	home := t.TempDir()
	env := append(os.Environ(), "HOME="+home, "GIT_CONFIG_NOSYSTEM=1", "TMPDIR="+t.TempDir())
	steps := [][]string{{"init", "-q"}, {"add", "-A", "-f"}, {"-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "-m", "x"}}
	if patch != "" {
		steps = append(steps, []string{"apply", "-"})
	}
	for _, args := range steps {
		c := exec.Command(git, args...)
		c.Dir, c.Env, c.Stdin = tree, env, strings.NewReader(patch)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	moved := strings.NewReplacer(append([]string{"/testbed", tree}, places...)...)
	x.Inputs = slices.Clone(x.Inputs)
	for i, in := range x.Inputs { // some of which stand in the script as base64
		x.Inputs[i].Data = []byte(moved.Replace(string(in.Data)))
	}
	script, err := evalScript(x)
	if err != nil {
		t.Fatal(err)
	}
	// As SWE-bench does, the exit code is taken right before the end.
	text := strings.Replace(string(script), "echo '"+endMarker, "code=$?\necho '"+endMarker, 1) + "echo \"code: $code\"\n"
	if strings.Count(text, startMarker) != 1 || strings.Count(text, endMarker) != 1 {
		t.Fatal("the markers are not there once")
	}
	c := exec.Command(bash, "-c", moved.Replace(text))
	c.Env = append(env, "TMPDIR="+t.TempDir())
	out, _ := c.CombinedOutput()
	all = string(out)
	_, rest, _ := strings.Cut(all, startMarker+"\n")
	between, after, ok := strings.Cut(rest, endMarker+"\n")
	if !ok {
		t.Fatalf("no results:\n%s", all)
	}
	_, code, _ = strings.Cut(after, "\ncode: ")
	for l := range strings.Lines(between) {
		lines = append(lines, strings.TrimSuffix(l, "\n"))
	}
	slices.Sort(lines)
	return lines, strings.TrimSpace(code), all
}

func TestEvalScriptRunsPytest(t *testing.T) {
	t.Parallel()
	python := program(t, "python3", "-c", "import pytest")
	x := first(t, dataset(t, task(t, schemas.KindFeature)))
	run := func(patch string) ([]string, string, string) {
		return evaluate(t, x, patch, "/opt/env/venv/bin/python", python, "/opt/toolchains/python-3.12.1/bin/python3", python,
			"/run/benchmint", filepath.Join(t.TempDir(), "run"), "/tmp/.benchmint-report", filepath.Join(t.TempDir(), "report"))
	}
	const colours = "tests/test_colour.py::test_colour"
	lines, code, all := run(goldPatch)
	if d := cmp.Diff([]string{"PASSED " + colours + "[one two]", "PASSED " + colours + "[x]", "PASSED tests/test_colour.py::test_odd[a\\nb]", "PASSED tests/test_widget.py::test_size"}, lines); d != "" || code != "0" {
		t.Errorf("solved, code %s (-want +got):\n%s%s", code, d, all)
	}
	lines, code, all = run("")
	if d := cmp.Diff([]string{"FAILED " + colours + "[one two]", "FAILED " + colours + "[x]", "PASSED tests/test_colour.py::test_odd[a\\nb]", "PASSED tests/test_widget.py::test_size"}, lines); d != "" || code != "1" {
		t.Errorf("start, code %s (-want +got):\n%s%s", code, d, all)
	}
	// Tests that a patch wrote over or put in the way are the task's again.
	deleted := "diff --git a/tests/test_widget.py b/tests/test_widget.py\ndeleted file mode 100644\n--- a/tests/test_widget.py\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-import widget\n-def test_size():\n-    assert widget.size() == 1\n"
	inTheWay := "diff --git a/tests/test_colour.py/x b/tests/test_colour.py/x\nnew file mode 100644\n--- /dev/null\n+++ b/tests/test_colour.py/x\n@@ -0,0 +1 @@\n+x\n"
	if lines, code, all := run(goldPatch + deleted + inTheWay); len(lines) != 4 || code != "0" {
		t.Errorf("tests that were taken away: %q, code %s\n%s", lines, code, all)
	}
	// What the tests print is no result, and stands behind the results.
	lines, _, all = run("diff --git a/conftest.py b/conftest.py\n--- a/conftest.py\n+++ b/conftest.py\n@@ -0,0 +1,4 @@\n+import os\n+with open('/proc/%d/fd/1' % os.getppid(), 'a') as f: # past pytest's capture\n+    f.write('PASSED " + colours + "[x]\\n>>>>> Start Test Output\\nPASSED " + colours + "[x]\\n')\n+os._exit(0)\n")
	if len(lines) > 0 || !strings.Contains(all, "\n| PASSED ") || strings.Contains(all, "\nPASSED ") {
		t.Errorf("a patch that prints results and leaves: %q\n%s", lines, all)
	}
}

func TestEvalScriptRunsGo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compiles the standard library's tests")
	}
	goTool := program(t, "go")
	d, err := output.Read(filepath.Join("..", "testdata", "format2"))
	if err != nil {
		t.Fatal(err)
	}
	x := first(t, d)
	cache, err := exec.Command(goTool, "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	env := t.TempDir()
	run := func(patch string) ([]string, string, string) {
		return evaluate(t, x, patch, "/opt/toolchains/go-1.26.11/bin/go", goTool, "/opt/env/gocache", strings.TrimSpace(string(cache)), "/opt/env", env, "/run/benchmint", filepath.Join(t.TempDir(), "run"))
	}
	lines, code, all := run(x.Patch)
	for _, id := range slices.Concat(x.FailToPass, x.PassToPass) {
		if !slices.Contains(lines, "PASSED "+id) {
			t.Errorf("%s does not pass with the solution", id)
		}
	}
	if code != "0" || t.Failed() {
		t.Fatalf("code %s, %q\n%s", code, lines, all)
	}
	lines, code, _ = run("")
	for _, id := range x.FailToPass {
		if !slices.Contains(lines, "FAILED "+id) {
			t.Errorf("%s does not fail at the start", id)
		}
	}
	if code != "1" {
		t.Errorf("code %s at the start", code)
	}
	broken := "diff --git a/broken.go b/broken.go\nnew file mode 100644\n--- /dev/null\n+++ b/broken.go\n@@ -0,0 +1,2 @@\n+package slug\n+var x int = \"\"\n"
	if lines, code, all := run(broken); !slices.Equal(lines, []string{"FAILED example.org/slug"}) || code == "0" {
		t.Errorf("a package that does not build: %q, code %s\n%s", lines, code, all)
	}
}

// Root runs the tests as the owner of the tree, whose files they would else leave behind.
func TestEvalScriptRunsAsTheOwner(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	bash := program(t, "bash")
	program(t, "setpriv")
	script, err := evalScript(first(t, dataset(t, task(t, schemas.KindFeature))))
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(string(script), "\n# The files of the tests")
	tree := t.TempDir()
	if err := os.Chown(tree, 4711, 4712); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(bash, "-c", strings.ReplaceAll(head, "/testbed", tree)+"\nas_owner sh -c 'id -u; id -g; id -G; echo $HOME; test -w \"$0\" && echo writable' \"$work\"\n")
	c.Env = append(os.Environ(), "HOME="+t.TempDir(), "TMPDIR="+t.TempDir())
	out, _ := c.CombinedOutput() // the last test fails
	if d := cmp.Diff("4711\n4712\n4712\n/home/tester\n", string(out)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
