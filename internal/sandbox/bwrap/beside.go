package bwrap

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// doBeside runs a job's command to its end, with a service beside it.
func (s *Sandbox) doBeside(ctx context.Context, j job, b *sandbox.Beside) (sandbox.Result, error) {
	if b.Deployed {
		return sandbox.Result{}, errors.New("the service is an image, and bwrap cannot run images")
	}
	release, err := s.store.use(ctx, b.Layer.ID)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer release()
	sp, err := s.newSpace()
	if err != nil {
		return sandbox.Result{}, err
	}
	defer sp.close()
	o, written, toolchains, _, err := s.stacked(sp, b.Layer.ID)
	if err != nil {
		return sandbox.Result{}, err
	}
	o.Put, o.Joined, j.order.Joined = b.Inputs, true, true
	limits := b.Limits.Filled()
	limits.Timeout = math.MaxInt64 // it ends with the run
	service, err := s.ready(job{
		order: o, command: b.Command, env: sandbox.Environ(b.Env, b.Command.Env), toolchains: toolchains,
		limits: limits, written: written, space: j.space, serves: true, names: j.names,
	})
	if err != nil {
		return sandbox.Result{}, fmt.Errorf("the service: %w", err)
	}
	defer service.free()
	tester, err := s.ready(j)
	if err != nil {
		return sandbox.Result{}, err
	}
	defer tester.free()
	return s.together(ctx, service, tester)
}

// together starts a service and then a command that share a network, and ends the service
// when the command has ended.
func (s *Sandbox) together(ctx context.Context, service, tester *running) (sandbox.Result, error) {
	if err := s.startTogether(ctx, service, tester); err != nil {
		return sandbox.Result{}, err
	}
	fault, err := service.link.give(service.proc, service.group, service.order)
	if err != nil {
		tester.proc.end()
		return sandbox.Result{}, fmt.Errorf("the service: %w", err)
	}
	serving, serve := context.WithCancelCause(ctx)
	defer serve(nil)
	testing, test := context.WithCancelCause(ctx)
	defer test(nil)
	var served sandbox.Served
	var failed error // of the machine, in the service's sandbox
	var ended sync.WaitGroup
	ended.Go(func() {
		var res sandbox.Result
		res, failed = service.wait(serving, fault)
		served = sandbox.Served{End: res.End, ExitCode: res.ExitCode, Output: res.Output}
		if served.End != sandbox.Exited {
			served.ExitCode = 0
		}
		if failed != nil {
			test(failed) // whatever the command does now says nothing
		}
	})
	var res sandbox.Result
	own, err := tester.link.give(tester.proc, tester.group, tester.order)
	if err == nil {
		res, err = tester.wait(testing, own)
	}
	serve(errServed)
	ended.Wait()
	res.Beside = &served
	if failed != nil && ctx.Err() == nil {
		err = fmt.Errorf("the service: %w", failed)
	}
	return res, err
}

// startTogether starts the shims of commands in one new network. They have no order yet.
func (s *Sandbox) startTogether(ctx context.Context, commands ...*running) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	var files []*os.File // of the starter, from firstFD on
	var p plan
	for _, c := range commands {
		if err := c.openOutput(); err != nil {
			return err
		}
		if c.link, err = newLink(); err != nil {
			return err
		}
		var fds []int
		for _, f := range append([]*os.File{null, c.inner, c.inner}, c.far.files(c.link)...) {
			fd := -1
			if f != nil {
				fd = firstFD + len(files)
				files = append(files, f)
			}
			fds = append(fds, fd)
		}
		p.Shims = append(p.Shims, fds)
	}
	p.End = firstFD + len(files)
	pids, err := s.starter(p, files)
	for i, pid := range pids {
		proc, found := os.FindProcess(pid)
		if found != nil {
			return errors.Join(err, found)
		}
		commands[i].started(&process{proc, proc.Wait})
	}
	if err != nil {
		for i := range pids {
			commands[i].proc.end()
		}
	}
	return err
}

// starter runs a starter, and returns the process IDs of the shims that it has started.
func (s *Sandbox) starter(p plan, files []*os.File) (pids []int, err error) {
	l, err := newLink()
	if err != nil {
		return nil, err
	}
	defer l.close()
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	defer out.Close()
	cmd := &exec.Cmd{
		Path: self, Args: []string{starterName}, Env: []string{},
		ExtraFiles:  append([]*os.File{l.orders, l.faultIn, out}, files...),
		SysProcAttr: s.namespaces(unix.CLONE_NEWNET),
	}
	cmd.SysProcAttr.Setpgid = true
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the sandbox: %w", err)
	}
	l.orders.Close()
	l.faultIn.Close()
	out.Close()
	_ = gob.NewEncoder(l.orderOut).Encode(p) // one that has ended says why
	unread := gob.NewDecoder(in).Decode(&pids)
	fault, _ := io.ReadAll(l.faults)
	if err := cmd.Wait(); err != nil || unread != nil {
		return pids, fmt.Errorf("preparing the sandbox: %s: %w", fault, errors.Join(err, unread))
	}
	return pids, nil
}
