package predictions_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/predictions"
)

// TestRead: the forms of the clients, and what is wrong with an entry beside good ones.
func TestRead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		files  map[string]string // the path read is the first folder, or the only file
		path   string
		want   []string // instance model sample patch
		faults []string
	}{
		{
			name: "swebench_lines", path: "preds.jsonl",
			files: map[string]string{"preds.jsonl": `{"instance_id":"a__b-1","model_name_or_path":"m/1","model_patch":"x","other":1}` + "\n\n" +
				`{"instance_id":"a__b-1","model_name_or_path":"m/1","model_patch":"y"}` + "\n" + `{"instance_id":"a__b-2","model_name_or_path":"m/2","model_patch":null}` + "\n"},
			want: []string{`a__b-1 m/1 0 "x"`, `a__b-1 m/1 1 "y"`, `a__b-2 m/2 0 ""`},
		},
		{
			name: "one_line", path: "m.jsonl", files: map[string]string{"m.jsonl": `{"instance_id":"a__b-1","model_patch":"x"}`},
			want: []string{`a__b-1 m 0 "x"`},
		},
		{
			name: "swebench_list", path: "preds.json", files: map[string]string{"preds.json": `[{"instance_id":"a__b-1","model_name_or_path":"m","model_patch":"x","sample":4}]`},
			want: []string{`a__b-1 m 4 "x"`},
		},
		{
			name: "swebench_object", path: "preds.json", files: map[string]string{"preds.json": `{"a__b-2":{"model_name_or_path":"m","model_patch":"x"},"a__b-1":"y"}`},
			want: []string{`a__b-1 preds 0 "y"`, `a__b-2 m 0 "x"`},
		},
		{
			name: "resq", path: "gpt.json", files: map[string]string{"gpt.json": `[{"id":"a__b-1","patch":"x"},{"id":"a__b-2","patch":""}]`},
			want: []string{`a__b-1 gpt 0 "x"`, `a__b-2 gpt 0 ""`},
		},
		{
			name: "folder", path: "model-a", files: map[string]string{"model-a/a__b-1.patch": "x", "model-a/README": "no patch"},
			want: []string{`a__b-1 model-a 0 "x"`},
		},
		{
			name: "folder_of_models", path: "all",
			files: map[string]string{"all/m1/a__b-1.patch": "x", "all/m2/0/a__b-1.diff": "y", "all/m2/1/a__b-1.diff": "z", "all/m2/x/a__b-1.diff": "?", "all/a/b/c/d.diff": "?"},
			want:  []string{`a__b-1 m1 0 "x"`, `a__b-1 m2 0 "y"`, `a__b-1 m2 1 "z"`},
			faults: []string{
				`all/a/b/c/d.diff: too deep: ID.patch, MODEL/ID.patch and MODEL/SAMPLE/ID.patch are read`,
				`all/m2/x/a__b-1.diff: folder "x" is not the number of a sample`,
			},
		},
		{
			name: "solved_trees", path: "model-a",
			files: map[string]string{"model-a/a__b-1/x.py": "x", "model-a/a__b-1/fix.patch": "of the tree", "model-a/m2/0/a__b-v1.0.library/c__d-2/y.go": "y", "model-a/other/z.py": "z"},
			want:  []string{`a__b-1 model-a 0 "" model-a/a__b-1`, `a__b-v1.0.library m2 0 "" model-a/m2/0/a__b-v1.0.library`},
		},
		{
			name: "bad_entries", path: "preds.jsonl",
			files: map[string]string{"preds.jsonl": strings.Join([]string{
				`{"instance_id":"a__b-1","model_patch":"x"}`, `{"instance_id":"a__b-2"`, `{"instance_id":"a__b-3","model_path":"x"}`, `{"instanceid":"a__b-4","model_patch":"x"}`,
				`{"instance_id":5,"model_patch":"x"}`, `{"instance_id":"a__b-6","model_patch":"x","sample":0}`, `{"instance_id":"a__b-6","model_patch":"x","sample":0}`,
			}, "\n")},
			want: []string{`a__b-1 preds 0 "x"`, `a__b-6 preds 0 "x"`},
			faults: []string{
				`preds.jsonl:2: unexpected end of JSON input`,
				`preds.jsonl:3: a__b-3: key "model_patch" is missing; is "model_path" meant for it?`,
				`preds.jsonl:4: key "instance_id" is missing; is "instanceid" meant for it?`,
				`preds.jsonl:5: key "instance_id": a number where a string belongs`,
				`preds.jsonl:7: a__b-6: sample 0 of model "preds" is given more than once`,
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, content := range tc.files {
				full := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, faults, err := predictions.Read(filepath.Join(dir, tc.path))
			if err != nil {
				t.Fatal(err)
			}
			var said, wrong []string
			for _, p := range got {
				one := fmt.Sprintf("%s %s %d %q", p.Instance, p.Model, p.Sample, p.Patch)
				if p.Tree != "" {
					one += " " + strings.TrimPrefix(p.Tree, dir+"/")
				}
				said = append(said, one)
			}
			for _, f := range faults {
				wrong = append(wrong, strings.TrimPrefix(f.Error(), dir+"/"))
			}
			if diff := cmp.Diff(tc.want, said); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.faults, wrong); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{"empty.jsonl": "\n", "text.txt": "hello", "broken.json": "[{]"} {
		full := filepath.Join(dir, name)
		if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, _, err := predictions.Read(full); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
	if _, _, err := predictions.Read(t.TempDir()); err == nil {
		t.Error("an empty folder was read")
	}
}
