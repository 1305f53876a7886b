package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/gitrepo/gitrepotest"
	"github.com/benchmint/benchmint/internal/llm/llmtest"
)

// With local repositories and a model of this machine nothing else is contacted: the run ends
// well in a network namespace that has this endpoint and nothing more.
func TestPrivate(t *testing.T) {
	// The thread is given up at the end: nothing else may run in its namespace.
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); errors.Is(err, unix.EPERM) {
		runtime.UnlockOSThread()
		t.Skip("NO NAMESPACE: a network namespace needs root")
	} else if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		t.Skipf("NO NAMESPACE: its loopback cannot be used: %v: %s", err, out)
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
