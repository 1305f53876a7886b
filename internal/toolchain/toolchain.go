// Package toolchain finds interpreters, compilers and uv that can be had here
// and now, and copies the chosen one into a cache as a tree that runs from any
// place, with a digest of its content.
//
// uv is brought: one exact wheel, by its digest, from the host's package index.
//
// It never builds or installs any other toolchain, never takes along what was
// installed into one (site-packages), and never chooses: inference does, from Available.
package toolchain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/benchmint/benchmint/internal/lang"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

// Host is where toolchains are looked for. cmd fills it from its environment.
type Host struct {
	Cache string   // toolchains are kept under Cache/toolchains
	Env   []string // of child processes, and where PATH, HOME and the like are read from
	// CABundle is trusted beside the system's own certificates; "" is none.
	CABundle string
	// Tell is told what is fetched before it is; nil: nobody listens.
	Tell func(line string)
	// Kept opens the wheel of a program by its digest where it is kept beside a dataset:
	// fs.ErrNotExist. nil: nothing is kept.
	Kept func(schemas.Digest) (io.ReadCloser, error)
	// Pause is how long to wait before an index that did not answer is asked again.
	Pause time.Duration
}

// Store finds and keeps toolchains. It is safe for concurrent use; two processes
// over one cache are safe too, because a copy appears whole, by rename.
type Store struct {
	host Host

	mu      sync.Mutex
	pythons []install // found once
	found   bool

	listing sync.Mutex
	listed  map[string][]string // by name, once its registry answered

	wheels map[string]wheel
	copies sync.Map // name-version → *kept
}

// kept is one copy, checked once in a process: proofs ask for theirs at every step.
type kept struct {
	sync.Mutex
	toolchain sandbox.Toolchain
}

// New makes a store over one cache folder.
func New(host Host) *Store {
	return &Store{host: host, listed: map[string][]string{}, wheels: uvWheels}
}

func (s *Store) tell(line string) {
	if s.host.Tell != nil {
		s.host.Tell(line)
	}
}

// Missing is a toolchain that cannot be had, here, and how it could be. Without a
// Version it is one of which no version at all is there.
type Missing struct {
	Name, Version string
	How           string
}

func (m *Missing) Error() string {
	if m.Version == "" {
		return fmt.Sprintf("%s cannot be had here: %s", m.Name, m.How)
	}
	return fmt.Sprintf("%s %s cannot be had here: %s", m.Name, m.Version, m.How)
}

// Unreachable is "not now": the registry did not answer. Trying later may help.
type Unreachable struct{ Err error }

func (u *Unreachable) Error() string { return "toolchain registry: " + u.Err.Error() }
func (u *Unreachable) Unwrap() error { return u.Err }

// Refused is a registry, or this host's own settings, that will not give what was
// asked for. Whether it is there is not known: that it is absent would be a verdict.
type Refused struct {
	Err error
	How string
}

func (r *Refused) Error() string { return "toolchain registry: " + r.Err.Error() + "; " + r.How }
func (r *Refused) Unwrap() error { return r.Err }

// Available lists what can be had of the named toolchains, oldest first by name and
// version. What nobody names is not asked for: a Go proxy that is down says nothing of
// Python. Released is the day on which the minor came
// out, because a version rule asks whether a minor existed at a date and the patch of
// it that can be had is mostly newer (design 7). uv has no date: it is
// a tool of ours, and listed before it is fetched.
//
// An error says what could not be asked, or of what nothing at all is there
// (*Missing, *Unreachable, *Refused); the list is what is known without it.
func (s *Store) Available(ctx context.Context, names ...string) ([]lang.ToolchainRelease, error) {
	var out []lang.ToolchainRelease
	var faults []error
	for _, name := range names {
		k, err := kindOf(name, "")
		if err != nil {
			faults = append(faults, err)
			continue
		}
		versions, err := s.versions(ctx, k)
		if err != nil {
			faults = append(faults, err)
		}
		for _, v := range versions {
			out = append(out, k.release(v))
		}
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
	return out, errors.Join(faults...)
}

// Get gives a copy of one toolchain, made now or before. The error is a *Missing,
// an *Unreachable, a *Refused, or a fault of this machine. None of them says anything
// of whoever asks.
func (s *Store) Get(ctx context.Context, name, version string) (sandbox.Toolchain, error) {
	entry, _ := s.copies.LoadOrStore(name+"-"+version, &kept{})
	k := entry.(*kept)
	k.Lock()
	defer k.Unlock()
	if k.toolchain.Dir != "" {
		return k.toolchain, nil
	}
	var src source
	kind, err := kindOf(name, version)
	if err == nil {
		src, err = kind.source(s, ctx, version)
	}
	if ctx.Err() != nil {
		// Whatever was asked had no time to answer: nothing is missing for that.
		return sandbox.Toolchain{}, ctx.Err()
	}
	if err != nil {
		return sandbox.Toolchain{}, err
	}
	dir, digest, err := s.keep(ctx, name, version, src)
	if errors.Is(err, syscall.ENOSPC) {
		err = &sandbox.ShortageError{Of: "disk", Where: s.host.Cache, Why: err.Error(), Get: "make room there (benchmint clean), or set XDG_CACHE_HOME to a folder on a larger disk, and run again"}
	}
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
