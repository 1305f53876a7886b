package grade

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/internal/predictions"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/schemas"
)

// Gathered are predictions for tasks of a dataset.
type Gathered struct {
	Predictions map[string]schemas.Prediction // by ID
	Patches     map[schemas.Digest][]byte
	Faults      []score.Fault // of tasks that a harness got no answer for
	Bad         int           // those that are for no task, that could not be read, or that are no answer
}

// NopPatch changes nothing that a test could notice.
const NopPatch = "diff --git a/benchmint-nop.txt b/benchmint-nop.txt\nnew file mode 100644\n--- /dev/null\n+++ b/benchmint-nop.txt\n@@ -0,0 +1 @@\n+This patch does nothing.\n"

// Own are predictions made from the tasks themselves: gold is each task's own patch, and nop
// a patch without meaning.
func (d *Dataset) Own(gold, nop bool) (out []predictions.Prediction, err error) {
	for _, id := range d.IDs() {
		if gold {
			own, err := d.Rows[id].GoldPatch()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", id, err)
			}
			out = append(out, predictions.Prediction{Instance: id, Model: "gold", Patch: own, Where: "--gold"})
		}
		if nop {
			out = append(out, predictions.Prediction{Instance: id, Model: "nop", Patch: []byte(NopPatch), Where: "--nop"})
		}
	}
	return out, nil
}

// IDs are those of the rows, sorted.
func (d *Dataset) IDs() []string { return slices.Sorted(maps.Keys(d.Rows)) }

// Gather makes predictions ready to be graded. What cannot be read or has no task is said, and
// the others go on.
func (d *Dataset) Gather(ctx context.Context, all []predictions.Prediction, say func(where, what string)) (*Gathered, error) {
	g := &Gathered{Predictions: map[string]schemas.Prediction{}, Patches: map[schemas.Digest][]byte{}}
	known := d.IDs()
	for _, x := range predictions.Matched(all, known) {
		bad := func(what string) {
			g.Bad++
			say(x.Where, what)
		}
		row, ok := d.Rows[x.Instance]
		if !ok {
			bad(x.Instance + " is not a task of the dataset" + nearest.Hint(x.Instance, known))
			continue
		}
		if x.Fault != "" {
			bad(x.Instance + ": " + x.Fault)
			g.Faults = append(g.Faults, score.Fault{Prediction: schemas.Prediction{Instance: x.Instance, Model: x.Model, Sample: x.Sample}, Why: x.Fault})
			continue
		}
		for _, said := range x.Said {
			say(x.Where, said)
		}
		if x.Tree != "" {
			var err error
			if x.Patch, err = d.patchOf(ctx, row, x.Tree); ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				bad(err.Error())
				continue
			}
		}
		ground, task, err := d.Folder.Digests(row)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.Instance, err)
		}
		given := schemas.Prediction{
			Instance: x.Instance, Model: x.Model, Sample: x.Sample, Patch: schemas.DigestBytes(x.Patch), Task: task, Ground: ground, Effort: x.Effort, Read: x.Said,
		}
		if _, twice := g.Predictions[given.ID()]; twice {
			bad(given.ID() + " is given more than once")
			continue
		}
		g.Predictions[given.ID()], g.Patches[given.Patch] = given, x.Patch
	}
	return g, nil
}
