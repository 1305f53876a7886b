package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Fit reports why Write would not write a dataset at dir, before there is one to
// write. It leaves nothing behind. ErrNotOurs.
func Fit(dir string) error {
	real, err := RealPath(dir)
	if err != nil {
		return err
	}
	switch info, err := os.Lstat(real); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	default:
		if err := replaceable(dir, real); err != nil {
			return err
		}
	}
	return writable(filepath.Dir(real))
}

// RealPath is where dir is, its links followed as far as there is anything.
func RealPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at, rest := abs, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if _, lost := os.Lstat(at); lost == nil || at == filepath.Dir(at) || !errors.Is(err, fs.ErrNotExist) {
			return "", cannot(at, err) // a link to nothing, a file for a folder, a folder that may not be entered
		}
	}
}

// replaceable reports why a folder that is there cannot be swapped for another.
func replaceable(dir, real string) error {
	if err := ours(real); err != nil {
		return err
	}
	if err := unix.Access(real, unix.W_OK|unix.X_OK); err != nil {
		return cannot(dir, err)
	}
	if here, err := os.Getwd(); err == nil {
		if here, err = filepath.EvalSymlinks(here); err == nil && Within(real, here) {
			return fmt.Errorf("%s is replaced as a whole when it is written, and benchmint was started in it; start it elsewhere", dir)
		}
	}
	var own, above unix.Stat_t
	if err := errors.Join(unix.Stat(real, &own), unix.Stat(filepath.Dir(real), &above)); err != nil {
		return cannot(dir, err)
	}
	if own.Dev != above.Dev {
		return fmt.Errorf("%s is a mount point, which cannot be replaced as a whole; give a folder in it", dir)
	}
	return nil
}

// Within reports whether path is folder or lies in it; both are absolute.
func Within(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// room is what is written to see whether there is any: a dataset of no row needs
// about as much.
const room = 1 << 20

// writable tries to write where dir would be made.
func writable(dir string) (err error) {
	for {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return fmt.Errorf("%s is not a folder", dir)
		}
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return cannot(dir, err)
		}
		dir = filepath.Dir(dir)
	}
	f, err := os.CreateTemp(dir, ".benchmint-*")
	if err != nil {
		return cannot(dir, err)
	}
	_, err = f.Write(make([]byte, room))
	if err = errors.Join(err, f.Sync(), f.Close(), os.Remove(f.Name())); err != nil {
		return cannot(dir, err)
	}
	return nil
}

// cannot says what the system has against a folder, without the path of the file
// that was tried.
func cannot(dir string, err error) error {
	var errno unix.Errno
	if errors.As(err, &errno) {
		err = errno
	}
	return fmt.Errorf("%s cannot be written: %w", dir, err)
}
