package validate

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun"
)

// layerOf is what a build put where: parent, files, steps.
func layerOf(b sandbox.Build) []string {
	out := []string{"on " + b.Parent.ID}
	for _, f := range b.Files {
		line := strings.TrimPrefix(f.Path, sandbox.TreePath+"/") + "=" + string(f.Data)
		if f.Delete {
			line = "-" + strings.TrimPrefix(f.Path, sandbox.TreePath+"/")
		} else if d := f.ModTime.Sub(baseDate); d > 0 {
			line += " " + d.Round(time.Second).String()
		}
		out = append(out, line)
	}
	for _, s := range b.Steps {
		out = append(out, "$ "+s.Argv[0])
	}
	return out
}

func TestStatesAreLayers(t *testing.T) {
	t.Parallel()
	b := newBench(t, reports{"S": fails, "G": passes}.script)
	b.c.B = newTree(t, "code.toy", "1", "test_a.toy", "1", "a", "1", "gone", "1")
	b.c.Start.BaseTree, b.c.SealedBase = b.c.B.ID(), b.c.B.Files(baseDate)
	if _, err := b.prove(t); err != nil {
		t.Fatal(err)
	}
	var got [][]string
	for _, build := range b.box.builds {
		got = append(got, layerOf(build))
	}
	want := [][]string{
		{"on env", "a=1", "code.toy=1", "gone=1", "test_a.toy=1", "$ compile", "$ warm"},
		{"on B", "-gone", "code.toy=2 1s", "n=1 1s", "test_a.toy=2 1s", "$ compile", "$ warm"},
		{"on B", "-gone", "n=1 1s", "test_a.toy=2 1s", "$ compile", "$ warm"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"S", "G", "B"}, b.box.removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
	if a, b := b.box.builds[1].Key, b.box.builds[2].Key; a == b || a == "" {
		t.Errorf("keys of G and S are %q and %q", a, b)
	}
}

// TestTestsInTheBase: where S is the tree of B, its layer is B's, and nothing is built
// twice.
func TestTestsInTheBase(t *testing.T) {
	t.Parallel()
	b := newBench(t, reports{"B": fails, "G": passes}.script)
	b.c.S, b.c.Start.StartTree = b.c.B, b.c.Start.BaseTree
	proof, err := b.prove(t)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.box.builds) != 2 {
		t.Errorf("%d layers, want B and G", len(b.box.builds))
	}
	if diff := cmp.Diff([]string{"G changed 1", "B changed 1", "B suite 1", "G suite 1", "B suite 2", "G suite 2", "B suite 3", "G suite 3"}, b.box.runs); diff != "" {
		t.Errorf("runs by layer (-want +got):\n%s", diff)
	}
	for i, r := range proof.Runs {
		if want := []schemas.State{"G", "S"}[min(i, 1)]; i < 2 && r.State != want {
			t.Errorf("run %d is of state %s, want %s", i, r.State, want)
		}
	}
	if diff := cmp.Diff([]string{"G", "B"}, b.box.removed); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
}

func TestNoStartLayerWithoutNeed(t *testing.T) {
	t.Parallel()
	b := newBench(t, reports{"G": "a finished t=failed\nend"}.script)
	_, _ = b.prove(t) // rejected: TestOrderOfWork
	if len(b.box.builds) != 2 {
		t.Errorf("%d layers, want B and G", len(b.box.builds))
	}
}

func TestBuildThatFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		state, step string
		over        sandbox.End
		want        schemas.Reason
		runs        int      // 0: nothing was run
		steps       []string // of the layer in the end
	}{
		"in_the_solution":       {state: "G", step: "compile", want: schemas.NoBuild},
		"in_the_solution_late":  {state: "G", step: "warm", want: schemas.NoBuild},
		"in_the_start":          {state: "S", step: "compile", want: "valid", runs: 8, steps: []string{"$ warm"}},
		"in_the_start_late":     {state: "S", step: "warm", want: "valid", runs: 8, steps: []string{"$ compile"}},
		"in_the_base":           {state: "B", step: "compile", want: "valid", runs: 8, steps: []string{"$ warm"}},
		"over_time_in_solution": {state: "G", over: sandbox.TimedOut, want: schemas.OverTime},
		"over_memory_in_start":  {state: "S", over: sandbox.Memory, want: schemas.OverMemory, runs: 1},
		"over_disk_in_base":     {state: "B", over: sandbox.Disk, want: schemas.OverDisk},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, reports{"S": fails, "G": passes}.script)
			b.box.fails = map[string]string{tc.state: tc.step}
			b.box.over = map[string]sandbox.End{tc.state: tc.over}
			proof, err := b.prove(t)
			if got := reason(err); got != tc.want {
				t.Fatalf("got %s, want %s (%v)", got, tc.want, err)
			}
			if len(b.box.runs) != tc.runs {
				t.Errorf("%d runs, want %d: %v", len(b.box.runs), tc.runs, b.box.runs)
			}
			var builds []schemas.RunRecord
			for _, r := range proof.Runs {
				if r.Scope == testrun.ScopeBuild {
					builds = append(builds, r)
				}
			}
			if len(builds) != 1 || string(builds[0].State) != tc.state {
				t.Fatalf("build records are %+v, want one of %s", builds, tc.state)
			}
			if log, err := b.blobs.Get(builds[0].Log); err != nil || string(log) != "build log of "+tc.state {
				t.Errorf("log is %q (%v)", log, err)
			}
			if tc.steps == nil {
				return
			}
			got := map[string][]string{}
			for _, build := range b.box.builds { // the last of a state is what stands
				state := "B"
				if build.Parent.ID == "B" {
					state = map[bool]string{true: "G", false: "S"}[strings.Contains(strings.Join(layerOf(build), " "), "code.toy=2")]
				}
				got[state] = nil
				for _, s := range build.Steps {
					got[state] = append(got[state], "$ "+s.Argv[0])
				}
			}
			if diff := cmp.Diff(tc.steps, got[tc.state]); diff != "" {
				t.Error(diff)
			}
		})
	}
}
