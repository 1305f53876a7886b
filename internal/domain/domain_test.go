package domain

import (
	"slices"
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name           string
		topics         []string
		readme         string
		want, evidence string
	}{
		{"topics", []string{"orm", "SQL", "python"}, "", "database", "topic orm, topic sql"},
		{"topic_and_word", []string{"asgi"}, "# Lamp\nA small web framework.", "web", `topic asgi, word "web framework"`},
		{"words", nil, "Kit\n===\n\nPrograms for machine learning: neural networks and their fine-tuning.", "ai-ml", `word "machine learning", word "neural network", word "fine-tuning"`},
		{"after_a_directive", nil, ".. image:: x.svg\n\nSimulation and numerical solvers.\n", "science", `word "simulation", word "numerical", word "solver"`},
		{"one_topic", []string{"api"}, "", "", ""},
		{"two_words", nil, "A database with SQL.", "", ""},
		{"one_word_in_one_and_many", nil, "A database of databases.", "", ""},
		{"two_alike", []string{"aws", "serverless", "http", "web"}, "", "", ""},
		{"one_twice_the_other", []string{"aws", "serverless", "http"}, "", "cloud", "topic aws, topic serverless"},
		{"words_of_markup", nil, "[x](https://sql.example/database) <img alt=\"orm\"> ```\nsql database orm mysql\n``` A kit.", "", ""},
		{"words_far_below", nil, strings.Repeat("A kit of things. ", 100) + "database sql orm mysql", "", ""},
		{"part_of_a_word", nil, "Former storms: mysqlite, format, databased.", "", ""},
		{"nothing", nil, "", "", ""},
	} {
		if got := Of(tc.topics, tc.readme); got.Name != tc.want || got.Evidence != tc.evidence {
			t.Errorf("%s: %+v, want %s by %s", tc.name, got, tc.want, tc.evidence)
		}
	}
}

// TestTable: each domain has topics and words in lower case, none of them twice.
func TestTable(t *testing.T) {
	t.Parallel()
	if want := []string{"ai-ml", "devops", "web", "database", "science", "cloud"}; !slices.Equal(Names(), want) {
		t.Errorf("%v, want %v", Names(), want)
	}
	seen := map[string]string{}
	for _, e := range domains() {
		for kind, all := range map[string][]string{"topic ": e.topics, "word ": e.words} {
			if len(all) < 5 {
				t.Errorf("%s has %d %ss", e.name, len(all), kind)
			}
			for _, w := range all {
				if w != strings.ToLower(strings.TrimSpace(w)) || w == "" || seen[kind+w] != "" {
					t.Errorf("%s: %s%q stands at %q, too", e.name, kind, w, seen[kind+w])
				}
				seen[kind+w] = e.name
			}
		}
	}
}
