package contamination_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/benchmint/benchmint/internal/contamination"
)

// sweBench is a row with the columns of SWE-bench.
func sweBench(more map[string]any) map[string]any {
	row := map[string]any{"instance_id": "acme__widget-12", "repo": "acme/widget", "base_commit": ours().Bases[0], "patch": ours().Patch, "problem_statement": statement, "hints_text": "", "test_patch": ""}
	for k, v := range more {
		row[k] = v
	}
	return row
}

func lines(t *testing.T, rows ...map[string]any) string {
	t.Helper()
	var b strings.Builder
	for _, r := range rows {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	return b.String()
}

// r2eDiff is ours as R2E-Gym has it.
func r2eDiff() string {
	var all []map[string]string
	for _, part := range []struct {
		kind  string
		lines []string
	}{{"context", around}, {"deleted", removed}, {"added", added}} {
		for _, l := range part.lines {
			all = append(all, map[string]string{"type": part.kind, "content": l})
		}
	}
	hunk := map[string]any{"descriptor": map[string]any{"old_range": map[string]int{"start": 10, "length": 4}, "new_range": map[string]int{"start": 10, "length": 14}}, "line_group": map[string]any{"all_lines": all}}
	test := map[string]any{"header": map[string]any{"file": map[string]string{"path": "tests/test_widget.py"}}, "hunks": []any{hunk}}
	code := map[string]any{"header": map[string]any{"file": map[string]string{"path": "widget.py"}}, "hunks": []any{hunk}}
	b, _ := json.Marshal(map[string]any{"file_diffs": []any{test, code}, "old_commit_hash": strings.Repeat("b2", 20) + "^"})
	return string(b)
}

// TestFamilies: rows of each family are recognised by their columns, and hold ours.
func TestFamilies(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		family string
		row    map[string]any
		known  string
		keys   []contamination.Key
	}{
		{"SWE-bench", sweBench(nil), "acme__widget-12", []contamination.Key{contamination.Number, contamination.BaseCommit, contamination.PatchID, contamination.PatchBlank, contamination.Shingles, contamination.Words, contamination.Grams}},
		{"SWE-bench", sweBench(map[string]any{"instance_id": "instance_x", "pull_number": 12, "install_config": map[string]any{"python": "3.9"}}), "instance_x", []contamination.Key{contamination.Number}},
		{"Multi-SWE-bench", map[string]any{"org": "acme", "repo": "widget", "number": 12, "base": map[string]string{"sha": ours().Bases[0], "ref": "main"}, "fix_patch": ours().Patch, "title": "Shades", "body": nil, "resolved_issues": []map[string]any{{"number": 3, "title": "No shades", "body": statement}}}, "acme__widget-12", []contamination.Key{contamination.Number, contamination.BaseCommit, contamination.Grams}},
		{"Multi-SWE-bench, flat", map[string]any{"org": "", "repo": "acme/widget", "number": "12", "base_commit": ours().Bases[0], "fix_patch": ours().Patch}, "acme__widget-12", []contamination.Key{contamination.Number, contamination.BaseCommit}},
		{"SWE-smith", map[string]any{"instance_id": "acme__widget.a1a1a1a1.func_pm__x", "repo": "swesmith/acme__widget.a1a1a1a1", "patch": change("widget.py", 10, around, added, removed), "image_name": "x", "problem_statement": statement}, "acme__widget.a1a1a1a1.func_pm__x", []contamination.Key{contamination.BaseCommit, contamination.PatchBlank, contamination.Grams}},
		{"R2E-Gym", map[string]any{"repo_name": "widget", "commit_hash": ours().Commit, "parsed_commit_content": r2eDiff(), "problem_statement": statement}, "widget__" + ours().Commit, []contamination.Key{contamination.Commit, contamination.PatchBlank, contamination.Shingles, contamination.Words, contamination.Grams}},
		{"benchmint", sweBench(map[string]any{"instance_id": "acme__widget-99", "benchmint": `{"kind":"feature","trees":{"base":"` + strings.Repeat("f6", 20) + `"},"change":{"commit":"` + ours().Commit + `","number":12}}`}), "acme__widget-99", []contamination.Key{contamination.Number, contamination.Commit, contamination.BaseCommit}},
	} {
		t.Run(tt.family+"_"+tt.known, func(t *testing.T) {
			t.Parallel()
			name := write(t, filepath.Join(t.TempDir(), "rows.jsonl"), lines(t, tt.row))
			set, hits, err := contamination.New([]contamination.Task{ours()}, contamination.Default()).Against(context.Background(), name)
			if err != nil || set.Rows != 1 || !slices.Equal(set.Families, []string{tt.family}) || len(set.Bad) > 0 {
				t.Fatalf("%+v, %v", set, err)
			}
			found := map[contamination.Key]bool{}
			for _, h := range hits {
				found[h.Key] = h.Action == contamination.Removed && h.Known == tt.known
			}
			for _, k := range tt.keys {
				if !found[k] {
					t.Errorf("%s did not find it: %v", k, hits)
				}
			}
		})
	}
}

// TestTestPatch: the tests of each family that tells them are compared.
func TestTestPatch(t *testing.T) {
	t.Parallel()
	mine := ours()
	mine.Tests = tests
	own := map[string]any{"benchmint": `{"change":{"number":77},"test_patch_encoding":"base64"}`, "test_patch": base64.StdEncoding.EncodeToString([]byte(tests))}
	for name, row := range map[string]map[string]any{
		"SWE-bench":       sweBench(map[string]any{"test_patch": tests}),
		"benchmint":       sweBench(own),
		"Multi-SWE-bench": {"org": "x", "repo": "y", "number": 1, "base": map[string]string{"sha": "1"}, "fix_patch": half, "test_patch": tests},
		"flat":            {"org": "x", "repo": "y", "number": 1, "base_commit": "1", "fix_patch": half, "test_patch": tests},
	} {
		row["patch"] = half
		place := write(t, filepath.Join(t.TempDir(), "rows.jsonl"), lines(t, row))
		_, hits, err := contamination.New([]contamination.Task{mine}, contamination.Default()).Against(t.Context(), place)
		if err != nil || !slices.ContainsFunc(hits, func(h contamination.Hit) bool {
			return h.Key == contamination.Lines && h.Action == contamination.Removed
		}) {
			t.Errorf("%s: %v, %v", name, hits, err)
		}
	}
}

// TestCommit0: a library stands there under the name of its copy.
func TestCommit0(t *testing.T) {
	t.Parallel()
	name := write(t, filepath.Join(t.TempDir(), "commit0.json"), `[{"instance_id":"commit-0/widget","repo":"commit-0/widget","original_repo":"Acme/Widget","base_commit":"1212121212","reference_commit":"3434343434","setup":"{}","test":"{}","src_dir":"widget"}]`)
	mine := contamination.Task{ID: "acme__widget-v1", Repo: "acme/widget", Kind: contamination.Library, Release: "v1.0", Bases: []string{"3434343434343434"}}
	_, hits, err := contamination.New([]contamination.Task{mine}, contamination.Default()).Against(context.Background(), name)
	if err != nil || len(hits) != 1 || hits[0].Key != contamination.Release || hits[0].Known != "commit-0/widget" {
		t.Errorf("%v, %v", hits, err)
	}
}

// TestFiles: the same rows in each form of file are the same set but for their digest.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := lines(t, sweBench(nil), sweBench(map[string]any{"instance_id": "acme__widget-13", "patch": other().Patch, "problem_statement": nil}))
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	list := "[" + strings.Join(strings.Split(strings.TrimSpace(text), "\n"), ",") + "]"
	csv := "instance_id,repo,base_commit,patch,problem_statement\n"
	for _, x := range []contamination.Task{ours(), other()} {
		csv += fmt.Sprintf("%s,acme/widget,%s,%q,%s\n", map[bool]string{true: "acme__widget-12", false: "acme__widget-13"}[x.ID == ours().ID], ours().Bases[0], "", x.Statement[:0])
	}
	csv = strings.Replace(csv, `""`, `"`+ours().Patch+`"`, 1)
	type base struct {
		SHA string `parquet:"sha"`
	}
	type issue struct {
		Body string `parquet:"body"`
	}
	type row struct {
		Org      string   `parquet:"org,zstd"`
		Repo     string   `parquet:"repo"`
		Number   int64    `parquet:"number"`
		Base     base     `parquet:"base"`
		FixPatch *string  `parquet:"fix_patch,optional"`
		Issues   []issue  `parquet:"resolved_issues,list"`
		Tests    []string `parquet:"fixed_tests,list"`
	}
	var columns bytes.Buffer
	w := parquet.NewGenericWriter[row](&columns, parquet.MaxRowsPerRowGroup(2))
	patch := ours().Patch
	for i := range 5 {
		r := row{Org: "acme", Repo: "gadget", Number: int64(12 + i), Base: base{strings.Repeat("9", 40)}, Tests: []string{"a", "b"}}
		if i == 3 {
			r.FixPatch, r.Issues = &patch, []issue{{"first"}, {statement}}
		}
		if _, err := w.Write([]row{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		text, known string
		rows        int
		keys        int
	}{
		"rows.jsonl": {text, "acme__widget-12", 2, 7}, "rows.jsonl.gz": {zipped.String(), "acme__widget-12", 2, 7}, "rows.json": {list, "acme__widget-12", 2, 7},
		"rows.csv": {csv, "acme__widget-12", 2, 6}, "rows.parquet": {columns.String(), "acme__gadget-15", 5, 5},
	} {
		place := write(t, filepath.Join(dir, name), of.text)
		set, hits, err := contamination.New([]contamination.Task{ours()}, contamination.Default()).Against(context.Background(), place)
		if err != nil || set.Rows != of.rows || set.Name != name || len(set.SHA256) != 64 || len(set.Bad) > 0 {
			t.Errorf("%s: %+v, %v", name, set, err)
		}
		hits = slices.DeleteFunc(hits, func(h contamination.Hit) bool { return h.Known != of.known })
		if len(hits) != of.keys {
			t.Errorf("%s: %d hits: %v", name, len(hits), hits)
		}
	}
	set, _, err := contamination.New([]contamination.Task{ours()}, contamination.Default()).Against(context.Background(), dir)
	if err != nil || set.Rows != 13 {
		t.Errorf("folder: %+v, %v", set, err)
	}
}

// TestBadRows: bad lines are named by file and line, and the others are compared.
func TestBadRows(t *testing.T) {
	t.Parallel()
	text := lines(t, sweBench(nil)) + "{\"instance_id\": \n\n" + lines(t, map[string]any{"instance_id": "", "repo": "", "base_commit": "", "patch": ""}, sweBench(map[string]any{"instance_id": "acme__widget-13"}))
	name := write(t, filepath.Join(t.TempDir(), "rows.jsonl"), text)
	set, hits, err := contamination.New([]contamination.Task{ours()}, contamination.Default()).Against(context.Background(), name)
	if err != nil || set.Rows != 2 || len(set.Bad) != 2 || !strings.HasPrefix(set.Bad[0], name+":2: ") || !strings.HasPrefix(set.Bad[1], name+":4: ") {
		t.Errorf("%+v, %v", set, err)
	}
	if !slices.ContainsFunc(hits, func(h contamination.Hit) bool { return h.Known == "acme__widget-13" }) {
		t.Errorf("the row after them: %v", hits)
	}
}

// TestEnds: a file that holds no row is no set, a list that is cut keeps its rows and is named, and a byte order mark
// is no part of a row.
func TestEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	row := strings.TrimSpace(lines(t, sweBench(nil)))
	csv := "instance_id,repo,base_commit,patch\n"
	for _, tt := range []struct {
		name, text string
		rows, bad  int // 0 and 0: an error
	}{
		{"empty.jsonl", "", 0, 0}, {"blank.jsonl", "\n \n", 0, 0}, {"empty.json", "", 0, 0}, {"empty_list.json", "[]", 0, 0}, {"empty.csv", "", 0, 0}, {"head.csv", csv, 0, 0},
		{"open.json", "[", 0, 0}, {"open_after_row.json", "[" + row, 1, 1}, {"cut_in_row.json", "[" + row + "," + row[:90], 1, 1},
		{"mark.jsonl", "\uFEFF" + row + "\n", 1, 0}, {"mark.json", "\uFEFF[" + row + "]", 1, 0}, {"mark.csv", "\uFEFF" + csv + "acme__widget-12,acme/widget,1,x\n", 1, 0},
	} {
		set, hits, err := contamination.New([]contamination.Task{ours()}, contamination.Default()).Against(t.Context(), write(t, filepath.Join(dir, tt.name), tt.text))
		if (err != nil) != (tt.rows+tt.bad == 0) || set.Rows != tt.rows || len(set.Bad) != tt.bad || (len(hits) > 0) != (tt.rows > 0) {
			t.Errorf("%s: %+v, %d hits, %v", tt.name, set, len(hits), err)
		}
	}
	own := filepath.Join(dir, "own")
	write(t, filepath.Join(own, "manifest.json"), `{"format":"benchmint-dataset/3","name":"widgets"}`)
	write(t, filepath.Join(own, "data", "test.jsonl"), "")
	if _, _, err := contamination.Load(t.Context(), own); !errors.Is(err, contamination.ErrUnknownFamily) {
		t.Errorf("an empty dataset: %v", err)
	}
}

// TestUnknownFamily: the error names the columns and the nearest family.
func TestUnknownFamily(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := write(t, filepath.Join(dir, "rows.jsonl"), `{"org":"a","repo":"b","number":1,"fix":"x"}`)
	_, _, err := contamination.Load(context.Background(), name)
	if !errors.Is(err, contamination.ErrUnknownFamily) || !strings.Contains(err.Error(), "fix, number, org, repo; the nearest is Multi-SWE-bench, which also has base, fix_patch") {
		t.Errorf("%v", err)
	}
	if _, _, err := contamination.Load(context.Background(), dir); !errors.Is(err, contamination.ErrUnknownFamily) {
		t.Errorf("folder: %v", err)
	}
	if _, _, err := contamination.Load(context.Background(), write(t, filepath.Join(dir, "rows.txt"), "x")); !errors.Is(err, contamination.ErrUnknownFamily) {
		t.Errorf("ending: %v", err)
	}
	if _, _, err := contamination.Load(context.Background(), filepath.Join(dir, "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("nowhere: %v", err)
	}
}

// TestFolders: tasks of Harbor, and datasets of ours, are read of their folders.
func TestFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	harbor := filepath.Join(dir, "harbor")
	write(t, filepath.Join(harbor, "acme__widget-12", "task.toml"), "version = \"1.0\"\n")
	write(t, filepath.Join(harbor, "acme__widget-12", "instruction.md"), "# Shades\n\n"+statement)
	write(t, filepath.Join(harbor, "acme__widget-12", "solution", "solve.sh"), "#!/bin/bash\ncat >x.patch <<'EOF'\n"+moved(ours().Patch)+"EOF\ngit apply x.patch\n")
	write(t, filepath.Join(harbor, "second", "task.toml"), "")
	write(t, filepath.Join(harbor, "second", "instruction.md"), "Do it")
	write(t, filepath.Join(harbor, "second", "tests", "config.json"), lines(t, sweBench(nil)))
	set, hits, err := contamination.New([]contamination.Task{ours()}, contamination.Default()).Against(context.Background(), harbor)
	if err != nil || set.Rows != 2 || !slices.Equal(set.Families, []string{"Harbor", "SWE-bench"}) {
		t.Errorf("%+v, %v", set, err)
	}
	var keys []contamination.Key
	for _, h := range hits {
		keys = append(keys, h.Key)
	}
	for _, k := range []contamination.Key{contamination.Number, contamination.PatchBlank, contamination.Grams, contamination.BaseCommit} {
		if !slices.Contains(keys, k) {
			t.Errorf("Harbor: %s found nothing: %v", k, keys)
		}
	}
	own := filepath.Join(dir, "releases", "2026.07")
	write(t, filepath.Join(own, "manifest.json"), `{"format":"benchmint-dataset/3","name":"widgets","splits":[{"name":"test"}],"release":{"version":"2026.07"}}`)
	write(t, filepath.Join(own, "data", "test.jsonl"), lines(t, sweBench(map[string]any{"benchmint": `{"kind":"feature"}`})))
	write(t, filepath.Join(own, "rejects.jsonl"), lines(t, sweBench(nil)))
	mine := ours()
	mine.Dataset = "widgets"
	set, hits, err = contamination.New([]contamination.Task{mine}, contamination.Default()).Against(context.Background(), own)
	if err != nil || set.Rows != 1 || set.Name != "widgets 2026.07" || set.Itself != 1 || hits != nil {
		t.Errorf("ours: %+v, %v, %v", set, hits, err)
	}
	set, _, err = contamination.New([]contamination.Task{ours()}, contamination.Default()).Against(context.Background(), filepath.Join(dir, "releases"))
	if err != nil || set.Rows != 1 || set.Itself != 0 {
		t.Errorf("shelf: %+v, %v", set, err)
	}
}
