package grade_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/predictions"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/grade"
)

// The digests of a prediction are the identity of its verdict: stores of earlier versions hold
// them, so they never change for the same row.
func TestGather(t *testing.T) {
	t.Parallel()
	folder, err := output.Read("../../output/testdata/format2")
	if err != nil {
		t.Fatal(err)
	}
	d := grade.NewDataset(folder, []output.Row{folder.Rows[0].Row})
	all, err := d.Own(true, true)
	if err != nil {
		t.Fatal(err)
	}
	all = append(all,
		predictions.Prediction{Instance: "demo__slug-6", Model: "m", Where: "line 1"},
		predictions.Prediction{Instance: "demo__slug-5", Model: "m", Patch: []byte("x"), Where: "line 2", Said: []string{"its name was read as that of a file"}},
		predictions.Prediction{Instance: "demo__slug-5", Model: "m", Patch: []byte("y"), Where: "line 3"},
		predictions.Prediction{Instance: "demo__slug-5", Model: "n", Where: "line 4", Fault: "no answer: no server"},
	)
	var said []string
	g, err := d.Gather(t.Context(), all, func(where, what string) { said = append(said, where+": "+what) })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"line 1: demo__slug-6 is not a task of the dataset; did you mean demo__slug-5?",
		"line 2: its name was read as that of a file",
		"line 3: " + predictionID(g, "m") + " is given more than once",
		"line 4: demo__slug-5: no answer: no server",
	}
	if len(g.Faults) != 1 || g.Faults[0].Prediction.Model != "n" || g.Faults[0].Why != "no answer: no server" {
		t.Errorf("faults %+v", g.Faults)
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("said (-want +got):\n%s", diff)
	}
	if g.Bad != 3 || len(g.Predictions) != 3 || len(g.Patches) != 3 {
		t.Errorf("%d bad, %d predictions, %d patches", g.Bad, len(g.Predictions), len(g.Patches))
	}
	for _, p := range g.Predictions {
		if p.Task != taskDigest || p.Ground != groundDigest {
			t.Errorf("%s: task %s, ground %s", p.Model, p.Task, p.Ground)
		}
		if p.Patch != schemas.DigestBytes(g.Patches[p.Patch]) {
			t.Errorf("%s: the patch %s has another digest", p.Model, p.Patch)
		}
	}
}

// Those of the row in output/testdata/format2.
const (
	taskDigest   = "sha256:f843fe46058179d1d0406da9d55b4ffdd1ac44a243acb0c4b6daea3a6c49e513"
	groundDigest = "sha256:9b5f66e869835c6a15b5973ca3bda196268ae75620000ce706e488e7bd14dadf"
)

func predictionID(g *grade.Gathered, model string) string {
	for id, p := range g.Predictions {
		if p.Model == model {
			return id
		}
	}
	return ""
}
