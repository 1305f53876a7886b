package predictions_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

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
			name: "swebench_pro", path: "patches.json",
			files: map[string]string{"patches.json": `[{"instance_id":"a__b-1","patch":"x","prefix":"strong_s000","model":"strong","sample_idx":0},{"instance_id":"a__b-1","patch":"","prefix":"weak_s000","model":"weak","sample_idx":0},` +
				`{"instance_id":"a__b-1","patch":"y","prefix":"gpt_s_s007"},{"instance_id":"a__b-1","patch":"z","prefix":"gpt_s_s002"},{"instance_id":"a__b-1","patch":"z","prefix":"other"},{"instance_id":"a__b-1","patch":"2","prefix":"strong_s004","model":"strong"}]`},
			want: []string{`a__b-1 strong 0 "x"`, `a__b-1 weak 0 ""`, `a__b-1 gpt_s 7 "y"`, `a__b-1 gpt_s 2 "z"`, `a__b-1 other 0 "z"`, `a__b-1 strong 4 "2"`},
		},
		{
			name: "multi_swebench", path: "m.jsonl",
			files: map[string]string{"m.jsonl": `{"id":0,"org":"a","repo":"b","number":1,"fix_patch":"x"}` + "\n" + `{"org":"a","repo":"b","number":"2","fix_patch":"y"}`},
			want:  []string{`a__b-1 m 0 "x"`, `a__b-2 m 0 "y"`},
		},
		{
			name: "openhands", path: "run",
			files: map[string]string{"run/metadata.json": "{}", "run/output.jsonl": `{"instance_id":"a__b-1","instance":{"instance_id":"a__b-1","patch":"gold"},"metadata":{"llm_config":{"model":"m/1","temperature":NaN}},"test_result":{"git_patch":"x"},"metrics":{"accumulated_cost":Infinity}}` + "\n" +
				`{"instance_id":"a__b-2","metadata":{"llm_config":{"model":"m/1"}},"test_result":{"git_patch":null},"error":"gone"}` + "\n" + `{"instance_id":"a__b-3","git_patch":"z","metadata":{"llm_config":{"model":"m/2"}}}`},
			want: []string{`a__b-1 m/1 0 "x"`, `a__b-2 m/1 0 ""`, `a__b-3 m/2 0 "z"`},
		},
		{
			name: "mini_swe_agent", path: "run",
			files: map[string]string{"run/preds.json": "{\n  \"a__b-1\": {\n    \"model_name_or_path\": \"m\",\n    \"instance_id\": \"a__b-1\",\n    \"model_patch\": \"x\"\n  }\n}\n", "run/a__b-1/a__b-1.traj.json": "{}"},
			want:  []string{`a__b-1 m 0 "x"`},
		},
		{
			name: "swe_agent_and_logs", path: "run",
			files: map[string]string{"run/a__b-1/a__b-1.pred": `{"model_name_or_path":"m","instance_id":"a__b-1","model_patch":"x"}`, "run/a__b-1/a__b-1.patch": "x", "run/a__b-2/a__b-2.patch": "y", "run/m3/a__b-3/patch.diff": "z", "run/m3/a__b-3/eval.sh": ""},
			want:  []string{`a__b-1 m 0 "x"`, `a__b-2 run 0 "y"`, `a__b-3 m3 0 "z"`},
		},
		{
			name: "nested_rows", path: "m.jsonl",
			files: map[string]string{"m.jsonl": `{"swe-bench-outputs":{"instance_id":"a__b-1","model_name_or_path":"n","model_patch":"x"}}` + "\n" + `{"ds":{"instance_id":"a__b-2"},"output_patch":"y"}`},
			want:  []string{`a__b-1 n 0 "x"`, `a__b-2 m 0 "y"`},
		},
		{
			name: "byte_order_mark", path: "m.jsonl", files: map[string]string{"m.jsonl": "\ufeff{\"instance_id\":\"a__b-1\",\"model_patch\":\"é\"}\r\n\r\n{\"instance_id\":\"a__b-2\",\"model_patch\":\"y\"}\r\n"},
			want: []string{`a__b-1 m 0 "é"`, `a__b-2 m 0 "y"`},
		},
		{
			name: "utf_16", path: "m.json", files: map[string]string{"m.json": utf16le("[{\"instance_id\":\"a__b-1\",\"model_patch\":\"é😀\"}]")},
			want: []string{`a__b-1 m 0 "é😀"`},
		},
		{
			name: "gzip", path: "m.jsonl.gz", files: map[string]string{"m.jsonl.gz": gzipped(`{"instance_id":"a__b-1","model_patch":"x"}`)},
			want: []string{`a__b-1 m 0 "x"`},
		},
		{
			name: "beside_the_answer", path: "m.jsonl",
			files: map[string]string{"m.jsonl": strings.Join([]string{
				`{"instance_id":"a__b-1","model_patch":"NaN, -Infinity,}","cost":NaN,"total_tokens":12.5,"x":[-Infinity,Infinity,]}`, `{"instance_id":"a__b-2","model_patch":"y","total_tokens":1e400,"cost":"?","n":123456789012345678901234567890,}`,
				"{\"instance_id\":\"a__b-3\",\"model_patch\":\"a\tb\\u0000\\u000d\",\"model_patch\":\"last\"}", `{"instance_id":"a__b-4","model_name_or_path":null,"model_patch":"z"}`,
			}, "\n")},
			want: []string{`a__b-1 m 0 "NaN, -Infinity,}"`, `a__b-2 m 0 "y"`, `a__b-3 m 0 "last"`, `a__b-4 m 0 "z"`},
		},
		{
			name: "bytes_of_an_answer", path: "m.jsonl",
			files: map[string]string{"m.jsonl": `{"instance_id":"a__b-1","model_patch":"a\ud800b\ud83d\ude00\udce9\u0000"}` + "\n{\"instance_id\":\"a__b-2\",\"model_patch\":\"\xe9\tx\"}"},
			want:  []string{`a__b-1 m 0 "a�b😀\xe9\x00" half characters (surrogates without their pair) became U+FFFD: 1`, `a__b-2 m 0 "\xe9\tx"`},
		},
		{
			name: "no_answer", path: "m.jsonl",
			files: map[string]string{"m.jsonl": strings.Join([]string{
				`{"instance_id":"a__b-1"}`, `{"instance_id":"a__b-2","generated":"diff --git a/x b/x\n"}`, `{"instance_id":"a__b-3","patch":"gold","test_patch":"t"}`, `{"instance_id":"a__b-4","model_patch":["x"]}`, `{"instance_id":"a__b-5","patch":"gold","test_patch":"t","model_patch":""}`,
			}, "\n")},
			want:   []string{`a__b-1 m 0 "" no key of the entry holds a patch: it is taken as empty`, `a__b-5 m 0 ""`},
			faults: []string{`m.jsonl:2: a__b-2: key "model_patch" is missing; is "generated" meant for it?`, `m.jsonl:3: a__b-3: key "patch" beside "test_patch" is the solution of a dataset's row, and no other key holds an answer`, `m.jsonl:4: a__b-4: key "model_patch": a patch is a string, not ["x"]`},
		},
		{
			name: "a_damaged_list", path: "m.json",
			files:  map[string]string{"m.json": "[{\"instance_id\":\"a__b-1\",\"model_patch\":\"x\"},\n  {\n    \"instance_id\": \"a__b-2\",\n    \"model_patch\": \"y\"\n  },\n{\"instance_id\":\"a__b-3\",\"model_patch\":\"z\"}, {\"instance_id\":\"a_"},
			want:   []string{`a__b-1 m 0 "x"`, `a__b-2 m 0 "y"`, `a__b-3 m 0 "z"`},
			faults: []string{`m.json:6: unexpected end of JSON input`},
		},
		{
			name: "samples_named_after_others", path: "m.jsonl",
			files:  map[string]string{"m.jsonl": `{"instance_id":"a__b-1","model":"m","model_patch":"x"}` + "\n" + `{"instance_id":"a__b-1","model":"m","model_patch":"y","sample":0}` + "\n" + `{"instance_id":"a__b-1","model":"m","model_patch":"z","sample":1.5}`},
			want:   []string{`a__b-1 m 1 "x"`, `a__b-1 m 0 "y"`},
			faults: []string{`m.jsonl:3: a__b-1: sample 1.5 is not a whole number`},
		},
		{
			name: "the_same_again", path: "m.jsonl",
			files:  map[string]string{"m.jsonl": `{"instance_id":"a__b-1","model_patch":"x"}` + "\n" + `{"instance_id":"a__b-1","model_patch":"x"}`},
			want:   []string{`a__b-1 m 0 "x"`},
			faults: []string{`m.jsonl:2: a__b-1: the same answer is given more than once (m.jsonl:1)`},
		},
		{
			name: "bad_entries", path: "preds.jsonl",
			files: map[string]string{"preds.jsonl": strings.Join([]string{
				`{"instance_id":"a__b-1","model_patch":"x"}`, `{"instance_id":"a__b-2"`, `{"instance_id":"a__b-3","model_path":"x"}`, `{"instanceid":"a__b-4","model_patch":"x"}`,
				`{"instance_id":5,"model_patch":"x"}`, `{"instance_id":"a__b-6","model_patch":"x","sample":0}`, `{"instance_id":"a__b-6","model_patch":"x","sample":0}`,
			}, "\n")},
			want: []string{`a__b-1 preds 0 "x"`, `5 preds 0 "x"`, `a__b-6 preds 0 "x"`},
			faults: []string{
				`preds.jsonl:2: unexpected end of JSON input`,
				`preds.jsonl:3: a__b-3: key "model_patch" is missing; is "model_path" meant for it?`,
				`preds.jsonl:4: key "instance_id" is missing; is "instanceid" meant for it?`,
				`preds.jsonl:7: a__b-6: sample 0 of model "preds" is given more than once`,
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := written(t, tc.files)
			got, faults, err := predictions.Read(filepath.Join(dir, tc.path))
			if err != nil {
				t.Fatal(err)
			}
			var said, wrong []string
			for _, p := range got {
				one := fmt.Sprintf("%s %s %d %q", p.Instance, p.Model, p.Sample, p.Patch)
				for _, said := range p.Said {
					one += " " + said
				}
				if p.Tree != "" {
					one += " " + strings.TrimPrefix(p.Tree, dir+"/")
				}
				said = append(said, one)
			}
			for _, f := range faults {
				wrong = append(wrong, strings.ReplaceAll(f.Error(), dir+"/", ""))
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

// written is a folder with files.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func utf16le(s string) string {
	out := []byte("\xff\xfe")
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return string(out)
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(s))
	if err := errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	return b.String()
}

// TestReadUndecided: answers of which nothing says whether they are of two models or of one are
// no file that can be graded.
func TestReadUndecided(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "preds.jsonl")
	if err := os.WriteFile(name, []byte(`{"instance_id":"a__b-1","model_patch":"x"}`+"\n"+`{"instance_id":"a__b-1","model_patch":"y"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := predictions.Read(name)
	if err == nil || !strings.Contains(err.Error(), name+":1 and "+name+":2 both answer a__b-1") || !strings.Contains(err.Error(), "model_name_or_path") || !strings.Contains(err.Error(), "sample_idx") {
		t.Errorf("error %v", err)
	}
}

// TestMatched: IDs that are written otherwise are found where only one can be meant.
func TestMatched(t *testing.T) {
	t.Parallel()
	known := []string{"Acme__Widget-1", "acme__two-2", "ACME__two-2", "acme__x-3"}
	var all []predictions.Prediction
	for _, id := range []string{"instance_acme__widget-1", "Acme__Widget-1", "acme__TWO-2", "acme__two-2", "instance_acme__X-3", "acme__y-4"} {
		all = append(all, predictions.Prediction{Instance: id})
	}
	var got []string
	for _, p := range predictions.Matched(all, known) {
		got = append(got, strings.Join(append([]string{p.Instance}, p.Said...), ": "))
	}
	want := []string{"Acme__Widget-1", "acme__TWO-2", "acme__two-2", "acme__y-4", "Acme__Widget-1: instance instance_acme__widget-1 is taken for Acme__Widget-1", "acme__x-3: instance instance_acme__X-3 is taken for acme__x-3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzRead: no line takes another with it, whatever it holds and wherever it stands.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"{", "[", "]", "}", `{"instance_id":`, `{"a":[`, `"`, `"\`, "null", "hello", `{"instance_id":"x"}`, "\ufeff", "\xff\xfe", `{"x":"\ud800`, "NaN", ",", "{\n}", "[1,\n2]", "\x1f\x8b"} {
		f.Add(seed, 1)
		f.Add(seed, 0)
	}
	f.Fuzz(func(t *testing.T, line string, at int) {
		good := []string{`{"instance_id":"a__b-1","model_name_or_path":"m","model_patch":"x"}`, `{"instance_id":"a__b-2","model_name_or_path":"m","model_patch":"y","cost":NaN}`, `{"instance_id":"a__b-3","model_name_or_path":"m","patch":"z",}`}
		if strings.HasPrefix(line, "\x1f\x8b") || strings.HasPrefix(line, "\xff\xfe") || strings.HasPrefix(line, "\xfe\xff") {
			line = "?" + line // another encoding, of the whole file
		}
		line = strings.ReplaceAll(line, "\n", " ")
		place := (at%4 + 4) % 4
		name := filepath.Join(t.TempDir(), "preds.jsonl")
		if err := os.WriteFile(name, []byte(strings.Join(slices.Insert(slices.Clone(good), place, line), "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		got, _, err := predictions.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		found := map[string]string{}
		for _, p := range got {
			if p.Model == "m" && p.Sample == 0 {
				found[p.Instance] = string(p.Patch)
			}
		}
		for id, patch := range map[string]string{"a__b-1": "x", "a__b-2": "y", "a__b-3": "z"} {
			if _, ok := found[id]; !ok || found[id] != patch && !strings.Contains(line, "a__b-") {
				t.Errorf("%s is %q beside %q", id, found[id], line)
			}
		}
	})
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
