// Package stages is the table of contents of the program: which stages there are, in which order, what each does,
// and what each one is given (deps.go).
//
// It never does a stage's work; each lives in a package of its own, and none of them imports another.
package stages

import (
	"time"

	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/document"
	"github.com/benchmint/benchmint/stages/export"
	"github.com/benchmint/benchmint/stages/internal/ends"
	"github.com/benchmint/benchmint/stages/mask"
	"github.com/benchmint/benchmint/stages/provision"
	"github.com/benchmint/benchmint/stages/resolve"
	"github.com/benchmint/benchmint/stages/suite"
)

// The stages; the table says what each does.
const (
	Crawl     = "crawl"
	Harvest   = "harvest"
	Link      = "link"
	Pair      = "pair"
	Range     = "range"
	Cut       = "cut"
	Mask      = "mask"
	Survey    = "survey"
	Strip     = "strip"
	Classify  = "classify"
	Resolve   = "resolve"
	Provision = "provision"
	Suite     = "suite"
	Validate  = "validate"
	Assess    = "assess"
	Describe  = "describe"
	Document  = "document"
	Export    = "export"
)

// StartStages make the starts, one or more for each kind.
var StartStages = []string{Link, Range, Mask, Strip}

const (
	FirstCommon        = Classify // the first stage of all kinds together: it takes starts
	LastWithoutSandbox = Classify // the last stage before all kinds need a sandbox: a dry run ends with it
	LastBeforeExport   = Document // the last stage before the dataset: libraries alone go through it
)

// The resources that stages need, beside those of their packages.
const (
	Git     = "git"     // sources that are fetched
	CPU     = "cpu"     // as many steps compute at one time as the user allows
	Sandbox = "sandbox" // builds and suites: one at a time where timing tests of strangers are not to fail beside others
)

// needs are names of resources; a step holds one of each.
type needs []string

// row is one stage of the table.
type row struct {
	stage string
	kind  schemas.Kind             // of the tasks that go through the stage; "" is every kind
	needs needs                    // what one step holds while it runs; what there is no use for is left out
	bound func(Deps) time.Duration // a step that takes longer hangs, and is Failed
}

// table lists every stage of a plan, in order: those of the four kinds, then those of all.
var table = []row{
	// A source: whether it is wanted, and what it released.
	{Crawl, "", needs{Git}, ordinary},

	// A source: its landed changes, newest first, with what release notes tell of them.
	{Harvest, schemas.KindFeature, needs{CPU, github.Resource}, ordinary},
	// A change: its two states, every path or hunk in one part.
	{Link, schemas.KindFeature, needs{CPU}, ordinary},

	// A source: ranges of its commits, drawn by a seed, with what their pull requests say.
	{Pair, schemas.KindEdit, needs{CPU, github.Resource}, ordinary},
	// A range: its two states, every path or hunk in one part.
	{Range, schemas.KindEdit, needs{CPU}, ordinary},

	// A source: releases of it that library tasks are made of, whole and by slices. They are loaded to see what runs then.
	{Cut, schemas.KindLibrary, needs{CPU, Sandbox, ends.Registry}, func(d Deps) time.Duration { return mask.Timeout(d.limits()) }},
	// A release or a slice of it: its two states, one without the bodies of its functions.
	{Mask, schemas.KindLibrary, needs{CPU, Sandbox, ends.Registry}, func(d Deps) time.Duration { return mask.Timeout(d.limits()) }},

	// A source: its endpoints in groups, with cases recorded from the service as it runs.
	{Survey, schemas.KindService, needs{CPU, Sandbox, ends.Registry}, func(d Deps) time.Duration { return d.Survey.Timeout(d.limits()) }},
	// A group of endpoints: its two states, one without the bodies of its handlers.
	{Strip, schemas.KindService, needs{CPU}, ordinary},

	// A start: feature, improvement, fix or other, and why.
	{Classify, "", needs{CPU, llm.Resource}, ordinary},
	// A start: a recipe with evidence, a lock, a key.
	{Resolve, "", needs{CPU, Sandbox, ends.Registry}, func(d Deps) time.Duration { return resolve.Timeout(d.limits()) }},
	// A key: its environment, built once and tried.
	{Provision, "", needs{CPU, Sandbox, ends.Registry}, func(d Deps) time.Duration { return provision.Timeout(d.limits()) }},
	// An edit without tests, in its environment: tests that a model writes, judged by rules.
	{Suite, schemas.KindEdit, needs{CPU, Sandbox}, func(d Deps) time.Duration { return d.Suite.Timeout(d.hunks().MaxHunks) }},
	// A start in its environment: the proof.
	{Validate, "", needs{CPU, Sandbox}, func(d Deps) time.Duration { return d.Validate.Timeout() }},
	// A proof: how much of the patch its tests notice.
	{Assess, "", needs{CPU, Sandbox}, func(d Deps) time.Duration { return d.Assess.Timeout() }},
	// A proved start: what a solver is told.
	{Describe, "", needs{CPU, llm.Resource}, ordinary},
	// A statement of a library: its specification, of the release's own documentation.
	{Document, schemas.KindLibrary, needs{CPU, Sandbox, ends.Registry}, func(d Deps) time.Duration { return provision.Timeout(d.limits()) }},
	// All statements: the dataset.
	{Export, "", needs{CPU}, func(Deps) time.Duration { return export.Timeout }},
}

// Order is every stage of a plan.
var Order = func() (names []string) {
	for _, r := range table {
		names = append(names, r.stage)
	}
	return names
}()

// ordinary is the bound of a stage that runs no long commands.
func ordinary(Deps) time.Duration { return ends.Timeout }

// New is the plan of all kinds.
func New(d Deps) (*pipeline.Plan, error) {
	p, err := newParts(d)
	if err != nil {
		return nil, err
	}
	crawled := p.crawl(pipeline.New[schemas.Source]())
	starts := pipeline.Merge(
		p.link(Link, p.harvest(wanting(Harvest, crawled))),
		p.link(Range, p.pair(wanting(Pair, crawled))),
		p.mask(Mask, p.cut(wanting(Cut, crawled))),
		p.mask(Strip, p.survey(wanting(Survey, crawled))),
	)
	provisioned := p.provision(p.resolve(p.classify(starts)))
	written := p.suite(pipeline.Where(provisioned, suite.Wanted))
	tested := pipeline.Where(provisioned, func(e schemas.Provisioned) bool { return !suite.Wanted(e) })
	proved := p.validate(pipeline.Merge(tested, written))
	described := p.describe(p.assess(proved))
	documented := p.document(pipeline.Where(described, document.Wanted))
	others := pipeline.Where(described, func(s schemas.Statement) bool { return !document.Wanted(s) })
	plan := p.export(pipeline.Merge(others, documented))
	plan.Judge(ends.OfMachine)
	return plan, nil
}
