package bwrap_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/bwrap"
	"github.com/benchmint/benchmint/internal/sandbox/sandboxtest"
)

// open makes a sandbox, or skips loudly where this machine has no bubblewrap.
func open(t testing.TB, o bwrap.Options) *bwrap.Sandbox {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	s, err := bwrap.New(t.Context(), o)
	if refused := (*sandbox.Refused)(nil); errors.As(err, &refused) {
		t.Skipf("NO BUBBLEWRAP HERE: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSandbox(t *testing.T) {
	dir := t.TempDir()
	sandboxtest.Run(t, sandboxtest.Kind{
		Open: func(t *testing.T, o sandboxtest.Options) sandbox.Sandbox {
			s := open(t, bwrap.Options{Dir: dir, CABundle: o.CABundle, Registries: o.Registries, Env: o.Env})
			t.Log(s.Describe())
			return s
		},
		Left:   func(t *testing.T) []string { return left(t, dir) },
		Looked: os.Geteuid() != 0,
	})
}

// left are scratch directories and control groups that no run needs any more.
func left(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "bwrap", "runs", "*"))
	if err != nil {
		t.Fatal(err)
	}
	groups, err := filepath.Glob(fmt.Sprintf("/sys/fs/cgroup/*/benchmint-%d-*", os.Getpid()))
	if err != nil {
		t.Fatal(err)
	}
	return append(names, groups...)
}
