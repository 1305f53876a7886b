package main

import (
	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
)

func newConfig(p *program) *cobra.Command {
	show := &cobra.Command{
		Use: "show", Short: "print the effective configuration with the origin of each value", Args: argsOf(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			c, err := p.load()
			if err != nil {
				return err
			}
			if p.json {
				return p.writeJSON(c.Values())
			}
			_, err = p.stdout.Write([]byte(c.Show()))
			return err
		},
	}
	example := &cobra.Command{
		Use: "example", Short: "print a commented example with every key", Args: argsOf(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			_, err := p.stdout.Write([]byte(config.Example()))
			return err
		},
	}
	schema := &cobra.Command{
		Use: "schema", Short: "print the JSON Schema of the file, for editors", Args: argsOf(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			b, err := config.Schema()
			if err != nil {
				return err
			}
			_, err = p.stdout.Write(append(b, '\n'))
			return err
		},
	}
	cmd := group("config", "print the configuration, an example, or its schema", show, example, schema)
	// Without a word it shows: that is what is wanted nine times of ten.
	word := cmd.RunE
	cmd.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return show.RunE(c, args)
		}
		return word(c, args)
	}
	return cmd
}
