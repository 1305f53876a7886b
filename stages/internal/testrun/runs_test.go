package testrun

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/internal/testrun/testruntest"
)

// TestFirstOutcomeCounts: what ran before an abort ran in native order.
func TestFirstOutcomeCounts(t *testing.T) {
	t.Parallel()
	m := newMerge()
	ended := m.add(testruntest.Parse("a aborted>t u=passed v=failed v=error"), nil)
	if diff := cmp.Diff([]string{"a::t"}, ended); diff != "" {
		t.Error(diff)
	}
	m.add(testruntest.Parse("a finished u=failed v=passed w=passed t=passed\nend"), ended)
	o := m.outcome()
	for name, want := range map[string]schemas.Status{"t": schemas.Failed, "u": schemas.Passed, "v": schemas.Failed, "w": schemas.Passed, "x": schemas.Absent} {
		if got := o.Status(lang.Test{ID: "a::" + name, Unit: "a"}); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// TestTraces: a test has its own, that of its unit where the unit did not load, and that of the abort which it is.
func TestTraces(t *testing.T) {
	t.Parallel()
	o := OutcomeOf(testruntest.Parse("a aborted>t u=failed v=passed\nb not_loaded\nc finished w=passed"))
	for id, want := range map[string]string{"a::u": "trace of u", "a::v": "", "a::t": "trace of a", "b::x": "trace of b", "c::y": ""} {
		if got := o.Trace(lang.Test{ID: id, Unit: id[:1]}); got != want {
			t.Errorf("%s: %q, want %q", id, got, want)
		}
	}
}

// TestUnprovedPasses: a pass that only a unit says which chose its own end is no pass,
// a failure is one.
func TestUnprovedPasses(t *testing.T) {
	t.Parallel()
	m := newMerge()
	first := testruntest.Parse("a aborted>t u=passed v=failed w=passed")
	first.Units[0].Unproved = true
	ended := m.add(first, nil)
	m.add(testruntest.Parse("a finished u=failed v=passed w=passed"), ended)
	alone := newMerge()
	alone.add(first, nil)
	for name, want := range map[string][2]schemas.Status{
		"t": {schemas.Failed, schemas.Failed}, "u": {schemas.Failed, schemas.NotRun}, "v": {schemas.Failed, schemas.Failed}, "w": {schemas.Passed, schemas.NotRun},
	} {
		for i, m := range []*merge{m, alone} {
			m.report.Units[0].Listed = nil
			if got := m.outcome().Status(lang.Test{ID: "a::" + name, Unit: "a"}); got != want[i] {
				t.Errorf("%s is %s after %d attempts, want %s", name, got, 2-i, want[i])
			}
		}
	}
}

// TestUnitsOfARerun: what ended in order is not undone by an attempt that runs it
// again, and what an ended run never met is absent, whatever its rest met.
func TestUnitsOfARerun(t *testing.T) {
	t.Parallel()
	m := newMerge()
	ended := m.add(testruntest.Parse("a aborted>t\nb finished u=passed\nend"), nil)
	m.add(testruntest.Parse("b aborted>u\na not_loaded"), ended)
	o := m.outcome()
	for id, want := range map[string]schemas.Status{"a::t": schemas.Failed, "a::v": schemas.NotLoaded, "b::u": schemas.Passed, "b::v": schemas.Absent, "c::w": schemas.Absent} {
		if got := o.Status(lang.Test{ID: id, Unit: id[:1]}); got != want {
			t.Errorf("%s is %s, want %s", id, got, want)
		}
	}
}

func TestLogsAreShortened(t *testing.T) {
	t.Parallel()
	short := bytes.Repeat([]byte("x"), logHead+logTail)
	if got := shorten(short); !bytes.Equal(got, short) {
		t.Errorf("%d bytes of %d are left", len(got), len(short))
	}
	got := shorten(slices.Concat([]byte("head"), short, []byte("tail")))
	if !bytes.HasPrefix(got, []byte("head")) || !bytes.HasSuffix(got, []byte("tail")) || !bytes.Contains(got, []byte("[8 bytes left out]")) {
		t.Errorf("%d bytes from %q to %q", len(got), got[:10], got[len(got)-10:])
	}
}
