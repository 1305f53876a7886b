package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/pipeline"
	"github.com/benchmint/benchmint/schemas"
	"github.com/benchmint/benchmint/stages"
	"github.com/benchmint/benchmint/stages/crawl/sources"
)

// result is the end of a run for scripts.
type result struct {
	Summary pipeline.Summary `json:"summary"`
	Dataset string           `json:"dataset,omitempty"` // "" where none was written
	// NotWritten is why there is no dataset, or why the one that is there is as it was.
	NotWritten string `json:"not_written,omitempty"`
	// Proved are the rows that an export would write, where the run wrote no dataset.
	Proved int `json:"proved,omitempty"`
	// Checked says that the dataset was written, and that check has nothing against it.
	Checked bool   `json:"checked,omitempty"`
	Store   string `json:"store"`
	Tasks   int    `json:"tasks"`
	// Spent are the dollars that all runs of the store spent on models; MaxSpent is what
	// they may.
	Spent float64 `json:"spent,omitempty"`
	// Kept are sources that are gone, rewritten or renamed, whose rows are carried on.
	Kept     []sources.Kept `json:"kept,omitempty"`
	MaxSpent float64        `json:"max_spent,omitempty"`
	// Models are what the answers of each model came to, of all runs of the store.
	Models []worth `json:"models,omitempty"`
	Next   string  `json:"next"`
}

// described counts statements, those of libraries with their specifications.
func described(s pipeline.Summary) int {
	d := stageCount(s, stages.Document)
	return stageCount(s, stages.Describe).Done - (d.Items() - d.Done)
}

// finish prints the three lines that every run ends with, and gives its exit code.
// fault is what ended the run or the writing of the dataset, nil for most.
func (s *session) finish(ctx context.Context, f runFlags, end pipeline.Summary, fault error) error {
	left, c, repos := "", s.config, s.sources
	var short []string
	r := result{Summary: end, Store: c.Store, Tasks: described(end), Kept: repos.Kept(), Spent: s.models.spent, MaxSpent: maxSpent(c), Models: s.models.worth}
	if end.Drained && fault == nil {
		r.Dataset = c.Output
		r.Checked = stageCount(end, stages.Export).Executed > 0
		// The ledger and twins take rows out at the very end.
		if m, err := output.ReadManifest(c.Output); err == nil {
			r.Tasks, left, short = m.Counts.Tasks, leftOut(m.Funnel, c.Output), m.Balance.Missing()
		}
	}
	code := codeOfRun(end, f, repos, fault)
	r.Next = s.next(r, f, code, fault)
	if s.models.broke && code == exitDeferred {
		r.Next = "raise model.max_cost (--set model.max_cost=DOLLARS), then the same command goes on from here"
	}
	if s.models.stopped() && code == exitDeferred {
		r.Next = "another model (--set model.name=NAME), or --set model.useless=rules to go on without one"
	}
	if r.Dataset == "" && writes(f.until) && !errors.As(fault, new(*blob.FaultError)) {
		r.Proved = r.Tasks
	}
	line := datasetLine(r, f, repos, fault)
	switch {
	case r.Proved == 1:
		line += "; 1 row is proved, and " + s.exportCommand(c) + " writes it"
	case r.Proved > 1:
		line += fmt.Sprintf("; %d rows are proved, and %s writes them", r.Proved, s.exportCommand(c))
	case end.Interrupted && writes(f.until):
		line += "; no row is proved so far"
	}
	if why, ok := strings.CutPrefix(line, "not written: "); ok {
		r.NotWritten = why
	}
	lines, err := widenings(ctx, c, end, &shelf{Store: s.store}, r.Tasks)
	if err != nil {
		return errors.Join(fault, err)
	}
	if len(end.Stages) > 0 { // else the store is away
		lines = append([][2]string{{"funnel", funnelLine(end, f.until, repos)}}, lines...)
	}
	lines = append(lines, s.asked()...)
	lines = append(lines, [2]string{"dataset", line})
	if r.Checked {
		lines = append(lines, [2]string{"check", s.out().in(green, "holds")})
	}
	if left != "" {
		lines = append(lines, [2]string{"left out", left})
	}
	for _, x := range short {
		lines = append(lines, [2]string{"balance", visible(x)})
	}
	if s.json {
		err = s.writeJSON(r)
	} else {
		t := s.out()
		for _, l := range append(lines, [2]string{"next", r.Next}) {
			t.line("%-8s %s", l[0], l[1])
		}
		err = t.err
	}
	if err == nil && (fault != nil || code != exitOK) {
		return &ended{code: code, err: fault}
	}
	return errors.Join(err, fault)
}

// asked are the closing lines on whom a run asked, and what it did not.
func (s *session) asked() (lines [][2]string) {
	if line := s.github.spent(); line != "" {
		lines = append(lines, [2]string{"github", line})
	}
	if c := s.config.Model; c.Name != "" {
		lines = append(lines, [2]string{"models", spent(s.models.spent, c.MaxCost)})
		for _, w := range s.models.worth {
			lines = append(lines, [2]string{"models", visible(w.String())})
		}
	}
	for _, k := range s.sources.Kept() {
		lines = append(lines, [2]string{"kept", keptLine(k)})
	}
	if s.refreshing {
		lines = append(lines, [2]string{"old", "tasks that were there are not proved again: a release copies them as published"})
	}
	return lines
}

// keptLine says what became of a source, and what of its rows.
func keptLine(k sources.Kept) string {
	if k.Rows == 0 {
		return fmt.Sprintf("%s is %s: %s", k.Source, k.What, k.Why)
	}
	if k.What == sources.SourceRewritten {
		k.Why = "not on its line any more: " + k.Why
	}
	return fmt.Sprintf("%s is %s (%s): %s carried on unchanged", k.Source, k.What, k.Why, are(k.Rows, "row"))
}

// leftOut says which tasks the writing of a dataset left out, and why; "" where there is none.
func leftOut(funnel []output.Funnel, dir string) string {
	for _, f := range funnel {
		n := 0
		for _, rejected := range f.Rejected {
			n += rejected
		}
		if f.Stage == stages.Export && n > 0 {
			return fmt.Sprintf("%s: %s; see %s", plural(n, "task"), reasons(f.Rejected), filepath.Join(dir, output.RejectsFile))
		}
	}
	return ""
}

// codeOfRun is the summary's code, failed items forgiven as far as --allow-failed
// goes, and a source that could not be fetched counted as deferred.
func codeOfRun(s pipeline.Summary, f runFlags, repos *sources.Set, fault error) int {
	code := s.Code()
	if fault != nil && code != exitInterrupted {
		if len(repos.Unreachable()) > 0 {
			return exitDeferred // of what a source that does not answer has
		}
		if ofMachine(fault) {
			return exitUsage
		}
		return exitFailed
	}
	failed, deferred := 0, repos.Deferred()
	for _, c := range s.Stages {
		failed += c.Failed
		deferred += c.Deferred + c.Open
	}
	if code == exitFailed && failed <= f.allowFailed {
		code = exitOK
	}
	if code == exitOK && deferred > 0 {
		code = exitDeferred
	}
	return code
}

func stageCount(s pipeline.Summary, stage string) pipeline.Count {
	for _, c := range s.Stages {
		if c.Stage == stage {
			return c
		}
	}
	return pipeline.Count{Stage: stage}
}

// made counts the steps that make items, of all kinds.
func made(counts []pipeline.Count) pipeline.Count {
	all := pipeline.Count{Rejected: map[schemas.Reason]int{}}
	for _, c := range counts {
		if !slices.Contains(stages.StartStages, c.Stage) {
			continue
		}
		all.Done, all.Deferred, all.Failed, all.Open = all.Done+c.Done, all.Deferred+c.Deferred, all.Failed+c.Failed, all.Open+c.Open
		for reason, n := range c.Rejected {
			all.Rejected[reason] += n
		}
	}
	return all
}

// funnelLine is one line: what went in, what got through, and why the rest did not.
// A source that a mirror stands in for is put off as well: its run is to be repeated.
func funnelLine(s pipeline.Summary, until string, repos *sources.Set) string {
	rejected, lost, deferred, failed := rejects(s), 0, repos.Deferred()-len(repos.Unreachable()), 0
	for _, n := range rejected {
		lost += n
	}
	for _, c := range s.Stages {
		deferred += c.Deferred
		failed += c.Failed
	}
	items := made(s.Stages)
	done := func(stage string) int { return stageCount(s, stage).Done }
	line, linked := whatItems(s, items.Items(), repos.Sliced())
	for _, l := range []struct {
		stage, word string
		n           int
	}{
		{stages.Link, linked, items.Done}, {stages.LastWithoutSandbox, "wanted", done(stages.LastWithoutSandbox)}, {stages.Provision, "provisioned", done(stages.Provision)},
		{stages.Validate, "proved", done(stages.Validate)}, {stages.Describe, "described", described(s)},
	} {
		if until == "" || slices.Index(stages.Order, l.stage) <= slices.Index(stages.Order, until) {
			line += fmt.Sprintf(", %d %s", l.n, l.word)
		}
	}
	line += fmt.Sprintf("; %d rejected, %d deferred, %d failed", lost, deferred, failed)
	open := 0
	for _, c := range s.Stages {
		open += c.Open
	}
	if open > 0 {
		line += fmt.Sprintf(", %d to do", open)
	}
	if lost > 0 {
		line += " (" + reasons(rejected) + ")"
	}
	return line
}

// whatItems says how many items there are of which sort, and what the stages that made them did.
func whatItems(s pipeline.Summary, all int, sliced bool) (line, done string) {
	releases, groups := stageCount(s, stages.Mask).Items(), stageCount(s, stages.Strip).Items()
	var parts []string
	if changes := all - releases - groups; changes > 0 || all == 0 {
		parts = append(parts, plural(changes, "change"))
	}
	if releases > 0 {
		parts = append(parts, countReleases(releases, sliced))
	}
	if groups > 0 {
		parts = append(parts, plural(groups, "group"))
	}
	done = "linked"
	if all > 0 && all == releases+groups {
		done = "masked"
	}
	return strings.Join(parts, " and "), done
}

// countReleases is a number of what library tasks are made of, for people.
func countReleases(n int, sliced bool) string {
	if sliced && n != 1 {
		return fmt.Sprintf("%d releases and slices", n)
	}
	if sliced {
		return "1 release or slice"
	}
	return plural(n, "release")
}

// rejects are the rejected items of all stages by reason.
func rejects(s pipeline.Summary) map[schemas.Reason]int {
	out := map[schemas.Reason]int{}
	for _, c := range s.Stages {
		for reason, n := range c.Rejected {
			out[reason] += n
		}
	}
	return out
}

func datasetLine(r result, f runFlags, repos *sources.Set, fault error) string {
	const kept = "what was done is in "
	switch {
	case r.Summary.Interrupted:
		return "not written: interrupted; " + kept + r.Store
	case fault != nil:
		return "not written: " + visible(tail(fault.Error(), 1)) + "; " + kept + r.Store
	case r.Dataset == "" && !writes(f.until):
		return fmt.Sprintf("not written: the run ended at %s, as asked; %s%s", f.until, kept, r.Store)
	case r.Dataset == "" && len(repos.Unreachable()) > 0:
		return fmt.Sprintf("not written: %s not answer, and no mirror of it is whole; %s%s", doNot(repos.Unreachable()), kept, r.Store)
	case r.Dataset == "":
		return fmt.Sprintf("not written: some items are deferred; %s%s, and --partial writes it", kept, r.Store)
	}
	return fmt.Sprintf("%s (%s)", filepath.Clean(r.Dataset), plural(r.Tasks, "row"))
}

// are is "1 row is", "2 rows are".
func are(n int, what string) string {
	if n == 1 {
		return plural(n, what) + " is"
	}
	return plural(n, what) + " are"
}

// doNot is the beginning of "does not answer".
func doNot(names []string) string {
	if len(names) == 1 {
		return names[0] + " does"
	}
	return strings.Join(names, ", ") + " do"
}

// next is the one command that makes most sense now: a new dataset is read, and a refreshed one
// is proved, since a refresh does not prove old tasks again.
func (s *session) next(r result, f runFlags, code int, fault error) string {
	c, store := s.config, ""
	if c.Origin("store").Layer != config.FromDefault && c.Origin("store").Layer != config.FromFile {
		store = " --store " + recipe.Quote(c.Store)
	}
	switch {
	case r.Summary.Interrupted:
		return "the same command goes on from here"
	case errors.As(fault, new(*output.LossError)):
		return "the same command with --replace to let the rows go, or with --output FOLDER; benchmint refresh keeps what a moving window leaves behind"
	case fault != nil && (code == exitFailed || code == exitUsage):
		return "the same command goes on from here once that is mended"
	case code == exitFailed:
		return "benchmint status" + store + ", then the same command tries what failed again"
	case code == exitDeferred:
		return "the same command later; what is settled is not done again"
	case r.Dataset == "" && !writes(f.until):
		return "the same command without --until goes on from here"
	case r.Tasks == 0:
		return "benchmint status" + store + ", and benchmint explain ID" + store + " for why an item was rejected"
	}
	folder := recipe.Quote(filepath.Clean(r.Dataset))
	if s.refreshing {
		return "benchmint prove " + folder
	}
	return "benchmint report " + folder
}
