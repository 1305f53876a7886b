package bwrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/watch"
)

// Grace after a time-out: a runner that catches an interrupt still writes its report.
const (
	graceInterrupt = 2 * time.Second
	graceTerminate = time.Second
)

// running is one command between its start and its end.
type running struct {
	job
	proc   *process
	link   *link  // to a shim of a starter
	far    passed // its status is bwrap's own word on the command, and stays open
	output *sandbox.Capped
	pipe   *os.File // our end of the command's output
	inner  *os.File
	meter  *watch.Meter

	given, report *os.File // our ends of the channel
	said          *sandbox.Capped

	mu  sync.Mutex
	end sandbox.End
}

// self is this program.
const self = "/proc/self/exe"

// namespaces are those of the shim; bwrap makes the others. It has its own PID
// namespace below the shim's: that one is there from the first moment, so that a kill
// at any time takes all.
func (s *Sandbox) namespaces(flags uintptr) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: flags, Pdeathsig: unix.SIGKILL}
	if !s.root {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attr
}

// connect gives the command its streams, and puts it in its control groups before
// it has an order.
func (c *running) connect(cmd *exec.Cmd) error {
	if t := c.interactive; t != nil {
		cmd.Stdin, cmd.Stdout, cmd.Stderr = t.In, t.Out, t.Err
		cmd.WaitDelay = time.Second // for an input that never ends
		return nil
	}
	// A terminal's interrupt is for us, not for it: we end it in order.
	cmd.SysProcAttr.Setpgid = true
	if err := c.openOutput(); err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = c.inner, c.inner
	return nil
}

// openOutput makes the pipe that captures the command's output.
func (c *running) openOutput() error {
	var err error
	if c.pipe, c.inner, err = os.Pipe(); err != nil {
		return err
	}
	c.output = sandbox.NewCapped(c.limits.Output, func() { c.stop(sandbox.Output) })
	return nil
}

// started lets go of what is the command's: its shim has it.
func (c *running) started(proc *process) {
	c.proc = proc
	c.far.close()
	if c.inner != nil {
		c.inner.Close()
	}
}

// free closes whatever is still open, when the command has ended or was never started.
func (c *running) free() {
	c.far.close()
	for _, f := range []*os.File{c.far.status, c.pipe, c.inner, c.given, c.report} {
		if f != nil {
			f.Close()
		}
	}
	if c.link != nil {
		c.link.close()
	}
	c.group.remove()
}

// converse serves the channel until the command is gone.
func (c *running) converse(served *sync.WaitGroup) {
	if c.channel == nil {
		return
	}
	c.said = sandbox.NewCapped(c.reportMax, nil)
	served.Go(func() {
		_, _ = c.given.Write(c.channel.Given) // a command that reads less says so by its report
		c.given.Close()
	})
	served.Go(func() {
		_, _ = io.Copy(c.said, c.report)
		c.report.Close()
	})
}

// errServed is why the context of a service ends whose run has ended: no fault.
var errServed = errors.New("the run that it served has ended")

// wait sees the command to its end; fault is what its shim reported.
func (c *running) wait(ctx context.Context, fault string) (sandbox.Result, error) {
	var served sync.WaitGroup
	c.converse(&served)
	if c.pipe != nil {
		served.Go(func() {
			_, _ = io.Copy(c.output, c.pipe)
			c.pipe.Close()
		})
	}
	began := time.Now()
	done := make(chan struct{})
	var watchers sync.WaitGroup
	kills := watch.Kills()
	dog := &watchdog{limits: c.limits, group: c.group, written: c.meter, pid: c.proc.Pid}
	watchers.Go(func() { dog.watch(done, c.stop) })
	watchers.Go(func() { c.clock(ctx, done) })
	watchers.Go(func() { c.space.Watch(done, c.kill) })
	state, err := c.proc.wait()
	wall := time.Since(began)
	served.Wait() // every writer died with the sandbox
	close(done)
	watchers.Wait()

	res := sandbox.Result{End: c.ended(), ExitCode: state.ExitCode(), Wall: wall}
	if c.output != nil {
		res.Output = c.output.Bytes()
	}
	if c.said != nil {
		res.Report, res.ReportCut = c.said.Bytes(), c.said.Full()
	}
	unneeded := c.serves && errors.Is(context.Cause(ctx), errServed)
	switch {
	case ctx.Err() != nil && !unneeded:
		return res, ctx.Err()
	case fault != "":
		return res, fmt.Errorf("preparing the sandbox: %s", fault)
	case err != nil && state == nil:
		return res, fmt.Errorf("waiting for the sandbox: %w", err)
	}
	// Whatever the command did on a machine that was short of something, or what of it
	// was ended for that, says nothing of it.
	if err := c.space.Short(res.Output); err != nil {
		return res, err
	}
	if res.End == "" || res.End == sandbox.Memory {
		if err := c.starved(res, kills); err != nil {
			return res, err
		}
	}
	if res.End == "" {
		res.End = dog.last()
	}
	if res.End == "" && !(unneeded && signaled(state)) {
		res.End = sandbox.Exited
		return res, c.executed(res, state)
	}
	return res, nil
}

func signaled(state *os.ProcessState) bool {
	st, ok := state.Sys().(syscall.WaitStatus)
	return ok && st.Signaled()
}

// starved distinguishes a kill by the kernel for the machine's want of memory from one for the
// command's limit. Where a control group counts, it knows whose; else, any kill on this
// machine while a command failed may have been of it.
func (c *running) starved(res sandbox.Result, before int) error {
	short := &sandbox.ShortageError{Of: "memory", Get: "lower proof.parallel or sandbox.memory, or end what else runs here, and run again"}
	if c.group.dirs["memory"] != "" {
		if c.group.outOfMemory() && watch.Starved(c.group.dirs["memory"]) {
			short.Why = "the kernel killed a process of the command, which was below its limit"
			return short
		}
		return nil
	}
	if res.End == "" && res.ExitCode != 0 && watch.Kills() > before {
		short.Why = "the kernel killed a process for it while the command ran"
		return short
	}
	return nil
}

// executed reports that the command ran at all. bwrap fails with the same exit codes
// as commands do, and a fault of the machine must never read as the command's.
func (c *running) executed(res sandbox.Result, state *os.ProcessState) error {
	said, err := io.ReadAll(io.NewSectionReader(c.far.status, 0, 1<<16))
	if err != nil {
		return fmt.Errorf("reading what bwrap says: %w", err)
	}
	if bytes.Contains(said, []byte(`"exit-code"`)) {
		return nil
	}
	if signaled(state) {
		return fmt.Errorf("the sandbox was killed from outside (%s): nothing is known of the command", state)
	}
	const few = 500
	log := res.Output[:min(len(res.Output), few)]
	return fmt.Errorf("the sandbox ended before the command was executed (exit %d): %s", res.ExitCode, bytes.TrimSpace(log))
}

func (c *running) ended() sandbox.End {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.end
}

// stop ends the command for a limit: the first one that is passed counts.
func (c *running) stop(end sandbox.End) {
	c.mu.Lock()
	if c.end == "" {
		c.end = end
	}
	c.mu.Unlock()
	c.kill()
}

// kill ends the whole tree: the first process is alone with all others in a PID
// namespace, and with it they die, whatever they ignore and whoever their parent is.
func (c *running) kill() { _ = c.proc.Kill() }

// clock ends the command when its time is over or nobody wants it any more.
func (c *running) clock(ctx context.Context, done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-ctx.Done():
		c.kill()
		return
	case <-time.After(c.limits.Timeout):
	}
	c.mu.Lock()
	if c.end == "" {
		c.end = sandbox.TimedOut
	}
	c.mu.Unlock()
	for _, ask := range []struct {
		signal unix.Signal
		grace  time.Duration
	}{{unix.SIGINT, graceInterrupt}, {unix.SIGTERM, graceTerminate}} {
		for _, pid := range c.payload() {
			_ = unix.Kill(pid, ask.signal)
		}
		select {
		case <-done:
			return
		case <-ctx.Done():
		case <-time.After(ask.grace):
		}
	}
	c.kill()
}

// payload is the command's own first process: below bwrap is its init, and below
// that the command, beside orphans that it took in.
func (c *running) payload() []int {
	children := watch.Children()
	var out []int
	for _, init := range children[c.proc.Pid] {
		if below := children[init]; len(below) > 0 {
			out = append(out, below[0])
		}
	}
	return out
}
