package formats

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

func f2p(ids ...string) func(*output.Task) {
	return func(x *output.Task) {
		for _, id := range ids {
			x.Proof.Tests = append(x.Proof.Tests, schemas.TestVerdict{ID: id, Class: schemas.F2P})
		}
	}
}

// What a format cannot express is refused by name and reason; the others are written.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		format Format
		kind   schemas.Kind
		edit   func(*output.Task)
		want   string // of the refusal; "" is none
	}{
		{"swebench", SWEBench{}, schemas.KindFeature, func(*output.Task) {}, ""},
		{"swebench_of_an_edit", SWEBench{}, schemas.KindEdit, func(*output.Task) {}, ""},
		{"line_feed_in_an_id", SWEBench{}, schemas.KindFeature, f2p("t.py::test[a\nb]"), "at its line feed"},
		{"two_blanks", SWEBench{}, schemas.KindFeature, f2p("t.py::test[a  b]"), `would read another name ("t.py::test[a b]")`},
		{"blank_at_the_end", SWEBench{}, schemas.KindFeature, f2p("t.py::test "), "would read another name"},
		{"latin1_gold", SWEBench{}, schemas.KindFeature, func(x *output.Task) { x.Patch = []byte(strings.Replace(goldPatch, "corn", "caf\xe9", 1)) }, "patch is not UTF-8"},
		{"one_file_in_both", SWEBench{}, schemas.KindFeature, func(x *output.Task) {
			x.Patch = []byte(goldPatch + "diff --git a/tests/test_widget.py b/tests/test_widget.py\n--- a/tests/test_widget.py\n+++ b/tests/test_widget.py\n@@ -1,1 +1,2 @@\n import widget\n+import os\n")
		}, `change one file: "tests/test_widget.py"`},
		{"another_runner", SWEBench{}, schemas.KindFeature, func(x *output.Task) { x.Environment.Recipe.Report = "tap" }, `reports of the format "tap"`},
		{"harbor", Harbor{}, schemas.KindFeature, func(*output.Task) {}, ""},
		{"harbor_two_blanks", Harbor{}, schemas.KindFeature, f2p("t.py::test[a  b]"), "not one line of words with single blanks"},
		{"harbor_name", Harbor{}, schemas.KindFeature, func(x *output.Task) { x.Start.ChangeID = "acme__wid..get-1" }, `a task of Harbor cannot have the name "acme__wid..get-1"`},
		{"harbor_cut_at_a_dot", Harbor{}, schemas.KindFeature, func(x *output.Task) { x.Start.ChangeID = "acme__widget-c5968aeb5c72f.longer.service"[:31] + ".service" }, "which ends in a dot"},
		{"harbor_another_runner", Harbor{}, schemas.KindFeature, func(x *output.Task) { x.Environment.Recipe.Report = "tap" }, `reports of the format "tap"`},
		{"huggingface_latin1", HuggingFace{}, schemas.KindFeature, func(x *output.Task) { x.Patch = []byte(strings.Replace(goldPatch, "corn", "caf\xe9", 1)) }, "patch is not UTF-8"},
		{"huggingface_two_blanks", HuggingFace{}, schemas.KindFeature, f2p("t.py::test[a  b]"), ""},
		{"resq", RESQ{}, schemas.KindEdit, func(*output.Task) {}, ""},
		{"resq_of_a_feature", RESQ{}, schemas.KindFeature, func(*output.Task) {}, "kind feature is not an edit"},
		{"resq_in_go", RESQ{}, schemas.KindEdit, func(x *output.Task) { x.Start.Language = "go" }, "runs Python, not go"},
		{"resq_on_a_disk", RESQ{}, schemas.KindEdit, func(x *output.Task) { x.Origin.Change.Repo = "local/widget" }, "on no host"},
		{"resq_python_2", RESQ{}, schemas.KindEdit, func(x *output.Task) { x.Environment.Recipe.Toolchain.Version = "2.7.18" }, "its Python is 2.7.18"},
		{"resq_with_packages", RESQ{}, schemas.KindEdit, func(x *output.Task) { x.Environment.Recipe.SystemPackages = []string{"libpq-dev"} }, "libpq-dev"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			good := schemas.KindFeature
			if tt.format.Name() == "resq" {
				good = schemas.KindEdit
			}
			other := task(t, good)
			other.Start.ChangeID = strings.Replace(other.ID(), "widget", "another", 1)
			d := dataset(t, other, task(t, tt.kind, tt.edit))
			dir := filepath.Join(t.TempDir(), "deep", "out")
			r, err := Export(dir, d, tt.format)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				if r.Written != 2 || len(r.Refused) > 0 {
					t.Errorf("%+v", r)
				}
				return
			}
			if r.Written != 1 || len(r.Refused) != 1 || r.Refused[0].InstanceID != d.Rows[1].InstanceID || !strings.Contains(r.Refused[0].Reason, tt.want) {
				t.Errorf("got %+v, want a refusal with %q", r, tt.want)
			}
		})
	}
}

func TestExportWritesToNoFolderThatHoldsSomething(t *testing.T) {
	t.Parallel()
	d := dataset(t, task(t, schemas.KindFeature))
	dir := t.TempDir()
	if _, err := Export(dir, d, SWEBench{}); err != nil {
		t.Fatalf("an empty folder: %v", err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "test.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Export(dir, d, RESQ{}); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("a folder with files: %v", err)
	}
	if after, err := os.ReadFile(filepath.Join(dir, "test.jsonl")); err != nil || string(after) != string(before) {
		t.Errorf("the file that was there: %v", err)
	}
	broken := filepath.Join(t.TempDir(), "out")
	if err := os.RemoveAll(filepath.Join(d.Dir, output.BlobsDir)); err != nil {
		t.Fatal(err)
	}
	if _, err := Export(broken, d, SWEBench{}); err == nil {
		t.Error("a dataset without its trees is written")
	}
	if left, err := os.ReadDir(filepath.Dir(broken)); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, id, want string }{
		{"plain", "t.py::test", "t.py::test"},
		{"blank", "t.py::test[a b]", "t.py::test[a b]"},
		{"two_blanks", "a  b", "a b"},
		{"no_break_space", "a\u00a0b", "a b"},
		{"edge", " a ", "a"},
		{"tab", "a\tb", "ab"},
		{"carriage_return", "a\rb", "ab"},
		{"colour", "a[31mb", "ab"},
		{"bracket", "a[31]", "a[31]"},
		{"unicode", "t[é—漢]", "t[é—漢]"},
		{"empty", "", ""},
	} {
		if got := parsed(tt.id); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for _, tt := range []struct {
		name string
		ids  []string
		ok   bool
	}{
		{"twice", []string{"a", "a"}, false},
		{"cut_in_a_failure", []string{"t[x", "t[x - y]"}, false},
		{"dash_alone", []string{"t[x - y]", "t[z - y]"}, true},
	} {
		if err := names(tt.ids[:1], tt.ids[1:]); (err == nil) != tt.ok {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestImage(t *testing.T) {
	t.Parallel()
	key := schemas.DigestBytes([]byte("x"))
	got := map[string]string{}
	want := map[string]string{
		"acme__widget-12": "acme__widget-12", "Acme__Wid.get-e12.b34": "acme__wid.get-e12.b34", "a___b": "a-b", "a_.b--c": "a-b--c", "_a.": "a",
	}
	for id := range want {
		r := output.Row{InstanceID: id}
		r.Benchmint.ImageKey = key
		got[id] = strings.TrimSuffix(strings.TrimPrefix(Image(r), "benchmint/"), ":"+string(key)[len("sha256:"):][:12])
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("names (-want +got):\n%s", d)
	}
}

// The page of the formats names every format, file and key.
func TestDocsNameEverything(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{resqFile, listsDir + "/<split>.parquet", "image", "image_name", "docker_image", "eval_script", "log_parser", "eval_type", logParser, evalType}
	for _, of := range []reflect.Type{reflect.TypeFor[resqRecord](), reflect.TypeFor[modifiedFile](), reflect.TypeFor[Result](), reflect.TypeFor[Refusal]()} {
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			want = append(want, name)
		}
	}
	for _, name := range want {
		if !strings.Contains(string(b), "`"+name+"`") {
			t.Errorf("docs/formats.md does not name `%s`", name)
		}
	}
	for _, f := range All() {
		if !strings.Contains(string(b), "\n## "+f.Name()+"\n") {
			t.Errorf("docs/formats.md has no section %s", f.Name())
		}
	}
}
