package stages

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/classify"
	"github.com/benchmint/benchmint/stages/cut"
	"github.com/benchmint/benchmint/stages/mask"
	"github.com/benchmint/benchmint/stages/validate"
)

// shelf is a store of a few steps.
type shelf map[string]schemas.Step

func (s shelf) Step(stage, key string) (schemas.Step, bool, error) {
	step, ok := s[stage+" "+key]
	return step, ok, nil
}

func (s shelf) Inputs(stage, key string) (json.RawMessage, bool, error) {
	step, ok := s[stage+" "+key]
	return step.Record, ok, nil
}

func (s shelf) Each(stage string) iter.Seq2[schemas.Step, error] {
	return func(yield func(schemas.Step, error) bool) {
		for _, key := range slices.Sorted(maps.Keys(s)) {
			if step := s[key]; step.Stage == stage && !yield(step, nil) {
				return
			}
		}
	}
}

func (s shelf) put(t *testing.T, step schemas.Step, in any, outputs ...interface{ ID() string }) {
	t.Helper()
	raw, err := schemas.Canonical(in)
	if err != nil {
		t.Fatal(err)
	}
	step.Record = raw
	for _, o := range outputs {
		if raw, err = schemas.Canonical(o); err != nil {
			t.Fatal(err)
		}
		step.Outputs = append(step.Outputs, schemas.Output{Key: o.ID(), Digest: schemas.DigestBytes(raw), Record: raw})
	}
	s[step.Stage+" "+step.Key] = step
}

func TestRecordsJoinWhatStagesLeft(t *testing.T) {
	t.Parallel()
	s := shelf{}
	one := schemas.Change{Repo: "acme/widget", Number: 1, Subject: "one", Commit: strings.Repeat("1", 40)}
	two := schemas.Change{Repo: "acme/widget", Number: 2, Subject: "two", Commit: strings.Repeat("2", 40)}
	s.put(t, schemas.Step{Stage: Link, Key: one.ID(), State: schemas.StepDone}, one, schemas.Start{ChangeID: one.ID()})
	s.put(t, schemas.Step{Stage: FirstCommon, Key: one.ID(), State: schemas.StepReady}, schemas.Start{ChangeID: one.ID()})
	s.put(t, schemas.Step{Stage: Link, Key: two.ID(), State: schemas.StepRejected, Reason: schemas.NoTests}, two)
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

// TestStartWithItsSuite: stages behind Suite see a start with the suite that was written for it, and
// those before it never do.
func TestStartWithItsSuite(t *testing.T) {
	t.Parallel()
	s := shelf{}
	start := schemas.Start{ChangeID: "acme__widget-e1", Kind: schemas.KindEdit}
	s.put(t, schemas.Step{Stage: FirstCommon, Key: start.ID(), State: schemas.StepDone}, start)
	r := NewRecords(s)
	if _, err := r.Start(start.ID()); err == nil {
		t.Error("a start that wants a suite has none, and is taken")
	}
	tested := start
	tested.TestPatch, tested.Suite = "sha256:1", &schemas.Suite{Provider: "small"}
	s.put(t, schemas.Step{Stage: Suite, Key: start.ID(), State: schemas.StepDone}, nil, schemas.Provisioned{StartID: start.ID(), WantsSuite: true, Tested: &tested})
	for name, tc := range map[string]struct {
		of   func(string) (schemas.Start, error)
		want schemas.Start
	}{"behind": {r.Start, tested}, "before": {r.Made().Start, start}} {
		if got, err := tc.of(start.ID()); err != nil || !cmp.Equal(got, tc.want) {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, cmp.Diff(tc.want, got))
		}
	}
}

// TestOrderIsThePlan: the list that verbs and documents use is the list that runs.
func TestOrderIsThePlan(t *testing.T) {
	t.Parallel()
	plan, err := New(Deps{Steps: shelf{}, Builder: &environment.Builder{}, Cut: cut.Default(), Classify: classify.Default(), Validate: validate.Default()})
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Check(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(Order, plan.Stages()); diff != "" {
		t.Errorf("(-order +plan):\n%s", diff)
	}
}

// TestCutsDependOn: slices are listed as the mask has them; what cuts of whole libraries depend on
// stays as it was before there were slices.
func TestCutsDependOn(t *testing.T) {
	t.Parallel()
	digest := func(slices []string, least float64) schemas.Digest {
		return schemas.DigestOf((&parts{Deps: Deps{Cut: cut.Config{Releases: 1, Profile: "strict", Slices: slices}, Mask: mask.Config{MinLanguage: least}}}).cuts())
	}
	if got := digest(nil, 0.5); got != digest(nil, 0.9) || got != schemas.DigestBytes([]byte(`{"releases":1,"profile":"strict"}`)) {
		t.Errorf("cuts of whole libraries depend on more than their number and profile")
	}
	if sliced := []string{schemas.ModuleSlices}; digest(sliced, 0.5) == digest(sliced, 0.9) {
		t.Error("slices do not depend on how a release is masked")
	}
}

// A dry run ends before anything needs a sandbox, but for surveys, which it leaves out, and for cuts
// and masks, which load nothing then; and reasons belong to stages.
func TestWords(t *testing.T) {
	t.Parallel()
	boxed := func(r row) bool { return slices.Contains(r.needs, Sandbox) }
	at := slices.Index(Order, LastWithoutSandbox)
	for _, r := range table[:at+1] {
		if boxed(r) && r.stage != Survey && r.stage != Cut && r.stage != Mask {
			t.Errorf("%s needs a sandbox, and %s is said to be the last before", r.stage, LastWithoutSandbox)
		}
	}
	if next := table[at+1]; !boxed(next) {
		t.Errorf("%s needs no sandbox, and comes after %s", next.stage, LastWithoutSandbox)
	}
	for _, r := range schemas.Reasons {
		stage, _, _ := strings.Cut(string(r.Reason), "/")
		if ofExport := stage == "review" || stage == "balance"; stage != "engine" && !ofExport && !slices.Contains(Order, stage) {
			t.Errorf("%s is a reason of no stage", r.Reason)
		}
	}
}

// A call that hangs must not hold up a run for ever, and what is put off must end.
func TestEveryStageEnds(t *testing.T) {
	t.Parallel()
	d := Deps{Builder: &environment.Builder{}, Validate: validate.Default()}
	for _, r := range table {
		stage := r.stage
		o := d.options(stage, "1", nil)
		if len(o.Needs) == 0 {
			t.Errorf("%s needs nothing: it is bounded by nothing", stage)
		}
		if o.Timeout <= 0 || o.Budget.Tries <= 0 || o.Budget.Wait <= 0 {
			t.Errorf("%s: %+v", stage, o)
		}
		want := slices.Contains([]string{Resolve, Provision, Suite, Validate, Assess, Document, Survey, Cut, Mask}, stage)
		if got := slices.Contains(r.needs, Sandbox); got != want {
			t.Errorf("%s needs a sandbox: %t", stage, got)
		}
	}
	if got, least := d.Validate.Timeout(), 64*4*time.Duration(d.Validate.Runs+2)*30*time.Minute; got < least {
		t.Errorf("a proof has %s, less than %s", got, least)
	}
}
