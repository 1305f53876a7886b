package bwrap

import (
	"context"
	"testing"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/schemas"
)

func TestTry(t *testing.T) {
	s, err := New(context.Background(), Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(s.Describe())
	base, err := s.Base(context.Background(), sandbox.Base{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []string{"id; cat /proc/self/status | grep -E 'Cap|NoNew|Seccomp'; ls -la / /opt /etc /dev; cat /proc/mounts; ip a; env; unshare -r true; getent hosts pypi.org; ulimit -a", "true", "sleep 0.1", "echo hi > x; cat x; ls -la . ~"} {
		r, err := s.Run(context.Background(), sandbox.Run{Layer: base, Command: schemas.Command{Argv: []string{"sh", "-c", c}}})
		t.Log(r.End, r.ExitCode, r.Wall, r.Overhead, err)
		t.Logf("%s", r.Output)
	}
}
