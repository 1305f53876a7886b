package score

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/schemas"
)

func TestWriteThenRead(t *testing.T) {
	t.Parallel()
	of := func(model string, v schemas.Verdict) Answer {
		return Answer{Task: Task{Instance: "a__b-1", Language: "go"}, Grade: schemas.Grade{Verdict: v, Prediction: schemas.Prediction{Instance: "a__b-1", Model: model}, P2P: &schemas.Score{Want: 2, Missed: []string{"x", "y"}}}}
	}
	e := evaluation([]Answer{of("one", schemas.VerdictPass), of("two", schemas.VerdictFail)})
	e.Faults = []Fault{{Prediction: schemas.Prediction{Instance: "a__b-1", Model: "two", Sample: 1}, Why: "disk full"}}
	dir := t.TempDir()
	if err := e.Write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Grades{Figures: e.Figures(), Lines: e.Lines()}, got); diff != "" {
		t.Errorf("grades (-written +read):\n%s", diff)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	const line = `{"instance_id":"a__b-1","model_name_or_path":"m","sample":0,"resolved":true,"verdict":"PASS"}` + "\n"
	for _, c := range []struct{ name, metrics, results, want string }{
		{"cut_metrics", "{\n\"models\":", "", "metrics.json:2: unexpected EOF"},
		{"older_metrics", "[]", "", "metrics.json was written by an older version: benchmint eval DATASET --regrade --output "},
		{"wrong_metrics", "{\n\"models\":1}", "", "metrics.json:2: json: cannot unmarshal number"},
		{"newer", `{"program":"v9.1.0","dataset":"d","tasks":1,"stars":3}`, "", `metrics.json: unknown key "stars": benchmint v9.1.0 wrote it, and this version is older: `},
		{"unknown_writer", `{"dataset":"d","stars":3}`, "", `metrics.json: unknown key "stars": benchmint of an unknown version wrote it`},
		{"unknown_key", "{}", line + `{"instance":"a"}`, `results.jsonl:2: json: unknown field "instance"`},
		{"empty_line", "{}", line + "\n" + line, "results.jsonl:2: no JSON value"},
		{"two_values", "{}", strings.TrimSpace(line) + line, `results.jsonl:1: "{\"instance_id\":\"a__b" after the end of the value`},
		{"no_id", "{}", strings.Replace(line, "a__b-1", "", 1), "results.jsonl:1: instance_id is empty"},
		{"sample", "{}", strings.Replace(line, `"sample":0`, `"sample":-1`, 1), "results.jsonl:1: sample is -1"},
		{"no_verdict", "{}", strings.Replace(line, "PASS", "", 1), "results.jsonl:1: neither verdict nor fault"},
		{"other_verdict", "{}", strings.Replace(line, "PASS", "PAS", 1), `results.jsonl:1: verdict "PAS" is not one of`},
		{"contradiction", "{}", strings.Replace(line, "PASS", "FAIL", 1), `results.jsonl:1: resolved is true with verdict "FAIL"`},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{MetricsFile: c.metrics, ResultsFile: c.results} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, not with %q", c.name, err, c.want)
		}
	}
}
