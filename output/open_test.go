package output

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestStrangersFiles: what is no file of the dataset is named, and neither read nor waited for.
func TestStrangersFiles(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(file string) error{
		"pipe":        func(f string) error { return unix.Mkfifo(f, 0o600) },
		"device":      func(f string) error { return os.Symlink("/dev/zero", f) },
		"other_files": func(f string) error { return os.Symlink("/etc/passwd", f) },
		"folder":      func(f string) error { return os.Mkdir(f, 0o700) },
	} {
		for _, file := range []string{ManifestFile, DataDir + "/test.jsonl", DataDir + "/test.parquet", RejectsFile, FlakesFile, ChecksumsFile} {
			dir := filepath.Join(t.TempDir(), "set")
			if err := os.CopyFS(dir, os.DirFS("testdata/format2")); err != nil {
				t.Fatal(err)
			}
			at := filepath.Join(dir, filepath.FromSlash(file))
			if err := os.Remove(at); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			if err := plant(at); err != nil {
				t.Fatal(err)
			}
			findings, err := Check(dir)
			if err == nil && len(findings) == 0 {
				t.Errorf("%s in the place of %s: check holds", name, file)
			}
		}
	}
}
