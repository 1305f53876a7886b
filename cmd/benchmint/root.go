package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/nearest"
)

// colours are the words of --color.
var colours = []string{"auto", "always", "never"}

func newRoot(env *world) *cobra.Command {
	p := newProgram(env)
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
		newCheck(p), newProve(p), newReprove(p), newEval(p), newTest(p), newLint(p), newReport(p), newReview(p), newExport(p), newRelease(p), newDecontaminate(p), newImages(p), newMask(p), newEnv(p), newDoctor(p), newConfig(p), newClean(p), newVersion(p),
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
