package blob_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

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
