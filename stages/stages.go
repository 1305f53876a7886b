// Package stages is the table of contents of the program: which stages there
// are, in which order, and what each one is given.
//
// It never does a stage's work; each lives in a package of its own, and none of
// them imports another.
package stages

import (
	"time"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/assess"
	"github.com/benchmint/benchmint/stages/classify"
	"github.com/benchmint/benchmint/stages/crawl"
	"github.com/benchmint/benchmint/stages/describe"
	"github.com/benchmint/benchmint/stages/export"
	"github.com/benchmint/benchmint/stages/harvest"
	"github.com/benchmint/benchmint/stages/internal/ends"
	"github.com/benchmint/benchmint/stages/internal/testrun"
	"github.com/benchmint/benchmint/stages/link"
	"github.com/benchmint/benchmint/stages/provision"
	"github.com/benchmint/benchmint/stages/resolve"
	"github.com/benchmint/benchmint/stages/validate"
)

// The stages of the feature kind, in order.
const (
	Crawl     = "crawl"     // a source: whether it is wanted, and what it released
	Harvest   = "harvest"   // a source: its landed changes, newest first, with what release notes tell of them
	Link      = "link"      // a change: its two states, every path or hunk in one part
	Classify  = "classify"  // a start: feature, improvement, fix or other, and why
	Resolve   = "resolve"   // a start: a recipe with evidence, a lock, a key
	Provision = "provision" // a key: its environment, built once and tried
	Validate  = "validate"  // a start in its environment: the proof
	Assess    = "assess"    // a proof: how much of the patch its tests notice
	Describe  = "describe"  // a proved change: what a solver is told
	Export    = "export"    // all statements: the dataset
)

// Order is every stage of a plan.
var Order = []string{Crawl, Harvest, Link, Classify, Resolve, Provision, Validate, Assess, Describe, Export}

// budget is how often and for how long a step is put off before it is Failed (and tried
// again by the next run): some twenty seconds each time, so that a run that waits its
// default five minutes tries again more than ten times.
var budget = pipeline.Budget{Tries: 45, Wait: 15 * time.Minute}

// attempt bounds what a step does beside the commands that have limits of their own:
// asking registries, copying toolchains, making a mirror. A step over it hangs.
const attempt = 2 * time.Hour

// Git is the resource of sources that are fetched.
const Git = "git"

// Sandbox is the resource that builds and suites need: one at a time where timing
// tests of strangers are not to fail beside others.
const Sandbox = "sandbox"

// Repos is what the stages read of the sources.
type Repos interface {
	states.Repos
	environment.History
	crawl.Repositories
	link.Repos
}

// Deps is the world as the stages see it. Every outside dependency comes in here.
type Deps struct {
	Repos       Repos
	Steps       Steps
	Blobs       *blob.Store
	Builder     *environment.Builder
	SandboxKind string
	Crawl       crawl.Config
	Link        link.Config
	Classify    classify.Config
	Validate    validate.Config
	Assess      assess.Config
	Describe    describe.Config
	PinToDate   bool
	Tools       map[string]string // deciding tools and their versions
	Observe     func(validate.Measured)
	Dataset     export.Config
}

// doers are the stages, made of what they need.
type doers struct {
	linker     *link.Linker
	classifier *classify.Classifier
	prover     *validate.Stage
	assessor   *assess.Stage
}

// New is the plan of the feature kind.
func New(d Deps) (*pipeline.Plan, error) {
	records := NewRecords(d.Steps)
	trees := states.Maker{Repos: d.Repos, Blobs: d.Blobs}
	do, err := d.doers(records, trees)
	if err != nil {
		return nil, err
	}
	projects := environment.Projects{States: trees, History: d.Repos, Toolchains: d.Builder.Toolchains, Languages: d.Builder.Languages, PinToDate: d.PinToDate}
	exporter := export.New(d.Dataset, export.Outside{
		Records: records, States: trees, History: d.Repos, Blobs: d.Blobs, Commands: d.Builder, Tools: d.Tools,
		Stages: []string{Link, Classify, Resolve, Provision, Validate, Assess, Describe}, Labelled: Classify, Proved: Validate, Assessed: Assess,
		Releases: records.Releases,
	})

	type places struct {
		Sandbox string
		Limits  sandbox.Limits
		Pin     bool
		Tools   map[string]string
	}
	sandboxes := map[string]int{Sandbox: 1}
	builds := map[string]int{Sandbox: 1, ends.Registry: 1}
	// A lock is made at most so often, and with an environment tried on two layers.
	locks := attempt + environment.Attempts*d.Builder.Limits.Filled().Timeout
	environments := locks + environment.Attempts*(locks+3*d.Builder.Limits.Filled().Timeout)
	where := places{d.SandboxKind, d.Builder.Limits, d.PinToDate, d.Tools}
	sources := pipeline.New[schemas.Source]()
	crawled := pipeline.Then(sources, Crawl, pipeline.Stage[schemas.Source, schemas.Crawled](crawl.NewGate(d.Repos, d.Crawl)), pipeline.Options{Version: crawl.Version, Config: d.Crawl, Needs: map[string]int{Git: 1}, Timeout: attempt, Budget: budget})
	changes := pipeline.Expand(crawled, Harvest, pipeline.Expander[schemas.Crawled, schemas.Change](harvest.New(d.Repos)), pipeline.Options{Version: harvest.Version})
	starts := pipeline.Then(changes, Link, pipeline.Stage[schemas.Change, schemas.Start](do.linker), pipeline.Options{Version: link.Version, Config: d.Link})
	labelled := pipeline.Then(starts, Classify, pipeline.Stage[schemas.Start, schemas.Labelled](do.classifier), pipeline.Options{Version: classify.Version, Config: d.Classify, Reads: []string{Harvest}})
	resolved := pipeline.Then(labelled, Resolve, pipeline.Stage[schemas.Labelled, schemas.Resolved](resolve.New(d.Builder, projects, records)), pipeline.Options{Version: resolve.Version, Config: where, Needs: builds, Timeout: locks, Budget: budget})
	provisioned := pipeline.Share(resolved, Provision, pipeline.Sharer[schemas.Resolved, provision.Built, schemas.Provisioned](provision.New(d.Builder, projects, records, d.SandboxKind)), pipeline.Options{Version: provision.Version, Config: where, Needs: builds, Timeout: environments, Budget: budget})
	proofs := pipeline.Then(provisioned, Validate, pipeline.Stage[schemas.Provisioned, schemas.Proof](do.prover), pipeline.Options{Version: validate.Version, Config: d.Validate, Needs: sandboxes, Budget: budget})
	assessed := pipeline.Then(proofs, Assess, pipeline.Stage[schemas.Proof, schemas.Adequacy](do.assessor), pipeline.Options{Version: assess.Version, Config: d.Assess, Needs: sandboxes, Budget: budget})
	described := pipeline.Then(assessed, Describe, pipeline.Stage[schemas.Adequacy, schemas.Statement](describe.New(records, trees, d.Builder.Languages, d.Describe)), pipeline.Options{Version: describe.Version, Config: d.Describe.Fingerprint(), Reads: []string{Harvest}})
	return pipeline.Drain(described, Export, pipeline.Drainer[schemas.Statement](exporter), pipeline.Options{Version: export.Version, Config: d.Dataset.Told(d.Tools)}), nil
}

func (d Deps) doers(records *Records, trees states.Maker) (do doers, err error) {
	if do.linker, err = link.New(d.Repos, d.Blobs, d.Builder.Languages, d.Link); err != nil {
		return do, err
	}
	if do.classifier, err = classify.New(records, d.Classify); err != nil {
		return do, err
	}
	runs := testrun.Outside{Builder: d.Builder, Blobs: d.Blobs, Observe: d.Observe}
	validator, err := validate.New(runs, d.Validate)
	if err != nil {
		return do, err
	}
	assessor, err := assess.New(runs, d.Assess)
	if err != nil {
		return do, err
	}
	do.prover = validate.NewStage(validator, validate.Sources{Records: records, States: trees, History: d.Repos})
	do.assessor = assess.NewStage(assessor, records, trees)
	return do, nil
}
