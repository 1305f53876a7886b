package bwrap

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// TestGroupFiles: what is written where, in both versions of control groups; the
// suite shows that this machine's kernel acts on it.
func TestGroupFiles(t *testing.T) {
	t.Parallel()
	limits := sandbox.Limits{CPUs: 1.5, Memory: 1 << 20, Processes: 7}
	for name, c := range map[string]struct {
		v2   bool
		want map[string]string
	}{
		"v1": {false, map[string]string{"memory.limit_in_bytes": "1048576", "memory.memsw.limit_in_bytes": "1048576", "pids.max": "7", "cpu.cfs_quota_us": "150000"}},
		"v2": {true, map[string]string{"memory.max": "1048576", "memory.swap.max": "0", "pids.max": "7", "cpu.max": "150000 100000"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			cs := controllers{}
			for _, which := range []string{"memory", "pids", "cpu"} {
				cs[which] = control{parent: parent, v2: c.v2}
			}
			g, err := cs.newGroup("x", limits)
			if err != nil {
				t.Fatal(err)
			}
			if err := g.add(4711); err != nil {
				t.Fatal(err)
			}
			c.want["cgroup.procs"] = "4711"
			if diff := cmp.Diff(c.want, readAll(t, filepath.Join(parent, "benchmint-x"))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func readAll(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = strings.TrimSpace(string(b))
	}
	return out
}

func TestGroupEvents(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		v2                bool
		file, content     string
		memory, processes bool
	}{
		"v1_killed":     {false, "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n", true, false},
		"v1_quiet":      {false, "memory.oom_control", "oom_kill_disable 1\nunder_oom 1\noom_kill 0\n", false, false},
		"v2_killed":     {true, "memory.events", "low 0\nhigh 0\nmax 12\noom 1\noom_kill 2\noom_group_kill 0\n", true, false},
		"v2_only_tight": {true, "memory.events", "low 0\nhigh 0\nmax 12\noom 0\noom_kill 0\n", false, false},
		"refused_forks": {true, "pids.events", "max 3\n", false, true},
		"no_file":       {true, "other", "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			g := &group{dirs: map[string]string{"memory": dir, "pids": dir}, v2: map[string]bool{"memory": c.v2, "pids": c.v2}}
			if g.outOfMemory() != c.memory || g.outOfProcesses() != c.processes {
				t.Errorf("memory %v, processes %v", g.outOfMemory(), g.outOfProcesses())
			}
		})
	}
}

func TestCandidates(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cgroup")
	if err := os.WriteFile(file, []byte("5:memory:/a/b\n3:cpu,cpuacct:/c\n0::/user.slice/u.scope\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own := ownGroups(file)
	got := []string{}
	for _, which := range []string{"memory", "cpu", "pids"} {
		for _, c := range candidates(which, own) {
			got = append(got, which+" "+c.parent)
		}
	}
	want := []string{
		"memory /sys/fs/cgroup/memory/a/b", "memory /sys/fs/cgroup/memory", "memory /sys/fs/cgroup/user.slice", "memory /sys/fs/cgroup",
		"cpu /sys/fs/cgroup/cpu/c", "cpu /sys/fs/cgroup/cpu", "cpu /sys/fs/cgroup/user.slice", "cpu /sys/fs/cgroup",
		"pids /sys/fs/cgroup/user.slice", "pids /sys/fs/cgroup",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
