package bwrap

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// shallow is how many directories removeAll has open at a time.
const shallow = 64

// removeAll is os.RemoveAll that also gets into directories whose rights a stranger's
// program took away (as root that is no question), and that nest deeper than files may
// be open.
func removeAll(dir string) error {
	parent, err := unix.Open(filepath.Dir(dir), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: filepath.Dir(dir), Err: err}
	}
	defer unix.Close(parent)
	r := remover{}
	if err := r.entry(parent, filepath.Base(dir), 0); err != nil {
		return &os.PathError{Op: "remove", Path: dir, Err: err}
	}
	return nil
}

type remover struct {
	top   int // the directory that is removed
	moved int
}

// entry removes one entry of a directory.
func (r *remover) entry(parent int, name string, depth int) error {
	err := unix.Unlinkat(parent, name, 0)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
		_ = unix.Fchmod(parent, 0o700) // only a directory of ours lets itself be changed
		err = unix.Unlinkat(parent, name, 0)
	}
	switch {
	case err == nil, errors.Is(err, unix.ENOENT):
		return nil
	case !errors.Is(err, unix.EISDIR):
		return err
	case depth > shallow:
		return r.raise(parent, name)
	}
	return r.dir(parent, name, depth)
}

// raise moves a directory to the top, where its turn comes.
func (r *remover) raise(parent int, name string) error {
	_ = unix.Fchmodat(parent, name, 0o700, 0) // moving changes the entry for its parent
	for {
		r.moved++
		err := unix.Renameat(parent, name, r.top, fmt.Sprintf(".raised-%d", r.moved))
		if !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EEXIST) && !errors.Is(err, unix.ENOTDIR) {
			return err
		}
	}
}

func (r *remover) dir(parent int, name string, depth int) error {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Openat(parent, name, flags, 0)
	if errors.Is(err, unix.EACCES) && unix.Fchmodat(parent, name, 0o700, 0) == nil {
		fd, err = unix.Openat(parent, name, flags, 0)
	}
	if err != nil {
		return err
	}
	d := os.NewFile(uintptr(fd), name)
	defer d.Close()
	if depth == 0 {
		r.top = fd
	}
	// Until nothing is left: what is deleted while a directory is read may hide the rest.
	for {
		const some = 1024
		names, err := d.Readdirnames(some)
		for _, n := range names {
			if err := r.entry(fd, n, depth+1); err != nil {
				return err
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(names) > 0 {
			continue
		}
		if err := unix.Unlinkat(parent, name, unix.AT_REMOVEDIR); !errors.Is(err, unix.ENOTEMPTY) {
			return err
		}
		if _, err := d.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
}
