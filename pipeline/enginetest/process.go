package enginetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/benchmint/benchmint/pipeline"
)

// Result is what the program prints at its end.
type Result struct {
	Summary  pipeline.Summary
	Millis   float64        // of the run, the opening of the store left out
	First    float64        // milliseconds until the first item came out of work
	Executed int            // calls of stages
	Lost     int            // results that were refused
	Calls    map[string]int // of the store, by method
	// Peak is the process's largest resident memory in bytes, as it reads it itself:
	// what the kernel tells a parent (ru_maxrss) begins at the parent's own.
	Peak int64
}

// Engine says how to start the program.
type Engine struct {
	Program string
	Dir     string // of the store, the log and the dataset
	Slots   int
	Config  Config
}

// LogPath is where executions are noted.
func (e Engine) LogPath() string { return filepath.Join(e.Dir, "log") }

// DatasetPath is where the dataset goes.
func (e Engine) DatasetPath() string { return filepath.Join(e.Dir, "dataset") }

// StorePath is where the store lies.
func (e Engine) StorePath() string { return filepath.Join(e.Dir, "state") }

// Process is a running program.
type Process struct {
	cmd      *exec.Cmd
	out, err bytes.Buffer
	done     chan struct{}
	wait     error
}

// Start starts the program; args come after the engine's own.
func (e Engine) Start(args ...string) (*Process, error) {
	config, err := json.Marshal(e.Config)
	if err != nil {
		return nil, err
	}
	all := []string{
		"-store", e.StorePath(), "-log", e.LogPath(), "-out", e.DatasetPath(),
		"-slots", strconv.Itoa(e.Slots), "-config", string(config),
	}
	p := &Process{cmd: exec.Command(e.Program, append(all, args...)...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	// Its own group: a signal meant for the test reaches the test only.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.wait = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal sends a signal; a process that has ended is no error.
func (p *Process) Signal(s syscall.Signal) error {
	err := p.cmd.Process.Signal(s)
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Kill is kill -9; it returns when the process is gone. Killed reports whether it was
// in time.
func (p *Process) Kill() (killed bool, err error) {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return false, err
	}
	<-p.done
	return p.Killed(), nil
}

// Killed reports whether a signal ended it, its own poison included.
func (p *Process) Killed() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}

// KillAfter lets it run for a time. It is false where the process ended by itself.
func (p *Process) KillAfter(d time.Duration) (killed bool, err error) {
	select {
	case <-p.done:
		return p.Killed(), nil
	case <-time.After(d):
		return p.Kill()
	}
}

// Said is what it wrote to standard error.
func (p *Process) Said() string { return p.err.String() }

// Wait waits for a run that comes to its end, with whatever exit code the summary
// asks for, and gives the result.
func (p *Process) Wait() (Result, error) {
	<-p.done
	var r Result
	if err := json.Unmarshal(p.out.Bytes(), &r); err != nil {
		return r, fmt.Errorf("the program ended without a result: %w: %s", p.wait, p.err.String())
	}
	return r, nil
}

// Run is Start and Wait.
func (e Engine) Run(args ...string) (Result, *Process, error) {
	p, err := e.Start(args...)
	if err != nil {
		return Result{}, nil, err
	}
	r, err := p.Wait()
	return r, p, err
}

// Compile builds the program of package engine into a folder.
func Compile(dir string) (string, error) {
	program := filepath.Join(dir, "engine")
	cmd := exec.Command("go", "build", "-o", program, "github.com/benchmint/benchmint/pipeline/enginetest/engine")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the program: %w\n%s", err, out)
	}
	return program, nil
}
