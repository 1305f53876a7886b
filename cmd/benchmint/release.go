package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/environment"
	"github.com/benchmint/benchmint/internal/secrets"
	"github.com/benchmint/benchmint/internal/verify"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/release"
	"github.com/benchmint/benchmint/output/reproof"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages/crawl/sources"
)

// releaseFlags are those of release.
type releaseFlags struct {
	asOf, version, summary       string
	dryRun, backfill, partial    bool
	keepPackages                 bool
	revise, back, without        []string
	reveal, since                []string
	models                       string
	reason, text, evidence, with string
	hold, purge                  bool
}

func newRelease(p *program) *cobra.Command {
	var f releaseFlags
	cmd := &cobra.Command{
		Use: "release", Short: "publish the dataset as a dated version on a shelf that is never rewritten", Args: cobra.ArbitraryArgs,
		Long: "Takes the dataset that run or refresh wrote, and the newest version of the shelf: its tasks are copied\nto the byte, and new ones are added if every gate lets them through. A version is YYYY.MM.\n\n" +
			"Exit codes: 0 published, or nothing new; 1 a gate refused it, and nothing is written; 2 configuration;\n3 items of the dataset are deferred or open, and nothing is written.",
		Example: "  benchmint refresh && benchmint release --summary summary.md\n  benchmint release --as-of 2026-07-01 --dry-run\n  benchmint release withdraw acme__widget-12 --reason unfair --text \"test_colour needs a name that nothing gives\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownVerb(cmd, args[0])
			}
			return p.release(cmd.Context(), f)
		},
	}
	p.releaseFolders(cmd)
	cmd.Flags().StringVar(&f.asOf, "as-of", "", "`DATE` (YYYY-MM-DD) before which the sources were read (default: that of the dataset, else today)")
	cmd.Flags().StringVar(&f.version, "version", "", "`VERSION` (default: YYYY.MM of that day)")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what the version would be, and write nothing")
	cmd.Flags().BoolVar(&f.backfill, "backfill", false, "also take new tasks that landed before the window, marked")
	cmd.Flags().BoolVar(&f.keepPackages, "keep-packages", false, "keep the packages of all environments in the version, so that its tasks are proved without a registry")
	cmd.Flags().BoolVar(&f.partial, "partial", false, "publish although items of the dataset are deferred or open, and without tasks that lack re-proof")
	cmd.Flags().StringSliceVar(&f.revise, "revise", nil, "`ID`,… whose statement was written by hand in the dataset")
	cmd.Flags().StringSliceVar(&f.back, "back", nil, "`ID`,… that are held and come back")
	cmd.Flags().StringSliceVar(&f.reveal, "reveal", nil, "`ID`,… that are private and become public")
	cmd.Flags().StringVar(&f.models, "models", "", "YAML `FILE` of models and their cut-offs: how many tasks are newer than each (default: release.models)")
	cmd.Flags().StringSliceVar(&f.since, "since-cutoff", nil, "`MODEL`,… of that file: a configuration with the tasks after its cut-off")
	p.releaseCommon(cmd, &f)
	cmd.AddCommand(newReleaseDiff(p), newReleaseCheck(p), newReleaseWithdraw(p), newReleaseOpen(p), newReleasePush(p))
	return cmd
}

func (p *program) releaseFolders(cmd *cobra.Command) {
	p.override(cmd, "releases", "releases", "`FOLDER` of the shelf")
	p.override(cmd, "output", "output", "`FOLDER` of the dataset that run and refresh write")
	p.override(cmd, "store", "store", "`FOLDER` of the store")
	p.set(cmd)
}

func (p *program) releaseCommon(cmd *cobra.Command, f *releaseFlags) {
	cmd.Flags().StringVar(&f.summary, "summary", "", "`FILE` to append one page for people to, for a mail or a job's summary; - prints it")
	cmd.Flags().StringSliceVar(&f.without, "without", nil, "`GATE`,… that is not run; the version says so")
}

// openReleases opens the shelf of a configuration to change it; "" is a dataset of any name.
func (p *program) openReleases(ctx context.Context, c *config.Config, dataset string) (*release.Shelf, error) {
	s, err := release.Open(ctx, c.Releases, dataset)
	if err != nil {
		return nil, &ended{exitUsage, err}
	}
	return s, nil
}

func (p *program) release(ctx context.Context, f releaseFlags) (err error) {
	c, err := p.load()
	if err != nil {
		return err
	}
	o, err := p.releaseOptions(ctx, c, f)
	if err != nil {
		return err
	}
	if o.Work, err = output.Read(c.Output); err != nil {
		if errors.Is(err, output.ErrNoDataset) {
			return unmet("%w; benchmint run writes one", err)
		}
		return &ended{exitUsage, err}
	}
	if err := f.dates(&o, c); err != nil {
		return &ended{exitUsage, err}
	}
	if n := o.Work.Manifest.Counts; n.Deferred+n.Open > 0 && !f.partial {
		return &ended{exitDeferred, fmt.Errorf("%s: %d items are deferred and %d open: run benchmint refresh again, or publish without them with --partial", c.Output, n.Deferred, n.Open)}
	}
	s, err := p.openReleases(ctx, c, o.Work.Manifest.Name)
	if err != nil {
		return err
	}
	defer s.Close()
	if f.keepPackages {
		k := &keeper{p.machine(c), map[string]*workshop{}}
		defer func() { err = errors.Join(err, k.close()) }()
		o.Keep = k.keep
	}
	candidate, err := s.Plan(ctx, o)
	if candidate == nil || err != nil && !refused(err) {
		return p.releaseFault(err)
	}
	return p.releaseFault(p.publish(ctx, candidate, err, f))
}

// publish writes a candidate if no gate refused its plan, and says how it ended, also in the
// summary.
func (p *program) publish(ctx context.Context, c *release.Candidate, plan error, f releaseFlags) error {
	outcome, code := "published", plan
	last, _ := c.Shelf.Latest()
	switch {
	case plan != nil:
	case c.Nothing():
		outcome = fmt.Sprintf("nothing new since %s", last.Version)
	case c.Published() && f.version == "":
		outcome = fmt.Sprintf("nothing is written: %s is published already, and what is new waits for a later month or for --version", last.Version)
	case f.dryRun && !c.Published():
		outcome = "not written (--dry-run)"
	default:
		if _, code = c.Write(ctx); code != nil && !refused(code) {
			return code
		}
	}
	if code != nil {
		outcome = "refused, nothing is written"
	}
	return errors.Join(code, p.sayRelease(c, outcome, f))
}

func refused(err error) bool {
	var r *release.RefusedError
	return errors.As(err, &r)
}

// releaseFault gives an error its exit code.
func (p *program) releaseFault(err error) error {
	var later *release.LaterError
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &later):
		return &ended{exitDeferred, err}
	case refused(err):
		return &ended{exitFailed, err}
	case errors.Is(err, verify.ErrNoClient):
		return &ended{exitUsage, fmt.Errorf("%w; --without huggingface publishes without that gate", err)}
	}
	for _, fault := range []error{environment.ErrUnavailable, unix.ENOSPC, unix.EDQUOT, unix.EIO, unix.EROFS} {
		if errors.Is(err, fault) { // of the machine or a registry: the shelf is as it was, and the same command does it later
			return &ended{exitDeferred, err}
		}
	}
	return &ended{exitUsage, err}
}

// releaseResult is the end of a release for scripts.
type releaseResult struct {
	Version  release.Version     `json:"version"`
	Outcome  string              `json:"outcome"`
	Folder   string              `json:"folder"`
	Counts   release.Counts      `json:"counts"`
	Left     []release.Objection `json:"left"`
	Refused  []release.Objection `json:"refused"`
	Waiting  []string            `json:"waiting"`
	Carried  map[string][]string `json:"carried"`
	Decide   []string            `json:"decide"`
	Previous string              `json:"previous"`
}

func (p *program) sayRelease(c *release.Candidate, outcome string, f releaseFlags) error {
	size, err := folderSize(c.Shelf.Path(c.Version))
	if err != nil {
		return err
	}
	cost, err := c.CostOf(size)
	if err != nil {
		return err
	}
	if done, err := p.summarize(f, c.Summary(outcome, cost)); done || err != nil {
		return err
	}
	counts := c.Diff.Counts(len(c.Tasks))
	if p.json {
		return p.writeJSON(releaseResult{c.Version, outcome, c.Shelf.Path(c.Version), counts, append([]release.Objection{}, c.Left...), append([]release.Objection{}, c.Refused...), append([]string{}, c.Waiting...), c.Carried, append([]string{}, c.Decide...), c.Diff.From})
	}
	t := p.out()
	t.line("release  %s: %s", c.Version, outcome)
	t.line("tasks    %d: %d came, %d withdrawn, %d held, %d back, %d revised", counts.Tasks, counts.Came, counts.Withdrawn, counts.Held, counts.Back, counts.Revised)
	if h := c.HiddenTasks(); h != nil {
		t.line("hidden   %d held out, %d private", h.HeldOut, h.Private)
		for _, o := range h.Left {
			t.line("left     %s (hidden)", visible(o.String()))
		}
	}
	for _, g := range []struct {
		what string
		all  []release.Came
	}{{"opened", c.Diff.Opened}, {"revealed", c.Diff.Revealed}} {
		for _, x := range g.all {
			t.line("%-8s %s", g.what, x.ID)
		}
	}
	for _, o := range c.Left {
		t.line("left     %s", visible(o.String()))
	}
	if n := len(c.Waiting); n > 0 {
		t.line("waiting  %s landed on %s or later", plural(n, "task"), c.AsOf.Format(time.DateOnly))
	}
	for _, repo := range slices.Sorted(maps.Keys(c.Carried)) {
		t.line("carried  %s: %s stay as published; the dataset no longer has them", repo, plural(len(c.Carried[repo]), "task"))
	}
	for _, text := range c.Decide {
		t.line("decide   %s", visible(text))
	}
	return t.err
}

// releaseOptions are those of every change of a shelf.
func (p *program) releaseOptions(ctx context.Context, c *config.Config, f releaseFlags) (_ release.Options, err error) {
	var o release.Options
	if f.summary == printed && p.json {
		return o, &ended{exitUsage, errors.New("--summary - cannot be combined with --json")}
	}
	if err := release.CheckGates(f.without); err != nil {
		return o, &ended{exitUsage, fmt.Errorf("--without: %w", err)}
	}
	if err := p.useCache(ctx); err != nil {
		return o, &ended{exitUsage, err}
	}
	if o.Parts, err = p.parts(c, f.reveal); err != nil {
		return o, err
	}
	if o.CutOffs, err = f.cutOffs(c); err != nil {
		return o, &ended{exitUsage, err}
	}
	notes, err := sources.ReadNotes(c.Store)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return o, err
	}
	urls := map[string]string{}
	for name, at := range notes {
		if config.IsURL(at) && !strings.HasPrefix(at, "file:") {
			urls[name] = strings.TrimSuffix(at, ".git")
		}
	}
	return release.Options{
		Parts:    o.Parts,
		CutOffs:  o.CutOffs,
		Backfill: f.backfill, Revise: f.revise, Back: f.back, Without: f.without, Allow: secrets.Allow(c.Redaction.Allow),
		Client: p.machine(c).clients(),
		Reproof: release.Reproof{
			Ledgers: []string{reproof.Beside(c.Output), filepath.Join(c.Releases, reproof.File)}, Wanted: wantedOf(c), Leave: f.partial,
		},
		Against: c.Decontamination.Against, Contamination: c.Decontamination.Options(),
		About: release.About{Authors: c.Citation.Authors, URL: c.Citation.URL, Sources: urls},
		Tools: tools(), Say: p.sayNow(), Now: p.now,
	}, nil
}

// sayNow says what is done, at most once in ten seconds, and everything with -v.
func (p *program) sayNow() func(string, int, int) {
	last := p.now()
	return func(what string, n, of int) {
		if now := p.now(); p.verbose || now.Sub(last) > 10*time.Second {
			last = now
			p.say("  %s: %d of %d", what, n, of)
		}
	}
}

// dates are the version and the day before which the sources were read.
func (f releaseFlags) dates(o *release.Options, c *config.Config) error {
	var of struct {
		AsOf string `json:"as_of"`
	}
	if err := json.Unmarshal(o.Work.Manifest.Configuration, &of); err != nil {
		return fmt.Errorf("%s: configuration: %w", c.Output, err)
	}
	today := o.Now().UTC().Truncate(24 * time.Hour)
	o.AsOf = today
	for _, day := range []string{of.AsOf, f.asOf} {
		if day == "" {
			continue
		}
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return fmt.Errorf("--as-of %q is not a day (YYYY-MM-DD)", day)
		}
		if at.After(today) {
			return fmt.Errorf("--as-of %s is in the future: nobody knows yet how sources stand before it", day)
		}
		o.AsOf = at
	}
	if f.asOf != "" && of.AsOf != "" && f.asOf != of.AsOf {
		return fmt.Errorf("%s holds the sources as they stood before %s, and not before %s; benchmint refresh --as-of %s", c.Output, of.AsOf, f.asOf, f.asOf)
	}
	if f.version == "" {
		return nil
	}
	v, err := release.ParseVersion(f.version)
	if err != nil {
		return fmt.Errorf("--version: %w", err)
	}
	o.Version = v
	return nil
}

func newReleaseWithdraw(p *program) *cobra.Command {
	var f releaseFlags
	cmd := &cobra.Command{
		Use: "withdraw ID…", Short: "publish a correction of the newest version without some tasks", Args: argsOf(cobra.MinimumNArgs(1)),
		Long:    "The record stays in feed.json for ever. With --hold the task may come back (release --back). With --purge\n(reasons licence, takedown, secret) its bytes leave every published version; feed.json has the digests of\neach before and after. docs/reasons.md lists the reasons.",
		Example: "  benchmint release withdraw acme__widget-12 --reason unfair --text \"test_colour needs a name that nothing gives\"",
		RunE:    func(cmd *cobra.Command, args []string) error { return p.withdraw(cmd.Context(), args, f) },
	}
	p.releaseFolders(cmd)
	cmd.Flags().StringVar(&f.reason, "reason", "", "`REASON` of the table")
	cmd.Flags().StringVar(&f.text, "text", "", "`TEXT`: what is wrong, in a sentence")
	cmd.Flags().StringVar(&f.evidence, "evidence", "", "`FILE` that shows it; its digest is published")
	cmd.Flags().StringVar(&f.with, "replaced-by", "", "`ID` of the task that takes its place")
	cmd.Flags().BoolVar(&f.hold, "hold", false, "take it out until release --back brings it in again")
	cmd.Flags().BoolVar(&f.purge, "purge", false, "take its bytes out of published versions, too")
	p.releaseCommon(cmd, &f)
	return cmd
}

func (p *program) withdraw(ctx context.Context, ids []string, f releaseFlags) error {
	c, err := p.load()
	if err != nil {
		return err
	}
	o, err := p.releaseOptions(ctx, c, f)
	if err != nil {
		return err
	}
	if _, err := release.Read(c.Releases); err != nil {
		return &ended{exitUsage, err}
	}
	s, err := p.openReleases(ctx, c, "")
	if err != nil {
		return err
	}
	defer s.Close()
	slices.Sort(ids)
	r, err := s.Correct(ctx, o, release.Act{IDs: slices.Compact(ids), Reason: schemas.Withdrawal(f.reason), Text: f.text, Evidence: f.evidence, ReplacedBy: f.with, Hold: f.hold, Purge: f.purge})
	if err != nil {
		return p.releaseFault(err)
	}
	verb := "withdrawn"
	if f.hold {
		verb = "held"
	}
	text := fmt.Sprintf("%s %s (%s): %s", strings.Join(ids, ", "), verb, f.reason, f.text)
	if done, err := p.summarize(f, fmt.Sprintf("# %s %s\n\n%s\n", s.Feed.Dataset, r.Version, text)); done || err != nil {
		return err
	}
	if p.json {
		return p.writeJSON(r)
	}
	t := p.out()
	if r.Version == "" {
		t.line("release  %s: the data stays as it is", filepath.Join(c.Releases, release.FeedFile))
	} else {
		t.line("release  %s: published", r.Version)
	}
	t.line("tasks    %s", visible(text))
	return t.err
}

func newReleaseCheck(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "check [VERSION…]", Short: "hold the shelf to its rules, digests along the chain included",
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := p.load()
			if err != nil {
				return err
			}
			s, err := release.Read(c.Releases)
			if err != nil {
				return &ended{exitUsage, err}
			}
			var only []release.Version
			for _, a := range args {
				if _, err := s.Entry(release.Version(a)); err != nil {
					return &ended{exitUsage, err}
				}
				only = append(only, release.Version(a))
			}
			findings, err := s.Check(only, p.sayNow())
			if err != nil {
				return err
			}
			if hidden, err := p.checkHidden(c, s); err != nil {
				return err
			} else if len(only) == 0 {
				findings = append(findings, hidden...)
			}
			if p.json {
				if err := p.writeJSON(append([]release.Finding{}, findings...)); err != nil {
					return err
				}
			} else if err := p.sayShelf(s, findings); err != nil {
				return err
			}
			if len(findings) > 0 {
				return &ended{code: exitFailed}
			}
			return nil
		},
	}
	p.override(cmd, "releases", "releases", "`FOLDER` of the shelf")
	return cmd
}

func (p *program) sayShelf(s *release.Shelf, findings []release.Finding) error {
	t := p.out()
	for _, f := range findings {
		t.line("%s", visible(f.String()))
	}
	for _, e := range s.Feed.Versions {
		t.line("%-10s before %s  %s: %d came, %d withdrawn, %d held, %d back, %d revised", e.Version, e.Date, plural(e.Counts.Tasks, "task"), e.Counts.Came, e.Counts.Withdrawn, e.Counts.Held, e.Counts.Back, e.Counts.Revised)
	}
	if len(findings) == 0 {
		t.line("%s: %s", s.Dir, t.in(green, "holds"))
	} else {
		t.line("%s: %s", s.Dir, t.in(red, plural(len(findings), "finding")))
	}
	return t.err
}

func newReleaseDiff(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use: "diff A B", Short: "say what changed between two versions, or any two datasets", Args: argsOf(cobra.ExactArgs(2)),
		Example: "  benchmint release diff 2026.01 2026.07\n  benchmint release diff old-out benchmint-out --json",
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := p.load()
			if err != nil {
				return err
			}
			s, err := release.Read(c.Releases)
			if err != nil && !errors.Is(err, release.ErrNoShelf) {
				return &ended{exitUsage, err}
			}
			a, err := side(s, args[0])
			if err != nil {
				return &ended{exitUsage, err}
			}
			b, err := side(s, args[1])
			if err != nil {
				return &ended{exitUsage, err}
			}
			feed := release.Feed{}
			if s != nil {
				feed = s.Feed
			}
			d, err := release.Compare(a, b, feed)
			if err != nil {
				return err
			}
			if p.json {
				return p.writeJSON(d)
			}
			t := p.out()
			t.block(d.Text())
			n := d.Counts(len(b.Rows))
			t.line("%d came, %d withdrawn, %d held, %d back, %d gone, %d changed; %s now", n.Came, n.Withdrawn, n.Held, n.Back, len(d.Gone), n.Revised, plural(n.Tasks, "task"))
			return t.err
		},
	}
	p.override(cmd, "releases", "releases", "`FOLDER` of the shelf")
	return cmd
}

// side is a folder of a dataset, or a version of the shelf.
func side(s *release.Shelf, word string) (release.Side, error) {
	d, err := output.Read(word)
	if errors.Is(err, output.ErrNoDataset) && s != nil {
		if _, unknown := s.Entry(release.Version(word)); unknown != nil {
			return release.Side{}, fmt.Errorf("%w, and no folder of a dataset", unknown)
		}
		d, err = s.Dataset(release.Version(word))
	}
	if err != nil {
		return release.Side{}, err
	}
	return release.SideOf(word, d)
}

func folderSize(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() {
			n += info.Size()
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	return n, err
}

// printed is the summary on standard output, in the place of the usual lines.
const printed = "-"

// summarize writes a summary where it is asked for, and reports whether it printed it.
func (p *program) summarize(f releaseFlags, text string) (bool, error) {
	switch f.summary {
	case "":
		return false, nil
	case printed:
		t := p.out()
		for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
			t.line("%s", visible(line))
		}
		return true, t.err
	}
	if err := appendFile(f.summary, text); err != nil {
		return false, fmt.Errorf("--summary: %w", err)
	}
	return false, nil
}

// appendFile adds to a file, as the summary of a job is.
func appendFile(name, text string) (err error) {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.WriteString(text)
	return err
}
