package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/benchmint/benchmint/output"
	"github.com/benchmint/benchmint/schemas"
)

// bench is one measurement.
type bench struct {
	program, kind, dir string
	sources            []string
	changes            int
}

// measure is one run of the program.
type measure struct {
	wall, cpu time.Duration
	executed  map[string]int // steps by stage
	rows      int
	manifest  schemas.Digest
	seen      map[string]traffic
	refused   []string
}

// steps are those executed, of all stages.
func (m measure) steps() (n int) {
	for _, of := range m.executed {
		n += of
	}
	return n
}

// total is the traffic of all kinds.
func (m measure) total() (t traffic) {
	for _, kind := range m.seen {
		t.requests += kind.requests
		t.bytes += kind.bytes
	}
	return t
}

// twice runs the program with nothing cached, and again.
func (b *bench) twice(ctx context.Context) (first, second measure, err error) {
	c := &counter{sources: map[string]string{}}
	if err := b.prepare(c); err != nil {
		return first, second, err
	}
	stop, err := c.serve()
	if err != nil {
		return first, second, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if first, err = b.mint(ctx, c); err != nil {
		return first, second, err
	}
	second, err = b.mint(ctx, c)
	return first, second, err
}

// prepare makes the folder, the program and the configuration.
func (b *bench) prepare(c *counter) (err error) {
	if len(b.sources) == 0 {
		return errors.New("usage: twice SOURCE…")
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return err
	}
	if err := errors.Join(b.clean(), os.MkdirAll(b.dir, 0o755)); err != nil {
		return err
	}
	if b.program == "" {
		b.program = filepath.Join(b.dir, "benchmint")
		if out, err := exec.Command("go", "build", "-o", b.program, "github.com/benchmint/benchmint/cmd/benchmint").CombinedOutput(); err != nil {
			return fmt.Errorf("building the program: %w: %s", err, out)
		}
	}
	if b.program, err = filepath.Abs(b.program); err != nil {
		return err
	}
	config := fmt.Sprintf("dataset: twice\nlimits: {changes: %d}\nsandbox: {kind: %s}\nstore: state\noutput: out\nsources:\n", b.changes, b.kind)
	for _, source := range b.sources {
		at, err := place(source)
		if err != nil {
			return err
		}
		if c.sources[at] != "" {
			return fmt.Errorf("%s and %s are both %s", c.sources[at], source, at)
		}
		if info, err := os.Stat(source); err == nil && info.IsDir() {
			if source, err = filepath.Abs(source); err != nil {
				return err
			}
		}
		c.sources[at] = source
		config += "  - git: http://" + gitHost + at + "\n"
	}
	return os.WriteFile(filepath.Join(b.dir, "benchmint.yaml"), []byte(config), 0o644)
}

// clean removes the folder; the go command makes its module cache read-only.
func (b *bench) clean() error {
	modules := b.modules()
	if _, err := os.Stat(modules); err == nil {
		cmd := exec.Command("go", "clean", "-modcache")
		cmd.Env = append(cmd.Environ(), "GOMODCACHE="+modules)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go clean: %w: %s", err, out)
		}
	}
	return os.RemoveAll(b.dir)
}

// modules is the host's module cache, into which the go command fetches toolchains.
func (b *bench) modules() string { return filepath.Join(b.dir, "modules") }

// mint runs the program with the caches of this measurement only: its own (mirrors,
// toolchains, layers, and what uv and go keep between builds), and those of the
// host's go command.
func (b *bench) mint(ctx context.Context, c *counter) (m measure, err error) {
	cmd := exec.CommandContext(ctx, b.program, "run", "-c", "benchmint.yaml", "--json")
	cmd.Dir = b.dir
	cmd.Env = append(cmd.Environ(), c.environ()...)
	cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+filepath.Join(b.dir, "cache"), "GOMODCACHE="+b.modules(), "GOCACHE="+filepath.Join(b.dir, "cache", "go-build"))
	var said, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &told
	began := time.Now()
	err = cmd.Run()
	m.wall = time.Since(began)
	m.seen, m.refused = c.take()
	if err != nil {
		return m, fmt.Errorf("benchmint run: %w\n%s%s%s", err, told.String(), said.String(), strings.Join(m.refused, "\n"))
	}
	m.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	var r struct {
		Summary struct {
			Stages []struct {
				Stage    string
				Executed int
			}
		}
		Tasks int
	}
	if err := json.Unmarshal(said.Bytes(), &r); err != nil {
		return m, fmt.Errorf("benchmint run: %w: %s", err, said.String())
	}
	m.executed = map[string]int{}
	for _, s := range r.Summary.Stages {
		if s.Executed > 0 {
			m.executed[s.Stage] = s.Executed
		}
	}
	m.rows = r.Tasks
	text, err := os.ReadFile(filepath.Join(b.dir, "out", output.ManifestFile))
	m.manifest = schemas.DigestBytes(text)
	return m, err
}
