package score

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/benchmint/benchmint/schemas"
)

// ofLibrary is an answer for a library of which a share passes with nothing done.
func ofLibrary(id string, sample int, zeroWork float64, v schemas.Verdict, f2p, p2p *schemas.Score) Answer {
	a := answer(id, "m", sample, v, f2p, p2p)
	a.Task.Kind, a.Task.ZeroWork = schemas.KindLibrary, zeroWork
	return a
}

// TestLibraryScore: what passes with nothing done counts for nothing, and nothing falls below 0.
func TestLibraryScore(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		f2p, p2p *schemas.Score
		want     float64
	}{
		{"gold", of(8, 8), of(2, 2), 0.8},
		{"nop", of(0, 8), of(2, 2), 0},
		{"half", of(4, 8), of(2, 2), 0.4},
		{"half_and_one_broken", of(4, 8), of(1, 2), 0.3},
		{"all_broken", of(0, 8), of(0, 2), 0},
		{"not_run", nil, nil, 0},
	} {
		if got := (Task{ZeroWork: 0.2}).LibraryScore(schemas.Grade{F2P: tc.f2p, P2P: tc.p2p}); math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
	if got := (Task{ZeroWork: 1}).LibraryScore(schemas.Grade{F2P: of(0, 0), P2P: of(2, 2)}); got != 0 {
		t.Errorf("a task that is solved with nothing done scores %v", got)
	}
}

// TestSliceScore: of a slice only the tests that count do, whatever becomes of the others.
func TestSliceScore(t *testing.T) {
	t.Parallel()
	task := Task{ZeroWork: 0.2, Counted: &schemas.Counted{Rule: schemas.CountReach, P2P: []string{"near"}}}
	missed := func(ids ...string) *schemas.Score {
		return &schemas.Score{Want: 100, Passed: 100 - len(ids), Missed: ids}
	}
	for _, tc := range []struct {
		name     string
		f2p, p2p *schemas.Score
		rate     float64
	}{
		{"gold", of(4, 4), missed(), 1},
		{"nop", of(0, 4), missed(), 0.2},
		{"half", of(2, 4), missed(), 0.6},
		{"another_broken", of(4, 4), missed("far", "further"), 1},
		{"near_broken", of(4, 4), missed("near"), 0.8},
		{"not_run", nil, nil, 0},
	} {
		g := schemas.Grade{F2P: tc.f2p, P2P: tc.p2p}
		if rate, score := task.PassRate(g), task.LibraryScore(g); math.Abs(rate-tc.rate) > 1e-12 || math.Abs(score-max(0, tc.rate-0.2)) > 1e-12 {
			t.Errorf("%s: pass rate %v, score %v, want %v", tc.name, rate, score, tc.rate)
		}
	}
}

// TestLibrary: each task counts once, however many tests and samples it has, and other kinds
// do not count.
func TestLibrary(t *testing.T) {
	t.Parallel()
	m := over([]Answer{
		ofLibrary("x__y-1.library", 0, 0.5, schemas.VerdictFail, of(250, 500), of(500, 500)),
		ofLibrary("x__z-1.library", 0, 0, schemas.VerdictPass, of(4, 4), of(0, 0)),
		ofLibrary("x__z-1.library", 1, 0, schemas.VerdictPatch, nil, nil),
		answer("x__y-1", "m", 0, schemas.VerdictPass, of(1, 1), of(0, 0)),
	})
	want := &Library{Tasks: 2, Score: (0.25 + 0.5) / 2, PassRate: (0.75 + 0.5) / 2, ZeroWork: 0.25}
	if diff := cmp.Diff(want, m.Library, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Error(diff)
	}
	if m := over(made()); m.Library != nil {
		t.Errorf("without libraries: %+v", m.Library)
	}
}

// TestWriteLibrary: the score stands in the report, and in the lines of libraries alone.
func TestWriteLibrary(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := evaluation([]Answer{
		ofLibrary("x__y-1.library", 0, 0.2, schemas.VerdictFail, of(4, 8), of(2, 2)),
		answer("x__y-1", "m", 0, schemas.VerdictPass, of(1, 1), of(0, 0)),
	})
	if err := e.Write(dir); err != nil {
		t.Fatal(err)
	}
	var report struct {
		Library *Library `json:"library"`
	}
	read(t, filepath.Join(dir, ReportFile), &report)
	if report.Library == nil || math.Abs(report.Library.Score-0.4) > 1e-12 {
		t.Errorf("report %+v", report.Library)
	}
	g, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if g.Lines[0].LibraryScore != nil || g.Lines[1].LibraryScore == nil || math.Abs(*g.Lines[1].LibraryScore-0.4) > 1e-12 {
		b, err := json.Marshal(g.Lines)
		t.Errorf("lines %s (%v)", b, err)
	}
}
