package sandboxtest

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func mount(dir string, bytes int64) error {
	return unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes))
}

func unmount(dir string) error { return unix.Unmount(dir, unix.MNT_DETACH) }
