package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// The root of a project is "" however it is written: below ROOT/. the oracle finds no tests.
func TestReadProject(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for folders, want := range map[string][2]string{
		"":               {"", ""},
		"=src":           {"src", ""},
		"=.:.":           {"", ""},
		"=./src/:tests/": {"src", "tests"},
	} {
		p, err := readProject(root + folders)
		if err != nil || p != (project{name: filepath.Base(root), root: root, src: want[0], tests: want[1]}) {
			t.Errorf("%q: %+v, %v; want the folders %q", folders, p, err, want)
		}
	}
	if _, err := readProject(filepath.Join(root, "none")); err == nil {
		t.Error("a project that is not there is read")
	}
}

// Few files and many have the same largest one, and as many of each size for their number.
func TestCopies(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for i := range 30 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprintf("m%d.py", i)), make([]byte, i+1), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := bench{projects: []project{{root: root}}}
	for n, step := range map[int]int{10: 3, 30: 1, 120: 1} {
		out := t.TempDir()
		if err := b.copies(out, n); err != nil {
			t.Fatal(err)
		}
		got := map[int]int{}
		err := filepath.WalkDir(out, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				info, err := d.Info()
				got[int(info.Size())]++
				return err
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for size := step; size <= 30; size += step {
			if want := max(1, n/30); got[size] != want {
				t.Errorf("%d files: %d of %d bytes, want %d (all: %v)", n, got[size], size, want, got)
			}
		}
	}
}
