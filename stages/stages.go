// Package stages is the table of contents of the program: which stages there
// are, in which order, and what each one is given.
//
// It never does a stage's work; each lives in a package of its own, and none of
// them imports another.
package stages

import (
	"context"
	"maps"
	"time"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/llm"
	masks "github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/states"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/prompts"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/assess"
	"github.com/benchmint/benchmint/stages/classify"
	"github.com/benchmint/benchmint/stages/crawl"
	"github.com/benchmint/benchmint/stages/cut"
	"github.com/benchmint/benchmint/stages/describe"
	"github.com/benchmint/benchmint/stages/document"
	"github.com/benchmint/benchmint/stages/export"
	"github.com/benchmint/benchmint/stages/harvest"
	"github.com/benchmint/benchmint/stages/internal/asked"
	"github.com/benchmint/benchmint/stages/internal/ends"
	"github.com/benchmint/benchmint/stages/internal/mend"
	"github.com/benchmint/benchmint/stages/internal/testrun"
	"github.com/benchmint/benchmint/stages/link"
	"github.com/benchmint/benchmint/stages/mask"
	"github.com/benchmint/benchmint/stages/pair"
	"github.com/benchmint/benchmint/stages/provision"
	"github.com/benchmint/benchmint/stages/resolve"
	"github.com/benchmint/benchmint/stages/survey"
	"github.com/benchmint/benchmint/stages/validate"
)

// The stages, in order: those of the feature, the edit, the library and the service kind, then of all.
const (
	Crawl     = "crawl"     // a source: whether it is wanted, and what it released
	Harvest   = "harvest"   // a source: its landed changes, newest first, with what release notes tell of them
	Link      = "link"      // a change: its two states, every path or hunk in one part
	Pair      = "pair"      // a source: ranges of its commits, drawn by a seed
	Range     = "range"     // a range: its two states, every path or hunk in one part
	Cut       = "cut"       // a source: releases of it that library tasks are made of, whole and by slices
	Mask      = "mask"      // a release or a slice of it: its two states, one without the bodies of its functions
	Survey    = "survey"    // a source: its endpoints in groups, with cases recorded from the service as it runs
	Strip     = "strip"     // a group of endpoints: its two states, one without the bodies of its handlers
	Classify  = "classify"  // a start: feature, improvement, fix or other, and why
	Resolve   = "resolve"   // a start: a recipe with evidence, a lock, a key
	Provision = "provision" // a key: its environment, built once and tried
	Validate  = "validate"  // a start in its environment: the proof
	Assess    = "assess"    // a proof: how much of the patch its tests notice
	Describe  = "describe"  // a proved change: what a solver is told
	Document  = "document"  // a statement of a library: its specification, of the release's own documentation
	Export    = "export"    // all statements: the dataset
)

// Order is every stage of a plan.
var Order = []string{Crawl, Harvest, Link, Pair, Range, Cut, Mask, Survey, Strip, Classify, Resolve, Provision, Validate, Assess, Describe, Document, Export}

// budget is how often and for how long a step is put off before it is Failed (and tried
// again by the next run): some twenty seconds each time, so that a run that waits its
// default five minutes tries again more than ten times.
var budget = pipeline.Budget{Tries: 45, Wait: 15 * time.Minute}

// attempt bounds what a step does beside the commands that have limits of their own:
// asking registries, copying toolchains, making a mirror, reading a history or a change.
// A step over it hangs.
const attempt = 2 * time.Hour

// writing bounds the writing of a dataset, of however many tasks.
const writing = 24 * time.Hour

// The resources that stages need.
const (
	Git = "git" // of sources that are fetched
	CPU = "cpu" // what computes: as many at one time as the user allows
	// Sandbox is for builds and suites: one at a time where timing tests of strangers are
	// not to fail beside others.
	Sandbox = "sandbox"
)

// Makers are the stages that make the starts, one or more for each kind.
var Makers = []string{Link, Range, Mask, Strip}

const (
	Begin = Classify // the first stage of all kinds together: what it is given is a Start
	Cheap = Classify // the last stage before a sandbox is needed: a dry run ends with it
	Last  = Document // the last stage before the dataset: libraries alone go through it
)

// needs are the resources that one step of a stage holds while it runs.
var needs = map[string]map[string]int{
	Crawl:     {Git: 1},
	Harvest:   {CPU: 1},
	Link:      {CPU: 1},
	Pair:      {CPU: 1},
	Range:     {CPU: 1},
	Cut:       {CPU: 1},
	Mask:      {CPU: 1},
	Survey:    {CPU: 1, Sandbox: 1, ends.Registry: 1},
	Strip:     {CPU: 1},
	Classify:  {CPU: 1},
	Resolve:   {CPU: 1, Sandbox: 1, ends.Registry: 1},
	Provision: {CPU: 1, Sandbox: 1, ends.Registry: 1},
	Validate:  {CPU: 1, Sandbox: 1},
	Assess:    {CPU: 1, Sandbox: 1},
	Describe:  {CPU: 1},
	Document:  {CPU: 1, Sandbox: 1, ends.Registry: 1},
	Export:    {CPU: 1},
}

// options are those of a stage whose step hangs where it takes longer than timeout.
func options(stage, version string, config any, timeout time.Duration, reads ...string) pipeline.Options {
	return pipeline.Options{Version: version, Config: config, Needs: needs[stage], Timeout: timeout, Budget: budget, Reads: reads}
}

// asking are the options of a stage that may ask a model: it waits, and computes little.
func asking(d *llm.Desk, o pipeline.Options) pipeline.Options {
	if d != nil {
		o.Needs = map[string]int{llm.Resource: 1}
	}
	return o
}

// telling are the options of the stage that asks GitHub.
func (d Deps) telling(o pipeline.Options) pipeline.Options {
	if d.Forge != nil {
		o.Needs = map[string]int{CPU: 1, harvest.GitHub: 1}
	}
	return o
}

// suites bounds what n runs of a suite take: each is a few attempts of a few processes,
// and a process ends at the limit of its sandbox. It is far above what a proof comes to.
func suites(n int, l sandbox.Limits) time.Duration {
	const processes = 64
	return attempt + time.Duration(n)*processes*l.Filled().Timeout
}

// Repos is what the stages read of the sources.
type Repos interface {
	states.Repos
	environment.History
	crawl.Repositories
	link.Repos
	mask.Repos
}

// Forge is GitHub, as the stages ask it.
type Forge interface {
	crawl.Announcements
	harvest.Pulls
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
	Cut         cut.Config
	Mask        mask.Config
	Survey      survey.Config
	Services    bool             // some source makes services: without any, no sandbox is needed before Resolve
	Maskers     []masks.Language // all of which code can be masked
	Classify    classify.Config
	Validate    validate.Config
	Assess      assess.Config
	Describe    describe.Config
	Printer     document.Printer            // prints specifications; nil is nobody
	PrintedBy   string                      // its name and version
	Overrides   map[string]schemas.Override // statements and interfaces written by hand, by ID
	// Desk is where models are asked, without its ledger, which Books keeps; nil asks
	// nobody: the rules decide and write alone.
	Desk  *llm.Desk
	Books asked.Books
	// Forge is asked what pull requests and releases say; nil asks nobody.
	Forge     Forge
	Now       func() time.Time // for Desk
	PinToDate bool
	Tools     map[string]string // deciding tools and their versions
	Program   map[string]string // what writes a dataset, beside them: it redoes nothing
	Observe   func(validate.Measured)
	Dataset   export.Config
}

// doers are the stages, made of what they need.
type doers struct {
	linker     *link.Linker
	cutter     *cut.Cutter
	masker     *mask.Masker
	classifier *classify.Classifier
	prover     *validate.Stage
	assessor   *assess.Stage
}

// New is the plan of all kinds.
func New(d Deps) (*pipeline.Plan, error) {
	if d.Desk != nil {
		d.Classify.Model, d.Classify.Prompt, d.Describe.Model = &d.Desk.Settings, prompts.Classify.Hash()+" "+prompts.Notes.Hash(), &d.Desk.Settings
	}
	records := NewRecords(d.Steps)
	trees := states.Maker{Repos: d.Repos, Blobs: d.Blobs}
	do, err := d.doers(records, trees)
	if err != nil {
		return nil, err
	}
	projects := environment.Projects{States: trees, History: d.Repos, Toolchains: d.Builder.Toolchains, Languages: d.Builder.Languages, PinToDate: d.PinToDate}
	exporter := export.New(d.Dataset, export.Outside{
		Records: records, States: trees, History: d.Repos, Blobs: d.Blobs, Commands: d.Builder, Tools: merged(d.Tools, d.Program),
		Stages: []string{Link, Range, Mask, Strip, Classify, Resolve, Provision, Validate, Assess, Describe, Document}, Labelled: Classify, Proved: Validate, Assessed: Assess,
		Releases: records.Releases,
	})

	type places struct {
		Sandbox string
		Limits  sandbox.Limits
		Pin     bool
		Tools   map[string]string
		Model   *llm.Settings `json:",omitempty"`
		Prompt  string        `json:",omitempty"`
	}
	// A lock is made at most so often, and with an environment tried on two layers.
	locks := attempt + environment.Attempts*d.Builder.Limits.Filled().Timeout
	environments := locks + environment.Attempts*(locks+3*d.Builder.Limits.Filled().Timeout)
	// In S, in G and in B, with a few more of the change's own tests and of other commands;
	// each hunk once, and once more.
	proof, hunks := suites(4*(d.Validate.Runs+2), d.Validate.Limits), suites(2*(d.Assess.MaxHunks+1), d.Assess.Limits)
	where := places{Sandbox: d.SandboxKind, Limits: d.Builder.Limits, Pin: d.PinToDate, Tools: d.Tools}
	if d.Desk != nil {
		where.Model, where.Prompt = &d.Desk.Settings, prompts.Repair.Hash()
		d.Builder.Repairers = []environment.Repairer{mend.Model{Desk: d.desk()}}
	}
	d.Builder.Teller = teller{}
	sources := pipeline.New[schemas.Source]()
	crawled := pipeline.Then(sources, Crawl, pipeline.Stage[schemas.Source, schemas.Crawled](crawl.NewGate(d.Repos, d.Forge, d.Crawl)), options(Crawl, crawl.Version, d.Crawl, attempt))
	wants := func(k schemas.Kind) func(schemas.Crawled) bool {
		return func(c schemas.Crawled) bool { return c.Source.Wants(k) }
	}
	changes := pipeline.Expand(pipeline.Where(crawled, wants(schemas.KindFeature)), Harvest, pipeline.Expander[schemas.Crawled, schemas.Change](harvest.New(d.Repos, d.Forge)), d.telling(options(Harvest, harvest.Version, nil, attempt)))
	starts := pipeline.Then(changes, Link, pipeline.Stage[schemas.Change, schemas.Start](do.linker), options(Link, link.Version, d.Link, attempt))
	ranges := pipeline.Expand(pipeline.Where(crawled, wants(schemas.KindEdit)), Pair, pipeline.Expander[schemas.Crawled, schemas.Change](pair.New(d.Repos)), options(Pair, pair.Version, nil, attempt))
	edits := pipeline.Then(ranges, Range, pipeline.Stage[schemas.Change, schemas.Start](do.linker), options(Range, link.Version, d.Link, attempt))
	cuts := pipeline.Expand(pipeline.Where(crawled, wants(schemas.KindLibrary)), Cut, pipeline.Expander[schemas.Crawled, schemas.Cut](do.cutter), options(Cut, cut.Version, d.cuts(), attempt))
	libraries := pipeline.Then(cuts, Mask, pipeline.Stage[schemas.Cut, schemas.Start](do.masker), options(Mask, mask.Version, d.Mask, attempt))
	services := d.services(pipeline.Where(crawled, wants(schemas.KindService)), projects, do.masker, where)
	labelled := pipeline.Then(pipeline.Merge(starts, edits, libraries, services), Classify, pipeline.Stage[schemas.Start, schemas.Labelled](do.classifier), asking(d.Desk, options(Classify, classify.Version, d.Classify, attempt, Harvest)))
	resolved := pipeline.Then(labelled, Resolve, pipeline.Stage[schemas.Labelled, schemas.Resolved](resolve.New(d.Builder, projects, records, d.Blobs)), options(Resolve, resolve.Version, where, locks))
	provisioned := pipeline.Share(resolved, Provision, pipeline.Sharer[schemas.Resolved, provision.Built, schemas.Provisioned](provision.New(d.Builder, projects, records, d.SandboxKind)), options(Provision, provision.Version, where, environments))
	proofs := pipeline.Then(provisioned, Validate, pipeline.Stage[schemas.Provisioned, schemas.Proof](do.prover), options(Validate, validate.Version, d.Validate, proof))
	assessed := pipeline.Then(proofs, Assess, pipeline.Stage[schemas.Proof, schemas.Adequacy](do.assessor), options(Assess, assess.Version, d.Assess, hunks))
	describer := describe.New(records, trees, d.Builder.Languages, d.Overrides, d.Describe)
	if d.Desk != nil {
		describer.With(describe.Model{Desk: d.desk()}, describe.Model{Desk: d.desk()})
	}
	described := pipeline.Then(assessed, Describe, pipeline.Stage[schemas.Adequacy, schemas.Statement](describer), asking(d.Desk, options(Describe, describe.Version, d.Describe.Fingerprint(), attempt, Harvest)))
	documented := d.documented(described, projects, document.Outside{Records: records, States: trees, Blobs: d.Blobs, Printer: d.Printer, PrintedBy: d.PrintedBy}, environments)
	others := pipeline.Where(described, func(s schemas.Statement) bool { return !document.Wanted(s) })
	plan := pipeline.Drain(pipeline.Merge(others, documented), Export, pipeline.Drainer[schemas.Statement](exporter), options(Export, export.Version, d.Dataset.Told(d.Tools), writing))
	plan.Judge(ends.OfMachine)
	return plan, nil
}

// teller tells the builder's long work as that of the step that asks for it.
type teller struct{}

func (teller) Doing(ctx context.Context, form string, args ...any) {
	pipeline.Doing(ctx, form, args...)
}
func (teller) Doer(ctx context.Context) string { return pipeline.Item(ctx) }

// services are the starts of groups of endpoints.
func (d Deps) services(crawled pipeline.Flow[schemas.Crawled], p environment.Projects, masker *mask.Masker, where any) pipeline.Flow[schemas.Start] {
	surveyor := survey.New(d.Repos, survey.Workshop{Builder: d.Builder, Projects: p}, d.Blobs, d.Survey)
	prompt := ""
	if d.Desk != nil {
		surveyor.With(survey.Model{Desk: d.desk()})
		prompt = prompts.Requests.Hash()
	}
	settings := struct {
		survey.Config
		Where  any
		Prompt string `json:",omitempty"` // that the model of Where is asked
	}{d.Survey, where, prompt}
	o := options(Survey, survey.Version, settings, surveying(d.Survey, d.Builder.Limits))
	if !d.Services {
		o.Needs = map[string]int{CPU: 1}
	}
	groups := pipeline.Expand(crawled, Survey, pipeline.Expander[schemas.Crawled, schemas.Cut](surveyor), o)
	return pipeline.Then(groups, Strip, pipeline.Stage[schemas.Cut, schemas.Start](masker), options(Strip, mask.Version, d.Mask, attempt))
}

// surveying bounds a survey: at each commit an environment, and recordings of each group.
func surveying(c survey.Config, l sandbox.Limits) time.Duration {
	return time.Duration(c.WalkBack+1) * (attempt + 2*l.Filled().Timeout)
}

// documented are the statements of libraries with their specifications.
func (d Deps) documented(described pipeline.Flow[schemas.Statement], p environment.Projects, o document.Outside, timeout time.Duration) pipeline.Flow[schemas.Statement] {
	least := describe.DefaultLibrary().Specification
	if d.Describe.Library != nil {
		least = d.Describe.Library.Specification
	}
	settings := document.Settings{Sandbox: d.SandboxKind, Limits: d.Builder.Limits, Pin: d.PinToDate, PrintedBy: o.PrintedBy, Least: least}
	documenter := document.New(d.Builder, p, o, least)
	return pipeline.Share(pipeline.Where(described, document.Wanted), Document, pipeline.Sharer[schemas.Statement, document.Built, schemas.Statement](documenter), options(Document, document.Version, settings, timeout))
}

// cuts is what cut depends on beside its source: of slices, also how a release is masked.
func (d Deps) cuts() any {
	if len(d.Cut.Slices) == 0 {
		return d.Cut
	}
	return struct {
		cut.Config
		Version string
		Mask    mask.Config
	}{d.Cut, mask.Version, d.Mask}
}

func (d Deps) desk() asked.Desk {
	desk := *d.Desk
	desk.Ledger, desk.Now = asked.Ledger(d.Books), d.Now
	return asked.Desk{Desk: &desk}
}

func merged(of ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range of {
		maps.Copy(out, m)
	}
	return out
}

func (d Deps) doers(records *Records, trees states.Maker) (do doers, err error) {
	if do.linker, err = link.New(d.Repos, d.Blobs, d.Builder.Languages, d.Link); err != nil {
		return do, err
	}
	if do.masker, err = mask.New(d.Repos, d.Blobs, d.Builder.Languages, d.Maskers, d.Mask); err != nil {
		return do, err
	}
	if do.cutter, err = cut.New(do.masker, d.Cut); err != nil {
		return do, err
	}
	var others []classify.Decider
	if d.Desk != nil {
		others = append(others, classify.Notes{Desk: d.desk(), Told: records}, classify.Model{Desk: d.desk()})
	}
	if do.classifier, err = classify.New(records, d.Classify, others...); err != nil {
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
