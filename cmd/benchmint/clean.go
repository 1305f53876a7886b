package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/config"
	"github.com/benchmint/benchmint/internal/lazyregexp"
	"github.com/benchmint/benchmint/internal/store"
)

// Leftovers that an engine keeps; the others are folders.
const (
	whatImage  = "image"
	whatVolume = "volume"
)

// leftover is one thing that can be deleted and made again, or that lies beside such.
type leftover struct {
	What  string `json:"what"`
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	Freed bool   `json:"freed"`
	// Left is why it is not freed: it is not known to be benchmint's.
	Left string `json:"left,omitempty"`
}

// Reasons to leave something.
const (
	notOurs   = "benchmint did not make it"
	whatStore = "store"
	cacheLock = "lock"
)

func newClean(p *program) *cobra.Command {
	var force, stateToo bool
	cmd := &cobra.Command{
		Use: "clean", Short: "list the caches, layers and images that can be freed; --force frees them",
		Long: "Lists what may be deleted: benchmint makes it again when it is needed. Files that it does not know\nto be its own are named and left. The store holds results, not caches: it is listed and freed with\n--store-too only. Nothing is deleted without --force, and nothing while another benchmint uses it.",
		Args: argsOf(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			c, err := p.load()
			if err != nil {
				return err
			}
			l := cleaner{p.world, c}
			if force {
				unlock, lockErr := l.lock(cmd.Context())
				if lockErr != nil {
					return lockErr
				}
				defer func() { err = errors.Join(err, unlock()) }()
			}
			all, err := l.leftovers(cmd.Context(), stateToo)
			if err != nil {
				return err
			}
			if force {
				if err := free(cmd.Context(), p.world, all); err != nil {
					return err
				}
			}
			if p.json {
				return p.writeJSON(all)
			}
			return printLeftovers(p.out(), all, force)
		},
	}
	cmd.Flags().BoolVarP(&force, "force", "f", false, "delete what is listed")
	cmd.Flags().BoolVar(&stateToo, "store-too", false, "also delete the store with every result, log and report")
	p.override(cmd, "store", "store", "`FOLDER` of the store")
	return cmd
}

// cleaner finds what may be deleted.
type cleaner struct {
	*world
	config *config.Config
}

// lock keeps every other benchmint from the cache and the store until unlock.
func (l cleaner) lock(ctx context.Context) (unlock func() error, err error) {
	cache, err := l.ownCache(ctx)
	if err != nil {
		return nil, err
	}
	if !store.Exists(l.config.Store) {
		return cache, nil
	}
	s, err := l.openStore(ctx, l.config)
	if err != nil {
		return nil, errors.Join(err, cache())
	}
	if err := s.Lock(); err != nil {
		return nil, errors.Join(lockedOr(err), s.Close(), cache())
	}
	return func() error { return errors.Join(s.Close(), cache()) }, nil
}

// cached is what this program makes in its cache, by folder: the names of what lies in
// each. All of it is made again on need.
var cached = map[string]*lazyregexp.Regexp{
	"clients":    lazyregexp.New(`^(datasets|swebench|harbor)-[0-9a-f]{12}(\.lock)?$`),
	"github":     lazyregexp.New(`^.+-[0-9a-f]{12}\.json$`),
	"mirrors":    lazyregexp.New(`^.+-[0-9a-f]{12}\.git(\.lock)?$`),
	"sandbox":    lazyregexp.New(`^(bwrap|docker)$`),
	"toolchains": lazyregexp.New(`^\.(lock|copy)-.+$|^.+-[0-9a-f]{12}(\.json)?$`),
}

// leftovers lists what this program has in the cache, the images of an engine, and the
// store where it is asked for; and what of others lies beside.
func (l cleaner) leftovers(ctx context.Context, stateToo bool) ([]leftover, error) {
	all := []leftover{}
	entries, err := os.ReadDir(l.cache)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		path := filepath.Join(l.cache, e.Name())
		names, ok := cached[e.Name()]
		switch {
		case e.Name() == cacheLock:
		case !ok || !e.IsDir(): // a link may lead anywhere
			all = append(all, leftover{What: e.Name(), Path: path, Bytes: diskUsage(path), Left: notOurs})
		default:
			some, err := madeIn(path, names)
			if err != nil {
				return nil, err
			}
			all = append(all, some...)
		}
	}
	images, err := l.images(ctx)
	if err != nil {
		return nil, err
	}
	all = append(all, images...)
	if stateToo && store.Exists(l.config.Store) {
		own, others, err := store.Files(l.config.Store)
		if err != nil {
			return nil, err
		}
		kept := leftover{What: whatStore, Path: l.config.Store}
		for _, path := range own {
			kept.Bytes += diskUsage(path)
		}
		all = append(all, kept)
		for _, path := range others {
			all = append(all, leftover{What: whatStore, Path: path, Bytes: diskUsage(path), Left: notOurs})
		}
	}
	return all, nil
}

// madeIn is one folder of the cache: what has a name of ours as one leftover, the rest
// each by itself.
func madeIn(dir string, names *lazyregexp.Regexp) (all []leftover, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	what := filepath.Base(dir)
	own, n := leftover{What: what, Path: dir}, 0
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if names.MatchString(e.Name()) && e.Type()&fs.ModeSymlink == 0 {
			own.Bytes += diskUsage(path)
			n++
			continue
		}
		all = append(all, leftover{What: what, Path: path, Bytes: diskUsage(path), Left: notOurs})
	}
	if n == 0 && len(all) > 0 {
		return all, nil
	}
	return append([]leftover{own}, all...), nil
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

// free deletes what is listed, but for what is left.
func free(ctx context.Context, w *world, all []leftover) error {
	for i := range all {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if all[i].Left != "" {
			continue
		}
		if err := all[i].remove(ctx, w); err != nil {
			return err
		}
		all[i].Freed = true
	}
	return nil
}

func (l leftover) remove(ctx context.Context, w *world) error {
	switch l.What {
	case whatImage:
		return w.removeImage(ctx, l.Path)
	case whatVolume:
		return w.removeVolume(ctx, l.Path)
	case whatStore:
		return store.Remove(l.Path)
	}
	entries, err := os.ReadDir(l.Path)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !cached[l.What].MatchString(e.Name()) || e.Type()&fs.ModeSymlink != 0 {
			continue
		}
		if err := removeAll(filepath.Join(l.Path, e.Name())); err != nil {
			return err
		}
	}
	err = os.Remove(l.Path)
	if errors.Is(err, unix.ENOTEMPTY) {
		err = nil // what is not ours is left
	}
	return err
}

func printLeftovers(t *printer, all []leftover, force bool) error {
	var sum int64
	n := 0
	for _, l := range all {
		if l.Left != "" {
			continue
		}
		t.line("%10s  %-14s %s", bytesOf(l.Bytes), l.What, l.Path)
		sum += l.Bytes
		n++
	}
	switch {
	case n == 0:
		t.line("nothing to free")
	case force:
		t.line("%10s  freed", bytesOf(sum))
	default:
		t.line("%10s  would be freed by benchmint clean --force", bytesOf(sum))
	}
	for _, l := range all {
		if l.Left != "" {
			t.line("%10s  left           %s: %s", bytesOf(l.Bytes), l.Path, l.Left)
		}
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
