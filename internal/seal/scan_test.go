package seal

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/go-git/go-git/v5/storage/memory"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/schemas"
)

const baseCode = `"""Widgets."""
import os


class Widget:
    def size(self):
        return 1


def main(argv):
    for arg in argv:
        print(arg)
`

// solutionCode is what the solution adds to baseCode.
const solutionCode = `
    def resize_to_fit(self, boundary):
        """Shrink the widget until the boundary holds it whole."""
        shrink_ratio = min(boundary.width / self.width, 1.0)
        if shrink_ratio < MINIMUM_SHRINK_RATIO:
            raise ValueError("the boundary is too small for this widget")
        for child in self.children_in_order():
            child.resize_to_fit(boundary.scaled(shrink_ratio))
        return self.width * shrink_ratio
`

const testCode = `
def test_resize_keeps_aspect_ratio():
    widget = Widget.with_children(3, width=120)
    resized = widget.resize_to_fit(Boundary(width=60))
    assert resized == 60, "half of the width was expected here"
`

var binaryCode = append([]byte("BIN\x00"), bytes.Repeat([]byte{7, 1, 9}, 300)...)

// added is a patch that appends text to the end of a file of oldLines lines.
func added(name string, oldLines int, text string) string {
	lines := strings.SplitAfter(text, "\n")
	lines = lines[:len(lines)-1]
	return fmt.Sprintf("diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n@@ -%[2]d,0 +%[3]d,%[4]d @@\n+%[5]s",
		name, oldLines, oldLines+1, len(lines), strings.Join(lines, "+"))
}

func leakTask(t testing.TB) Task {
	t.Helper()
	entries := []tree.Entry{
		{Path: "widget/__init__.py", Mode: tree.ModeFile, Data: []byte(baseCode)},
		{Path: "tests/test_widget.py", Mode: tree.ModeFile, Data: []byte("from widget import Widget\n")},
		{Path: "pyproject.toml", Mode: tree.ModeFile, Data: []byte("[project]\nname = \"Acme.Widget\"\n")},
		{Path: "go.mod", Mode: tree.ModeFile, Data: []byte("module github.com/Acme/widget/v2\n")},
		{Path: "logo.bin", Mode: tree.ModeFile, Data: []byte("old")},
	}
	base, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	entries[0].Data = []byte(baseCode + solutionCode)
	entries[1].Data = []byte("from widget import Widget\n" + testCode)
	entries[4].Data = binaryCode
	solution, err := tree.New(entries)
	if err != nil {
		t.Fatal(err)
	}
	return Task{
		Base: base, Solution: solution, Name: "acme/widget", Commit: strings.Repeat("0123456789", 4), Version: "v1.4.0",
		Patch:     []byte(added("widget/__init__.py", strings.Count(baseCode, "\n"), solutionCode) + "diff --git a/logo.bin b/logo.bin\nindex 1..2 100644\nBinary files a/logo.bin and b/logo.bin differ\n"),
		TestPatch: []byte(added("tests/test_widget.py", 1, testCode)),
	}
}

// layer is paths inside the sandbox and their bytes; the same path may stand in
// several layers.
type layer map[string]string

func walkOf(layers ...layer) Walk {
	return func(_ context.Context, visit func(string, fs.FileInfo, func() (io.ReadCloser, error)) error) error {
		for _, l := range layers {
			for _, name := range sortedKeys(l) {
				data := []byte(l[name])
				f := fstest.MapFS{"f": {Data: data, Mode: 0o644}}
				info, err := f.Stat("f")
				if err != nil {
					return err
				}
				if err := visit(name, info, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// clean is a sealed base tree over an environment without leaks.
func clean(t testing.TB) layer {
	t.Helper()
	files, err := Files(leakTask(t).Base, baseDate)
	if err != nil {
		t.Fatal(err)
	}
	l := layer{
		"/opt/env/venv/lib/python3.12/site-packages/acme_widget-1.4.0.dist-info/METADATA":        "Name: acme-widget\nVersion: 1.4.0\n",
		"/opt/env/venv/lib/python3.12/site-packages/acme_widget-1.4.0.dist-info/direct_url.json": `{"dir_info": {"editable": true}, "url": "file:///testbed"}`,
		"/opt/env/venv/lib/python3.12/site-packages/__editable__.acme_widget-1.4.0.pth":          "/testbed\n",
		"/opt/env/venv/lib/python3.12/site-packages/other/__init__.py":                           "for child in self.children:\n    return self.width\n",
		"/opt/env/venv/lib/python3.12/site-packages/other-2.dist-info/direct_url.json":           `{"url": "file:///x"}`,
		"/opt/env/gomod/cache/download/github.com/!acme/widget/v2/@v/v2.9.0.mod":                 "module github.com/Acme/widget/v2\n",
		"/opt/env/wheels/acme_widget-1.3.0-py3-none-any.whl":                                     zipped(t, map[string]string{"widget/__init__.py": baseCode}),
		"/opt/env/broken.zip": "PK\x03\x04 and then nothing of the kind",
	}
	for _, f := range files {
		if f.Mode.IsRegular() {
			l[f.Path] = string(f.Data)
		}
	}
	return l
}

func zipped(t testing.TB, files map[string]string) string {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, name := range sortedKeys(files) {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func tarred(t testing.TB, files map[string]string) string {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, name := range sortedKeys(files) {
		err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(files[name])), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = w.Write([]byte(files[name]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// through packs s with a compressor.
func through[W io.WriteCloser](t testing.TB, s string, open func(io.Writer) (W, error)) string {
	t.Helper()
	var buf bytes.Buffer
	w, err := open(&buf)
	if err == nil {
		_, err = w.Write([]byte(s))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func gz(t testing.TB, s string) string {
	t.Helper()
	return through(t, s, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
}

// run is a tool that a test needs; it skips loudly where it cannot be had.
func run(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	if _, err := exec.LookPath(argv[0]); err != nil {
		t.Skipf("SKIPPED LOUDLY: %v", err)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost", "GOFLAGS=-buildvcs=false", "GOWORK=off", "GOTOOLCHAIN=local")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
	return strings.TrimSpace(string(out))
}

// under is a directory of this machine as paths of a layer.
func under(t *testing.T, dir, at string) layer {
	t.Helper()
	l := layer{}
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		l[path.Join(at, filepath.ToSlash(rel))] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// repository has the base as a commit and the solution as a change to it.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	run(t, dir, "git", "init", "-q")
	putFile(t, filepath.Join(dir, "widget.py"), strings.Repeat("# a line that deltas are made of\n", 50)+baseCode)
	run(t, dir, "git", "add", ".")
	run(t, dir, "git", "commit", "-qm", "base")
	putFile(t, filepath.Join(dir, "widget.py"), strings.Repeat("# a line that deltas are made of\n", 50)+baseCode+solutionCode)
	return dir
}

func putFile(t *testing.T, name, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// planted makes the layer that holds one leak; each must be found, and at place.
var planted = []struct {
	name, place, kind string
	plant             func(t *testing.T) layer
}{
	{"reflog", "/testbed/.git/logs/HEAD", KindHistory, func(*testing.T) layer {
		return layer{"/testbed/.git/logs/HEAD": "0000 1111 a <a> 1 +0000\tcommit: something\n"}
	}},
	{"reflog_of_other_clone", "/opt/env/src/widget/.git/logs/HEAD", KindHistory, func(t *testing.T) layer {
		return layer{"/opt/env/src/widget/.git/logs/HEAD": "1 " + leakTask(t).Commit + " a <a> 1 +0000\tcommit: x\n"}
	}},
	{"pseudo_version", "/opt/env/gomod/cache/download/x/@v/list", KindHistory, func(t *testing.T) layer {
		return layer{"/opt/env/gomod/cache/download/x/@v/list": "v0.0.0-20240101000000-" + leakTask(t).Commit[:12] + "\n"}
	}},
	{"packed_object", ".pack!", KindSolution, func(t *testing.T) layer {
		dir := repository(t)
		run(t, dir, "git", "commit", "-qam", "solution")
		run(t, dir, "git", "repack", "-adfq", "--depth=5", "--window=10")
		if kinds := run(t, dir, "git", "cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(deltabase)"); !strings.Contains(strings.ReplaceAll(kinds, strings.Repeat("0", 40), ""), "blob ") || strings.Count(kinds, strings.Repeat("0", 40)) == strings.Count(kinds, "\n")+1 {
			t.Fatalf("the pack holds no delta:\n%s", kinds)
		}
		return under(t, filepath.Join(dir, ".git"), "/opt/env/gomod/cache/vcs/ab")
	}},
	{"second_pack_in_task", "/testbed/.git/objects/pack/pack-x.pack!", KindSolution, func(t *testing.T) layer {
		objects := memory.NewStorage()
		if _, err := tree.WriteBlob(objects, []byte(baseCode+solutionCode)); err != nil {
			t.Fatal(err)
		}
		p, err := pack(objects)
		if err != nil {
			t.Fatal(err)
		}
		return layer{"/testbed/.git/objects/pack/pack-x.pack": string(p.data)}
	}},
	{"loose_object", "/objects/", KindSolution, func(t *testing.T) layer {
		dir := repository(t)
		run(t, dir, "git", "hash-object", "-w", "widget.py")
		return under(t, filepath.Join(dir, ".git"), "/opt/env/src/widget/.git")
	}},
	{"loose_object_in_task", "/testbed/.git/objects/ab/cd", KindHistory, func(*testing.T) layer {
		return layer{"/testbed/.git/objects/ab/cd": "x"}
	}},
	{"loose_binary_object", "/objects/", KindSolution, func(t *testing.T) layer {
		id := tree.BlobID(binaryCode)
		z := through(t, fmt.Sprintf("blob %d\x00%s", len(binaryCode), binaryCode), func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil })
		return layer{"/opt/x/.git/objects/" + id[:2] + "/" + id[2:]: z}
	}},
	{"dangling_stash", "/opt/env/src/widget/.git/objects/", KindSolution, func(t *testing.T) layer {
		dir := repository(t)
		run(t, dir, "git", "stash", "-q")
		run(t, dir, "git", "stash", "drop", "-q")
		return under(t, filepath.Join(dir, ".git"), "/opt/env/src/widget/.git")
	}},
	{"wheel_cache", ".cache/uv/x.whl!widget/__init__.py", KindSolution, func(t *testing.T) layer {
		return layer{"/home/tester/.cache/uv/x.whl": zipped(t, map[string]string{"widget/__init__.py": baseCode + solutionCode})}
	}},
	{"compiled_python", ".pyc", KindSolution, func(t *testing.T) layer {
		dir := t.TempDir()
		putFile(t, filepath.Join(dir, "widget.py"), baseCode+solutionCode)
		run(t, dir, "python3", "-m", "compileall", "-q", "-b", "widget.py")
		if err := os.Remove(filepath.Join(dir, "widget.py")); err != nil {
			t.Fatal(err)
		}
		return under(t, dir, "/testbed/widget/__pycache__")
	}},
	{"compiled_module_of_few_words", "__init__.cpython-312.pyc", KindSolution, func(*testing.T) layer {
		return layer{"/opt/widget/__pycache__/__init__.cpython-312.pyc": "\xcb\r\r\n\x00children_in_order\x00scaled"}
	}},
	{"exact_copy_of_a_small_test", "/opt/t.py", KindTest, func(*testing.T) layer {
		return layer{"/opt/t.py": "from widget import Widget\n" + testCode}
	}},
	{"build_folder", "/testbed/build/lib/widget/__init__.py", KindSolution, func(*testing.T) layer {
		return layer{"/testbed/build/lib/widget/__init__.py": baseCode + solutionCode}
	}},
	{"tests_left_in_tree", "/testbed/.pytest_cache/x", KindTest, func(*testing.T) layer {
		return layer{"/testbed/.pytest_cache/x": testCode}
	}},
	{"image_label", ConfigFile, KindSolution, func(t *testing.T) layer {
		return imageConfig(t, map[string]any{"config": map[string]any{"Labels": map[string]string{"note": solutionCode}}})
	}},
	{"image_env", ConfigFile, KindSolution, func(t *testing.T) layer {
		return imageConfig(t, map[string]any{"config": map[string]any{"Env": []string{"PATCH=" + solutionCode}}})
	}},
	{"image_history", ConfigFile, KindSolution, func(t *testing.T) layer {
		return imageConfig(t, map[string]any{"history": []map[string]string{{"created_by": "RUN printf '" + solutionCode + "' | patch"}}})
	}},
	{"later_release_in_site_packages", "acme_widget-1.5.0.dist-info", KindLater, func(*testing.T) layer {
		return layer{"/opt/env/venv/lib/python3.12/site-packages/acme_widget-1.5.0.dist-info/METADATA": "Version: 1.5.0\n"}
	}},
	{"same_release_in_site_packages", "Acme.Widget-1.4.0.dist-info", KindCopy, func(*testing.T) layer {
		return layer{"/usr/lib/python3/dist-packages/Acme.Widget-1.4.0.dist-info/RECORD": "widget/__init__.py,,\n"}
	}},
	{"package_without_metadata", "site-packages/widget/__init__.py", KindCopy, func(*testing.T) layer {
		return layer{"/opt/env/venv/lib/python3.12/site-packages/widget/__init__.py": "x = 1\n"}
	}},
	{"later_wheel", "acme_widget-1.10.0-py3-none-any.whl", KindLater, func(t *testing.T) layer {
		return layer{"/opt/env/acme_widget-1.10.0-py3-none-any.whl": zipped(t, map[string]string{"x": "y"})}
	}},
	{"later_sdist_in_zip", "cache.zip!acme-widget-1.4.1.tar.gz", KindLater, func(t *testing.T) layer {
		return layer{"/opt/cache.zip": zipped(t, map[string]string{"acme-widget-1.4.1.tar.gz": "x"})}
	}},
	{"later_conda_package", "conda-meta", KindLater, func(*testing.T) layer {
		return layer{"/opt/conda/conda-meta/acme-widget-2.0-py_0.json": "{}"}
	}},
	{"later_module_zip", "@v/v2.0.1.zip", KindLater, func(*testing.T) layer {
		return layer{"/opt/env/gomod/cache/download/github.com/!acme/widget/v2/@v/v2.0.1.zip": ""}
	}},
	{"later_module", "github.com/!acme/widget/v3@v3.0.0", KindLater, func(*testing.T) layer {
		return layer{"/opt/env/gomod/github.com/!acme/widget/v3@v3.0.0/a.go": "package widget\n"}
	}},
	{"egg_link", "acme-widget.egg-link", KindCopy, func(*testing.T) layer {
		return layer{"/opt/env/venv/lib/python3.7/site-packages/acme-widget.egg-link": "/opt/env/src/acme-widget\n."}
	}},
	{"nested_archive", "outer.zip!inner.tar.gz!", KindSolution, func(t *testing.T) layer {
		return layer{"/opt/outer.zip": zipped(t, map[string]string{"inner.tar.gz": gz(t, tarred(t, map[string]string{"deep/w.py": solutionCode}))})}
	}},
	{"xz", "x.xz!", KindSolution, func(t *testing.T) layer {
		return layer{"/opt/x.xz": through(t, solutionCode, func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) })}
	}},
	{"zstd", "x.zst!", KindSolution, func(t *testing.T) layer {
		return layer{"/opt/x.zst": through(t, solutionCode, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })}
	}},
	{"bzip2", "x.bz2!", KindSolution, func(t *testing.T) layer {
		dir := t.TempDir()
		putFile(t, filepath.Join(dir, "x"), solutionCode)
		run(t, dir, "python3", "-c", "import bz2; open('x.bz2','wb').write(bz2.compress(open('x','rb').read()))")
		return layer{"/opt/x.bz2": under(t, dir, "/")["/x.bz2"]}
	}},
	{"zip_behind_a_header", "/opt/tool.pyz!m.py", KindSolution, func(t *testing.T) layer {
		return layer{"/opt/tool.pyz": "#!/usr/bin/env python3\n" + zipped(t, map[string]string{"m.py": solutionCode})}
	}},
	{"notebook", "x.ipynb!strings", KindSolution, func(t *testing.T) layer {
		b, err := json.Marshal(map[string]any{"cells": []any{map[string]any{"source": solutionCode}}})
		if err != nil {
			t.Fatal(err)
		}
		return layer{"/opt/x.ipynb": string(b)}
	}},
	{"binary_file", "/opt/picture", KindSolution, func(*testing.T) layer {
		return layer{"/opt/picture": string(binaryCode)}
	}},
	{"across_two_reads", "/opt/big", KindSolution, func(*testing.T) layer {
		return layer{"/opt/big": strings.Repeat("x", 256<<10-30) + solutionCode + strings.Repeat("y", 1<<20)}
	}},
}

func imageConfig(t *testing.T, v any) layer {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return layer{ConfigFile: string(b)}
}

func TestScanFindsPlanted(t *testing.T) {
	t.Parallel()
	for _, tt := range planted {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := Scan(t.Context(), Needles(leakTask(t)), walkOf(clean(t), tt.plant(t)))
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range got.Hits {
				if strings.Contains(h.Place, tt.place) && h.Kind == tt.kind {
					return
				}
			}
			t.Errorf("no %s at %s in %+v", tt.kind, tt.place, got.Hits)
		})
	}
}

func TestScanOfCleanTask(t *testing.T) {
	t.Parallel()
	set := Needles(leakTask(t))
	got, err := Scan(t.Context(), set, walkOf(clean(t)))
	if err != nil {
		t.Fatal(err)
	}
	if got.Bytes == 0 || got.Count < 10 {
		t.Errorf("searched %d bytes for %d needles", got.Bytes, got.Count)
	}
	got.Bytes = 0
	want := schemas.Scan{Scanner: Scanner, Needles: set.Digest(), Count: set.Count(), Unread: []string{"/opt/env/broken.zip: zip: not a valid zip file"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("scan (-want +got):\n%s", d)
	}
}

// A file that an upper layer hides is still in the image.
func TestScanOfHiddenFile(t *testing.T) {
	t.Parallel()
	lower, upper := layer{"/opt/notes.py": solutionCode}, layer{"/opt/notes.py": "nothing\n"}
	got, err := Scan(t.Context(), Needles(leakTask(t)), walkOf(lower, clean(t), upper))
	if err != nil || len(got.Hits) != 1 || got.Hits[0].Place != "/opt/notes.py" {
		t.Errorf("got %+v, %v", got.Hits, err)
	}
}

// The compiler of Go keeps names and literals; in caches lie archives of them.
func TestScanOfCompiledGo(t *testing.T) {
	t.Parallel()
	const before, change = "package widget\n\nfunc Size() int { return 1 }\n", "\n" +
		"// ResizeToFit shrinks.\nfunc ResizeToFit(boundary int) error {\n\tif boundary < minimumShrink {\n\t\treturn errBoundary(\"the boundary is too small for this widget\")\n\t}\n\treturn nil\n}\n" +
		"\nconst minimumShrink = 3\n\nfunc errBoundary(why string) error { return boundaryError{why} }\n\ntype boundaryError struct{ why string }\n\nfunc (b boundaryError) Error() string { return \"a widget cannot shrink: \" + b.why }\n"
	base, err := tree.New([]tree.Entry{{Path: "w.go", Mode: tree.ModeFile, Data: []byte(before)}})
	if err != nil {
		t.Fatal(err)
	}
	task := Task{Base: base, Solution: base, Patch: []byte(added("w.go", 3, change))}
	for _, tt := range []struct {
		name, code string
		leak       bool
	}{{"solution", before + change, true}, {"base", before, false}} {
		dir := t.TempDir()
		putFile(t, filepath.Join(dir, "go.mod"), "module example.com/widget\n\ngo 1.20\n")
		putFile(t, filepath.Join(dir, "w.go"), tt.code)
		run(t, dir, "go", "build", "-o", filepath.Join(dir, "out.a"), ".")
		got, err := Scan(t.Context(), Needles(task), walkOf(layer{"/opt/env/gocache/ab/x-d": under(t, dir, "/")["/out.a"]}))
		if err != nil {
			t.Fatal(err)
		}
		if (len(got.Hits) > 0) != tt.leak {
			t.Errorf("%s: hits %+v", tt.name, got.Hits)
		}
	}
}

// Idioms that packages share do not reject a good task; a copy of the file does.
func TestScanRule(t *testing.T) {
	t.Parallel()
	idioms := "\n    for index, child in enumerate(children):\n    if isinstance(value, (list, tuple)):\n    return self._get_value(name)\n    raise NotImplementedError(name)\n" +
		"    other_line_one = compute(first)\n    other_line_two = compute(second)\n    other_line_three = compute(third)\n    other_line_four = compute(fourth)\n    other_line_five = compute(fifth)\n"
	const strong = "    other_line_six = compute(other_line_one, other_line_two, sixth)\n"
	base, err := tree.New([]tree.Entry{{Path: "a.py", Mode: tree.ModeFile, Data: []byte("x = 1\n")}})
	if err != nil {
		t.Fatal(err)
	}
	set := Needles(Task{Base: base, Solution: base, Name: "acme/widget", Patch: []byte(added("a.py", 1, idioms+strong))})
	lines := strings.SplitAfter(strings.TrimPrefix(idioms, "\n"), "\n")
	pkg := func(n int, text string) layer {
		return layer{fmt.Sprintf("/opt/env/cache%d/m.py", n): text}
	}
	dependency := func(text string) layer {
		return layer{"/opt/env/venv/lib/python3.12/site-packages/other/m.py": text}
	}
	vendored := func(text string) layer {
		return layer{"/opt/env/venv/lib/python3.12/site-packages/other/_vendor/widget/m.py": text}
	}
	four := strings.Join(lines[:4], "")
	for _, tt := range []struct {
		name   string
		layers []layer
		leaks  int
	}{
		{"two_lines_in_one_place", []layer{pkg(1, lines[0]+lines[1])}, 0},
		{"three_lines_in_one_place", []layer{pkg(1, lines[0]+lines[1]+lines[2])}, 1},
		{"three_lines_in_three_places", []layer{pkg(1, lines[0]), pkg(2, lines[1]), pkg(3, lines[2])}, 0},
		{"idioms_of_three_packages", []layer{pkg(1, four), pkg(2, four), pkg(3, four)}, 0},
		{"copies_of_all_in_three_packages", []layer{pkg(1, idioms+strong), pkg(2, idioms+strong), pkg(3, idioms+strong)}, 3},
		{"borrowed_by_a_dependency", []layer{dependency(strong + lines[0] + lines[1] + lines[2])}, 0},
		{"copied_into_a_dependency", []layer{dependency(idioms + strong)}, 1},
		{"vendored_in_a_dependency", []layer{vendored(strong + lines[0])}, 1},
		{"one_strong_line", []layer{pkg(1, strong)}, 0},
		{"strong_line_and_another", []layer{pkg(1, strong+lines[4])}, 1},
		{"words_of_a_module_in_another", []layer{{"/opt/env/x/b.pyc": "\x00other_line_one\x00enumerate"}}, 0},
		{"names_in_text", []layer{pkg(1, "other_line_one other_line_two other_line_three other_line_four")}, 0},
		{"names_in_binary", []layer{pkg(1, "\x00other_line_one\x00other_line_two\x00other_line_three\x00")}, 1},
	} {
		got, err := Scan(t.Context(), set, walkOf(tt.layers...))
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Hits) != tt.leaks {
			t.Errorf("%s: %d leaks, want %d: %+v", tt.name, len(got.Hits), tt.leaks, got.Hits)
		}
	}
}

// Arguments of setup() are no names that the change defines: every package passes them, and
// packages hold them compiled.
func TestScanOfKeywordArguments(t *testing.T) {
	t.Parallel()
	base, err := tree.New([]tree.Entry{{Path: "setup.py", Mode: tree.ModeFile, Data: []byte("from setuptools import setup\n")}})
	if err != nil {
		t.Fatal(err)
	}
	set := Needles(Task{Base: base, Solution: base, Name: "acme/widget", Patch: []byte(added("setup.py", 1, "\nsetup(\n    python_requires=P,\n    install_requires=I,\n    package_data=D,\n    include_package_data=True,\n)\n"))})
	got, err := Scan(t.Context(), set, walkOf(layer{"/opt/env/cache1/setup.bin": "\x00python_requires\x00install_requires\x00package_data\x00include_package_data\x00"}))
	if err != nil || len(got.Hits) > 0 {
		t.Errorf("%+v, %v", got.Hits, err)
	}
	if defined("minimum_size = 3") == "" || defined("minimum_size: int = 3") == "" || defined("def minimum_size(") == "" {
		t.Error("definitions are none")
	}
}

func TestScanBounds(t *testing.T) {
	t.Parallel()
	deep := solutionCode
	for range maxDepth + 2 {
		deep = gz(t, deep)
	}
	got, err := Scan(t.Context(), Needles(leakTask(t)), walkOf(layer{"/deep.gz": deep}))
	if err != nil || len(got.Unread) != 1 || !strings.Contains(got.Unread[0], "packed more than") {
		t.Errorf("deep archive: %+v, %v", got, err)
	}
	sc := &scan{ctx: t.Context(), set: Needles(leakTask(t)), copies: newCopies(project{})}
	sc.matcher, sc.budget = matcherOf(sc.set.needles), 1<<20
	bomb := gz(t, strings.Repeat("\x00", 64<<20))
	start := time.Now()
	if err := sc.stream("/bomb.gz", strings.NewReader(bomb), int64(len(bomb)), 0); err != nil || len(sc.unread) != 1 || sc.bytes > 4<<20 {
		t.Errorf("bomb: %v, unread %v, %d bytes in %s", err, sc.unread, sc.bytes, time.Since(start))
	}
}

// The matcher agrees with a plain search on every needle and place.
func FuzzMatcher(f *testing.F) {
	f.Add("abcdefghijkl mnopqrstuv", "xxabcdefghijkl mnopqrstuvyy", uint8(3))
	f.Add("aaaaaaaaaaaa", strings.Repeat("a", 40), uint8(0))
	f.Fuzz(func(t *testing.T, needle, hay string, cut uint8) {
		if len(needle) < windowLen || len(needle) > maxNeedle {
			return
		}
		needles := [][]byte{[]byte(needle), []byte(needle[:windowLen]), []byte(needle[len(needle)-windowLen:])}
		m := newMatcher(needles)
		m.buf = make([]byte, m.longest+int(cut)+1) // many refills
		got := map[int]bool{}
		if _, err := m.read(strings.NewReader(hay), func(i int) { got[i] = true }); err != nil {
			t.Fatal(err)
		}
		for i, n := range needles {
			if got[i] != strings.Contains(hay, string(n)) {
				t.Errorf("needle %q in %q: %v", n, hay, got[i])
			}
		}
	})
}
