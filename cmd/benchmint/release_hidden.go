package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/modelfile"
	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/output/release"
)

// parts are the hidden ones of the configuration, nil where it hides nothing.
func (p *program) parts(c *config.Config, reveal []string) (*release.Parts, error) {
	h := c.Hidden
	if h.HeldOut+h.Private == 0 {
		if len(reveal) > 0 {
			return nil, &ended{exitUsage, errors.New("--reveal: the configuration hides no tasks (hidden.private)")}
		}
		return nil, nil
	}
	salt := p.lookup(config.SaltVariable)
	if salt == "" {
		return nil, &ended{exitUsage, fmt.Errorf("hidden.held_out and hidden.private need a salt: set %s (openssl rand -hex 32), and keep it", config.SaltVariable)}
	}
	parts := release.Parts{HeldOut: h.HeldOut, Private: h.Private, Salt: salt, Keys: h.Keys, Dir: h.Folder, Reveal: reveal}
	if h.Opens != "" {
		v, err := release.ParseVersion(h.Opens)
		if err != nil {
			return nil, &ended{exitUsage, fmt.Errorf("hidden.opens: %w", err)}
		}
		parts.Opens = v
	}
	if err := parts.Check(); err != nil {
		return nil, &ended{exitUsage, err}
	}
	return &parts, nil
}

// cutOffs are those of the file of models.
func (f releaseFlags) cutOffs(c *config.Config) ([]output.CutOff, error) {
	name := cmp.Or(f.models, c.Release.Models)
	if name == "" {
		if len(f.since) > 0 {
			return nil, errors.New("--since-cutoff needs a file of models: --models FILE, or release.models")
		}
		return nil, nil
	}
	all, err := modelfile.Read(name)
	if err != nil {
		return nil, fmt.Errorf("--models: %w", err)
	}
	return release.CutOffs(all, f.since)
}

// checkHidden holds the shelf of hidden tasks to its rules where it is there.
func (p *program) checkHidden(c *config.Config, s *release.Shelf) ([]release.Finding, error) {
	if s.Feed.Hidden == nil {
		return nil, nil
	}
	if _, err := os.Stat(filepath.Join(c.Hidden.Folder, release.FeedFile)); err != nil {
		return nil, nil
	}
	return s.CheckHidden(release.Parts{Salt: p.lookup(config.SaltVariable), Dir: c.Hidden.Folder}, p.sayNow())
}

func newReleaseOpen(p *program) *cobra.Command {
	var key, to string
	cmd := &cobra.Command{
		Use: "open VERSION", Short: "write the public and the held-out tasks of a version as one dataset", Args: argsOf(cobra.ExactArgs(1)),
		Long:    "VERSION is a version of the shelf, its folder, or the file held_out.age in that. Each held-out task must be the one\nthat the version commits to. The dataset is graded as any other: benchmint eval FOLDER answers.jsonl",
		Example: "  benchmint release open 2026.07 --key key.txt -o opened\n  benchmint eval opened answers.jsonl",
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := p.load()
			if err != nil {
				return err
			}
			if key == "" {
				return &ended{exitUsage, errors.New("--key is missing: which file has the key that opens it?")}
			}
			m, n, err := release.OpenHeldOut(versionFolder(c, args[0]), key, to)
			if err != nil {
				return &ended{exitUsage, err}
			}
			if p.json {
				return p.writeJSON(m)
			}
			t := p.out()
			t.line("dataset  %s (%s, %d of them held out in %s)", to, plural(m.Counts.Tasks, "task"), n, m.Release.Version)
			return t.err
		},
	}
	p.override(cmd, "releases", "releases", "`FOLDER` of the shelf")
	cmd.Flags().StringVar(&key, "key", "", "`FILE` of age's identities (age-keygen -o FILE)")
	cmd.Flags().StringVarP(&to, "output", "o", "opened", "`FOLDER` of the dataset")
	return cmd
}

// versionFolder is the folder of a version that is given by its name, by itself, or by its file of held-out tasks.
func versionFolder(c *config.Config, word string) string {
	if filepath.Base(word) == output.HeldOutFile {
		return filepath.Dir(word)
	}
	if _, err := os.Stat(filepath.Join(word, output.ReleaseFile)); err == nil {
		return word
	}
	return filepath.Join(c.Releases, word)
}
