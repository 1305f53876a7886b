// Package stages is the table of contents of the program: which stages there
// are, in which order, and what each one is given.
//
// It never does a stage's work; each lives in a package of its own, and none of
// them imports another.
package stages

import (
	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/crawl"
	"github.com/benchmint/benchmint/stages/export"
	"github.com/benchmint/benchmint/stages/link"
	"github.com/benchmint/benchmint/stages/provision"
	"github.com/benchmint/benchmint/stages/resolve"
	"github.com/benchmint/benchmint/stages/validate"
)

// The stages of the feature kind, in order.
const (
	Crawl     = "crawl"     // a source: its landed changes, newest first
	Link      = "link"      // a change: its two states, every path or hunk in one part
	Resolve   = "resolve"   // a start: a recipe with evidence, a lock, a key
	Provision = "provision" // a key: its environment, built once and tried
	Validate  = "validate"  // a start in its environment: the proof
	Export    = "export"    // all proofs: the dataset
)

// Order is every stage of a plan.
var Order = []string{Crawl, Link, Resolve, Provision, Validate, Export}

// Sandbox is the resource that builds and suites need: one at a time where timing
// tests of strangers are not to fail beside others.
const Sandbox = "sandbox"

// Repos is what the stages read of the sources.
type Repos interface {
	environment.Repos
	crawl.Repos
	link.Repos
}

// Deps is the world as the stages see it. Every outside dependency comes in here.
type Deps struct {
	Repos       Repos
	Steps       Steps
	Blobs       *blob.Store
	Builder     *environment.Builder
	SandboxKind string
	Link        link.Config
	Validate    validate.Config
	PinToDate   bool
	Tools       map[string]string // deciding tools and their versions
	Observe     func(validate.Measured)
	Dataset     export.Config
}

// New is the plan of the feature kind.
func New(d Deps) (*pipeline.Plan, error) {
	records := NewRecords(d.Steps)
	linker, err := link.New(d.Repos, d.Blobs, d.Builder.Languages, d.Link)
	if err != nil {
		return nil, err
	}
	validator, err := validate.New(validate.Outside{Sandbox: d.Builder.Sandbox, States: d.Builder, Blobs: d.Blobs, Observe: d.Observe}, d.Validate)
	if err != nil {
		return nil, err
	}
	projects := environment.Projects{Repos: d.Repos, Toolchains: d.Builder.Toolchains, PinToDate: d.PinToDate}
	prover := &proving{validator: validator, builder: d.Builder, repos: d.Repos, blobs: d.Blobs, records: records, statement: output.Statement}
	exporter := export.New(d.Dataset, export.Outside{Records: records, Repos: d.Repos, Blobs: d.Blobs, Languages: d.Builder.Languages, Tools: d.Tools, Stages: []string{Link, Resolve, Provision, Validate}, Proved: Validate})

	type places struct {
		Sandbox string
		Limits  sandbox.Limits
		Pin     bool
		Tools   map[string]string
	}
	sandboxes := map[string]int{Sandbox: 1}
	where := places{d.SandboxKind, d.Builder.Limits, d.PinToDate, d.Tools}
	sources := pipeline.New[schemas.Source]()
	changes := pipeline.Expand(sources, Crawl, pipeline.Expander[schemas.Source, schemas.Change](crawl.New(d.Repos)), pipeline.Options{Version: crawl.Version})
	starts := pipeline.Then(changes, Link, pipeline.Stage[schemas.Change, schemas.Start](linker), pipeline.Options{Version: link.Version, Config: d.Link})
	resolved := pipeline.Then(starts, Resolve, pipeline.Stage[schemas.Start, schemas.Resolved](resolve.New(d.Builder, projects)), pipeline.Options{Version: resolve.Version, Config: where, Needs: sandboxes})
	provisioned := pipeline.Share(resolved, Provision, pipeline.Sharer[schemas.Resolved, provision.Built, schemas.Provisioned](provision.New(d.Builder, projects, records, d.SandboxKind)), pipeline.Options{Version: provision.Version, Config: where, Needs: sandboxes})
	proofs := pipeline.Then(provisioned, Validate, pipeline.Stage[schemas.Provisioned, schemas.Proof](prover), pipeline.Options{Version: validate.Version, Config: d.Validate, Needs: sandboxes})
	return pipeline.Drain(proofs, Export, pipeline.Drainer[schemas.Proof](exporter), pipeline.Options{}), nil
}
