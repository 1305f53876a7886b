// Package docker is the sandbox of a Docker (or Podman) engine: layers are images,
// a run is a container from one of them.
//
// It needs no registry: the base image is made from Debian packages. It never
// mounts a directory of the host into a run, never attaches a container to a
// network of the engine, and never leaves a container behind.
//
// A run's container has no network of the engine at all: its own first process, as
// root and with four capabilities, makes a veth pair whose both ends stay inside
// (a configured interface that leads nowhere; an internal network of the engine
// would reach the host's bridge address, its name server and other containers),
// then gives up every capability and becomes the user. The image's own programs do
// that; a layer's steps ran as the user and could not change them. A service beside a
// run is a container of its own that joins this network.
package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/proxy"
	"github.com/benchmint/benchmint/internal/sandbox/seccomp"
	"github.com/benchmint/benchmint/internal/sandbox/watch"
	"github.com/benchmint/benchmint/schemas"
)

// Options configure the sandbox.
type Options struct {
	Dir        string            // records of layers, locks, the base system's archive
	Host       string            // of the engine; "" as the docker command finds it
	Image      string            // to start from instead of a Debian made here; it must be based on Debian
	Mirror     string            // of Debian packages; "" is Debian's own
	CABundle   string            // of the machine; trusted in builds only
	Registries []string          // hosts that builds may reach, with a port or at 80 and 443
	Env        map[string]string // for builds: where packages come from (sandbox.RegistryEnv)
	Upstream   proxy.Upstream    // the machine's own way out; nil is direct
}

// Sandbox runs commands in containers.
type Sandbox struct {
	api     *client.Client
	options Options
	dir     string
	token   string // this process in the names of containers
	owner   func() // lets go of the token
	ca      []byte
	local   bool   // the engine's files and processes are in our sight
	data    string // where an engine of this machine keeps its files; "" is out of our sight
	calls   string // the option that names the profile of system calls
	leases  *sandbox.Leases
	bare    atomic.Bool // the engine cannot put a layer over a cache
}

var _ sandbox.Sandbox = (*Sandbox)(nil)

// New proves that an engine answers and can keep the limits; else it is a
// *sandbox.Refused.
func New(ctx context.Context, o Options) (*Sandbox, error) {
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &Sandbox{options: o, dir: below(dir)}
	s.leases = sandbox.NewLeases(filepath.Join(s.dir, "leases"))
	if o.CABundle != "" {
		if s.ca, err = os.ReadFile(o.CABundle); err != nil {
			return nil, fmt.Errorf("reading the CA bundle: %w", err)
		}
	}
	if s.api, err = Connect(ctx, o.Host); err != nil {
		return nil, err
	}
	if err := s.check(ctx); err != nil {
		return nil, err
	}
	if err := s.refuseCalls(ctx); err != nil {
		return nil, err
	}
	if err := s.claim(ctx); err != nil {
		return nil, err
	}
	s.sweep(ctx)
	s.leases.Sweep(ctx, s.locks(), func(id string) error { return s.free(ctx, id) })
	return s, nil
}

// below is where we keep our files in Options.Dir.
func below(dir string) string { return filepath.Join(dir, "docker") }

// Connect finds the engine that answers at host, or where the docker command looks.
func Connect(ctx context.Context, host string) (*client.Client, error) {
	options := []client.Opt{client.FromEnv}
	if host != "" {
		options = append(options, client.WithHost(host))
	}
	api, err := client.New(options...)
	if err != nil {
		return nil, err
	}
	const patience = 10 * time.Second
	asked, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := api.Ping(asked, client.PingOptions{NegotiateAPIVersion: true}); err != nil {
		return nil, &sandbox.Refused{Rule: "isolation", Why: "no Docker engine answers: " + err.Error(),
			Get: "apt-get install docker.io && systemctl start docker"}
	}
	return api, nil
}

// answers makes a *sandbox.GoneError of an error when the engine does not answer any more.
func (s *Sandbox) answers(ctx context.Context, err *error) {
	if *err == nil || ctx.Err() != nil {
		return
	}
	const patience = 5 * time.Second
	asked, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, gone := s.api.Ping(asked, client.PingOptions{}); client.IsErrConnectionFailed(gone) {
		*err = &sandbox.GoneError{Err: gone}
	}
}

func (s *Sandbox) check(ctx context.Context) error {
	info, err := s.api.Info(ctx, client.InfoOptions{})
	if err != nil {
		return fmt.Errorf("asking the engine: %w", err)
	}
	i := info.Info
	for _, need := range []struct {
		rule string
		kept bool
	}{{"memory", i.MemoryLimit}, {"processes", i.PidsLimit}, {"CPU", i.CPUCfsQuota}} {
		if !need.kept {
			return &sandbox.Refused{Rule: need.rule, Why: "this engine cannot limit it", Get: "run the engine as root, or with cgroup v2 delegation"}
		}
	}
	if i.OSType != "linux" {
		return &sandbox.Refused{Rule: "isolation", Why: "the engine runs " + i.OSType + " containers"}
	}
	if _, err := os.Stat(i.DockerRootDir); err == nil && strings.HasPrefix(s.api.DaemonHost(), "unix://") {
		s.data = i.DockerRootDir
	}
	// An engine of another machine may answer with the same path; that of a
	// container's cgroup is looked up by its process, which decides again.
	_, err = os.ReadDir(filepath.Join(i.DockerRootDir, "overlay2"))
	s.local = err == nil && i.Driver == "overlay2"
	return nil
}

// refuseCalls makes the option for the profile of system calls: its text, or for Podman,
// which reads it from a file, the file's name.
func (s *Sandbox) refuseCalls(ctx context.Context) error {
	profile, err := seccomp.Profile()
	if err != nil {
		return err
	}
	version, err := s.api.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return fmt.Errorf("asking the engine: %w", err)
	}
	s.calls = "seccomp=" + profile
	if !slices.ContainsFunc(version.Components, func(c system.ComponentVersion) bool { return c.Name == "Podman Engine" }) {
		return nil
	}
	file := filepath.Join(s.dir, "seccomp-"+schemas.DigestBytes([]byte(profile)).Short()+".json")
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	s.calls = "seccomp=" + file
	return os.WriteFile(file, []byte(profile), 0o600)
}

// Describe says by what means the limits are kept, for doctor.
func (s *Sandbox) Describe() sandbox.Means {
	disk := "the engine's own count of a container's size"
	if s.local {
		disk = "watchdog over the engine's files"
	}
	return sandbox.Means{Text: "memory, pids, cpu: the engine's cgroups, layers: images, disk: " + disk}
}

// space watches the disk that containers write to. That of an engine on another
// machine is out of sight, and then nothing is watched.
func (s *Sandbox) space() (*watch.Space, error) {
	if s.data == "" {
		return nil, nil
	}
	return watch.NewSpace(s.data)
}

const namePrefix = "benchmint-"

// claim takes a token whose lock shows other processes that our containers are in use.
func (s *Sandbox) claim(ctx context.Context) (err error) {
	s.token = randomName()
	s.owner, err = sandbox.Lock(ctx, s.owners(), s.token)
	return err
}

func (s *Sandbox) owners() string { return filepath.Join(s.dir, "owners") }

// Close lets go of the engine.
func (s *Sandbox) Close() error {
	s.owner()
	return errors.Join(os.Remove(filepath.Join(s.owners(), s.token)), s.api.Close())
}

// sweep removes the containers of processes of ours that were killed. Those of
// another Dir are another's business.
func (s *Sandbox) sweep(ctx context.Context) {
	list, err := s.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: client.Filters{}.Add("name", "^/"+namePrefix)})
	if err != nil {
		return // the first build or run will say what is wrong
	}
	tokens, _ := os.ReadDir(s.owners())
	for _, token := range tokens {
		if token.Name() == s.token {
			continue
		}
		at, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		unlock, err := sandbox.Lock(at, s.owners(), token.Name())
		cancel()
		if err != nil {
			continue // in use
		}
		for _, c := range list.Items {
			if len(c.Names) > 0 && strings.HasPrefix(c.Names[0], "/"+namePrefix+token.Name()) {
				s.removeContainer(c.ID)
			}
		}
		s.sweepVolumes(ctx, token.Name())
		left, _ := filepath.Glob(filepath.Join(s.dir, proxyPrefix+token.Name()+"-*"))
		for _, dir := range left {
			_ = os.RemoveAll(dir)
		}
		_ = os.Remove(filepath.Join(s.owners(), token.Name()))
		unlock()
	}
}

// removeContainer removes whatever state the container is in; it also runs when
// the caller's context is over.
func (s *Sandbox) removeContainer(id string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait *= 2 {
		_, err := s.api.ContainerRemove(ctx, id, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err == nil || errdefs.IsNotFound(err) || client.IsErrConnectionFailed(err) || ctx.Err() != nil {
			return // of an engine that is gone the next start sweeps what is left
		}
		select {
		case <-time.After(wait): // a removal is under way, or a file system is busy
		case <-ctx.Done():
		}
	}
}

// Remove forgets a layer. An image that others are made from stays on the engine's
// disk, without its name, until they go.
func (s *Sandbox) Remove(ctx context.Context, l sandbox.Layer) (err error) {
	defer s.answers(ctx, &err)
	id := layerID(l.Key)
	unlock, err := sandbox.Lock(ctx, s.locks(), id)
	if err != nil {
		return err
	}
	defer unlock()
	return s.leases.Give(id, func() error { return s.free(ctx, id) })
}

// free deletes a layer. The record goes first: without it the layer is not found.
func (s *Sandbox) free(ctx context.Context, id string) error {
	if err := os.Remove(s.record(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	_, err := s.api.ImageRemove(ctx, s.layerName(id), client.ImageRemoveOptions{PruneChildren: true})
	if err != nil && !errdefs.IsNotFound(err) {
		return fmt.Errorf("removing layer %s: %w", id, err)
	}
	return nil
}
