package output

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What Write would fail at is known before the work, and the look leaves nothing.
func TestFit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	dataset := at("dataset")
	if _, err := Write(dataset, input(t).of()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(at("empty"), 0o755), os.Mkdir(at("thesis"), 0o755), os.WriteFile(at("thesis/one.tex"), nil, 0o644),
		os.WriteFile(at("file"), nil, 0o644), os.Symlink(dataset, at("link")), os.Symlink(at("nowhere"), at("dangling"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, dir, want string }{
		{"new", at("new"), ""},
		{"new_below_new", at("new/one/two"), ""},
		{"empty", at("empty"), ""},
		{"dataset", dataset, ""},
		{"link_to_dataset", at("link"), ""},
		{"file", at("file"), "is not a folder"},
		{"below_file", at("file/out"), "cannot be written: not a directory"},
		{"somebodys", at("thesis"), "is not empty and not a benchmint dataset"},
		{"link_to_nothing", at("dangling"), "cannot be written: no such file or directory"},
		{"not_a_disk", "/proc/benchmint", "/proc cannot be written"},
		{"mount_point", "/proc", "not a benchmint dataset"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Fit(c.dir)
			if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	rest, err := os.ReadDir(dir)
	if err != nil || len(rest) != 6 {
		t.Errorf("left: %v, %v", rest, err)
	}
}
