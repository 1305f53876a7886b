package docker

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/watch"
)

// user is whom steps and runs are.
var user = fmt.Sprintf("%d:%d", sandbox.UID, sandbox.GID)

// Grace after a time-out: a runner that catches an interrupt still writes its report.
const (
	graceInterrupt = 2 * time.Second
	graceTerminate = time.Second
)

// runScript is a run's first process. Its arguments are one of the networks below, whether
// there is a channel ("channel", "none"), the directory, then NAME=value, then the command.
//
//go:embed run.sh
var runTemplate string

var runScript = withUser(strings.Replace(runTemplate, "@JUDGE@", judgeScript, 1))

// What runScript does about the network.
const (
	ownNetwork    = "own"    // makes it
	sharedNetwork = "shared" // makes it, and waits for a line of input: whoever shares it is started first
	joinedNetwork = "joined" // waits until it is made
)

// withUser puts the user's numbers into a script of ours.
func withUser(script string) string {
	return strings.NewReplacer("@UID@", strconv.Itoa(sandbox.UID), "@GID@", strconv.Itoa(sandbox.GID)).Replace(script)
}

// judgeScript prints what the control groups counted, and how full /dev/shm is.
//
//go:embed judge.sh
var judgeScript string

// endDir is where runScript leaves what judgeScript printed; root's alone.
const endDir = "/run/benchmint-end"

// Run runs one command on a fresh copy of a layer.
func (s *Sandbox) Run(ctx context.Context, r sandbox.Run) (res sandbox.Result, err error) {
	defer s.answers(ctx, &err)
	began := time.Now()
	defer func() { res.Overhead = time.Since(began) - res.Wall }()
	if err := r.Check(); err != nil {
		return res, err
	}
	free, err := s.space()
	if err != nil {
		return res, err
	}
	c := &running{s: s, limits: r.Limits.Filled(), terminal: r.Interactive, space: free, channel: r.Channel}
	if c.channel != nil {
		c.said = sandbox.NewCapped(sandbox.CollectMax(r.CollectMax), nil)
	}
	if r.Beside != nil {
		c.gate = make(chan struct{})
	}
	if err := c.create(ctx, r); err != nil {
		return res, err
	}
	defer s.removeContainer(c.id)
	if r.Beside != nil {
		res, err = c.runBeside(ctx, r.Beside)
	} else {
		res, err = c.run(ctx)
	}
	if err != nil {
		return res, err
	}
	if res.Written, err = s.writtenOf(ctx, c.id, r.Watch); err != nil {
		return res, err
	}
	if err := s.collect(ctx, c.id, r.Collect, r.CollectMax, &res); err != nil {
		return res, err
	}
	return res, free.Short(append(slices.Collect(maps.Values(res.Files)), res.Report)...)
}

// running is one container between its start and its end.
type running struct {
	s        *Sandbox
	id       string
	limits   sandbox.Limits
	terminal *sandbox.Terminal
	output   *sandbox.Capped
	space    *watch.Space
	channel  *sandbox.Channel
	said     *sandbox.Capped // through the channel

	gate chan struct{} // of sharedNetwork: closed when the command may begin
	held time.Duration // how long it waited for that
	join string        // of joinedNetwork: the container whose network it is
	// deployed says that the image's own command runs, as the user that it names.
	deployed bool
	// unneeded is closed when the run that a service is for has ended.
	unneeded chan struct{}

	attached  client.HijackedResponse
	waited    client.ContainerWaitResult
	copied    <-chan struct{}
	startedAt time.Time

	mu  sync.Mutex
	end sandbox.End
}

// create makes the container, with its inputs.
func (c *running) create(ctx context.Context, r sandbox.Run) error {
	channel, network := "none", ownNetwork
	if r.Channel != nil {
		channel = "channel"
	}
	if c.gate != nil {
		network = sharedNetwork
	}
	host := c.s.hostConfig(c.limits)
	host.ExtraHosts = onLoopback(r.Names) // the engine gives those of a run to what joins its network
	// For the first process only, which drops them: see runScript. KILL is for the
	// engine's init, which passes on signals to the command.
	host.CapAdd = []string{"KILL", "NET_ADMIN", "SETGID", "SETPCAP", "SETUID"}
	hostname := "sandbox"
	sealed := sealedFiles(r.Sealed)
	if len(sealed) > 0 {
		host.CapAdd = append(host.CapAdd, "CHOWN", "DAC_OVERRIDE", "FOWNER")
	}
	if c.join != "" {
		network, hostname = joinedNetwork, "" // the engine gives it the name and the resolver of the other
		host.NetworkMode, host.DNS, host.Sysctls = container.NetworkMode("container:"+c.join), nil, nil
		host.CapAdd = slices.DeleteFunc(host.CapAdd, func(name string) bool { return name == "NET_ADMIN" })
	}
	argv := append([]string{runScript, "run", network, channel, sandbox.WorkDir(r.Command.Dir)}, sandbox.Environ(r.Interactive.Env(), r.Env, r.Command.Env)...)
	config := &container.Config{
		Image: r.Layer.ID, User: "0:0", WorkingDir: "/", Hostname: hostname,
		Entrypoint: []string{"/bin/sh", "-c"}, Cmd: append(argv, r.Command.Argv...),
		// An interrupt is for the command, not for the shell that waits for it.
		Env:          []string{"TINI_KILL_PROCESS_GROUP=1"},
		AttachStdout: true, AttachStderr: true,
	}
	if c.spoken() {
		config.OpenStdin, config.StdinOnce, config.AttachStdin = true, true, true
	}
	if c.deployed {
		config, host.CapAdd = &container.Config{Image: r.Layer.ID, AttachStdout: true, AttachStderr: true}, deployedCaps
	}
	if t := c.terminal; t != nil {
		config.Tty, config.OpenStdin, config.StdinOnce, config.AttachStdin = t.TTY, true, true, true
	}
	var err error
	if c.id, err = c.s.create(ctx, config, host); err != nil {
		return err
	}
	if err := c.putInputs(ctx, slices.Concat(r.Inputs, sealed)); err != nil {
		c.s.removeContainer(c.id)
		return err
	}
	return nil
}

// sealedFiles tell runScript what to seal. An engine mounts no part of an image read-only, so that files get another
// owner: all of an environment would be copied by that, and stays as it is.
func sealedFiles(paths []string) []sandbox.File {
	var own, above strings.Builder
	for _, p := range paths {
		if !strings.HasPrefix(p, sandbox.TreePath+"/") {
			continue
		}
		own.WriteString(p + "\x00")
		for d := path.Dir(strings.TrimSuffix(p, "/")); strings.HasPrefix(d, sandbox.TreePath); d = path.Dir(d) {
			above.WriteString(d + "\x00")
		}
	}
	if own.Len() == 0 {
		return nil
	}
	const dir = "/run/benchmint-sealed"
	return []sandbox.File{
		{Path: dir, Mode: fs.ModeDir | 0o700},
		{Path: dir + "/paths", Mode: 0o600, Data: []byte(own.String())},
		{Path: dir + "/above", Mode: 0o600, Data: []byte(above.String())},
	}
}

// writtenOf asks the engine which of some files differ from those of the image.
func (s *Sandbox) writtenOf(ctx context.Context, id string, watch []string) ([]string, error) {
	if len(watch) == 0 {
		return nil, nil
	}
	diff, err := s.api.ContainerDiff(ctx, id, client.ContainerDiffOptions{})
	if err != nil {
		return nil, fmt.Errorf("asking what a run wrote: %w", err)
	}
	changed := map[string]bool{} // files, and folders that are new or gone
	for _, c := range diff.Changes {
		changed[c.Path] = changed[c.Path] || c.Kind != container.ChangeModify
		if slices.Contains(watch, c.Path) {
			changed[c.Path] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(watch), func(p string) bool {
		for ; p != "/" && p != "."; p = path.Dir(p) {
			if changed[p] {
				return false
			}
		}
		return true
	}), nil
}

// putInputs needs a container that is not started: only root can write above RunPath, and
// no layer holds anything below it.
func (c *running) putInputs(ctx context.Context, inputs []sandbox.File) error {
	archive, err := packFiles(inputs)
	if err != nil || archive == nil {
		return err
	}
	return c.s.copyIn(ctx, c.id, archive)
}

// spoken reports whether the container's standard input is for runScript.
func (c *running) spoken() bool { return c.channel != nil || c.gate != nil }

// run sees the container from its start to its end.
func (c *running) run(ctx context.Context) (sandbox.Result, error) {
	if err := c.start(ctx); err != nil {
		return sandbox.Result{}, err
	}
	return c.wait(ctx)
}

// start starts the container; its command may have to wait for the gate.
func (c *running) start(ctx context.Context) error {
	attached, err := c.s.api.ContainerAttach(ctx, c.id, client.ContainerAttachOptions{
		Stream: true, Stdin: c.terminal != nil || c.spoken(), Stdout: true, Stderr: true,
	})
	if err != nil {
		return fmt.Errorf("attaching to a container: %w", err)
	}
	c.attached = attached.HijackedResponse
	c.waited = c.s.api.ContainerWait(ctx, c.id, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	c.copied = c.copyStreams(c.attached)
	if _, err := c.s.api.ContainerStart(ctx, c.id, client.ContainerStartOptions{}); err != nil {
		c.attached.Close()
		return fmt.Errorf("starting a container: %w", err)
	}
	c.startedAt = time.Now()
	return nil
}

// open lets the command begin.
func (c *running) open() {
	c.held = time.Since(c.startedAt)
	close(c.gate)
}

// wait sees a container that is started to its end.
func (c *running) wait(ctx context.Context) (sandbox.Result, error) {
	var res sandbox.Result
	defer c.attached.Close()
	if c.terminal != nil && c.terminal.TTY {
		c.resize(ctx)
		defer raw(c.terminal)()
	}
	dog, err := c.s.newWatchdog(ctx, c.id, c.limits)
	if err != nil {
		return res, err
	}
	done := make(chan struct{})
	var watchers sync.WaitGroup
	watchers.Go(func() { dog.watch(done, c.stop) })
	watchers.Go(func() { c.clock(ctx, done) })
	watchers.Go(func() { c.space.Watch(done, func() { c.signal("KILL") }) })
	select {
	case w := <-c.waited.Result:
		res.ExitCode = int(w.StatusCode)
		if w.Error != nil {
			err = errors.New(w.Error.Message)
		}
	case err = <-c.waited.Error:
	}
	close(done)
	watchers.Wait()
	if ctx.Err() != nil {
		return res, ctx.Err()
	}
	if err != nil {
		return res, fmt.Errorf("waiting for a container: %w", err)
	}
	select {
	case <-c.copied:
	case <-ctx.Done():
		return res, ctx.Err()
	}
	if c.output != nil {
		res.Output = c.output.Bytes()
	}
	if c.said != nil {
		res.Report, res.ReportCut = c.said.Bytes(), c.said.Full()
	}
	// On a machine that was short of something, what the command did says nothing of it.
	if err := c.space.Short(res.Output); err != nil {
		return res, err
	}
	return res, c.judge(ctx, dog, &res)
}

// copyStreams moves output (and a person's input) until the container is gone.
func (c *running) copyStreams(attached client.HijackedResponse) <-chan struct{} {
	copied := make(chan struct{})
	var out, errs io.Writer
	if t := c.terminal; t != nil {
		out, errs = t.Out, t.Err
		go func() {
			_, _ = io.Copy(attached.Conn, t.In)
			_ = attached.CloseWrite()
		}()
	} else {
		c.output = sandbox.NewCapped(c.limits.Output, func() {
			// Aside: the engine answers nobody while its output is not taken.
			go c.stop(sandbox.Output)
		})
		out, errs = c.output, c.output
	}
	if c.channel != nil { // see runScript
		errs = c.said
	}
	if c.spoken() {
		go c.speak(attached, copied)
	}
	go func() {
		defer close(copied)
		if c.terminal != nil && c.terminal.TTY {
			_, _ = io.Copy(out, attached.Reader)
			return
		}
		_, _ = stdcopy.StdCopy(out, errs, attached.Reader)
	}()
	return copied
}

// speak writes what runScript and the command read, until the container is gone.
func (c *running) speak(attached client.HijackedResponse, gone <-chan struct{}) {
	if c.gate != nil {
		select {
		case <-c.gate:
		case <-gone:
			return
		}
		_, _ = attached.Conn.Write([]byte("\n"))
	}
	if c.channel != nil {
		_, _ = attached.Conn.Write(c.channel.Given)
	}
	_ = attached.CloseWrite()
}

// resize gives the container the size of the person's terminal.
func (c *running) resize(ctx context.Context) {
	f, ok := c.terminal.Out.(*os.File)
	if !ok {
		return
	}
	if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil {
		// A wrong size is a nuisance, no fault.
		_, _ = c.s.api.ContainerResize(ctx, c.id, client.ContainerResizeOptions{Height: uint(size.Row), Width: uint(size.Col)})
	}
}

// judge says how the container ended, and for how long its command ran.
func (c *running) judge(ctx context.Context, dog *watchdog, res *sandbox.Result) error {
	inspected, err := c.s.api.ContainerInspect(ctx, c.id, client.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("asking for a container: %w", err)
	}
	state := inspected.Container.State
	res.Wall = max(0, wall(state)-c.held)
	c.mu.Lock()
	res.End = c.end
	c.mu.Unlock()
	if res.End == "" {
		res.End = dog.last()
	}
	if dog.hungry {
		return errStarved
	}
	if res.End == "" && res.ExitCode != 0 {
		var left []byte
		var ok bool
		if !c.deployed { // whose image may hold a file of this name that says anything
			left, _, ok, err = c.s.read(ctx, c.id, endDir+"/end", sandbox.DefaultCollect)
		}
		const killed = 137 // 128 and SIGKILL
		switch {
		case err != nil:
			return fmt.Errorf("asking for a container: %w", err)
		case !ok && state.OOMKilled: // with its first process
			res.End = sandbox.Memory
		case !ok && res.ExitCode == killed && c.isUnneeded():
			return nil // it served to the end
		case !ok && c.deployed: // its first process is its own; who kills all kills the run as well
			res.End = sandbox.Exited
		case !ok && res.ExitCode == killed:
			return errKilled
		case !ok:
			return fmt.Errorf("preparing the sandbox: exit %d: %s", res.ExitCode, tail(res.Output))
		default:
			if res.End, err = parseJudgement(left, c.limits.Disk); err != nil {
				return err
			}
		}
	}
	if res.End == "" && state.OOMKilled {
		res.End = sandbox.Memory
	}
	if res.End == "" {
		res.End = sandbox.Exited
	}
	return nil
}

// wall is the time between the engine's start and end of the first process.
func wall(state *container.State) time.Duration {
	began, err := time.Parse(time.RFC3339Nano, state.StartedAt)
	if err != nil {
		return 0
	}
	ended, err := time.Parse(time.RFC3339Nano, state.FinishedAt)
	if err != nil {
		return 0
	}
	return max(0, ended.Sub(began))
}

// parseJudgement reads what judgeScript printed: name and number, a line each.
func parseJudgement(b []byte, disk int64) (sandbox.End, error) {
	counts := map[string]int64{}
	for _, line := range strings.Split(string(b), "\n") {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseInt(value, 10, 64); err == nil {
			counts[name] += n
		}
	}
	switch {
	case counts["killed"] > 0 && counts["reached"] == 0:
		return "", errStarved
	case counts["killed"] > 0:
		return sandbox.Memory, nil
	case counts["refused"] > 0:
		return sandbox.Processes, nil
	case counts["shm"]*1024 > disk:
		return sandbox.Disk, nil
	}
	return "", nil
}

// errStarved is a kill by the kernel for the machine's want of memory: the container
// was below its own limit.
var errStarved = &sandbox.ShortageError{
	Of: "memory", Why: "the kernel killed a process of the command, which was below its limit",
	Get: "lower proof.parallel or sandbox.memory, or end what else runs here, and run again",
}

// errKilled is a container that somebody else ended: nothing is known of its command.
var errKilled = errors.New("the container was killed from outside: nothing is known of the command")

func (c *running) isUnneeded() bool {
	select {
	case <-c.unneeded:
		return true
	default:
		return false
	}
}

func (c *running) stop(end sandbox.End) {
	c.mu.Lock()
	if c.end == "" {
		c.end = end
	}
	c.mu.Unlock()
	c.signal("KILL")
}

func (c *running) signal(name string) {
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	// A container that has ended meanwhile cannot be signalled, and need not be.
	_, _ = c.s.api.ContainerKill(ctx, c.id, client.ContainerKillOptions{Signal: name})
}

// clock ends the container when its time is over or nobody wants it any more.
func (c *running) clock(ctx context.Context, done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-ctx.Done():
		c.signal("KILL")
		return
	case <-c.unneeded:
		c.signal("KILL")
		return
	case <-time.After(c.limits.Timeout):
	}
	c.mu.Lock()
	if c.end == "" {
		c.end = sandbox.TimedOut
	}
	c.mu.Unlock()
	for _, ask := range []struct {
		signal string
		grace  time.Duration
	}{{"INT", graceInterrupt}, {"TERM", graceTerminate}} {
		c.signal(ask.signal)
		select {
		case <-done:
			return
		case <-ctx.Done():
		case <-time.After(ask.grace):
		}
	}
	c.signal("KILL")
}
