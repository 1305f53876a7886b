// Package toolchain finds interpreters, compilers and uv that can be had here
// and now, and copies the chosen one into a cache as a tree that runs from any
// place, with a digest of its content.
//
// It never builds or installs a toolchain, never takes along what was installed
// into one (site-packages), and never chooses: inference does, from Available.
package toolchain

import (
	"context"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// The names of toolchains.
const (
	Python = "python"
	Go     = "go"
	UV     = "uv"
)

// Host is where toolchains are looked for. cmd fills it from its environment.
type Host struct {
	Cache string   // toolchains are kept under Cache/toolchains
	Env   []string // of child processes, and where PATH, HOME and the like are read from
}

// Store finds and keeps toolchains. It is safe for concurrent use; two processes
// over one cache are safe too, because a copy appears whole, by rename.
type Store struct {
	host Host

	mu      sync.Mutex
	pythons []install // found once
	found   bool
	golangs []string // listed once, when the registry answered
	listed  bool
	uv      *uvFile  // looked for once
	copies  sync.Map // name-version → *sync.Mutex
}

// kept is one copy, checked once in a process: proofs ask for theirs at every step.
type kept struct {
	sync.Mutex
	toolchain sandbox.Toolchain
}

// New makes a store over one cache folder.
func New(host Host) *Store { return &Store{host: host} }

// Missing is a toolchain that cannot be had, here, and how it could be.
type Missing struct {
	Name, Version string
	How           string
}

func (m *Missing) Error() string {
	return fmt.Sprintf("%s %s cannot be had here: %s", m.Name, m.Version, m.How)
}

// Unreachable is "not now": the registry did not answer. Trying later may help.
type Unreachable struct{ Err error }

func (u *Unreachable) Error() string { return "toolchain registry: " + u.Err.Error() }
func (u *Unreachable) Unwrap() error { return u.Err }

// Available lists what can be had, oldest first by name and version. Released is
// the day on which the minor came out, because a version rule asks whether a
// minor existed at a date and the patch of it that can be had is mostly newer
// (facts: environments, G2). uv has no date: it is a tool of ours.
// An error says what could not be asked; the list is what is known without it.
func (s *Store) Available(ctx context.Context) ([]lang.ToolchainRelease, error) {
	var out []lang.ToolchainRelease
	for _, p := range s.interpreters(ctx) {
		out = append(out, lang.ToolchainRelease{Name: Python, Version: p.Version, Released: released(Python, p.Version)})
	}
	versions, err := s.golang(ctx)
	for _, v := range versions {
		out = append(out, lang.ToolchainRelease{Name: Go, Version: v, Released: released(Go, v)})
	}
	if u, ok := s.tool(ctx); ok {
		out = append(out, lang.ToolchainRelease{Name: UV, Version: u.version})
	}
	if ctx.Err() != nil {
		// Half a list would read as "no such toolchain", which is a verdict.
		return nil, ctx.Err()
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Name != out[j].Name {
			return out[i].Name < out[j].Name
		}
		return less(out[i].Version, out[j].Version)
	})
	return out, err
}

// golang is goVersions, asked once: every change of a run wants the same answer.
// A registry that did not answer is asked again.
func (s *Store) golang(ctx context.Context) ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listed {
		return s.golangs, nil
	}
	versions, err := s.goVersions(ctx)
	if err == nil && ctx.Err() == nil {
		s.golangs, s.listed = versions, true
	}
	return versions, err
}

// tool is findUV, asked once.
func (s *Store) tool(ctx context.Context) (uvFile, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.uv != nil {
		return *s.uv, true
	}
	u, ok := s.findUV(ctx)
	if ok {
		s.uv = &u
	}
	return u, ok
}

// Get gives a copy of one toolchain, made now or before. The error is a *Missing,
// an *Unreachable, or a fault of this machine.
func (s *Store) Get(ctx context.Context, name, version string) (sandbox.Toolchain, error) {
	entry, _ := s.copies.LoadOrStore(name+"-"+version, &kept{})
	k := entry.(*kept)
	k.Lock()
	defer k.Unlock()
	if k.toolchain.Dir != "" {
		return k.toolchain, nil
	}
	var src source
	var err error
	switch name {
	case Python:
		src, err = s.pythonSource(ctx, version)
	case Go:
		src, err = s.goSource(ctx, version)
	case UV:
		src, err = s.uvSource(ctx, version)
	default:
		err = &Missing{Name: name, Version: version, How: "only python, go and uv are known"}
	}
	if ctx.Err() != nil {
		// Whatever was asked had no time to answer: nothing is missing for that.
		return sandbox.Toolchain{}, ctx.Err()
	}
	if err != nil {
		return sandbox.Toolchain{}, err
	}
	dir, digest, err := s.keep(ctx, name, version, src)
	if err != nil {
		return sandbox.Toolchain{}, fmt.Errorf("copying %s %s: %w", name, version, err)
	}
	k.toolchain = sandbox.Toolchain{Toolchain: schemas.Toolchain{Name: name, Version: version, Digest: digest}, Dir: dir}
	return k.toolchain, nil
}

// Path is where a toolchain stands inside every sandbox.
func Path(name, version string) string {
	return sandbox.ToolchainPath + "/" + name + "-" + version
}

// env is one variable of the host.
func (h Host) env(key string) string {
	for i := len(h.Env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(h.Env[i], key+"="); ok {
			return v
		}
	}
	return ""
}

// look is the first executable file of this name in the host's PATH for which ok holds.
func (h Host) look(name string, ok func(path string) bool) (string, bool) {
	for _, dir := range filepath.SplitList(h.env("PATH")) {
		if path := filepath.Join(dir, name); filepath.IsAbs(path) && executable(path) && ok(path) {
			return path, true
		}
	}
	return "", false
}
