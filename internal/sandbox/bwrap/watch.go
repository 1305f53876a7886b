package bwrap

import (
	"time"

	"github.com/benchmint/benchmint/internal/sandbox"
	"github.com/benchmint/benchmint/internal/sandbox/watch"
)

// watchdog holds the limits that the kernel does not hold for us: disk always,
// memory and processes where there is no control group for them.
type watchdog struct {
	limits  sandbox.Limits
	group   *group
	written *watch.Meter
	pid     int // the outermost process of the sandbox
}

// watch looks until done is closed and reports the first limit that was passed.
func (w *watchdog) watch(done <-chan struct{}, stop func(sandbox.End)) {
	var pace time.Duration = watch.Seldom
	if w.group.dirs["pids"] == "" || w.group.dirs["memory"] == "" {
		pace = watch.Often
	}
	watch.Loop(done, w.cheap, w.dear, pace, w.written.Urgent, stop)
}

func (w *watchdog) cheap() sandbox.End {
	switch {
	case w.group.outOfMemory():
		return sandbox.Memory
	case w.group.outOfProcesses():
		return sandbox.Processes
	}
	return ""
}

func (w *watchdog) dear() sandbox.End {
	pids := watch.Descendants(w.pid)
	if w.group.dirs["pids"] == "" && watch.Tasks(pids) > w.limits.Processes {
		return sandbox.Processes
	}
	if w.group.dirs["memory"] == "" && watch.Resident(pids, w.limits.Memory) > w.limits.Memory {
		return sandbox.Memory
	}
	if w.written.Over(pids, 0) {
		return sandbox.Disk
	}
	return ""
}

// last is the look after the end: what ended between two looks is still judged.
func (w *watchdog) last() sandbox.End {
	if end := w.cheap(); end != "" {
		return end
	}
	if w.written.Reached() {
		return sandbox.Disk
	}
	return ""
}
