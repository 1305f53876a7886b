package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/benchmint/benchmint/internal/store"
	"github.com/benchmint/benchmint/pipeline"
)

// TestAway: what keeps a store from being written is a fault of the machine, by name, and
// nothing is written to a file that was taken away.
func TestAway(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		mount bool
		away  func(dir string) error
	}{
		{"file_moved", false, func(dir string) error {
			return os.Rename(filepath.Join(dir, "steps.db"), filepath.Join(dir, "away.db"))
		}},
		{"another_file", false, func(dir string) error {
			name := filepath.Join(dir, "steps.db")
			return errors.Join(os.Rename(name, name+".old"), os.WriteFile(name, nil, 0o644))
		}},
		{"disk_full", true, func(dir string) error {
			f, err := os.Create(filepath.Join(dir, "lost+found"))
			if err != nil {
				return err
			}
			for err == nil {
				_, err = f.Write(make([]byte, 4096))
			}
			return f.Close()
		}},
		{"read_only", true, func(dir string) error {
			return unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, "")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if tc.mount {
				if os.Geteuid() != 0 {
					t.Skip("mounting a tmpfs needs root")
				}
				if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=2m"); err != nil {
					t.Skip(err)
				}
				t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
			}
			s, err := store.Open(t.Context(), dir, store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			if err := tc.away(dir); err != nil && tc.name != "read_only" {
				t.Fatal(err)
			} else if err != nil {
				t.Skip(err) // a file is open for writing
			}
			for i := range 1000 {
				if err = s.SetNote(t.Context(), fmt.Sprint("note", i), string(make([]byte, 4096))); err != nil {
					break
				}
			}
			if !errors.As(err, new(*pipeline.Halted)) {
				t.Errorf("wrote with %v", err)
			}
		})
	}
}

// TestSameBlobs: a store knows its folder of blobs from every other one.
func TestSameBlobs(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	mine, others, away := filepath.Join(root, "a", "blobs"), filepath.Join(root, "b", "blobs"), filepath.Join(root, "away")
	for _, tc := range []struct {
		what, store string
		first       func() error
		want        error
	}{
		{"at first", "a", nil, nil},
		{"again", "a", nil, nil},
		{"another store", "b", nil, nil},
		{"with an empty folder", "a", func() error { return os.Rename(mine, away) }, store.ErrBlobs},
		{"with that of another store", "a", func() error { return errors.Join(os.RemoveAll(mine), os.Rename(others, mine)) }, store.ErrBlobs},
		{"with its own again", "a", func() error { return errors.Join(os.RemoveAll(mine), os.Rename(away, mine)) }, nil},
	} {
		if tc.first != nil {
			if err := tc.first(); err != nil {
				t.Fatal(err)
			}
		}
		s, err := store.Open(t.Context(), filepath.Join(root, tc.store), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SameBlobs(); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.what, err, tc.want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
