package enginetest_test

import (
	"os"
	"testing"
)

// quickDir is a folder in memory where the machine has one: tests in which no
// power cut is played wait for the disk only.
func quickDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "benchmint-")
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
