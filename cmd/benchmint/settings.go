package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/recipe"
	"github.com/benchmint/benchmint/stages"
)

// settings are what a command line says of the configuration.
type settings struct {
	file    string
	replace bool // of the verbs that write a dataset
	// overrides are the keys that flags set, by flag.
	overrides map[string]string
}

// override adds a flag that sets a key of the configuration.
func (s *settings) override(cmd *cobra.Command, flag, key, usage string) {
	s.overrideShort(cmd, flag, "", key, usage)
}

// overrideShort is override with a letter.
func (s *settings) overrideShort(cmd *cobra.Command, flag, short, key, usage string) {
	cmd.Flags().FuncP(flag, short, usage, func(text string) error {
		if old, ok := s.overrides[flag+"\x00"+key]; ok { // --only A --only B
			text = old + "," + text
		}
		s.overrides[flag+"\x00"+key] = text
		return nil
	})
}

// set adds --set KEY=VALUE, which sets any key but those of one source.
func (s *settings) set(cmd *cobra.Command) {
	cmd.Flags().Func("set", "`KEY=VALUE` of the configuration (filters.thin=true); may be repeated", func(text string) error {
		key, value, ok := strings.Cut(text, "=")
		if !ok || strings.HasPrefix(key, "sources") {
			return fmt.Errorf("%q is not KEY=VALUE with a key that is not of one source", text)
		}
		s.overrides["set\x00"+key] = value
		return nil
	})
}

// running adds the flags of the verbs that take sources through the plan.
func (s *settings) running(cmd *cobra.Command, f *runFlags) {
	s.override(cmd, "output", "output", "`FOLDER` of the dataset")
	s.override(cmd, "store", "store", "`FOLDER` of the store")
	s.override(cmd, "sandbox", "sandbox.kind", "`KIND` of sandbox: docker or bwrap")
	s.overrideShort(cmd, "jobs", "j", "jobs", "`N` steps at one time, cheap ones included")
	s.override(cmd, "as-of", "as_of", "`DATE`: read each source as it stood before this day (UTC)")
	s.override(cmd, "wait", "wait", "`DURATION` to wait for deferred items when nothing else is left to do")
	s.set(cmd)
	cmd.Flags().StringVar(&f.until, "until", "", "last `STAGE` to run: "+strings.Join(stages.Order, ", "))
	cmd.Flags().IntVar(&f.allowFailed, "allow-failed", 0, "exit 0 even if up to `N` items failed (for schedulers)")
	cmd.Flags().BoolVar(&f.partial, "partial", false, "write the dataset even if some items are deferred; the manifest counts them")
	cmd.Flags().BoolVar(&s.replace, "replace", false, replaceUsage)
}

// exportCommand writes what the store holds, with what this command line says of the places.
func (s *settings) exportCommand(c *config.Config) string {
	line := "benchmint export"
	if s.file != "" {
		line += " -c " + recipe.Quote(s.file)
	}
	for _, name := range slices.Sorted(maps.Keys(s.overrides)) {
		switch flag, key, _ := strings.Cut(name, "\x00"); {
		case flag == "set":
			line += " --set " + recipe.Quote(key+"="+s.overrides[name])
		case flag == "store":
			line += " --store " + recipe.Quote(c.Store)
		case flag == "output":
			line += " --output " + recipe.Quote(s.overrides[name])
		}
	}
	return line
}

// flags are the keys that flags set, for the configuration to read.
func (s *settings) flags() (out []config.Setting) {
	for _, name := range slices.Sorted(maps.Keys(s.overrides)) {
		flag, key, _ := strings.Cut(name, "\x00")
		out = append(out, config.Setting{Key: key, Value: s.overrides[name], Flag: "--" + flag})
	}
	return out
}
