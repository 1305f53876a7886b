package grade

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/patch"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/worktree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/score"
	"github.com/benchmint/benchmint/schemas"
)

// Dataset is the tasks of a dataset's folder: what is graded is read from the folder alone.
type Dataset struct {
	Folder *output.Dataset
	Rows   map[string]output.Row // by instance ID
}

var _ Tasks = (*Dataset)(nil)

// NewDataset is some rows of a dataset.
func NewDataset(folder *output.Dataset, rows []output.Row) *Dataset {
	d := &Dataset{Folder: folder, Rows: map[string]output.Row{}}
	for _, r := range rows {
		d.Rows[r.InstanceID] = r
	}
	return d
}

// Task implements Tasks.
func (d *Dataset) Task(_ context.Context, id string) (Task, error) {
	row := d.Rows[id]
	t, err := TaskOf(d.Folder, row, row.Benchmint.Sandbox)
	if err != nil {
		return Task{}, err
	}
	t.FailToPass, t.PassToPass, t.Own, err = d.lists(row)
	return t, err
}

// TaskOf is the task of a row in one kind of sandbox, without its lists.
func TaskOf(d *output.Dataset, row output.Row, kind string) (t Task, err error) {
	if t.Start, err = d.Start(row.InstanceID); err != nil {
		return t, fmt.Errorf("reading the start: %w", err)
	}
	if t.Environment, err = d.Environment(row); err != nil {
		return t, fmt.Errorf("reading the recipe: %w", err)
	}
	t.Environment.Sandbox, t.Environment.Host = kind, kind == "bwrap"
	base, _, _, err := d.States(row)
	if err != nil {
		return t, err
	}
	gold, err := row.GoldPatch()
	if err != nil {
		return t, err
	}
	tests, err := row.Tests()
	if err != nil {
		return t, err
	}
	t.Trees, err = states.From(base, tests, gold, t.Start)
	return t, err
}

// lists are those of a row with the units of their tests, which the proof names, and the files that they write.
func (d *Dataset) lists(row output.Row) (f2p, p2p []lang.Test, own []string, err error) {
	proof, err := d.Folder.Proof(row.InstanceID)
	if err != nil {
		return nil, nil, nil, err
	}
	unit := map[string]string{}
	for _, t := range proof.Tests {
		unit[t.ID] = t.Unit
	}
	tests := func(ids []string) []lang.Test {
		out := make([]lang.Test, 0, len(ids))
		for _, id := range ids {
			out = append(out, lang.Test{ID: id, Unit: unit[id]})
		}
		return out
	}
	return tests(row.FailToPass), tests(row.PassToPass), proof.Writes, nil
}

// patchOf is the patch that turns the base of a task into a folder that somebody solved it in.
func (d *Dataset) patchOf(ctx context.Context, row output.Row, folder string) ([]byte, error) {
	base, _, _, err := d.Folder.States(row)
	if err != nil {
		return nil, err
	}
	solved, err := worktree.Read(ctx, folder, base)
	if err != nil {
		return nil, err
	}
	return patch.Between(ctx, base, solved)
}

// Scored is what the metrics need to know of each task.
func (d *Dataset) Scored() map[string]score.Task {
	out := map[string]score.Task{}
	for _, r := range d.Folder.Rows {
		if _, ok := d.Rows[r.InstanceID]; ok {
			out[r.InstanceID] = score.TaskOf(r)
		}
	}
	return out
}

// Regrade adds to out, whose tasks are those of Scored, what becomes of one graded prediction with the lists of the dataset. A
// prediction for other trees or another recipe than those it was graded with has no verdict
// then.
func (d *Dataset) Regrade(step schemas.Step, reports Patches, out *score.Evaluation) error {
	made, ok := step.Output()
	if !ok || step.State != schemas.StepDone {
		return nil // without a verdict, it has no run to be scored; eval grades it
	}
	var saved schemas.Grade
	if err := json.Unmarshal(made.Record, &saved); err != nil {
		return fmt.Errorf("reading the grade of %s: %w", step.Key, err)
	}
	fault := func(why string) error {
		out.Faults = append(out.Faults, score.Fault{Prediction: saved.Prediction, Why: why})
		return nil
	}
	row, ok := d.Rows[saved.Prediction.Instance]
	if !ok {
		return fault("it is not a task of the dataset any more")
	}
	ground, digest, err := d.Folder.Digests(row)
	if err != nil {
		return err
	}
	if saved.Prediction.Ground != ground && saved.Prediction.Task != digest {
		return fault("the task has other trees or another recipe than it was graded with: benchmint eval grades it again")
	}
	if saved.Verdict == schemas.VerdictPatch && saved.Rules != Version {
		return fault("its patch was refused by another version, whose rules were others: benchmint eval grades it again")
	}
	var task Task
	if task.FailToPass, task.PassToPass, _, err = d.lists(row); err != nil {
		return err
	}
	again, err := Again(saved, task, reports)
	if err != nil {
		return err
	}
	out.Answers = append(out.Answers, score.Answer{Task: out.Tasks[row.InstanceID], Grade: again})
	return nil
}
