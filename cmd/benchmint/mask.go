package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/benchmint/benchmint/internal/mask"
	"github.com/benchmint/benchmint/internal/mask/verify"
	"github.com/benchmint/benchmint/internal/plugins"
	"github.com/benchmint/benchmint/internal/recipe"
)

func newMask(p *program) *cobra.Command {
	var o mask.Options
	var profile, undo string
	var proof maskProof
	cmd := &cobra.Command{
		Use: "mask PATH --output DIR", Short: "turn a folder of code into a starter whose function bodies fail loudly",
		Long: "Every byte outside of masked bodies stays. Beside DIR stand DIR.mask.json (what was done and\nwhy, no code) and DIR.mask.undo, from which --undo gives the same bytes back:\n\n  benchmint mask src --output starter\n  benchmint mask --undo starter.mask.undo starter",
		Args: argsOf(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := apart(cmd.Flags()); err != nil {
				return err
			}
			if args[0] == "" {
				return &usageError{errors.New("PATH is empty")}
			}
			if undo != "" {
				return unmask(cmd.Context(), p.terminal, undo, args[0])
			}
			if o.Output == "" {
				return &usageError{errors.New("--output DIR is needed: a mask never writes into its source")}
			}
			o.Source, o.Profile, o.Languages = args[0], mask.Profile(profile), plugins.Maskers()
			return p.mask(cmd, o, proof)
		},
	}
	profile = string(mask.Strict)
	flags := cmd.Flags()
	flags.Var(&once{to: &o.Output}, "output", "`DIR` of the starter; it must be new or empty")
	flags.Var(&once{to: &profile}, "profile", "`PROFILE`: strict, or as the published tool: commit0-all, commit0-docstring, commit0-combined")
	flags.Var(&once{to: &o.Slice.Module}, "module", "mask one `MODULE` only: a path, or the name by which it is imported")
	flags.StringArrayVar(&o.Slice.Names, "name", nil, "mask `NAME` only: Class.method or path::Class.method; may be repeated")
	flags.Var(&once{to: &o.Slice.Function}, "function", "mask function `NAME` and all that nothing else uses")
	flags.Var(&once{to: &o.Src}, "src", "`FOLDER` of the source in PATH, for the commit0 profiles (default: all)")
	flags.Var(&once{to: &o.Tests}, "tests", "`FOLDER` of the tests in PATH, for the commit0 profiles")
	flags.BoolVar(&proof.wanted, "verify", false, "compile or import source and starter in the sandbox; a failure in the starter alone is a fault")
	flags.Var(&once{to: &proof.python}, "python", "`FILE` of the interpreter for --verify, with the dependencies beside it (default: python3 of PATH)")
	flags.Var(&once{to: &proof.classpath}, "classpath", "`JARS` for --verify of Java, as javac takes them")
	flags.Var(&once{to: &undo}, "undo", "give the starter at PATH its bytes back, from `FILE`")
	return cmd
}

// once is a flag that is given once, and with something: of two modules one would be
// left out, and nothing in the place of a slice would be all.
type once struct {
	to    *string
	given bool
}

func (f *once) Set(text string) error {
	if f.given {
		return errors.New("given more than once")
	}
	if text == "" {
		return errors.New("it is empty")
	}
	*f.to, f.given = text, true
	return nil
}

func (f *once) String() string {
	if f.to == nil {
		return ""
	}
	return *f.to
}

func (*once) Type() string { return "string" }

// apart tells of flags of which one leaves no room for another.
func apart(flags *pflag.FlagSet) error {
	slices := []string{"module", "name", "function"}
	for i, a := range slices {
		for _, b := range slices[i+1:] {
			if flags.Changed(a) && flags.Changed(b) {
				return &usageError{fmt.Errorf("--%s and --%s: a mask takes one of them", a, b)}
			}
		}
	}
	for _, b := range []string{"python", "classpath"} {
		if flags.Changed(b) && !flags.Changed("verify") {
			return &usageError{fmt.Errorf("--%s is for --verify", b)}
		}
	}
	for _, b := range append(slices, "output", "profile", "src", "tests", "verify") {
		if flags.Changed("undo") && flags.Changed(b) {
			return &usageError{fmt.Errorf("--%s cannot be used with --undo", b)}
		}
	}
	return nil
}

func (p *program) mask(cmd *cobra.Command, o mask.Options, proof maskProof) (err error) {
	if (o.Src != "" || o.Tests != "") && o.Profile == mask.Strict {
		return &usageError{errors.New("--src and --tests are for the commit0 profiles; strict knows tests by their names")}
	}
	if proof.wanted {
		if err := proof.open(cmd.Context(), p); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, proof.close()) }()
	}
	result, proved, err := masked(cmd.Context(), o, proof)
	if slice := new(mask.SliceError); errors.As(err, &slice) || errors.Is(err, mask.ErrUnmet) {
		return &ended{exitUsage, err}
	}
	if err != nil {
		return err
	}
	if p.json {
		err = p.writeJSON(struct {
			*mask.Result
			Verify []verify.Result `json:"verify,omitempty"`
		}{result, proved})
	} else {
		err = printMask(p.terminal, result)
		if err == nil && proof.wanted {
			err = printProof(p.out(), proved)
		}
	}
	if err == nil && (len(result.Failed) > 0 || slices.ContainsFunc(proved, isFaulty)) {
		return &ended{code: exitFailed}
	}
	return err
}

// maskRounds is how many starters are made where each is verified, after a first one by the rule of plain names: the second
// keeps what was seen to run, and each further one what the one before lacked.
const maskRounds = 5

// masked masks, and verifies where that is wanted.
func masked(ctx context.Context, o mask.Options, proof maskProof) (result *mask.Result, proved []verify.Result, err error) {
	for round := 1; ; round++ {
		if result, err = mask.Run(ctx, o); err != nil || !proof.wanted {
			return result, nil, err
		}
		if proved, err = proof.run(ctx, o, result); err != nil {
			return nil, nil, fmt.Errorf("the starter %s is written, and was not verified: %w", result.Output, err)
		}
		ran, load := []mask.Seen(nil), mask.Load{}
		for _, r := range proved {
			ran = append(ran, r.Ran...)
			for _, f := range r.Faults {
				load.Failed = append(load.Failed, mask.NotLoaded{Unit: f.Unit, Message: f.Message, Path: f.Path})
			}
		}
		lacking := slices.DeleteFunc(load.Blames(), func(name string) bool { return slices.Contains(o.Keep, name) })
		look := o.Load == nil && len(ran) > 0
		if len(lacking) == 0 && !look || round > maskRounds || o.Profile != mask.Strict {
			return result, proved, nil
		}
		if look { // the starter of the rule by names gives way to that of what was seen
			o.Load, lacking = &mask.Load{Ran: ran}, nil
		}
		o.Keep = append(o.Keep, lacking...)
		for _, written := range []string{result.Output, result.Manifest, result.Undo} {
			if err := os.RemoveAll(written); err != nil {
				return nil, nil, err
			}
		}
	}
}

func printMask(to *terminal, r *mask.Result) error {
	t, n := to.out(), r.Totals
	t.line("%s  %s changed of %d, %s of %s masked", r.Output, plural(n.Changed, "file"), n.Files, plural(n.Masked+n.Removed, "function"), plain(n.Functions))
	if n.Removed > 0 {
		t.line("  %6d  of them with the whole definition", n.Removed)
	}
	if n.Gone > 0 {
		t.line("  %6d  gone: inside of those", n.Gone)
	}
	for _, why := range byCount(n.Kept) {
		t.line("  %6d  kept: %s", n.Kept[why], why)
	}
	for _, why := range byCount(n.Whole) {
		t.line("  %6s  left whole: %s", plural(n.Whole[why], "file"), why)
	}
	if n.Repairs > 0 {
		t.line("  %6d  repaired outside of bodies", n.Repairs)
	}
	t.line("body lines left: %d of %d (%.1f %%)%s", n.Left, n.Lines, 100*n.Share, notMasked(n.NotMasked))
	largest := slices.SortedStableFunc(slices.Values(r.NotMasked), func(a, b mask.Source) int { return b.Lines - a.Lines })
	for _, s := range largest[:min(fewSources, len(largest))] {
		t.line("  not masked: %s (%s, %s)", visible(s.Path), s.Language, plural(s.Lines, "line"))
	}
	if more := len(largest) - fewSources; more > 0 {
		t.line("  and %s more (%s has all)", plural(more, "file"), r.Manifest)
	}
	for _, place := range n.Faults[:min(fewFaults, len(n.Faults))] {
		to.say("syntax error at %s, outside of functions", visible(place))
	}
	if more := len(n.Faults) - fewFaults; more > 0 {
		to.say("and %d more syntax errors (--json has all)", more)
	}
	for _, fault := range r.Failed {
		t.line("%s  %s", t.in(red, "failed"), visible(fault))
	}
	t.line("what was done: %s; to undo it: benchmint mask --undo %s %s", r.Manifest, recipe.Quote(r.Undo), recipe.Quote(r.Output))
	return t.err
}

// fewSources are as many files of languages that are not masked as are named.
const fewSources = 5

// notMasked is how much of what is left no mask reads, "" for nothing.
func notMasked(by map[string]mask.Unread) string {
	lines := 0
	for _, u := range by {
		lines += u.Lines
	}
	if len(by) == 0 {
		return ""
	}
	return fmt.Sprintf(", %d of them in %s, which mask does not read", lines, strings.Join(slices.Sorted(maps.Keys(by)), ", "))
}

func plain(n int) string { return fmt.Sprint(n) }

// byCount are the keys, the largest first.
func byCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		if d := counts[b] - counts[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
}

func unmask(ctx context.Context, to *terminal, undo, folder string) error {
	n, err := mask.Undo(ctx, undo, folder)
	if errors.Is(err, mask.ErrUnmet) {
		return &ended{exitUsage, err}
	}
	var refused *mask.RefusedError
	if errors.As(err, &refused) {
		for _, file := range refused.Files {
			to.say("%s", visible(file))
		}
		return fmt.Errorf("nothing was undone: %s not as the mask left %s", plural(len(refused.Files), "file"), pronoun(len(refused.Files)))
	}
	if err != nil {
		return err
	}
	if to.json {
		return to.writeJSON(map[string]int{"restored": n})
	}
	t := to.out()
	t.line("%s restored in %s", plural(n, "file"), folder)
	return t.err
}

func pronoun(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}
