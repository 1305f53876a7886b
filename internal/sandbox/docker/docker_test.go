package docker_test

import (
	"context"
	"os"
	"testing"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/docker"
	"github.com/benchmint/benchmint/internal/sandbox/docker/dockertest"
	"github.com/benchmint/benchmint/schemas"
)

func TestMain(m *testing.M) { os.Exit(dockertest.Main(m)) }

func TestTry(t *testing.T) {
	dir, _ := dockertest.Dir()
	s, err := docker.New(context.Background(), docker.Options{Dir: dir, Host: dockertest.Host(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	t.Log(s.Describe())
	base, err := s.Base(context.Background(), sandbox.Base{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"id; cat /proc/self/status | grep -E 'Cap|NoNew|Seccomp'; ls -la / /opt; ip a; env; unshare -r true; getent hosts pypi.org; ulimit -a; ps aux; cat /etc/resolv.conf", "true", "sleep 0.1", "echo hi > x; cat x; ls -la . ~; exit 3"} {
		r, err := s.Run(context.Background(), sandbox.Run{Layer: base, Command: schemas.Command{Argv: []string{"sh", "-c", c}}})
		t.Log(r.End, r.ExitCode, r.Wall, r.Overhead, err)
		t.Logf("%s", r.Output)
	}
}
