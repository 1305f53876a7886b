package toolchain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/schemas"
)

// Installed lists what this machine itself has of the named toolchains, oldest first,
// and asks no registry. Without a name it lists nothing.
func (s *Store) Installed(ctx context.Context, names ...string) ([]lang.ToolchainRelease, error) {
	var out []lang.ToolchainRelease
	for _, name := range names {
		k, err := kindOf(name, "")
		if err != nil || k.installed == nil {
			continue
		}
		versions, err := k.installed(s, ctx)
		if err != nil {
			return nil, err
		}
		for _, v := range versions {
			out = append(out, k.release(v))
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return less(out[i].Version, out[j].Version) })
	return out, ctx.Err() // half a list would read as "not there"
}

// filesOf are the files of this machine that may be a toolchain's program.
func (s *Store) filesOf(name string) (kind, []string) {
	k, err := kindOf(name, "")
	if err != nil || k.files == nil {
		return k, nil
	}
	return k, k.files(s.host)
}

// Has says where a toolchain of this name is on this machine; it stops at the first
// that answers, so that asking before every run costs little.
func (s *Store) Has(ctx context.Context, name string) (where string, ok bool) {
	k, files := s.filesOf(name)
	for _, file := range files {
		if k.starts == nil || k.starts(s, ctx, file) {
			return file, true
		}
	}
	return "", false
}

// Sight distinguishes two states of this machine in which it may have other versions of
// a toolchain, by files alone: no process is started. Equal sights, equal Installed.
func (s *Store) Sight(name string) schemas.Digest {
	_, files := s.filesOf(name)
	var seen []string
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			seen = append(seen, fmt.Sprintf("%s %d %d", f, info.Size(), info.ModTime().UnixNano()))
		}
	}
	return schemas.DigestOf(seen)
}

// Elsewhere is a folder that holds a toolchain's program and is not in PATH, or "".
func (s *Store) Elsewhere(name string) string {
	k, err := kindOf(name, "")
	if err != nil || k.elsewhere == nil {
		return ""
	}
	for _, pattern := range k.elsewhere(s.host) {
		dirs, _ := filepath.Glob(pattern) // the only error is a malformed pattern: no such folder then
		for _, dir := range dirs {
			if exe := filepath.Join(dir, k.program); executable(exe) && isELF(exe) && !strings.ContainsRune(dir, os.PathListSeparator) {
				return dir
			}
		}
	}
	return ""
}

// Newest is the newest version that can be had, the registry's included: it is asked,
// and an error means that it did not answer. "" where there is none, or no registry.
func (s *Store) Newest(ctx context.Context, name string) (string, error) {
	k, err := kindOf(name, "")
	if err != nil || !k.asks {
		return "", nil
	}
	all, err := s.versions(ctx, k)
	var missing *Missing
	if errors.As(err, &missing) { // there is nobody to ask
		return "", nil
	}
	if err != nil || len(all) == 0 {
		return "", err
	}
	return all[len(all)-1], nil
}

// Listed is Newest without asking: what this process was told already, or "".
func (s *Store) Listed(name string) string {
	s.listing.Lock()
	defer s.listing.Unlock()
	all := s.listed[name]
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}
