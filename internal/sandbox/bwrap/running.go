package bwrap

import (
	"bytes"
	"context"
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
	cmd    *exec.Cmd
	output *sandbox.Capped
	pipe   *os.File // our end of the command's output
	inner  *os.File
	status *os.File // bwrap's own word on the command
	meter  *watch.Meter

	given, report *os.File // our ends of the channel
	said          *sandbox.Capped

	mu  sync.Mutex
	end sandbox.End
}

// namespaces are those of the shim; bwrap makes the others. It has its own PID
// namespace below the shim's: that one is there from the first moment, so that a kill
// at any time takes all.
func (s *Sandbox) namespaces() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWNET | unix.CLONE_NEWPID, Pdeathsig: unix.SIGKILL}
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
	var err error
	if c.pipe, c.inner, err = os.Pipe(); err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = c.inner, c.inner
	c.output = sandbox.NewCapped(c.limits.Output, func() { c.stop(sandbox.Output) })
	return nil
}

// started lets go of the end of the pipe that is the command's.
func (c *running) started() {
	if c.inner != nil {
		c.inner.Close()
	}
}

func (c *running) abandon() {
	for _, f := range []*os.File{c.pipe, c.given, c.report} {
		if f != nil {
			f.Close()
		}
	}
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

// wait sees the command to its end.
func (c *running) wait(ctx context.Context, faults *os.File) (sandbox.Result, error) {
	var served sync.WaitGroup
	c.converse(&served)
	if c.pipe != nil {
		served.Go(func() {
			_, _ = io.Copy(c.output, c.pipe)
			c.pipe.Close()
		})
	}
	fault, _ := io.ReadAll(faults) // ends when bwrap is executed
	faults.Close()
	began := time.Now()
	done := make(chan struct{})
	var watchers sync.WaitGroup
	kills := watch.Kills()
	dog := &watchdog{limits: c.limits, group: c.group, written: c.meter, pid: c.cmd.Process.Pid}
	watchers.Go(func() { dog.watch(done, c.stop) })
	watchers.Go(func() { c.clock(ctx, done) })
	watchers.Go(func() { c.space.Watch(done, c.kill) })
	err := c.cmd.Wait()
	wall := time.Since(began)
	served.Wait() // every writer died with the sandbox
	close(done)
	watchers.Wait()

	res := sandbox.Result{End: c.ended(), ExitCode: c.cmd.ProcessState.ExitCode(), Wall: wall}
	if c.output != nil {
		res.Output = c.output.Bytes()
	}
	if c.said != nil {
		res.Report, res.ReportCut = c.said.Bytes(), c.said.Full()
	}
	switch {
	case ctx.Err() != nil:
		return res, ctx.Err()
	case len(fault) > 0:
		return res, fmt.Errorf("preparing the sandbox: %s", fault)
	case err != nil && c.cmd.ProcessState == nil:
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
	if res.End == "" {
		res.End = sandbox.Exited
		return res, c.executed(res)
	}
	return res, nil
}

// starved tells a kill by the kernel for the machine's want of memory from one for the
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
func (c *running) executed(res sandbox.Result) error {
	said, err := io.ReadAll(io.NewSectionReader(c.status, 0, 1<<16))
	if err != nil {
		return fmt.Errorf("reading what bwrap says: %w", err)
	}
	if bytes.Contains(said, []byte(`"exit-code"`)) {
		return nil
	}
	if st, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && st.Signaled() {
		return fmt.Errorf("the sandbox was killed from outside (%s): nothing is known of the command", st.Signal())
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
func (c *running) kill() { _ = c.cmd.Process.Kill() }

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
	for _, init := range children[c.cmd.Process.Pid] {
		if below := children[init]; len(below) > 0 {
			out = append(out, below[0])
		}
	}
	return out
}
