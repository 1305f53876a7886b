package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/schemas"
)

func newShow(p *program) *cobra.Command {
	var logs bool
	var f answerFlags
	cmd := &cobra.Command{
		Use: "show ID", Short: "print everything about one item: every stage, reason, log, recipe, run and blob", Args: argsOf(cobra.ExactArgs(1)),
		Long: "Prints everything about one item of a run, or about one prediction of an evaluation (ID@MODEL.SAMPLE): its verdict, each test\nthat it misses with what the run said, and its patch beside the gold one.",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if isAnswer(args[0]) {
				return p.printAnswer(cmd.Context(), args[0], f, true, logs)
			}
			s, i, err := p.itemOf(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, s.Close()) }()
			if err := s.spentOn(cmd.Context(), i); err != nil {
				return err
			}
			if p.json {
				return p.writeJSON(i)
			}
			return i.print(p.out(), s, logs)
		},
	}
	cmd.Flags().BoolVar(&logs, "logs", false, "print every run's log in full, not only its last lines")
	f.add(cmd)
	p.override(cmd, "store", "store", "`FOLDER` of the store")
	p.override(cmd, "output", "output", "`FOLDER` of the dataset")
	p.override(cmd, "releases", "releases", "`FOLDER` of the shelf")
	return cmd
}

// itemOf is what show, explain and env begin with.
func (p *program) itemOf(ctx context.Context, word string) (*shelf, *item, error) {
	c, err := p.load()
	if err != nil {
		return nil, nil, err
	}
	s, err := openShelf(ctx, p.world, c)
	if err != nil {
		return nil, nil, err
	}
	id, err := s.find(word)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	i, err := s.item(id)
	if err == nil {
		err = s.outside(i)
	}
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, i, nil
}

func (i *item) print(t *printer, s *shelf, logs bool) error {
	t.line("%s", t.in(bold, i.ID))
	if c := i.Change; c != nil {
		t.line("  %s  %s", c.Commit, visible(c.Subject))
		t.line("  base %s, committed %s", c.Base, c.CommittedAt.UTC().Format(time.RFC3339))
		if i.Alias != "" {
			t.line("  alias %s (only GitHub knows this number)", i.Alias)
		}
	}
	if c := i.Cut; c != nil {
		t.line("  %s  release %s of %s, %s", c.Release.Commit, visible(c.Release.Tag), c.Release.Date.UTC().Format(time.DateOnly), c.Profile)
		if c.Slice != nil {
			t.line("  %s", visible(c.Slice.String()))
		}
	}
	for _, step := range i.Steps {
		t.showStep(step)
	}
	t.withdrawn(i)
	t.showSpent(s, i)
	if i.start != nil {
		t.showStart(i.start)
	}
	if r := i.recipe(); r != nil {
		t.showRecipe(r)
	}
	if i.proof != nil {
		t.showProof(s, i.proof, logs)
	}
	t.showBlobs(s, i)
	return t.err
}

// showStep is one line a stage, and all of what it said where it did not get through.
func (t *printer) showStep(s schemas.Step) {
	color := map[schemas.StepState]string{schemas.StepDone: green, schemas.StepRejected: yellow, schemas.StepFailed: red, schemas.StepDeferred: yellow}[s.State]
	note := string(s.Reason)
	t.line("\n%s %s  %s  %s", t.in(bold, fmt.Sprintf("%-15s", s.Stage)), t.in(color, string(s.State)), (time.Duration(s.MS) * time.Millisecond).Round(time.Millisecond), note)
	if s.Fingerprint != "" { // the dataset says how export ended
		t.line("    input %s, made by %s", s.Input.Short(), s.Fingerprint.Short())
	}
	if s.Detail != "" {
		t.block(s.Detail)
	}
}

func (t *printer) showStart(s *schemas.Start) {
	t.line("\n%s", t.in(bold, "parts"))
	for _, f := range s.Files {
		name := f.Path
		if f.OldPath != "" && f.OldPath != f.Path {
			name = f.OldPath + " → " + f.Path
		}
		t.line("    %-4s %s %s  (%s)", f.Part, f.Status, visible(name), f.Rule)
	}
	if m := s.Masked; m != nil {
		t.line("    %d of %d functions taken out, %d of %d body lines left (%.1f %%)", m.Taken, m.Functions, m.Left, m.Lines, 100*m.Share())
		if d := m.Difficulty; d != nil {
			t.line("    of those taken out: %d lines, %d branches, called by %d functions, nested %d deep", d.Lines, d.Branches, d.FanIn, d.Depth)
		}
		for _, c := range m.Copies {
			if c.Stays {
				t.line("    %s holds lines of them, and stays", visible(c.Path))
			} else {
				t.line("    %s was left out: it holds lines of them", visible(c.Path))
			}
		}
	}
	t.line("    %d source files, +%d -%d lines; trees B %s S %s G %s", s.Sizes.SourceFiles, s.Sizes.SourceAdded, s.Sizes.SourceRemoved, short(s.BaseTree), short(s.StartTree), short(s.SolutionTree))
}

func (t *printer) showRecipe(r *schemas.Recipe) {
	t.line("\n%s  %s %s (%s)", t.in(bold, "recipe"), r.Toolchain.Name, r.Toolchain.Version, r.Toolchain.Digest.Short())
	if len(r.SystemPackages) > 0 {
		t.line("    packages  %s", strings.Join(r.SystemPackages, " "))
	}
	t.line("    pinning   %s %s", r.Pinning, r.PinDate)
	for _, q := range r.Requirements {
		t.line("    require   %s", visible(q))
	}
	for _, c := range r.Build {
		t.line("    build     %s", recipe.ShellLine(c, nil, r.Variables))
	}
	for _, c := range r.Test {
		t.line("    test      %s", recipe.ShellLine(c, nil, r.Variables))
	}
	for _, e := range r.Evidence {
		t.line("    because   %s = %s  (%s)", e.Field, visible(e.Value), e.Source)
	}
	for _, e := range r.Repairs {
		t.line("    repair    %s: %s  (%s)", e.Rule, e.Edit, visible(e.Symptom))
	}
}

func (t *printer) showProof(s *shelf, proof *schemas.Proof, logs bool) {
	t.line("\n%s", t.in(bold, "runs"))
	for _, r := range proof.Runs {
		t.line("    %s %-8s #%d  %s, exit %d  report %s  log %s", r.State, r.Scope, r.Number, r.End, r.ExitCode, r.Report.Short(), r.Log.Short())
		if logs {
			t.block(text(s.Blobs, r.Log))
		} else if r.End != "exited" {
			t.block(tail(text(s.Blobs, r.Log), 10))
		}
	}
	t.line("\n%s", t.in(bold, "tests (S | G | B)"))
	for _, v := range proof.Tests {
		class := string(v.Class)
		if v.Cause != "" {
			class += " " + string(v.Cause)
		}
		if v.Clock != "" {
			class += " " + string(v.Clock)
		}
		t.line("    %-26s %s | %s | %s  %s", class, statuses(v.S), statuses(v.G), v.B, visible(v.ID))
	}
	if c := proof.Clock; c != nil {
		t.line("    clock      %s", visible(held(*c)))
	}
	for _, n := range proof.Interface {
		t.line("    interface  %s %s  (%s)", n.Kind, n.Name, n.Path)
	}
	t.line("    leaks      %d needles searched, %d found", proof.Leaks.Count, len(proof.Leaks.Hits))
	for _, h := range proof.Leaks.Hits {
		t.line("      %s in %s: %s", h.Kind, h.Place, visible(h.Needle))
	}
}

// held says in one line how a proof was held against time.
func held(c schemas.Clock) string {
	if c.Not != "" {
		return "not shifted: " + c.Not
	}
	return fmt.Sprintf("%d days ahead (%s)", c.Ahead/(24*60*60), c.By)
}

// statuses is "passed", or "passed,failed" where runs disagree.
func statuses(all []schemas.Status) string {
	var words []string
	for _, s := range all {
		if len(words) == 0 || words[len(words)-1] != string(s) {
			words = append(words, string(s))
		}
	}
	return strings.Join(words, ",")
}

// showBlobs lists every blob that the ladder names, with where its bytes lie.
func (t *printer) showBlobs(s *shelf, i *item) {
	blobs := map[schemas.Digest]string{}
	var order []schemas.Digest
	add := func(d schemas.Digest, what string) {
		if _, ok := blobs[d]; !ok && d != "" {
			blobs[d], order = what, append(order, d)
		}
	}
	if i.start != nil {
		add(i.start.Patch, "patch")
		add(i.start.TestPatch, "test_patch")
		add(i.start.Derive, "mask_patch")
		if m := i.start.Masked; m != nil {
			add(m.Manifest, "mask_manifest")
		}
	}
	if i.proof != nil {
		for _, r := range i.proof.Runs {
			add(r.Report, fmt.Sprintf("report %s %s #%d", r.State, r.Scope, r.Number))
			add(r.Log, fmt.Sprintf("log %s %s #%d", r.State, r.Scope, r.Number))
		}
	}
	if len(order) == 0 {
		return
	}
	t.line("\n%s  (under %s)", t.in(bold, "blobs"), s.Blobs.Dir())
	for _, d := range order {
		hex := strings.TrimPrefix(string(d), "sha256:")
		t.line("    %-24s %s/%s", blobs[d], hex[:2], hex[2:])
	}
}

func short(hex string) string { return hex[:min(len(hex), 12)] }
