package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/stages"
)

// completion gives the shells what may follow: IDs of the store, rows of a dataset,
// words of a closed set.
func (p *program) completion(root *cobra.Command) error {
	one := func(cmd *cobra.Command, taken []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(taken) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return p.itemWords(cmd, taken, begun)
	}
	of := map[string]cobra.CompletionFunc{
		"show": one, "explain": one, "env build": one, "env rm": one, "env shell": one,
		"retry": p.itemWords, "prove": rowWords, "reprove": rowWords, "check": rowWords, "report": rowWords, "images build": rowWords,
	}
	flags := []struct {
		verb, flag string
		words      []string
	}{
		{"run", "until", stages.Order}, {"retry", "stage", stages.Order},
		{"export", "split", output.Splits()}, {"run", "sandbox", []string{config.Docker, config.Bwrap}}, {"prove", "sandbox", []string{config.Docker, config.Bwrap}}, {"reprove", "sandbox", []string{config.Docker, config.Bwrap}},
	}
	var errs []error
	for verb, words := range of {
		cmd, _, err := root.Find(strings.Fields(verb))
		errs = append(errs, err)
		cmd.ValidArgsFunction = words
	}
	for _, f := range flags {
		cmd, _, err := root.Find([]string{f.verb})
		errs = append(errs, err, cmd.RegisterFlagCompletionFunc(f.flag, cobra.FixedCompletions(f.words, cobra.ShellCompDirectiveNoFileComp)))
	}
	errs = append(errs, root.RegisterFlagCompletionFunc("color", cobra.FixedCompletions(colours, cobra.ShellCompDirectiveNoFileComp)))
	return errors.Join(errs...)
}

// itemWords completes IDs of the store that the verb would read. Completion never
// says why there are none: nobody asked.
func (p *program) itemWords(cmd *cobra.Command, taken []string, begun string) (out []string, _ cobra.ShellCompDirective) {
	c, err := p.load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	s, err := openShelf(cmd.Context(), p.world, c)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ids, err := s.words()
	if errors.Join(err, s.Close()) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return fitting(ids, taken, begun), cobra.ShellCompDirectiveNoFileComp
}

// rowWords completes a dataset's folder, then IDs of its rows.
func rowWords(_ *cobra.Command, taken []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(taken) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	d, err := output.Read(taken[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []string
	for _, r := range d.Rows {
		ids = append(ids, r.InstanceID)
	}
	return fitting(ids, taken[1:], begun), cobra.ShellCompDirectiveNoFileComp
}

func fitting(all, taken []string, begun string) []string {
	var out []string
	for _, word := range all {
		if strings.HasPrefix(strings.ToLower(word), strings.ToLower(begun)) && !slices.Contains(taken, word) {
			out = append(out, word)
		}
	}
	return out
}
