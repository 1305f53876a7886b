package export

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/balance"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// ends are the rows of a dataset with what people say, then its rejects with their reasons.
func ends(d *output.Dataset) (out []string) {
	for _, r := range d.Rows {
		out = append(out, fmt.Sprintf("%s %d", r.InstanceID, len(r.Benchmint.Reviews)))
	}
	for _, r := range d.Rejects {
		out = append(out, fmt.Sprintf("%s %s %d", r.InstanceID, r.Reason, len(r.Reviews)))
	}
	return out
}

// Tasks that people refuse leave, then the others are drawn. The funnel counts both.
func TestReviewedAndDrawn(t *testing.T) {
	t.Parallel()
	s, dir := newShop(t), filepath.Join(t.TempDir(), "out")
	var ids []string
	for n := range 4 {
		id, _ := s.change(n + 1)
		ids = append(ids, id)
	}
	accept := []schemas.PeerReview{{Verdict: schemas.PeerAccept, Who: "Ana", Date: "2026-01-02"}}
	refuse := []schemas.PeerReview{{Verdict: schemas.PeerRefuse, Code: "unclear", Who: "Ana", Date: "2026-01-02"}}
	s.config = Config{
		Reviews: map[string][]schemas.PeerReview{ids[0]: refuse, ids[1]: accept, ids[2]: accept, ids[3]: accept},
		Balance: &balance.Mix{Tasks: 2, Seed: 1, By: map[string]map[string]float64{balance.Language: {"toy": 1}}},
	}
	if err := s.export(dir, nil, ids...); err != nil {
		t.Fatal(err)
	}
	d := s.read(dir)
	want := []string{ids[1] + " 1", ids[3] + " 1", ids[0] + " review/unclear 1", ids[2] + " balance/left_out 1"}
	if diff := cmp.Diff(want, ends(d)); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
	if got := d.Manifest.Funnel[1]; got.Done != 2 || got.Rejected[schemas.LeftOut] != 1 || got.Rejected[schemas.ReviewUnclear] != 1 {
		t.Errorf("funnel: %+v", got)
	}
	if got := d.Manifest.Balance; got.Pool != 3 || got.Cells[0].Drawn != 2 || got.Cells[0].Pool != 3 {
		t.Errorf("balance: %+v", got)
	}
	if got := d.Rejects[1].Detail; got != "not drawn: language toy has its 2" {
		t.Error(got)
	}
}

// Rows that are carried on are reviewed and drawn like others.
func TestCarriedAndReviewed(t *testing.T) {
	t.Parallel()
	s, dir := newShop(t), filepath.Join(t.TempDir(), "out")
	var ids []string
	for n := range 4 {
		id, _ := s.change(n + 1)
		ids = append(ids, id)
	}
	if err := s.export(dir, nil, ids...); err != nil {
		t.Fatal(err)
	}
	s.config = Config{Carry: &Carry{Unjudged: true}, Reviews: map[string][]schemas.PeerReview{
		ids[1]: {{Verdict: schemas.PeerRefuse, Code: "leak", Who: "Ana", Date: "2026-01-02"}}, ids[2]: {{Verdict: schemas.PeerAccept, Who: "Ana", Date: "2026-01-02"}},
	}}
	if err := s.export(dir, nil, ids[0]); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{ids[0] + " 0", ids[2] + " 1", ids[3] + " 0", ids[1] + " review/leak 1"}, ends(s.read(dir))); diff != "" {
		t.Errorf("ends (-want +got):\n%s", diff)
	}
	s.config = Config{Carry: &Carry{Unjudged: true}, Balance: &balance.Mix{Tasks: 1, Seed: 1}}
	if err := s.export(dir, nil, ids[0]); err != nil {
		t.Fatal(err)
	}
	d := s.read(dir)
	if len(d.Rows) != 1 || len(d.Rejects) != 2 || !strings.HasPrefix(d.Rejects[0].Detail, "not drawn: 1 ") || d.Manifest.Balance.Pool != 3 {
		t.Errorf("ends: %q of %+v", ends(d), d.Manifest.Balance)
	}
}

// The twin of a task is not a row in its place, whether or not the task is drawn.
func TestDrawnTwins(t *testing.T) {
	t.Parallel()
	for seed := range 6 {
		s, dir := newShop(t), filepath.Join(t.TempDir(), "out")
		one, _ := s.change(1)
		two, _ := s.change(2)
		three, _ := s.change(3)
		first, err := s.Start(two)
		if err != nil {
			t.Fatal(err)
		}
		twin, err := s.Start(three)
		if err != nil {
			t.Fatal(err)
		}
		twin.Identity = first.Identity
		s.put("link", three, twin)
		s.config = Config{Balance: &balance.Mix{Tasks: 1, Seed: seed}}
		if err := s.export(dir, nil, one, two, three); err != nil {
			t.Fatal(err)
		}
		if d := s.read(dir); len(d.Rows) != 1 || d.Rejects[1].InstanceID != three || d.Rejects[1].Reason != schemas.DuplicateStart || d.Manifest.Balance.Pool != 2 {
			t.Errorf("seed %d: %q of a pool of %d", seed, ends(d), d.Manifest.Balance.Pool)
		}
	}
}
