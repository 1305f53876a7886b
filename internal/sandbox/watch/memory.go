package watch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Kills is how many processes the kernel has killed on this machine for want of
// memory, whosever they were; 0 where it does not say.
func Kills() int { return Counter("/proc", "vmstat", "oom_kill") }

// Starved reports whether the kernel killed a process of a control group although the
// group has not met its own limit on memory: a group above it has, or the machine. What
// cannot be read counts as the group's own doing.
func Starved(dir string) bool {
	if dir == "" {
		return false
	}
	if Counter(dir, "memory.events", "oom_kill") > 0 {
		return Counter(dir, "memory.events", "oom") == 0
	}
	if Counter(dir, "memory.oom_control", "oom_kill") == 0 {
		return false
	}
	// Version 1 counts failures of the limit only where swap is not counted too; the
	// highest use is always there, and is short of the limit by a batch at most.
	const batch = 1 << 20
	used, most := number(dir, "memory.max_usage_in_bytes"), number(dir, "memory.limit_in_bytes")
	return used >= 0 && most >= 0 && used < most-batch
}

// number is a file that holds one number; -1 where there is none.
func number(dir, file string) int64 {
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return -1
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64)
	if err != nil {
		return -1
	}
	return n
}
