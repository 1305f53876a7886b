package stages

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/github"
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
	"github.com/benchmint/benchmint/stages/internal/mend"
	"github.com/benchmint/benchmint/stages/internal/pulls"
	"github.com/benchmint/benchmint/stages/internal/testrun"
	"github.com/benchmint/benchmint/stages/link"
	"github.com/benchmint/benchmint/stages/mask"
	"github.com/benchmint/benchmint/stages/pair"
	"github.com/benchmint/benchmint/stages/provision"
	"github.com/benchmint/benchmint/stages/resolve"
	"github.com/benchmint/benchmint/stages/suite"
	"github.com/benchmint/benchmint/stages/survey"
	"github.com/benchmint/benchmint/stages/validate"
)

// Repos is what the stages read of the sources.
type Repos interface {
	states.Repos
	environment.History
	crawl.Repositories
	link.Repos
	mask.Repos
	suite.Repos
}

// Forge is GitHub, as the stages ask it.
type Forge interface {
	crawl.Announcements
	pulls.Forge
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
	Libraries   bool             // the same of libraries
	Maskers     []masks.Language // all of which code can be masked
	Classify    classify.Config
	Suites      bool // edits without tests are taken, and a model writes their tests
	Suite       suite.Config
	Validate    validate.Config
	Assess      assess.Config
	Describe    describe.Config
	Printer     document.Printer            // prints specifications; nil is nobody
	PrintedBy   string                      // its name and version
	Overrides   map[string]schemas.Override // statements and interfaces written by hand, by ID
	// Models is asked without its ledger, which Books keeps; nil asks
	// nobody: the rules decide and write alone.
	Models *llm.Client
	Books  asked.Books
	// Forge is asked what pull requests and releases say; nil asks nobody.
	Forge     Forge
	Now       func() time.Time // for Models
	PinToDate bool
	Tools     map[string]string // deciding tools and their versions
	Program   map[string]string // what writes a dataset, beside them: it redoes nothing
	Observe   func(validate.Measured)
	Dataset   export.Config
	Far       bool // steps that hold a sandbox are done on other machines, and compute nothing here
}

// client is Models with its books.
func (d Deps) client() *llm.Client {
	client := *d.Models
	client.Ledger, client.Judge, client.Now = asked.Ledger(d.Books), asked.Judge(d.Books), d.Now
	return &client
}

// Probe asks the model a tiny question, before anything begins.
func (d Deps) Probe(ctx context.Context) error { return d.client().Probe(ctx) }

func (d Deps) limits() sandbox.Limits { return d.Builder.Limits }

// parts are the stages as the plan takes them.
type parts struct {
	Deps
	records      *Records
	trees        states.Maker
	projects     environment.Projects
	environments environments
	model        asked.Client // Deps.Models with its ledger
	linker       *link.Linker
	cutter       *cut.Cutter
	masker       *mask.Masker
	classifier   *classify.Classifier
	validator    *validate.Validator
	assessor     *assess.Assessor
	noticer      *assess.Assessor // of suites that a model writes
}

// environments is what the results of the stages that make environments depend on.
type environments struct {
	Sandbox string
	Limits  sandbox.Limits
	Pin     bool
	Tools   map[string]string
	Model   *llm.Settings `json:",omitempty"`
	Prompt  string        `json:",omitempty"`
}

// newParts fails for settings that cannot be used.
func newParts(d Deps) (p *parts, err error) {
	p = &parts{records: NewRecords(d.Steps), trees: states.Maker{Repos: d.Repos, Blobs: d.Blobs}}
	p.environments = environments{Sandbox: d.SandboxKind, Limits: d.limits(), Pin: d.PinToDate, Tools: d.Tools}
	p.projects = environment.Projects{
		States: p.trees, History: d.Repos, Toolchains: d.Builder.Toolchains, Languages: d.Builder.Languages, PinToDate: d.PinToDate,
	}
	d.Builder.Progress = progress{}
	var deciders []classify.Decider
	if d.Models != nil {
		client := d.client()
		p.model = asked.Client{Client: client}
		d.Classify.Model, d.Classify.Prompt = &client.Settings, prompts.Classify.Hash()+" "+prompts.Notes.Hash()
		d.Describe.Model = &client.Settings
		p.environments.Model, p.environments.Prompt = &client.Settings, prompts.Repair.Hash()
		d.Builder.Repairers = []environment.Repairer{mend.Model{Client: p.model, Languages: d.Builder.Languages}}
		deciders = []classify.Decider{classify.Notes{Client: p.model, Records: p.records}, classify.Model{Client: p.model}}
	}
	p.Deps = d
	if p.linker, err = link.New(d.Repos, d.Blobs, d.Builder.Languages, d.Link); err != nil {
		return nil, err
	}
	var loader mask.Loader
	if d.Builder.Sandbox != nil {
		loader = mask.Workshop{Builder: d.Builder, Projects: p.projects}
	}
	if p.masker, err = mask.New(d.Repos, d.Blobs, d.Builder.Languages, d.Maskers, loader, d.Mask); err != nil {
		return nil, err
	}
	if p.cutter, err = cut.New(p.masker, d.Cut); err != nil {
		return nil, err
	}
	if p.classifier, err = classify.New(p.records, d.Blobs, d.Classify, deciders...); err != nil {
		return nil, err
	}
	runs := testrun.Outside{Builder: d.Builder, Blobs: d.Blobs, Observe: d.Observe, Hold: true}
	if p.validator, err = validate.New(runs, d.Validate); err != nil {
		return nil, err
	}
	if p.noticer, err = assess.New(runs, d.hunks()); err != nil {
		return nil, err
	}
	p.assessor, err = assess.New(runs, d.Assess)
	return p, err
}

// hunks is how suites that a model writes are assessed: as proofs are, and also where those are not.
func (d Deps) hunks() assess.Config {
	c := d.Assess
	if c.MaxHunks == 0 {
		c.MaxHunks = assess.Default().MaxHunks
	}
	return c
}

// wanting are the sources that want tasks of a stage's kind.
func wanting(stage string, crawled pipeline.Flow[schemas.Crawled]) pipeline.Flow[schemas.Crawled] {
	return pipeline.Where(crawled, func(c schemas.Crawled) bool { return c.Source.Wants(rowOf(stage).kind) })
}

// rowOf is the row of a stage that the table has.
func rowOf(stage string) row { return table[slices.Index(Order, stage)] }

// budget is how often and for how long a step is put off before it is Failed (and tried again by the next run): some
// twenty seconds each time, so that a run that waits its default five minutes tries again more than ten times.
var budget = pipeline.Budget{Tries: 45, Wait: 15 * time.Minute}

// options are those of a stage that reads others.
func (d Deps) options(stage, version string, config any, reads ...string) pipeline.Options {
	r := rowOf(stage)
	return pipeline.Options{Version: version, Config: config, Needs: d.held(r), Timeout: r.bound(d), Budget: budget, Reads: reads}
}

// held are those of a row's needs that there is a use for.
func (d Deps) held(r row) map[string]int {
	held := map[string]int{}
	for _, need := range r.needs {
		held[need] = 1
	}
	switch {
	case held[llm.Resource] > 0 && d.Models != nil:
		return map[string]int{llm.Resource: 1} // it waits for a model, and computes little
	case r.kind == schemas.KindService && !d.Services, r.kind == schemas.KindLibrary && r.stage != Document && !d.Libraries, r.stage == Cut && len(d.Cut.Slices) == 0:
		return map[string]int{CPU: 1}
	case d.Forge == nil:
		delete(held, github.Resource)
	}
	if d.Far && held[Sandbox] > 0 {
		delete(held, CPU)
	}
	delete(held, llm.Resource)
	return held
}

func (p *parts) crawl(f pipeline.Flow[schemas.Source]) pipeline.Flow[schemas.Crawled] {
	return pipeline.Then(f, Crawl, crawl.NewGate(p.Repos, p.Forge, p.Crawl), p.options(Crawl, crawl.Version, p.Crawl))
}

func (p *parts) harvest(f pipeline.Flow[schemas.Crawled]) pipeline.Flow[schemas.Change] {
	return pipeline.Expand(f, Harvest, harvest.New(p.Repos, p.Forge), p.options(Harvest, harvest.Version, nil))
}

func (p *parts) pair(f pipeline.Flow[schemas.Crawled]) pipeline.Flow[schemas.Change] {
	var settings any
	if p.Suites {
		settings = "untested"
	}
	return pipeline.Expand(f, Pair, pair.New(p.Repos, p.Forge, p.Suites), p.options(Pair, pair.Version, settings))
}

func (p *parts) link(stage string, f pipeline.Flow[schemas.Change]) pipeline.Flow[schemas.Start] {
	return pipeline.Then(f, stage, p.linker, p.options(stage, link.Version, p.Link))
}

func (p *parts) cut(f pipeline.Flow[schemas.Crawled]) pipeline.Flow[schemas.Cut] {
	return pipeline.Expand(f, Cut, p.cutter, p.options(Cut, cut.Version, p.cuts()))
}

// survey makes groups of endpoints.
func (p *parts) survey(f pipeline.Flow[schemas.Crawled]) pipeline.Flow[schemas.Cut] {
	surveyor := survey.New(p.Repos, survey.Workshop{Builder: p.Builder, Projects: p.projects}, p.Blobs, p.Survey)
	settings := struct {
		survey.Config
		Where  any
		Prompt string `json:",omitempty"` // that the model of Where is asked
	}{Config: p.Survey, Where: p.environments}
	if p.Models != nil {
		surveyor.With(survey.Model{Client: p.model})
		settings.Prompt = prompts.Requests.Hash()
	}
	return pipeline.Expand(f, Survey, surveyor, p.options(Survey, survey.Version, settings))
}

func (p *parts) mask(stage string, f pipeline.Flow[schemas.Cut]) pipeline.Flow[schemas.Start] {
	var settings any = p.Mask
	if stage == Mask {
		settings = struct {
			mask.Config
			Where environments
		}{p.Mask, p.environments}
	}
	return pipeline.Then(f, stage, p.masker, p.options(stage, mask.Version, settings))
}

func (p *parts) classify(f pipeline.Flow[schemas.Start]) pipeline.Flow[schemas.Labelled] {
	return pipeline.Then(f, Classify, p.classifier, p.options(Classify, classify.Version, p.Classify, Harvest))
}

func (p *parts) resolve(f pipeline.Flow[schemas.Labelled]) pipeline.Flow[schemas.Resolved] {
	resolver := resolve.New(p.Builder, p.projects, p.records.Made(), p.Blobs)
	return pipeline.Then(f, Resolve, resolver, p.options(Resolve, resolve.Version, p.environments))
}

func (p *parts) provision(f pipeline.Flow[schemas.Resolved]) pipeline.Flow[schemas.Provisioned] {
	provisioner := provision.New(p.Builder, p.projects, p.records.Made(), p.SandboxKind)
	return pipeline.Share(f, Provision, provisioner, p.options(Provision, provision.Version, p.environments))
}

func (p *parts) suite(f pipeline.Flow[schemas.Provisioned]) pipeline.Flow[schemas.Provisioned] {
	settings := struct {
		suite.Config
		Hunks  int
		Model  *llm.Settings `json:",omitempty"`
		Prompt string        `json:",omitempty"`
	}{Config: p.Suite, Hunks: p.hunks().MaxHunks}
	if p.Models != nil {
		settings.Model, settings.Prompt = &p.model.Settings, prompts.Suite.Hash()
	}
	writer := suite.New(suite.Outside{
		Records: p.records.Made(), States: p.trees, Repos: p.Repos, Blobs: p.Blobs, Model: p.model, Noticer: p.noticer,
		Runs: testrun.Outside{Builder: p.Builder}, Names: suite.Names{Ungiven: describe.Ungiven, Hidden: describe.Hidden},
	}, p.Suite)
	return pipeline.Then(f, Suite, writer, p.options(Suite, suite.Version, settings))
}

func (p *parts) validate(f pipeline.Flow[schemas.Provisioned]) pipeline.Flow[schemas.Proof] {
	prover := validate.NewStage(p.validator, validate.Sources{Records: p.records, States: p.trees, History: p.Repos})
	return pipeline.Then(f, Validate, prover, p.options(Validate, validate.Version, p.Validate))
}

func (p *parts) assess(f pipeline.Flow[schemas.Proof]) pipeline.Flow[schemas.Adequacy] {
	return pipeline.Then(f, Assess, assess.NewStage(p.assessor, p.records, p.trees), p.options(Assess, assess.Version, p.Assess))
}

func (p *parts) describe(f pipeline.Flow[schemas.Adequacy]) pipeline.Flow[schemas.Statement] {
	describer := describe.New(p.records, p.trees, p.Builder.Languages, p.Overrides, p.Describe)
	if p.Models != nil {
		describer.With(describe.Model{Client: p.model}, describe.Model{Client: p.model})
	}
	return pipeline.Then(f, Describe, describer, p.options(Describe, describe.Version, p.Describe.Fingerprint(), Harvest))
}

func (p *parts) document(f pipeline.Flow[schemas.Statement]) pipeline.Flow[schemas.Statement] {
	l := describe.DefaultLibrary()
	if p.Describe.Library != nil {
		l = *p.Describe.Library
	}
	asked := document.Asked{Source: l.Specification, GuideWords: l.MinGuideWords, Reference: l.Reference, Documented: l.MinDocumented}
	settings := document.Settings{Sandbox: p.SandboxKind, Limits: p.limits(), Pin: p.PinToDate, PrintedBy: p.PrintedBy, Asked: asked}
	outside := document.Outside{Records: p.records, States: p.trees, Blobs: p.Blobs, Printer: p.Printer, PrintedBy: p.PrintedBy}
	documenter := document.New(p.Builder, p.projects, outside, asked)
	return pipeline.Share(f, Document, documenter, p.options(Document, document.Version, settings))
}

func (p *parts) export(f pipeline.Flow[schemas.Statement]) *pipeline.Plan {
	exporter := export.New(p.Dataset, export.Outside{
		Records: p.records, States: p.trees, History: p.Repos, Blobs: p.Blobs, Commands: p.Builder, Tools: merged(p.Tools, p.Program),
		Stages:   slices.Concat(StartStages, Order[slices.Index(Order, FirstCommon):slices.Index(Order, Export)]),
		Labelled: Classify, Proved: Validate, Assessed: Assess, Releases: p.records.Releases,
	})
	return pipeline.Drain(f, Export, exporter, p.options(Export, export.Version, p.Dataset.Fingerprint(p.Tools)))
}

// progress tells the builder's long work as that of the step that asks for it.
type progress struct{}

func (progress) Doing(ctx context.Context, form string, args ...any) {
	pipeline.Doing(ctx, form, args...)
}
func (progress) Doer(ctx context.Context) string { return pipeline.Item(ctx) }

// cuts is what Cut depends on beside its source: of slices, also how a release is masked.
func (p *parts) cuts() any {
	if len(p.Cut.Slices) == 0 {
		return p.Cut
	}
	return struct {
		cut.Config
		Version string
		Mask    mask.Config
		Where   environments
	}{p.Cut, mask.Version, p.Mask, p.environments}
}

func merged(of ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range of {
		maps.Copy(out, m)
	}
	return out
}
