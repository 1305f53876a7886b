package mask

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// workplace is the folder beside an output in which a starter comes about: it gets its name
// when it is whole. The folder is under a lock while its run lives, so that one that
// nobody holds is known to be left by a killed process.
type workplace struct {
	dir  string
	lock *os.File
	made []string // folders above the output that were not there, the innermost first
}

// newWorkplace makes it, and clears what killed runs into the same output left. An output
// that cannot be written is ErrUnmet.
func newWorkplace(output string) (*workplace, error) {
	parent, mark := filepath.Dir(output), "."+filepath.Base(output)+".mask-"
	p := &workplace{}
	for at := parent; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			break
		}
		p.made = append(p.made, at)
	}
	err := os.MkdirAll(parent, 0o755)
	if err == nil {
		sweep(parent, mark)
		err = p.open(parent, mark)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: the output %s: %w", ErrUnmet, output, err), p.clear())
	}
	return p, nil
}

// open makes the folder and locks it; another run may sweep it before the lock is had.
func (p *workplace) open(parent, mark string) (err error) {
	for {
		if p.dir, err = os.MkdirTemp(parent, mark); err != nil {
			return err
		}
		if p.lock, err = os.Open(p.dir); err == nil {
			err = unix.Flock(int(p.lock.Fd()), unix.LOCK_EX)
			if errors.Is(err, errors.ErrUnsupported) {
				err = nil // a file system without locks: there nothing is swept either
			}
			if err == nil {
				_, err = os.Lstat(p.dir)
			}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		_ = p.lock.Close() // of what is gone
	}
}

func sweep(parent, mark string) {
	held, _ := os.ReadDir(parent)
	for _, e := range held {
		if rest, ok := strings.CutPrefix(e.Name(), mark); !ok || strings.Trim(rest, "0123456789") != "" || !e.IsDir() {
			continue
		}
		at := filepath.Join(parent, e.Name())
		f, err := os.Open(at)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(at) // what stays is swept by the next one
		}
		_ = f.Close() // only held
	}
}

// clear takes away what is left of it; folders above the output stay if anything is in them.
func (p *workplace) clear() (err error) {
	if p.dir != "" {
		err = os.RemoveAll(p.dir)
	}
	if p.lock != nil {
		err = errors.Join(err, p.lock.Close())
	}
	for _, at := range p.made {
		if os.Remove(at) != nil {
			break // the starter is in it
		}
	}
	return err
}

// settle gives everything its name: the starter last, so that none is without its undo.
// Where that cannot be, nothing is left; what another run wrote meanwhile stays.
func (p *workplace) settle(result *Result) (err error) {
	claim, err := os.OpenFile(result.Undo, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return taken(result.Undo)
	}
	if err != nil {
		return err
	}
	mine := []string{result.Undo}
	defer func() {
		if err != nil {
			for _, at := range mine {
				err = errors.Join(err, os.Remove(at))
			}
		}
	}()
	if err := claim.Close(); err != nil {
		return err
	}
	if err := os.Remove(result.Output); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: output folder %s is no longer empty", ErrUnmet, result.Output)
	}
	for _, move := range [][2]string{{p.undo(), result.Undo}, {p.manifest(), result.Manifest}, {p.tree(), result.Output}} {
		if err := os.Rename(move[0], move[1]); err != nil {
			return err
		}
		if move[1] == result.Manifest {
			mine = append(mine, result.Manifest)
		}
	}
	return nil
}

func taken(beside string) error {
	return fmt.Errorf("%w: %s is there already, from another run", ErrUnmet, beside)
}

func (p *workplace) tree() string     { return filepath.Join(p.dir, "tree") }
func (p *workplace) manifest() string { return filepath.Join(p.dir, "manifest") }
func (p *workplace) undo() string     { return filepath.Join(p.dir, "undo") }
