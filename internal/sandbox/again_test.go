package sandbox_test

import (
	"context"
	"testing"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// dying is a sandbox whose commands end with these exit codes, one after another.
type dying struct {
	sandbox.Sandbox
	codes []int
	end   sandbox.End
	runs  int
}

func (d *dying) next() sandbox.Result {
	d.runs++
	return sandbox.Result{End: d.end, ExitCode: d.codes[d.runs-1]}
}

func (d *dying) Run(context.Context, sandbox.Run) (sandbox.Result, error) { return d.next(), nil }

func (d *dying) Build(context.Context, sandbox.Build) (sandbox.Layer, sandbox.Result, error) {
	res := d.next()
	if res.ExitCode == 0 {
		return sandbox.Layer{ID: "made"}, res, nil
	}
	return sandbox.Layer{}, res, &sandbox.BuildError{Result: res}
}

func TestAgain(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		codes []int
		end   sandbox.End
		runs  int
	}{
		"passes":          {[]int{0}, sandbox.Exited, 1},
		"fails":           {[]int{1}, sandbox.Exited, 1},
		"crashes":         {[]int{139}, sandbox.Exited, 1},
		"killed_once":     {[]int{137, 0}, sandbox.Exited, 2},
		"kills_itself":    {[]int{137, 137}, sandbox.Exited, 2},
		"over_our_memory": {[]int{137}, sandbox.Memory, 1},
	} {
		last := tc.codes[len(tc.codes)-1]
		d := &dying{codes: tc.codes, end: tc.end}
		if res, err := sandbox.Again(d).Run(t.Context(), sandbox.Run{}); err != nil || d.runs != tc.runs || res.ExitCode != last {
			t.Errorf("%s: run %d times, exit code %d, %v; want %d times and %d", name, d.runs, res.ExitCode, err, tc.runs, last)
		}
		d = &dying{codes: tc.codes, end: tc.end}
		if _, _, err := sandbox.Again(d).Build(t.Context(), sandbox.Build{}); d.runs != tc.runs || (err == nil) != (last == 0) {
			t.Errorf("%s: built %d times, %v; want %d times", name, d.runs, err, tc.runs)
		}
	}
	d := &dying{codes: []int{137}, end: sandbox.Exited}
	if _, err := sandbox.Again(d).Run(t.Context(), sandbox.Run{Interactive: &sandbox.Terminal{}}); err != nil || d.runs != 1 {
		t.Errorf("a person's command ran %d times, %v", d.runs, err)
	}
}
