package score

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReviews: what a person fills in becomes the cause, and stays when the file is written again.
func TestReviews(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, ReviewFile)
	tasks, answers := rowsOf("m", "+", "-", "-")
	for i := range answers {
		answers[i].Grade.F2P, answers[i].Grade.P2P = of(0, 1), of(1, 1)
	}
	e := evaluationOf(tasks, answers...)
	write := func() {
		t.Helper()
		var err error
		if e.Reviews, err = ReadReviews(dir); err != nil {
			t.Fatal(err)
		}
		if err := e.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	write()
	const head = "id,verdict,cause,class,misunderstood,note\n"
	b, err := os.ReadFile(name)
	if err != nil || string(b) != head+"x__y-2@m.0,FAIL,incomplete,,,\nx__y-3@m.0,FAIL,incomplete,,,\n" {
		t.Fatalf("%s (%v)", b, err)
	}
	const filled = head + "x__y-2@m.0,FAIL,incomplete,,yes,\"took it for a \"\"rename\"\"\"\nx__y-3@m.0,FAIL,incomplete,,,\nx__y-9@m.0,,,,,gone\n"
	if err := os.WriteFile(name, []byte(filled), 0o600); err != nil {
		t.Fatal(err)
	}
	write()
	if b, err := os.ReadFile(name); err != nil || string(b) != filled {
		t.Errorf("written again: %s (%v)", b, err)
	}
	g, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if c := g.Models[0].Metrics.Causes; c[CauseMisunderstood] != 1 || c[CauseIncomplete] != 1 {
		t.Errorf("causes %v", c)
	}
	if l := g.Lines[1]; l.Cause != CauseMisunderstood || l.Review == nil || l.Review.Note != `took it for a "rename"` || g.Lines[0].Review != nil {
		t.Errorf("line %+v", l)
	}
	for text, want := range map[string]string{
		"":                           "review.csv:1: EOF",
		"id,note\n":                  `review.csv:1: column "misunderstood" is missing`,
		head + "a,,,,ja,\n":          `review.csv:2: misunderstood is "ja", not yes or no`,
		head + "a,,,,,\na,,,,yes,n":  "review.csv:3: a is given more than once",
		head + "a,,,,yes,\na,,,,,\n": "review.csv:3: a is given more than once",
		head + "a,b\n":               "record on line 2: wrong number of fields",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadReviews(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
