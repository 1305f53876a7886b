package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/lang/langtest"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/internal/tree"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
)

const goldPatch = "diff --git a/a.toy b/a.toy\n--- a/a.toy\n+++ b/a.toy\n@@ -1 +1,2 @@\n one\n+two\n"
const testPatch = "diff --git a/test_a.toy b/test_a.toy\n--- a/test_a.toy\n+++ b/test_a.toy\n@@ -1 +1,2 @@\n t1\n+t2\n"

// shop is what stages left of some changes of one repository.
type shop struct {
	t       *testing.T
	changes map[string]schemas.Change
	steps   map[string]schemas.Step // by stage and key
	trees   map[string]*tree.Tree
	blobs   *blob.Store
	trouble error
	config  Config // beside name and folder
}

func newShop(t *testing.T) *shop {
	blobs, err := blob.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &shop{t: t, changes: map[string]schemas.Change{}, steps: map[string]schemas.Step{}, trees: map[string]*tree.Tree{}, blobs: blobs}
}

func (s *shop) Origin(id string) (schemas.Origin, error) {
	c, ok := s.changes[id]
	if !ok {
		return schemas.Origin{}, fmt.Errorf("no change %s", id)
	}
	return schemas.Origin{Change: &c}, nil
}
func (s *shop) Start(id string) (schemas.Start, error) {
	return record[schemas.Start](s, "link", id)
}
func (s *shop) Provisioned(id string) (schemas.Provisioned, error) {
	return record[schemas.Provisioned](s, "provision", id)
}
func (s *shop) Step(stage, id string) (schemas.Step, bool, error) {
	if s.trouble != nil && stage == "assess" {
		return schemas.Step{}, false, s.trouble
	}
	step, ok := s.steps[stage+" "+id]
	return step, ok, nil
}
func (s *shop) Tree(_ context.Context, _, id string) (*tree.Tree, error) { return s.trees[id], nil }
func (s *shop) Describe(context.Context, string, string) (tree.Version, error) {
	return tree.Version{Tag: "v1"}, nil
}

func (s *shop) put(stage, id string, v any) {
	raw, err := schemas.Canonical(v)
	if err != nil {
		s.t.Fatal(err)
	}
	s.steps[stage+" "+id] = schemas.Step{
		Stage: stage, Key: id, State: schemas.StepDone, Fingerprint: schemas.DigestBytes([]byte(stage)), MS: 7, Cost: 0.5,
		Outputs: []schemas.Output{{Key: id, Digest: schemas.DigestBytes(raw), Record: raw}},
	}
}

func (s *shop) blob(b []byte) schemas.Digest {
	d, err := s.blobs.Put(b)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

// change lays out everything that the stages make of one change, and gives its
// proof: t2 fails at start, t1 always passes.
func (s *shop) change(number int) (string, schemas.Proof) {
	base, err := tree.New([]tree.Entry{{Path: "a.toy", Mode: tree.ModeFile, Data: []byte("one\n")}, {Path: "test_a.toy", Mode: tree.ModeFile, Data: []byte("t1\n")},
		{Path: fmt.Sprintf("n%d", number), Mode: tree.ModeFile}})
	if err != nil {
		s.t.Fatal(err)
	}
	start, err := base.Apply([]byte(testPatch))
	if err != nil {
		s.t.Fatal(err)
	}
	solution, err := start.Apply([]byte(goldPatch))
	if err != nil {
		s.t.Fatal(err)
	}
	for _, t := range []*tree.Tree{base, start, solution} {
		s.trees[t.ID()] = t
	}
	c := schemas.Change{Repo: "acme/toy", Commit: strings.Repeat("a", 40), Number: number, Licence: "MIT", CommittedAt: time.Date(2024, 1, 2, 3, 4, 5, 0, time.UTC), Release: "v2"}
	id := c.ID()
	s.changes[id] = c
	env := schemas.Environment{Key: schemas.DigestBytes([]byte("env")), Sandbox: "bwrap", Recipe: schemas.Recipe{
		Language: "toy", Toolchain: schemas.Toolchain{Name: "toy", Version: "1"}, Pinning: schemas.PinNone, DepsFrom: "solution", Test: []schemas.Command{{Argv: []string{"test"}}}, Report: "toy",
	}}
	s.put("link", id, schemas.Start{
		ChangeID: id, Repo: c.Repo, Kind: schemas.KindFeature, Language: "toy", Base: strings.Repeat("b", 40), Commit: c.Commit, BaseDate: c.CommittedAt,
		BaseTree: base.ID(), StartTree: start.ID(), SolutionTree: solution.ID(), Patch: s.blob([]byte(goldPatch)), TestPatch: s.blob([]byte(testPatch)),
		Files: []schemas.PartFile{{ChangedFile: schemas.ChangedFile{Status: "M", Path: "a.toy"}, Part: schemas.PartCode, Hunks: 1},
			{ChangedFile: schemas.ChangedFile{Status: "M", Path: "test_a.toy"}, Part: schemas.PartTest, Hunks: 1}},
		Sizes: schemas.Sizes{SourceFiles: 1, SourceHunks: 1, SourceAdded: 1, TestFiles: 1}, Identity: schemas.DigestBytes([]byte(id)),
	})
	s.put("classify", id, schemas.Labelled{StartID: id, Label: schemas.LabelFix, Provider: "rules"})
	s.put("provision", id, schemas.Provisioned{StartID: id, Environment: env})
	p, f := schemas.Passed, schemas.Failed
	proof := schemas.Proof{StartID: id, Environment: env.Key, Leaks: schemas.Scan{Scanner: "1", Needles: schemas.DigestBytes(nil)}, Tests: []schemas.TestVerdict{
		{ID: "t1", Class: schemas.P2P, S: []schemas.Status{p, p}, G: []schemas.Status{p, p}},
		{ID: "t2", Class: schemas.F2P, Cause: schemas.CauseFails, S: []schemas.Status{f, f}, G: []schemas.Status{p, p}, Why: "two is missing"},
	}}
	s.put("assess", id, schemas.Adequacy{StartID: id, Noticed: 1, Hunks: []schemas.HunkNotice{{Path: "a.toy", End: "noticed"}}})
	s.prove(proof)
	return id, proof
}

func (s *shop) prove(p schemas.Proof) { s.put("validate", p.StartID, p) }

// doubts makes one test of a proof disagree with itself.
func doubts(p schemas.Proof, i int) schemas.Proof {
	p.Tests = append([]schemas.TestVerdict{}, p.Tests...)
	p.Tests[i].G = []schemas.Status{schemas.Passed, schemas.Failed}
	p.Tests[i].Class, p.Tests[i].Cause = schemas.Quarantined, ""
	return p
}

func (s *shop) export(dir string, steps []schemas.Step, ids ...string) error {
	c := s.config
	c.Name, c.Dir, c.Configuration = "toys", dir, map[string]any{}
	e := New(c, Outside{
		Records: s, States: states.Maker{Repos: s, Blobs: s.blobs}, History: s, Blobs: s.blobs,
		Commands: &environment.Builder{Languages: map[string]lang.Language{"toy": langtest.Toy{}}, Runners: langtest.Runners()},
		Stages:   []string{"link", "classify", "provision", "validate", "assess", "describe"}, Labelled: "classify", Proved: "validate", Assessed: "assess",
		Releases: func() (int, error) { return 3, s.trouble },
	})
	return e.Run(s.t.Context(), func(yield func(schemas.Statement, error) bool) {
		for _, id := range ids {
			if !yield(schemas.Statement{StartID: id, Text: "I want to have two.\n", From: []string{"note", "body"}, Provider: "rules", Hints: "Count."}, nil) {
				return
			}
		}
	}, pipeline.Ended{Open: 2, Steps: each(steps), Funnel: []pipeline.Count{{Stage: "link", Done: 9}, {Stage: "export"}}})
}

func each(steps []schemas.Step) iter.Seq2[schemas.Step, error] {
	return func(yield func(schemas.Step, error) bool) {
		for _, x := range steps {
			if !yield(x, nil) {
				return
			}
		}
	}
}

func (s *shop) read(dir string) *output.Dataset {
	s.t.Helper()
	d, err := output.Read(dir)
	if err != nil {
		s.t.Fatal(err)
	}
	if findings, err := output.Check(dir); err != nil || len(findings) > 0 {
		s.t.Errorf("check: %v %v", err, findings)
	}
	return d
}

// Rows are joined from the records of all stages.
func TestRows(t *testing.T) {
	t.Parallel()
	s, dir := newShop(t), filepath.Join(t.TempDir(), "out")
	id, proof := s.change(1)
	source := schemas.Step{Stage: "crawl", Key: "other__toy", State: schemas.StepRejected, Reason: schemas.BadLicence, Detail: "GPL-3.0"}
	if err := s.export(dir, []schemas.Step{source}, id); err != nil {
		t.Fatal(err)
	}
	d := s.read(dir)
	r := d.Rows[0].Row
	e := r.Benchmint
	got := []any{r.ProblemStatement, r.HintsText, r.Version, e.Change.Release, e.Change.Label, e.Change.LabelProvider, e.StatementFrom, e.Adequacy.Share, e.Licence, len(e.Quarantined), d.Manifest.Releases, d.Manifest.Counts.Open}
	want := []any{"I want to have two.\n", "Count.", "v1", "v2", schemas.LabelFix, "rules", "note+body", 1.0, "MIT", 0, 3, 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var stages []string
	for _, p := range e.Provenance {
		stages = append(stages, p.Stage)
		if p.Stage == "validate" && p.Output != schemas.DigestOf(proof.Stable()) {
			t.Error("the provenance of the proof is not of the stable proof")
		}
	}
	if diff := cmp.Diff([]string{"link", "classify", "provision", "validate", "assess"}, stages); diff != "" {
		t.Errorf("provenance (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]output.Reject{{InstanceID: "other__toy", End: schemas.StepRejected, Stage: "crawl", Reason: schemas.BadLicence, Detail: "GPL-3.0"}}, d.Rejects); diff != "" {
		t.Errorf("rejects (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]output.Funnel{{Stage: "link", Done: 9, Rejected: map[schemas.Reason]int{}}, {Stage: "export", Done: 1, Rejected: map[schemas.Reason]int{}}}, d.Manifest.Funnel); diff != "" {
		t.Errorf("funnel (-want +got):\n%s", diff)
	}
}

// A test that disagreed with itself in any change is in no list of another, whether
// that change was proved, rejected by its proof, or rejected after it.
func TestLedger(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		// other ends the change 2, in which one test disagrees with itself.
		other func(s *shop, id string, doubtful schemas.Proof) (rows []string, steps []schemas.Step)
	}{
		{"proved", func(s *shop, id string, p schemas.Proof) ([]string, []schemas.Step) {
			s.prove(p)
			return []string{id}, nil
		}},
		{"rejected_by_its_proof", func(s *shop, id string, p schemas.Proof) ([]string, []schemas.Step) {
			raw, err := json.Marshal(p)
			if err != nil {
				s.t.Fatal(err)
			}
			delete(s.steps, "validate "+id)
			return nil, []schemas.Step{{Stage: "validate", Key: id, State: schemas.StepRejected, Reason: schemas.RegressionR, Evidence: s.blob(raw)}}
		}},
		{"rejected_after_it", func(s *shop, id string, p schemas.Proof) ([]string, []schemas.Step) {
			s.prove(p)
			return nil, []schemas.Step{{Stage: "describe", Key: id, State: schemas.StepRejected, Reason: schemas.ThinStatement}}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, dir := newShop(t), filepath.Join(t.TempDir(), "out")
			one, _ := s.change(1)
			two, proof := s.change(2)
			rows, steps := tt.other(s, two, doubts(proof, 0))
			if err := s.export(dir, steps, append([]string{one}, rows...)...); err != nil {
				t.Fatal(err)
			}
			d := s.read(dir)
			e := d.Rows[0].Benchmint
			if len(d.Rows[0].PassToPass) != 0 || !cmp.Equal(e.Quarantined, []string{"t1"}) || !cmp.Equal(e.QuarantinedIn, map[string][]string{"t1": {two}}) {
				t.Errorf("t1 in the row of the other change: %v, %v, %v", d.Rows[0].PassToPass, e.Quarantined, e.QuarantinedIn)
			}
			if len(d.Flakes) != 1 || d.Flakes[0].Test != "t1" || d.Flakes[0].State != schemas.StateG || !cmp.Equal(d.Flakes[0].Outcomes, map[schemas.Status]int{schemas.Passed: 3, schemas.Failed: 1}) {
				t.Errorf("ledger: %+v", d.Flakes)
			}
		})
	}
}

// A change whose every FAIL_TO_PASS is in the ledger is no row.
func TestLedgerTakesTheLast(t *testing.T) {
	t.Parallel()
	s, dir := newShop(t), filepath.Join(t.TempDir(), "out")
	one, _ := s.change(1)
	two, proof := s.change(2)
	s.prove(doubts(proof, 1))
	if err := s.export(dir, []schemas.Step{{Stage: "describe", Key: two, State: schemas.StepRejected, Reason: schemas.ThinStatement}}, one); err != nil {
		t.Fatal(err)
	}
	d := s.read(dir)
	if len(d.Rows) != 0 || len(d.Rejects) != 2 || d.Rejects[0].Reason != schemas.LedgerFlaky || !strings.Contains(d.Rejects[0].Detail, "t2 disagreed with itself in "+two) {
		t.Errorf("%d rows, rejects %+v", len(d.Rows), d.Rejects)
	}
}

// What fails before a proof has none; a store that fails ends the export.
func TestEnds(t *testing.T) {
	t.Parallel()
	s, dir := newShop(t), filepath.Join(t.TempDir(), "out")
	one, _ := s.change(1)
	two, _ := s.change(2)
	delete(s.steps, "validate "+two)
	steps := []schemas.Step{{Stage: "validate", Key: two, State: schemas.StepFailed, Detail: "disk full"}}
	if err := s.export(dir, steps, one); err != nil {
		t.Fatal(err)
	}
	if d := s.read(dir); d.Rejects[0].Repo != "acme/toy" || d.Rejects[0].Detail != "disk full" {
		t.Errorf("%+v", d.Rejects)
	}
	s.trouble = errors.New("the store is gone")
	if err := s.export(dir, steps, one); !errors.Is(err, s.trouble) {
		t.Errorf("%v", err)
	}
	if d := s.read(dir); len(d.Rows) != 1 {
		t.Error("the dataset of before is gone")
	}
	s.trouble = nil
	delete(s.steps, "assess "+one)
	if err := s.export(dir, nil, one); err == nil || !strings.Contains(err.Error(), "no result of assess for "+one) {
		t.Errorf("%v", err)
	}
}
