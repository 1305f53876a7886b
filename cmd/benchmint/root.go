package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/github"
	"github.com/benchmint/benchmint/internal/nearest"
	"github.com/benchmint/benchmint/schemas"
)

// program is what every verb has: the world, and the flags that hold everywhere.
type program struct {
	*world
	file    string
	verbose bool
	json    bool
	color   string
	replace bool // of the verbs that write a dataset
	// overrides are the keys that flags set, by flag.
	overrides map[string]string
	// spent are the dollars that went to models, and broke says that there were no more.
	spent float64
	broke bool
	// github is the client where a source is asked of there; nil elsewhere.
	github *github.Library
	// candidates counts the pull requests that it was asked of.
	candidates *atomic.Int64
	// meter says during a run what is left of GitHub's hour; viewed says that a live view does.
	meter  *meter
	viewed bool
	// refreshing says that searches are asked again, and that windows only grow.
	refreshing bool
	starts     map[string]string // the day that each window began at, by the source's ID
	// written is what somebody wrote by hand, by instance ID.
	written map[string]schemas.Override
}

// colours are the words of --color.
var colours = []string{"auto", "always", "never"}

func newRoot(env *world) *cobra.Command {
	p := &program{world: env, overrides: map[string]string{}, candidates: new(atomic.Int64)}
	var fault error // of the tables above the verbs
	root := &cobra.Command{
		Use:           "benchmint",
		Short:         "mint coding tasks from real repositories, and prove them",
		Long:          "benchmint mints executable coding tasks from the histories of real repositories.\n\nFirst contact:  benchmint run PATH-OR-URL",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownVerb(cmd, args[0])
		},
		PersistentPreRunE: func(*cobra.Command, []string) error {
			if fault != nil {
				return fault
			}
			if !slices.Contains(colours, p.color) {
				return &usageError{fmt.Errorf("--color %q is not one of %s%s", p.color, strings.Join(colours, ", "), nearest.Hint(p.color, colours))}
			}
			return nil
		},
	}
	root.Version = ownVersion()
	root.SetHelpCommand(&cobra.Command{
		Use: "help [VERB]", Short: "print help about a verb",
		RunE: func(cmd *cobra.Command, args []string) error {
			of, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return unknownVerb(root, strings.Join(args, " "))
			}
			return of.Help()
		},
	})
	root.SetOut(env.stdout)
	root.SetErr(env.stderr)
	root.SetFlagErrorFunc(unknownFlag)
	flags := root.PersistentFlags()
	flags.StringVarP(&p.file, "config", "c", "", "configuration `FILE` (default: ./"+config.DefaultFile+" where it exists)")
	flags.BoolVarP(&p.verbose, "verbose", "v", false, "print more about each step on standard error")
	flags.BoolVar(&p.json, "json", false, "print a machine-readable result on standard output")
	flags.StringVar(&p.color, "color", "auto", "colour: auto, always or never; NO_COLOR holds for auto")
	root.AddCommand(
		newRun(p), newRefresh(p), newWork(p), newStatus(p), newShow(p), newExplain(p), newRetry(p),
		newCheck(p), newProve(p), newEval(p), newTest(p), newLint(p), newReport(p), newExport(p), newImages(p), newMask(p), newEnv(p), newDoctor(p), newConfig(p), newClean(p), newVersion(p),
	)
	fault = p.completion(root)
	return root
}

// unknownVerb names the nearest verb.
func unknownVerb(cmd *cobra.Command, word string) error {
	var verbs []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			verbs = append(verbs, c.Name())
		}
	}
	hint := nearest.Hint(word, verbs)
	if hint == "" {
		hint = " (known: " + strings.Join(verbs, ", ") + ")"
	}
	return &usageError{fmt.Errorf("unknown verb %q of %s%s", word, cmd.CommandPath(), hint)}
}

// group is a command that only holds others.
func group(use, short string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownVerb(cmd, args[0])
		},
	}
	cmd.AddCommand(verbs...)
	return cmd
}

// unknownFlag names the nearest flag.
func unknownFlag(cmd *cobra.Command, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return &usageError{err}
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, "--"+f.Name) })
	return &usageError{fmt.Errorf("unknown flag --%s of %s%s", name, cmd.CommandPath(), nearest.Hint("--"+name, known))}
}

// override adds a flag that sets a key of the configuration.
func (p *program) override(cmd *cobra.Command, flag, key, usage string) {
	p.overrideShort(cmd, flag, "", key, usage)
}

// overrideShort is override with a letter.
func (p *program) overrideShort(cmd *cobra.Command, flag, short, key, usage string) {
	cmd.Flags().FuncP(flag, short, usage, func(text string) error {
		if old, ok := p.overrides[flag+"\x00"+key]; ok { // --only A --only B
			text = old + "," + text
		}
		p.overrides[flag+"\x00"+key] = text
		return nil
	})
}

// set adds --set KEY=VALUE, which sets any key but those of one source.
func (p *program) set(cmd *cobra.Command) {
	cmd.Flags().Func("set", "`KEY=VALUE` of the configuration (filters.thin=true); may be repeated", func(text string) error {
		key, value, ok := strings.Cut(text, "=")
		if !ok || strings.HasPrefix(key, "sources") {
			return fmt.Errorf("%q is not KEY=VALUE with a key that is not of one source", text)
		}
		p.overrides["set\x00"+key] = value
		return nil
	})
}

// load is the effective configuration for a verb.
func (p *program) load(sources ...string) (*config.Config, error) {
	in := config.Input{File: p.file, Environ: p.environ, Sources: sources, Now: p.now(), GitHub: p.onGitHub()}
	if in.File == "" {
		if _, err := os.Stat(config.DefaultFile); err == nil {
			in.File = config.DefaultFile
		}
	}
	for _, name := range slices.Sorted(mapKeys(p.overrides)) {
		flag, key, _ := strings.Cut(name, "\x00")
		in.Flags = append(in.Flags, config.Setting{Key: key, Value: p.overrides[name], Flag: "--" + flag})
	}
	c, err := config.Load(in)
	if err != nil {
		return nil, &ended{exitUsage, err}
	}
	return c, nil
}
