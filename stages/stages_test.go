package stages

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/validate"
)

func put(t *testing.T, s *store.Store, stage, key, parent string, outputs ...interface{ ID() string }) {
	t.Helper()
	step := schemas.Step{Stage: stage, Key: key, Parent: parent, State: schemas.StepDone}
	for _, o := range outputs {
		raw, err := schemas.Canonical(o)
		if err != nil {
			t.Fatal(err)
		}
		step.Outputs = append(step.Outputs, schemas.Output{Key: o.ID(), Digest: schemas.DigestBytes(raw), Record: raw})
	}
	if err := s.Put(step); err != nil {
		t.Fatal(err)
	}
}

func TestRecordsJoinWhatStagesLeft(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	one := schemas.Change{Repo: "acme/widget", Number: 1, Subject: "one", Commit: strings.Repeat("1", 40)}
	two := schemas.Change{Repo: "acme/widget", Number: 2, Subject: "two", Commit: strings.Repeat("2", 40)}
	put(t, s, Crawl, "acme__widget", "", one, two)
	put(t, s, Link, one.ID(), "acme__widget", schemas.Start{ChangeID: one.ID(), Identity: "sha256:one"})
	rejected := schemas.Step{Stage: Link, Key: two.ID(), Parent: "acme__widget", State: schemas.StepRejected, Reason: schemas.NoTests}
	if err := s.Put(rejected); err != nil {
		t.Fatal(err)
	}
	r := NewRecords(s)
	for _, want := range []schemas.Change{one, two} { // a reject has its change as well
		got, err := r.Change(want.ID())
		if err != nil || got.Subject != want.Subject {
			t.Errorf("%s: %+v, %v", want.ID(), got, err)
		}
	}
	if start, err := r.Start(one.ID()); err != nil || start.ID() != one.ID() {
		t.Errorf("start: %+v, %v", start, err)
	}
	if _, err := r.Start(two.ID()); err == nil {
		t.Error("a rejected change has a start")
	}
	if _, err := r.Change("acme__widget-3"); err == nil || !strings.Contains(err.Error(), "acme__widget-3") {
		t.Errorf("a change that nobody crawled: %v", err)
	}
}

// TestOrderIsThePlan: the list that verbs and documents use is the list that runs.
func TestOrderIsThePlan(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	plan, err := New(Deps{Steps: s, Blobs: s.Blobs, Builder: &environment.Builder{}, Validate: validate.Default()})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Order, plan.Stages()); diff != "" {
		t.Errorf("(-order +plan):\n%s", diff)
	}
}
