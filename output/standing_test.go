package output

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/schemas"
)

// A row leaves a dataset by a verdict on its item, or because its user said so;
// otherwise the dataset that is there stays as it is, to the byte.
func TestWriteLosesNoRow(t *testing.T) {
	t.Parallel()
	reject := func(id string, end schemas.StepState, stage string, reason schemas.Reason) Reject {
		return Reject{InstanceID: id, Repo: "acme/widget", Commit: "c", End: end, Stage: stage, Reason: reason}
	}
	for _, c := range []struct {
		name    string
		ends    []Reject // of what is no row any more
		replace bool
		left    []Leaving
		lost    []Leaving
	}{
		{name: "rejected_by_name", ends: []Reject{reject("acme__widget-7", schemas.StepRejected, "classify", schemas.OtherLabel)}, left: []Leaving{{"acme__widget-7", string(schemas.OtherLabel), schemas.OtherLabel}}},
		{name: "not_read", lost: []Leaving{{ID: "acme__widget-7", Why: "not among the items of this run"}}},
		{name: "failed", ends: []Reject{reject("acme__widget-7", schemas.StepFailed, "validate", schemas.Crashed)}, lost: []Leaving{{ID: "acme__widget-7", Why: "failed at validate"}}},
		{name: "put_off", ends: []Reject{reject("acme__widget-7", schemas.StepDeferred, "provision", "")}, lost: []Leaving{{ID: "acme__widget-7", Why: "deferred at provision"}}},
		{name: "source_put_off", ends: []Reject{reject("acme__widget", schemas.StepDeferred, "crawl", "")}, lost: []Leaving{{ID: "acme__widget-7", Why: "acme__widget deferred at crawl"}}},
		{name: "source_rejected", ends: []Reject{reject("acme__widget", schemas.StepRejected, "crawl", schemas.NoSources)}, lost: []Leaving{{ID: "acme__widget-7", Why: "acme__widget " + string(schemas.NoSources)}}},
		{name: "replaced", replace: true, left: []Leaving{{ID: "acme__widget-7", Why: "not among the items of this run"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			in := input(t)
			in.tasks = []Task{in.tasks[0], task(t, 7, goldPatch)}
			in.rejects = nil
			if _, err := Write(dir, in.of()); err != nil {
				t.Fatal(err)
			}
			old, err := os.ReadFile(filepath.Join(dir, ManifestFile))
			if err != nil {
				t.Fatal(err)
			}
			in.tasks, in.rejects = in.tasks[:1], c.ends
			next := in.of()
			next.Replace = c.replace
			var left []Leaving
			next.Left = func(l []Leaving) { left = l }
			_, err = Write(dir, next)
			var loss *LossError
			if errors.As(err, &loss) != (c.lost != nil) || loss == nil && err != nil {
				t.Fatalf("writing: %v", err)
			}
			if d := cmp.Diff(c.left, left); d != "" {
				t.Errorf("rows that left (-want +got):\n%s", d)
			}
			if loss != nil {
				if d := cmp.Diff(c.lost, loss.Rows); d != "" {
					t.Errorf("rows that would be lost (-want +got):\n%s", d)
				}
			}
			now, err := os.ReadFile(filepath.Join(dir, ManifestFile))
			if err != nil {
				t.Fatal(err)
			}
			if same := string(now) == string(old); same != (c.lost != nil) {
				t.Errorf("the manifest is the same: %v", same)
			}
			if rest, err := filepath.Glob(filepath.Join(filepath.Dir(dir), ".*")); err != nil || len(rest) > 0 {
				t.Errorf("left beside the dataset: %v, %v", rest, err)
			}
		})
	}
}

// Where the rows that are there cannot be read, none of them is known to be safe.
func TestWriteOverUnreadableRows(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "out")
	in := input(t)
	if _, err := Write(dir, in.of()); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, filepath.FromSlash(dataPath(DefaultSplit))), 100); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(dir, in.of()); err == nil {
		t.Error("rows that could not be read were written over")
	}
	next := in.of()
	next.Replace = true
	if _, err := Write(dir, next); err != nil {
		t.Errorf("with Replace: %v", err)
	}
}
