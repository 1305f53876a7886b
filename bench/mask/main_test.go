package main

import (
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
