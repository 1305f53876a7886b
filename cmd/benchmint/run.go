package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/lang/all"
	"github.com/benchmint/benchmint/internal/llm"
	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/assess"
	"github.com/benchmint/benchmint/stages/classify"
	"github.com/benchmint/benchmint/stages/crawl"
	"github.com/benchmint/benchmint/stages/crawl/sources"
	"github.com/benchmint/benchmint/stages/cut"
	"github.com/benchmint/benchmint/stages/describe"
	"github.com/benchmint/benchmint/stages/export"
	"github.com/benchmint/benchmint/stages/harvest"
	"github.com/benchmint/benchmint/stages/link"
	"github.com/benchmint/benchmint/stages/mask"
	"github.com/benchmint/benchmint/stages/survey"
	"github.com/benchmint/benchmint/stages/validate"
)

// runFlags are the flags of run that are no keys of the configuration.
type runFlags struct {
	until        string
	dryRun       bool
	allowFailed  int
	partial      bool
	retryCrashed bool
	repositories string
}

func newRun(p *program) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use: "run [SOURCE…]", Short: "the whole pipeline, resumed where it stopped",
		Long:    "Takes git repositories (paths, bare or not, or URLs) to a dataset of proved tasks and a file of\nrejects, each with its reason. Without a configuration: defaults, ./benchmint-state, ./benchmint-out.\n\nA dataset never loses a row unasked: a row that is in the output folder leaves it only where this\nrun rejects its change, by name and reason, or with --replace. A run with other sources, another\nwindow or --only that would take rows away ends with 2 before it begins.",
		Example: "  benchmint run https://example.org/acme/widget.git\n  benchmint run github:acme/widget    # with GITHUB_TOKEN\n  benchmint run ./clone --since 2025-01-01\n  benchmint run -c benchmint.yaml",
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if f.repositories != "" {
				listed, err := sources.ReadRepositories(f.repositories, p.lookup(githubToken) != "")
				if err != nil {
					return err
				}
				args = append(args, listed...)
			}
			c, err := p.load(args...)
			if err != nil {
				return err
			}
			if len(c.Sources) == 0 {
				return unmet("no source: benchmint run PATH-OR-URL, or sources: in %s (benchmint config example)", cmp.Or(c.File, config.DefaultFile))
			}
			if f.dryRun {
				return p.dryRun(cmd.Context(), c)
			}
			return p.run(cmd.Context(), c, f)
		},
	}
	p.override(cmd, "since", "sources[].since", "`DATE`: changes committed on this day (UTC) or later")
	p.override(cmd, "before", "sources[].until", "`DATE`: changes committed before this day (UTC)")
	p.override(cmd, "only", "sources[].only", "`ID,…`: exactly these IDs, pull request numbers or commits, each of the sources that have it; may be repeated")
	p.override(cmd, "limit", "limits.changes", "`N` newest candidates of each repository: changes that touch code and tests; 0 is all")
	p.override(cmd, "overrides", "overrides", "`FILE` of statements and interfaces written by hand, by ID")
	cmd.Flags().StringVar(&f.repositories, "repositories", "", "`FILE` of sources, one on a line: owner/name (on GitHub), owner/name=PATH-OR-URL, a path or a URL")
	p.running(cmd, &f)
	cmd.Flags().BoolVar(&f.retryCrashed, "retry-crashed", false, "try items again over which the process died five times")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be done, at what estimated cost")
	return cmd
}

// running adds the flags of the verbs that take sources through the plan.
func (p *program) running(cmd *cobra.Command, f *runFlags) {
	p.override(cmd, "output", "output", "`FOLDER` of the dataset")
	p.override(cmd, "store", "store", "`FOLDER` of the store")
	p.override(cmd, "sandbox", "sandbox.kind", "`KIND` of sandbox: docker or bwrap")
	p.overrideShort(cmd, "jobs", "j", "jobs", "`N` steps at one time, cheap ones included")
	p.override(cmd, "wait", "wait", "`DURATION` that a run waits for what was put off, when nothing else is left to do")
	p.set(cmd)
	cmd.Flags().StringVar(&f.until, "until", "", "last `STAGE` to run: "+strings.Join(stages.Order, ", "))
	cmd.Flags().IntVar(&f.allowFailed, "allow-failed", 0, "`N` failed items are no reason for exit code 1; for schedulers")
	cmd.Flags().BoolVar(&f.partial, "partial", false, "write the dataset although some items are put off; the manifest counts them")
	cmd.Flags().BoolVar(&p.replace, "replace", false, replaceUsage)
}

// check refuses flags that cannot be meant.
func (f runFlags) check() error {
	if f.allowFailed < 0 {
		return unmet("--allow-failed: %d is below 0", f.allowFailed)
	}
	if f.until != "" && !slices.Contains(stages.Order, f.until) {
		return unknownStage("--until", f.until)
	}
	return nil
}

// opened is everything that is open for the time of one run.
type opened struct {
	sources  *sources.Set
	store    *store.Store
	workshop *workshop
	plan     *pipeline.Plan
}

// open opens what stages up to until need; a worker that joins takes no lock: the
// run that it joins has it. On an error nothing is left open.
func (p *program) open(ctx context.Context, c *config.Config, until string, join bool) (o *opened, err error) {
	if err := errors.Join(places(c, until), p.readOverrides(c), p.needsModel(c), p.needsGitHub(c)); err != nil {
		return nil, err
	}
	o = &opened{}
	defer func() {
		if err != nil {
			err = errors.Join(err, o.close())
		}
	}()
	// Sources and needs first: what cannot be begun leaves no empty store behind.
	if o.sources, o.workshop, err = p.ready(ctx, c, until); err != nil {
		return o, err
	}
	if !join && !p.replace && writes(until) {
		if err := o.sources.KeepsRows(ctx); err != nil {
			return o, err
		}
	}
	if o.store, err = p.openStore(ctx, c); err != nil {
		return o, &ended{exitUsage, err}
	}
	if !join {
		if err := o.store.Lock(); err != nil {
			return o, lockedOr(err)
		}
	}
	if err := o.store.SameBlobs(); err != nil {
		return o, &ended{exitUsage, err}
	}
	if !join { // a worker may have them in other places
		if err := o.sources.Note(folderOf(c)); err != nil {
			return o, err
		}
	}
	if err := p.hold(c, o.store, o.workshop); err != nil {
		return o, err
	}
	if err := p.holdOverrides(ctx, o.store, join); err != nil {
		return o, err
	}
	if !join {
		if err := p.budget(ctx, c, o.store); err != nil {
			return o, err
		}
	}
	stock := p.takeStock
	if join {
		stock = p.sameMachine
	}
	if err := stock(ctx, c, o); err != nil {
		return o, err
	}
	if o.plan, err = p.plan(ctx, c, o.store, o.sources, o.workshop); err != nil {
		return o, &ended{exitUsage, err}
	}
	return o, nil
}

func (o *opened) close() error {
	var errs []error
	if o.workshop != nil {
		errs = append(errs, o.workshop.close())
	}
	if o.store != nil {
		errs = append(errs, o.store.Close())
	}
	if o.sources != nil {
		errs = append(errs, o.sources.Close())
	}
	return errors.Join(errs...)
}

// run takes the sources through the plan, and tells what came of it.
func (p *program) run(ctx context.Context, c *config.Config, f runFlags) (err error) {
	own := *p // its standard error becomes a live view
	p = &own
	o, err := p.open(ctx, c, f.until, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.close()) }()
	options := p.runOptions(c, f)
	written, err := lies(c)
	if err != nil {
		return err
	}
	options.Redrain = writes(f.until) && !written
	if len(o.sources.Unreachable()) > 0 {
		options.Patience = 0 // it was tried already: this run does not wait for it again
	}
	summary, err := p.watched(ctx, o, o.sources.Seeds(), options)
	if !ofMachine(err) {
		err = errors.Join(err, p.learn(context.WithoutCancel(ctx), c, o), p.count(context.WithoutCancel(ctx), o.store))
	}
	if err != nil {
		return p.finish(context.WithoutCancel(ctx), c, f, summary, o, err)
	}
	if err := p.unusedOverrides(c, o.store); err != nil {
		return err
	}
	if summary.Drained && !summary.Interrupted {
		if err := errors.Join(noteDataset(c), o.store.SetNote(ctx, datasetNote, placeOf(c.Output, options.Worker.Host))); err != nil {
			return err
		}
	}
	return p.finish(context.WithoutCancel(ctx), c, f, summary, o, nil)
}

// placeOf is a folder as people on other machines may look for it.
func placeOf(dir, host string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return host + ":" + dir
}

// watched runs the plan before the eyes of a person: a live view on a terminal,
// plain lines elsewhere.
func (p *program) watched(ctx context.Context, o *opened, seeds []pipeline.Record, options pipeline.RunOptions) (pipeline.Summary, error) {
	live := pipeline.NewLive(&watcher{p, o.sources}, p.now)
	end := p.shown(live, (&shelf{Store: o.store}).funnel, options.Resources[stages.Sandbox])
	summary, err := o.plan.Run(ctx, o.store, seeds, live, options)
	return summary, errors.Join(err, end())
}

// openStore opens the store of the configuration, which is made where it is missing.
func (p *program) openStore(ctx context.Context, c *config.Config) (*store.Store, error) {
	s, err := store.Open(ctx, c.Store, store.Options{Blobs: c.Blobs, Now: p.now})
	if err != nil {
		return nil, &ended{exitUsage, fmt.Errorf("%s: %w", folderOf(c), err)}
	}
	return s, nil
}

// folderOf is the store's place on this machine: its folder, or that of its blobs
// where the steps are in a database.
func folderOf(c *config.Config) string {
	if strings.Contains(c.Store, "://") {
		return c.Blobs
	}
	return c.Store
}

// told is a store's location as it may be said: the environment may give it with a
// password.
func told(location string) string {
	if u, err := url.Parse(location); err == nil && config.IsPostgres(location) {
		return u.Redacted()
	}
	return location
}

// grace is how long steps have to end after the first Ctrl-C: enough for the cheap
// ones, and none for a suite of tests, which is done again.
const grace = 2 * time.Second

// runOptions are what a run may use of this machine.
func (p *program) runOptions(c *config.Config, f runFlags) pipeline.RunOptions {
	jobs := c.Jobs
	if jobs == 0 {
		jobs = runtime.NumCPU()
	}
	host, _ := os.Hostname() // a name for people; the ID tells workers apart
	return pipeline.RunOptions{
		Until: f.until, Now: p.now, Slots: max(slots, jobs), Resources: map[string]int{stages.CPU: jobs, stages.Sandbox: c.Proof.Parallel, llm.Resource: questionsAtOnce, harvest.GitHub: 1},
		Patience: c.Wait, Partial: f.partial, Grace: grace, RetryCrashed: f.retryCrashed,
		Worker: pipeline.Worker{ID: fmt.Sprintf("%s-%d-%d", host, os.Getpid(), p.now().UnixNano()), Host: host},
	}
}

// slots is how many steps run at one time that wait for others more than they compute:
// repositories that are fetched.
const slots = 64

// plan joins the world to the stages.
func (p *program) plan(ctx context.Context, c *config.Config, s *store.Store, repos *sources.Set, w *workshop) (*pipeline.Plan, error) {
	return p.planOf(withPrinter(ctx, p.deps(c, repos, w), c), c, s)
}

// planOf gives the stages their store.
func (p *program) planOf(d stages.Deps, c *config.Config, s *store.Store) (*pipeline.Plan, error) {
	d.Steps, d.Blobs, d.Books, d.Desk, d.Now = s, s.Blobs, s, p.desk(c, s), p.now
	return stages.New(d)
}

// deps is the world as the stages see it, without a store.
func (p *program) deps(c *config.Config, repos *sources.Set, w *workshop) stages.Deps {
	return stages.Deps{
		Repos: repos, Builder: w.builder, SandboxKind: w.kind,
		Crawl:     crawlConfig(c),
		Link:      link.Config{Languages: c.Filters.Languages, MaxSourceLines: c.Filters.MaxSourceLines, ModifiesOnly: c.Filters.ModifiesOnly, Allow: c.Redaction.Allow},
		Cut:       cutConfig(c),
		Mask:      maskConfig(c),
		Maskers:   all.Maskers(),
		Survey:    surveyConfig(c),
		Services:  c.Makes(schemas.KindService),
		Classify:  classify.Config{Labels: labels(c)},
		Validate:  validate.Config{Runs: c.Proof.Runs, Limits: c.Sandbox.Limits(), Service: serviceCases(c)},
		Assess:    assess.Config{MaxHunks: c.Proof.Hunks, Limits: c.Sandbox.Limits()},
		Describe:  describe.Config{Thin: c.Filters.Thin, Unnoticed: c.Filters.Unnoticed, Library: libraryTests(c)},
		PinToDate: c.Build.PinToDate,
		Tools:     tools(),
		Program:   self(),
		Overrides: p.written,
		Forge:     p.forge(),
		Observe:   p.observe,
		Dataset:   export.Config{Name: c.Dataset, Dir: c.Output, Allow: c.Redaction.Allow, Configuration: c.Portable(w.kind), Replace: p.replace, Left: p.left},
	}
}

func crawlConfig(c *config.Config) crawl.Config {
	return crawl.Config{MinReleases: c.Filters.MinReleases, Licences: c.Filters.Licences, Languages: c.Filters.Languages}
}

// cutConfig has no slices where the whole is asked for alone.
func cutConfig(c *config.Config) cut.Config {
	out := cut.Config{Releases: c.Library.Releases, Profile: c.Library.Profile}
	if c.Library.Sliced() {
		out.Slices, out.MaxSlices = c.Library.Slices, c.Library.MaxSlices
	}
	return out
}

func maskConfig(c *config.Config) mask.Config {
	return mask.Config{Languages: c.Filters.Languages, MinLanguage: c.Library.MinLanguage, MaxLinesLeft: c.Library.MaxLinesLeft, Allow: c.Redaction.Allow}
}

func surveyConfig(c *config.Config) survey.Config {
	return survey.Config{
		Frameworks: c.Service.Frameworks, Languages: c.Filters.Languages, MinAnswered: c.Service.MinAnswered,
		MinEndpoints: c.Service.MinEndpoints, WalkBack: c.Service.WalkBack, Env: c.Service.Env, Allow: c.Redaction.Allow,
	}
}

// serviceCases are the bounds of a service's cases, nil where they are the usual ones: other
// kinds are not proved again for them.
func serviceCases(c *config.Config) *validate.Service {
	s := validate.Service{MinF2P: c.Service.MinF2P, MinEndpoints: c.Service.MinEndpoints}
	if s == validate.DefaultService() {
		return nil
	}
	return &s
}

// libraryTests are the bounds of a library's tests, nil where they are the usual ones: other
// kinds are not described again for them.
func libraryTests(c *config.Config) *describe.Library {
	l := describe.Library{
		MaxZeroWork: c.Library.MaxZeroWork, MinPassing: c.Library.MinPassing, MinCoverage: c.Library.MinCoverage,
		Specification: c.Library.Specification, GPU: c.Library.GPU,
	}
	if l == describe.DefaultLibrary() {
		return nil
	}
	return &l
}

func labels(c *config.Config) []schemas.Label {
	var out []schemas.Label
	for _, l := range c.Filters.Labels {
		out = append(out, schemas.Label(l))
	}
	return out
}

// observe tells -v what one run of tests cost.
func (p *program) observe(m validate.Measured) {
	if p.verbose {
		p.say("  %s  %s %s #%d: %s, %.2f s, %.2f s around it", m.StartID, m.Run.State, m.Run.Scope, m.Run.Number, m.Run.End, m.Wall.Seconds(), m.Overhead.Seconds())
	}
}

// watcher tells a person how items end, on standard error.
type watcher struct {
	*program
	sources *sources.Set
}

// Begin is said with -v only: a stage may take minutes, and most take none.
func (w *watcher) Begin(stage, key string) {
	if w.verbose {
		w.say("  %s  %s …", name(key), stage)
	}
}

// End says what settled an item; the stages between are for -v. What is in the
// store already is not said again.
func (w *watcher) End(s schemas.Step, _ bool) {
	switch {
	case s.State == schemas.StepInterrupted:
	case s.Stage == stages.Export:
		// The closing lines say it, with its cause.
	case s.State == schemas.StepDeferred && s.Stage == stages.Crawl && w.sources.IsUnreachable(s.Key):
		// Said when its source was looked up.
	case s.State == schemas.StepRejected && strings.HasSuffix(s.Stage, ".build"):
		// Each item that waits for the build says it itself.
	case s.State == schemas.StepRejected && slices.Contains(stages.Makers, s.Stage) && !w.verbose:
		// Most changes of a repository are no candidates: the funnel counts them.
	case s.State == schemas.StepRejected:
		w.say("%s  rejected %s", s.Key, s.Reason)
	case s.State == schemas.StepDeferred:
		w.broke = w.broke || strings.Contains(s.Detail, llm.ErrBudget.Error())
		w.say("%s  deferred at %s, tried next at %s: %s", name(s.Key), s.Stage, clock(s.NotBefore, w.now()), visible(tail(s.Detail, 1)))
	case s.State == schemas.StepFailed:
		w.say("%s  %s at %s: %s", name(s.Key), s.State, s.Stage, visible(tail(s.Detail, 1)))
	case s.Stage == stages.Validate:
		w.say("%s  proved: %s", s.Key, proofLine(s))
	case s.Stage == stages.Cut:
		w.say("%s  %s", s.Key, countReleases(len(s.Outputs), w.sources.Sliced()))
	case s.Stage == stages.Survey:
		w.say("%s  %s", s.Key, plural(len(s.Outputs), "group"))
	case s.Stage == stages.Pair:
		w.say("%s  %s", s.Key, plural(len(s.Outputs), "range"))
	case s.Stage == stages.Harvest:
		w.say("%s  %s", s.Key, plural(len(s.Outputs), "change"))
	case w.verbose:
		w.say("  %s  %s %s in %.1f s", name(s.Key), s.Stage, s.State, float64(s.MS)/1000)
	}
}

// clock is a time of day, with its day where that is another one.
func clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.YearDay() != now.YearDay() || t.Year() != now.Year() {
		return t.Format("2006-01-02 15:04")
	}
	return t.Format("15:04:05")
}

// name keeps the digests of shared builds readable.
func name(key string) string {
	if strings.HasPrefix(key, "sha256:") {
		return schemas.Digest(key).Short()
	}
	return key
}

func proofLine(s schemas.Step) string {
	var proof schemas.Proof
	out, ok := s.Output()
	if !ok || json.Unmarshal(out.Record, &proof) != nil {
		return "unreadable"
	}
	return fmt.Sprintf("%d FAIL_TO_PASS, %d PASS_TO_PASS", len(proof.List(schemas.F2P)), len(proof.List(schemas.P2P)))
}
