package watch

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Bounds of one look at what processes hold, which has to end in time: beyond them
// there is something that was not seen.
const (
	maxHeld = 100_000  // descriptors
	maxMaps = 16 << 20 // bytes of lists of mappings
)

// Held counts files that processes hold and no directory names: by a descriptor of any
// thread, or by a mapping alone. Those of which only root of the machine is told the size,
// and those that are under way in a socket, are Hidden.
func Held(pids []int) Usage {
	h := held{seen: map[[2]uint64]bool{}, left: maxHeld, maps: maxMaps}
	for _, pid := range pids {
		mapped := false
		for _, thread := range threads(pid) {
			dir := filepath.Join("/proc", thread)
			h.descriptors(dir)
			if !mapped { // threads have one memory; a first thread that ended has none
				mapped = h.mappings(dir)
			}
		}
	}
	return h.Usage
}

type held struct {
	Usage
	seen map[[2]uint64]bool
	left int
	maps int64
}

func threads(pid int) []string {
	entries, _ := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

func (h *held) descriptors(dir string) {
	list, err := os.Open(filepath.Join(dir, "fd"))
	if err != nil {
		return
	}
	defer list.Close()
	for {
		const some = 1024
		names, err := list.Readdirnames(some)
		for _, name := range names {
			if h.left--; h.left < 0 {
				h.Hidden++
				return
			}
			var st unix.Stat_t
			if unix.Fstatat(int(list.Fd()), name, &st, 0) != nil {
				continue
			}
			switch st.Mode & unix.S_IFMT {
			case unix.S_IFREG:
				h.count(&st)
			case unix.S_IFSOCK:
				h.Hidden += underWay(filepath.Join(dir, "fdinfo", name))
			}
		}
		if err != nil || len(names) == 0 {
			return
		}
	}
}

// count adds a file that no directory names, once.
func (h *held) count(st *unix.Stat_t) {
	key := [2]uint64{uint64(st.Dev), st.Ino}
	if st.Nlink > 0 || h.seen[key] {
		return
	}
	h.seen[key] = true
	h.Entries++
	h.Bytes += st.Blocks * 512
}

// underWay is how many descriptors were sent to a socket and not yet received.
func underWay(file string) int {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	_, after, ok := bytes.Cut(b, []byte("scm_fds:"))
	if !ok {
		return 0
	}
	line, _, _ := bytes.Cut(after, []byte("\n"))
	n, _ := strconv.Atoi(string(bytes.TrimSpace(line))) // what is no number counts nothing
	return n
}

// mappings looks at files that are mapped and deleted, and reports whether there are
// mappings at all.
func (h *held) mappings(dir string) (any bool) {
	f, err := os.Open(filepath.Join(dir, "maps"))
	if err != nil {
		return false
	}
	defer f.Close()
	limited := &io.LimitedReader{R: f, N: h.maps}
	lines := bufio.NewScanner(limited)
	lines.Buffer(make([]byte, 0, 1<<16), 1<<20)
	for lines.Scan() {
		any = true
		// address perms offset dev inode path
		at, rest, _ := strings.Cut(lines.Text(), " ")
		path := rest[max(strings.IndexByte(rest, '/'), 0):]
		if !strings.HasSuffix(path, " (deleted)") || inMemory(path) {
			continue
		}
		var st unix.Stat_t
		switch err := unix.Stat(filepath.Join(dir, "map_files", trimmed(at)), &st); {
		case err == nil:
			h.count(&st)
		case !errors.Is(err, unix.ENOENT):
			h.Hidden++
		}
	}
	h.maps = limited.N
	if limited.N <= 0 || lines.Err() != nil {
		h.Hidden++
	}
	return any
}

// inMemory are files that take memory, and are counted there. A sandbox's own files lie
// below its places, and cannot be called so.
func inMemory(path string) bool {
	return strings.HasPrefix(path, "/memfd:") || strings.HasPrefix(path, "/SYSV") || strings.HasPrefix(path, "/dev/zero ")
}

// trimmed is a range of addresses as map_files has it: without leading zeros.
func trimmed(at string) string {
	from, to, _ := strings.Cut(at, "-")
	short := func(s string) string {
		if s = strings.TrimLeft(s, "0"); s == "" {
			return "0"
		}
		return s
	}
	return short(from) + "-" + short(to)
}
