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
		switch name {
		case Python:
			all, err := s.interpreters(ctx)
			if err != nil {
				return nil, err
			}
			for _, p := range all {
				out = append(out, lang.ToolchainRelease{Name: Python, Version: p.Version, Released: released(Python, p.Version)})
			}
		case Go:
			v, _, err := s.localGo(ctx)
			if err != nil {
				return nil, err
			}
			if v != "" {
				out = append(out, lang.ToolchainRelease{Name: Go, Version: v, Released: released(Go, v)})
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return less(out[i].Version, out[j].Version) })
	return out, ctx.Err() // half a list would read as "not there"
}

// Has says where a toolchain of this name is on this machine; it stops at the first
// that answers, so that asking before every run costs little.
func (s *Store) Has(ctx context.Context, name string) (where string, ok bool) {
	switch name {
	case Python:
		for _, exe := range s.host.pythonFiles() {
			if _, ok, err := s.describe(ctx, exe); ok || err != nil { // what does not answer now is there
				return exe, true
			}
		}
	case Go:
		return s.host.goCommand()
	}
	return "", false
}

// Sight tells apart two states of this machine in which it may have other versions of
// a toolchain, by files alone: no process is started. Equal sights, equal Installed.
func (s *Store) Sight(name string) schemas.Digest {
	var files, seen []string
	switch name {
	case Python:
		files = s.host.pythonFiles()
	case Go:
		if exe, ok := s.host.goCommand(); ok {
			files = []string{exe}
		}
	}
	for _, f := range files {
		if info, err := os.Stat(f); err == nil {
			seen = append(seen, fmt.Sprintf("%s %d %d", f, info.Size(), info.ModTime().UnixNano()))
		}
	}
	return schemas.DigestOf(seen)
}

// Elsewhere is a folder that holds a toolchain's command and is not in PATH, or "".
func (s *Store) Elsewhere(name string) string {
	if name != Go {
		return "" // Python is looked for in all its places
	}
	for _, pattern := range []string{"/usr/local/go/bin", "/usr/lib/go-*/bin", filepath.Join(s.host.env("HOME"), "sdk", "go*", "bin")} {
		dirs, _ := filepath.Glob(pattern) // the only error is a malformed pattern: no such folder then
		for _, dir := range dirs {
			if exe := filepath.Join(dir, "go"); executable(exe) && isELF(exe) && !strings.ContainsRune(dir, os.PathListSeparator) {
				return dir
			}
		}
	}
	return ""
}

// Newest is the newest version that can be had, the registry's included: it is asked,
// and an error means that it did not answer. "" where there is none, or no registry.
func (s *Store) Newest(ctx context.Context, name string) (string, error) {
	if name != Go {
		return "", nil
	}
	all, err := s.golang(ctx)
	var missing *Missing
	if errors.As(err, &missing) { // no go command: there is nobody to ask
		return "", nil
	}
	if err != nil || len(all) == 0 {
		return "", err
	}
	return all[len(all)-1], nil
}

// Listed is Newest without asking: what this process was told already, or "".
func (s *Store) Listed(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name != Go || !s.listed || len(s.golangs) == 0 {
		return ""
	}
	return s.golangs[len(s.golangs)-1]
}
