package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrNotRegular is what stands in a dataset in the place of a file: a pipe, a device, a folder.
var ErrNotRegular = errors.New("it is not a regular file")

// mostRead bounds a file that is read as a whole, in bytes.
const mostRead = 4 << 30

// openIn opens a file of a dataset, which may be a stranger's: a link that leads out of its folder is
// refused, and what is no regular file is neither read nor waited for.
func openIn(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: %w", name, ErrNotRegular)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readIn is a file of a dataset as a whole.
func readIn(dir, name string) ([]byte, error) {
	f, err := openIn(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > mostRead {
		return nil, fmt.Errorf("%s has more than %d bytes", name, int64(mostRead))
	}
	return io.ReadAll(f)
}
