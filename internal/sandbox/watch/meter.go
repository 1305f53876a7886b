package watch

import (
	"golang.org/x/sys/unix"
)

// Meter measures what one sandbox has written and not yet deleted.
type Meter struct {
	limit int64
	dirs  []string // all that it writes lies below them

	began  int64 // what was free on the file system of the first one
	free   int64 // at the last look
	used   int64 // found by the last look
	hidden bool  // in the last look, too
}

// NewMeter measures what is written below the directories, which lie on one file system.
// It is made before anything is written.
func NewMeter(limit int64, dirs ...string) *Meter {
	m := &Meter{limit: limit, dirs: dirs}
	m.began = m.room()
	m.free = m.began
	return m
}

// Add adds directories that are written to, on any file system.
func (m *Meter) Add(dirs ...string) { m.dirs = append(m.dirs, dirs...) }

func (m *Meter) room() int64 {
	var st unix.Statfs_t
	if len(m.dirs) == 0 || unix.Statfs(m.dirs[0], &st) != nil {
		return 0
	}
	return int64(st.Bfree) * st.Bsize
}

// Urgent reports whether so much of the disk was used since the last look, by whomever,
// that the limit may have been passed. It is one system call.
func (m *Meter) Urgent() bool { return m.free-m.room() > (m.limit-m.used)/2 }

// Over looks at all that is written, and at what the processes hold; beside counts
// bytes that are neither. Where something cannot be measured, in two looks in a row, and
// the disk has lost more than the limit and all that was found, that is where it went.
func (m *Meter) Over(pids []int, beside int64) bool {
	m.free = m.room()
	found := Disk(m.limit-beside, false, m.dirs...)
	if found.Bytes > m.limit-beside {
		return true
	}
	held := Held(pids)
	m.used = found.Bytes + held.Bytes + beside
	if m.used > m.limit {
		return true
	}
	hidden := found.Hidden+held.Hidden > 0
	over := hidden && m.hidden && m.began-m.free-m.used > m.limit
	m.hidden = hidden
	return over
}

// Reached is the look after the end. One file is stopped at the limit itself, and does
// not pass it.
func (m *Meter) Reached() bool { return Disk(m.limit, true, m.dirs...).Bytes >= m.limit }
