package bwrap

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// pace is how often the watchdog looks at the least; it never takes more than a
// tenth of its own time.
const pace = 50 * time.Millisecond

// watchdog holds the limits that the kernel does not hold for us: disk always,
// memory and processes where there is no control group for them.
type watchdog struct {
	limits  sandbox.Limits
	group   *group
	written string // all that the run writes lies below it
	pid     int    // the outermost process of the sandbox
}

// watch looks until done is closed and reports the first limit that was passed.
func (w *watchdog) watch(done <-chan struct{}, stop func(sandbox.End)) {
	var tree time.Duration // what the dear look took
	var last time.Time
	for {
		select {
		case <-done:
			return
		case <-time.After(pace):
		}
		if end := w.cheap(); end != "" {
			stop(end)
			return
		}
		if time.Since(last) < 10*tree {
			continue
		}
		last = time.Now()
		if end := w.dear(); end != "" {
			stop(end)
			return
		}
		tree = time.Since(last)
	}
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
	pids := descendants(w.pid)
	if w.group.dirs["pids"] == "" && len(pids) > w.limits.Processes {
		return sandbox.Processes
	}
	if w.group.dirs["memory"] == "" && resident(pids, w.limits.Memory) > w.limits.Memory {
		return sandbox.Memory
	}
	if diskUsed(w.written)+unlinked(pids) > w.limits.Disk {
		return sandbox.Disk
	}
	return ""
}

// last is the look after the end: what ended between two looks is still judged.
func (w *watchdog) last() sandbox.End {
	if end := w.cheap(); end != "" {
		return end
	}
	if diskUsed(w.written) > w.limits.Disk {
		return sandbox.Disk
	}
	return ""
}

// block is what an entry costs at least: empty files fill a disk too.
const block = 4096

// diskUsed counts allocated blocks below dir; what vanishes meanwhile counts nothing.
func diskUsed(dir string) int64 {
	var total int64
	linked := map[uint64]bool{}
	_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		var st unix.Stat_t
		if err != nil || unix.Lstat(p, &st) != nil {
			return nil
		}
		if st.Nlink > 1 && !d.IsDir() {
			if linked[st.Ino] {
				return nil
			}
			linked[st.Ino] = true
		}
		total += max(st.Blocks*512, block)
		return nil
	})
	return total
}

// unlinked counts files that a process holds open and no directory names.
func unlinked(pids []int) int64 {
	var total int64
	seen := map[[2]uint64]bool{}
	for _, pid := range pids {
		dir := filepath.Join("/proc", strconv.Itoa(pid), "fd")
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			var st unix.Stat_t
			if unix.Stat(filepath.Join(dir, e.Name()), &st) != nil || st.Nlink > 0 || st.Mode&unix.S_IFMT != unix.S_IFREG {
				continue
			}
			if key := [2]uint64{uint64(st.Dev), st.Ino}; !seen[key] {
				seen[key] = true
				total += st.Blocks * 512
			}
		}
	}
	return total
}

// resident is the memory of the processes together. Shared pages are counted once
// a process, unless that sum is over the limit: then the slower, fair count decides.
func resident(pids []int, limit int64) int64 {
	var total int64
	for _, pid := range pids {
		fields := strings.Fields(readProc(pid, "statm"))
		if len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			total += pages * int64(os.Getpagesize())
		}
	}
	if total <= limit {
		return total
	}
	var fair int64
	for _, pid := range pids {
		for _, line := range strings.Split(readProc(pid, "smaps_rollup"), "\n") {
			fields := strings.Fields(line)
			if len(fields) == 3 && (fields[0] == "Pss:" || fields[0] == "SwapPss:") {
				kib, _ := strconv.ParseInt(fields[1], 10, 64)
				fair += kib << 10
			}
		}
	}
	return fair
}

func readProc(pid int, file string) string {
	b, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), file))
	return string(b)
}

// descendants are all processes below pid. One that was orphaned inside hangs
// below the sandbox's own first process, so that none gets out of sight.
func descendants(pid int) []int {
	children := childrenByParent()
	var out []int
	for todo := []int{pid}; len(todo) > 0; {
		next := children[todo[0]]
		todo = append(todo[1:], next...)
		out = append(out, next...)
	}
	return out
}

func childrenByParent() map[int][]int {
	out := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue
		}
		// "pid (name) state ppid": the name may hold blanks and brackets.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) > 1 {
			parent, _ := strconv.Atoi(string(fields[1]))
			out[parent] = append(out[parent], pid)
		}
	}
	return out
}
