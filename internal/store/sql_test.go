package store_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/schemas"
)

func TestSmoke(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, err := store.OpenSQL(ctx, t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fp := func(x string) schemas.Digest { return schemas.DigestBytes([]byte(x)) }
	stages := []schemas.StageInfo{
		{Name: "a", Fingerprint: fp("a"), Next: "b"},
		{Name: "b.build", Fingerprint: fp("bb"), Of: "b"},
		{Name: "b", Fingerprint: fp("b"), Next: "z", Build: "b.build"},
		{Name: "z", Fingerprint: fp("z"), Drain: true},
	}
	if err := s.Begin(ctx, schemas.BeginOptions{Worker: schemas.Worker{ID: "w"}, Stages: stages}); err != nil {
		t.Fatal(err)
	}
	if err := s.Seed(ctx, "a", []schemas.Made{{Key: "s1", Digest: fp("1"), Whole: fp("1"), Record: []byte(`{"s":1}`)}}); err != nil {
		t.Fatal(err)
	}
	claim := func(stage string, n int) []schemas.Claim {
		t.Helper()
		c, err := s.Claim(ctx, "w", []schemas.Want{{Stage: stage, N: 10}})
		if err != nil {
			t.Fatal(err)
		}
		if len(c) != n {
			t.Fatalf("%d claims at %s, want %d", len(c), stage, n)
		}
		return c
	}
	settle := func(id int64, out ...schemas.Made) {
		t.Helper()
		res, err := s.Settle(ctx, []schemas.Settlement{{ID: id, Owner: "w", State: schemas.StepDone, Outputs: out}})
		if err != nil || res[0].Lost || res[0].Err != nil {
			t.Fatal(err, res)
		}
	}
	c := claim("a", 1)
	settle(c[0].ID, schemas.Made{Key: "k1", Digest: "d1", Whole: "d1", Share: "x", Record: []byte(`{"k":1}`)}, schemas.Made{Key: "k2", Digest: "d2", Whole: "d2", Share: "x", Record: []byte(`{"k":2}`)})
	claim("b", 0)
	c = claim("b.build", 1)
	settle(c[0].ID, schemas.Made{Key: "x", Digest: "o", Record: []byte(`{"o":1}`)})
	for _, c := range claim("b", 2) {
		settle(c.ID, schemas.Made{Key: c.Key, Digest: "h", Whole: "h", Record: c.Record})
	}
	held, err := s.Held(ctx, "z", "", 10)
	if err != nil || len(held) != 2 {
		t.Fatal(held, err)
	}
	settle(claim("z", 1)[0].ID)
	got, err := s.Tallies(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := []schemas.Tally{{Stage: "a", State: "done", N: 1}, {Stage: "b", State: "done", N: 2}, {Stage: "b.build", State: "done", N: 1}, {Stage: "z", State: "done", N: 1}, {Stage: "z", State: "held", N: 2}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if bad, err := s.Recount(ctx); err != nil || bad != nil {
		t.Error(bad, err)
	}
	step, ok, err := s.Step("a", "s1")
	if err != nil || !ok || len(step.Outputs) != 2 {
		t.Error(step, ok, err)
	}
}
