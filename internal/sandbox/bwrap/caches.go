package bwrap

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// cachesDir is what a space has beside its own tree: for each cache what steps write
// to it, which goes with the space.
const cachesDir = "caches"

// writableCaches gives a fill the caches themselves: directory of the host → path inside.
func (s *Sandbox) writableCaches(o *order, _ *space, caches map[string]string) (map[string]string, error) {
	made := map[string]string{}
	for name, inside := range caches {
		dir, err := s.cacheDir(name, inside)
		if err != nil {
			return nil, err
		}
		made[dir] = inside
		o.Dirs = append(slices.Clone(o.Dirs), inside)
	}
	return made, nil
}

// throwAwayCaches gives steps what the caches hold, under a layer that goes with the
// space; where no overlay can be mounted, nothing of what they hold.
//
// NOTE: a fill may add to a cache while it lies under a step. What is added there
// comes by a rename of something whole, so the step sees it or does not.
func (s *Sandbox) throwAwayCaches(o *order, sp *space, caches map[string]string) (map[string]string, error) {
	made := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(caches)) {
		inside := caches[name]
		dir, err := s.cacheDir(name, inside)
		if err != nil {
			return nil, err
		}
		scratch := filepath.Join(sp.dir, cachesDir, strconv.Itoa(i))
		if err := makeLayered(scratch); err != nil {
			return nil, err
		}
		if err := s.give(filepath.Join(scratch, "up")); err != nil {
			return nil, err
		}
		o.Dirs = append(slices.Clone(o.Dirs), inside)
		if !s.overlay {
			made[filepath.Join(scratch, "up")] = inside
			continue
		}
		lower, err := inStore(s.store.dir, dir)
		if err != nil {
			return nil, err
		}
		rel, err := inStore(s.store.dir, scratch)
		if err != nil {
			return nil, err
		}
		o.Caches = append(o.Caches, layered{[]string{lower}, rel})
		made[filepath.Join(scratch, "merged")] = inside
	}
	return made, nil
}

// cached is where what is written to the caches of a job lies; "" without caches.
func (sp *space) cached(caches map[string]string) string {
	if len(caches) == 0 {
		return ""
	}
	return filepath.Join(sp.dir, cachesDir)
}

// cacheDir makes a cache. Its name becomes an option of a mount, where separators mean
// something.
func (s *Sandbox) cacheDir(name, inside string) (string, error) {
	if name == "" || name != filepath.Base(name) || name[0] == '.' || strings.ContainsAny(name, ":,\\") {
		return "", fmt.Errorf("cache name %q", name)
	}
	if err := sandbox.CheckPath(inside, sandbox.Kept()); err != nil {
		return "", fmt.Errorf("cache %s: %w", name, err)
	}
	dir := filepath.Join(s.store.filled(), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("making the cache %s: %w", name, err)
	}
	return dir, s.give(dir)
}

// give makes a directory the user's.
func (s *Sandbox) give(dir string) error {
	if !s.root {
		return nil
	}
	return os.Chown(dir, sandbox.UID, sandbox.GID)
}
