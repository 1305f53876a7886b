package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/benchmint/benchmint/internal/store"
)

func write(t *testing.T, files ...string) {
	t.Helper()
	for _, f := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(f), 0o755), os.WriteFile(f, []byte("x"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// A folder of somebody else's is not made a store.
func TestOpenRefusesForeignFolder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		files []string
		want  error
	}{
		{"missing", nil, nil},
		{"foreign", []string{"precious.csv"}, store.ErrForeign},
		{"cut_off", []string{"lock", "sources.json", "found.json"}, nil},
		{"fresh_disk", []string{"lost+found/x"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "store")
			for _, f := range c.files {
				write(t, filepath.Join(dir, f))
			}
			s, err := store.Open(t.Context(), dir, store.Options{})
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if err == nil {
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			} else if entries, err := os.ReadDir(dir); err != nil || len(entries) != len(c.files) {
				t.Errorf("a refused folder holds %v, %v", entries, err)
			}
		})
	}
}

// What is deleted with a store is what the store made; the rest is named and stays.
func TestRemoveLeavesOthers(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	s, err := store.Open(t.Context(), dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Blobs.Put([]byte("a blob")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Lock(), s.Close()); err != nil {
		t.Fatal(err)
	}
	others := []string{filepath.Join(dir, "blobs", "notes.txt"), filepath.Join(dir, "blobs", "zz", "a"), filepath.Join(dir, "out", "manifest.json"), filepath.Join(dir, "precious.csv")}
	write(t, others...)
	write(t, filepath.Join(dir, "blobs", "unfinished", "1", "deep", "killed.py"))
	own, left, err := store.Files(dir)
	if err != nil || len(own) < 3 {
		t.Errorf("files of the store: %v, %v", own, err)
	}
	if d := cmp.Diff([]string{others[0], filepath.Dir(others[1]), filepath.Dir(others[2]), others[3]}, left); d != "" {
		t.Errorf("others (-want +got):\n%s", d)
	}
	if err := store.Remove(dir); err != nil {
		t.Fatal(err)
	}
	for _, f := range others {
		if _, err := os.Stat(f); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "blobs", "unfinished")); err == nil {
		t.Error("a folder of work that was not finished stays")
	}
	if store.Exists(dir) {
		t.Error("the store is still there")
	}
	for _, f := range others {
		if err := os.RemoveAll(f); err != nil {
			t.Fatal(err)
		}
	}
	alone := filepath.Join(t.TempDir(), "alone")
	if s, err = store.Open(t.Context(), alone, store.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), store.Remove(alone)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(alone); err == nil {
		t.Error("a folder with nothing else in it stays")
	}
}
