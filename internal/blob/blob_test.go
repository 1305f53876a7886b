package blob_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/blob"
	"github.com/benchmint/benchmint/schemas"
)

func TestPutGet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range [][]byte{nil, []byte("x"), make([]byte, 1<<20)} {
		d, err := s.Put(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Get(d)
		if err != nil || string(got) != string(want) {
			t.Errorf("%d bytes came back as %d, %v", len(want), len(got), err)
		}
	}
	if _, err := s.Get(schemas.DigestBytes([]byte("never put"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing blob: %v", err)
	}
	if _, err := s.Get("sha256:../../etc/passwd"); err == nil {
		t.Error("a digest that is a path was taken")
	}
}

func TestGetNoticesCorruption(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := blob.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Put([]byte("true"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("lies"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(d); !errors.Is(err, blob.ErrCorrupt) {
		t.Errorf("corrupt blob: %v, want ErrCorrupt", err)
	}
}

// TestManyWriters of the same and of other blobs, over two stores as two processes
// have them, while others start and sweep: nobody loses what was put.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var writers sync.WaitGroup
	for range 4 {
		writers.Go(func() {
			for i := range 50 {
				s, err := blob.Open(dir)
				if err != nil {
					t.Error(err)
					return
				}
				want := fmt.Sprint("blob ", i%7)
				d, err := s.Put([]byte(want))
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := s.Get(d); err != nil || string(got) != want {
					t.Errorf("%q came back as %q, %v", want, got, err)
				}
			}
		})
	}
	writers.Wait()
	if left, _ := filepath.Glob(filepath.Join(dir, "unfinished", "*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestSweep: half a blob of a killed process goes with the next start, the one that
// is being written stays.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if _, err := blob.Open(dir); err != nil {
		t.Fatal(err)
	}
	dead, alive := filepath.Join(dir, "unfinished", "dead"), filepath.Join(dir, "unfinished", "alive")
	for _, p := range []string{dead, alive} {
		if err := os.WriteFile(p, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(alive)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	if _, err := blob.Open(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	if _, err := os.Stat(alive); err != nil {
		t.Errorf("swept under its writer: %v", err)
	}
}

// TestFolder: a folder is there until it is taken away, whoever opens the store; one of a
// killed process goes with all that is in it.
func TestFolder(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s, err := blob.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	dir, remove, err := s.Folder()
	if err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(root, "unfinished", "dead", "deep")
	if err := os.MkdirAll(dead, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dead, "file"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := blob.Open(root); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(dead)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("swept while it is used: %v", err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("not taken away: %v", err)
	}
}
