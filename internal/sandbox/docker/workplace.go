package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/proxy"
)

// workplace is a container that a layer is made in: its first process only waits,
// steps are executed beside it.
type workplace struct {
	registries bool
	registry   http.Handler // in their place, where it is not nil
	packages   bool         // steps of ours, as root, install system packages
	caches     map[string]string
	fills      bool // its steps are a fill: what they write to caches stays
	limits     sandbox.Limits
	names      []string // sandbox.Build.Names

	s      *Sandbox
	id     string
	image  string
	proxy  *proxy.Proxy
	cached []string // where what is written to caches lies, on the engine's disk
	closed []func()
}

// proxySocket is where a workplace finds the build proxy; the forwarder listens on
// its loopback, which is all the network that it has.
const (
	proxyPrefix  = "proxy-" // of its directory on the host, then our token
	proxyDir     = "/run/benchmint-proxy"
	proxyAddress = "127.0.0.1:3128"
	// It returns when the forwarder listens: 0100007F:0C38 is the address above.
	forward = "setsid socat TCP-LISTEN:3128,bind=127.0.0.1,fork,reuseaddr,backlog=64 UNIX-CONNECT:" + proxyDir + "/socket </dev/null >/dev/null 2>&1 & " +
		"i=0; until grep -q ' 0100007F:0C38 ' /proc/net/tcp; do i=$((i+1)); [ $i -lt 500 ] || exit 1; sleep 0.02; done"
	idle = "exec sleep infinity"
)

func yes[T any](v T) *T { return &v }

// onLoopback makes names lead to loopback.
func onLoopback(names []string) (out []string) {
	for _, name := range names {
		out = append(out, name+":127.0.0.1")
	}
	return out
}

// hostConfig is what every container of ours has in common.
func (s *Sandbox) hostConfig(l sandbox.Limits) *container.HostConfig {
	const slack = 64 << 20 // so that a full /dev/shm is seen to be over the limit
	return &container.HostConfig{
		NetworkMode: "none",
		DNS:         []netip.Addr{netip.MustParseAddr("127.0.0.1")}, // not the host's
		Init:        yes(true),
		CapDrop:     []string{"ALL"},
		SecurityOpt: []string{"no-new-privileges", s.calls},
		IpcMode:     "private",
		LogConfig:   container.LogConfig{Type: "none"}, // output comes to us, never to the engine's disk
		OomScoreAdj: 500,
		ShmSize:     l.Disk + slack,
		Sysctls:     map[string]string{"net.ipv6.conf.lo.disable_ipv6": "0", "net.ipv6.conf.default.disable_ipv6": "0", "net.ipv4.ip_unprivileged_port_start": "0"},
		Resources: container.Resources{
			Memory: l.Memory, MemorySwap: l.Memory, // together: no swap
			PidsLimit: yes(int64(l.Processes)),
			NanoCPUs:  int64(l.CPUs * 1e9),
			Ulimits: []*container.Ulimit{
				{Name: "fsize", Soft: l.Disk, Hard: l.Disk},
				{Name: "nofile", Soft: 1024, Hard: 4096},
				{Name: "core"},
			},
		},
	}
}

// newWorkplace makes a workplace. Where the engine cannot put a layer over a cache, its
// steps get empty ones: they download again.
func (s *Sandbox) newWorkplace(ctx context.Context, image string, w workplace) (*workplace, error) {
	made, err := s.openWorkplace(ctx, image, w)
	if err == nil || w.fills || len(w.caches) == 0 || s.bare.Load() || ctx.Err() != nil {
		return made, err
	}
	s.bare.Store(true)
	made, again := s.openWorkplace(ctx, image, w)
	if again != nil { // it was something else
		s.bare.Store(false)
		return nil, err
	}
	return made, nil
}

func (s *Sandbox) openWorkplace(ctx context.Context, image string, w workplace) (*workplace, error) {
	w.s, w.image, w.limits = s, image, w.limits.Filled()
	config := &container.Config{Image: image, User: "0:0", Entrypoint: []string{"/bin/sh", "-c"}, Cmd: []string{idle}}
	host := s.hostConfig(w.limits)
	host.ExtraHosts = onLoopback(w.names)
	if w.packages {
		// Packages are Debian's, and their scripts need what root has in any container.
		host.CapDrop, host.SecurityOpt = nil, []string{s.calls}
	}
	if w.registries || (w.packages && w.hasForwarder(ctx)) {
		dir, err := w.serve(ctx)
		if err != nil {
			w.close()
			return nil, err
		}
		host.Mounts = append(host.Mounts, mount.Mount{Type: mount.TypeBind, Source: dir, Target: proxyDir, ReadOnly: true})
	} else if w.packages {
		host.NetworkMode = "default" // an image of the user's that has no forwarder yet
	}
	mounts, err := w.mountCaches(ctx)
	if err != nil {
		w.close()
		return nil, err
	}
	host.Mounts = append(host.Mounts, mounts...)
	if err := w.open(ctx, config, host); err != nil {
		w.close()
		return nil, err
	}
	return &w, nil
}

func (w *workplace) open(ctx context.Context, config *container.Config, host *container.HostConfig) (err error) {
	if w.id, err = w.s.create(ctx, config, host); err != nil {
		return err
	}
	if err := w.ownCaches(ctx); err != nil {
		return err
	}
	if _, err := w.s.api.ContainerStart(ctx, w.id, client.ContainerStartOptions{}); err != nil {
		return fmt.Errorf("starting a container: %w", err)
	}
	if w.proxy == nil {
		return nil
	}
	// Not the container's own command, which an image would remember.
	_, err = w.root(ctx, "starting the way to the registries", []string{"/bin/sh", "-c", forward})
	return err
}

// create makes a container. A request that is broken off would leave one that nobody
// knows the ID of, so it is seen through.
func (s *Sandbox) create(ctx context.Context, config *container.Config, host *container.HostConfig) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	const patience = 2 * time.Minute
	through, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	res, err := s.api.ContainerCreate(through, client.ContainerCreateOptions{Config: config, HostConfig: host, Name: s.containerName()})
	if err != nil {
		return "", fmt.Errorf("creating a container: %w", err)
	}
	if err := ctx.Err(); err != nil {
		s.removeContainer(res.ID)
		return "", err
	}
	return res.ID, nil
}

func (s *Sandbox) containerName() string { return namePrefix + s.token + "-" + randomName() }

// hasForwarder reports whether the image is one that we prepared.
func (w *workplace) hasForwarder(ctx context.Context) bool { return w.image != w.s.userImage(ctx) }

func (s *Sandbox) userImage(ctx context.Context) string {
	if s.options.Image == "" {
		return ""
	}
	image, err := s.api.ImageInspect(ctx, s.options.Image)
	if err != nil {
		return ""
	}
	return image.ID
}

// serve answers for the proxy on a Unix socket that is all the container sees of us.
func (w *workplace) serve(ctx context.Context) (dir string, err error) {
	if err := os.MkdirAll(w.s.dir, 0o700); err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp(w.s.dir, proxyPrefix+w.s.token+"-"); err != nil {
		return "", err
	}
	w.closed = append(w.closed, func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	socket := filepath.Join(dir, "socket")
	// The name of a Unix socket is short; ours may lie deep.
	l, err := listenShort(socket)
	if err != nil {
		return "", fmt.Errorf("listening for the build proxy: %w", err)
	}
	if err := os.Chmod(socket, 0o666); err != nil {
		l.Close()
		return "", err
	}
	allowed := w.s.options.Registries
	if w.packages {
		allowed = append(w.s.mirrors(), allowed...)
	}
	w.proxy = proxy.For(w.registry, allowed, w.s.options.Upstream)
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = w.proxy.Serve(ctx, l) // ends with the workplace
	}()
	w.closed = append(w.closed, func() { cancel(); <-done })
	return dir, nil
}

// listenShort listens on a socket of any path length, through a descriptor of its directory.
func listenShort(socket string) (net.Listener, error) {
	dir, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	l, err := net.Listen("unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(socket)))
	if err != nil {
		return nil, err
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // the directory goes as a whole
	return l, nil
}

func (s *Sandbox) copyIn(ctx context.Context, id string, archive io.Reader) error {
	_, err := s.api.CopyToContainer(ctx, id, client.CopyToContainerOptions{
		DestinationPath: "/", Content: archive, AllowOverwriteDirWithFile: true,
	})
	if err != nil {
		return fmt.Errorf("copying into a container: %w", err)
	}
	return nil
}

func (w *workplace) close() {
	if w.id != "" {
		w.s.removeContainer(w.id)
	}
	for _, f := range slices.Backward(w.closed) {
		f()
	}
}

// stop ends all processes of the container.
func (w *workplace) stop(ctx context.Context) {
	// One that is ended already cannot be killed, and need not be.
	_, _ = w.s.api.ContainerKill(ctx, w.id, client.ContainerKillOptions{Signal: "KILL"})
}

// copyTree streams a directory of the host into the container, as root's.
func (w *workplace) copyTree(ctx context.Context, dir, inside string) error {
	r, pw := io.Pipe()
	go func() { pw.CloseWithError(packTree(pw, dir, strings.TrimPrefix(inside, "/"), false)) }()
	err := w.s.copyIn(ctx, w.id, r)
	r.CloseWithError(errors.New("the engine stopped reading"))
	return err
}

// install adds Debian packages.
func (w *workplace) install(ctx context.Context, packages []string) error {
	for _, argv := range [][]string{
		{"apt-get", "update", "-q"},
		append([]string{"apt-get", "install", "-q", "-y", "--no-install-recommends", "--"}, packages...),
		{"sh", "-c", "rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb"},
	} {
		if _, err := w.root(ctx, "installing "+strings.Join(packages, " "), argv); err != nil {
			return err
		}
	}
	return nil
}

// root runs a step of ours as root.
func (w *workplace) root(ctx context.Context, what string, argv []string) ([]byte, error) {
	environ := []string{"DEBIAN_FRONTEND=noninteractive", "LC_ALL=C"}
	if w.proxy != nil {
		environ = append(environ, "http_proxy=http://"+proxyAddress, "https_proxy=http://"+proxyAddress)
	}
	const enough = 1 << 20
	out := sandbox.NewCapped(enough, nil)
	code, err := w.exec(ctx, client.ExecCreateOptions{User: "0:0", Cmd: argv, Env: environ}, nil, out)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if code != 0 {
		return nil, fmt.Errorf("%s: %s: exit %d: %s", what, argv[0], code, tail(out.Bytes()))
	}
	return out.Bytes(), nil
}

// exec runs one process in the container to its end. The end of the process counts,
// not that of its output: a child that it left behind may hold that open.
func (w *workplace) exec(ctx context.Context, o client.ExecCreateOptions, in io.Reader, out io.Writer) (code int, err error) {
	o.AttachStdin, o.AttachStdout, o.AttachStderr = in != nil, true, true
	created, err := w.s.api.ExecCreate(ctx, w.id, o)
	if err != nil {
		return 0, fmt.Errorf("creating a step: %w", err)
	}
	attached, err := w.s.api.ExecAttach(ctx, created.ID, client.ExecAttachOptions{})
	if err != nil {
		return 0, fmt.Errorf("starting a step: %w", err)
	}
	defer attached.Close()
	stop := context.AfterFunc(ctx, attached.Close)
	defer stop()
	if in != nil {
		go func() {
			_, _ = io.Copy(attached.Conn, in) // a step that reads no more says so by its exit code
			_ = attached.CloseWrite()
		}()
	}
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_, _ = stdcopy.StdCopy(out, out, attached.Reader)
	}()
	return w.awaitExec(ctx, created.ID, copied)
}

func (w *workplace) awaitExec(ctx context.Context, id string, copied <-chan struct{}) (int, error) {
	const drain = time.Second // for output that is on its way when the process is gone
	look := 5 * time.Millisecond
	for {
		select {
		case <-copied:
			copied = nil
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(look):
			look = min(2*look, 250*time.Millisecond)
		}
		res, err := w.s.api.ExecInspect(ctx, id, client.ExecInspectOptions{})
		if err != nil {
			return 0, fmt.Errorf("asking for a step: %w", err)
		}
		if res.Running {
			continue
		}
		if copied != nil {
			select {
			case <-copied:
			case <-time.After(drain):
			}
		}
		return res.ExitCode, nil
	}
}
