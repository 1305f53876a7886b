package bwrap

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/sandbox"
)

// sealer mounts parts of a tree over themselves. The kernel neither removes nor moves what is mounted
// upon, so that the folders above a sealed file are mounted too, and stay writable.
type sealer struct {
	*putter
	mounted map[string]bool
}

// seal makes paths of a merged tree read-only (sandbox.Run.Sealed), in the order that they are given.
func seal(merged string, paths []string, own bool) error {
	if len(paths) == 0 {
		return nil
	}
	p, err := newPutter(merged, own)
	if err != nil {
		return err
	}
	defer p.close()
	s := &sealer{putter: p, mounted: map[string]bool{}}
	for _, name := range paths {
		if err := s.one(name); err != nil {
			return fmt.Errorf("sealing %s: %w", name, err)
		}
	}
	return nil
}

func (s *sealer) one(name string) error {
	if clean := path.Clean(name); clean != name {
		name = clean
		err := s.dir(name)
		if err != nil && !errors.Is(err, unix.ELOOP) && !errors.Is(err, unix.ENOTDIR) {
			return err
		}
	}
	// From the top, below the place that is a mount of its own.
	names := strings.Split(strings.TrimPrefix(name, "/"), "/")
	for i := 1; i < len(names); i++ {
		above := "/" + path.Join(names[:i]...)
		if err := s.mount(above, false); err != nil {
			return err
		}
	}
	return s.mount(name, true)
}

// mount mounts a path over itself, once. A link has no mount: the folder that it lies in is read-only in its
// place.
func (s *sealer) mount(name string, readOnly bool) error {
	if s.mounted[name] && !readOnly {
		return nil
	}
	fd, err := openBelow(s.root, name, unix.O_PATH)
	switch {
	case errors.Is(err, unix.ELOOP):
		return s.mount(path.Dir(name), true)
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return nil
	case err != nil:
		return err
	}
	defer unix.Close(fd)
	at := fmt.Sprintf("/proc/self/fd/%d", fd)
	if !s.mounted[name] {
		if err := unix.Mount(at, at, "", unix.MS_BIND, ""); err != nil {
			return err
		}
		s.mounted[name] = true
	}
	if !readOnly {
		return nil
	}
	// The mount lies above what the descriptor shows.
	above, err := openBelow(s.root, name, unix.O_PATH)
	if err != nil {
		return err
	}
	defer unix.Close(above)
	const flags = unix.MS_REMOUNT | unix.MS_BIND | unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV
	return unix.Mount("", fmt.Sprintf("/proc/self/fd/%d", above), "", flags, "")
}

// writtenOf are the watched files that a run wrote. An overlay keeps what is written apart; of a copy, times and sizes are
// compared.
func (s *Sandbox) writtenOf(trees []string, r sandbox.Run) ([]string, error) {
	if len(r.Watch) == 0 {
		return nil, nil
	}
	var layers []string
	if !s.overlay {
		ids, _, err := s.store.stack(r.Layer.ID)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			layers = append(layers, s.store.tree(id))
		}
	}
	var out []string
	for _, p := range r.Watch {
		var wrote bool
		if s.overlay {
			_, err := os.Lstat(treePath(trees[0], p))
			wrote = err == nil || hides(trees[0], p)
		} else {
			wrote = differs(trees[0], layers, p)
		}
		if wrote {
			out = append(out, p)
		}
	}
	return out, nil
}

// differs compares a file of a tree with the one that layers (top first) show.
func differs(tree string, layers []string, p string) bool {
	now, err := os.Lstat(treePath(tree, p))
	for _, l := range layers {
		was, missing := os.Lstat(treePath(l, p))
		if missing == nil {
			return err != nil || now.Mode() != was.Mode() || now.Size() != was.Size() || !now.ModTime().Equal(was.ModTime())
		}
		if hides(l, p) {
			break
		}
	}
	return err == nil
}
