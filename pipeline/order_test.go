package pipeline_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/benchmint/benchmint/pipeline"
)

// TestWrongOrdersDoNotCompile: engine, test 1. The compiler must say that a stage
// and the flow do not fit, and nothing else.
func TestWrongOrdersDoNotCompile(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/order/*.go")
	if err != nil || len(files) != 4 {
		t.Fatalf("%d programs, %v", len(files), err)
	}
	told := regexp.MustCompile(`^[^ ]+: in call to pipeline\.\w+, type .* does not match inferred type pipeline\.\w+\[`)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			out, err := exec.Command("go", "build", "-o", os.DevNull, file).CombinedOutput()
			if filepath.Base(file) == "right.go" {
				if err != nil {
					t.Errorf("the right order does not compile: %s", out)
				}
				return
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n") // the first names the package
			if err == nil || len(lines) != 2 || !told.MatchString(lines[1]) {
				t.Errorf("%v; the compiler says:\n%s", err, out)
			}
		})
	}
}

func TestPlansAreChecked(t *testing.T) {
	t.Parallel()
	words := pipeline.New[word]()
	one := func(f pipeline.Flow[word], name string, o pipeline.Options) pipeline.Flow[word] {
		return pipeline.Then(f, name, pipeline.Stage[word, word](then(same)), o)
	}
	end := func(f pipeline.Flow[word]) *pipeline.Plan {
		return pipeline.Drain(f, "end", pipeline.Drainer[word](drain(nil)), pipeline.Options{})
	}
	for name, c := range map[string]struct {
		plan *pipeline.Plan
		want string
	}{
		"same_name":      {end(one(one(words, "x", pipeline.Options{}), "x", pipeline.Options{})), `"x": the name is taken`},
		"reads_later":    {end(one(pipeline.New[word](), "x", pipeline.Options{Reads: []string{"end"}})), "x reads end"},
		"needs_too_much": {end(one(pipeline.New[word](), "x", pipeline.Options{Needs: map[string]int{"cpu": 4}})), "x needs 4 cpu, and there is 2"},
		"no_drain":       {&pipeline.Plan{}, "does not end in a drain"},
	} {
		_, err := c.plan.Run(t.Context(), open(t), nil, silent{}, pipeline.RunOptions{Resources: map[string]int{"cpu": 2}})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "no clock") {
			t.Errorf("%s: %v, want %s and no clock", name, err, c.want)
		}
	}
}
