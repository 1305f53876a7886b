package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// viewPrefix is how the names of views begin, in the folder for temporary files.
const viewPrefix = "benchmint-git-"

// viewLock is a file in a view that its process holds: one that nobody holds is of a
// process that was killed. It has its name once it is locked.
const viewLock = "benchmint.lock"

// newView makes an empty folder for a view, and sweeps those of killed processes.
// What hold holds is let go of when the view is removed.
func newView() (view string, hold *os.File, err error) {
	sweepViews(os.TempDir())
	if view, err = os.MkdirTemp("", viewPrefix); err != nil {
		return "", nil, fmt.Errorf("making a view: %w", err)
	}
	unlocked := filepath.Join(view, "unlocked")
	if hold, err = os.Create(unlocked); err != nil {
		return view, nil, fmt.Errorf("making a view: %w", err)
	}
	err = unix.Flock(int(hold.Fd()), unix.LOCK_EX)
	if err == nil {
		err = os.Rename(unlocked, filepath.Join(view, viewLock))
	}
	if err != nil {
		return view, hold, fmt.Errorf("locking a view: %w", err)
	}
	return view, hold, nil
}

func sweepViews(dir string) {
	locks, _ := filepath.Glob(filepath.Join(dir, viewPrefix+"*", viewLock))
	for _, lock := range locks {
		f, err := os.OpenFile(lock, os.O_RDONLY|unix.O_NONBLOCK, 0) // in a folder that all users write to: it may be a pipe
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(filepath.Dir(lock)) // another's: what cannot be removed stays
		}
		f.Close()
	}
}

// sweepMirror removes what a git that was killed left in a mirror, under the
// mirror's lock: locks, which would keep every later fetch out, and half packs.
func sweepMirror(dir string) error {
	var stale []string
	for _, pattern := range []string{"*.lock", "objects/pack/tmp_*", "objects/pack/*.lock", "objects/info/*.lock", "objects/*/tmp_obj_*", "objects/tmp_objdir-*"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		stale = append(stale, found...)
	}
	err := filepath.WalkDir(filepath.Join(dir, "refs"), func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ".lock") {
			stale = append(stale, p)
		}
		return err
	})
	for _, p := range stale {
		err = errors.Join(err, os.RemoveAll(p))
	}
	return err
}
