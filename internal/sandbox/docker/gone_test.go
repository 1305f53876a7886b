package docker_test

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/docker"
	"github.com/benchmint/benchmint/internal/sandbox/docker/dockertest"
	"github.com/benchmint/benchmint/schemas"
)

// line is a socket in front of the engine that can be cut.
type line struct {
	net.Listener
	mu    sync.Mutex
	conns []net.Conn
}

func (l *line) serve(engine string) {
	for {
		from, err := l.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("unix", engine)
		if err != nil {
			_ = from.Close()
			continue
		}
		l.mu.Lock()
		l.conns = append(l.conns, from, to)
		l.mu.Unlock()
		go func() { _, _ = io.Copy(to, from) }()
		go func() {
			_, _ = io.Copy(from, to)
			_ = from.Close()
		}()
	}
}

func (l *line) cut() {
	_ = l.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		_ = c.Close()
	}
}

// TestGone: an engine that goes while it runs something, or was gone before, is said to be gone:
// what came back says nothing of what was run.
func TestGone(t *testing.T) {
	t.Parallel()
	engine, ok := strings.CutPrefix(dockertest.Host(t), "unix://")
	if !ok {
		t.Skip("the engine has no socket of its own here")
	}
	dir, err := dockertest.Dir()
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	l := &line{Listener: listener}
	go l.serve(engine)
	defer l.cut()
	s, err := docker.New(t.Context(), docker.Options{Dir: dir, Host: "unix://" + socket})
	if err != nil {
		t.Fatal(err)
	}
	base, err := s.Base(t.Context(), sandbox.Base{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	began := make(chan struct{})
	go func() {
		<-began
		time.Sleep(2 * time.Second) // the container starts
		l.cut()
	}()
	close(began)
	for what, try := range map[string]func() error{
		"a run": func() error {
			_, err := s.Run(ctx, sandbox.Run{Layer: base, Command: schemas.Command{Argv: []string{"sleep", "30"}}, Limits: sandbox.Limits{Timeout: 40 * time.Second}})
			return err
		},
		"a build": func() error {
			_, _, err := s.Build(ctx, sandbox.Build{Key: "sha256:of-an-engine-that-goes", Parent: base, Steps: []schemas.Command{{Argv: []string{"sleep", "30"}}}})
			return err
		},
	} {
		if err := try(); !errors.As(err, new(*sandbox.GoneError)) {
			t.Errorf("%s ended with %v", what, err)
		}
	}
}
