package bwrap

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/watch"
)

// control is one controller (memory, pids, cpu) and the directory that new groups
// are made in.
type control struct {
	parent string
	v2     bool
}

// controllers are those in which this process can make groups. What is missing is
// kept by the watchdog and by rlimits.
type controllers map[string]control

const cgroupRoot = "/sys/fs/cgroup"

// findControllers makes a group in each place that may be ours, as the one proof
// that it can be done.
func findControllers(self string) controllers {
	found := controllers{}
	own := ownGroups(self)
	for _, name := range []string{"memory", "pids", "cpu"} {
		for _, c := range candidates(name, own) {
			if c.usable(name) {
				found[name] = c
				break
			}
		}
	}
	return found
}

// ownGroups reads /proc/self/cgroup: controller → path, "" → the path in v2.
func ownGroups(self string) map[string]string {
	own := map[string]string{}
	f, err := os.Open(self)
	if err != nil {
		return own
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		parts := strings.SplitN(lines.Text(), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, name := range strings.Split(parts[1], ",") {
			own[name] = parts[2]
		}
	}
	return own
}

// candidates are the places for one controller, best first. In v2 a group that
// holds processes can have no limited children, so it is the parent of our own
// group that new ones are made in; a service manager's user slice allows that.
func candidates(name string, own map[string]string) []control {
	var out []control
	if group, ok := own[name]; ok {
		base := filepath.Join(cgroupRoot, name)
		out = append(out, control{parent: filepath.Join(base, group)}, control{parent: base})
	}
	if group, ok := own[""]; ok {
		for dir := filepath.Dir(filepath.Join(cgroupRoot, group)); strings.HasPrefix(dir, cgroupRoot); dir = filepath.Dir(dir) {
			out = append(out, control{parent: dir, v2: true})
		}
	}
	return out
}

func (c control) usable(name string) bool {
	if c.v2 {
		b, err := os.ReadFile(filepath.Join(c.parent, "cgroup.subtree_control"))
		if err != nil || !strings.Contains(" "+strings.TrimSpace(string(b))+" ", " "+name+" ") {
			return false
		}
		// Moving a process needs write access to the nearest common group.
		if unix.Access(filepath.Join(c.parent, "cgroup.procs"), unix.W_OK) != nil {
			return false
		}
	}
	dir := filepath.Join(c.parent, fmt.Sprintf("benchmint-probe-%d", os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return false
	}
	defer os.Remove(dir)
	_, err := os.Stat(filepath.Join(dir, limitFile(name, c.v2)))
	return err == nil
}

func limitFile(name string, v2 bool) string {
	switch {
	case name == "pids":
		return "pids.max"
	case name == "memory" && v2:
		return "memory.max"
	case name == "memory":
		return "memory.limit_in_bytes"
	case v2:
		return "cpu.max"
	}
	return "cpu.cfs_quota_us"
}

// group is one run's place in each controller.
type group struct {
	dirs map[string]string
	v2   map[string]bool
}

// newGroup makes the groups of one run and sets their limits.
func (cs controllers) newGroup(name string, l sandbox.Limits) (*group, error) {
	g := &group{dirs: map[string]string{}, v2: map[string]bool{}}
	for which, c := range cs {
		dir := filepath.Join(c.parent, "benchmint-"+name)
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			g.remove()
			return nil, fmt.Errorf("making a control group: %w", err)
		}
		g.dirs[which], g.v2[which] = dir, c.v2
	}
	if err := g.limit(l); err != nil {
		g.remove()
		return nil, err
	}
	return g, nil
}

func (g *group) limit(l sandbox.Limits) error {
	memory := strconv.FormatInt(l.Memory, 10)
	if g.v2["memory"] {
		if err := g.write("memory", "memory.max", memory); err != nil {
			return err
		}
		g.optional("memory", "memory.swap.max", "0")
	} else if g.dirs["memory"] != "" {
		if err := g.write("memory", "memory.limit_in_bytes", memory); err != nil {
			return err
		}
		g.optional("memory", "memory.memsw.limit_in_bytes", memory)
	}
	if err := g.write("pids", "pids.max", strconv.Itoa(l.Processes)); err != nil {
		return err
	}
	const period = 100_000 // microseconds: the kernel's default
	quota := strconv.Itoa(int(l.CPUs * period))
	switch {
	case l.CPUs <= 0 || g.dirs["cpu"] == "":
		return nil
	case g.v2["cpu"]:
		return g.write("cpu", "cpu.max", quota+" "+strconv.Itoa(period))
	}
	return g.write("cpu", "cpu.cfs_quota_us", quota)
}

func (g *group) write(which, file, value string) error {
	if g.dirs[which] == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(g.dirs[which], file), []byte(value), 0o644); err != nil {
		return fmt.Errorf("setting %s: %w", file, err)
	}
	return nil
}

// optional is for swap accounting, which many kernels are built or started without.
func (g *group) optional(which, file, value string) {
	_ = os.WriteFile(filepath.Join(g.dirs[which], file), []byte(value), 0o644)
}

func (g *group) add(pid int) error {
	for which, dir := range g.dirs {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o644); err != nil {
			return fmt.Errorf("entering the control group for %s: %w", which, err)
		}
	}
	return nil
}

// outOfMemory reports whether the kernel killed for the memory limit.
func (g *group) outOfMemory() bool {
	file := "memory.oom_control"
	if g.v2["memory"] {
		file = "memory.events"
	}
	return g.counter("memory", file, "oom_kill") > 0
}

// outOfProcesses reports whether a fork failed for the limit.
func (g *group) outOfProcesses() bool { return g.counter("pids", "pids.events", "max") > 0 }

func (g *group) counter(which, file, name string) int {
	return watch.Counter(g.dirs[which], file, name)
}

// remove waits for the kernel to let go of the last process.
func (g *group) remove() {
	for _, dir := range g.dirs {
		const patience = 5 * time.Second
		for wait := time.Millisecond; os.Remove(dir) != nil && wait < patience; wait *= 2 {
			if _, err := os.Stat(dir); err != nil {
				break
			}
			time.Sleep(wait)
		}
	}
}

// sweep removes the groups of processes of ours that were killed.
func (cs controllers) sweep() {
	for _, c := range cs {
		dirs, _ := filepath.Glob(filepath.Join(c.parent, "benchmint-*-*"))
		for _, dir := range dirs {
			owner, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), "benchmint-"), "-")
			if _, err := os.Stat(filepath.Join("/proc", owner)); errors.Is(err, os.ErrNotExist) {
				_ = os.Remove(dir) // one that still holds processes stays
			}
		}
	}
}
