package watch_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/benchmint/benchmint/internal/sandbox/watch"
)

func TestDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := watch.Disk(dir)
	big := filepath.Join(dir, "sub", "big")
	if err := os.Mkdir(filepath.Dir(big), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(big, make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(big, filepath.Join(dir, "same")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/", filepath.Join(dir, "root")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sparse"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(dir, "sparse"), 1<<40); err != nil {
		t.Fatal(err)
	}
	if got := watch.Disk(dir) - empty; got < 1<<20 || got > 1<<20+64<<10 {
		t.Errorf("%d bytes, want a MiB and a few blocks: a hard link counts once, a hole nothing, a link's target nothing", got)
	}
	if got := watch.Disk(filepath.Join(dir, "none")); got != 0 {
		t.Errorf("a missing directory has %d bytes", got)
	}
}

func TestUnlinked(t *testing.T) {
	t.Parallel()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, 1<<20)); err != nil {
		t.Fatal(err)
	}
	self := []int{os.Getpid(), os.Getpid()} // twice: a file counts once
	if got := watch.Unlinked(self); got >= 1<<20 {
		t.Errorf("%d bytes before", got)
	}
	if err := os.Remove(f.Name()); err != nil {
		t.Fatal(err)
	}
	if got := watch.Unlinked(self); got < 1<<20 || got >= 2<<20 {
		t.Errorf("%d bytes after, want a MiB", got)
	}
}

func TestProcesses(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("/bin/sh", "-c", "sleep 60 & sleep 60; true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var below []int
	for began := time.Now(); len(below) < 2 && time.Since(began) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
		below = watch.Descendants(cmd.Process.Pid)
	}
	all := append(below, cmd.Process.Pid)
	if len(below) != 2 || !slices.Contains(watch.Descendants(os.Getpid()), below[0]) {
		t.Errorf("descendants %v", below)
	}
	if got := watch.Tasks(all); got != 3 {
		t.Errorf("%d tasks, want 3", got)
	}
	if got := watch.UserTasks(uint32(os.Geteuid())); got < 3 {
		t.Errorf("%d tasks of the user", got)
	}
	if got := watch.Resident(all, 1<<40); got < 3*100<<10 || got > 100<<20 {
		t.Errorf("%d bytes resident", got)
	}
	// Over the limit, pages that are shared count for a part each.
	if fair, all := watch.Resident(all, 1), watch.Resident(all, 1<<40); fair <= 0 || fair > all {
		t.Errorf("fair %d, all %d", fair, all)
	}
	for _, pid := range all {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	_ = cmd.Wait()
	if got := watch.Descendants(cmd.Process.Pid); len(got) > 0 {
		t.Errorf("descendants of the dead: %v", got)
	}
}

// TestStarved: whose limit a kill for memory was, as both versions of control groups say it.
func TestStarved(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  bool
	}{
		{"v2_own_limit", map[string]string{"memory.events": "low 0\nmax 9\noom 1\noom_kill 1\n"}, false},
		{"v2_of_the_machine", map[string]string{"memory.events": "low 0\nmax 0\noom 0\noom_kill 1\n"}, true},
		{"v2_none", map[string]string{"memory.events": "oom 0\noom_kill 0\n"}, false},
		{"v1_own_limit", map[string]string{"memory.oom_control": "oom_kill 1\n", "memory.max_usage_in_bytes": "16777216\n", "memory.limit_in_bytes": "16777216\n"}, false},
		{"v1_of_the_machine", map[string]string{"memory.oom_control": "oom_kill 1\n", "memory.max_usage_in_bytes": "9000000\n", "memory.limit_in_bytes": "16777216\n"}, true},
		{"v1_unreadable", map[string]string{"memory.oom_control": "oom_kill 1\n"}, false},
	} {
		dir := t.TempDir()
		for name, content := range tc.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := watch.Starved(dir); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
