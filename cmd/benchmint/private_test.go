package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/llm/llmtest"
)

// alone marks the process that has a network namespace of its own.
const alone = "BENCHMINT_TEST_ALONE"

// With local repositories and a model of this machine nothing else is contacted: the run ends
// well in a network namespace that has this endpoint and nothing more.
func TestPrivate(t *testing.T) {
	t.Parallel()
	if os.Getenv(alone) != "" {
		private(t)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPrivate$", "-test.v")
	cmd.Env = append(os.Environ(), alone+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET}
	if uid := os.Getuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, unix.EPERM) && os.Getenv("CI") == "":
		t.Skip("NO NAMESPACE: this user may make no network namespace")
	case err != nil:
		t.Errorf("%v:\n%s", err, out)
	case !strings.Contains(string(out), "--- PASS: TestPrivate"):
		t.Errorf("it did not run:\n%s", out)
	}
}

// loopback brings up the only interface of a new namespace.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }() // nothing was written
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

func private(t *testing.T) {
	t.Helper()
	if err := loopback(); err != nil {
		t.Fatal(err)
	}
	s := llmtest.Start(func(llmtest.Asked) llmtest.Reply {
		return llmtest.Reply{Text: `{"label": "improvement", "quote": "Round areas", "suspicious": false}`}
	})
	defer s.Close()
	history, err := os.ReadFile(filepath.Join("testdata", "widget.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	repo, dir := gitrepotest.New(t, string(history)), t.TempDir()
	run := func(args ...string) (code int, out string) {
		cmd := exec.CommandContext(t.Context(), "benchmint", append([]string{"run", "--until", "classify", "--wait", "0s"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(dir, "cache"), "BENCHMINT_FILTERS_MODIFIES_ONLY=false")
		b, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(b)
	}
	code, out := run(repo, "--set", "model.name=small", "--set", "model.endpoint="+s.Base())
	if code != 0 || len(s.Asked()) == 0 || !strings.Contains(out, "2 linked, 1 wanted") {
		t.Errorf("exit code %d after %d questions:\n%s", code, len(s.Asked()), out)
	}
	if code, out := run("https://git.example.org/acme/widget.git", "--store", "elsewhere"); code != exitDeferred {
		t.Errorf("an address outside of the namespace: exit code %d\n%s", code, out)
	}
}
