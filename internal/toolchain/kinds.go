package toolchain

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/benchmint/benchmint/internal/lang"
)

// The names of toolchains.
const (
	Python = "python"
	Go     = "go"
	UV     = "uv"
)

// kind is one toolchain: how it is found on a machine, dated and copied.
type kind struct {
	name string
	// program is the file in bin that starts it, and probe are arguments with which it
	// does little and needs all its shared libraries.
	program string
	probe   []string
	// find lists all versions that can be had. Where asks is set, it asks a registry,
	// and its answer is kept.
	find func(s *Store, ctx context.Context) ([]string, error)
	asks bool
	// source says how to copy one version.
	source func(s *Store, ctx context.Context, version string) (source, error)
	// released dates a version by its minor; nil: dates decide nothing.
	released func(version string) time.Time
	// installed lists the versions of this machine itself; nil: what is there is not looked at.
	installed func(s *Store, ctx context.Context) ([]string, error)
	// files may be the program on this machine; starts reports whether one of them is,
	// nil where each is.
	files  func(Host) []string
	starts func(s *Store, ctx context.Context, file string) bool
	// elsewhere are patterns of folders beside PATH that may hold the program.
	elsewhere func(Host) []string
	// brought is set where the program brings one version by itself.
	brought func(*Store) Brought
}

// Brought is a toolchain that this program fetches by itself, in one version.
type Brought struct {
	Version string
	AtHand  bool   // nothing has to be fetched
	Why     string // what it does, as the end of "it …"
	Get     string // what helps where it cannot be fetched
}

// kinds is the table; everything that asks by name looks here.
var kinds = []kind{
	{
		name: Python, program: "python3", probe: []string{"-c", "import encodings, os, zipimport"},
		find: (*Store).pythonVersions, source: (*Store).pythonSource, released: releasedPython,
		installed: (*Store).installedPythons, files: Host.pythonFiles, starts: (*Store).startsPython,
	},
	{
		name: Go, program: "go", probe: []string{"version"},
		find: (*Store).goVersions, asks: true, source: (*Store).goSource, released: releasedGo,
		installed: (*Store).installedGo, files: Host.goFiles,
		elsewhere: func(h Host) []string {
			return []string{usualGo, "/usr/lib/go-*/bin", filepath.Join(h.env("HOME"), "sdk", "go*", "bin")}
		},
	},
	{
		name: UV, program: "uv", probe: []string{"--version"},
		find: func(*Store, context.Context) ([]string, error) { return []string{UVVersion}, nil },
		source: func(s *Store, _ context.Context, version string) (source, error) {
			return s.wheelSource(s.uv(), version)
		},
		brought: func(s *Store) Brought { return s.brought(s.uv()) },
	},
	ofWheel(ruff), ofWheel(pyrefly),
	{
		name: Staticcheck, program: Staticcheck, probe: []string{"-version"},
		find:   func(*Store, context.Context) ([]string, error) { return []string{StaticcheckVersion}, nil },
		source: (*Store).staticcheckSource, brought: (*Store).broughtStaticcheck,
	},
}

// kindOf is the row of a name; the error is a *Missing.
func kindOf(name, version string) (kind, error) {
	if i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name }); i >= 0 {
		return kinds[i], nil
	}
	var known []string
	for _, k := range kinds {
		known = append(known, k.name)
	}
	return kind{}, &Missing{Name: name, Version: version, How: "only " + strings.Join(known, ", ") + " are known"}
}

// release is one version with its date.
func (k kind) release(version string) lang.ToolchainRelease {
	r := lang.ToolchainRelease{Name: k.name, Version: version}
	if k.released != nil {
		r.Released = k.released(version)
	}
	return r
}

// versions is find, asked once of a registry: every change of a run wants the same
// answer. A registry that did not answer is asked again.
func (s *Store) versions(ctx context.Context, k kind) ([]string, error) {
	if !k.asks {
		return k.find(s, ctx)
	}
	s.listing.Lock()
	defer s.listing.Unlock()
	if all, ok := s.listed[k.name]; ok {
		return all, nil
	}
	all, err := k.find(s, ctx)
	if err == nil && ctx.Err() == nil {
		s.listed[k.name] = all
	}
	return all, err
}

// Brought says which version this program brings of a toolchain; false where it brings
// none, and only this machine's count.
func (s *Store) Brought(name string) (Brought, bool) {
	k, err := kindOf(name, "")
	if err != nil || k.brought == nil {
		return Brought{}, false
	}
	return k.brought(s), true
}

// Probe is a command inside a sandbox that succeeds where a toolchain starts: its
// program and shared libraries are found. nil for a name that is not known.
func Probe(name, version string) []string {
	k, err := kindOf(name, version)
	if err != nil {
		return nil
	}
	return append([]string{Path(name, version) + "/bin/" + k.program}, k.probe...)
}
