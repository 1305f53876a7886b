package bwrap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// noLinks makes a path lead nowhere but down its own names: a link that a
// stranger's step left in the tree is never followed by us.
const noLinks = unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS

// putter writes files of ours below one directory.
type putter struct {
	root int
	own  bool
}

func newPutter(root string, own bool) (*putter, error) {
	fd, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", root, err)
	}
	return &putter{root: fd, own: own}, nil
}

func (p *putter) close() { unix.Close(p.root) }

func openBelow(root int, name string, flags uint64) (int, error) {
	name = strings.TrimPrefix(name, "/")
	if name == "" {
		name = "."
	}
	return unix.Openat2(root, name, &unix.OpenHow{Flags: flags | unix.O_CLOEXEC, Resolve: noLinks})
}

// parent opens the directory of name, making what is missing.
func (p *putter) parent(name string) (int, error) {
	dir := path.Dir(name)
	fd, err := openBelow(p.root, dir, unix.O_PATH|unix.O_DIRECTORY)
	if errors.Is(err, unix.ENOENT) {
		if err := p.dir(dir); err != nil {
			return -1, err
		}
		fd, err = openBelow(p.root, dir, unix.O_PATH|unix.O_DIRECTORY)
	}
	if err != nil {
		return -1, fmt.Errorf("opening %s: %w", dir, err)
	}
	return fd, nil
}

// dir makes a directory and what is missing above it, owned by the user.
func (p *putter) dir(name string) error {
	if name == "/" || name == "." {
		return nil
	}
	parent, err := p.parent(name)
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	base := path.Base(name)
	switch err := unix.Mkdirat(parent, base, 0o755); {
	case errors.Is(err, unix.EEXIST):
		return nil
	case err != nil:
		return fmt.Errorf("making %s: %w", name, err)
	}
	return p.finish(parent, base, 0o755, true)
}

// share gives a directory for everybody's files the mode that programs look for. It
// is no error where the tree does not have it.
func (p *putter) share(name string) error {
	parent, err := openBelow(p.root, path.Dir(name), unix.O_PATH|unix.O_DIRECTORY)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	if err := unix.Fchmodat(parent, path.Base(name), 0o1777, 0); err != nil && !errors.Is(err, unix.ENOENT) {
		return err
	}
	return nil
}

// finish gives an entry its owner and its mode, whatever our umask is.
func (p *putter) finish(parent int, base string, mode fs.FileMode, chmod bool) error {
	if p.own {
		if err := unix.Fchownat(parent, base, sandbox.UID, sandbox.GID, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return err
		}
	}
	if !chmod {
		return nil
	}
	return unix.Fchmodat(parent, base, uint32(mode.Perm()), 0)
}

func (p *putter) put(f sandbox.File) error {
	if f.Delete {
		return p.remove(f.Path)
	}
	parent, err := p.parent(f.Path)
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	base := path.Base(f.Path)
	if f.Mode.IsDir() {
		if err := unix.Mkdirat(parent, base, 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
			return err
		}
		return p.finish(parent, base, f.Mode, true)
	}
	if err := removeAt(parent, base); err != nil {
		return err
	}
	if f.Mode&fs.ModeSymlink != 0 {
		if err := unix.Symlinkat(string(f.Data), parent, base); err != nil {
			return err
		}
	} else if err := writeAt(parent, base, f.Data); err != nil {
		return err
	}
	if err := p.finish(parent, base, f.Mode, f.Mode&fs.ModeSymlink == 0); err != nil {
		return err
	}
	var at int64
	if !f.ModTime.IsZero() {
		at = f.ModTime.UnixNano()
	}
	stamp := unix.NsecToTimespec(at)
	return unix.UtimesNanoAt(parent, base, []unix.Timespec{stamp, stamp}, unix.AT_SYMLINK_NOFOLLOW)
}

func (p *putter) remove(name string) error {
	parent, err := openBelow(p.root, path.Dir(name), unix.O_PATH|unix.O_DIRECTORY)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil // gone already
	}
	if err != nil {
		return err
	}
	defer unix.Close(parent)
	return removeAt(parent, path.Base(name))
}

func writeAt(parent int, base string, data []byte) error {
	fd, err := unix.Openat(parent, base, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), base)
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}

// removeAt removes an entry, with all below it, without following links.
func removeAt(parent int, base string) error {
	err := unix.Unlinkat(parent, base, 0)
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	if !errors.Is(err, unix.EISDIR) {
		return err
	}
	fd, err := openBelow(parent, base, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	dir := os.NewFile(uintptr(fd), base)
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := removeAt(fd, name); err != nil {
			return err
		}
	}
	return unix.Unlinkat(parent, base, unix.AT_REMOVEDIR)
}
