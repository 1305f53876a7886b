package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/watch"
)

// watchdog holds the limit on disk, and sees the limits that the engine's control
// groups hold when they are passed, not only after the end.
type watchdog struct {
	s       *Sandbox
	id      string
	limits  sandbox.Limits
	pid     int          // of the container's first process, 0 where it is out of our sight
	written *watch.Meter // of the container's own layer, or nil where that is out of our sight
	groups  map[string]string
	hungry  bool // the kernel killed below the limit
	ctx     context.Context
}

func (s *Sandbox) newWatchdog(ctx context.Context, id string, limits sandbox.Limits) (*watchdog, error) {
	w := &watchdog{s: s, id: id, limits: limits, ctx: context.WithoutCancel(ctx)}
	if !s.local {
		return w, nil
	}
	res, err := s.api.ContainerInspect(ctx, id, client.ContainerInspectOptions{})
	if err != nil {
		return nil, fmt.Errorf("asking for a container: %w", err)
	}
	if g := res.Container.GraphDriver; g != nil {
		if _, err := os.ReadDir(g.Data["UpperDir"]); err == nil {
			w.written = watch.NewMeter(limits.Disk, g.Data["UpperDir"])
		}
	}
	if pid := res.Container.State.Pid; pid > 0 {
		w.groups = groupsOf(pid, id)
		if w.groups != nil {
			w.pid = pid
		}
	}
	return w, nil
}

// groupsOf finds the control groups of a container's process. A process of another
// machine with the same number does not have the container's name in its groups.
func groupsOf(pid int, id string) map[string]string {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cgroup"))
	if err != nil || !strings.Contains(string(b), id) {
		return nil
	}
	groups := map[string]string{}
	for _, line := range strings.Split(string(b), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, name := range strings.Split(parts[1], ",") {
			groups[name] = filepath.Join("/sys/fs/cgroup", name, parts[2])
		}
	}
	return groups
}

// watch looks until done is closed and reports the first limit that was passed.
func (w *watchdog) watch(done <-chan struct{}, stop func(sandbox.End)) {
	var pace time.Duration = watch.Seldom
	if w.written == nil || w.groups == nil {
		pace = watch.Often
	}
	urgent := func() bool { return w.written != nil && w.written.Urgent() }
	watch.Loop(done, w.cheap, w.dear, pace, urgent, stop)
}

// dear walks what was written, and counts processes where no control group does.
func (w *watchdog) dear() sandbox.End {
	switch {
	case w.overfull():
		return sandbox.Disk
	case w.groups == nil && w.crowded():
		return sandbox.Processes
	}
	return ""
}

// cheap reads the counters of the control groups, of either version.
func (w *watchdog) cheap() sandbox.End {
	switch {
	case w.groups == nil:
		return ""
	case w.counter("memory", "memory.oom_control", "oom_kill")+w.counter("", "memory.events", "oom_kill") > 0:
		w.hungry = watch.Starved(w.groups["memory"]) || watch.Starved(w.groups[""])
		return sandbox.Memory
	case w.counter("pids", "pids.events", "max")+w.counter("", "pids.events", "max") > 0:
		return sandbox.Processes
	}
	return ""
}

func (w *watchdog) counter(group, file, name string) int {
	return watch.Counter(w.groups[group], file, name)
}

// overfull reports whether more is written, and not deleted, than may be.
func (w *watchdog) overfull() bool {
	if w.written == nil {
		return w.counted() > w.limits.Disk
	}
	if w.pid == 0 {
		return w.written.Over(nil, 0)
	}
	return w.written.Over(append(watch.Descendants(w.pid), w.pid), watch.FileSystem(fmt.Sprintf("/proc/%d/root/dev/shm", w.pid)))
}

// counted asks the engine, which counts the bytes that files say they have.
func (w *watchdog) counted() int64 {
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	res, err := w.s.api.ContainerInspect(ctx, w.id, client.ContainerInspectOptions{Size: true})
	if err != nil || res.Container.SizeRw == nil {
		return 0 // the container is gone, or the engine: whoever waits for it will say so
	}
	return *res.Container.SizeRw
}

// crowded asks the engine whether all the processes that may be are there: a fork
// bomb stays at its limit.
func (w *watchdog) crowded() bool {
	const patience = 30 * time.Second
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	res, err := w.s.api.ContainerStats(ctx, w.id, client.ContainerStatsOptions{})
	if err != nil {
		return false // see counted
	}
	defer res.Body.Close()
	var stats container.StatsResponse
	if json.NewDecoder(res.Body).Decode(&stats) != nil {
		return false
	}
	return stats.PidsStats.Current >= uint64(w.limits.Processes)
}

// last is the look after the end: what ended between two looks is still judged.
func (w *watchdog) last() sandbox.End {
	if end := w.cheap(); end != "" {
		return end
	}
	if w.written == nil && w.counted() >= w.limits.Disk || w.written != nil && w.written.Reached() {
		return sandbox.Disk
	}
	return ""
}
