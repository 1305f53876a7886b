package main

import (
	"os"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/contamination"
	"github.com/benchmint/benchmint/output"
)

// program is what every verb has: the world with its terminal, and the flags that hold
// everywhere.
type program struct {
	*terminal
	settings
	github *hub
	models *models
	// refreshing says that searches are asked again, and that windows only grow: each begins
	// at the day in starts, by the source's ID.
	refreshing bool
	starts     map[string]string
	written    handwritten
	reviews    reviews
	published  *contamination.Catalogue // what decontamination.against holds; nil for none
	far        bool                     // workers do what needs a sandbox
}

func newProgram(env *world) *program {
	return (&program{settings: settings{overrides: map[string]string{}}}).on(&terminal{world: env})
}

// on is the same program on a terminal, on which nothing was asked and nothing spent.
func (p *program) on(t *terminal) *program {
	own := *p
	own.terminal, own.github, own.models = t, &hub{terminal: t}, &models{terminal: t}
	return &own
}

// alone is the same program on a terminal of its own, which may become a live view.
func (p *program) alone() *program {
	t := *p.terminal
	return p.on(&t)
}

// load is the effective configuration for a verb.
func (p *program) load(sources ...string) (*config.Config, error) {
	in := config.Input{File: p.file, Environ: p.environ, Sources: sources, Now: p.now(), GitHub: p.github.server(), Flags: p.flags()}
	if in.File == "" {
		if _, err := os.Stat(config.DefaultFile); err == nil {
			in.File = config.DefaultFile
			if _, err := output.ReadManifest("."); err == nil {
				return nil, unmet("%s lies in the folder of a dataset, whose maker may have written it: name it with --config %[1]s if it is yours, or work in another folder", config.DefaultFile)
			}
		}
	}
	c, err := config.Load(in)
	if err != nil {
		return nil, &ended{exitUsage, err}
	}
	return c, nil
}
