// Package watch measures what processes and directories of this machine use, for
// the limits that the kernel does not keep for us.
//
// It never ends or changes anything, and never fails: what cannot be read (a
// process that is gone, a file that was removed meanwhile) counts nothing.
package watch

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// Resident is the memory of the processes together. Shared pages are counted once
// a process, unless that sum is over the limit: then the slower, fair count decides.
func Resident(pids []int, limit int64) int64 {
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

// Descendants are all processes below pid. One that was orphaned inside hangs
// below the sandbox's own first process, so that none gets out of sight.
func Descendants(pid int) []int {
	children := Children()
	var out []int
	for todo := []int{pid}; len(todo) > 0; {
		next := children[todo[0]]
		todo = append(todo[1:], next...)
		out = append(out, next...)
	}
	return out
}

// Children are the processes of this machine by their parent.
func Children() map[int][]int {
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

// FileSystem is what is used of the file system that is mounted at dir.
func FileSystem(dir string) int64 {
	var st unix.Statfs_t
	if unix.Statfs(dir, &st) != nil {
		return 0
	}
	return int64(st.Blocks-st.Bfree) * st.Bsize
}

// Tasks is the number of threads of the processes together: what limits on
// processes count.
func Tasks(pids []int) int {
	total := 0
	for _, pid := range pids {
		entries, _ := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
		total += len(entries)
	}
	return total
}

// UserTasks is the number of threads that a user has on this machine.
func UserTasks(uid uint32) int {
	var pids []int
	for _, children := range Children() {
		for _, pid := range children {
			var st unix.Stat_t
			if unix.Stat(filepath.Join("/proc", strconv.Itoa(pid)), &st) == nil && st.Uid == uid {
				pids = append(pids, pid)
			}
		}
	}
	return Tasks(pids)
}

// Moved is what the processes together, with those of their children that ended, have
// read so far, from wherever, and the time of CPUs that they have used.
func Moved(pids []int) (read int64, used time.Duration) {
	for _, pid := range pids {
		for line := range strings.Lines(readProc(pid, "io")) {
			if n, ok := strings.CutPrefix(line, "rchar: "); ok {
				bytes, _ := strconv.ParseInt(strings.TrimSpace(n), 10, 64)
				read += bytes
			}
		}
		stat := readProc(pid, "stat")
		// After "pid (name)": state is field 3, and 14 to 17 are times in hundredths.
		fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
		for i := 11; i < 15 && i < len(fields); i++ {
			ticks, _ := strconv.ParseInt(fields[i], 10, 64)
			used += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return read, used
}

// Counter is one line of a control group's file of counters; 0 where there is none.
func Counter(dir, file, name string) int {
	if dir == "" {
		return 0
	}
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); key == name {
			n, _ := strconv.Atoi(value) // what is no number counts nothing
			return n
		}
	}
	return 0
}

// Pace is how often the cheap look is taken.
const Pace = 50 * time.Millisecond

// longest is how long the dear look waits at most, however long the last one took.
const longest = time.Second

// Often and Seldom are how many times the time that a dear look takes pass until the next one:
// it costs a tenth or a hundredth of the time. Often is for limits that nothing else holds, and
// that no urgent look precedes: memory and processes without a control group.
const (
	Often  = 10
	Seldom = 100
)

// Loop looks until done is closed and reports the first limit that was passed. The
// dear look waits times as long as the last one took, or a second where that is less;
// and is taken at once where urgent says so.
func Loop(done <-chan struct{}, cheap, dear func() sandbox.End, times time.Duration, urgent func() bool, stop func(sandbox.End)) {
	var took time.Duration // by the last dear look
	var last time.Time     // when it ended
	for {
		select {
		case <-done:
			return
		case <-time.After(Pace):
		}
		if end := cheap(); end != "" {
			stop(end)
			return
		}
		if time.Since(last) < min(times*took, longest) && !urgent() {
			continue
		}
		began := time.Now()
		if end := dear(); end != "" {
			stop(end)
			return
		}
		last = time.Now()
		took = last.Sub(began)
	}
}
