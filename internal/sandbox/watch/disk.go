package watch

import (
	"errors"
	"io"
	"io/fs"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

const (
	// block is what an entry costs at least, in bytes: empty files fill a disk too.
	block = 4096
	// maxEntries bounds how long a look takes: a second or two. Hard links cost no bytes.
	maxEntries = 1_000_000
	// maxDepth bounds the directories that are open at a time. Programs come to some
	// twenty levels; a path that the kernel takes has 2,048 at most.
	maxDepth = 512
)

// Usage is what one look at directories found.
type Usage struct {
	Bytes   int64 // allocated blocks; math.MaxInt64 where there was more to see than is looked at
	Entries int
	// Hidden counts what is there and cannot be measured: directories that may not be read,
	// files that no directory names and no descriptor shows.
	Hidden int
}

// Disk counts what is allocated below the directories, and stops where it is more than
// limit. What vanishes meanwhile counts nothing; what nests deeper or is more than a
// look can see is over every limit. Paths may be longer than the kernel's calls take.
// With rights, directories that the owner has closed are opened for a moment: after the
// end only, because programs see it.
func Disk(limit int64, rights bool, dirs ...string) Usage {
	w := walk{limit: limit, rights: rights, linked: map[[2]uint64]bool{}}
	for _, dir := range dirs {
		var st unix.Stat_t
		if unix.Lstat(dir, &st) == nil && w.count(&st) && st.Mode&unix.S_IFMT == unix.S_IFDIR {
			w.into(unix.AT_FDCWD, dir, st.Mode, 0)
		}
	}
	return w.Usage
}

type walk struct {
	Usage
	limit  int64
	rights bool
	linked map[[2]uint64]bool
}

// count adds an entry, and reports whether there is room for more.
func (w *walk) count(st *unix.Stat_t) bool {
	w.Entries++
	if w.Entries > maxEntries {
		w.Bytes = math.MaxInt64
		return false
	}
	if st.Nlink > 1 && st.Mode&unix.S_IFMT != unix.S_IFDIR {
		key := [2]uint64{uint64(st.Dev), st.Ino}
		if w.linked[key] {
			return true
		}
		w.linked[key] = true
	}
	w.Bytes += max(st.Blocks*512, block)
	return w.Bytes <= w.limit
}

// into walks one directory, and reports whether there is room for more.
func (w *walk) into(parent int, name string, mode uint32, depth int) bool {
	if depth > maxDepth {
		w.Bytes = math.MaxInt64
		return false
	}
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	const readable = unix.S_IRUSR | unix.S_IXUSR
	if w.rights && mode&readable != readable && unix.Fchmodat(parent, name, mode&0o7777|readable, 0) == nil {
		defer func() { _ = unix.Fchmodat(parent, name, mode&0o7777, 0) }() // it stays as its owner left it
	}
	fd, err := unix.Openat(parent, name, flags, 0)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		return true // gone meanwhile, or replaced
	case err != nil:
		w.Hidden++
		return true
	}
	dir := os.NewFile(uintptr(fd), name)
	defer dir.Close()
	for {
		const some = 1024
		names, err := dir.Readdirnames(some)
		for _, name := range names {
			if !w.entry(fd, name, depth) {
				return false
			}
		}
		if err != nil || len(names) == 0 {
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, io.EOF) {
				w.Hidden++
			}
			return true
		}
	}
}

// entry counts one entry of a folder, with all below it. It is false where the walk ends.
func (w *walk) entry(fd int, name string, depth int) bool {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		if errors.Is(err, unix.EACCES) {
			w.Hidden++
		}
		return true
	}
	return w.count(&st) && (st.Mode&unix.S_IFMT != unix.S_IFDIR || w.into(fd, name, st.Mode, depth+1))
}
