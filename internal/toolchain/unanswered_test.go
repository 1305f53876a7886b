package toolchain

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// dies makes this program, in place of an interpreter, end as one that is killed.
const dies = "TOOLCHAIN_TEST_DIES"

func TestMain(m *testing.M) {
	if os.Getenv(dies) != "" {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	os.Exit(m.Run())
}

// An interpreter that is killed while it is asked may be the one that is wanted: a list
// without it would choose another, for good.
func TestKilledInterpreter(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for _, name := range []string{"python3.12", "go"} {
		if err := os.Symlink(self, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := New(Host{Cache: t.TempDir(), Env: []string{"PATH=" + bin, "HOME=" + t.TempDir(), dies + "=1"}})
	for _, name := range []string{Python, Go} {
		list, err := s.Available(t.Context(), name)
		var missing *Missing
		if err == nil || errors.As(err, &missing) || len(list) > 0 || !strings.Contains(err.Error(), "killed") {
			t.Errorf("Available(%s) gave %v, %v; want an error that says what was killed", name, list, err)
		}
		if list, err := s.Installed(t.Context(), name); err == nil {
			t.Errorf("Installed(%s) gave %v", name, list)
		}
		if _, err := s.Get(t.Context(), name, "1.2.3"); err == nil || errors.As(err, &missing) {
			t.Errorf("Get(%s) gave %v", name, err)
		}
	}
}
