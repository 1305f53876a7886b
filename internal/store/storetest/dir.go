package storetest

import (
	"os"
	"syscall"
	"testing"
)

// Dir is a folder in memory where the machine has one: tests in which no power cut is
// played wait for the disk only.
func Dir(t testing.TB) string {
	t.Helper()
	const memory, room = "/dev/shm", 1 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs(memory, &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < room {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "benchmint-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
