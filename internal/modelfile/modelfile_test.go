package modelfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/modelfile"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"whole":    {"- name: a\n  cutoff: 2024-10-01\n  released: 2025-08-07\n  source: https://example.com\n- {name: b, cutoff: 2024-02, source: s}\n", "a 2024-10-01T23:59:59Z, b 2024-02-29T23:59:59Z"},
		"quoted":   {"- {name: \"a b\", cutoff: \"2024-10\", source: s}\n", "a b 2024-10-31T23:59:59Z"},
		"key":      {"- name: a\n  cut_off: 2024-10\n  source: s\n", `models.yaml:2: unknown key "cut_off"; did you mean cutoff?`},
		"date":     {"- name: a\n  cutoff: October\n  source: s\n", `models.yaml:2: cutoff: "October" is no date`},
		"missing":  {"- {name: a, cutoff: 2024-10, source: s}\n- {name: b, source: s}\n", "models.yaml:2: cutoff is missing, and so are scores"},
		"source":   {"- {name: a, cutoff: 2024-10}\n", "models.yaml:1: source is missing"},
		"twice":    {"- {name: a, cutoff: 2024-10, source: s}\n- {name: a, cutoff: 2024-11, source: s}\n", "models.yaml:2: a is given more than once"},
		"no_list":  {"a: b\n", "models.yaml:1: a list of models is wanted"},
		"empty":    {"", "models.yaml:1: a list of models is wanted"},
		"a_word":   {"- a\n", "models.yaml:1: an entry has name, cutoff and source"},
		"aliases":  {"- &x {name: a, cutoff: 2024-10, source: s}\n- *x\n", "models.yaml:1: aliases and deep nesting are not read"},
		"scores":   {"- {name: a, scores: {mmlu: 88.7}, source: s}\n", "a 0001-01-01T00:00:00Z map[mmlu:88.7]"},
		"no_score": {"- name: a\n  scores: {mmlu: x}\n  source: s\n", `models.yaml:2: scores: mmlu: "x" is no number`},
		"a_list":   {"- name: [a]\n", "models.yaml:1: name is a word or a date"},
		"no_yaml":  {"- {", "models.yaml: "},
	} {
		file := filepath.Join(t.TempDir(), "models.yaml")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := modelfile.Read(file)
		var got []string
		for _, m := range all {
			one := fmt.Sprintf("%s %s", m.Name, m.CutOff.Format(time.RFC3339))
			if m.Scores != nil {
				one += fmt.Sprintf(" %v", m.Scores)
			}
			got = append(got, one)
		}
		said := strings.Join(got, ", ")
		if err != nil {
			said = strings.TrimPrefix(err.Error(), filepath.Dir(file)+"/")
		}
		if said != c.want && (err == nil || !strings.HasPrefix(said, c.want)) {
			t.Errorf("%s: %s, want %s", name, said, c.want)
		}
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	all := modelfile.Models{{Name: "m"}, {Name: "m (8K)", Source: "of this setting"}}
	for model, want := range map[string]string{"m": "m", "m (Trae-agent)": "m", "m (8K)": "m (8K)", "other (8K)": ""} {
		if m, ok := all.Of(model); m.Name != want || ok != (want != "") {
			t.Errorf("%s: %q, want %q", model, m.Name, want)
		}
	}
}
