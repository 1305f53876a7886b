package toolchain

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// bare is a machine with nothing in PATH but what is linked into the folder.
func bare(t *testing.T, more ...string) (*Store, string) {
	t.Helper()
	dir := t.TempDir()
	// go leaves a process behind that counts its uses in the folder of settings: here there
	// can be none, or it writes into a folder that the test is deleting.
	env := append([]string{"PATH=" + dir, "HOME=" + dir, "XDG_CONFIG_HOME=/dev/null", "PYENV_ROOT=" + filepath.Join(dir, "none")}, more...)
	return New(Host{Cache: t.TempDir(), Env: env}), dir
}

// What this machine has is found without a registry, and seen to be other without a
// process.
func TestInstalled(t *testing.T) {
	t.Parallel()
	all, err := hostStore(t).Installed(t.Context(), Python)
	if err != nil || len(all) == 0 {
		t.Skipf("NO PYTHON: %v", err)
	}
	own := hostStore(t).host
	for _, c := range []struct{ name, file, as string }{{Python, own.pythonFiles()[0], "python3.99"}, {Go, "go", "go"}} {
		s, dir := bare(t)
		if where, ok := s.Has(t.Context(), c.name); ok {
			t.Errorf("%s in an empty machine: %s", c.name, where)
		}
		if got, err := s.Installed(t.Context(), c.name); err != nil || len(got) > 0 {
			t.Errorf("%s in an empty machine: %v, %v", c.name, got, err)
		}
		before := s.Sight(c.name)
		if before != s.Sight(c.name) {
			t.Errorf("%s: two sights of one machine", c.name)
		}
		file, err := exec.LookPath(c.file)
		if err != nil {
			t.Skipf("NO %s: %v", c.file, err)
		}
		if err := os.Symlink(file, filepath.Join(dir, c.as)); err != nil {
			t.Fatal(err)
		}
		if s.Sight(c.name) == before {
			t.Errorf("%s came, and nothing is seen of it", c.name)
		}
		s = New(Host{Cache: t.TempDir(), Env: append(s.host.Env, "GOPROXY=http://127.0.0.1:9", "GOCACHE="+t.TempDir())})
		if where, ok := s.Has(t.Context(), c.name); !ok || filepath.Dir(where) != dir {
			t.Errorf("%s is not found: %q", c.name, where)
		}
		got, err := s.Installed(t.Context(), c.name)
		if err != nil || len(got) != 1 || got[0].Name != c.name || got[0].Released.IsZero() {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
		if other, err := s.Installed(t.Context()); err != nil || len(other) > 0 {
			t.Errorf("nothing was asked for: %v, %v", other, err)
		}
	}
}

// A registry that does not answer is an error, and nothing is listed then.
func TestNewest(t *testing.T) {
	t.Parallel()
	s, _ := bare(t)
	if v, err := s.Newest(t.Context(), Go); v != "" || err != nil {
		t.Errorf("without go: %q, %v", v, err)
	}
	exe, err := exec.LookPath("go")
	if err != nil {
		t.Skipf("NO GO: %v", err)
	}
	s, dir := bare(t, "GOPROXY=http://127.0.0.1:9", "GONOSUMDB=*", "GOCACHE="+t.TempDir())
	if err := os.Symlink(exe, filepath.Join(dir, "go")); err != nil {
		t.Fatal(err)
	}
	if v, err := s.Newest(t.Context(), Go); err == nil || s.Listed(Go) != "" {
		t.Errorf("a dead registry: %q, listed %q, %v", v, s.Listed(Go), err)
	}
	s.listed[Go] = []string{"1.25.9", "1.27.0"} // as one told it
	if v, err := s.Newest(t.Context(), Go); v != "1.27.0" || err != nil || s.Listed(Go) != v {
		t.Errorf("newest %q, listed %q, %v", v, s.Listed(Go), err)
	}
	if v, err := s.Newest(t.Context(), Python); v != "" || err != nil {
		t.Errorf("Python has no registry: %q, %v", v, err)
	}
}
