package tree_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/benchmint/benchmint/internal/tree"
)

// TestReadTarIsBounded: an archive that unpacks to more than a tree may hold ends where
// that is seen.
func TestReadTarIsBounded(t *testing.T) { //nolint:paralleltest // it measures the memory of the process
	for name, write := range map[string]func(*tar.Writer) error{
		"one_file": func(w *tar.Writer) error { return w.WriteHeader(&tar.Header{Name: "a", Size: tree.MaxFile + 1}) },
		"entries": func(w *tar.Writer) error {
			for i := range tree.MaxEntries + 1 {
				if err := w.WriteHeader(&tar.Header{Name: fmt.Sprint(i), Typeflag: tar.TypeSymlink, Linkname: "x"}); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		r, w := io.Pipe()
		go func() { w.CloseWithError(write(tar.NewWriter(w))) }()
		var start, end runtime.MemStats
		runtime.ReadMemStats(&start)
		_, err := tree.ReadTar(r, "")
		runtime.ReadMemStats(&end)
		r.CloseWithError(io.ErrClosedPipe)
		if !errors.Is(err, tree.ErrTooLarge) {
			t.Errorf("%s: %v, want that it is too large", name, err)
		}
		if took := end.HeapAlloc; name == "one_file" && took > start.HeapAlloc+32<<20 {
			t.Errorf("%s: %d MiB were taken", name, (took-start.HeapAlloc)>>20)
		}
	}
	var b bytes.Buffer
	whole, err := tree.New([]tree.Entry{{Path: "a", Mode: tree.ModeFile, Data: []byte("x")}})
	if err == nil {
		err = whole.WriteTar(&b)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, err := tree.ReadTar(&b, ""); err != nil || got.ID() != whole.ID() {
		t.Errorf("a plain one: %v", err)
	}
}

// TestRoom: files that fit each, and not together.
func TestRoom(t *testing.T) {
	t.Parallel()
	room := tree.NewRoom()
	var err error
	files := 0
	for ; err == nil; files++ {
		err = room.Take(tree.MaxFile)
	}
	if !errors.Is(err, tree.ErrTooLarge) || files != tree.MaxBytes/tree.MaxFile+1 {
		t.Errorf("%d files, %v", files, err)
	}
}
