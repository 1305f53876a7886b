package bwrap

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/proxy"
	"github.com/benchmint/benchmint/internal/sandbox/watch"
	"github.com/benchmint/benchmint/schemas"
)

// The host's programs that stand between bwrap and the command, in the sandbox.
const (
	setpriv = "/usr/bin/setpriv"
	prlimit = "/usr/bin/prlimit"
	env     = "/usr/bin/env"
)

// space is the scratch space of one build or run.
type space struct {
	*scratch
	rel string // the directory, from the store
}

func (s *Sandbox) newSpace() (*space, error) {
	made, err := s.store.scratch("run-")
	if err != nil {
		return nil, err
	}
	sp := &space{scratch: made}
	if sp.rel, err = inStore(s.store.dir, sp.dir); err != nil {
		return nil, err
	}
	return sp, makeLayered(sp.dir)
}

// makeLayered makes the directories of a scratch space.
func makeLayered(dir string) error {
	for _, d := range []string{"up", "work", "merged"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			return err
		}
	}
	return nil
}

func (sp *space) up() string     { return filepath.Join(sp.dir, "up") }
func (sp *space) merged() string { return filepath.Join(sp.dir, "merged") }

// sweep removes the scratch space of processes that were killed.
func (s *Sandbox) sweep() {
	locks, _ := filepath.Glob(filepath.Join(s.store.runs(), "*"+lockSuffix))
	for _, path := range locks {
		lock, err := os.Open(path)
		if err != nil {
			continue
		}
		if unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			(&scratch{strings.TrimSuffix(path, lockSuffix), lock}).close()
		}
		lock.Close()
	}
}

func (s *Sandbox) order(sp *space) order {
	return order{Store: s.store.dir, Scratch: sp.rel, Own: s.root}
}

// job is one command in a prepared space.
type job struct {
	order       order
	command     schemas.Command
	env         []string
	toolchains  []sandbox.Toolchain
	caches      map[string]string
	limits      sandbox.Limits
	names       []string // sandbox.Run.Names
	hosts       string   // the file of them; "" is the one of all
	interactive *sandbox.Terminal
	channel     *sandbox.Channel
	reportMax   int64 // bytes
	proxy       *proxy.Proxy
	written     string
	cached      string // where what is written to caches lies; "" is nowhere
	group       *group
	space       *watch.Space // of the disk that everything is written to
	serves      bool         // beside a run: see errServed
}

// stacked puts the layers under a space: by an overlay, or by a copy.
func (s *Sandbox) stacked(sp *space, id string) (o order, written string, toolchains []sandbox.Toolchain, trees []string, err error) {
	ids, toolchains, err := s.store.stack(id)
	if err != nil {
		return o, "", nil, nil, err
	}
	for _, id := range ids {
		trees = append(trees, s.store.tree(id))
	}
	o = s.order(sp)
	o.Dirs = sandbox.Writable()
	if !s.overlay {
		return o, sp.merged(), toolchains, []string{sp.merged()}, copyMerged(trees, sp.merged())
	}
	for _, tree := range trees {
		rel, err := inStore(s.store.dir, tree)
		if err != nil {
			return o, "", nil, nil, err
		}
		o.Lower = append(o.Lower, rel)
	}
	return o, sp.up(), toolchains, append([]string{sp.up()}, trees...), nil
}

// Run runs one command on a fresh copy of a layer.
func (s *Sandbox) Run(ctx context.Context, r sandbox.Run) (res sandbox.Result, err error) {
	began := time.Now()
	defer func() { res.Overhead = time.Since(began) - res.Wall }()
	if err := r.Check(); err != nil {
		return res, err
	}
	free, err := watch.NewSpace(s.store.dir)
	if err != nil {
		return res, err
	}
	release, err := s.store.use(ctx, r.Layer.ID)
	if err != nil {
		return res, err
	}
	defer release()
	sp, err := s.newSpace()
	if err != nil {
		return res, err
	}
	defer sp.close()
	o, written, toolchains, trees, err := s.stacked(sp, r.Layer.ID)
	if err != nil {
		return res, err
	}
	o.Put, o.Sealed, o.Network = r.Inputs, r.Sealed, true
	j := job{
		order: o, command: r.Command, env: sandbox.Environ(r.Interactive.Env(), r.Env, r.Command.Env), toolchains: toolchains,
		limits: r.Limits.Filled(), interactive: r.Interactive, written: written, space: free,
		channel: r.Channel, reportMax: sandbox.CollectMax(r.CollectMax), names: r.Names,
	}
	if r.Beside != nil {
		res, err = s.doBeside(ctx, j, r.Beside)
	} else {
		res, err = s.do(ctx, j)
	}
	if err != nil {
		return res, err
	}
	if res.Written, err = s.writtenOf(trees, r); err != nil {
		return res, err
	}
	if err := collect(trees, r.Collect, r.CollectMax, &res); err != nil {
		return res, err
	}
	return res, free.Short(append(slices.Collect(maps.Values(res.Files)), res.Report)...)
}

func collect(trees, paths []string, max int64, res *sandbox.Result) error {
	max = sandbox.CollectMax(max)
	for _, p := range paths {
		data, cut, err := readMerged(trees, p, max)
		switch {
		case err == nil:
			if res.Files == nil {
				res.Files, res.Cut = map[string][]byte{}, map[string]bool{}
			}
			res.Files[p] = data
			if cut {
				res.Cut[p] = true
			}
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid),
			errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ENXIO):
			// Missing, or in its place something that we do not read: a stranger's
			// command decides that, so it is no fault of the machine.
		default:
			return fmt.Errorf("collecting %s: %w", p, err)
		}
	}
	return nil
}

// Build makes a layer, or finds it by its key.
func (s *Sandbox) Build(ctx context.Context, b sandbox.Build) (layer sandbox.Layer, res sandbox.Result, err error) {
	began := time.Now()
	defer func() { res.Overhead = time.Since(began) - res.Wall }()
	err = errors.Join(sandbox.CheckFiles(b.Files, sandbox.Kept(), b.Collect), sandbox.CheckFiles(b.Inputs, []string{sandbox.RunPath}, nil))
	if err != nil {
		return layer, res, err
	}
	if b.Discard {
		res, err = s.build(ctx, b, "")
		return layer, res, err
	}
	id := layerID(b.Key)
	layer = sandbox.Layer{Key: b.Key, ID: id}
	unlock, err := sandbox.Lock(ctx, s.store.locks(), id)
	if err != nil {
		return layer, res, err
	}
	defer unlock()
	if b.Lease {
		// Before there is a layer: a kill on the way leaves none that nobody finds.
		if err := s.leases.Take(id); err != nil {
			return layer, res, err
		}
		defer func() {
			if err == nil {
				return
			}
			if fault := s.leases.Give(id, func() error { return s.store.free(context.WithoutCancel(ctx), id) }); fault != nil {
				err = errors.Join(err, fault)
			}
		}()
	}
	if _, err := s.store.read(id); errors.Is(err, fs.ErrNotExist) {
		if res, err = s.build(ctx, b, id); err != nil {
			return layer, res, err
		}
	} else if err != nil {
		return layer, res, err
	} else {
		res.End = sandbox.Exited
	}
	// From the layer, so that a build that was found brings the same files.
	ids, _, err := s.store.stack(id)
	if err != nil {
		return layer, res, err
	}
	trees := make([]string, len(ids))
	for i, id := range ids {
		trees[i] = s.store.tree(id)
	}
	return layer, res, collect(trees, b.Collect, 0, &res)
}

// build fills the caches, and then runs the steps.
func (s *Sandbox) build(ctx context.Context, b sandbox.Build, id string) (sandbox.Result, error) {
	if fill, ok := b.Filling(); ok && s.overlay { // without overlays no step sees a cache
		_, err := s.steps(ctx, fill, "", s.writableCaches)
		if err != nil && !errors.As(err, new(*sandbox.BuildError)) {
			return sandbox.Result{End: sandbox.Exited}, fmt.Errorf("filling a cache: %w", err)
		}
	}
	return s.steps(ctx, b, id, s.throwAwayCaches)
}

// steps runs the steps of a build, and keeps the layer.
func (s *Sandbox) steps(ctx context.Context, b sandbox.Build, id string, caches func(*order, *space, map[string]string) (map[string]string, error)) (sandbox.Result, error) {
	total := sandbox.Result{End: sandbox.Exited}
	free, err := watch.NewSpace(s.store.dir)
	if err != nil {
		return total, err
	}
	release, err := s.store.use(ctx, b.Parent.ID)
	if err != nil {
		return total, err
	}
	defer release()
	sp, err := s.newSpace()
	if err != nil {
		return total, err
	}
	defer sp.close()
	o, written, toolchains, trees, err := s.stacked(sp, b.Parent.ID)
	if err != nil {
		return total, err
	}
	o.Put = append(slices.Clone(b.Files), b.Inputs...)
	environ := []map[string]string{}
	if b.Network == sandbox.Registries {
		o.Proxy = true
		environ = append(environ, b.RegistryEnv(s.options.Env), sandbox.ProxyEnv("http://"+proxyAddress))
	}
	if s.ca != nil {
		o.Put = append(o.Put, sandbox.File{Path: sandbox.CAPath, Mode: 0o644, Data: s.ca})
		environ = append(environ, sandbox.CAEnv())
	}
	made, err := caches(&o, sp, b.Caches)
	if err != nil {
		return total, err
	}
	if err := s.prepare(ctx, o); err != nil {
		return total, err
	}
	o.Put, o.Dirs = nil, nil
	limits := b.Limits.Filled()
	for _, step := range b.Steps {
		b.Begin(step)
		j := job{
			order: o, command: step, env: sandbox.Environ(append(environ, b.Env, step.Env)...), toolchains: toolchains,
			caches: made, limits: limits, written: written, cached: sp.cached(made), space: free, proxy: proxy.For(b.Registry, s.options.Registries, s.options.Upstream), names: b.Names,
		}
		res, err := s.do(ctx, j)
		total.Output = append(total.Output, res.Output...)
		total.Wall += res.Wall
		total.End, total.ExitCode = res.End, res.ExitCode
		if err != nil {
			return total, err
		}
		if res.End != sandbox.Exited || res.ExitCode != 0 {
			return total, &sandbox.BuildError{Step: step, Result: res, Denied: j.proxy.Denied(), Unreached: j.proxy.Unreached()}
		}
		if limits.Timeout -= res.Wall; limits.Timeout <= 0 {
			limits.Timeout = time.Nanosecond // the next step is over at once
		}
	}
	if b.Discard {
		return total, collect(trees, b.Collect, 0, &total)
	}
	for _, inside := range b.Caches {
		// The mount point is ours; a directory that the build filled is not.
		_ = os.Remove(treePath(written, inside))
	}
	if err := prune(written); err != nil {
		return total, fmt.Errorf("pruning the layer: %w", err)
	}
	return total, s.store.keep(written, id, record{Key: b.Key, Parent: b.Parent.ID, Full: !s.overlay})
}

// prepare runs the shim without a command.
func (s *Sandbox) prepare(ctx context.Context, o order) error {
	proc, fault, err := s.start(ctx, o, func(*exec.Cmd) error { return nil }, &group{}, passed{})
	if err != nil {
		return err
	}
	if _, err := proc.wait(); err != nil {
		return fmt.Errorf("preparing the sandbox: %s: %w", fault, err)
	}
	return ctx.Err()
}

// passed are the shim's ends of what it passes on; nil where there is none.
type passed struct {
	status *os.File
	socket *os.File // of the proxy
	given  *os.File // sandbox.GivenFD of the command
	report *os.File // sandbox.ReportFD of the command
}

// files are the shim's descriptors from orderFD on; it has none where one is nil.
func (p passed) files(l *link) []*os.File {
	const first = orderFD
	files := make([]*os.File, sandbox.ReportFD+1-first)
	files[orderFD-first], files[faultFD-first], files[statusFD-first], files[socketFD-first] = l.orders, l.faultIn, p.status, p.socket
	files[sandbox.GivenFD-first], files[sandbox.ReportFD-first] = p.given, p.report
	return files
}

func (p passed) close() {
	for _, f := range []*os.File{p.socket, p.given, p.report} {
		if f != nil {
			f.Close()
		}
	}
}

// link is the pipes between us and one shim.
type link struct {
	orders, faultIn  *os.File // the shim's ends
	orderOut, faults *os.File // our ends
}

func newLink() (*link, error) {
	l := &link{}
	var err error
	if l.orders, l.orderOut, err = os.Pipe(); err != nil {
		return nil, err
	}
	if l.faults, l.faultIn, err = os.Pipe(); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// close may be called twice.
func (l *link) close() {
	for _, f := range []*os.File{l.orders, l.faultIn, l.orderOut, l.faults} {
		f.Close()
	}
}

// give gives a shim its order, and returns the fault that it reports, "" for none, when
// it is prepared.
func (l *link) give(proc *process, g *group, o order) (fault string, err error) {
	defer l.close()
	l.orders.Close()
	l.faultIn.Close()
	// It enters its groups before it has an order: nothing of the command runs outside them.
	err = g.add(proc.Pid)
	if err == nil {
		err = gob.NewEncoder(l.orderOut).Encode(o)
	}
	if err != nil && !errors.Is(err, unix.EPIPE) {
		proc.end()
		return "", fmt.Errorf("preparing the sandbox: %w", err)
	}
	said, _ := io.ReadAll(l.faults) // ends when bwrap is executed
	return string(said), nil
}

// process is a shim that was started.
type process struct {
	*os.Process
	wait func() (*os.ProcessState, error)
}

// end kills a shim that has no order yet.
func (p *process) end() {
	_ = p.Kill()
	_, _ = p.wait()
}

// start starts the shim in its namespaces, gives it its order, and returns the fault
// that it reports.
func (s *Sandbox) start(ctx context.Context, o order, with func(*exec.Cmd) error, g *group, p passed) (*process, string, error) {
	if err := ctx.Err(); err != nil {
		return nil, "", err
	}
	l, err := newLink()
	if err != nil {
		return nil, "", err
	}
	defer l.close()
	// /proc/self/exe stays right when the program's file is replaced under us.
	cmd := &exec.Cmd{Path: self, Args: []string{shimName}, Env: []string{}, ExtraFiles: p.files(l)}
	cmd.SysProcAttr = s.namespaces(unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID)
	if err := with(cmd); err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", fmt.Errorf("starting the sandbox: %w", err)
	}
	proc := &process{cmd.Process, func() (*os.ProcessState, error) {
		err := cmd.Wait()
		return cmd.ProcessState, err
	}}
	fault, err := l.give(proc, g, o)
	return proc, fault, err
}

// bwrapArgs is all that the command sees.
func (s *Sandbox) bwrapArgs(j job) []string {
	args := []string{
		"--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox",
		"--die-with-parent", "--clearenv", "--cap-drop", "ALL",
	}
	if s.root {
		// For setpriv only, which drops them.
		args = append(args, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP")
	} else {
		args = append(args, "--unshare-user", "--uid", strconv.Itoa(sandbox.UID), "--gid", strconv.Itoa(sandbox.GID))
	}
	if j.interactive == nil {
		args = append(args, "--new-session")
	}
	args = append(args, "--ro-bind", "/usr", "/usr", "--ro-bind", s.empty, "/usr/local")
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		if link, err := os.Readlink(dir); err == nil {
			args = append(args, "--symlink", link, dir)
		} else if _, err := os.Stat(dir); err == nil {
			args = append(args, "--ro-bind", dir, dir)
		}
	}
	args = append(args, "--ro-bind", s.etc, "/etc")
	if j.hosts != "" {
		args = append(args, "--ro-bind", j.hosts, "/etc/hosts")
	}
	args = append(args, "--proc", "/proc", "--dev", "/dev")
	for _, dir := range []string{"/home", "/opt", sandbox.ToolchainPath, "/root", "/run", "/sys", "/var"} {
		args = append(args, "--perms", "0755", "--dir", dir)
	}
	merged := filepath.Join(s.store.dir, j.order.Scratch, "merged")
	for _, inside := range sandbox.Writable() {
		args = append(args, "--bind", treePath(merged, inside), inside)
	}
	for _, t := range j.toolchains {
		args = append(args, "--ro-bind", t.Dir, path.Join(sandbox.ToolchainPath, t.Name+"-"+t.Version))
	}
	for dir, inside := range j.caches {
		args = append(args, "--bind", dir, inside)
	}
	// An ordinary user owns these two, and could fill them.
	return append(args, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/")
}

// argv is the command behind what takes its rights. The command's environment is set
// last, when nothing runs that it could mislead.
func (s *Sandbox) argv(j job) []string {
	var argv []string
	if s.root {
		id := strconv.Itoa(sandbox.UID)
		argv = append(argv, setpriv, "--reuid", id, "--regid", strconv.Itoa(sandbox.GID), "--clear-groups",
			"--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--")
	}
	if _, ok := s.groups["pids"]; !ok {
		// A little more than the limit, so that the watchdog sees it passed. As root, the
		// user's processes are counted together, in whichever sandbox they are: those
		// there are now, and room for runs beside this one that grow meanwhile. A fork that
		// failed for another run's processes would read as this run's failure.
		const slack, beside = 8, 16
		bound := j.limits.Processes + slack
		if s.root {
			bound += watch.UserTasks(sandbox.UID) + beside*j.limits.Processes
		}
		argv = append(argv, prlimit, "--nproc="+strconv.Itoa(bound), "--")
	}
	// The directory is entered as the user: root without capabilities may not.
	argv = append(argv, env, "-i", "-C", sandbox.WorkDir(j.command.Dir), "--")
	return append(append(argv, j.env...), j.command.Argv...)
}

// do runs a job's command to its end, whatever that is.
func (s *Sandbox) do(ctx context.Context, j job) (sandbox.Result, error) {
	c, err := s.ready(j)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer c.free()
	var near *os.File
	if j.order.Proxy {
		if near, c.far.socket, err = socketPair(unix.SOCK_DGRAM); err != nil {
			return sandbox.Result{}, err
		}
		defer near.Close()
	}
	proc, fault, err := s.start(ctx, c.order, c.connect, c.group, c.far)
	if err != nil {
		return sandbox.Result{}, err
	}
	c.started(proc)
	if near != nil {
		stop := serveInside(ctx, near, j.proxy)
		defer stop()
	}
	return c.wait(ctx, fault)
}

// ready makes what a job needs before its shim is started. The caller frees it.
func (s *Sandbox) ready(j job) (*running, error) {
	if len(j.command.Argv) == 0 {
		return nil, errors.New("an empty command")
	}
	if len(j.names) > 0 {
		var err error
		if j.hosts, err = s.hostsWith(j.names); err != nil {
			return nil, fmt.Errorf("making the sandbox's names: %w", err)
		}
	}
	group, err := s.groups.newGroup(fmt.Sprintf("%d-%x", os.Getpid(), rand.Uint64()), j.limits)
	if err != nil {
		return nil, err
	}
	j.group = group
	j.order.Bwrap, j.order.FileSize = s.program, j.limits.Disk
	if _, ok := s.groups["cpu"]; !ok {
		j.order.CPUs = int(math.Ceil(j.limits.CPUs))
	}
	j.order.Args, j.order.Argv = s.bwrapArgs(j), s.argv(j)
	c := &running{job: j, meter: watch.NewMeter(j.limits.Disk, j.written)}
	if j.cached != "" {
		c.meter.Add(j.cached)
	}
	if j.channel != nil {
		if c.given, c.report, err = openChannel(&c.far); err != nil {
			c.free()
			return nil, err
		}
	}
	if c.far.status, err = newStatus(); err != nil {
		c.free()
		return nil, err
	}
	return c, nil
}

// newStatus is a file without a name that bwrap writes to and we read afterwards.
func newStatus() (*os.File, error) {
	fd, err := unix.MemfdCreate("status", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making the status file: %w", err)
	}
	return os.NewFile(uintptr(fd), "status"), nil
}

// openChannel opens a channel and gives our ends of it. Both are sockets: a pipe of an
// ordinary user's could be opened again through /proc by every process of the command.
func openChannel(far *passed) (given, report *os.File, err error) {
	if given, far.given, err = socketPair(unix.SOCK_STREAM); err != nil {
		return nil, nil, err
	}
	if report, far.report, err = socketPair(unix.SOCK_STREAM); err != nil {
		given.Close()
		return nil, nil, err
	}
	// Each has one direction: what the command writes to GivenFD, or reads from ReportFD, is
	// nobody's.
	return given, report, errors.Join(unix.Shutdown(int(given.Fd()), unix.SHUT_RD), unix.Shutdown(int(report.Fd()), unix.SHUT_WR))
}

func socketPair(kind int) (near, far *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(fds[0]), "near"), os.NewFile(uintptr(fds[1]), "far"), nil
}

// serveInside takes the listening socket out of the sandbox's network and answers
// on it from here, until stop.
func serveInside(ctx context.Context, near *os.File, p *proxy.Proxy) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var served sync.WaitGroup
	served.Go(func() {
		if l := receive(near); l != nil {
			_ = p.Serve(ctx, l) // ends with the sandbox
		}
	})
	return func() {
		// Wakes a receiver to whom nothing was sent.
		_ = unix.Shutdown(int(near.Fd()), unix.SHUT_RDWR)
		cancel()
		served.Wait()
	}
}

func receive(near *os.File) net.Listener {
	oob := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(int(near.Fd()), make([]byte, 1), oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		return nil
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return nil
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil
	}
	f := os.NewFile(uintptr(fds[0]), "proxy")
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return nil
	}
	return l
}
