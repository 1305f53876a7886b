package bwrap

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

type unixStat = syscall.Stat_t

// readMerged reads one regular file as the stack of trees (top first) shows it:
// at most max bytes, cut reports whether there was more. It follows no link.
func readMerged(trees []string, inside string, max int64) (data []byte, cut bool, err error) {
	for _, tree := range trees {
		data, cut, hidden, err := readBelow(tree, inside, max)
		if hidden || !errors.Is(err, fs.ErrNotExist) {
			return data, cut, err
		}
	}
	return nil, false, fs.ErrNotExist
}

// readBelow reads inside one tree. hidden says that the tree hides what lies below it.
func readBelow(tree, inside string, max int64) (data []byte, cut, hidden bool, err error) {
	hidden = hides(tree, inside)
	root, err := unix.Open(tree, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, false, hidden, err
	}
	defer unix.Close(root)
	// O_NONBLOCK: a named pipe in its place must not hold us.
	fd, err := openBelow(root, inside, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if errors.Is(err, unix.EACCES) {
		fd, err = openDespite(root, inside)
	}
	if err != nil {
		return nil, false, hidden, err
	}
	f := os.NewFile(uintptr(fd), inside)
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, hidden, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, true, fmt.Errorf("%s is not a regular file: %w", inside, fs.ErrInvalid)
	}
	data, err = io.ReadAll(io.LimitReader(f, max+1))
	if int64(len(data)) > max {
		return data[:max], true, hidden, err
	}
	return data, false, hidden, err
}

// openDespite opens a file of ours whose rights were taken away: an ordinary user
// owns what its sandbox wrote.
func openDespite(root int, inside string) (int, error) {
	fd, err := openBelow(root, inside, unix.O_PATH)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	if err := os.Chmod(fmt.Sprintf("/proc/self/fd/%d", fd), 0o600); err != nil {
		return -1, err
	}
	return openBelow(root, inside, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
}

// hides reports whether a tree hides a path of the trees below it: by a whiteout, an
// opaque directory, or anything that is not a directory on the way.
func hides(tree, inside string) bool {
	p := tree
	for _, name := range strings.Split(strings.Trim(inside, "/"), "/") {
		p = filepath.Join(p, name)
		info, err := os.Lstat(p)
		if err != nil {
			return false
		}
		if !info.IsDir() || isOpaque(p) {
			return true
		}
	}
	return false
}

// copyMerged writes what the stack (top first) shows into an empty directory. It
// stands in for an overlay where none can be mounted.
func copyMerged(trees []string, to string) error {
	for i := len(trees) - 1; i >= 0; i-- {
		c := copier{from: trees[i], to: to}
		if err := c.entries(""); err != nil {
			return fmt.Errorf("copying a layer: %w", err)
		}
	}
	return nil
}

// copier makes of each name a file of its own: of two that share one, a run may write the one, and not the other.
type copier struct{ from, to string }

func (c *copier) entries(dir string) error {
	entries, err := os.ReadDir(path.Join(c.from, dir))
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		if err := c.entry(path.Join(dir, e.Name()), info); err != nil {
			return err
		}
	}
	return nil
}

func (c *copier) entry(name string, info fs.FileInfo) (failed error) {
	from, to := path.Join(c.from, name), path.Join(c.to, name)
	old, err := os.Lstat(to)
	both := err == nil && old.IsDir() && info.IsDir() && !isOpaque(from)
	if err == nil && !both {
		if err := removeAll(to); err != nil {
			return err
		}
	}
	st := info.Sys().(*unixStat)
	if mode := info.Mode(); mode.IsDir() || mode.IsRegular() {
		restore, err := readable(from, info)
		if err != nil {
			return err
		}
		defer func() { failed = errors.Join(failed, restore()) }()
	}
	switch mode := info.Mode(); {
	case isWhiteout(info):
		return nil
	case mode.IsDir():
		if !both {
			if err := os.Mkdir(to, 0o700); err != nil {
				return err
			}
		}
		err = c.entries(name)
	case mode&fs.ModeSymlink != 0:
		var target string
		if target, err = os.Readlink(from); err == nil {
			err = os.Symlink(target, to)
		}
	case mode.IsRegular():
		err = copyFile(from, to)
	default:
		return nil // sockets and pipes of a build that is over
	}
	if err != nil {
		return err
	}
	return c.stamp(to, info, st)
}

func (c *copier) stamp(to string, info fs.FileInfo, st *unixStat) error {
	if os.Geteuid() == 0 {
		if err := os.Lchown(to, int(st.Uid), int(st.Gid)); err != nil {
			return err
		}
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		if err := unix.Chmod(to, st.Mode&0o7777); err != nil {
			return err
		}
	}
	times := []unix.Timespec{unix.NsecToTimespec(info.ModTime().UnixNano()), unix.NsecToTimespec(info.ModTime().UnixNano())}
	return unix.UtimesNanoAt(unix.AT_FDCWD, to, times, unix.AT_SYMLINK_NOFOLLOW)
}

// readable gives the owner of a file or directory the right to read it until restore:
// who is not root has to take it first where a build has taken it away.
func readable(name string, info fs.FileInfo) (restore func() error, err error) {
	const need = 0o500
	if os.Geteuid() == 0 || info.Mode().Perm()&need == need || !info.IsDir() && info.Mode().Perm()&0o400 != 0 {
		return func() error { return nil }, nil
	}
	mode := info.Sys().(*unixStat).Mode & 0o7777
	return func() error { return unix.Chmod(name, mode) }, unix.Chmod(name, mode|need)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in) // copy_file_range: shares blocks where the file system can
	return errors.Join(err, out.Close())
}
