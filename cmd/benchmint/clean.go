package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/store"
)

// whatImage is a leftover that an engine keeps; the others are folders.
const whatImage = "image"

// leftover is one thing that can be deleted and made again.
type leftover struct {
	What  string `json:"what"`
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	Freed bool   `json:"freed"`
}

func newClean(p *program) *cobra.Command {
	var force, stateToo bool
	cmd := &cobra.Command{
		Use: "clean", Short: "caches, layers, images: says what it would free; --force frees it",
		Long: "Lists what may be deleted: it is made again when it is needed. The store holds results, not\ncaches: it is listed and freed with --store-too only. Nothing is deleted without --force.",
		Args: argsOf(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c, err := p.load()
			if err != nil {
				return err
			}
			all, err := p.leftovers(cmd.Context(), c, stateToo)
			if err != nil {
				return err
			}
			if force {
				unlock, err := p.lockStore(cmd.Context(), c)
				if err != nil {
					return err
				}
				err = errors.Join(p.free(cmd.Context(), all), unlock())
				if err != nil {
					return err
				}
			}
			if p.json {
				return p.writeJSON(all)
			}
			return p.printLeftovers(all, force)
		},
	}
	cmd.Flags().BoolVarP(&force, "force", "f", false, "delete what is listed")
	cmd.Flags().BoolVar(&stateToo, "store-too", false, "the store as well: every result, log and report of it")
	p.override(cmd, "store", "store", "`FOLDER` of the store")
	return cmd
}

// lockStore keeps a run from losing its layers under its hands.
func (p *program) lockStore(ctx context.Context, c *config.Config) (unlock func() error, err error) {
	if !isStore(c.Store) {
		return func() error { return nil }, nil
	}
	s, err := p.openStore(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := s.Lock(); err != nil {
		return nil, errors.Join(lockedOr(err), s.Close())
	}
	return s.Close, nil
}

// isStore: a folder is only ever deleted as a store if it is one.
func isStore(dir string) bool {
	return !strings.Contains(dir, "://") && store.Exists(dir)
}

// leftovers lists the folders of the cache, the images of an engine, and the store
// where it is asked for.
func (p *program) leftovers(ctx context.Context, c *config.Config, stateToo bool) ([]leftover, error) {
	all := []leftover{}
	entries, err := os.ReadDir(p.cache)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(p.cache, e.Name())
		all = append(all, leftover{What: e.Name(), Path: path, Bytes: diskUsage(path)})
	}
	images, err := p.images(ctx)
	if err != nil {
		return nil, err
	}
	all = append(all, images...)
	if stateToo && isStore(c.Store) {
		all = append(all, leftover{What: "store", Path: c.Store, Bytes: diskUsage(c.Store)})
	}
	return all, nil
}

// diskUsage counts what can be read; a file that goes away meanwhile is no fault.
func diskUsage(dir string) (sum int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}

// removeAll deletes a tree whose folders may be read-only, as module caches are.
func removeAll(dir string) error {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // what cannot be changed shows below
		}
		return nil
	})
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("freeing %s: %w", dir, err)
	}
	return nil
}

// free deletes what is listed.
func (p *program) free(ctx context.Context, all []leftover) error {
	for i := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := p.remove(ctx, all[i]); err != nil {
			return err
		}
		all[i].Freed = true
	}
	return nil
}

func (p *program) remove(ctx context.Context, l leftover) error {
	if l.What == whatImage {
		return p.removeImage(ctx, l.Path)
	}
	return removeAll(l.Path)
}

func (p *program) printLeftovers(all []leftover, force bool) error {
	t := p.out()
	var sum int64
	for _, l := range all {
		t.line("%10s  %-14s %s", bytesOf(l.Bytes), l.What, l.Path)
		sum += l.Bytes
	}
	switch {
	case len(all) == 0:
		t.line("nothing to free")
	case force:
		t.line("%10s  freed", bytesOf(sum))
	default:
		t.line("%10s  would be freed by benchmint clean --force", bytesOf(sum))
	}
	return t.err
}

func bytesOf(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
}
