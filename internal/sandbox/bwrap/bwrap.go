// Package bwrap is the sandbox of bubblewrap: strangers' code runs on the host's
// own read-only system, in namespaces, on a copy of layers of directories.
//
// It never shows the host's home, /etc, /usr/local, environment or network, and
// never runs a command with a capability. Where the machine cannot keep a rule, New
// refuses.
//
// As root, commands run as the real user sandbox.UID; as an ordinary user, or as root
// without CAP_SYS_ADMIN, inside a user namespace where that number stands for the user. What a run writes goes to
// one overlay over the stack of its layers (or a copy, where none can be mounted).
// Memory, processes and CPU are held by control groups where we can make them, else
// by a watchdog and by rlimits; disk always by a watchdog over all that was written
// (pace: 50 ms) and a bound on each file. A run and a service beside it are two such
// sandboxes in one network, which a starter makes for them.
package bwrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/command"
	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/proxy"
	"github.com/benchmint/benchmint/schemas"
)

// Options configure the sandbox.
type Options struct {
	Dir        string            // layers, download caches and scratch space
	CABundle   string            // of the machine; trusted in builds only. "" is the distribution's
	Registries []string          // hosts that builds may reach, with a port or at 80 and 443
	Env        map[string]string // for builds: where packages come from (sandbox.RegistryEnv)
	Upstream   proxy.Upstream    // the machine's own way out; nil is direct
}

// Sandbox runs commands under bubblewrap.
type Sandbox struct {
	store   store
	options Options
	program string // bwrap
	etc     string
	empty   string
	ca      []byte
	root    bool // root with its rights: commands run as another user
	overlay bool
	groups  controllers
	leases  *sandbox.Leases
}

var _ sandbox.Sandbox = (*Sandbox)(nil)

// New proves that this machine can keep the rules; else it is a *sandbox.Refused.
func New(ctx context.Context, o Options) (*Sandbox, error) {
	program, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, &sandbox.Refused{Rule: "isolation", Why: "bubblewrap is not installed", Get: "apt-get install bubblewrap"}
	}
	for _, tool := range []string{setpriv, prlimit, env} {
		if _, err := os.Stat(tool); err != nil {
			return nil, &sandbox.Refused{Rule: "isolation", Why: tool + " is missing", Get: "apt-get install util-linux coreutils"}
		}
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &Sandbox{store: store{dir: filepath.Join(dir, "bwrap")}, options: o, program: program, root: os.Geteuid() == 0 && administers()}
	if o.CABundle != "" {
		if s.ca, err = os.ReadFile(o.CABundle); err != nil {
			return nil, fmt.Errorf("reading the CA bundle: %w", err)
		}
	}
	s.leases = sandbox.NewLeases(s.store.leases())
	s.empty = filepath.Join(s.store.dir, "empty")
	for _, d := range []string{s.store.dir, s.store.runs(), s.store.filled(), s.empty} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, fmt.Errorf("making the sandbox's directory: %w", err)
		}
	}
	if err := os.Chmod(s.empty, 0o755); err != nil {
		return nil, err
	}
	if s.etc, err = makeEtc(s.store.dir, "/etc"); err != nil {
		return nil, err
	}
	s.groups = findControllers("/proc/self/cgroup")
	s.groups.sweep()
	s.sweep()
	s.leases.Sweep(ctx, s.store.locks(), func(id string) error { return s.store.free(ctx, id) })
	if err := s.probe(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Describe says by what means the limits are kept on this machine, for doctor.
func (s *Sandbox) Describe() sandbox.Means {
	means := func(name, other string) string {
		if c, ok := s.groups[name]; ok && c.v2 {
			return name + ": cgroup v2"
		} else if ok {
			return name + ": cgroup v1"
		}
		return name + ": " + other
	}
	layers := "layers: overlay"
	if !s.overlay {
		layers = "layers: copies"
	}
	_, kept := s.groups["memory"]
	return sandbox.Means{MemoryWatched: !kept, Text: strings.Join([]string{
		means("memory", "watchdog"), means("pids", "rlimit and watchdog"), means("cpu", "affinity"), "disk: watchdog", layers,
	}, ", ")}
}

// probe runs a first command, and finds out whether overlays can be mounted.
func (s *Sandbox) probe(ctx context.Context) error {
	space, err := s.newSpace()
	if err != nil {
		return err
	}
	defer space.close()
	lower := filepath.Join(space.dir, "lower")
	if err := os.MkdirAll(filepath.Join(lower, "dir", "old"), 0o755); err != nil {
		return err
	}
	rel, err := inStore(s.store.dir, lower)
	if err != nil {
		return err
	}
	o := s.order(space)
	o.Lower, o.Probe = []string{rel}, true
	s.overlay = s.prepare(ctx, o) == nil

	base, err := s.Base(ctx, sandbox.Base{})
	if err != nil {
		return s.refused(ctx, err)
	}
	res, err := s.Run(ctx, sandbox.Run{Layer: base, Command: schemas.Command{Argv: []string{"/bin/true"}}, Limits: sandbox.Limits{Timeout: 20 * time.Second}})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, new(*sandbox.ShortageError)):
		return err
	case err != nil:
		return s.refused(ctx, &sandbox.Refused{Rule: "isolation", Why: err.Error(), Get: userNamespaceHint})
	case res.End != sandbox.Exited || res.ExitCode != 0:
		return s.refused(ctx, &sandbox.Refused{Rule: "isolation", Why: fmt.Sprintf("a first command ended %s, exit %d: %s",
			res.End, res.ExitCode, bytes.TrimSpace(res.Output)), Get: userNamespaceHint})
	}
	return nil
}

// refused names the setting that keeps a sandbox from being made; where it finds none, it is
// the error that is given.
func (s *Sandbox) refused(ctx context.Context, other error) error {
	if why, get, ok := closed(ctx, s.root); ok {
		return &sandbox.Refused{Rule: "isolation", Why: why, Get: get}
	}
	return other
}

// Base is the host's system with toolchains beside it.
func (s *Sandbox) Base(ctx context.Context, b sandbox.Base) (sandbox.Layer, error) {
	missing, err := missingPackages(ctx, b.SystemPackages)
	if err != nil {
		return sandbox.Layer{}, err
	}
	if len(missing) > 0 {
		return sandbox.Layer{}, &sandbox.PackagesError{Missing: missing}
	}
	for i, t := range b.Toolchains {
		dir, err := filepath.Abs(t.Dir)
		if err != nil {
			return sandbox.Layer{}, err
		}
		if _, err := os.Stat(dir); err != nil {
			return sandbox.Layer{}, fmt.Errorf("toolchain %s %s: %w", t.Name, t.Version, err)
		}
		b.Toolchains = slices.Clone(b.Toolchains)
		b.Toolchains[i].Dir = dir
	}
	key := baseKey(b)
	id := layerID(key)
	layer := sandbox.Layer{Key: key, ID: id}
	unlock, err := sandbox.Lock(ctx, s.store.locks(), id)
	if err != nil {
		return layer, err
	}
	defer unlock()
	if r, err := s.store.read(id); err == nil {
		if slices.Equal(r.Toolchains, b.Toolchains) {
			return layer, nil
		}
		r.Toolchains = b.Toolchains // they lie somewhere else by now
		return layer, s.store.rewrite(id, r)
	}
	space, err := s.newSpace()
	if err != nil {
		return layer, err
	}
	defer space.close()
	o := s.order(space)
	o.Dirs = sandbox.Kept()
	if err := s.prepare(ctx, o); err != nil {
		return layer, err
	}
	return layer, s.store.keep(space.merged(), id, record{Key: key, Full: true, Toolchains: b.Toolchains})
}

// baseKey is the key of a base layer. It says which toolchains there are and not where
// on this host they lie: the key ends up in rows, which hold no path.
func baseKey(b sandbox.Base) schemas.Digest {
	var toolchains []schemas.Toolchain
	for _, t := range b.Toolchains {
		toolchains = append(toolchains, t.Toolchain)
	}
	return schemas.DigestOf(struct {
		Toolchains     []schemas.Toolchain
		SystemPackages []string
		Version        int
	}{toolchains, b.SystemPackages, 3})
}

// missingPackages asks the host's package database.
func missingPackages(ctx context.Context, names []string) ([]string, error) {
	var missing []string
	for _, name := range names {
		out, err := exec.CommandContext(ctx, "dpkg-query", "-W", "-f", "${Status}", "--", name).Output()
		if ctx.Err() != nil || command.Unanswered(err) {
			return nil, fmt.Errorf("asking for the package %s: %w", name, err)
		}
		if err != nil || !strings.HasSuffix(string(out), " installed") {
			missing = append(missing, name)
		}
	}
	return missing, nil
}

// Remove forgets a layer.
func (s *Sandbox) Remove(ctx context.Context, l sandbox.Layer) error {
	if !wellFormed(l.ID) {
		return nil
	}
	unlock, err := sandbox.Lock(ctx, s.store.locks(), l.ID)
	if err != nil {
		return err
	}
	defer unlock()
	return s.leases.Give(l.ID, func() error { return s.store.free(ctx, l.ID) })
}

// Files walks every tree of the stack above the base, hidden content included: by
// path, and where two layers have the same path, the upper one first.
func (s *Sandbox) Files(ctx context.Context, l sandbox.Layer, visit func(string, fs.FileInfo, func() (io.ReadCloser, error)) error) error {
	release, err := s.store.use(ctx, l.ID)
	if err != nil {
		return err
	}
	defer release()
	ids, err := s.store.ancestry(l.ID)
	if err != nil {
		return err
	}
	type found struct {
		path, file string
		info       fs.FileInfo
	}
	var all []found
	for _, id := range ids {
		tree := s.store.tree(id)
		err := filepath.WalkDir(tree, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return errors.Join(err, ctx.Err())
			}
			info, err := d.Info()
			if err != nil || isWhiteout(info) {
				return err
			}
			all = append(all, found{strings.TrimPrefix(p, tree), p, info})
			return nil
		})
		if err != nil {
			return fmt.Errorf("walking layer %s: %w", id, err)
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return strings.Compare(a.path, b.path) })
	for _, f := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := visit(f.path, f.info, func() (io.ReadCloser, error) { return openEntry(f.file, f.info) }); err != nil {
			return err
		}
	}
	return nil
}

// openEntry reads a file, or the target of a link: what is written in it.
func openEntry(file string, info fs.FileInfo) (io.ReadCloser, error) {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(file)
		return io.NopCloser(strings.NewReader(target)), err
	case !info.Mode().IsRegular():
		return io.NopCloser(strings.NewReader("")), nil
	}
	fd, err := unix.Open(file, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.EACCES) && os.Chmod(file, 0o600) == nil {
		fd, err = unix.Open(file, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: file, Err: err}
	}
	return os.NewFile(uintptr(fd), file), nil
}
